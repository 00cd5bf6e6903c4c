/* Operands of dot products of four u8 with four s8. A is made unsigned and B signed by flipping the top bit where
 * needed, which moves values and zero points by 128 alike.
 *
 *     sum (a - za)(b - zb) = sum a*b - za * sum b - zb * (sum a - depth * za)
 *
 * Sums begin with all terms but the first, which are the compensation. Exact: the instructions wrap modulo 2^32, the
 * compensation is taken modulo 2^32, and the exact sum fits 31 bits (qrt/products/gemm.h), so the final value is exact.
 * Padding in K is 0 in the panel of B.
 *
 * A panel of B is [quad][column][4]. The compensation of B is zb for each column, then sum b for each; that of a row of
 * A is sum a - depth * za, then za. The including file may define QRT_SIGNED_A where its instruction multiplies signed
 * A. */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "qrt/qrt.h"

#define PIECE 16 /* bytes of B that are packed at a time */

/* Flips B to signed. A is flipped to unsigned, where its own sign needs it. */
static inline uint8_t flip_of_b(qrt_container b) {
    return b == QRT_U8 ? 0x80 : 0;
}

static inline uint8_t flip_of_a(qrt_container a) {
#ifdef QRT_SIGNED_A
    (void)a;
    return 0;
#else
    return a == QRT_I8 ? 0x80 : 0;
#endif
}

/* Whether no column of B has a zero point: then rows of A need no sums. */
static inline bool is_centred(const qrt_gemm_problem *problem) {
    const int64_t matrices = problem->b_zero_point_steps[0] ? problem->b_matrices : 1;
    const int64_t columns = problem->b_zero_point_steps[2] ? problem->n : 1;
    for (int64_t matrix = 0; matrix < matrices; matrix++)
        for (int64_t j = 0; j < columns; j++)
            if (qrt_b_zero_point(problem, matrix, 0, j) != flip_of_b(problem->b))
                return false;
    return true;
}

/* Whether rows of A need compensation of their own: they differ in zero points, or meet a zero point of B. */
static inline bool compensates_rows(const qrt_gemm_problem *problem) {
    return problem->a_zero_point_steps[1] || !is_centred(problem);
}

/* Loads min(left, 16) bytes, with their top bits flipped by `flip`, then zeros. */
static inline __m128i load_flipped(const uint8_t *source, int64_t left, uint8_t flip) {
#if defined(__AVX512BW__) && defined(__AVX512VL__)
    const __mmask16 live = (__mmask16)(left >= PIECE ? 0xffff : (1 << left) - 1);
    return _mm_xor_si128(_mm_maskz_loadu_epi8(live, source), _mm_maskz_set1_epi8(live, (char)flip));
#else
    if (left >= PIECE)
        return _mm_xor_si128(_mm_loadu_si128((const __m128i *)source), _mm_set1_epi8((char)flip));
    uint8_t bytes[PIECE] = {0};
    for (int64_t i = 0; i < left; i++)
        bytes[i] = source[i] ^ flip;
    return _mm_loadu_si128((const __m128i *)bytes);
#endif
}

/* For contiguous K. Four columns of 16 values are a 4x4 transpose of quads. */
static inline void pack_b_columns(const uint8_t *source, int64_t n_stride, int columns, int width, int64_t depth,
                                  int64_t padded, uint8_t flip, int8_t *panel) {
    for (int64_t k = 0; k < padded; k += PIECE) {
        const int quads = padded - k < PIECE ? (int)(padded - k) / 4 : 4;
        for (int j = 0; j < width; j += 4) {
            __m128i c[4];
            for (int i = 0; i < 4; i++) {
                const int64_t left = j + i < columns && k < depth ? depth - k : 0;
                c[i] = load_flipped(source + (j + i) * n_stride + k, left, flip);
            }
            const __m128i low01 = _mm_unpacklo_epi32(c[0], c[1]), low23 = _mm_unpacklo_epi32(c[2], c[3]);
            const __m128i high01 = _mm_unpackhi_epi32(c[0], c[1]), high23 = _mm_unpackhi_epi32(c[2], c[3]);
            const __m128i quad[4] = {_mm_unpacklo_epi64(low01, low23), _mm_unpackhi_epi64(low01, low23),
                                     _mm_unpacklo_epi64(high01, high23), _mm_unpackhi_epi64(high01, high23)};
            for (int q = 0; q < quads; q++)
                _mm_store_si128((__m128i *)(panel + (k + q * 4) * width + j * 4), quad[q]);
        }
    }
}

/* Packs a panel of `width` columns, a multiple of 4, whose columns are not contiguous. It gets `padded` values of K, a
 * multiple of 4. */
static inline void pack_b_strided(const uint8_t *source, int64_t k_stride, int64_t n_stride, int columns, int width,
                                  int64_t depth, int64_t padded, uint8_t flip, int8_t *panel) {
    if (k_stride == 1) {
        pack_b_columns(source, n_stride, columns, width, depth, padded, flip, panel);
        return;
    }
    memset(panel, 0, (size_t)(padded * width));
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < columns; j++)
            panel[(k / 4 * width + j) * 4 + k % 4] = (int8_t)(source[k * k_stride + j * n_stride] ^ flip);
}

static inline void zero_point_compensation(qrt_container container, int columns, const int32_t *zero_point, int nr,
                                           int32_t *compensation) {
    for (int j = 0; j < nr; j++)
        compensation[j] = j < columns ? zero_point[j] - flip_of_b(container) : 0;
}
