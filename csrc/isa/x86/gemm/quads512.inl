/* pack_quads.inl in 512-bit vectors, for the ISAs from AVX512-VNNI on: packs rows of A and panels of B, sums columns,
 * and computes the values that sums begin with.
 *
 *   vpdpbusd with ones          adds up four bytes: rows of A and columns of B, on ports 0 and 5
 *   vinserti32x4, vpermd, vpshufb  four rows of 16 columns to quads; the shuffles are on port 5
 *   prefetcht0                  32 rows of B ahead, because no hardware prefetcher follows a step of K
 *
 * pack_quads.inl has the proof. Hazard: memory may end behind a row or a column, so the last ones are loaded under
 * masks. */
#pragma once

#ifndef __AVX512VNNI__
#error "quads512.inl is for ISAs with AVX512-VNNI"
#endif

#include "isa/x86/gemm/epilogue512.inl"
#include "isa/x86/gemm/pack_quads.inl"

#define PACK_AHEAD 32 /* rows of B */

/* Returns sum + the sums of quads of packed A. */
static inline __m512i add_quads(__m512i sum, __m512i bytes) {
    const __m512i ones = _mm512_set1_epi8(1);
#ifdef QRT_SIGNED_A
    return _mm512_dpbusd_epi32(sum, ones, bytes);
#else
    return _mm512_dpbusd_epi32(sum, bytes, ones);
#endif
}

/* Packs each row up to the end of a cache line, with zeros after `depth`. */
static inline void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                          const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation) {
    const uint8_t flip = flip_of_a(container);
    const __m512i flips = _mm512_set1_epi8((char)flip);
    for (int i = 0; i < rows; i++) {
        const uint8_t *from = (const uint8_t *)source + i * source_stride;
        uint8_t *to = (uint8_t *)target + i * target_stride;
        __m512i sum = _mm512_setzero_si512();
        int64_t k = 0;
        for (; k + 64 <= depth; k += 64) {
            const __m512i bytes = _mm512_xor_si512(_mm512_loadu_si512(from + k), flips);
            _mm512_store_si512(to + k, bytes);
            sum = add_quads(sum, bytes);
        }
        if (k < depth) {
            const __mmask64 live = ~0ULL >> (64 - (depth - k));
            const __m512i bytes =
                _mm512_maskz_mov_epi8(live, _mm512_xor_si512(_mm512_maskz_loadu_epi8(live, from + k), flips));
            _mm512_store_si512(to + k, bytes);
            sum = add_quads(sum, bytes);
        }
        if (compensation) {
            const int32_t zero = zero_point[i] + flip;
            compensation[2 * i] = (int32_t)((int64_t)_mm512_reduce_add_epi32(sum) - depth * zero);
            compensation[2 * i + 1] = zero;
        }
    }
}

/* Sums `vectors` vectors of columns by multiply-adds with ones, in four chains that hide their latency. */
static inline void column_sums(const int8_t *panel, int64_t quads, int vectors, int32_t *sums) {
    const __m512i ones = _mm512_set1_epi8(1);
    for (int j = 0; j < vectors; j++) {
        __m512i sum[4] = {0};
        int64_t q = 0;
        for (; q + 4 <= quads; q += 4)
#pragma GCC unroll 4
            for (int i = 0; i < 4; i++)
                sum[i] = _mm512_dpbusd_epi32(sum[i], ones, _mm512_load_si512(panel + ((q + i) * vectors + j) * 64));
        for (; q < quads; q++)
            sum[0] = _mm512_dpbusd_epi32(sum[0], ones, _mm512_load_si512(panel + (q * vectors + j) * 64));
        const __m512i total = _mm512_add_epi32(_mm512_add_epi32(sum[0], sum[1]), _mm512_add_epi32(sum[2], sum[3]));
        _mm512_storeu_si512(sums + j * LANES, total);
    }
}

/* Interleaves up to four rows of the live columns into quads. First each row is a 128-bit lane, then four columns of
 * each row are a lane, then bytes move within lanes. */
QRT_INLINE __m512i interleave_rows(const uint8_t *source, int64_t stride, int rows, __mmask16 live) {
    __m512i lanes = _mm512_castsi128_si512(_mm_maskz_loadu_epi8(live, source));
    if (rows > 1)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + stride), 1);
    if (rows > 2)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + 2 * stride), 2);
    if (rows > 3)
        lanes = _mm512_inserti32x4(lanes, _mm_maskz_loadu_epi8(live, source + 3 * stride), 3);
    const __m512i columns = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i bytes = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    return _mm512_shuffle_epi8(_mm512_permutexvar_epi32(columns, lanes), bytes);
}

/* For contiguous columns. A step of K is a whole row of B further, which no hardware prefetcher follows. */
static inline void pack_b_rows(const uint8_t *source, int64_t k_stride, int columns, int64_t depth, uint8_t flip,
                               int8_t *panel) {
    const int vectors = columns > LANES ? 2 : 1, tail = (int)(depth % 4);
    const int left = columns - (vectors - 1) * LANES;
    const __mmask16 live[2] = {vectors > 1 || left == LANES ? 0xffff : (__mmask16)((1 << left) - 1),
                               (__mmask16)(left == LANES ? 0xffff : (1 << left) - 1)};
    const int flip_quad = flip * 0x01010101;
    const __m512i flips[2] = {_mm512_maskz_set1_epi32(live[0], flip_quad), _mm512_maskz_set1_epi32(live[1], flip_quad)};
    for (int64_t k = depth - tail; k > 0; k -= 4, source += 4 * k_stride) {
#pragma GCC unroll 4
        for (int r = 0; r < 4; r++)
            _mm_prefetch((const char *)source + (PACK_AHEAD + r) * k_stride, _MM_HINT_T0);
        for (int j = 0; j < vectors; j++, panel += 64)
            _mm512_store_si512(panel,
                               _mm512_xor_si512(interleave_rows(source + j * LANES, k_stride, 4, live[j]), flips[j]));
    }
    for (int j = 0; j < vectors && tail; j++, panel += 64) {
        const __m512i valid = _mm512_set1_epi32((int)(0xffffffffu >> 8 * (4 - tail)));
        _mm512_store_si512(panel, _mm512_xor_si512(interleave_rows(source + j * LANES, k_stride, tail, live[j]),
                                                   _mm512_and_si512(flips[j], valid)));
    }
}

/* Packs a panel of 32 columns, or 16 where no more are valid, padded to whole steps of `ku` values of K. */
static inline void pack_b_quads(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride,
                                int columns, int64_t depth, int ku, const int32_t *zero_point, int8_t *panel,
                                int32_t *compensation) {
    const int vectors = columns <= LANES ? 1 : 2, width = vectors * LANES;
    const int64_t quads = (depth + 3) / 4, padded = (depth + ku - 1) / ku * ku;
    const uint8_t flip = flip_of_b(container);
    if (n_stride == 1)
        pack_b_rows(source, k_stride, columns, depth, flip, panel);
    else
        pack_b_strided(source, k_stride, n_stride, columns, width, depth, 4 * quads, flip, panel);
    memset(panel + 4 * quads * width, 0, (size_t)((padded - 4 * quads) * width));
    zero_point_compensation(container, columns, zero_point, NR, compensation);
    column_sums(panel, quads, vectors, compensation + NR);
}

/* The compensation of vector j of the columns of one panel or two: the zero points; the sums are NR values further. */
static inline const int32_t *column_compensation(const qrt_microkernel_call *call, int j) {
    return call->b_compensation + j / 2 * 2 * NR + j % 2 * LANES;
}

/* Returns `bias` - za * sum b for vector j of the columns: what sums begin with where rows have no compensation. */
static inline __m512i start_of_columns(const qrt_microkernel_call *call, __m512i bias, int j) {
    const __m512i a_zero = _mm512_set1_epi32(call->a_zero_point + flip_of_a(call->args->problem.a));
    return _mm512_sub_epi32(bias, _mm512_mullo_epi32(_mm512_loadu_si512(column_compensation(call, j) + NR), a_zero));
}

/* Returns `bias` - za * sum b - zb * (sum a - depth * za), with the compensation of the row. */
static inline __m512i start_of_row(const qrt_microkernel_call *call, __m512i bias, int64_t row, int j) {
    const __m512i zero = _mm512_loadu_si512(column_compensation(call, j));
    const __m512i sum = _mm512_loadu_si512(column_compensation(call, j) + NR);
    const int32_t *compensation = call->a_compensation + 2 * row;
    const __m512i products = _mm512_add_epi32(_mm512_mullo_epi32(zero, _mm512_set1_epi32(compensation[0])),
                                              _mm512_mullo_epi32(sum, _mm512_set1_epi32(compensation[1])));
    return _mm512_sub_epi32(bias, products);
}
