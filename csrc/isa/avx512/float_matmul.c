/* Dot products in float32.
 *
 *   vfmadd231ps zmm    16 multiply-adds, two a cycle
 *   vpermps zmm        looks a weight's 4 bits up among 16 floats: only the low
 * 4 bits of an index count vpternlogd zmm     puts a byte into the last bits of
 * 2^23: a float, without conversion
 *
 * In a tile vectors are columns: 12 rows by two vectors are 24 sums in
 * registers, 24 multiply-adds for 14 loads. With words of weights a vector is
 * the sixteen lanes of one sum. */
#include <immintrin.h>

#include "avx512.h"

#define LANES QRT_FLOAT_LANES
#define ROWS QRT_FLOAT_ROWS
#define COLUMNS QRT_FLOAT_COLUMNS
#define VECTORS (COLUMNS / 16)
#define WORD_COLUMNS QRT_WORD_COLUMNS

#define INLINE static inline __attribute__((always_inline))

static inline __mmask16 live(int64_t left) {
    return (__mmask16)(left >= LANES ? 0xffff : (1 << left) - 1);
}

/* Written out so that the sum stays in its register. */
static inline __m512 multiply_add(__m512 acc, __m512 a, __m512 b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

INLINE void tile_of(const int rows, const float *a, const float *b, int64_t steps, float *sums) {
    __m512 acc[ROWS][VECTORS];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            acc[i][v] = _mm512_setzero_ps();
    for (; steps > 0; steps--, a += ROWS, b += COLUMNS) {
        const __m512 b0 = _mm512_load_ps(b), b1 = _mm512_load_ps(b + 16);
#pragma GCC unroll 12
        for (int i = 0; i < rows; i++) {
            const __m512 row = _mm512_set1_ps(a[i]);
            acc[i][0] = multiply_add(acc[i][0], row, b0);
            acc[i][1] = multiply_add(acc[i][1], row, b1);
        }
    }
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            _mm512_store_ps(sums + i * COLUMNS + v * 16, acc[i][v]);
}

static void float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        tile_of(count, a, b, steps, sums);                                                                             \
        break;
        CASE(1)
        CASE(2)
        CASE(3) CASE(4) CASE(5) CASE(6) CASE(7) CASE(8) CASE(9) CASE(10) CASE(11) CASE(12)
#undef CASE
    }
}

static void float_axpy(float a, const float *b, int64_t count, float *sums) {
    const __m512 row = _mm512_set1_ps(a);
    for (; count >= 16; count -= 16, b += 16, sums += 16)
        _mm512_store_ps(sums, multiply_add(_mm512_load_ps(sums), row, _mm512_loadu_ps(b)));
    if (count > 0)
        _mm512_store_ps(sums, multiply_add(_mm512_load_ps(sums), row, _mm512_maskz_loadu_ps(live(count), b)));
}

static void float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                       int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++, lanes += COLUMNS, out += out_stride)
        for (int c = 0; c < columns; c += 16) {
            __m512 sum[LANES];
#pragma GCC unroll 16
            for (int lane = 0; lane < LANES; lane++)
                sum[lane] = _mm512_load_ps(lanes + lane * stride + c);
#pragma GCC unroll 4
            for (int half = LANES / 2; half; half /= 2)
#pragma GCC unroll 8
                for (int lane = 0; lane < half; lane++)
                    sum[lane] = _mm512_add_ps(sum[lane], sum[lane + half]);
            if (bias)
                sum[0] = _mm512_add_ps(sum[0], _mm512_maskz_loadu_ps(live(columns - c), bias + c));
            _mm512_mask_storeu_ps(out + c, live(columns - c), sum[0]);
        }
}

/* ---- quantized weights: loading from the byte that has a step on puts it in
 * the low bits of every lane ---- */

/* The tree of each of four sums; a sum's lanes l and l + 8, then l and l + 4,
 * are added as halves of a vector. */
static inline __m128 quarter(__m512 lanes) {
    const __m256 half = _mm256_add_ps(_mm512_castps512_ps256(lanes), _mm512_extractf32x8_ps(lanes, 1));
    return _mm_add_ps(_mm256_castps256_ps128(half), _mm256_extractf128_ps(half, 1));
}

static inline void reduce(const __m512 acc[WORD_COLUMNS], float *sums) {
    __m128 l0 = quarter(acc[0]), l1 = quarter(acc[1]), l2 = quarter(acc[2]), l3 = quarter(acc[3]);
    _MM_TRANSPOSE4_PS(l0, l1, l2, l3);
    _mm_storeu_ps(sums, _mm_add_ps(_mm_add_ps(l0, l2), _mm_add_ps(l1, l3)));
}

#define WORD_BYTES (WORD_COLUMNS * LANES * (int)sizeof(uint32_t))
#define AHEAD                                                                                                          \
    4096 /* bytes: the stream that prefetching alone keeps up with                                                     \
          */

INLINE int steps_of_word(const qrt_weights kind) {
    return kind == QRT_WEIGHTS_NIBBLES ? 8 : 4;
}

/* A block's parameters for each column. Of nibbles, the sixteen weights they
 * can be; of bytes, what is subtracted from 2^23 + q, and the scale. */
typedef struct {
    __m512 first[WORD_COLUMNS], scale[WORD_COLUMNS];
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
    for (int j = 0; j < WORD_COLUMNS; j++) {
        const __m512 scale = _mm512_set1_ps(parameters[j]);
        const __m512 first = differ ? with_zero_point(kind, _mm512_set1_ps(parameters[WORD_COLUMNS + j])) : common;
        to->first[j] = kind == QRT_WEIGHTS_NIBBLES ? _mm512_mul_ps(first, scale) : first;
        to->scale[j] = scale;
    }
    return parameters + (differ ? 2 : 1) * WORD_COLUMNS;
}

/* Of each column the byte that has the step. The compiler must not load it
 * again for a shift: most such loads cross lines. */
INLINE void load_bytes(const qrt_weights kind, const char *word, int step, __m512i bytes[WORD_COLUMNS]) {
    word += kind == QRT_WEIGHTS_NIBBLES ? step / 2 : step;
#pragma GCC unroll 4
    for (int j = 0; j < WORD_COLUMNS; j++) {
        bytes[j] = _mm512_loadu_si512(word + j * LANES * sizeof(uint32_t));
        __asm__("" : "+v"(bytes[j]));
    }
}

/* A column's weights in one step of a word. */
INLINE __m512 weights_of(const qrt_weights kind, __m512i byte, int step, const block *in, int column) {
    if (kind == QRT_WEIGHTS_NIBBLES)
        return _mm512_permutexvar_ps(step % 2 ? _mm512_srli_epi32(byte, 4) : byte, in->first[column]);
    const __m512i low = _mm512_set1_epi32(0xff), exponent = _mm512_castps_si512(_mm512_set1_ps(0x1p23f));
    const __m512i q = _mm512_ternarylogic_epi32(byte, low, exponent, 0xea); /* (A & B) | C */
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_castsi512_ps(q), in->first[column]), in->scale[column]);
}

/* Four columns of a step to a panel of floats, `stride` floats from lane to
 * lane. */
INLINE void store_columns(const __m512 weights[WORD_COLUMNS], float *to, int64_t stride) {
    const __m512 low0 = _mm512_unpacklo_ps(weights[0], weights[1]), high0 = _mm512_unpackhi_ps(weights[0], weights[1]);
    const __m512 low1 = _mm512_unpacklo_ps(weights[2], weights[3]), high1 = _mm512_unpackhi_ps(weights[2], weights[3]);
    const __m512 lane[4] = {
        _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(low0), _mm512_castps_pd(low1))), /* lanes 0 4 8 12 */
        _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(low0), _mm512_castps_pd(low1))),
        _mm512_castpd_ps(_mm512_unpacklo_pd(_mm512_castps_pd(high0), _mm512_castps_pd(high1))),
        _mm512_castpd_ps(_mm512_unpackhi_pd(_mm512_castps_pd(high0), _mm512_castps_pd(high1))),
    };
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
        _mm_store_ps(to + l * stride, _mm512_castps512_ps128(lane[l]));
        _mm_store_ps(to + (l + 4) * stride, _mm512_extractf32x4_ps(lane[l], 1));
        _mm_store_ps(to + (l + 8) * stride, _mm512_extractf32x4_ps(lane[l], 2));
        _mm_store_ps(to + (l + 12) * stride, _mm512_extractf32x4_ps(lane[l], 3));
    }
}

/* One step of four columns, at value d of K: its weights times `a` to the sums,
 * or without sums to `target`. */
INLINE void step_of_panel(const qrt_weights kind, const __m512i bytes[WORD_COLUMNS], int step, const block *in,
                          const float *a, int64_t d, int64_t left, __m512 acc[WORD_COLUMNS], float *target,
                          int64_t stride) {
    const bool whole = left >= LANES;
    __m512 row = _mm512_setzero_ps(), weights[WORD_COLUMNS];
    if (acc)
        row = whole ? _mm512_loadu_ps(a + d) : _mm512_maskz_loadu_ps(live(left), a + d);
#pragma GCC unroll 4
    for (int j = 0; j < WORD_COLUMNS; j++) {
        weights[j] = weights_of(kind, bytes[j], step, in, j);
        if (!whole)
            weights[j] = _mm512_maskz_mov_ps(live(left), weights[j]);
        if (acc)
            acc[j] = multiply_add(acc[j], row, weights[j]);
    }
    if (!acc)
        store_columns(weights, target + d / LANES * COLUMNS, stride);
}

/* All of a panel. A block is `part` steps of a word, or with part 0 any number
 * of steps. */
INLINE void walk_panel(const qrt_weights kind, const int part, const bool differ, const qrt_float_matmul_args *args,
                       const float *a, const char *word, const float *parameters, __m512 acc[WORD_COLUMNS],
                       float *target) {
    const int steps = steps_of_word(kind);
    const int64_t k = args->k, block_steps = (args->k_block + LANES - 1) / LANES;
    const bool straight = part || args->k_block >= k || block_steps % steps == 0;
    const __m512 common = with_zero_point(kind, _mm512_set1_ps(args->common_zero_point));
    const int64_t stride = qrt_float_lane_stride(k);
    block in;
    __m512i bytes[WORD_COLUMNS];
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
            if (kind == QRT_WEIGHTS_BYTES || step % 2 == 0)
                load_bytes(kind, word, step, bytes);
            step_of_panel(kind, bytes, step, &in, a, d + step * LANES, LANES, acc, target, stride);
        }
        left -= part ? 0 : steps;
    }
    for (int step = 0; d < k; d += LANES, left--) {
        if (left == 0) {
            parameters = load_block(kind, differ, common, parameters, &in);
            left = block_steps;
        }
        load_bytes(kind, word, step, bytes);
        step_of_panel(kind, bytes, step, &in, a, d, k - d, acc, target, stride);
        step = (step + 1) % steps;
        word += step ? 0 : WORD_BYTES;
    }
}

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    const bool differ = args->zero_points_differ;
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        walk_panel(QRT_WEIGHTS_NIBBLES, 0, differ, args, NULL, panel, parameters, NULL, target);
    else
        walk_panel(QRT_WEIGHTS_BYTES, 0, differ, args, NULL, panel, parameters, NULL, target);
}

/* With the loop for the size of the blocks. */
INLINE void add_panel(const bool differ, const qrt_float_matmul_args *args, const float *a, const void *panel,
                      const float *parameters, __m512 acc[WORD_COLUMNS]) {
    const int64_t part = args->k_block < args->k ? args->k_block / LANES : 0;
#define WALK(kind, part) walk_panel(kind, part, differ, args, a, panel, parameters, acc, NULL)
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        part == 1   ? WALK(QRT_WEIGHTS_NIBBLES, 1)
        : part == 2 ? WALK(QRT_WEIGHTS_NIBBLES, 2)
        : part == 4 ? WALK(QRT_WEIGHTS_NIBBLES, 4)
                    : WALK(QRT_WEIGHTS_NIBBLES, 0);
    else
        part == 1 ? WALK(QRT_WEIGHTS_BYTES, 1) : part == 2 ? WALK(QRT_WEIGHTS_BYTES, 2) : WALK(QRT_WEIGHTS_BYTES, 0);
#undef WALK
}

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m512 acc[WORD_COLUMNS];
#pragma GCC unroll 4
    for (int j = 0; j < WORD_COLUMNS; j++)
        acc[j] = _mm512_setzero_ps();
    if (args->zero_points_differ)
        add_panel(true, args, a, panel, parameters, acc);
    else
        add_panel(false, args, a, panel, parameters, acc);
    reduce(acc, sums);
}

void qrt_avx512_install_float_matmul(qrt_kernels *table) {
    table->float_tile = float_tile;
    table->float_axpy = float_axpy;
    table->float_tree = float_tree;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
