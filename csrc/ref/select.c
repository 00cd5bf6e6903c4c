/* Extremes, the k largest and bilinear rows, in portable C. One macro gives each form of number a function. */
#include "ref.h"

/* ---- extremes ---- */

/* Whether a lies beyond b; `v != v` holds for a NaN alone, which lies beyond all others. */
#define BEYOND(a, b, least) ((least) ? (a) < (b) : (a) > (b)) || ((a) != (a) && (b) == (b))

#define NUMBERS(X)                                                                                                     \
    X(QRT_NUMBER_I8, int8_t)                                                                                           \
    X(QRT_NUMBER_U8, uint8_t)                                                                                          \
    X(QRT_NUMBER_I16, int16_t)                                                                                         \
    X(QRT_NUMBER_U16, uint16_t)                                                                                        \
    X(QRT_NUMBER_I32, int32_t)                                                                                         \
    X(QRT_NUMBER_U32, uint32_t)                                                                                        \
    X(QRT_NUMBER_I64, int64_t)                                                                                         \
    X(QRT_NUMBER_F32, float)                                                                                           \
    X(QRT_NUMBER_F64, double)

#define EXTREMUM(kind, type)                                                                                           \
    static void extremum_##type(const qrt_extremum_args *args, const type *x, void *target) {                          \
        int64_t index[QRT_MAX_RANK] = {0}, at = 0, first = 0;                                                          \
        type best = x[0];                                                                                              \
        for (int64_t i = 0; i < args->count; i++) {                                                                    \
            if (BEYOND(x[at], best, args->least)) {                                                                    \
                best = x[at];                                                                                          \
                first = i;                                                                                             \
            }                                                                                                          \
            for (int d = args->reduced_rank - 1; d >= 0; d--) {                                                        \
                at += args->reduced_strides[d];                                                                        \
                if (++index[d] < args->reduced_shape[d])                                                               \
                    break;                                                                                             \
                at -= args->reduced_shape[d] * args->reduced_strides[d];                                               \
                index[d] = 0;                                                                                          \
            }                                                                                                          \
        }                                                                                                              \
        if (args->index_bytes == 4)                                                                                    \
            *(int32_t *)target = (int32_t)first;                                                                       \
        else if (args->index_bytes == 8)                                                                               \
            *(int64_t *)target = first;                                                                                \
        else                                                                                                           \
            *(type *)target = best;                                                                                    \
    }
NUMBERS(EXTREMUM)

void ref_extremum(const qrt_extremum_args *args, const void *x, void *target) {
    switch (args->number) {
#define CASE(kind, type)                                                                                               \
    case kind:                                                                                                         \
        extremum_##type(args, x, target);                                                                              \
        return;
        NUMBERS(CASE)
#undef CASE
    }
}

/* ---- the k largest ---- */

/* A heap of indices whose root is the element that the others come before. */
#define TOP_K(kind, type)                                                                                              \
    static bool before_##type(const type *x, int32_t a, int32_t b) {                                                   \
        return BEYOND(x[a], x[b], false) ? true : BEYOND(x[b], x[a], false) ? false : a < b;                           \
    }                                                                                                                  \
    static void sift_##type(const type *x, int32_t *heap, int64_t size, int64_t at) {                                  \
        for (int64_t child; (child = 2 * at + 1) < size; at = child) {                                                 \
            if (child + 1 < size && before_##type(x, heap[child], heap[child + 1]))                                    \
                child++;                                                                                               \
            if (!before_##type(x, heap[at], heap[child]))                                                              \
                return;                                                                                                \
            const int32_t moved = heap[at];                                                                            \
            heap[at] = heap[child];                                                                                    \
            heap[child] = moved;                                                                                       \
        }                                                                                                              \
    }                                                                                                                  \
    static void top_k_##type(const qrt_top_k_args *args, const type *x, type *values, int32_t *heap) {                 \
        const int64_t k = args->k;                                                                                     \
        for (int64_t i = 0; i < k; i++)                                                                                \
            heap[i] = (int32_t)i;                                                                                      \
        for (int64_t i = k / 2; i-- > 0;)                                                                              \
            sift_##type(x, heap, k, i);                                                                                \
        for (int64_t i = k; i < args->size; i++)                                                                       \
            if (before_##type(x, (int32_t)i, heap[0])) {                                                               \
                heap[0] = (int32_t)i;                                                                                  \
                sift_##type(x, heap, k, 0);                                                                            \
            }                                                                                                          \
        for (int64_t end = k - 1; end > 0; end--) {                                                                    \
            const int32_t last = heap[0];                                                                              \
            heap[0] = heap[end];                                                                                       \
            heap[end] = last;                                                                                          \
            sift_##type(x, heap, end, 0);                                                                              \
        }                                                                                                              \
        for (int64_t i = 0; i < k; i++)                                                                                \
            values[i] = x[heap[i]];                                                                                    \
    }
NUMBERS(TOP_K)

void ref_top_k_row(const qrt_top_k_args *args, const void *x, void *values, int32_t *indices) {
    switch (args->number) {
#define CASE(kind, type)                                                                                               \
    case kind:                                                                                                         \
        top_k_##type(args, x, values, indices);                                                                        \
        return;
        NUMBERS(CASE)
#undef CASE
    }
}

/* ---- resized images ---- */

/* The four neighbours: of the upper row the left and the right one, then of the lower row. */
static int64_t between_integers(const qrt_resize_args *args, const int64_t v[4], int64_t y, int64_t x) {
    const int64_t down = args->rows.weight[y], right = args->columns.weight[x];
    if (args->rule == QRT_FIXED11) {
        const int64_t top = v[0] * 2048 + (v[1] - v[0]) * right, bottom = v[2] * 2048 + (v[3] - v[2]) * right;
        return (top * 2048 + (bottom - top) * down + (1 << 21)) >> 22;
    }
    const int64_t sum = v[0] * (1024 - down) * (1024 - right) + v[2] * down * (1024 - right) +
                        v[1] * (1024 - down) * right + v[3] * down * right;
    return (sum + (sum > 0 ? 1 << 19 : -(1 << 19))) / (1 << 20);
}

static float between_floats(const qrt_resize_args *args, const float v[4], int64_t y, int64_t x) {
    const float down = args->rows.weight_f32[y], right = args->columns.weight_f32[x];
    if (args->rule == QRT_LINES_F32) {
        const float top = v[0] + (v[1] - v[0]) * right, bottom = v[2] + (v[3] - v[2]) * right;
        return top + (bottom - top) * down;
    }
    return v[0] * (1 - down) * (1 - right) + v[2] * down * (1 - right) + v[1] * (1 - down) * right +
           v[3] * down * right;
}

void ref_resize_row(const qrt_resize_args *args, int64_t y, const void *upper, const void *lower, void *target) {
    for (int64_t x = 0; x < args->out_width; x++)
        for (int64_t channel = 0; channel < args->channels; channel++) {
            const int64_t at = x * args->channels + channel;
            const int64_t left = args->columns.low[x] * args->channels + channel;
            const int64_t right = args->columns.high[x] * args->channels + channel;
            if (args->number == QRT_NUMBER_F32) {
                const float *a = upper, *b = lower, v[4] = {a[left], a[right], b[left], b[right]};
                ((float *)target)[at] = between_floats(args, v, y, x);
                continue;
            }
            const qrt_container container = (qrt_container)args->number;
            const int64_t v[4] = {qrt_load(container, upper, left), qrt_load(container, upper, right),
                                  qrt_load(container, lower, left), qrt_load(container, lower, right)};
            if (args->rule == QRT_PRODUCTS_F32) {
                const float f[4] = {(float)v[0], (float)v[1], (float)v[2], (float)v[3]};
                ref_store_value(container, target, at, (int64_t)(between_floats(args, f, y, x) + 0.5f));
            } else {
                ref_store_value(container, target, at, between_integers(args, v, y, x));
            }
        }
}
