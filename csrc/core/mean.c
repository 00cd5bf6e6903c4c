/* Means: rows of the result, each element summed over the reduced axes. */
#include "core/core.h"
#include "core/float_control.h"

typedef struct {
    const qrt_mean_args *args;
    const char *x;
    char *out;
} job;

static qrt_status mean_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_mean_args *args = j->args;
    const int last = args->layout.rank - 1;
    const qrt_float_state saved = qrt_float_enter();
    args->kernels->mean_row(args, j->x + row->offsets[0] * qrt_container_size(args->container), args->x_strides[last],
                            j->out + row->offset * qrt_container_size(args->requant.container), row->count,
                            row->parameter, args->layout.step[last]);
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_mean(const void *pointer, qrt_scratch *scratch) {
    const qrt_mean_args *args = pointer;
    const job j = {args, scratch->operands[0], scratch->operands[1]};
    return qrt_walk(&args->layout, args->x_strides, NULL, scratch->threads, mean_row, &j);
}
