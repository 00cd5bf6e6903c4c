/* Dot products in float32: a vector is the sixteen lanes of one sum.
 *
 *   vfmadd231ps zmm         16 multiply-adds, two a cycle
 *   vpermps zmm             looks a weight's 4 bits up among 16 floats: only the low 4 bits of an index count
 *   vpternlogd zmm          puts a byte into the last bits of 2^23: a float, without conversion
 *
 * Six rows by four columns are 24 sums in registers: 24 multiply-adds for 10 loads. */
#include <immintrin.h>

#include "avx512.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
#define ROWS 6

#define INLINE static inline __attribute__((always_inline))

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

INLINE void rows_by_panel(const int rows, const float *a, int64_t stride, const float *panel, int64_t k, float *lanes,
                          bool first, bool last, float *sums) {
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

/* ---- quantized weights: loading from the byte that has a step on puts it in the low bits of every lane ---- */

#define WORD_BYTES (COLUMNS * LANES * (int)sizeof(uint32_t))
#define AHEAD 4096 /* bytes: the stream that prefetching alone keeps up with */

INLINE int steps_of_word(const qrt_weights kind) {
    return kind == QRT_WEIGHTS_NIBBLES ? 8 : 4;
}

/* A block's parameters for each column. Of nibbles, the sixteen weights they can be; of bytes, what is subtracted from
 * 2^23 + q, and the scale. */
typedef struct {
    __m512 first[COLUMNS], scale[COLUMNS];
} block;

INLINE __m512 with_zero_point(const qrt_weights kind, __m512 zero_point) {
    const __m512 nibbles = _mm512_setr_ps(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    if (kind == QRT_WEIGHTS_NIBBLES)
        return _mm512_sub_ps(nibbles, zero_point);
    return _mm512_add_ps(_mm512_set1_ps(0x1p23f), zero_point);
}

/* Where the next block's parameters are. */
INLINE const float *load_block(const qrt_weights kind, bool differ, __m512 common, const float *parameters, block *to) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++) {
        const __m512 scale = _mm512_set1_ps(parameters[j]);
        const __m512 first = differ ? with_zero_point(kind, _mm512_set1_ps(parameters[COLUMNS + j])) : common;
        to->first[j] = kind == QRT_WEIGHTS_NIBBLES ? _mm512_mul_ps(first, scale) : first;
        to->scale[j] = scale;
    }
    return parameters + (differ ? 2 : 1) * COLUMNS;
}

/* A column's weights in one step of a word. */
INLINE __m512 weights_of(const qrt_weights kind, const char *word, int step, const block *in, int column) {
    if (kind == QRT_WEIGHTS_NIBBLES) {
        const __m512i byte = _mm512_loadu_si512(word + step / 2);
        return _mm512_permutexvar_ps(step % 2 ? _mm512_srli_epi32(byte, 4) : byte, in->first[column]);
    }
    const __m512i low = _mm512_set1_epi32(0xff), exponent = _mm512_castps_si512(_mm512_set1_ps(0x1p23f));
    const __m512i q = _mm512_ternarylogic_epi32(_mm512_loadu_si512(word + step), low, exponent, 0xea); /* (A & B) | C */
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_castsi512_ps(q), in->first[column]), in->scale[column]);
}

/* One step of four columns, at value d of K: its weights times `a` to the sums, or without sums to `target`. */
INLINE void step_of_panel(const qrt_weights kind, const char *word, int step, const block *in, const float *a,
                          int64_t d, int64_t left, __m512 acc[COLUMNS], float *target) {
    const bool whole = left >= LANES;
    __m512 row = _mm512_setzero_ps();
    if (acc)
        row = whole ? _mm512_loadu_ps(a + d) : _mm512_maskz_loadu_ps(live(left), a + d);
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++) {
        __m512 weights = weights_of(kind, word + j * LANES * sizeof(uint32_t), step, in, j);
        if (!whole)
            weights = _mm512_maskz_mov_ps(live(left), weights);
        if (acc)
            acc[j] = multiply_add(acc[j], row, weights);
        else
            _mm512_store_ps(target + d * COLUMNS + j * LANES, weights);
    }
}

/* All of a panel. A block is `part` steps of a word, or with part 0 any number of steps. */
INLINE void walk_panel(const qrt_weights kind, const int part, const qrt_float_matmul_args *args, const float *a,
                       const char *word, const float *parameters, __m512 acc[COLUMNS], float *target) {
    const bool differ = args->zero_points_differ;
    const int steps = steps_of_word(kind);
    const int64_t k = args->k, block_steps = (args->k_block + LANES - 1) / LANES;
    const bool straight = part || args->k_block >= k || block_steps % steps == 0;
    const __m512 common = with_zero_point(kind, _mm512_set1_ps(args->common_zero_point));
    block in;
    int64_t d = 0, left = 0; /* steps until the next block */
    for (; straight && d + steps * LANES <= k; d += steps * LANES, word += WORD_BYTES) {
#pragma GCC unroll 4
        for (int line = 0; line < WORD_BYTES; line += 64)
            _mm_prefetch(word + AHEAD + line, _MM_HINT_T0);
        if (!part && left == 0) {
            parameters = load_block(kind, differ, common, parameters, &in);
            left = block_steps;
        }
#pragma GCC unroll 8
        for (int step = 0; step < steps; step++) {
            if (part && step % part == 0)
                parameters = load_block(kind, differ, common, parameters, &in);
            step_of_panel(kind, word, step, &in, a, d + step * LANES, LANES, acc, target);
        }
        left -= part ? 0 : steps;
    }
    for (int step = 0; d < k; d += LANES, left--) {
        if (left == 0) {
            parameters = load_block(kind, differ, common, parameters, &in);
            left = block_steps;
        }
        step_of_panel(kind, word, step, &in, a, d, k - d, acc, target);
        step = (step + 1) % steps;
        word += step ? 0 : WORD_BYTES;
    }
}

/* With the loop for the size of the blocks. */
INLINE void dequantize(const qrt_float_matmul_args *args, const float *a, const void *panel, const float *parameters,
                       __m512 acc[COLUMNS], float *target) {
    const int64_t part = args->k_block < args->k ? args->k_block / LANES : 0;
#define WALK(kind, part) walk_panel(kind, part, args, a, panel, parameters, acc, target)
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        part == 1   ? WALK(QRT_WEIGHTS_NIBBLES, 1)
        : part == 2 ? WALK(QRT_WEIGHTS_NIBBLES, 2)
        : part == 4 ? WALK(QRT_WEIGHTS_NIBBLES, 4)
                    : WALK(QRT_WEIGHTS_NIBBLES, 0);
    else
        part == 1 ? WALK(QRT_WEIGHTS_BYTES, 1) : part == 2 ? WALK(QRT_WEIGHTS_BYTES, 2) : WALK(QRT_WEIGHTS_BYTES, 0);
#undef WALK
}

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    dequantize(args, NULL, panel, parameters, NULL, target);
}

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m512 acc[COLUMNS];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++)
        acc[j] = _mm512_setzero_ps();
    dequantize(args, a, panel, parameters, acc, NULL);
    reduce(acc, sums);
}

void qrt_avx512_install_float_matmul(qrt_kernels *table) {
    table->float_panel = float_panel;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
