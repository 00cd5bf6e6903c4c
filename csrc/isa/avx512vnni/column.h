/* A panel of one column. In a vector of columns 15 of 16 products would be for nothing, so here a vector holds 64
 * values of K. The sums of four rows are added up across their vectors together, and the results of many rows are
 * requantized as one row by the table's row `store`.
 *
 *   vpdpbusd  four per 64 values of K and four rows: ports 0 and 5, 2 cycles
 *   loads     four of A and one of B: 2.5 cycles on two load ports, which are the limit
 *
 * The panel holds the values of K in their order. Exact: pack_quads.inl has the proof, and the compensation has its
 * form. Hazard: the end of a segment is loaded under a mask. */
#pragma once

#include "isa/x86/gemm/quads512.inl"

#define COLUMN_ROWS 128

static inline void pack_column(qrt_container container, const uint8_t *source, int64_t k_stride, int64_t depth,
                               const int32_t *zero_point, int8_t *panel, int32_t *compensation) {
    const uint8_t flip = flip_of_b(container);
    int32_t sum = 0;
    for (int64_t k = 0; k < depth; k++) {
        panel[k] = (int8_t)(source[k * k_stride] ^ flip);
        sum += panel[k];
    }
    zero_point_compensation(container, 1, zero_point, NR, compensation);
    compensation[NR] = sum;
}

/* Adds up the lanes of four vectors, each to one sum. */
static inline __m128i add_across(const __m512i *v) {
    const __m512i low = _mm512_add_epi32(_mm512_unpacklo_epi32(v[0], v[1]), _mm512_unpackhi_epi32(v[0], v[1]));
    const __m512i high = _mm512_add_epi32(_mm512_unpacklo_epi32(v[2], v[3]), _mm512_unpackhi_epi32(v[2], v[3]));
    const __m512i lanes = _mm512_add_epi32(_mm512_unpacklo_epi64(low, high), _mm512_unpackhi_epi64(low, high));
    const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(lanes), _mm512_extracti64x4_epi64(lanes, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Returns the sums of four rows over the whole of K. */
static inline __m128i dot_rows(const qrt_microkernel_call *call, const char *const *rows) {
    const tile_operands from = find_operands(call);
    const int64_t whole = call->depth / 64 * 64;
    const __mmask64 tail = (1ULL << (call->depth - whole)) - 1;
    const char *b = from.b;
    __m512i sums[4] = {0};
    for (const int64_t *segment = from.segment; segment < from.segments_end; segment++, b += call->depth) {
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

/* Stores to rows from `row` on, which are the result's stride apart. */
static inline void store_column(const qrt_microkernel_call *call, int64_t row, int rows, const int32_t *sums) {
    if (call->sums) {
        for (int i = 0; i < rows; i++)
            call->sums[(row + i) * call->sums_stride] = sums[i];
        return;
    }
    const qrt_gemm_problem *problem = &call->args->problem;
    const int64_t step = problem->requant_steps[1];
    int32_t results[COLUMN_ROWS];
    call->args->kernels->store(&problem->requant, sums, COLUMN_ROWS, 1, rows, results, COLUMN_ROWS,
                               call->parameter + row * step, 0, step);
    const int64_t stride = problem->out_row_stride;
    char *target = (char *)call->target + row * stride;
    if (problem->requant.container <= QRT_U8)
        for (int i = 0; i < rows; i++)
            target[i * stride] = ((const char *)results)[i];
    else if (problem->requant.container <= QRT_U16)
        for (int i = 0; i < rows; i++)
            memcpy(target + i * stride, (const int16_t *)results + i, sizeof(int16_t));
    else
        for (int i = 0; i < rows; i++)
            memcpy(target + i * stride, results + i, sizeof(int32_t));
}

/* Subtracts the compensation of rows that have their own, modulo 2^32. */
static inline void compensate_rows(const qrt_microkernel_call *call, int64_t row, int rows, int32_t *sums) {
    const int32_t zero = call->b_compensation[0], sum = call->b_compensation[NR];
    const int32_t *of_row = call->a_compensation + 2 * row;
    for (int i = 0; i < rows; i++)
        sums[i] -= zero * of_row[2 * i] + sum * of_row[2 * i + 1];
}

static inline void run_column(const qrt_microkernel_call *call) {
    int32_t start = call->bias ? call->bias[0] : 0;
    if (!call->a_compensation)
        start -= (call->a_zero_point + flip_of_a(call->args->problem.a)) * call->b_compensation[NR];
    for (int row = 0; row < call->rows; row += COLUMN_ROWS) {
        const int rows = call->rows - row < COLUMN_ROWS ? call->rows - row : COLUMN_ROWS;
        _Alignas(64) int32_t sums[COLUMN_ROWS];
        for (int i = 0; i < rows; i += 4) {
            const char *from[4];
            for (int r = 0; r < 4; r++) /* where fewer than four are left, the last row is taken again */
                from[r] = (const char *)call->a + (row + (i + r < rows ? i + r : rows - 1)) * call->a_stride;
            _mm_store_si128((__m128i *)(sums + i), _mm_add_epi32(dot_rows(call, from), _mm_set1_epi32(start)));
        }
        if (call->a_compensation)
            compensate_rows(call, row, rows, sums);
        store_column(call, row, rows, sums);
    }
}
