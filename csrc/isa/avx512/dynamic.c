/* Floats that are quantized at run time, and the cells of a long short-term memory, sixteen floats at a time.
 *
 *   vminps, vmaxps   the range of a tensor: two uops of a load, on ports 0 and 5
 *   vdivps           the limit of quantization: 16 quotients in 10 cycles
 *   vdivpd, vgatherdpd  of eight doubles in 16 and in 8 cycles: the limits of a cell, which takes ten of each
 *
 * Exact: dynamic.inl. Hazard: memory may end behind the last elements, so loads and stores of fewer are masked. */
#include "vectors.h"

typedef __m512d doubles;
typedef __m256i half_integers;

QRT_INLINE floats load_floats(const float *source, live_lanes live) {
    return _mm512_maskz_loadu_ps(live, source);
}

QRT_INLINE void store_floats(float *target, floats v, live_lanes live) {
    _mm512_mask_storeu_ps(target, live, v);
}

QRT_INLINE integers bits_of(floats v) {
    return _mm512_castps_si512(v);
}

QRT_INLINE floats one_nan(floats v) {
    return _mm512_mask_mov_ps(_mm512_set1_ps(__builtin_nanf("")), _mm512_cmp_ps_mask(v, v, _CMP_ORD_Q), v);
}

QRT_INLINE floats keep_nans(floats from, floats v) {
    return _mm512_mask_mov_ps(from, _mm512_cmp_ps_mask(from, from, _CMP_ORD_Q), v);
}

QRT_INLINE doubles choose_below(doubles a, doubles b, doubles below, doubles otherwise) {
    return _mm512_mask_mov_pd(otherwise, _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ), below);
}

QRT_INLINE doubles round_doubles(doubles v) {
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

QRT_INLINE doubles low_half(floats v) {
    return _mm512_cvtps_pd(_mm512_castps512_ps256(v));
}

QRT_INLINE doubles high_half(floats v) {
    return _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
}

QRT_INLINE floats join_halves(doubles low, doubles high) {
    return _mm512_insertf32x8(_mm512_castps256_ps512(_mm512_cvtpd_ps(low)), _mm512_cvtpd_ps(high), 1);
}

#include "ref/functions/exponential.h"

/* 2^(k / 32), cut off to whole exponents. */
QRT_INLINE doubles power_of_two(half_integers k) {
    const half_integers exponent = _mm256_add_epi32(_mm256_srai_epi32(k, 5), _mm256_set1_epi32(1023));
    return _mm512_castsi512_pd(_mm512_slli_epi64(_mm512_cvtepi32_epi64(exponent), 52));
}

QRT_INLINE doubles gather_powers(half_integers k) {
    return _mm512_i32gather_pd(_mm256_and_si256(k, _mm256_set1_epi32(QRT_POWERS - 1)), qrt_powers, sizeof(double));
}

#include "isa/x86/functions/dynamic.inl"
