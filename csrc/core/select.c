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

static inline int64_t index_at(const void *indices, bool wide, int64_t i) {
    return wide ? ((const int64_t *)indices)[i] : ((const int32_t *)indices)[i];
}

static bool are_within(const void *indices, bool wide, int64_t count, int64_t size) {
    bool holds = true;
    for (int64_t i = 0; i < count; i++)
        holds &= (uint64_t)index_at(indices, wide, i) < (uint64_t)size;
    return holds;
}

/* One column of indices within the axis, each of which names an entry of `bytes` bytes. */
static inline void gather_entries(const void *indices, bool wide, int64_t count, const char *restrict x,
                                  char *restrict out, int64_t bytes) {
    for (int64_t i = 0; i < count; i++)
        memcpy(out + i * bytes, x + index_at(indices, wide, i) * bytes, (size_t)bytes);
}

/* The same for sizes that most entries have, whose copies are a few instructions. */
static void gather_row(const qrt_gather_args *args, const void *indices, const char *x, char *out) {
#define SIZED(size)                                                                                                    \
    case size:                                                                                                         \
        if (args->wide)                                                                                                \
            gather_entries(indices, true, args->count, x, out, size);                                                  \
        else                                                                                                           \
            gather_entries(indices, false, args->count, x, out, size);                                                 \
        break
    switch (args->inner_bytes) {
        SIZED(1);
        SIZED(2);
        SIZED(3);
        SIZED(4);
        SIZED(8);
        SIZED(16);
        SIZED(32);
        SIZED(64);
    default:
        gather_entries(indices, args->wide, args->count, x, out, args->inner_bytes);
    }
#undef SIZED
}

/* Rows that share a column of indices. */
static qrt_status gather_rows(const qrt_gather_args *args, const void *indices, const char *x, char *out) {
    if (args->outer > 0 && !are_within(indices, args->wide, args->count, args->sizes[0]))
        return QRT_INDEX_OUT_OF_RANGE;
    for (int64_t row = 0; row < args->outer; row++)
        gather_row(args, indices, x + row * args->sizes[0] * args->inner_bytes,
                   out + row * args->count * args->inner_bytes);
    return QRT_OK;
}

qrt_status qrt_gather(const void *pointer, qrt_scratch *scratch) {
    const qrt_gather_args *args = pointer;
    const char *x = scratch->operands[0];
    const void *indices = args->indices ? args->indices : scratch->operands[1];
    char *out = scratch->operands[args->indices ? 1 : 2];
    int64_t taken = 1; /* elements along the axes that an index names */
    for (int column = 0; column < args->columns; column++)
        taken *= args->sizes[column];
    for (int64_t batch = 0; args->columns == 1 && batch < args->batches; batch++) {
        const int64_t bytes = batch * args->outer * args->inner_bytes;
        const qrt_status status = gather_rows(args, (const char *)indices + batch * args->count * (args->wide ? 8 : 4),
                                              x + bytes * taken, out + bytes * args->count);
        if (status != QRT_OK)
            return status;
    }
    for (int64_t batch = 0; args->columns != 1 && batch < args->batches; batch++)
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

/* ---- extremes of rows that lie side by side ----
 *
 * Where results of 8 or 16 bits lie side by side, as those of channels over an image do, a row of them is the maximum
 * of rows of x. Rows shorter than FOLDED bytes that follow each other are taken together, and what is left of these
 * is folded at the end. */

#define FOLDED 1024

typedef struct {
    const qrt_extremum_args *args;
    qrt_pair_args pair;
    const char *x;
    char *out;
    int64_t row, rows; /* elements of a row, and rows of x that follow each other */
    int size;
} fold_call;

static void fold(const fold_call *call, char *best, const char *other, int64_t count) {
    call->pair.kernels->pair_row(&call->pair, best, 1, other, 1, best, count);
}

/* Folds `rows` rows from x on into `best`, which has room for `together` of them and holds as many already. */
static void fold_rows(const fold_call *call, const char *x, int64_t together, char *best) {
    const int64_t bytes = call->row * call->size;
    for (int64_t i = 0; i < call->rows; i += together)
        fold(call, best, x + i * bytes, qrt_min(together, call->rows - i) * call->row);
}

static void fold_row(const fold_call *call, const char *x, char *out) {
    const qrt_extremum_args *args = call->args;
    const int64_t bytes = call->row * call->size, together = qrt_max(1, qrt_min(FOLDED / bytes, call->rows));
    const int last = args->reduced_rank - (call->rows > 1) - 1; /* the last axis that no row runs along */
    _Alignas(QRT_ALIGNMENT) char buffer[FOLDED];
    char *best = together > 1 ? buffer : out;
    int64_t index[QRT_MAX_RANK] = {0}, at = 0;
    for (int64_t i = 0; i < together; i++)
        memcpy(best + i * bytes, x, (size_t)bytes);
    for (int64_t i = 0; i < args->count; i += call->rows) {
        fold_rows(call, x + at * call->size, together, best);
        for (int d = last; d >= 0; d--) {
            at += args->reduced_strides[d];
            if (++index[d] < args->reduced_shape[d])
                break;
            at -= args->reduced_shape[d] * args->reduced_strides[d];
            index[d] = 0;
        }
    }
    for (int64_t i = 1; i < together; i++)
        fold(call, best, best + i * bytes, call->row);
    if (together > 1)
        memcpy(out, best, (size_t)bytes);
}

static qrt_status fold_task(void *context, int64_t task) {
    const fold_call *call = context;
    const qrt_extremum_args *args = call->args;
    int64_t rest = task, offset = 0;
    for (int d = args->rank - 2; d >= 0; d--) {
        offset += rest % args->shape[d] * args->strides[d];
        rest /= args->shape[d];
    }
    fold_row(call, call->x + offset * call->size, call->out + task * call->row * call->size);
    return QRT_OK;
}

static bool folds(const qrt_extremum_args *args) {
    const int last = args->rank - 1;
    return args->index_bytes == 0 && args->number <= QRT_NUMBER_U16 && last >= 0 && args->strides[last] == 1 &&
           args->shape[last] > 1 && args->count > 1;
}

static qrt_status run_folds(const qrt_extremum_args *args, qrt_scratch *scratch) {
    static const qrt_container containers[] = {QRT_I8, QRT_U8, QRT_I16, QRT_U16};
    const qrt_container container = containers[args->number];
    const int last = args->reduced_rank - 1;
    fold_call call = {.args = args, .x = scratch->operands[0], .out = scratch->operands[1]};
    call.pair = (qrt_pair_args){.kernels = args->kernels, .kind = args->least ? QRT_MINIMUM : QRT_MAXIMUM};
    call.pair.a = call.pair.b = call.pair.out = container;
    call.row = args->shape[args->rank - 1];
    call.rows = last >= 0 && args->reduced_strides[last] == call.row ? args->reduced_shape[last] : 1;
    call.size = qrt_container_size(container);
    return qrt_parallel(args->total / call.row, fold_task, &call, scratch->threads);
}

qrt_status qrt_extremum(const void *pointer, qrt_scratch *scratch) {
    const qrt_extremum_args *args = pointer;
    if (folds(args) && args->total > 0)
        return run_folds(args, scratch);
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
