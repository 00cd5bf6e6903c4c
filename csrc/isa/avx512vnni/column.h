/* A panel of one column. Of a vector of columns 15 of 16 products would be nothing, so here they go along K, 64 to a
 * multiply-add; the sums of four rows are added up across their vectors together. The results of many rows are
 * requantized as one row, by the table's store.
 *
 * The panel holds the values of K as they follow each other. Terms as in pack_quads.h. */
#ifndef QRT_AVX512VNNI_COLUMN_H
#define QRT_AVX512VNNI_COLUMN_H

#include "isa/x86/gemm/quads512.inl"

#define COLUMN_ROWS 128

static inline void pack_column(qrt_container container, const uint8_t *source, int64_t k_stride, int64_t depth,
                               const int32_t *zero_point, int8_t *panel, int32_t *terms) {
    const uint8_t flip = flip_of_b(container);
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; k++) {
        panel[k] = (int8_t)(source[k * k_stride] ^ flip);
        sum += panel[k];
    }
    zero_point_terms(container, 1, zero_point, NR, terms);
    terms[NR] = sum;
}

/* Adds up four vectors across: the sum of each. */
static inline __m128i add_across(const __m512i *v) {
    const __m512i low = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    const __m512i high = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    const __m512i lanes = _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
    const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Sums of the products of four rows over the whole of K. */
static inline __m128i dot_rows(const qrt_gemm_panel *p, const char *const *rows) {
    const tile_operands from = find_operands(p);
    const int64_t whole = p->depth / 64 * 64;
    const __mmask64 tail = (1ULL << (p->depth - whole)) - 1;
    const char *b = from.b;
    __m512i sums[4] = {0};
    for (const int64_t *segment = from.segment; segment < from.segments_end; segment++, b += p->depth) {
        for (int64_t k = 0; k < whole; k += 64)
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                sums[i] = multiply_add(sums[i], _mm512_loadu_si512(rows[i] + *segment + k), _mm512_loadu_si512(b + k));
        if (!tail)
            continue;
#pragma GCC unroll 4
        for (int i = 0; i < 4; i++)
            sums[i] = multiply_add(sums[i], _mm512_maskz_loadu_epi8(tail, rows[i] + *segment + whole),
                                   _mm512_maskz_loadu_epi8(tail, b + whole));
    }
    return add_across(sums);
}

/* To rows from `row` on, the stride of the result apart. */
static inline void store_column(const qrt_gemm_panel *p, int64_t row, int rows, const int32_t *sums) {
    if (p->sums) {
        for (int i = 0; i < rows; i++)
            p->sums[(row + i) * p->sums_stride] = sums[i];
        return;
    }
    const qrt_gemm_args *args = p->args;
    int32_t results[COLUMN_ROWS];
    args->kernels->store(&args->requant, sums, COLUMN_ROWS, 1, rows, results, COLUMN_ROWS,
                         p->parameter + row * args->requant_steps[1], 0, args->requant_steps[1]);
    const int64_t stride = args->out_row_stride;
    char *target = (char *)p->target + row * stride;
    if (args->requant.container <= QRT_U8)
        for (int i = 0; i < rows; i++)
            target[i * stride] = ((const char *)results)[i];
    else if (args->requant.container <= QRT_U16)
        for (int i = 0; i < rows; i++)
            memcpy(target + i * stride, (const int16_t *)results + i, sizeof(int16_t));
    else
        for (int i = 0; i < rows; i++)
            memcpy(target + i * stride, results + i, sizeof(int32_t));
}

/* What sums begin with, modulo 2^32, where rows have terms. */
static inline void add_terms(const qrt_gemm_panel *p, int64_t row, int rows, int32_t *sums) {
    const int32_t zero = p->b_terms[0], sum = p->b_terms[NR];
    const int32_t *terms = p->a_terms + 2 * row;
    for (int i = 0; i < rows; i++)
        sums[i] -= zero * terms[2 * i] + sum * terms[2 * i + 1];
}

static inline void run_column(const qrt_gemm_panel *p) {
    int32_t start = p->bias ? p->bias[0] : 0;
    if (!p->a_terms)
        start -= (p->a_zero_point + flip_of_a(p->args->a)) * p->b_terms[NR];
    for (int row = 0; row < p->rows; row += COLUMN_ROWS) {
        const int rows = p->rows - row < COLUMN_ROWS ? p->rows - row : COLUMN_ROWS;
        _Alignas(64) int32_t sums[COLUMN_ROWS];
        for (int i = 0; i < rows; i += 4) {
            const char *from[4];
            for (int r = 0; r < 4; r++) /* the last row again, where four are not left */
                from[r] = (const char *)p->a + (row + (i + r < rows ? i + r : rows - 1)) * p->a_stride;
            _mm_store_si128((__m128i *)(sums + i), _mm_add_epi32(dot_rows(p, from), _mm_set1_epi32(start)));
        }
        if (p->a_terms)
            add_terms(p, row, rows, sums);
        store_column(p, row, rows, sums);
    }
}

#endif
