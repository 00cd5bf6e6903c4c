/* Dot products in float32.
 *
 *   vfmadd231ps zmm    16 multiply-adds, two a cycle
 *
 * Vectors are columns: 12 rows by two vectors are 24 sums in registers, 24 multiply-adds for 14 loads. */
#include <immintrin.h>
#include <math.h>

#include "isa/rows.h"

#define LANES QRT_FLOAT_LANES
#define MR QRT_FLOAT_MR
#define NR QRT_PRODUCT_NR
#define VECTORS (NR / 16)

static inline __mmask16 live(int64_t left) {
    return (__mmask16)(left >= LANES ? 0xffff : left > 0 ? (1 << left) - 1 : 0);
}

/* Written out so that the sum stays in its register. */
static inline __m512 multiply_add(__m512 acc, __m512 a, __m512 b) {
    __asm__("vfmadd231ps %2, %1, %0" : "+v"(acc) : "v"(a), "v"(b));
    return acc;
}

QRT_INLINE void tile_of(const int rows, const float *a, const float *b, int64_t steps, float *sums) {
    __m512 acc[MR][VECTORS];
#pragma GCC unroll 12
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int v = 0; v < VECTORS; v++)
            acc[i][v] = _mm512_setzero_ps();
    for (; steps > 0; steps--, a += MR, b += NR) {
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
            _mm512_store_ps(sums + i * NR + v * 16, acc[i][v]);
}

void avx512_float_tile(const float *a, const float *b, int64_t steps, int rows, float *sums) {
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

void avx512_float_axpy(float a, const float *b, int64_t count, float *sums) {
    const __m512 row = _mm512_set1_ps(a);
    for (; count >= 16; count -= 16, b += 16, sums += 16)
        _mm512_store_ps(sums, multiply_add(_mm512_load_ps(sums), row, _mm512_loadu_ps(b)));
    if (count > 0)
        _mm512_store_ps(sums, multiply_add(_mm512_load_ps(sums), row, _mm512_maskz_loadu_ps(live(count), b)));
}

/* NaNs of results are the one that numerics.md names: the processor's own is negative. */
static inline __m512 with_one_nan(__m512 value) {
    return _mm512_mask_mov_ps(value, _mm512_cmp_ps_mask(value, value, _CMP_UNORD_Q), _mm512_set1_ps(NAN));
}

void avx512_float_tree(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias, float *out,
                       int64_t out_stride) {
    for (int64_t i = 0; i < rows; i++, lanes += NR, out += out_stride)
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
            _mm512_mask_storeu_ps(out + c, live(columns - c), with_one_nan(sum[0]));
        }
}

#define WIDTH 16
#define SHORT_ROWS 4
#define load _mm512_load_ps
#define zero _mm512_setzero_ps
#define add _mm512_add_ps
typedef __m512 vector;
typedef __mmask16 mask;

static inline vector broadcast(const float *value) {
    return _mm512_set1_ps(*value);
}

static inline vector load_live(const float *from, mask valid) {
    return _mm512_maskz_loadu_ps(valid, from);
}

static inline void store_live(float *to, vector value, mask valid) {
    _mm512_mask_storeu_ps(to, valid, value);
}

typedef __mmask16 flags;

static inline flags unordered(vector a, vector b) {
    return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q);
}

static inline flags either(flags a, flags b) {
    return a | b;
}

static inline bool holds(flags some) {
    return some != 0;
}

#include "isa/x86/float_matmul/short.inl"

void avx512_float_short(const qrt_float_panel *panel) {
    float_short(panel);
}
