/* Dot products in float32.
 *
 *   vfmadd231ps ymm    8 multiply-adds, two a cycle
 *
 * Vectors are columns: 6 rows by two vectors are 12 sums in registers. */
#include <immintrin.h>
#include <math.h>

#include "isa/rows.h"

#define LANES QRT_FLOAT_LANES
#define MR QRT_FLOAT_MR
#define NR QRT_PRODUCT_NR
#define PAIR 2 /* vectors of columns at once */
#define TILE_ROWS 6

static inline __m256i live(int64_t left) {
    const int n = left > 8 ? 8 : left > 0 ? (int)left : 0;
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

/* The first lanes of a row, zeros past `left`; masked loads do not fault there. */
static inline __m256 load_row(const float *row, int64_t left) {
    return left >= 8 ? _mm256_loadu_ps(row) : _mm256_maskload_ps(row, live(left));
}

/* Four lanes of four rows. */
QRT_INLINE void pack_four(const float *const row[4], int64_t d, float *to, int64_t stride) {
    __m128 r0 = _mm_loadu_ps(row[0] + d), r1 = _mm_loadu_ps(row[1] + d);
    __m128 r2 = _mm_loadu_ps(row[2] + d), r3 = _mm_loadu_ps(row[3] + d);
    _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
    _mm_store_ps(to, r0);
    _mm_store_ps(to + stride, r1);
    _mm_store_ps(to + 2 * stride, r2);
    _mm_store_ps(to + 3 * stride, r3);
}

void avx2_float_rows(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride) {
    for (int i = 0; i < rows; i += 4, target += 4) {
        const float *row[4];
        for (int r = 0; r < 4; r++)
            row[r] = a + (i + r < rows ? i + r : rows - 1) * a_stride;
        float *to = target;
        int64_t d = 0;
        for (; d + LANES <= k; d += LANES, to += MR)
            for (int lane = 0; lane < LANES; lane += 4)
                pack_four(row, d + lane, to + lane * stride, stride);
        for (int lane = 0; lane < LANES && d < k; lane++)
            for (int r = 0; r < 4; r++)
                to[lane * stride + r] = d + lane < k ? row[r][d + lane] : 0;
    }
}

QRT_INLINE void tile_of(const int rows, const float *a, const float *b, int64_t steps, float *sums) {
    __m256 acc[TILE_ROWS][PAIR];
#pragma GCC unroll 6
    for (int i = 0; i < rows; i++)
        acc[i][0] = acc[i][1] = _mm256_setzero_ps();
    for (; steps > 0; steps--, a += MR, b += NR) {
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
        _mm256_store_ps(sums + i * NR, acc[i][0]);
        _mm256_store_ps(sums + i * NR + 8, acc[i][1]);
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

void avx2_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
    for (int c = 0; c < NR; c += PAIR * 8)
        for (int i = 0; i < rows; i += TILE_ROWS)
            some_rows(a + i, b + c, steps, rows - i < TILE_ROWS ? rows - i : TILE_ROWS, sums + i * NR + c);
}

void avx2_float_axpy(float a, const float *b, int64_t count, float *sums) {
    const __m256 row = _mm256_set1_ps(a);
    for (; count >= 8; count -= 8, b += 8, sums += 8)
        _mm256_store_ps(sums, _mm256_fmadd_ps(row, _mm256_loadu_ps(b), _mm256_load_ps(sums)));
    if (count > 0)
        _mm256_store_ps(sums, _mm256_fmadd_ps(row, load_row(b, count), _mm256_load_ps(sums)));
}

/* NaNs of results are the one that numerics.md names: the processor's own is negative. */
static inline __m256 with_one_nan(__m256 value) {
    return _mm256_blendv_ps(value, _mm256_set1_ps(NAN), _mm256_cmp_ps(value, value, _CMP_UNORD_Q));
}

void avx2_float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                     int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++, lanes += NR, out += out_stride)
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
            _mm256_maskstore_ps(out + c, live(columns - c), with_one_nan(sum[0]));
        }
}

#define WIDTH 8
#define SHORT_ROWS 3
#define load _mm256_load_ps
#define broadcast _mm256_broadcast_ss
#define zero _mm256_setzero_ps
#define add _mm256_add_ps
#define load_live _mm256_maskload_ps
typedef __m256 vector;
typedef __m256i mask;

static inline vector multiply_add(vector sum, vector a, vector b) {
    return _mm256_fmadd_ps(a, b, sum);
}

static inline void store_live(float *to, vector value, mask valid) {
    _mm256_maskstore_ps(to, valid, value);
}

typedef __m256 flags;

static inline flags unordered(vector a, vector b) {
    return _mm256_cmp_ps(a, b, _CMP_UNORD_Q);
}

static inline flags either(flags a, flags b) {
    return _mm256_or_ps(a, b);
}

static inline bool holds(flags some) {
    return _mm256_movemask_ps(some) != 0;
}

#include "isa/x86/float_matmul/short.inl"

void avx2_float_short(const qrt_float_panel *panel) {
    float_short(panel);
}
