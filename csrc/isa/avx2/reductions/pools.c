/* Pools of 8 and 16-bit storage. A vector holds channels, or the channels of neighbouring pixels.
 *
 *   vpmax{s,u}{b,w}   max_pool, one per 32 bytes and pixel, on ports 0 and 1; loads are as many
 *   vpaddd            avg_pool: sums of columns, then of neighbouring columns, in L1, which the table's row `store`
 *                     requantizes; sums.h has the first
 *
 * Exact: sums.h. Other calls go to the parent. Hazard: the last vector of a pixel or of a line overlaps the one before,
 * so that nothing past it is read. */
#include "float_averages.h"
#include "isa/rows.h"
#include "sums.h"

/* Pixels of fewer bytes, or of fewer channels for averages, are computed in runs: first the maxima or sums of columns
 * in a buffer, then those of neighbouring columns, of which windows that overlap share the first step. */
#define RUN 2048
#define RUN_CHANNELS 256

/* Copies one pixel of fewer than 32 bytes. */
QRT_INLINE void copy_pixel(char *to, const char *from, int64_t bytes) {
    if (bytes >= 16) {
        memcpy(to, from, 16);
        memcpy(to + bytes - 16, from + bytes - 16, 16);
    } else if (bytes >= 8) {
        memcpy(to, from, 8);
        memcpy(to + bytes - 8, from + bytes - 8, 8);
    } else if (bytes >= 4) {
        memcpy(to, from, 4);
        memcpy(to + bytes - 4, from + bytes - 4, 4);
    } else {
        for (int64_t i = 0; i < bytes; i++)
            to[i] = from[i];
    }
}

/* ---- max_pool ---- */

static void max_pool_wide(const qrt_pool_args *args, const char *pixels, int64_t rows, int64_t columns,
                          int64_t row_stride, int64_t column_stride, char *target) {
    const int64_t size = qrt_container_size(args->container), bytes = args->window.channels * size;
    for (int64_t c = 0; c < bytes; c += 32) {
        const int64_t at = c + 32 <= bytes ? c : bytes - 32; /* the last vector overlaps the one before */
        const char *first = pixels + at;
        __m256i largest = _mm256_loadu_si256((const __m256i *)first);
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++) {
                const char *pixel = first + (y * row_stride + x * column_stride) * size;
                largest = max_of(args->container, largest, _mm256_loadu_si256((const __m256i *)pixel));
            }
        _mm256_storeu_si256((__m256i *)(target + at), largest);
    }
}

/* The maxima of the columns of windows: `bytes` of each row, of which there are at least 32. */
static void max_of_rows(qrt_container container, const char *pixels, int64_t rows, int64_t row_bytes, int64_t bytes,
                        char *to) {
    for (int64_t i = 0; i < bytes; i += 32) {
        const int64_t at = i + 32 <= bytes ? i : bytes - 32;
        __m256i largest = _mm256_loadu_si256((const __m256i *)(pixels + at));
        for (int64_t y = 1; y < rows; y++)
            largest = max_of(container, largest, _mm256_loadu_si256((const __m256i *)(pixels + y * row_bytes + at)));
        _mm256_storeu_si256((__m256i *)(to + at), largest);
    }
}

/* `count` pixels of `bytes` bytes, whose windows lie `stride` pixels apart and have at least 32 bytes together. */
static void max_pool_narrow(qrt_container container, const char *pixels, int64_t rows, int64_t columns,
                            int64_t row_bytes, int64_t bytes, int64_t count, int64_t stride, char *target) {
    _Alignas(32) char maxima[RUN + 64];
    const int64_t last = (count - 1) * stride, whole = (last + 1) * bytes;
    max_of_rows(container, pixels, rows, row_bytes, (last + columns) * bytes, maxima);
    memset(maxima + (last + columns) * bytes, 0, 32);
    for (int64_t i = 0; columns > 1 && i < whole; i += 32) {
        __m256i largest = _mm256_loadu_si256((const __m256i *)(maxima + i));
        for (int64_t x = 1; x < columns; x++)
            largest = max_of(container, largest, _mm256_loadu_si256((const __m256i *)(maxima + i + x * bytes)));
        _mm256_storeu_si256((__m256i *)(maxima + i), largest);
    }
    if (stride == 1)
        memcpy(target, maxima, (size_t)whole);
    for (int64_t i = 0; stride != 1 && i < count; i++)
        copy_pixel(target + i * bytes, maxima + i * stride * bytes, bytes);
}

void avx2_max_pool_run(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns, int64_t row_stride,
                       int64_t column_stride, int64_t count, int64_t step, void *target) {
    const int64_t size = qrt_container_size(args->container), bytes = args->window.channels * size;
    const int64_t stride = step / args->window.channels, most = (RUN / bytes - columns) / stride + 1;
    const bool is_narrow = bytes < 32 && columns * bytes <= RUN;
    if (args->container > QRT_U16 || (bytes < 32 && !is_narrow)) {
        avx2_parent.max_pool_run(args, pixels, rows, columns, row_stride, column_stride, count, step, target);
        return;
    }
    for (int64_t i = 0; i < count;) {
        const char *from = (const char *)pixels + i * step * size;
        char *to = (char *)target + i * bytes;
        const int64_t part = is_narrow ? count - i < most ? count - i : most : 1;
        if (!is_narrow)
            max_pool_wide(args, from, rows, columns, row_stride, column_stride, to);
        else if (((part - 1) * stride + columns) * bytes >= 32)
            max_pool_narrow(args->container, from, rows, columns, row_stride * size, bytes, part, stride, to);
        else
            avx2_parent.max_pool_run(args, from, rows, columns, row_stride, column_stride, part, step, to);
        i += part;
    }
}

/* ---- avg_pool ---- */

#define MOST_SUMMED_ZERO_POINT (1 << 16)

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

static bool avg_pool_wide(const qrt_pool_args *args, const char *pixels, int64_t rows, int64_t columns,
                          int64_t row_stride, int64_t column_stride, char *target) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    const int64_t channels = args->window.channels, valid = rows * columns;
    int32_t acc[CHUNK + BEHIND];
    for (int64_t c = 0; c < channels; c += CHUNK) {
        const int64_t count = channels - c < CHUNK ? channels - c : CHUNK;
        if (!start_sums(args->container, args->zero_point + c * args->zero_point_step, args->zero_point_step, valid,
                        count, acc))
            return false;
        for (int64_t y = 0; y < rows; y++)
            for (int64_t x = 0; x < columns; x++)
                accumulate(args->container, pixels + (y * row_stride + x * column_stride + c) * size, count, acc);
        args->kernels->store(&args->requant, acc, 0, 1, (int)count, target + c * out_size, 0,
                             (valid - 1) * args->count_step + c * args->channel_step, 0, args->channel_step);
    }
    return true;
}

/* Pixels that share their parameters. The zero points of all rows are subtracted from the sums of a column. */
static void avg_pool_narrow(const qrt_pool_args *args, const char *pixels, int64_t rows, int64_t columns,
                            int64_t row_stride, int64_t count, int64_t stride, char *target) {
    int32_t acc[RUN + BEHIND];
    const int64_t channels = args->window.channels, last = (count - 1) * stride, whole = (last + 1) * channels;
    const int64_t elements = (last + columns) * channels, size = qrt_container_size(args->container);
    const int32_t start = (int32_t)(-rows * args->zero_point[0]);
    for (int64_t i = 0; i < elements + BEHIND; i++)
        acc[i] = start;
    for (int64_t y = 0; y < rows; y++)
        accumulate(args->container, pixels + y * row_stride * size, elements, acc);
    for (int64_t i = 0; columns > 1 && i < whole; i += 8) {
        __m256i sum = _mm256_loadu_si256((const __m256i *)(acc + i));
        for (int64_t x = 1; x < columns; x++)
            sum = _mm256_add_epi32(sum, _mm256_loadu_si256((const __m256i *)(acc + i + x * channels)));
        _mm256_storeu_si256((__m256i *)(acc + i), sum);
    }
    for (int64_t i = 1; stride != 1 && i < count; i++)
        memmove(acc + i * channels, acc + i * stride * channels, (size_t)channels * sizeof *acc);
    args->kernels->store(&args->requant, acc, 0, 1, (int)(count * channels), target, 0,
                         (rows * columns - 1) * args->count_step, 0, 0);
}

void avx2_avg_pool_run(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns, int64_t row_stride,
                       int64_t column_stride, int64_t count, int64_t step, void *target) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    const int64_t channels = args->window.channels, stride = step / channels;
    int32_t unused[1 + BEHIND];
    if (args->requant.rule == QRT_DEQUANTIZED &&
        average_floats(args, pixels, rows, columns, row_stride, column_stride, count, step, target))
        return;
    const bool is_narrow = args->requant.rule != QRT_DEQUANTIZED && !args->zero_point_step && !args->channel_step &&
                           channels <= RUN_CHANNELS && columns * channels <= RUN &&
                           start_sums(args->container, args->zero_point, 0, rows * columns, 1, unused);
    const int64_t most = is_narrow ? (RUN / channels - columns) / stride + 1 : 1;
    for (int64_t i = 0; i < count;) {
        const char *from = (const char *)pixels + i * step * size;
        char *to = (char *)target + i * channels * out_size;
        const int64_t part = count - i < most ? count - i : most;
        if (is_narrow)
            avg_pool_narrow(args, from, rows, columns, row_stride, part, stride, to);
        else if (args->requant.rule == QRT_DEQUANTIZED ||
                 !avg_pool_wide(args, from, rows, columns, row_stride, column_stride, to))
            avx2_parent.avg_pool_run(args, from, rows, columns, row_stride, column_stride, 1, step, to);
        i += part;
    }
}
