/* What the files of the depthwise convolution share: depthwise.c (entry, pixels one by one), depthwise_plan.c
 * (packing), depthwise_run.c (runs of pixels by blocks of channels). */
#ifndef QRT_CORE_DEPTHWISE_H
#define QRT_CORE_DEPTHWISE_H

#include "core/core.h"

/* The operands of one call. */
typedef struct {
    const qrt_depthwise_args *args;
    const char *x, *w;
    const void *bias;
    char *out;
} qrt_depthwise_call;

/* The kernel for these weights, and the bytes of its packed blocks; a NULL kernel where none fits. */
qrt_depthwise_plan qrt_depthwise_planned(const qrt_depthwise_args *args, const void *w);
void qrt_depthwise_pack(const qrt_depthwise_args *args, const void *w, const qrt_depthwise_plan *plan);
/* The bias joins what sums begin with, in plan->start. */
void qrt_depthwise_add_bias(const qrt_depthwise_args *args, const void *bias, const qrt_depthwise_plan *plan);
qrt_depthwise_block qrt_depthwise_block_at(const qrt_depthwise_args *args, const qrt_depthwise_plan *plan,
                                           int64_t block);

qrt_status qrt_depthwise_run_plan(const qrt_depthwise_call *call, const qrt_depthwise_plan *plan, int threads);

#endif
