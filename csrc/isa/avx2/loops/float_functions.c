/* Functions of float32, four float64 at a time: see ref/functions/float_functions.inl.
 *
 *   vgatherdpd  four entries of a table in 4 cycles on Intel, and in 8 and more on AMD: one to three for each vector
 *   vdivpd      of tanh: four in 8 cycles
 *
 * Hazard: minimum and maximum return their second operand where one is a NaN. */
#include <immintrin.h>

#include "isa/rows.h"
#include "ref/functions/float_tables.h"

#define HALF 4
#define D(operation) _mm256_##operation
#define H(operation) _mm_##operation

typedef __m256d doubles;
typedef __m128 halves;
typedef __m128i indices;

QRT_INLINE doubles nearest(doubles a) {
    return _mm256_round_pd(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

QRT_INLINE indices and_bits(indices a, indices b) {
    return _mm_and_si128(a, b);
}

QRT_INLINE doubles entry(const double *table, indices at) {
    return _mm256_i32gather_pd(table, at, sizeof(double));
}

/* The lowest bits of indices, shifted to the places of an exponent or a sign. */
QRT_INLINE doubles shifted(indices a, const int places) {
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(a), places));
}

QRT_INLINE doubles even(indices at, doubles a, doubles b) {
    return _mm256_blendv_pd(a, b, shifted(at, 63));
}

QRT_INLINE indices bits_of(halves x) {
    return _mm_castps_si128(x);
}

QRT_INLINE halves halves_of(indices bits) {
    return _mm_castsi128_ps(bits);
}

QRT_INLINE doubles choose_below(doubles a, doubles b, doubles below, doubles otherwise) {
    return _mm256_blendv_pd(otherwise, below, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
}

QRT_INLINE halves keep_nans(halves from, halves value) {
    return _mm_blendv_ps(value, from, _mm_cmpunord_ps(from, from));
}

QRT_INLINE bool are_within(halves x, float low, float high) {
    const halves is_high = _mm_cmpge_ps(x, _mm_set1_ps(low)), is_low = _mm_cmple_ps(x, _mm_set1_ps(high));
    return _mm_movemask_ps(_mm_and_ps(is_high, is_low)) == 0xf;
}

QRT_INLINE bool has_doubtful(doubles a) {
    const __m256i from = _mm256_add_epi64(_mm256_castpd_si256(a), _mm256_set1_epi64x(QRT_DOUBTFUL - 0x10000000));
    const __m256i past = _mm256_and_si256(from, _mm256_set1_epi64x(0x1fffffff));
    return _mm256_movemask_epi8(_mm256_cmpgt_epi64(_mm256_set1_epi64x(2 * QRT_DOUBTFUL + 1), past)) != 0;
}

#include "isa/x86/functions/float_functions.inl"
