/* qcast and dcast: the tensor as spans, shared among threads. */
#include "core.h"
#include "float_control.h"

/* Bytes read and written from which a result goes past the caches: more than one core's share of a last-level cache,
 * and what the next step reads first is gone by then. */
#define STREAM_BYTES (32 << 20)

/* Elements of one task and of the nearer caches: the walk's divisions take longer than a small cast. */
#define SMALL 16384

void qrt_cast_prepare(qrt_cast_args *args) {
    qrt_layout_gather(&args->layout, &args->run, &args->period);
    int64_t elements = 1;
    for (int d = 0; d < args->layout.rank; d++)
        elements *= args->layout.shape[d];
    const int bytes = qrt_container_size(args->container) + qrt_expressed_size(args->expressed);
    args->prefetch = elements > SMALL;
    args->stream = elements * bytes >= STREAM_BYTES;
}

typedef struct {
    const qrt_cast_args *args;
    qrt_cast_row row;
    const char *source;
    char *target;
    int source_size, target_size;
} job;

static qrt_status cast_row(const void *context, const qrt_row *row) {
    const job *j = context;
    const qrt_cast_args *args = j->args;
    qrt_span span = {.count = row->count, .parameter = row->parameter, .run = args->run, .period = args->period};
    if (args->period > 1 && row->offset)
        span.phase = row->offset % args->layout.shape[args->layout.rank - 1] % (args->run * args->period);
    j->row(args, j->source + row->offset * j->source_size, j->target + row->offset * j->target_size, &span);
    return QRT_OK;
}

static qrt_status run(const job *j, qrt_scratch *scratch) {
    const qrt_layout *layout = &j->args->layout;
    const qrt_row whole = {.count = layout->shape[0]};
    if (layout->rank == 1 && whole.count == 0) /* no run, no period to divide by */
        return QRT_OK;
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = layout->rank == 1 && whole.count <= SMALL
                                  ? cast_row(j, &whole)
                                  : qrt_walk(layout, NULL, NULL, scratch->threads, cast_row, j);
    qrt_float_leave(saved);
    return status;
}

qrt_status qrt_qcast(const void *pointer, qrt_scratch *scratch) {
    const qrt_cast_args *args = pointer;
    const job j = {.args = args,
                   .row = args->kernels->qcast_row,
                   .source = scratch->operands[0],
                   .target = scratch->operands[1],
                   .source_size = qrt_expressed_size(args->expressed),
                   .target_size = qrt_container_size(args->container)};
    return run(&j, scratch);
}

qrt_status qrt_dcast(const void *pointer, qrt_scratch *scratch) {
    const qrt_cast_args *args = pointer;
    const job j = {.args = args,
                   .row = args->kernels->dcast_row,
                   .source = scratch->operands[0],
                   .target = scratch->operands[1],
                   .source_size = qrt_container_size(args->container),
                   .target_size = qrt_expressed_size(args->expressed)};
    return run(&j, scratch);
}
