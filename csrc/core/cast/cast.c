/* qcast and dcast: the tensor as spans, shared among threads. */
#include "core/core.h"
#include "core/float_control.h"

/* Bytes read and written from which a result goes past the caches: more than one core's share of a last-level cache,
 * and what the next step reads first is gone by then. */
#define STREAM_BYTES (32 << 20)

/* Elements of the nearer caches. */
#define SMALL 16384

/* Elements of a task at least, some 10 us; tasks of a thread at most, so that one that is held up gives some of its
 * away; and what they are multiples of, pages of 8-bit storage: where two threads meet, each fetches the other's lines.
 */
#define GRAIN 65536
#define SHARES 16
#define PAGE 4096

void qrt_cast_prepare(qrt_cast_args *args) {
    qrt_layout_gather(&args->layout, &args->run, &args->period);
    int64_t elements = 1;
    for (int d = 0; d < args->layout.rank; d++)
        elements *= args->layout.shape[d];
    const int bytes = qrt_container_size(args->container) + qrt_expressed_size(args->expressed);
    args->prefetch = elements > SMALL;
    args->stream = args->kernels->streams && elements * bytes >= STREAM_BYTES;
}

typedef struct {
    const qrt_cast_args *args;
    qrt_qcast_row_fn row;
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

typedef struct {
    const job *job;
    int64_t count, task;
} share;

static qrt_status cast_task(void *context, int64_t task) {
    const share *s = context;
    const int64_t offset = task * s->task;
    return cast_row(s->job, &(qrt_row){.offset = offset, .count = qrt_min(s->task, s->count - offset)});
}

/* One span, as nearly every cast is. */
static qrt_status cast_span(const job *j, int64_t count, int threads) {
    if (count == 0) /* no run, no period to divide by */
        return QRT_OK;
    if (threads == 1 || count <= GRAIN)
        return cast_row(j, &(qrt_row){.count = count});
    const int64_t tasks = qrt_min(qrt_ceil_div(count, GRAIN), (int64_t)threads * SHARES);
    share s = {.job = j, .count = count, .task = qrt_ceil_div(qrt_ceil_div(count, tasks), PAGE) * PAGE};
    return qrt_parallel(qrt_ceil_div(count, s.task), cast_task, &s, threads);
}

static qrt_status run(const job *j, qrt_scratch *scratch) {
    const qrt_layout *layout = &j->args->layout;
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = layout->rank == 1 ? cast_span(j, layout->shape[0], scratch->threads)
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
