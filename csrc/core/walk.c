/* Rows of a layout: the one loop that casts and element-wise operations share. */
#include "core/core.h"

/* Elements of a task. A fast cast takes some 10 us for them, well above the cost of sharing. */
#define GRAIN 65536

/* ---- preparing ---- */

typedef struct {
    qrt_layout *layout;
    int64_t *strides[2];
} target;

static bool merges(const target *to, int outer, int64_t size, int64_t step, const int64_t strides[2]) {
    if (to->layout->step[outer] != step * size)
        return false;
    return to->strides[0][outer] == strides[0] * size && to->strides[1][outer] == strides[1] * size;
}

/* Adds an axis inside the others. It is merged with the last axis where one stride walks both. */
static qrt_status append(target *to, int64_t size, int64_t step, const int64_t strides[2]) {
    qrt_layout *layout = to->layout;
    int d = layout->rank;
    if (size == 1)
        return QRT_OK;
    const bool merged = d > 0 && merges(to, d - 1, size, step, strides);
    if (merged)
        d--;
    else if (d == QRT_MAX_RANK - 1)
        return QRT_BAD_ARGUMENT;
    layout->shape[d] = merged ? layout->shape[d] * size : size;
    layout->block[d] = 1;
    layout->step[d] = step;
    to->strides[0][d] = strides[0];
    to->strides[1][d] = strides[1];
    layout->rank = d + 1;
    return QRT_OK;
}

qrt_status qrt_layout_prepare(qrt_layout *layout, int64_t *a_strides, int64_t *b_strides) {
    const qrt_layout given = *layout;
    int64_t walked[2][QRT_MAX_RANK], unused[QRT_MAX_RANK] = {0};
    target to = {layout, {a_strides ? a_strides : unused, b_strides ? b_strides : unused}};
    for (int i = 0; i < 2; i++)
        memcpy(walked[i], to.strides[i], (size_t)given.rank * sizeof *walked[i]);

    layout->rank = 0;
    qrt_status status = QRT_OK;
    for (int d = 0; d < given.rank && status == QRT_OK; d++) {
        const int64_t size = given.shape[d], block = given.block[d];
        const int64_t step = block < size ? given.step[d] : 0;
        const int64_t inner[2] = {walked[0][d], walked[1][d]};
        if (step == 0 || block == 1) {
            status = append(&to, size, step, inner);
            continue;
        }
        const int64_t outer[2] = {inner[0] * block, inner[1] * block};
        if (size % block)
            return QRT_BAD_ARGUMENT;
        status = append(&to, size / block, step, outer);
        if (status == QRT_OK)
            status = append(&to, block, 0, inner);
    }
    /* Kernels know the steps 0 and 1 along a row. With any other step each element becomes a row of its own. */
    const int last = layout->rank - 1;
    if (status == QRT_OK && (last < 0 || layout->step[last] > 1)) {
        layout->shape[last + 1] = layout->block[last + 1] = 1;
        layout->step[last + 1] = 0;
        to.strides[0][last + 1] = to.strides[1][last + 1] = 0;
        layout->rank++;
    }
    return status;
}

void qrt_layout_gather(qrt_layout *layout, int64_t *run, int64_t *period) {
    int last = layout->rank - 1;
    int64_t size = *run = *period = 1;
    if (layout->step[last] == 0)
        size *= *run = layout->shape[last--];
    if (last >= 0 && layout->step[last] == 1) {
        size *= *period = layout->shape[last--];
        if (last >= 0 && layout->step[last] == 0)
            size *= layout->shape[last--];
    }
    layout->rank = last + 2;
    layout->shape[last + 1] = size;
    layout->step[last + 1] = 0;
}

/* ---- walking ---- */

typedef struct {
    const qrt_layout *layout;
    const int64_t *strides[2];
    int64_t chunk;  /* elements of a piece of a row */
    int64_t pieces; /* pieces of a row */
    int64_t total, per_task;
    qrt_row_fn fn;
    const void *context;
} walk;

static qrt_status walk_task(void *context, int64_t task) {
    const walk *w = context;
    const int last = w->layout->rank - 1;
    const int64_t inner = w->layout->shape[last];
    int64_t index[QRT_MAX_RANK];
    int64_t piece = task * w->per_task;
    const int64_t end = qrt_min(piece + w->per_task, w->total);

    int64_t rest = piece / w->pieces, part = piece % w->pieces;
    qrt_row row = {.offset = rest * inner};
    for (int d = last - 1; d >= 0; d--) {
        index[d] = rest % w->layout->shape[d];
        rest /= w->layout->shape[d];
        row.parameter += index[d] * w->layout->step[d];
        for (int i = 0; i < 2; i++)
            row.offsets[i] += index[d] * w->strides[i][d];
    }
    for (; piece < end; piece++) {
        const int64_t first = part * w->chunk;
        qrt_row run = row;
        run.offset += first;
        run.count = qrt_min(w->chunk, inner - first);
        run.parameter += first * w->layout->step[last];
        for (int i = 0; i < 2; i++)
            run.offsets[i] += first * w->strides[i][last];
        qrt_status status = w->fn(w->context, &run);
        if (status != QRT_OK)
            return status;
        if (++part < w->pieces)
            continue;
        part = 0;
        row.offset += inner;
        for (int d = last - 1; d >= 0; d--) {
            const int64_t back = ++index[d] < w->layout->shape[d] ? 1 : 1 - w->layout->shape[d];
            row.parameter += back * w->layout->step[d];
            for (int i = 0; i < 2; i++)
                row.offsets[i] += back * w->strides[i][d];
            if (back == 1)
                break;
            index[d] = 0;
        }
    }
    return QRT_OK;
}

qrt_status qrt_walk(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int threads,
                    qrt_row_fn fn, const void *context) {
    return qrt_walk_units(layout, a_strides, b_strides, 1, threads, fn, context);
}

qrt_status qrt_walk_units(const qrt_layout *layout, const int64_t *a_strides, const int64_t *b_strides, int64_t size,
                          int threads, qrt_row_fn fn, const void *context) {
    const int64_t grain = qrt_max(1, GRAIN / size);
    int64_t rows = 1;
    for (int d = 0; d < layout->rank - 1; d++)
        rows *= layout->shape[d];
    const int64_t inner = layout->shape[layout->rank - 1];
    if (rows == 0 || inner == 0)
        return QRT_OK;
    if (rows == 1 && inner <= grain) {
        /* There is one piece, and the divisions below would take longer than a short row does. */
        const qrt_row row = {.count = inner};
        return fn(context, &row);
    }
    static const int64_t none[QRT_MAX_RANK];
    walk w = {.layout = layout,
              .strides = {a_strides ? a_strides : none, b_strides ? b_strides : none},
              .fn = fn,
              .context = context};
    w.chunk = qrt_min(inner, grain);
    w.pieces = qrt_ceil_div(inner, w.chunk);
    w.total = rows * w.pieces;
    w.per_task = qrt_max(1, grain / w.chunk);
    return qrt_parallel(qrt_ceil_div(w.total, w.per_task), walk_task, &w, threads);
}
