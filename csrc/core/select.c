/* Gathering, extremes, the k largest, and resized images: what threads share. */
#include "core/core.h"
#include "core/float_control.h"

/* Elements of a task. */
#define GRAIN 16384

static int number_size(qrt_number number) {
    static const int sizes[] = {1, 1, 2, 2, 4, 4, 8, 4, 8};
    return sizes[number];
}

/* ---- gather ---- */

qrt_status qrt_gather(const void *pointer, qrt_scratch *scratch) {
    const qrt_gather_args *args = pointer;
    const char *x = scratch->operands[0];
    const void *indices = args->indices ? args->indices : scratch->operands[1];
    char *out = scratch->operands[args->indices ? 1 : 2];
    int64_t taken = 1; /* elements along the axes that an index names */
    for (int column = 0; column < args->columns; column++)
        taken *= args->sizes[column];
    for (int64_t batch = 0; batch < args->batches; batch++)
        for (int64_t i = 0; i < args->count; i++) {
            int64_t place = 0;
            for (int column = 0; column < args->columns; column++) {
                const int64_t at = (batch * args->count + i) * args->columns + column;
                const int64_t index = args->wide ? ((const int64_t *)indices)[at] : ((const int32_t *)indices)[at];
                if (index < 0 || index >= args->sizes[column])
                    return QRT_INDEX_OUT_OF_RANGE;
                place = place * args->sizes[column] + index;
            }
            for (int64_t outer = batch * args->outer; outer < (batch + 1) * args->outer; outer++)
                memcpy(out + (outer * args->count + i) * args->inner_bytes,
                       x + (outer * taken + place) * args->inner_bytes, (size_t)args->inner_bytes);
        }
    return QRT_OK;
}

/* ---- extremes ---- */

typedef struct {
    const qrt_extremum_args *args;
    const char *x;
    char *out;
    int64_t per_task;
} extremum_call;

static qrt_status extremum_task(void *context, int64_t task) {
    const extremum_call *call = context;
    const qrt_extremum_args *args = call->args;
    const int size = number_size(args->number), out_size = args->index_bytes ? args->index_bytes : size;
    const int64_t end = qrt_min((task + 1) * call->per_task, args->total);
    for (int64_t i = task * call->per_task; i < end; i++) {
        int64_t rest = i, offset = 0;
        for (int d = args->rank - 1; d >= 0; d--) {
            offset += rest % args->shape[d] * args->strides[d];
            rest /= args->shape[d];
        }
        args->kernels->extremum(args, call->x + offset * size, call->out + i * out_size);
    }
    return QRT_OK;
}

qrt_status qrt_extremum(const void *pointer, qrt_scratch *scratch) {
    const qrt_extremum_args *args = pointer;
    extremum_call call = {args, scratch->operands[0], scratch->operands[1],
                          qrt_max(1, GRAIN / qrt_max(1, args->count))};
    return qrt_parallel(qrt_ceil_div(args->total, call.per_task), extremum_task, &call, scratch->threads);
}

/* ---- the k largest ---- */

typedef struct {
    const qrt_top_k_args *args;
    const char *x;
    char *values;
    int32_t *indices;
    int64_t per_task;
} top_k_call;

static qrt_status top_k_task(void *context, int64_t task) {
    const top_k_call *call = context;
    const qrt_top_k_args *args = call->args;
    const int size = number_size(args->number);
    const int64_t end = qrt_min((task + 1) * call->per_task, args->rows);
    for (int64_t row = task * call->per_task; row < end; row++)
        args->kernels->top_k_row(args, call->x + row * args->size * size, call->values + row * args->k * size,
                                 call->indices + row * args->k);
    return QRT_OK;
}

qrt_status qrt_top_k(const void *pointer, qrt_scratch *scratch) {
    const qrt_top_k_args *args = pointer;
    if (args->k == 0)
        return QRT_OK;
    top_k_call call = {args, scratch->operands[0], scratch->operands[1], scratch->operands[2],
                       qrt_max(1, GRAIN / args->size)};
    return qrt_parallel(qrt_ceil_div(args->rows, call.per_task), top_k_task, &call, scratch->threads);
}

/* ---- resized images ---- */

typedef struct {
    const qrt_resize_args *args;
    const char *x;
    char *out;
    int64_t per_task;
} resize_call;

static qrt_status resize_task(void *context, int64_t task) {
    const resize_call *call = context;
    const qrt_resize_args *args = call->args;
    const int size = number_size(args->number);
    const int64_t row = args->width * args->channels * size, rows = args->images * args->out_height;
    const int64_t end = qrt_min((task + 1) * call->per_task, rows);
    const qrt_float_state saved = qrt_float_enter();
    for (int64_t i = task * call->per_task; i < end; i++) {
        const int64_t y = i % args->out_height;
        const char *image = call->x + i / args->out_height * args->height * row;
        args->kernels->resize_row(args, y, image + args->rows.low[y] * row, image + args->rows.high[y] * row,
                                  call->out + i * args->out_width * args->channels * size);
    }
    qrt_float_leave(saved);
    return QRT_OK;
}

qrt_status qrt_resize_bilinear(const void *pointer, qrt_scratch *scratch) {
    const qrt_resize_args *args = pointer;
    const int64_t elements = args->out_width * args->channels;
    if (elements == 0) /* there may be more rows without elements than a loop can count */
        return QRT_OK;
    resize_call call = {args, scratch->operands[0], scratch->operands[1], qrt_max(1, GRAIN / elements)};
    return qrt_parallel(qrt_ceil_div(args->images * args->out_height, call.per_task), resize_task, &call,
                        scratch->threads);
}
