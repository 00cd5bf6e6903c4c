/* The epilogue of a GEMM tile of 512-bit vectors, for the ISAs that have AVX-512: from sums in registers to bytes in
 * memory. Four vectors, of 16 sums each, take
 *
 *   float32  vcvtdq2ps, vmulps, vcvtps2dq {rn-sae}: 12 uops. Scales are below 1: 2^31 and more would convert to INT_MIN
 *   fixed    vpsrlq, 2 vpmuldq, vpshufd into a mask, vpsravd: 20 uops
 *   both     2 vpackssdw, 2 vpaddsw, vpacksswb, vpmaxsb, vpminsb, vpxor, vpermd, and the stores
 *
 * on ports 0 and 5; the packs and the permutation are on port 5. Where every column is live and the bounds are the
 * container's, float32 takes vpacksswb or vpackuswb without the three instructions that follow, and no masks. Else
 * unsigned storage is computed minus 128, as signed, and its top bit flipped at the end.
 *
 * Exact. fixed: with P = acc * M0 and N >= 33, floor(P / 2^(N-1)) is t = hi32(P) >> (N-33), and (P + 2^(N-1)) >> N =
 * floor((floor(P / 2^(N-1)) + 1) / 2) = (t + 1) >> 1, so (t + 1) >> 1 + zp = (t + 2*zp + 1) >> 1. Hazard: the 16-bit
 * steps saturate. With |zp| <= 8192, a value that leaves 16 bits there is beyond every 8-bit bound in any case. */
#pragma once

#ifndef __AVX512VL__
#error "epilogue512.inl is for ISAs with AVX-512 (F, BW, VL)"
#endif

#include <immintrin.h>

#include "qrt/qrt.h"

#define LANES 16
#define NR (2 * LANES)
#define SHORT_ZERO_POINT 8192

/* How sums end: stored as they are, by the table's row `store`, or here. For FLOAT32_I8 and FLOAT32_U8 every column is
 * live and the bounds are the container's, to which packing saturates. */
typedef enum {
    EPILOGUE_SUMS,
    EPILOGUE_STORE,
    EPILOGUE_FLOAT32,
    EPILOGUE_FLOAT32_I8,
    EPILOGUE_FLOAT32_U8,
    EPILOGUE_FIXED
} epilogue_kind;

/* The parameters of the columns of one panel or two, in one vector, two or four. */
typedef struct {
    epilogue_kind kind;
    __mmask16 live[4];
    __m512 scale[4];
    __m512i multiplier_even[4], multiplier_odd[4], shift[4];
    __m512i zero_point[2];       /* in 16 bits: those of the first two vectors of a group of four, and of the others */
    __m512i whole_zero_point[2]; /* the same for unsigned storage that is not moved by 128 */
    __m512i low, high, flip;
} epilogue_columns;

QRT_INLINE __m512i parameters_i32(const int32_t *values, int64_t parameter, int64_t step) {
    return step ? _mm512_loadu_si512(values + parameter) : _mm512_set1_epi32(values[parameter]);
}

QRT_INLINE bool is_whole(epilogue_kind kind) {
    return kind == EPILOGUE_FLOAT32_I8 || kind == EPILOGUE_FLOAT32_U8;
}

QRT_INLINE bool load_epilogue_float32(const qrt_requant *requant, int64_t parameter, int64_t step, int j,
                                      epilogue_columns *to) {
    to->scale[j] =
        step ? _mm512_loadu_ps(requant->scale_f32 + parameter) : _mm512_set1_ps(requant->scale_f32[parameter]);
    return _mm512_mask_cmp_ps_mask(to->live[j], _mm512_abs_ps(to->scale[j]), _mm512_set1_ps(1), _CMP_NLT_UQ) == 0;
}

QRT_INLINE bool load_epilogue_fixed(const qrt_requant *requant, int64_t parameter, int64_t step, int j,
                                    epilogue_columns *to) {
    const __m512i multiplier = parameters_i32(requant->multiplier, parameter, step);
    to->multiplier_even[j] = multiplier;
    to->multiplier_odd[j] = _mm512_srli_epi64(multiplier, 32);
    to->shift[j] = _mm512_sub_epi32(parameters_i32(requant->shift, parameter, step), _mm512_set1_epi32(33));
    return requant->shift_min >= 33 && requant->shift_max <= 62;
}

/* Loads the parameters of a panel's columns. The kind is EPILOGUE_STORE where a formula would not be exact, or where
 * rows have parameters of their own. */
QRT_INLINE void load_epilogue(const qrt_microkernel_call *call, int vectors, epilogue_columns *to) {
    const qrt_gemm_problem *problem = &call->args->problem;
    const qrt_requant *requant = &problem->requant;
    const int64_t step = problem->requant_steps[2];
    const uint64_t live = call->columns >= 64 ? ~0ULL : (1ULL << call->columns) - 1;
    for (int j = 0; j < vectors; j++)
        to->live[j] = (__mmask16)(live >> (j * LANES));
    to->kind = call->sums ? EPILOGUE_SUMS : EPILOGUE_STORE;
    const bool fixed = requant->rule == QRT_FIXED;
    if (call->sums || requant->container > QRT_U8 || !requant->zero_point_i32 || problem->requant_steps[1] ||
        !(fixed || requant->rule == QRT_FLOAT32))
        return;
    const int offset = requant->container == QRT_U8 ? 128 : 0;
    __m512i zero_point[4];
    for (int j = 0; j < vectors; j++) {
        const int64_t parameter = call->parameter + j * LANES * step;
        zero_point[j] = parameters_i32(requant->zero_point_i32, parameter, step);
        const bool exact = fixed ? load_epilogue_fixed(requant, parameter, step, j, to)
                                 : load_epilogue_float32(requant, parameter, step, j, to);
        if (!exact || _mm512_mask_cmpgt_epu32_mask(to->live[j], _mm512_abs_epi32(zero_point[j]),
                                                   _mm512_set1_epi32(SHORT_ZERO_POINT)))
            return;
        zero_point[j] = _mm512_sub_epi32(zero_point[j], _mm512_set1_epi32(offset));
    }
    const bool whole = call->columns == vectors * LANES && requant->storage_min == offset - 128 &&
                       requant->storage_max == offset + 127;
    const epilogue_kind whole_kind = offset ? EPILOGUE_FLOAT32_U8 : EPILOGUE_FLOAT32_I8;
    to->kind = fixed ? EPILOGUE_FIXED : whole ? whole_kind : EPILOGUE_FLOAT32;
    for (int half = 0; half < 2; half++) {
        const int j = half * 2 % vectors;
        const __m512i words = _mm512_packs_epi32(zero_point[j], zero_point[j + (vectors > 1)]);
        to->whole_zero_point[half] = _mm512_add_epi16(words, _mm512_set1_epi16((short)offset));
        to->zero_point[half] = fixed ? _mm512_add_epi16(_mm512_add_epi16(words, words), _mm512_set1_epi16(1)) : words;
    }
    to->low = _mm512_set1_epi8((char)(requant->storage_min - offset));
    to->high = _mm512_set1_epi8((char)(requant->storage_max - offset));
    to->flip = _mm512_set1_epi8((char)offset);
}

/* Returns vector j of the bias, with 0 in columns that are not live. */
QRT_INLINE __m512i load_bias(const qrt_microkernel_call *call, const epilogue_columns *c, int j) {
    return call->bias ? _mm512_maskz_loadu_epi32(c->live[j], call->bias + j * LANES) : _mm512_setzero_si512();
}

QRT_INLINE __m512i scale_float32(__m512i sum, const epilogue_columns *c, int j) {
    /* The scale is loaded each time, as an operand of the product: the sums of a tile leave no register for it. */
    __asm__("" : "+r"(c));
    return _mm512_cvt_roundps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), c->scale[j]),
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Returns t, see above. */
QRT_INLINE __m512i scale_fixed(__m512i sum, const epilogue_columns *c, int j) {
    const __m512i even = _mm512_mul_epi32(sum, c->multiplier_even[j]);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), c->multiplier_odd[j]);
    return _mm512_srav_epi32(_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB), c->shift[j]);
}

/* Narrows four vectors of scaled sums to 64 bytes in their order. */
QRT_INLINE __m512i narrow(const __m512i *v, const epilogue_columns *c, epilogue_kind kind) {
    const __m512i *zero_point = is_whole(kind) ? c->whole_zero_point : c->zero_point;
    __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), zero_point[0]);
    __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), zero_point[1]);
    if (kind == EPILOGUE_FIXED) {
        low = _mm512_srai_epi16(low, 1);
        high = _mm512_srai_epi16(high, 1);
    }
    __m512i bytes = kind == EPILOGUE_FLOAT32_U8 ? _mm512_packus_epi16(low, high) : _mm512_packs_epi16(low, high);
    if (!is_whole(kind))
        bytes = _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, c->low), c->high), c->flip);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}

/* Stores up to `rows` rows, four vectors of sums: one row of four, two rows of two, or four rows of one. `joined`: the
 * second of two rows lies directly behind the first. */
QRT_INLINE void epilogue_of_four(const epilogue_columns *c, char *target, int64_t stride, const __m512i *sums, int rows,
                                 int vectors, epilogue_kind kind, bool joined) {
    __m512i v[4];
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++)
        v[n] = kind == EPILOGUE_FIXED ? scale_fixed(sums[n], c, n % vectors) : scale_float32(sums[n], c, n % vectors);
    const __m512i bytes = narrow(v, c, kind);
    if (vectors == 4 || joined) {
        _mm512_storeu_si512(target, bytes);
        return;
    }
    if (vectors == 2 && is_whole(kind)) {
        _mm256_storeu_si256((__m256i *)target, _mm512_castsi512_si256(bytes));
        _mm256_storeu_si256((__m256i *)(target + stride), _mm512_extracti64x4_epi64(bytes, 1));
        return;
    }
    if (vectors == 2) {
        const __mmask32 live = _mm512_kunpackw(c->live[1], c->live[0]);
        _mm256_mask_storeu_epi8(target, live, _mm512_castsi512_si256(bytes));
        if (rows > 1)
            _mm256_mask_storeu_epi8(target + stride, live, _mm512_extracti64x4_epi64(bytes, 1));
        return;
    }
    _mm_mask_storeu_epi8(target, c->live[0], _mm512_castsi512_si128(bytes));
    if (rows > 1)
        _mm_mask_storeu_epi8(target + stride, c->live[0], _mm512_extracti32x4_epi32(bytes, 1));
    if (rows > 2)
        _mm_mask_storeu_epi8(target + 2 * stride, c->live[0], _mm512_extracti32x4_epi32(bytes, 2));
    if (rows > 3)
        _mm_mask_storeu_epi8(target + 3 * stride, c->live[0], _mm512_extracti32x4_epi32(bytes, 3));
}

/* For EPILOGUE_SUMS and EPILOGUE_STORE. */
static inline void epilogue_through_memory(const qrt_microkernel_call *call, const epilogue_columns *c, int64_t row,
                                           const __m512i *sums, int rows, int vectors) {
    const qrt_gemm_problem *problem = &call->args->problem;
    if (!call->sums) {
        const int size = qrt_container_size(problem->requant.container);
        const int64_t stride = problem->out_row_stride, step = problem->requant_steps[1];
        call->args->kernels->store(&problem->requant, (const int32_t *)sums, vectors * LANES, rows, call->columns,
                                   (char *)call->target + row * stride, stride / size, call->parameter + row * step,
                                   step, problem->requant_steps[2]);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            _mm512_mask_storeu_epi32(call->sums + (row + i) * call->sums_stride + j * LANES, c->live[j],
                                     sums[i * vectors + j]);
}

/* Stores the sums [rows][vectors] of a tile. They are in memory, where up to a multiple of four vectors may be read. */
static __attribute__((noinline, unused)) void epilogue_of_tile(const qrt_microkernel_call *call,
                                                               const epilogue_columns *c, int64_t row,
                                                               const __m512i *sums, int rows, int vectors) {
    if (c->kind < EPILOGUE_FLOAT32) {
        epilogue_through_memory(call, c, row, sums, rows, vectors);
        return;
    }
    const epilogue_kind kind = c->kind == EPILOGUE_FIXED ? EPILOGUE_FIXED : EPILOGUE_FLOAT32;
    const int64_t stride = call->args->problem.out_row_stride;
    const int group = 4 / vectors;
    char *target = (char *)call->target + row * stride;
    for (int i = 0; i < rows; i += group, sums += 4, target += group * stride) {
        if (vectors == 4)
            epilogue_of_four(c, target, stride, sums, rows - i, 4, kind, false);
        else if (vectors == 2)
            epilogue_of_four(c, target, stride, sums, rows - i, 2, kind, false);
        else
            epilogue_of_four(c, target, stride, sums, rows - i, 1, kind, false);
    }
}
