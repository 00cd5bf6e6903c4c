/* Functions of float32, eight float64 at a time: see ref/functions/float_functions.inl.
 *
 *   vgatherdpd  eight entries of a table in 8 cycles on Intel, and in 16 and more on AMD: one to three for each vector
 *   vdivpd      of tanh: eight in 16 cycles
 *
 * Hazard: minimum and maximum return their second operand where one is a NaN. */
#include <immintrin.h>

#include "isa/rows.h"
#include "ref/functions/float_tables.h"

#define HALF 8
#define D(operation) _mm512_##operation
#define H(operation) _mm256_##operation

typedef __m512d doubles;
typedef __m256 halves;
typedef __m256i indices;

QRT_INLINE doubles nearest(doubles a) {
    return _mm512_roundscale_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

QRT_INLINE indices and_bits(indices a, indices b) {
    return _mm256_and_si256(a, b);
}

QRT_INLINE doubles entry(const double *table, indices at) {
    return _mm512_i32gather_pd(at, table, sizeof(double));
}

/* The lowest bits of indices, shifted to the places of an exponent or a sign. */
QRT_INLINE doubles shifted(indices a, const int places) {
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_cvtepi32_epi64(a), places));
}

QRT_INLINE doubles even(indices at, doubles a, doubles b) {
    return _mm512_mask_mov_pd(a, _mm256_test_epi32_mask(at, _mm256_set1_epi32(1)), b);
}

QRT_INLINE indices bits_of(halves x) {
    return _mm256_castps_si256(x);
}

QRT_INLINE halves halves_of(indices bits) {
    return _mm256_castsi256_ps(bits);
}

QRT_INLINE doubles choose_below(doubles a, doubles b, doubles below, doubles otherwise) {
    return _mm512_mask_mov_pd(otherwise, _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), below);
}

QRT_INLINE halves keep_nans(halves from, halves value) {
    return _mm256_mask_mov_ps(value, _mm256_cmp_ps_mask(from, from, _CMP_UNORD_Q), from);
}

QRT_INLINE bool are_within(halves x, float low, float high) {
    const __mmask8 is_high = _mm256_cmp_ps_mask(x, _mm256_set1_ps(low), _CMP_GE_OQ);
    return _mm256_mask_cmp_ps_mask(is_high, x, _mm256_set1_ps(high), _CMP_LE_OQ) == 0xff;
}

QRT_INLINE bool has_doubtful(doubles a) {
    const __m512i from = _mm512_add_epi64(_mm512_castpd_si512(a), _mm512_set1_epi64(QRT_DOUBTFUL - 0x10000000));
    const __m512i past = _mm512_and_si512(from, _mm512_set1_epi64(0x1fffffff));
    return _mm512_cmple_epi64_mask(past, _mm512_set1_epi64(2 * QRT_DOUBTFUL)) != 0;
}

#include "isa/x86/functions/float_functions.inl"
