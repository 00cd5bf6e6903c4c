/* Requantize-and-store of i32 tiles: fixed to any container, float32 to 8 and 16 bits; the rest is the parent's.
 * Sixteen columns (a strip) at a time; parameters are loaded once per strip unless they belong to the rows.
 *
 *   vpmuldq                 32 x 32 -> 64 bit signed products of the even lanes; the odd ones are shifted down first
 *   vpsravq                 arithmetic 64-bit shift by a count per lane
 *   vcvtdq2ps, vmulps       the two roundings of float32; vcvtps2dq {rn-sae} half even whatever the control register
 * says vpmovdb, vpmovdw        truncate i32: the values are within the container already
 *
 * fixed is exact for shifts N of 31..62: |acc * M0| <= 2^62, so adding 2^(N-1) <= 2^61 stays within 63 bits, and the
 * result is at most 2^31 - 1 in magnitude (M0 < 2^31), so its low half is all of it. It is clamped to [min - zp, max -
 * zp], which zero_point_i32 says fit 32 bits, before the zero point is added: nothing wraps. float32 is exact where
 * those bounds are exact floats: clamped before the conversion, v cannot leave 32 bits. */
#include <immintrin.h>

#include "isa/rows.h"

#define STRIP 16
#define EXACT_ZERO_POINT (1 << 23) /* bounds less it need at most 24 bits */

typedef struct {
    __m512i zero_point, low, high;
    __m512 scale, low_f32, high_f32;
    __m512i multiplier_even, multiplier_odd, shift_even, shift_odd, round_even, round_odd;
} strip;

static inline __m512i load_i32(const int32_t *values, int64_t parameter, int64_t step) {
    return step ? _mm512_loadu_si512(values + parameter) : _mm512_set1_epi32(values[parameter]);
}

static inline __m512i low_halves(__m512i pairs) {
    return _mm512_and_si512(pairs, _mm512_set1_epi64(0xffffffff));
}

/* The parameters of the live columns; false where a formula below would not be exact. */
static inline __attribute__((always_inline)) bool load_fixed(const qrt_requant *requant, int64_t parameter,
                                                             int64_t step, __mmask16 live, strip *to) {
    const __m512i multiplier = load_i32(requant->multiplier, parameter, step);
    const __m512i shift = load_i32(requant->shift, parameter, step);
    const __m512i above = _mm512_sub_epi32(shift, _mm512_set1_epi32(31));
    to->multiplier_even = multiplier;
    to->multiplier_odd = _mm512_srli_epi64(multiplier, 32);
    to->shift_even = low_halves(shift);
    to->shift_odd = _mm512_srli_epi64(shift, 32);
    const __m512i one = _mm512_set1_epi64(1);
    to->round_even = _mm512_sllv_epi64(one, _mm512_sub_epi64(to->shift_even, one));
    to->round_odd = _mm512_sllv_epi64(one, _mm512_sub_epi64(to->shift_odd, one));
    return _mm512_mask_cmpgt_epu32_mask(live, above, _mm512_set1_epi32(31)) == 0;
}

static inline __attribute__((always_inline)) bool load_float32(const qrt_requant *requant, int64_t parameter,
                                                               int64_t step, __mmask16 live, strip *to) {
    to->scale = step ? _mm512_loadu_ps(requant->scale_f32 + parameter) : _mm512_set1_ps(requant->scale_f32[parameter]);
    to->low_f32 = _mm512_cvtepi32_ps(to->low);
    to->high_f32 = _mm512_cvtepi32_ps(to->high);
    const __m512i magnitude = _mm512_abs_epi32(to->zero_point);
    return _mm512_mask_cmpgt_epu32_mask(live, magnitude, _mm512_set1_epi32(EXACT_ZERO_POINT)) == 0;
}

static inline __attribute__((always_inline)) bool load_strip(const qrt_requant *requant, int64_t parameter,
                                                             int64_t step, __mmask16 live, bool fixed, strip *to) {
    to->zero_point = load_i32(requant->zero_point_i32, parameter, step);
    to->low = _mm512_sub_epi32(_mm512_set1_epi32((int)requant->storage_min), to->zero_point);
    to->high = _mm512_sub_epi32(_mm512_set1_epi32((int)requant->storage_max), to->zero_point);
    return fixed ? load_fixed(requant, parameter, step, live, to) : load_float32(requant, parameter, step, live, to);
}

static inline __m512i requantize_fixed(__m512i acc, const strip *s) {
    const __m512i odd_lanes = _mm512_srli_epi64(acc, 32);
    __m512i even = _mm512_add_epi64(_mm512_mul_epi32(acc, s->multiplier_even), s->round_even);
    __m512i odd = _mm512_add_epi64(_mm512_mul_epi32(odd_lanes, s->multiplier_odd), s->round_odd);
    even = _mm512_srav_epi64(even, s->shift_even);
    odd = _mm512_srav_epi64(odd, s->shift_odd);
    const __m512i q = _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);
    return _mm512_add_epi32(_mm512_min_epi32(_mm512_max_epi32(q, s->low), s->high), s->zero_point);
}

static inline __m512i requantize_float32(__m512i acc, const strip *s) {
    __m512 v = _mm512_mul_ps(_mm512_cvtepi32_ps(acc), s->scale);
    v = _mm512_min_ps(_mm512_max_ps(v, s->low_f32), s->high_f32);
    const __m512i q = _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    return _mm512_add_epi32(q, s->zero_point);
}

static inline __attribute__((always_inline)) void store_values(char *to, __m512i q, __mmask16 live, int size) {
    if (size == 1 && live == 0xffff)
        _mm_storeu_si128((__m128i *)to, _mm512_cvtepi32_epi8(q));
    else if (size == 1)
        _mm_mask_storeu_epi8(to, live, _mm512_cvtepi32_epi8(q));
    else if (size == 2 && live == 0xffff)
        _mm256_storeu_si256((__m256i *)to, _mm512_cvtepi32_epi16(q));
    else if (size == 2)
        _mm256_mask_storeu_epi16(to, live, _mm512_cvtepi32_epi16(q));
    else
        _mm512_mask_storeu_epi32(to, live, q);
}

static inline __attribute__((always_inline)) void store_rows(const qrt_requant *requant, const int32_t *acc,
                                                             int64_t acc_stride, int rows, int columns, char *target,
                                                             int64_t target_stride, int64_t parameter, int64_t row_step,
                                                             int64_t column_step, bool fixed, int size) {
    const int group = row_step ? 1 : rows; /* rows that share parameters */
    for (int j = 0; j < columns; j += STRIP) {
        const int width = columns - j < STRIP ? columns - j : STRIP;
        const __mmask16 live = (__mmask16)((1u << width) - 1);
        for (int i = 0; i < rows; i += group) {
            const int64_t index = parameter + i * row_step + j * column_step;
            strip s;
            if (!load_strip(requant, index, column_step, live, fixed, &s)) {
                avx512_parent.store(requant, acc + i * acc_stride + j, acc_stride, group, width,
                                    target + (i * target_stride + j) * size, target_stride, index, row_step,
                                    column_step);
                continue;
            }
            for (int row = i; row < i + group; row++) {
                const __m512i value = _mm512_loadu_si512(acc + row * acc_stride + j);
                const __m512i q = fixed ? requantize_fixed(value, &s) : requantize_float32(value, &s);
                store_values(target + (row * target_stride + j) * size, q, live, size);
            }
        }
    }
}

void avx512_store(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns,
                  void *target, int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step) {
    const bool fixed = requant->rule == QRT_FIXED, float32 = requant->rule == QRT_FLOAT32;
    const int size = requant->container <= QRT_U8 ? 1 : requant->container <= QRT_U16 ? 2 : 4;
#define ROWS(fixed, size)                                                                                              \
    store_rows(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step, column_step,       \
               fixed, size)
    if (fixed && requant->zero_point_i32 && size == 1)
        ROWS(true, 1);
    else if (fixed && requant->zero_point_i32 && size == 2)
        ROWS(true, 2);
    else if (fixed && requant->zero_point_i32)
        ROWS(true, 4);
    else if (float32 && requant->zero_point_i32 && size == 1)
        ROWS(false, 1);
    else if (float32 && requant->zero_point_i32 && size == 2)
        ROWS(false, 2);
#undef ROWS
    else
        avx512_parent.store(requant, acc, acc_stride, rows, columns, target, target_stride, parameter, row_step,
                            column_step);
}
