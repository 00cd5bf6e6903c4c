/* Pooling and means of 8 and 16-bit storage. A vector holds channels, or, for means, elements of the result whose
 * values are neighbours in x.
 *
 *   vpmax{s,u}{b,w}   max_pool, one per 32 bytes and pixel, on ports 0 and 1; loads are as many
 *   vpmovsxbd, ...    avg_pool, mean: widen 8 values, on port 5; vpaddd adds them to 32-bit sums of a chunk in L1,
 *                     which the table's row `store` requantizes. Means whose values lie side by side add them to a
 *                     vector of sums instead, which `store_wide` requantizes
 *
 * Exact: sums of up to 2^14 values, each minus a zero point of at most 2^16 in magnitude, stay below 2^31. Sums of
 * values that lie side by side go on in 64 bits. Other calls go to the parent. Hazard: the last vector of a pixel
 * overlaps the one before, so that nothing past the pixel is read. */
#include "isa/rows.h"
#include "widen.h"

#define MOST_VALUES (1 << 14)
#define MOST_SUMMED_ZERO_POINT (1 << 16)

/* ---- max_pool ---- */

void avx2_max_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                         int64_t row_stride, int64_t column_stride, void *target) {
    const int64_t size = qrt_container_size(args->container), bytes = args->window.channels * size;
    if (args->container > QRT_U16 || bytes < 32) {
        avx2_parent.max_pool_pixel(args, pixels, rows, columns, row_stride, column_stride, target);
        return;
    }
    for (int64_t c = 0; c < bytes; c += 32) {
        const int64_t at = c + 32 <= bytes ? c : bytes - 32; /* the last vector overlaps the one before */
        const char *first = (const char *)pixels + at;
        __m256i largest = _mm256_loadu_si256((const __m256i *)first);
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++) {
                const char *pixel = first + (y * row_stride + x * column_stride) * size;
                largest = max_of(args->container, largest, _mm256_loadu_si256((const __m256i *)pixel));
            }
        _mm256_storeu_si256((__m256i *)((char *)target + at), largest);
    }
}

/* ---- sums ---- */

QRT_INLINE void accumulate_of(qrt_container container, const char *source, int64_t count, int32_t *acc) {
    const int size = qrt_container_size(container);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        __m256i *const at = (__m256i *)(acc + i);
        _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), widen_eight(container, source + i * size)));
    }
    for (; i < count; i++)
        acc[i] += (int32_t)qrt_load(container, source, i);
}

/* acc[i] += source[i] */
static void accumulate(qrt_container container, const char *source, int64_t count, int32_t *acc) {
    BY_CONTAINER(accumulate_of, container, source, count, acc);
}

/* Begins sums of `values` values each with their zero points subtracted. Returns false where a sum could leave 32
 * bits. */
static bool start_sums(qrt_container container, const int64_t *zero_point, int64_t step, int64_t values, int64_t count,
                       int32_t *acc) {
    if (container > QRT_U16 || values > MOST_VALUES)
        return false;
    for (int64_t i = 0; i < count; i++) {
        const int64_t zero = zero_point[i * step];
        if (zero > MOST_SUMMED_ZERO_POINT || zero < -MOST_SUMMED_ZERO_POINT)
            return false;
        acc[i] = (int32_t)(-values * zero);
    }
    clear_behind(acc, count);
    return true;
}

void avx2_avg_pool_pixel(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                         int64_t row_stride, int64_t column_stride, void *target) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    const int64_t channels = args->window.channels, valid = rows * columns;
    if (args->requant.rule == QRT_DEQUANTIZED) {
        avx2_parent.avg_pool_pixel(args, pixels, rows, columns, row_stride, column_stride, target);
        return;
    }
    int32_t acc[CHUNK + BEHIND];
    for (int64_t c = 0; c < channels; c += CHUNK) {
        const int64_t count = channels - c < CHUNK ? channels - c : CHUNK;
        if (!start_sums(args->container, args->zero_point + c * args->zero_point_step, args->zero_point_step, valid,
                        count, acc)) {
            avx2_parent.avg_pool_pixel(args, pixels, rows, columns, row_stride, column_stride, target);
            return;
        }
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                accumulate(args->container, (const char *)pixels + (y * row_stride + x * column_stride + c) * size,
                           count, acc);
        args->kernels->store(&args->requant, acc, 0, 1, (int)count, (char *)target + c * out_size, 0,
                             (valid - 1) * args->count_step + c * args->channel_step, 0, args->channel_step);
    }
}

/* ---- mean ---- */

/* Adds to acc[i] the sum over the reduced axes from element i on. */
static void accumulate_reduced(const qrt_mean_args *args, const char *x, int64_t count, int32_t *acc) {
    const int64_t size = qrt_container_size(args->container);
    int64_t index[QRT_MAX_RANK] = {0}, at = 0;
    for (int64_t i = 0; i < args->count; i++) {
        accumulate(args->container, x + at * size, count, acc);
        for (int d = args->reduced_rank - 1; d >= 0; d--) {
            at += args->reduced_strides[d];
            if (++index[d] < args->reduced_shape[d])
                break;
            at -= args->reduced_shape[d] * args->reduced_strides[d];
            index[d] = 0;
        }
    }
}

/* Each lane of 32 bits adds up to 2^14 values of at most 16 bits. */
QRT_INLINE int64_t sum_of(qrt_container container, const char *source, int64_t count) {
    const int size = qrt_container_size(container);
    int64_t i = 0, sum = 0;
    while (i + 8 <= count) {
        const int64_t end = count - i < 8 * MOST_VALUES ? count : i + 8 * MOST_VALUES;
        __m256i lanes = _mm256_setzero_si256();
        for (; i + 8 <= end; i += 8)
            lanes = _mm256_add_epi32(lanes, widen_eight(container, source + i * size));
        int32_t parts[8];
        _mm256_storeu_si256((__m256i *)parts, lanes);
        for (int lane = 0; lane < 8; lane++)
            sum += parts[lane];
    }
    for (; i < count; i++)
        sum += qrt_load(container, source, i);
    return sum;
}

/* The sum of values that lie side by side. */
static int64_t sum_run(qrt_container container, const char *source, int64_t count) {
    return BY_CONTAINER(sum_of, container, source, count);
}

/* The sum over the reduced axes, along the last of which values lie side by side. */
static int64_t reduced_sum(const qrt_mean_args *args, const char *x) {
    const int last = args->reduced_rank - 1;
    const int64_t size = qrt_container_size(args->container), run = args->reduced_shape[last];
    int64_t index[QRT_MAX_RANK] = {0}, at = 0, sum = 0;
    for (int64_t i = 0; i < args->count; i += run) {
        sum += sum_run(args->container, x + at * size, run);
        for (int d = last - 1; d >= 0; d--) {
            at += args->reduced_strides[d];
            if (++index[d] < args->reduced_shape[d])
                break;
            at -= args->reduced_shape[d] * args->reduced_strides[d];
            index[d] = 0;
        }
    }
    return sum;
}

/* Whether the values of a result lie side by side in runs that are worth a vector. */
static bool has_runs(const qrt_mean_args *args) {
    const int last = args->reduced_rank - 1;
    return args->container <= QRT_U16 && last >= 0 && args->reduced_strides[last] == 1 &&
           args->reduced_shape[last] >= 16;
}

static void mean_of_runs(const qrt_mean_args *args, const char *x, int64_t x_stride, char *target, int64_t count,
                         int64_t parameter, int64_t step) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    int64_t acc[CHUNK + BEHIND];
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t part = count - i < CHUNK ? count - i : CHUNK;
        for (int64_t j = 0; j < part; j++)
            acc[j] = reduced_sum(args, x + (i + j) * x_stride * size) -
                     args->count * args->zero_point[parameter + (i + j) * step];
        memset(acc + part, 0, BEHIND * sizeof *acc);
        args->kernels->store_wide(&args->requant, acc, 0, 1, (int)part, target + i * out_size, 0, parameter + i * step,
                                  0, step);
    }
}

void avx2_mean_row(const qrt_mean_args *args, const void *x, int64_t x_stride, void *target, int64_t count,
                   int64_t parameter, int64_t step) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    int32_t acc[CHUNK + BEHIND];
    if (has_runs(args)) {
        mean_of_runs(args, x, x_stride, target, count, parameter, step);
        return;
    }
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t part = count - i < CHUNK ? count - i : CHUNK, index = parameter + i * step;
        const char *from = (const char *)x + i * x_stride * size;
        char *to = (char *)target + i * out_size;
        if (x_stride == 1 && start_sums(args->container, args->zero_point + index, step, args->count, part, acc)) {
            accumulate_reduced(args, from, part, acc);
            args->kernels->store(&args->requant, acc, 0, 1, (int)part, to, 0, index, 0, step);
        } else {
            avx2_parent.mean_row(args, from, x_stride, to, part, index, step);
        }
    }
}
