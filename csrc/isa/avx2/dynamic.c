/* Floats that are quantized at run time, and the cells of a long short-term memory, eight floats at a time.
 *
 *   vminps, vmaxps   the range of a tensor: two uops of a load, on ports 0 and 1
 *   vdivps           the limit of quantization: eight quotients in 5 cycles
 *   vdivpd, vgatherdpd  of four doubles in 8 and in 4 cycles: the limits of a cell, which takes ten of each
 *
 * Exact: dynamic.inl. Hazard: memory may end behind the last elements; masked loads and stores do not fault past their
 * masks. */
#include "vectors.h"

typedef __m256d doubles;
typedef __m128i half_integers;

QRT_INLINE integers lane_mask(live_lanes live) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)live), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}

QRT_INLINE floats load_floats(const float *source, live_lanes live) {
    return live == ALL ? _mm256_loadu_ps(source) : _mm256_maskload_ps(source, lane_mask(live));
}

QRT_INLINE void store_floats(float *target, floats v, live_lanes live) {
    if (live == ALL)
        _mm256_storeu_ps(target, v);
    else
        _mm256_maskstore_ps(target, lane_mask(live), v);
}

QRT_INLINE integers bits_of(floats v) {
    return _mm256_castps_si256(v);
}

QRT_INLINE floats one_nan(floats v) {
    return _mm256_blendv_ps(_mm256_set1_ps(__builtin_nanf("")), v, _mm256_cmp_ps(v, v, _CMP_ORD_Q));
}

QRT_INLINE floats keep_nans(floats from, floats v) {
    return _mm256_blendv_ps(from, v, _mm256_cmp_ps(from, from, _CMP_ORD_Q));
}

QRT_INLINE doubles choose_below(doubles a, doubles b, doubles below, doubles otherwise) {
    return _mm256_blendv_pd(otherwise, below, _mm256_cmp_pd(a, b, _CMP_LT_OQ));
}

QRT_INLINE doubles round_doubles(doubles v) {
    return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

QRT_INLINE doubles low_half(floats v) {
    return _mm256_cvtps_pd(_mm256_castps256_ps128(v));
}

QRT_INLINE doubles high_half(floats v) {
    return _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
}

QRT_INLINE floats join_halves(doubles low, doubles high) {
    return _mm256_set_m128(_mm256_cvtpd_ps(high), _mm256_cvtpd_ps(low));
}

#include "ref/functions/exponential.h"

/* 2^(k / 32), cut off to whole exponents. */
QRT_INLINE doubles power_of_two(half_integers k) {
    const half_integers exponent = _mm_add_epi32(_mm_srai_epi32(k, 5), _mm_set1_epi32(1023));
    return _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(exponent), 52));
}

QRT_INLINE doubles gather_powers(half_integers k) {
    return _mm256_i32gather_pd(qrt_powers, _mm_and_si128(k, _mm_set1_epi32(QRT_POWERS - 1)), sizeof(double));
}

#include "isa/x86/functions/dynamic.inl"
