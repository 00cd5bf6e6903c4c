/* The end of a GEMM tile of 512-bit vectors: sums in registers to bytes in memory, shared by the ISAs that have
 * AVX-512. Per four vectors (of 16 sums):
 *
 *   float32  vcvtdq2ps, vmulps, vcvtps2dq {rn-sae}: 12 uops. Scales are below 1: 2^31 and more would convert to INT_MIN
 *   fixed    vpsrlq, 2 vpmuldq, vpshufd into a mask, vpsravd: 20 uops
 *   both     2 vpackssdw, 2 vpaddsw, vpacksswb, vpmaxsb, vpminsb, vpxor, vpermd, and the stores
 *
 * Where every column is live and the bounds are the container's, float32 takes vpacksswb or vpackuswb without the three
 * that follow, and no masks.
 *
 * fixed: with P = acc * M0 and N >= 33, floor(P / 2^(N-1)) is t = hi32(P) >> (N-33), and
 * (P + 2^(N-1)) >> N = floor((floor(P / 2^(N-1)) + 1) / 2) = (t + 1) >> 1, so (t + 1) >> 1 + zp = (t + 2*zp + 1) >> 1.
 * The 16-bit steps saturate: what leaves 16 bits there is, with |zp| <= 8192, beyond every 8-bit bound still.
 *
 * Else unsigned storage is computed less 128, as signed, and its top bit flipped at the end. */
#ifndef QRT_ISA_FINISH512_H
#define QRT_ISA_FINISH512_H

#include <immintrin.h>

#include "qrt/qrt.h"

#define LANES 16
#define SHORT_ZERO_POINT 8192

/* FINISH_FLOAT32_I8, FINISH_FLOAT32_U8: every column is live, and the bounds are the container's, to which packing
 * saturates. */
typedef enum {
    FINISH_SUMS,
    FINISH_STORE,
    FINISH_FLOAT32,
    FINISH_FLOAT32_I8,
    FINISH_FLOAT32_U8,
    FINISH_FIXED
} finish_kind;

/* What the columns of a panel, or of two, share: one vector, two or four. */
typedef struct {
    finish_kind kind;
    __mmask16 live[4];
    __m512 scale[4];
    __m512i multiplier_even[4], multiplier_odd[4], shift[4];
    __m512i zero_point[2];       /* 16 bits: of the first two vectors of a group of four, and of the others */
    __m512i whole_zero_point[2]; /* of unsigned storage, not less 128 */
    __m512i low, high, flip;
} finish_columns;

QRT_INLINE __m512i parameters_i32(const int32_t *values, int64_t parameter, int64_t step) {
    return step ? _mm512_loadu_si512(values + parameter) : _mm512_set1_epi32(values[parameter]);
}

QRT_INLINE bool is_whole(finish_kind kind) {
    return kind == FINISH_FLOAT32_I8 || kind == FINISH_FLOAT32_U8;
}

QRT_INLINE bool load_finish_float32(const qrt_requant *requant, int64_t parameter, int64_t step, int j,
                                    finish_columns *to) {
    to->scale[j] =
        step ? _mm512_loadu_ps(requant->scale_f32 + parameter) : _mm512_set1_ps(requant->scale_f32[parameter]);
    return _mm512_mask_cmp_ps_mask(to->live[j], _mm512_abs_ps(to->scale[j]), _mm512_set1_ps(1), _CMP_NLT_UQ) == 0;
}

QRT_INLINE bool load_finish_fixed(const qrt_requant *requant, int64_t parameter, int64_t step, int j,
                                  finish_columns *to) {
    const __m512i multiplier = parameters_i32(requant->multiplier, parameter, step);
    to->multiplier_even[j] = multiplier;
    to->multiplier_odd[j] = _mm512_srli_epi64(multiplier, 32);
    to->shift[j] = _mm512_sub_epi32(parameters_i32(requant->shift, parameter, step), _mm512_set1_epi32(33));
    return requant->shift_min >= 33 && requant->shift_max <= 62;
}

/* The parameters of a panel's columns. FINISH_STORE where a formula would not be exact, or parameters are by row. */
QRT_INLINE void load_finish(const qrt_gemm_panel *p, int vectors, finish_columns *to) {
    const qrt_requant *requant = &p->args->requant;
    const int64_t step = p->args->requant_steps[2];
    const uint64_t live = p->columns >= 64 ? ~0ULL : (1ULL << p->columns) - 1;
    for (int j = 0; j < vectors; j++)
        to->live[j] = (__mmask16)(live >> (j * LANES));
    to->kind = p->sums ? FINISH_SUMS : FINISH_STORE;
    const bool fixed = requant->rule == QRT_FIXED;
    if (p->sums || requant->container > QRT_U8 || !requant->zero_point_i32 || p->args->requant_steps[1] ||
        !(fixed || requant->rule == QRT_FLOAT32))
        return;
    const int offset = requant->container == QRT_U8 ? 128 : 0;
    __m512i zero_point[4];
    for (int j = 0; j < vectors; j++) {
        const int64_t parameter = p->parameter + j * LANES * step;
        zero_point[j] = parameters_i32(requant->zero_point_i32, parameter, step);
        const bool exact = fixed ? load_finish_fixed(requant, parameter, step, j, to)
                                 : load_finish_float32(requant, parameter, step, j, to);
        if (!exact || _mm512_mask_cmpgt_epu32_mask(to->live[j], _mm512_abs_epi32(zero_point[j]),
                                                   _mm512_set1_epi32(SHORT_ZERO_POINT)))
            return;
        zero_point[j] = _mm512_sub_epi32(zero_point[j], _mm512_set1_epi32(offset));
    }
    const bool whole =
        p->columns == vectors * LANES && requant->storage_min == offset - 128 && requant->storage_max == offset + 127;
    const finish_kind whole_kind = offset ? FINISH_FLOAT32_U8 : FINISH_FLOAT32_I8;
    to->kind = fixed ? FINISH_FIXED : whole ? whole_kind : FINISH_FLOAT32;
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

QRT_INLINE __m512i scale_float32(__m512i sum, const finish_columns *c, int j) {
    /* Read each time, as an operand of the product: the sums of a tile leave no registers to keep it in. */
    __asm__("" : "+r"(c));
    return _mm512_cvt_roundps_epi32(_mm512_mul_ps(_mm512_cvtepi32_ps(sum), c->scale[j]),
                                    _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* t above. */
QRT_INLINE __m512i scale_fixed(__m512i sum, const finish_columns *c, int j) {
    const __m512i even = _mm512_mul_epi32(sum, c->multiplier_even[j]);
    const __m512i odd = _mm512_mul_epi32(_mm512_srli_epi64(sum, 32), c->multiplier_odd[j]);
    return _mm512_srav_epi32(_mm512_mask_shuffle_epi32(odd, 0x5555, even, _MM_PERM_DDBB), c->shift[j]);
}

/* Four vectors of scaled sums to 64 bytes in their order. */
QRT_INLINE __m512i narrow(const __m512i *v, const finish_columns *c, finish_kind kind) {
    const __m512i *zero_point = is_whole(kind) ? c->whole_zero_point : c->zero_point;
    __m512i low = _mm512_adds_epi16(_mm512_packs_epi32(v[0], v[1]), zero_point[0]);
    __m512i high = _mm512_adds_epi16(_mm512_packs_epi32(v[2], v[3]), zero_point[1]);
    if (kind == FINISH_FIXED) {
        low = _mm512_srai_epi16(low, 1);
        high = _mm512_srai_epi16(high, 1);
    }
    __m512i bytes = kind == FINISH_FLOAT32_U8 ? _mm512_packus_epi16(low, high) : _mm512_packs_epi16(low, high);
    if (!is_whole(kind))
        bytes = _mm512_xor_si512(_mm512_min_epi8(_mm512_max_epi8(bytes, c->low), c->high), c->flip);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}

/* Up to `rows` rows to `target`, four vectors of their sums: a row of four, two rows of two, or four of one. `joined`:
 * the second of two rows lies directly behind the first. */
QRT_INLINE void finish_group(const finish_columns *c, char *target, int64_t stride, const __m512i *sums, int rows,
                             int vectors, finish_kind kind, bool joined) {
    __m512i v[4];
#pragma GCC unroll 4
    for (int n = 0; n < 4; n++)
        v[n] = kind == FINISH_FIXED ? scale_fixed(sums[n], c, n % vectors) : scale_float32(sums[n], c, n % vectors);
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

static inline int result_bytes(qrt_container container) {
    return container <= QRT_U8 ? 1 : container <= QRT_U16 ? 2 : 4;
}

/* Sums as they are, or the table's store. */
static inline void finish_sums(const qrt_gemm_panel *p, const finish_columns *c, int64_t row, const __m512i *sums,
                               int rows, int vectors) {
    const qrt_gemm_args *args = p->args;
    if (!p->sums) {
        const int size = result_bytes(args->requant.container);
        args->kernels->store(&args->requant, (const int32_t *)sums, vectors * LANES, rows, p->columns,
                             (char *)p->target + row * args->out_row_stride, args->out_row_stride / size,
                             p->parameter + row * args->requant_steps[1], args->requant_steps[1],
                             args->requant_steps[2]);
        return;
    }
    for (int i = 0; i < rows; i++)
        for (int j = 0; j < vectors; j++)
            _mm512_mask_storeu_epi32(p->sums + (row + i) * p->sums_stride + j * LANES, c->live[j],
                                     sums[i * vectors + j]);
}

/* The sums [rows][vectors] of a tile, in memory up to a multiple of four vectors. */
static __attribute__((noinline, unused)) void finish_tile(const qrt_gemm_panel *p, const finish_columns *c, int64_t row,
                                                          const __m512i *sums, int rows, int vectors) {
    if (c->kind < FINISH_FLOAT32) {
        finish_sums(p, c, row, sums, rows, vectors);
        return;
    }
    const finish_kind kind = c->kind == FINISH_FIXED ? FINISH_FIXED : FINISH_FLOAT32;
    const int64_t stride = p->args->out_row_stride;
    const int group = 4 / vectors;
    char *target = (char *)p->target + row * stride;
    for (int i = 0; i < rows; i += group, sums += 4, target += group * stride) {
        if (vectors == 4)
            finish_group(c, target, stride, sums, rows - i, 4, kind, false);
        else if (vectors == 2)
            finish_group(c, target, stride, sums, rows - i, 2, kind, false);
        else
            finish_group(c, target, stride, sums, rows - i, 1, kind, false);
    }
}

#endif
