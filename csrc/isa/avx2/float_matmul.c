/* Dot products in float32: two vectors are the sixteen lanes of one sum, 0 to 7 and 8 to 15.
 *
 *   vfmadd231ps ymm         8 multiply-adds, two a cycle
 *   vpand, vorps            put some bits of a lane into the last of a power of two: a float, without conversion
 *
 * Three rows by two columns are 12 sums in registers. */
#include <immintrin.h>

#include "avx2.h"

#define LANES QRT_FLOAT_LANES
#define COLUMNS QRT_FLOAT_COLUMNS
#define ROWS 3
#define PAIR 2 /* columns at once, and vectors of a sum */

#define INLINE static inline __attribute__((always_inline))

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

INLINE void rows_by_pair(const int rows, const float *a, int64_t stride, const float *panel, int64_t k, float *lanes,
                         bool first, bool last, float *sums) {
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

/* ---- quantized weights: loading from the byte that has a step on puts it in the low bits of every lane ---- */

#define WORD_BYTES (COLUMNS * LANES * (int)sizeof(uint32_t))
#define AHEAD 4096 /* bytes: the stream that prefetching alone keeps up with */

INLINE int steps_of_word(const qrt_weights kind) {
    return kind == QRT_WEIGHTS_NIBBLES ? 8 : 4;
}

/* Eight weights of a step. The exponent of 2^23 makes the low bits of a lane a float's units, that of 2^19 those from
 * the fourth on. */
INLINE __m256 weights_of(const qrt_weights kind, const char *word, int step, __m256 zero_point, __m256 scale) {
    const bool nibbles = kind == QRT_WEIGHTS_NIBBLES, high = nibbles && step % 2;
    const __m256 unit = _mm256_set1_ps(high ? 0x1p19f : 0x1p23f);
    const __m256i mask = _mm256_set1_epi32(high ? 0xf0 : nibbles ? 0x0f : 0xff);
    const __m256i bits = _mm256_loadu_si256((const __m256i *)(word + (nibbles ? step / 2 : step)));
    const __m256 q = _mm256_or_ps(_mm256_castsi256_ps(_mm256_and_si256(bits, mask)), unit);
    return _mm256_mul_ps(_mm256_sub_ps(q, _mm256_add_ps(unit, zero_point)), scale);
}

/* Written out so that the row stays in memory and the sums in their registers. */
static inline __m256 multiply_add(__m256 acc, __m256 weights, const float *row) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(acc) : "x"(weights), "m"(*(const __m256_u *)row));
    return acc;
}

/* `count` steps of a word for all columns, from value d of K on: weights times `a` to the sums, or without sums to
 * `target`. */
INLINE void steps_of_panel(const qrt_weights kind, const qrt_float_matmul_args *args, const char *word, int first,
                           const int count, const float *parameters, const float *a, int64_t d, const bool whole,
                           __m256 acc[COLUMNS][PAIR], float *target) {
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++, word += LANES * sizeof(uint32_t)) {
        const __m256 scale = _mm256_set1_ps(parameters[j]);
        const __m256 zero_point =
            _mm256_set1_ps(args->zero_points_differ ? parameters[COLUMNS + j] : args->common_zero_point);
#pragma GCC unroll 16
        for (int half = 0; half < count * PAIR; half++) {
            const int step = half / PAIR, h = half % PAIR;
            const int64_t at = d + half * 8, left = whole ? 8 : args->k - at;
            __m256 weights = weights_of(kind, word + 32 * h, first + step, zero_point, scale);
            if (!whole)
                weights = _mm256_and_ps(weights, _mm256_castsi256_ps(live(left)));
            if (acc && whole)
                acc[j][h] = multiply_add(acc[j][h], weights, a + at);
            else if (acc)
                acc[j][h] = _mm256_fmadd_ps(load_row(a + at, left), weights, acc[j][h]);
            else
                _mm256_store_ps(target + (d + step * LANES) * COLUMNS + j * LANES + h * 8, weights);
        }
    }
}

/* All of a panel. A block is `part` steps of a word, or with part 0 any number of steps. */
INLINE void walk_panel(const qrt_weights kind, const int part, const qrt_float_matmul_args *args, const float *a,
                       const char *word, const float *parameters, __m256 acc[COLUMNS][PAIR], float *target) {
    const int steps = steps_of_word(kind), run = part ? part : steps;
    const int64_t k = args->k, block_steps = (args->k_block + LANES - 1) / LANES;
    const int64_t parameter_step = (args->zero_points_differ ? 2 : 1) * COLUMNS;
    const bool straight = part || args->k_block >= k || block_steps % steps == 0;
    int64_t d = 0, left = block_steps; /* steps of the block */
#define NEXT(count)                                                                                                    \
    if ((left -= count) == 0) {                                                                                        \
        parameters += parameter_step;                                                                                  \
        left = block_steps;                                                                                            \
    }
    for (; straight && d + steps * LANES <= k; d += steps * LANES, word += WORD_BYTES) {
#pragma GCC unroll 4
        for (int line = 0; line < WORD_BYTES; line += 64)
            _mm_prefetch(word + AHEAD + line, _MM_HINT_T0);
#pragma GCC unroll 8
        for (int step = 0; step < steps; step += run) {
            steps_of_panel(kind, args, word, step, run, parameters, a, d + step * LANES, true, acc, target);
            NEXT(run)
        }
    }
    for (int step = 0; d < k; d += LANES) {
        steps_of_panel(kind, args, word, step, 1, parameters, a, d, false, acc, target);
        NEXT(1)
        step = (step + 1) % steps;
        word += step ? 0 : WORD_BYTES;
    }
#undef NEXT
}

/* With the loop for the size of the blocks. */
INLINE void dequantize(const qrt_float_matmul_args *args, const float *a, const void *panel, const float *parameters,
                       __m256 acc[COLUMNS][PAIR], float *target) {
    const int64_t part = args->k_block < args->k ? args->k_block / LANES : 0;
#define WALK(kind, part) walk_panel(kind, part, args, a, panel, parameters, acc, target)
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        part == 2   ? WALK(QRT_WEIGHTS_NIBBLES, 2)
        : part == 4 ? WALK(QRT_WEIGHTS_NIBBLES, 4)
                    : WALK(QRT_WEIGHTS_NIBBLES, 0);
    else
        part == 2 ? WALK(QRT_WEIGHTS_BYTES, 2) : WALK(QRT_WEIGHTS_BYTES, 0);
#undef WALK
}

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    dequantize(args, NULL, panel, parameters, NULL, target);
}

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m256 acc[COLUMNS][PAIR];
#pragma GCC unroll 4
    for (int j = 0; j < COLUMNS; j++)
        acc[j][0] = acc[j][1] = _mm256_setzero_ps();
    dequantize(args, a, panel, parameters, acc, NULL);
#pragma GCC unroll 2
    for (int j = 0; j < COLUMNS; j += PAIR)
        reduce(acc[j], acc[j + 1], sums + j);
}

void qrt_avx2_install_float_matmul(qrt_kernels *table) {
    table->float_panel = float_panel;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
