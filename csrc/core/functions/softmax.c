/* Softmax: its rows are shared among threads. */
#include "core/core.h"
#include "core/float_control.h"

/* Elements per task. */
#define GRAIN 16384

typedef struct {
    const qrt_softmax_args *args;
    const char *x;
    char *out;
    int64_t per_task;
} softmax_call;

static qrt_status softmax_task(void *context, int64_t task) {
    const softmax_call *call = context;
    const qrt_softmax_args *args = call->args;
    const int64_t end = qrt_min((task + 1) * call->per_task, args->outer * args->inner);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t row = task * call->per_task; row < end; row++) {
        const int64_t first = row / args->inner * args->size * args->inner + row % args->inner;
        args->kernels->softmax_row(args, call->x + first * qrt_container_size(args->container),
                                   call->out + first * qrt_container_size(args->out));
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_softmax(const void *pointer, qrt_scratch *scratch) {
    const qrt_softmax_args *args = pointer;
    if (args->size == 0)
        return QRT_OK;
    softmax_call call = {args, scratch->operands[0], scratch->operands[1], qrt_max(1, GRAIN / args->size)};
    return qrt_parallel(qrt_ceil_div(args->outer * args->inner, call.per_task), softmax_task, &call, scratch->threads);
}
