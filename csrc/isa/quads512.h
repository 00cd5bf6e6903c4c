/* pack_quads.h in 512-bit vectors, for the ISAs from AVX512-VNNI on: rows of A, sums of columns, and what sums begin
 * with. */
#ifndef QRT_ISA_QUADS512_H
#define QRT_ISA_QUADS512_H

#include "finish512.h"
#include "pack_quads.h"

#define NR (2 * LANES)

/* To the end of the row's cache line, zeros after `depth`. */
static inline void pack_a_quads(qrt_container container, const void *source, int64_t source_stride, int rows,
                                int64_t depth, const int32_t *zero_point, void *target, int64_t target_stride,
                                int32_t *terms) {
    const uint8_t flip = flip_of_a(container);
    const __m512i flips = _mm512_set1_epi8((char)flip), ones = _mm512_set1_epi8(1);
    for (int i = 0; i < rows; i++) {
        const uint8_t *from = (const uint8_t *)source + i * source_stride;
        uint8_t *to = (uint8_t *)target + i * target_stride;
        __m512i sum = _mm512_setzero_si512();
        int64_t k = 0;
        for (; k + 64 <= depth; k += 64) {
            const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(from + k), flips);
            _mm512_store_si512(to + k, bytes);
            sum = _mm512_dpbusd_epi32(sum, bytes, ones);
        }
        if (k < depth) {
            const __mmask64 live = ~0ULL >> (64 - (depth - k));
            const __m512i bytes =
                _mm512_maskz_mov_epi8(live, _mm512_xor_si512(_mm512_maskz_loadu_epi8(live, from + k), flips));
            _mm512_store_si512(to + k, bytes);
            sum = _mm512_dpbusd_epi32(sum, bytes, ones);
        }
        if (terms) {
            const int32_t zero = zero_point[i] + flip;
            terms[2 * i] = (int32_t)((int64_t)_mm512_reduce_add_epi32(sum) - depth * zero);
            terms[2 * i + 1] = zero;
        }
    }
}

/* A panel of 32 columns, or 16 where no more are valid, padded to whole steps of `ku` values of K. */
static inline void pack_b_quads(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride,
                                int columns, int64_t depth, int ku, const int32_t *zero_point, int8_t *panel,
                                int32_t *terms) {
    const int vectors = columns <= LANES ? 1 : 2;
    const int64_t padded = (depth + ku - 1) / ku * ku;
    pack_b_panel(container, source, k_stride, n_stride, columns, vectors * LANES, depth, padded, panel);
    zero_point_terms(container, columns, zero_point, NR, terms);
    for (int j = 0; j < vectors; j++) {
        __m512i sum = _mm512_setzero_si512();
        for (int64_t q = 0; q < padded / 4; q++)
            sum = _mm512_dpbusd_epi32(sum, _mm512_set1_epi8(1), _mm512_load_si512(panel + (q * vectors + j) * 64));
        _mm512_storeu_si512(terms + NR + j * LANES, sum);
    }
}

/* What sums begin with where no row has terms: `bias` - za * sum b, of vector j of the columns. */
static inline __m512i start_of_columns(const qrt_gemm_panel *p, __m512i bias, int j) {
    const __m512i a_zero = _mm512_set1_epi32(p->a_zero_point + flip_of_a(p->args->a));
    return _mm512_sub_epi32(bias, _mm512_mullo_epi32(_mm512_loadu_si512(p->b_terms + NR + j * LANES), a_zero));
}

/* With the terms of the row: `bias` - za * sum b - zb * (sum a - depth * za). */
static inline __m512i start_of_row(const qrt_gemm_panel *p, __m512i bias, int64_t row, int j) {
    const __m512i zero = _mm512_loadu_si512(p->b_terms + j * LANES);
    const __m512i sum = _mm512_loadu_si512(p->b_terms + NR + j * LANES);
    const int32_t *terms = p->a_terms + 2 * row;
    const __m512i products = _mm512_add_epi32(_mm512_mullo_epi32(zero, _mm512_set1_epi32(terms[0])),
                                              _mm512_mullo_epi32(sum, _mm512_set1_epi32(terms[1])));
    return _mm512_sub_epi32(bias, products);
}

#endif
