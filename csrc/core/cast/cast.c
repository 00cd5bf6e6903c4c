/* The entries of qcast and dcast: they view the tensor as rows and share these among threads. */
#include "core/core.h"
#include "core/float_control.h"

/* Results are stored past the caches from so many bytes, read and written together: they exceed one core's share of a
 * last-level cache, so that the next step would not find their beginning there anyway. */
#define STREAM_BYTES (32 << 20)

/* Up to so many elements the operands are in the nearer caches, and prefetching does not pay. */
#define SMALL 16384

/* There is a task for every GRAIN elements begun, some 10 us, but for each thread at most SHARES, so that others can
 * take some from a thread that is held up. A task is a multiple of PAGE elements, a page of 8-bit storage: where two
 * threads meet within a page, each fetches the other's cache lines. */
#define GRAIN 65536
#define SHARES 16
#define PAGE 4096

qrt_status qrt_cast_prepare(qrt_cast_args *args) {
    qrt_cast_plan *plan = &args->plan;
    qrt_layout *layout = &plan->layout;
    *layout = args->problem.layout;
    const qrt_status status = qrt_layout_prepare(layout, NULL, NULL);
    if (status != QRT_OK)
        return status;
    qrt_layout_gather(layout, &plan->run, &plan->period);
    int64_t elements = 1;
    for (int d = 0; d < layout->rank; d++)
        elements *= layout->shape[d];
    const int bytes = qrt_container_size(args->problem.container) + qrt_expressed_size(args->problem.expressed);
    plan->prefetch = elements > SMALL;
    plan->stream = args->kernels->streams && elements * bytes >= STREAM_BYTES;
    return QRT_OK;
}

typedef struct {
    const qrt_cast_args *args;
    qrt_qcast_row_fn cast;
    const char *source;
    char *target;
    int source_size, target_size;
    int64_t count, per_task; /* elements of the row and of a task, where the tensor is one row */
} cast_call;

static qrt_status cast_row(const void *context, const qrt_row *row) {
    const cast_call *call = context;
    const qrt_cast_plan *plan = &call->args->plan;
    int64_t phase = 0;
    if (plan->period > 1 && row->offset)
        phase = row->offset % plan->layout.shape[plan->layout.rank - 1] % (plan->run * plan->period);
    call->cast(call->args, call->source + row->offset * call->source_size,
               call->target + row->offset * call->target_size, row->count, row->parameter, phase);
    return QRT_OK;
}

static qrt_status cast_task(void *context, int64_t task) {
    const cast_call *call = context;
    const int64_t offset = task * call->per_task;
    return cast_row(call, &(qrt_row){.offset = offset, .count = qrt_min(call->per_task, call->count - offset)});
}

/* Nearly every cast is one row. */
static qrt_status cast_one_row(cast_call *call, int threads) {
    if (call->count == 0) /* such a row has no period to divide by */
        return QRT_OK;
    if (threads == 1 || call->count <= GRAIN)
        return cast_row(call, &(qrt_row){.count = call->count});
    const int64_t tasks = qrt_min(qrt_ceil_div(call->count, GRAIN), (int64_t)threads * SHARES);
    call->per_task = qrt_ceil_div(qrt_ceil_div(call->count, tasks), PAGE) * PAGE;
    return qrt_parallel(qrt_ceil_div(call->count, call->per_task), cast_task, call, threads);
}

static qrt_status cast(const qrt_cast_args *args, qrt_scratch *scratch, qrt_qcast_row_fn row, int source_size,
                       int target_size) {
    const qrt_layout *layout = &args->plan.layout;
    cast_call call = {args,        row,         scratch->operands[0], scratch->operands[1],
                      source_size, target_size, layout->shape[0],     0};
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = layout->rank == 1 ? cast_one_row(&call, scratch->threads)
                                                : qrt_walk(layout, NULL, NULL, scratch->threads, cast_row, &call);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_qcast(const void *pointer, qrt_scratch *scratch) {
    const qrt_cast_args *args = pointer;
    return cast(args, scratch, args->kernels->qcast_row, qrt_expressed_size(args->problem.expressed),
                qrt_container_size(args->problem.container));
}

qrt_status qrt_dcast(const void *pointer, qrt_scratch *scratch) {
    const qrt_cast_args *args = pointer;
    return cast(args, scratch, args->kernels->dcast_row, qrt_container_size(args->problem.container),
                qrt_expressed_size(args->problem.expressed));
}
