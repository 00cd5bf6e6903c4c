/* Means of 8 and 16-bit storage. A vector holds elements of the result whose values are neighbours in x, or the values
 * of one of them.
 *
 *   vpmovsxbw, vpaddw  sixteen bytes of a row, added to sums of words, which 128 rows fit
 *   vpsadbw            the sum of eight bytes that lie side by side
 *
 * The table's row `store` requantizes the sums, or `store_wide` those that leave 32 bits.
 *
 * Exact: sums.h; the sums of up to 2^14 rows are added in 64 bits. Other calls go to the parent. */
#include "isa/rows.h"
#include "sums.h"

/* Rows of bytes whose sums fit words. */
#define ROWS_IN_WORDS 128

QRT_INLINE __m256i sixteen_words(bool is_signed, const char *x) {
    const __m128i bytes = _mm_loadu_si128((const __m128i *)x);
    return is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes);
}

QRT_INLINE void add_words(bool is_signed, __m256i words, int32_t *acc) {
    for (int half = 0; half < 2; half++) {
        __m256i *const at = (__m256i *)(acc + 8 * half);
        const __m128i part = half ? _mm256_extracti128_si256(words, 1) : _mm256_castsi256_si128(words);
        const __m256i sums = is_signed ? _mm256_cvtepi16_epi32(part) : _mm256_cvtepu16_epi32(part);
        _mm256_storeu_si256(at, _mm256_add_epi32(_mm256_loadu_si256(at), sums));
    }
}

/* Adds to acc[i] the bytes i of up to ROWS_IN_WORDS rows, for 16 * `vectors` columns. */
QRT_INLINE void sum_block(bool is_signed, const char *x, int64_t rows, int64_t row_bytes, int vectors, int32_t *acc) {
    __m256i words[4];
    for (int v = 0; v < vectors; v++)
        words[v] = _mm256_setzero_si256();
    for (int64_t row = 0; row < rows; row++)
        for (int v = 0; v < vectors; v++)
            words[v] = _mm256_add_epi16(words[v], sixteen_words(is_signed, x + row * row_bytes + 16 * v));
    for (int v = 0; v < vectors; v++)
        add_words(is_signed, words[v], acc + 16 * v);
}

/* Adds to acc[i] the bytes i of `rows` rows, in multiples of sixteen columns. Returns how many columns it has done. */
QRT_INLINE int64_t sum_rows_of(bool is_signed, const char *x, int64_t rows, int64_t row_bytes, int64_t columns,
                               int32_t *acc) {
    int64_t i = 0;
    for (int vectors = 4; vectors > 0; vectors /= 2)
        for (; i + 16 * vectors <= columns; i += 16 * vectors)
            for (int64_t row = 0; row < rows; row += ROWS_IN_WORDS) {
                const int64_t part = rows - row < ROWS_IN_WORDS ? rows - row : ROWS_IN_WORDS;
                const char *from = x + row * row_bytes + i;
                if (vectors == 4)
                    sum_block(is_signed, from, part, row_bytes, 4, acc + i);
                else if (vectors == 2)
                    sum_block(is_signed, from, part, row_bytes, 2, acc + i);
                else
                    sum_block(is_signed, from, part, row_bytes, 1, acc + i);
            }
    return i;
}

static void sum_rows(qrt_container container, const char *x, int64_t rows, int64_t row_stride, int64_t columns,
                     int32_t *acc) {
    const int64_t size = qrt_container_size(container);
    int64_t done = 0;
    if (container == QRT_I8)
        done = sum_rows_of(true, x, rows, row_stride, columns, acc);
    else if (container == QRT_U8)
        done = sum_rows_of(false, x, rows, row_stride, columns, acc);
    for (int64_t row = 0; done < columns && row < rows; row++)
        accumulate(container, x + (row * row_stride + done) * size, columns - done, acc + done);
}

/* Calls with rows of at most MOST_VALUES elements; after each, sums of 32 bits are added to those of 64. */
static void accumulate_reduced(const qrt_mean_args *args, const char *x, int64_t count, int64_t *sums) {
    const int64_t size = qrt_container_size(args->container);
    const int last = args->reduced_rank - 1;
    const int64_t run = last >= 0 ? args->reduced_shape[last] : 1, stride = last >= 0 ? args->reduced_strides[last] : 0;
    int64_t index[QRT_MAX_RANK] = {0}, at = 0, pending = 0;
    int32_t acc[CHUNK + BEHIND] = {0};
    for (int64_t i = 0; i < args->count; i += run) {
        for (int64_t row = 0, rows; row < run; row += rows) {
            rows = run - row < MOST_VALUES - pending ? run - row : MOST_VALUES - pending;
            sum_rows(args->container, x + (at + row * stride) * size, rows, stride, count, acc);
            pending += rows;
            const bool is_last = i + run >= args->count && row + rows >= run;
            if (pending < MOST_VALUES && !is_last)
                continue;
            for (int64_t j = 0; j < count; j++) {
                sums[j] += acc[j];
                acc[j] = 0;
            }
            pending = 0;
        }
        for (int d = last - 1; d >= 0; d--) {
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

/* The sum of bytes, as if they were unsigned after `flip`. */
static int64_t sum_bytes(const char *source, int64_t count, unsigned char flip) {
    const __m256i flips = _mm256_set1_epi8((char)flip), zero = _mm256_setzero_si256();
    __m256i lanes = zero;
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) {
        const __m256i bytes = _mm256_loadu_si256((const __m256i *)(source + i));
        lanes = _mm256_add_epi64(lanes, _mm256_sad_epu8(_mm256_xor_si256(bytes, flips), zero));
    }
    __m128i pair = _mm_add_epi64(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    if (i + 16 <= count) {
        const __m128i bytes =
            _mm_xor_si128(_mm_loadu_si128((const __m128i *)(source + i)), _mm256_castsi256_si128(flips));
        pair = _mm_add_epi64(pair, _mm_sad_epu8(bytes, _mm_setzero_si128()));
        i += 16;
    }
    int64_t sum = _mm_cvtsi128_si64(pair) + _mm_extract_epi64(pair, 1);
    for (; i < count; i++)
        sum += (unsigned char)source[i] ^ flip;
    return sum;
}

/* The sum of values that lie side by side. */
static int64_t sum_run(qrt_container container, const char *source, int64_t count) {
    if (container == QRT_I8)
        return sum_bytes(source, count, 0x80) - 128 * count;
    if (container == QRT_U8)
        return sum_bytes(source, count, 0);
    return BY_CONTAINER(sum_of, container, source, count);
}

/* The sum over the reduced axes, along the last of which values lie side by side. */
static int64_t reduced_sum(const qrt_mean_args *args, const char *x) {
    const int last = args->reduced_rank - 1;
    const int64_t size = qrt_container_size(args->container), run = args->reduced_shape[last];
    if (last == 0) /* to clear the indices would take longer than a short run */
        return sum_run(args->container, x, run);
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

/* Requantizes sums, whose zero points are not subtracted yet. */
static void store_sums(const qrt_mean_args *args, int64_t *sums, int64_t count, char *target, int64_t parameter,
                       int64_t step) {
    int32_t acc[CHUNK + BEHIND];
    bool fits = true;
    for (int64_t i = 0; i < count; i++) {
        sums[i] -= args->count * args->zero_point[parameter + i * step];
        acc[i] = (int32_t)sums[i];
        fits &= acc[i] == sums[i];
    }
    clear_behind(acc, count);
    memset(sums + count, 0, BEHIND * sizeof *sums);
    if (fits)
        args->kernels->store(&args->requant, acc, 0, 1, (int)count, target, 0, parameter, 0, step);
    else
        args->kernels->store_wide(&args->requant, sums, 0, 1, (int)count, target, 0, parameter, 0, step);
}

void avx2_mean_row(const qrt_mean_args *args, const void *x, int64_t x_stride, void *target, int64_t count,
                   int64_t parameter, int64_t step) {
    const int64_t size = qrt_container_size(args->container), out_size = qrt_container_size(args->requant.container);
    const bool runs = has_runs(args);
    int64_t sums[CHUNK + BEHIND];
    if (!runs && (x_stride != 1 || args->container > QRT_U16)) {
        avx2_parent.mean_row(args, x, x_stride, target, count, parameter, step);
        return;
    }
    for (int64_t i = 0; i < count; i += CHUNK) {
        const int64_t part = count - i < CHUNK ? count - i : CHUNK;
        const char *from = (const char *)x + i * x_stride * size;
        if (runs) {
            for (int64_t j = 0; j < part; j++)
                sums[j] = reduced_sum(args, from + j * x_stride * size);
        } else {
            memset(sums, 0, (size_t)part * sizeof *sums);
            accumulate_reduced(args, from, part, sums);
        }
        store_sums(args, sums, part, (char *)target + i * out_size, parameter + i * step, step);
    }
}
