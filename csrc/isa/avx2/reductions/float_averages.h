/* Average pools of bytes by the rule dequantized: the floats of a window are summed in an order. A vector holds eight
 * channels of one pixel, and two of them are summed side by side.
 *
 *   vpmovsxbd, vpmovzxbd   widen eight bytes, on port 5
 *   vcvtdq2ps, vmulps      dequantize; vaddps adds them with a latency of four cycles, which two vectors share
 *   vdivps                 two for each vector of results
 *
 * Exact: every lane has the operations of ref/reduce.c in their order. No sum is a NaN, which the binding has checked,
 * and differences from the zero point are exact floats. Hazard: the last vectors of a pixel overlap those before, so
 * that nothing past it is read. */
#pragma once

#include "isa/avx2/widen.h"
#include "isa/avx2/vectors.h"

#define PAIR (2 * LANES)
#define MOST_ZERO (1 << 16)

/* The channels of a window from one on: `count` of them where they are fewer than LANES. */
typedef struct {
    qrt_container container;
    const char *pixels;
    int64_t columns, row_stride, column_stride, count;
    __m256i zero_point;
    __m256 scale;
} window;

typedef struct {
    __m256 low, high;
} sums;

QRT_INLINE __m256 dequantized(const window *w, __m256i stored) {
    return _mm256_mul_ps(w->scale, _mm256_cvtepi32_ps(_mm256_sub_epi32(stored, w->zero_point)));
}

QRT_INLINE sums plus(const window *w, sums s, int64_t y, int64_t x, bool is_pair) {
    const char *at = w->pixels + y * w->row_stride + x * w->column_stride;
    const __m256i low =
        is_pair || w->count == LANES ? widen_eight(w->container, at) : widen_some(w->container, at, 1, w->count);
    s.low = _mm256_add_ps(s.low, dequantized(w, low));
    if (is_pair)
        s.high = _mm256_add_ps(s.high, dequantized(w, widen_eight(w->container, at + LANES)));
    return s;
}

QRT_INLINE sums both(sums a, sums b) {
    return (sums){_mm256_add_ps(a.low, b.low), _mm256_add_ps(a.high, b.high)};
}

QRT_INLINE sums none(void) {
    return (sums){_mm256_setzero_ps(), _mm256_setzero_ps()};
}

QRT_INLINE sums sum_of_columns(const window *w, int64_t rows, bool is_pair) {
    sums all = none();
    for (int64_t x = 0; x < w->columns; x++) {
        sums column = none();
        for (int64_t y = 0; y < rows; y++)
            column = plus(w, column, y, x, is_pair);
        all = both(all, column);
    }
    return all;
}

QRT_INLINE sums sum_of_lanes(const window *w, int64_t rows, bool is_pair) {
    const int64_t count = rows * w->columns, whole = count / 4 * 4;
    sums lanes[4] = {none(), none(), none(), none()};
    int64_t y = 0, x = 0, i = 0;
#define NEXT (x + 1 == w->columns ? (x = 0, y++) : x++)
    for (; i < whole; i += 4)
        for (int lane = 0; lane < 4; lane++, NEXT)
            lanes[lane] = plus(w, lanes[lane], y, x, is_pair);
    sums all = both(both(lanes[0], lanes[2]), both(lanes[1], lanes[3]));
    for (; i < count; i++, NEXT)
        all = plus(w, all, y, x, is_pair);
#undef NEXT
    return all;
}

QRT_INLINE sums sum_of_window(const window *w, qrt_sum_order order, int64_t rows, bool is_pair) {
    if (order == QRT_COLUMNS)
        return sum_of_columns(w, rows, is_pair);
    if (order == QRT_LANES)
        return sum_of_lanes(w, rows, is_pair);
    sums all = none();
    for (int64_t y = 0; y < rows; y++)
        for (int64_t x = 0; x < w->columns; x++)
            all = plus(w, all, y, x, is_pair);
    return all;
}

QRT_INLINE void store_averages(const qrt_requant *requant, int64_t parameter, __m256 sum, char *to, int64_t count) {
    const int64_t zero_point = requant->zero_point[parameter];
    const __m256 low = _mm256_set1_ps((float)(requant->storage_min - zero_point));
    const __m256 high = _mm256_set1_ps((float)(requant->storage_max - zero_point));
    const __m256 average = _mm256_div_ps(sum, _mm256_set1_ps((float)requant->multiplier[parameter]));
    const __m256 quotient = _mm256_div_ps(average, _mm256_set1_ps(requant->divisor_f32[parameter]));
    const __m256 v = _mm256_add_ps(quotient, _mm256_set1_ps(requant->offset_f32[parameter]));
    const __m256i q = round_half_even(_mm256_min_ps(_mm256_max_ps(v, low), high));
    store_bytes(to, low_bytes(_mm256_add_epi32(q, _mm256_set1_epi32((int)zero_point))), first_lanes(count));
}

QRT_INLINE void average_pixel(const qrt_pool_args *args, qrt_container container, const char *pixels, int64_t rows,
                              int64_t columns, int64_t row_stride, int64_t column_stride, char *target) {
    const int64_t channels = args->window.channels, parameter = (rows * columns - 1) * args->count_step;
    window w = {container,
                pixels,
                columns,
                row_stride,
                column_stride,
                first_lanes(channels),
                _mm256_set1_epi32((int)args->zero_point[0]),
                _mm256_set1_ps(args->requant.scale_f32[parameter])};
    int64_t c = 0;
    for (; channels - c > LANES && channels >= PAIR; c += PAIR) {
        const int64_t at = c + PAIR <= channels ? c : channels - PAIR;
        w.pixels = pixels + at;
        const sums s = sum_of_window(&w, args->order, rows, true);
        store_averages(&args->requant, parameter, s.low, target + at, LANES);
        store_averages(&args->requant, parameter, s.high, target + at + LANES, LANES);
    }
    for (; c < channels; c += LANES) {
        const int64_t at = c + LANES <= channels || channels < LANES ? c : channels - LANES;
        w.pixels = pixels + at;
        store_averages(&args->requant, parameter, sum_of_window(&w, args->order, rows, false).low, target + at,
                       w.count);
    }
}

/* The row avg_pool_run by this rule. Returns false for what the parent computes: elements of more than 8 bits, and
 * parameters of each channel. */
static bool average_floats(const qrt_pool_args *args, const char *pixels, int64_t rows, int64_t columns,
                           int64_t row_stride, int64_t column_stride, int64_t count, int64_t step, char *target) {
    const qrt_requant *requant = &args->requant;
    if (args->container > QRT_U8 || requant->container > QRT_U8 || args->zero_point_step || args->channel_step ||
        !within(args->zero_point[0], MOST_ZERO))
        return false;
    for (int64_t i = 0; i < count; i++) {
        const char *from = pixels + i * step;
        char *to = target + i * args->window.channels;
        if (args->container == QRT_I8)
            average_pixel(args, QRT_I8, from, rows, columns, row_stride, column_stride, to);
        else
            average_pixel(args, QRT_U8, from, rows, columns, row_stride, column_stride, to);
    }
    return true;
}
