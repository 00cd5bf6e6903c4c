/* Dot products in float32: two vectors are the sixteen lanes of one sum, 0 to 7 and 8 to 15.
 *
 *   vfmadd231ps ymm         8 multiply-adds, two a cycle
 *   vpmovsxbd, vcvtdq2ps    8-bit weights to floats
 *
 * Three rows by two columns are 12 sums in registers. */
#include <immintrin.h>

#include "avx2.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
#define ROWS 3
#define PAIR 2  /* columns at once, and vectors of a sum */
#define STEPS 8 /* in a word of nibbles */

static inline __m256i live(int64_t left) {
    const int n = left > 8 ? 8 : left > 0 ? (int)left : 0;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first lanes of a row, zeros past `left`; masked loads do not fault there. */
static inline __m256 load_row(const float *row, int64_t left) {
    return left >= 8 ? _mm256_loadu_ps(row) : _mm256_maskload_ps(row, live(left));
}

/* Lanes l and l + 8, then l and l + 4. */
static inline __m128 quarter(__m256 low, __m256 high) {
    const __m256 half = _mm256_add_ps(low, high);
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

/* Lanes l and l + 2, then the last two, of two sums. */
static inline void reduce(__m256 a[PAIR], __m256 b[PAIR], float *sums) {
    const __m128 l0 = quarter(a[0], a[1]), l1 = quarter(b[0], b[1]);
    const __m128 even = _mm_unpacklo_ps(l0, l1), odd = _mm_unpackhi_ps(l0, l1); /* 00 11 and 22 33 */
    const __m128 both = _mm_add_ps(even, odd);
    _mm_storel_pi((__m64 *)sums, _mm_add_ps(both, _mm_movehl_ps(both, both)));
}

static inline __attribute__((always_inline)) void rows_by_pair(const int rows, const float *a, int64_t stride,
                                                               const float *panel, int64_t k, float *lanes, bool first,
                                                               bool last, float *sums) {
    __m256 acc[ROWS][PAIR][PAIR];
#pragma GCC unroll 3
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int j = 0; j < PAIR; j++)
#pragma GCC unroll 2
            for (int h = 0; h < PAIR; h++)
                acc[i][j][h] = first ? _mm256_setzero_ps() : _mm256_load_ps(lanes + (i * COLUMNS + j) * LANES + 8 * h);
    for (int64_t d = 0; d < k; d += LANES, panel += COLUMNS * LANES) {
#pragma GCC unroll 2
        for (int h = 0; h < PAIR; h++) {
            const int64_t left = k - d - 8 * h;
            __m256 b[PAIR];
#pragma GCC unroll 2
            for (int j = 0; j < PAIR; j++)
                b[j] = _mm256_load_ps(panel + j * LANES + 8 * h);
#pragma GCC unroll 3
            for (int i = 0; i < rows; i++) {
                const __m256 row = load_row(a + i * stride + d + 8 * h, left);
#pragma GCC unroll 2
                for (int j = 0; j < PAIR; j++)
                    acc[i][j][h] = _mm256_fmadd_ps(row, b[j], acc[i][j][h]);
            }
        }
    }
#pragma GCC unroll 3
    for (int i = 0; i < rows; i++) {
        if (last)
            reduce(acc[i][0], acc[i][1], sums + i * COLUMNS);
#pragma GCC unroll 2
        for (int j = 0; j < PAIR && !last; j++) {
            _mm256_store_ps(lanes + (i * COLUMNS + j) * LANES, acc[i][j][0]);
            _mm256_store_ps(lanes + (i * COLUMNS + j) * LANES + 8, acc[i][j][1]);
        }
    }
}

static void float_panel(const float *a, int64_t a_stride, int64_t rows, const float *panel, int64_t k, float *lanes,
                        bool first, bool last, float *sums) {
    for (int j = 0; j < COLUMNS; j += PAIR) {
        int64_t i = 0;
#define RUN(count)                                                                                                     \
    for (; i + count <= rows; i += count)                                                                              \
        rows_by_pair(count, a + i * a_stride, a_stride, panel + j * LANES, k, lanes + (i * COLUMNS + j) * LANES,       \
                     first, last, sums + i * COLUMNS + j);
        RUN(ROWS)
        RUN(1)
#undef RUN
    }
}

/* ---- quantized weights ---- */

/* Eight weights, zeros past `left`. */
static inline __m256 weights_of(__m256i q, const float *parameters, int column, int64_t left) {
    const __m256 centred = _mm256_sub_ps(_mm256_cvtepi32_ps(q), _mm256_set1_ps(parameters[COLUMNS + column]));
    const __m256 weights = _mm256_mul_ps(centred, _mm256_set1_ps(parameters[column]));
    return left >= 8 ? weights : _mm256_and_ps(weights, _mm256_castsi256_ps(live(left)));
}

/* Half h of a column's step at K value d. */
static inline __m256 dequantize(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                                int64_t d, int column, int h) {
    const uint64_t step = (uint64_t)d / LANES;
    __m256i q;
    if (args->weights == QRT_WEIGHTS_BYTES) {
        const int8_t *bytes = (const int8_t *)panel + (step * COLUMNS + column) * LANES + 8 * h;
        q = _mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
    } else {
        const uint32_t *word = (const uint32_t *)panel + (step / STEPS * COLUMNS + column) * LANES + 8 * h;
        const __m128i shift = _mm_cvtsi32_si128((int)(step % STEPS * 4));
        q = _mm256_srl_epi32(_mm256_load_si256((const __m256i *)word), shift);
        q = _mm256_and_si256(q, _mm256_set1_epi32(15));
    }
    return weights_of(q, parameters, column, args->k - d - 8 * h);
}

static inline int64_t block_end(const qrt_float_matmul_args *args, int64_t first) {
    return first + args->k_block < args->k ? first + args->k_block : args->k;
}

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    for (int64_t first = 0; first < args->k; first += args->k_block, parameters += 2 * COLUMNS)
        for (int64_t d = first; d < block_end(args, first); d += LANES)
            for (int j = 0; j < COLUMNS; j++)
                for (int h = 0; h < PAIR; h++, target += 8)
                    _mm256_store_ps(target, dequantize(args, panel, parameters, d, j, h));
}

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m256 acc[COLUMNS][PAIR];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++)
        acc[j][0] = acc[j][1] = _mm256_setzero_ps();
    for (int64_t first = 0; first < args->k; first += args->k_block, parameters += 2 * COLUMNS)
        for (int64_t d = first; d < block_end(args, first); d += LANES)
#pragma GCC unroll 2
            for (int h = 0; h < PAIR; h++) {
                const __m256 row = load_row(a + d + 8 * h, args->k - d - 8 * h);
#pragma GCC unroll 4
                for (int j = 0; j < COLUMNS; j++)
                    acc[j][h] = _mm256_fmadd_ps(row, dequantize(args, panel, parameters, d, j, h), acc[j][h]);
            }
#pragma GCC unroll 2
    for (int j = 0; j < COLUMNS; j += PAIR)
        reduce(acc[j], acc[j + 1], sums + j);
}

void qrt_avx2_install_float_matmul(qrt_kernels *table) {
    table->float_panel = float_panel;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
