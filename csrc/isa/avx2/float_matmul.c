/* Dot products in float32.
 *
 *   vfmadd231ps ymm    8 multiply-adds, two a cycle
 *   vpand, vorps       put some bits of a lane into the last of a power of two: a float, without conversion
 *
 * In a tile vectors are columns: 6 rows by two vectors are 12 sums in registers. With words of weights two vectors are
 * the sixteen lanes of one sum, 0 to 7 and 8 to 15. */
#include <immintrin.h>

#include "avx2.h"

#define LANES QRT_FLOAT_LANES
#define ROWS QRT_FLOAT_ROWS
#define COLUMNS QRT_FLOAT_COLUMNS
#define WORD_COLUMNS QRT_WORD_COLUMNS
#define PAIR 2 /* vectors of columns at once, and of a sum's lanes */
#define TILE_ROWS 6

#define INLINE static inline __attribute__((always_inline))

static inline __m256i live(int64_t left) {
    const int n = left > 8 ? 8 : left > 0 ? (int)left : 0;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first lanes of a row, zeros past `left`; masked loads do not fault there. */
static inline __m256 load_row(const float *row, int64_t left) {
    return left >= 8 ? _mm256_loadu_ps(row) : _mm256_maskload_ps(row, live(left));
}

/* Four lanes of four rows. */
INLINE void pack_four(const float *const row[4], int64_t d, float *to, int64_t stride) {
    __m128 r0 = _mm_loadu_ps(row[0] + d), r1 = _mm_loadu_ps(row[1] + d);
    __m128 r2 = _mm_loadu_ps(row[2] + d), r3 = _mm_loadu_ps(row[3] + d);
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    _mm_store_ps(to, r0);
    _mm_store_ps(to + stride, r1);
    _mm_store_ps(to + 2 * stride, r2);
    _mm_store_ps(to + 3 * stride, r3);
}

static void float_rows(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride) {
    for (int i = 0; i < rows; i += 4, target += 4) {
        const float *row[4];
        for (int r = 0; r < 4; r++)
            row[r] = a + (i + r < rows ? i + r : rows - 1) * a_stride;
        float *to = target;
        int64_t d = 0;
        for (; d + LANES <= k; d += LANES, to += ROWS)
            for (int lane = 0; lane < LANES; lane += 4)
                pack_four(row, d + lane, to + lane * stride, stride);
        for (int lane = 0; lane < LANES && d < k; lane++)
            for (int r = 0; r < 4; r++)
                to[lane * stride + r] = d + lane < k ? row[r][d + lane] : 0;
    }
}

INLINE void tile_of(const int rows, const float *a, const float *b, int64_t steps, float *sums) {
    __m256 acc[TILE_ROWS][PAIR];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
        acc[i][0] = acc[i][1] = _mm256_setzero_ps();
    for (; steps > 0; steps--, a += ROWS, b += COLUMNS) {
        const __m256 b0 = _mm256_load_ps(b), b1 = _mm256_load_ps(b + 8);
#pragma GCC unroll 6
        for (int i = 0; i < rows; i++) {
            const __m256 row = _mm256_broadcast_ss(a + i);
            acc[i][0] = _mm256_fmadd_ps(row, b0, acc[i][0]);
            acc[i][1] = _mm256_fmadd_ps(row, b1, acc[i][1]);
        }
    }
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++) {
        _mm256_store_ps(sums + i * COLUMNS, acc[i][0]);
        _mm256_store_ps(sums + i * COLUMNS + 8, acc[i][1]);
    }
}

static void some_rows(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        tile_of(count, a, b, steps, sums);                                                                             \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4) CASE(5) CASE(6)
#undef CASE
    }
}

static void float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    for (int c = 0; c < COLUMNS; c += PAIR * 8)
        for (int i = 0; i < rows; i += TILE_ROWS)
            some_rows(a + i, b + c, steps, rows - i < TILE_ROWS ? rows - i : TILE_ROWS, sums + i * COLUMNS + c);
}

static void float_axpy(float a, const float *b, int64_t count, float *sums) {
    const __m256 row = _mm256_set1_ps(a);
    for (; count >= 8; count -= 8, b += 8, sums += 8)
        _mm256_store_ps(sums, _mm256_fmadd_ps(row, _mm256_loadu_ps(b), _mm256_load_ps(sums)));
    if (count > 0)
        _mm256_store_ps(sums, _mm256_fmadd_ps(row, load_row(b, count), _mm256_load_ps(sums)));
}

static void float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                       int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++, lanes += COLUMNS, out += out_stride)
        for (int c = 0; c < columns; c += 8) {
            __m256 sum[LANES / 2];
#pragma GCC unroll 8
            for (int lane = 0; lane < LANES / 2; lane++)
                sum[lane] = _mm256_add_ps(_mm256_load_ps(lanes + lane * stride + c),
                                          _mm256_load_ps(lanes + (lane + LANES / 2) * stride + c));
#pragma GCC unroll 3
            for (int half = LANES / 4; half; half /= 2)
#pragma GCC unroll 4
                for (int lane = 0; lane < half; lane++)
                    sum[lane] = _mm256_add_ps(sum[lane], sum[lane + half]);
            if (bias)
                sum[0] = _mm256_add_ps(sum[0], load_row(bias + c, columns - c));
            _mm256_maskstore_ps(out + c, live(columns - c), sum[0]);
        }
}

/* ---- quantized weights: loading from the byte that has a step on puts it in the low bits of every lane ---- */

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

#define WORD_BYTES (WORD_COLUMNS * LANES * (int)sizeof(uint32_t))
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

/* Zeros past `left`. */
static inline __m256 first_of(__m256 weights, int64_t left) {
    return left >= 8 ? weights : _mm256_and_ps(weights, _mm256_castsi256_ps(live(left)));
}

/* Written out so that the row stays in memory and the sums in their registers. */
static inline __m256 multiply_add(__m256 acc, __m256 weights, const float *row) {
    __asm__("vfmadd231ps %2, %1, %0" : "+x"(acc) : "x"(weights), "m"(*(const __m256_u *)row));
    return acc;
}

/* A column's parameters in a block. */
typedef struct {
    __m256 zero_point, scale;
} column_block;

INLINE column_block load_block(const qrt_float_matmul_args *args, const float *parameters, int column) {
    const float zero_point = args->zero_points_differ ? parameters[WORD_COLUMNS + column] : args->common_zero_point;
    return (column_block){_mm256_set1_ps(zero_point), _mm256_set1_ps(parameters[column])};
}

/* `count` steps of a word, from value d of K on, times `a` to the sums of four columns. */
INLINE void add_steps(const qrt_weights kind, const qrt_float_matmul_args *args, const char *word, int first,
                      const int count, const float *parameters, const float *a, int64_t d, const bool whole,
                      __m256 acc[WORD_COLUMNS][PAIR]) {
#pragma GCC unroll 4
    for (int j = 0; j < WORD_COLUMNS; j++, word += LANES * sizeof(uint32_t)) {
        const column_block in = load_block(args, parameters, j);
#pragma GCC unroll 16
        for (int half = 0; half < count * PAIR; half++) {
            const int h = half % PAIR;
            const int64_t at = d + half * 8, left = args->k - at;
            const __m256 weights = weights_of(kind, word + 32 * h, first + half / PAIR, in.zero_point, in.scale);
            if (whole)
                acc[j][h] = multiply_add(acc[j][h], weights, a + at);
            else
                acc[j][h] = _mm256_fmadd_ps(load_row(a + at, left), first_of(weights, left), acc[j][h]);
        }
    }
}

/* Four columns of a step to a panel of floats, `stride` floats from lane to lane. */
INLINE void store_columns(const __m256 weights[WORD_COLUMNS], float *to, int64_t stride) {
    const __m256 low0 = _mm256_unpacklo_ps(weights[0], weights[1]), high0 = _mm256_unpackhi_ps(weights[0], weights[1]);
    const __m256 low1 = _mm256_unpacklo_ps(weights[2], weights[3]), high1 = _mm256_unpackhi_ps(weights[2], weights[3]);
    const __m256 lane[4] = {
        _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(low0), _mm256_castps_pd(low1))), /* lanes 0 and 4 */
        _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(low0), _mm256_castps_pd(low1))),
        _mm256_castpd_ps(_mm256_unpacklo_pd(_mm256_castps_pd(high0), _mm256_castps_pd(high1))),
        _mm256_castpd_ps(_mm256_unpackhi_pd(_mm256_castps_pd(high0), _mm256_castps_pd(high1))),
    };
#pragma GCC unroll 4
    for (int l = 0; l < 4; l++) {
        _mm_store_ps(to + l * stride, _mm256_castps256_ps128(lane[l]));
        _mm_store_ps(to + (l + 4) * stride, _mm256_extractf128_ps(lane[l], 1));
    }
}

INLINE void store_step(const qrt_weights kind, const qrt_float_matmul_args *args, const char *word, int step,
                       const float *parameters, int64_t d, float *target) {
    const int64_t stride = qrt_float_lane_stride(args->k);
    for (int h = 0; h < PAIR; h++) {
        __m256 weights[WORD_COLUMNS];
#pragma GCC unroll 4
        for (int j = 0; j < WORD_COLUMNS; j++) {
            const column_block in = load_block(args, parameters, j);
            const char *bytes = word + j * LANES * sizeof(uint32_t) + 32 * h;
            weights[j] = first_of(weights_of(kind, bytes, step, in.zero_point, in.scale), args->k - d - 8 * h);
        }
        store_columns(weights, target + d / LANES * COLUMNS + 8 * h * stride, stride);
    }
}

#define NEXT_BLOCK(count)                                                                                              \
    if ((left -= count) == 0) {                                                                                        \
        parameters += (args->zero_points_differ ? 2 : 1) * WORD_COLUMNS;                                               \
        left = block_steps;                                                                                            \
    }

/* The sums of a panel. A block is `part` steps of a word, or with part 0 any number of steps. */
INLINE void add_panel(const qrt_weights kind, const int part, const qrt_float_matmul_args *args, const float *a,
                      const char *word, const float *parameters, __m256 acc[WORD_COLUMNS][PAIR]) {
    const int steps = steps_of_word(kind), run = part ? part : steps;
    const int64_t k = args->k, block_steps = (args->k_block + LANES - 1) / LANES;
    const bool straight = part || args->k_block >= k || block_steps % steps == 0;
    int64_t d = 0, left = block_steps; /* steps of the block */
    for (; straight && d + steps * LANES <= k; d += steps * LANES, word += WORD_BYTES) {
#pragma GCC unroll 4
        for (int line = 0; line < WORD_BYTES; line += 64)
            _mm_prefetch(word + AHEAD + line, _MM_HINT_T0);
#pragma GCC unroll 8
        for (int step = 0; step < steps; step += run) {
            add_steps(kind, args, word, step, run, parameters, a, d + step * LANES, true, acc);
            NEXT_BLOCK(run)
        }
    }
    for (int step = 0; d < k; d += LANES) {
        add_steps(kind, args, word, step, 1, parameters, a, d, false, acc);
        NEXT_BLOCK(1)
        step = (step + 1) % steps;
        word += step ? 0 : WORD_BYTES;
    }
}

INLINE void store_panel(const qrt_weights kind, const qrt_float_matmul_args *args, const char *word,
                        const float *parameters, float *target) {
    const int64_t block_steps = (args->k_block + LANES - 1) / LANES;
    int64_t left = block_steps;
    int step = 0;
    for (int64_t d = 0; d < args->k; d += LANES) {
        store_step(kind, args, word, step, parameters, d, target);
        NEXT_BLOCK(1)
        step = (step + 1) % steps_of_word(kind);
        word += step ? 0 : WORD_BYTES;
    }
}

static void dequantize_panel(const qrt_float_matmul_args *args, const void *panel, const float *parameters,
                             float *target) {
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        store_panel(QRT_WEIGHTS_NIBBLES, args, panel, parameters, target);
    else
        store_panel(QRT_WEIGHTS_BYTES, args, panel, parameters, target);
}

static void quantized_panel(const qrt_float_matmul_args *args, const float *a, const void *panel,
                            const float *parameters, float *sums) {
    __m256 acc[WORD_COLUMNS][PAIR];
#pragma GCC unroll 4
    for (int j = 0; j < WORD_COLUMNS; j++)
        acc[j][0] = acc[j][1] = _mm256_setzero_ps();
    const int64_t part = args->k_block < args->k ? args->k_block / LANES : 0;
#define ADD(kind, part) add_panel(kind, part, args, a, panel, parameters, acc)
    if (args->weights == QRT_WEIGHTS_NIBBLES)
        part == 2 ? ADD(QRT_WEIGHTS_NIBBLES, 2) : part == 4 ? ADD(QRT_WEIGHTS_NIBBLES, 4) : ADD(QRT_WEIGHTS_NIBBLES, 0);
    else
        part == 2 ? ADD(QRT_WEIGHTS_BYTES, 2) : ADD(QRT_WEIGHTS_BYTES, 0);
#undef ADD
#pragma GCC unroll 2
    for (int j = 0; j < WORD_COLUMNS; j += PAIR)
        reduce(acc[j], acc[j + 1], sums + j);
}

void qrt_avx2_install_float_matmul(qrt_kernels *table) {
    table->float_rows = float_rows;
    table->float_tile = float_tile;
    table->float_axpy = float_axpy;
    table->float_tree = float_tree;
    table->dequantize_panel = dequantize_panel;
    table->quantized_panel = quantized_panel;
}
