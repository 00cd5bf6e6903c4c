/* Softmax: lines shared among threads. */
#include "core/core.h"
#include "core/float_control.h"

/* Elements per task. */
#define GRAIN 16384

typedef struct {
    const qrt_softmax_args *args;
    const char *x;
    char *out;
    int64_t per_task;
} job;

static qrt_status softmax_task(void *context, int64_t task) {
    const job *j = context;
    const qrt_softmax_args *args = j->args;
    const int64_t end = qrt_min((task + 1) * j->per_task, args->outer * args->inner);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t line = task * j->per_task; line < end; line++) {
        const int64_t first = line / args->inner * args->size * args->inner + line % args->inner;
        args->kernels->softmax_line(args, j->x + first * qrt_container_size(args->container),
                                    j->out + first * qrt_container_size(args->out));
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_softmax(const void *pointer, qrt_scratch *scratch) {
    const qrt_softmax_args *args = pointer;
    if (args->size == 0)
        return QRT_OK;
    job j = {args, scratch->operands[0], scratch->operands[1], qrt_max(1, GRAIN / args->size)};
    return qrt_parallel(qrt_ceil_div(args->outer * args->inner, j.per_task), softmax_task, &j, scratch->threads);
}
