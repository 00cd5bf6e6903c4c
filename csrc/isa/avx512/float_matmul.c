/* Dot products in float32: a vector is the sixteen lanes of one sum.
 *
 *   vfmadd231ps zmm         16 multiply-adds, two a cycle
 *   vpermps zmm             looks a weight's 4 bits up among 16 floats: only the low 4 bits of an index count
 *   vpmovsxbd, vcvtdq2ps    8-bit weights to floats
 *
 * Six rows by four columns are 24 sums in registers: 24 multiply-adds for 10 loads. */
#include <immintrin.h>

#include "avx512.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
#define ROWS 6
#define STEPS 8 /* in a word of nibbles */

static inline __mmask16 live(int64_t left) {
    return (__mmask16)(left >= LANES ? 0xffff : (1 << left) - 1);
}

/* The tree of each of four sums; a sum's lanes l and l + 8, then l and l + 4, are added as halves of a vector. */
static inline __m128 quarter(__m512 lanes) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

static inline void reduce(const __m512 acc[COLUMNS], float *sums) {
    __m128 l0 = quarter(acc[0]), l1 = quarter(acc[1]), l2 = quarter(acc[2]), l3 = quarter(acc[3]);
    _MM_TRANSPOSE4_PS(l0, l1, l2, l3);
    _mm_storeu_ps(sums, _mm_add_ps(_mm_add_ps(l0, l2), _mm_add_ps(l1, l3)));
}

/* Written out so that the sum stays in its register. */
static inline __m512 multiply_add(__m512 acc, __m512 a, __m512 b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

static inline __attribute__((always_inline)) void rows_by_panel(const int rows, const float *a, int64_t stride,
                                                                const float *panel, int64_t k, float *lanes, bool first,
                                                                bool last, float *sums) {
    __m512 acc[ROWS][COLUMNS];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 4
        for (int j = 0; j < COLUMNS; j++)
            acc[i][j] = first ? _mm512_setzero_ps() : _mm512_load_ps(lanes + (i * COLUMNS + j) * LANES);
    for (int64_t d = 0; d < k; d += LANES, panel += COLUMNS * LANES) {
        const __mmask16 mask = live(k - d);
        __m512 b[COLUMNS];
#pragma GCC unroll 4
        for (int j = 0; j < COLUMNS; j++)
            b[j] = _mm512_load_ps(panel + j * LANES);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m512 row = _mm512_maskz_loadu_ps(mask, a + i * stride + d);
#pragma GCC unroll 4
            for (int j = 0; j < COLUMNS; j++)
                acc[i][j] = multiply_add(acc[i][j], row, b[j]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        if (last)
            reduce(acc[i], sums + i * COLUMNS);
#pragma GCC unroll 4
        for (int j = 0; j < COLUMNS && !last; j++)
            _mm512_store_ps(lanes + (i * COLUMNS + j) * LANES, acc[i][j]);
    }
}

static void float_panel(const float *a, int64_t a_stride, int64_t rows, const float *panel, int64_t k, float *lanes,
                        bool first, bool last, float *sums) {
    int64_t i = 0;
#define RUN(count)                                                                                                     \
    for (; i + count <= rows; i += count)                                                                              \
        rows_by_panel(count, a + i * a_stride, a_stride, panel, k, lanes + i * COLUMNS * LANES, first, last,           \
                      sums + i * COLUMNS);
    RUN(ROWS)
    RUN(2)
    RUN(1)
#undef RUN
}

/* ---- quantized weights ---- */

/* The sixteen weights that 4 bits can say. */
static inline __m512 weights_of_nibbles(const float *parameters, int column) {
    const __m512 nibbles = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m512 centred = _mm512_sub_ps(nibbles, _mm512_set1_ps(parameters[COLUMNS + column]));
    return _mm512_mul_ps(centred, _mm512_set1_ps(parameters[column]));
}

static inline __m512 weights_of_bytes(const int8_t *bytes, const float *parameters, int column) {
    const __m512 q = _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(_mm_load_si128((const __m128i *)bytes)));
    const __m512 centred = _mm512_sub_ps(q, _mm512_set1_ps(parameters[COLUMNS + column]));
    return _mm512_mul_ps(centred, _mm512_set1_ps(parameters[column]));
}

/* Calls visit(K value, column, mask, weights) for every step and column, weights past k as zeros. */
#define EACH_NIBBLE_STEP(visit)                                                                                        \
    for (int64_t first = 0; first < args->k; first += args->k_block, parameters += 2 * COLUMNS) {                      \
        const int64_t end = first + args->k_block < args->k ? first + args->k_block : args->k;                         \
        __m512 table[COLUMNS];                                                                                         \
        _Pragma("GCC unroll 4") for (int j = 0; j < COLUMNS; j++) table[j] = weights_of_nibbles(parameters, j);        \
        for (int64_t d = first; d < end; d += LANES) {                                                                 \
            const uint64_t step = (uint64_t)d / LANES;                                                                 \
            const uint32_t *word = (const uint32_t *)panel + step / STEPS * COLUMNS * LANES;                           \
            const __m512i shift = _mm512_set1_epi32((int)(step % STEPS * 4));                                          \
            const __mmask16 mask = live(args->k - d);                                                                  \
            _Pragma("GCC unroll 4") for (int j = 0; j < COLUMNS; j++) {                                                \
                const __m512i index = _mm512_srlv_epi32(_mm512_load_si512(word + j * LANES), shift);                   \
                visit(d, j, mask, _mm512_maskz_permutexvar_ps(mask, index, table[j]));                                 \
            }                                                                                                          \
        }                                                                                                              \
    }

#define EACH_BYTE_STEP(visit)                                                                                          \
    const int8_t *bytes = panel;                                                                                       \
    for (int64_t first = 0; first < args->k; first += args->k_block, parameters += 2 * COLUMNS) {                      \
        const int64_t end = first + args->k_block < args->k ? first + args->k_block : args->k;                         \
        for (int64_t d = first; d < end; d += LANES) {                                                                 \
            const __mmask16 mask = live(args->k - d);                                                                  \
            _Pragma("GCC unroll 4") for (int j = 0; j < COLUMNS; j++, bytes += LANES)                                  \
                visit(d, j, mask, _mm512_maskz_mov_ps(mask, weights_of_bytes(bytes, parameters, j)));                  \
        }                                                                                                              \
    }

#define STORE(d, j, mask, weights) _mm512_store_ps(target + ((d) / LANES * COLUMNS + (j)) * LANES, weights)

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    if (args->weights == QRT_WEIGHTS_NIBBLES) {
        EACH_NIBBLE_STEP(STORE)
    } else {
        EACH_BYTE_STEP(STORE)
    }
}

#define ACCUMULATE(d, j, mask, weights) acc[j] = multiply_add(acc[j], _mm512_maskz_loadu_ps(mask, a + (d)), weights)

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m512 acc[COLUMNS];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++)
        acc[j] = _mm512_setzero_ps();
    if (args->weights == QRT_WEIGHTS_NIBBLES) {
        EACH_NIBBLE_STEP(ACCUMULATE)
    } else {
        EACH_BYTE_STEP(ACCUMULATE)
    }
    reduce(acc, sums);
}

void qrt_avx512_install_float_matmul(qrt_kernels *table) {
    table->float_panel = float_panel;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
