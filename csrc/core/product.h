/* What the two products of float32 rows share: the operands of a call, and the cutting of the result into tasks. */
#pragma once

#include "core/core.h"

#define NR QRT_PRODUCT_NR
/* Multiply-adds below which a fork costs more than it saves. */
#define SERIAL_WORK (1 << 17)
#define TASKS_PER_THREAD 2

typedef struct {
    const float *a;
    const void *w; /* NULL: packed when the call was bound */
    const float *bias;
    float *out;
    int threads;
    int64_t panels, rows; /* panels and rows of a task */
    int64_t groups;       /* the number of tasks along N */
} qrt_product_call;

typedef struct {
    int64_t panel, end_panel, row, end_row;
} qrt_product_task;

static inline int64_t qrt_product_panels(const qrt_product *product) {
    return qrt_ceil_div(product->n, NR);
}

static inline qrt_product_call qrt_product_operands(const qrt_product *product, bool packed, qrt_scratch *scratch) {
    void *const *operand = scratch->operands;
    const bool small = (double)product->m * (double)product->n * (double)product->k < SERIAL_WORK;
    qrt_product_call call = {.a = *operand++, .threads = small ? 1 : scratch->threads};
    call.w = packed ? NULL : product->w_constant ? product->w_constant : *operand++;
    if (product->bias)
        call.bias = product->bias_constant ? product->bias_constant : *operand++;
    call.out = *operand;
    return call;
}

/* Cuts the result into tasks and runs fn(context, task) for each. A task takes up to `most` panels, or any number where
 * the panels are packed already, and whole blocks of rows. Rows are shared where columns alone give too few tasks. */
static inline qrt_status qrt_product_run(const qrt_product *product, qrt_product_call *call, int64_t block,
                                         int64_t most, qrt_task fn, void *context) {
    const int64_t panels = qrt_product_panels(product), blocks = qrt_ceil_div(product->m, block);
    const int64_t wanted = call->threads > 1 ? TASKS_PER_THREAD * call->threads : 1;
    call->panels = qrt_min(call->w ? qrt_max(1, most) : panels, qrt_ceil_div(panels, wanted));
    call->groups = qrt_ceil_div(panels, call->panels);
    call->rows = qrt_ceil_div(blocks, qrt_min(blocks, qrt_ceil_div(wanted, call->groups))) * block;
    return qrt_parallel(call->groups * qrt_ceil_div(product->m, call->rows), fn, context, call->threads);
}

static inline qrt_product_task qrt_product_task_at(const qrt_product *product, const qrt_product_call *call,
                                                   int64_t number) {
    const int64_t panel = number % call->groups * call->panels, row = number / call->groups * call->rows;
    return (qrt_product_task){panel, qrt_min(panel + call->panels, qrt_product_panels(product)), row,
                              qrt_min(row + call->rows, product->m)};
}
