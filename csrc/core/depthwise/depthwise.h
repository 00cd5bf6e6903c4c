/* The declarations that the files of the depthwise convolution share: depthwise.c (the entry, pixels one by one),
 * depthwise_plan.c (packing), depthwise_run.c (runs of pixels by blocks of channels). */
#pragma once

#include "core/core.h"

/* The operands of one call, and the packing it uses: the plan's, or one of its own. */
typedef struct {
    const qrt_depthwise_args *args;
    const char *x, *w;
    const void *bias;
    char *out;
    int threads;
    qrt_depthwise_packing packing;
} qrt_depthwise_call;

/* Chooses the microkernel for these weights and sizes its packed blocks. The microkernel is NULL where none can compute
 * them. */
qrt_depthwise_packing qrt_depthwise_choose(const qrt_depthwise_args *args, const void *w);
void qrt_depthwise_pack(const qrt_depthwise_problem *problem, const void *w, const qrt_depthwise_packing *packing);
/* Writes packing->start. */
void qrt_depthwise_add_bias(const qrt_depthwise_problem *problem, const void *bias,
                            const qrt_depthwise_packing *packing);
qrt_depthwise_block qrt_depthwise_block_at(const qrt_depthwise_problem *problem, const qrt_depthwise_packing *packing,
                                           int64_t block);

qrt_status qrt_depthwise_run_blocks(const qrt_depthwise_call *call);

/* Bytes of the values that the sums of all blocks begin with. */
static inline int64_t qrt_depthwise_start_bytes(const qrt_depthwise_packing *packing) {
    return packing->blocks * packing->microkernel->channels * (int64_t)sizeof(int32_t);
}
