/* The exponential of float32, four float64 at a time: ref/functions/exponential.c in vectors, operation by operation in
 * the same order and format, so with the same bits. A vector of four takes a vgatherdpd and about 20 operations.
 * Hazard: minimum and maximum return their second operand where one is a NaN. */
#include <immintrin.h>

#include "isa/rows.h"
#include "ref/functions/exponential.h"

typedef __m256d doubles;

QRT_INLINE doubles constant(double value) {
    return _mm256_set1_pd(value);
}

QRT_INLINE doubles product(doubles a, doubles b) {
    return _mm256_mul_pd(a, b);
}

QRT_INLINE doubles sum(doubles a, doubles b) {
    return _mm256_add_pd(a, b);
}

QRT_INLINE doubles power_of(__m128i k) {
    const __m128i exponent = _mm_add_epi32(_mm_srai_epi32(k, 5), _mm_set1_epi32(1023));
    const doubles power = _mm256_castsi256_pd(_mm256_slli_epi64(_mm256_cvtepi32_epi64(exponent), 52));
    const __m128i part = _mm_and_si128(k, _mm_set1_epi32(QRT_POWERS - 1));
    return product(power, _mm256_i32gather_pd(qrt_powers, part, sizeof(double)));
}

/* A NaN becomes some number here. */
QRT_INLINE doubles wide_exponential(__m128 narrow) {
    const doubles x =
        _mm256_min_pd(_mm256_max_pd(_mm256_cvtps_pd(narrow), constant(-QRT_FARTHEST)), constant(QRT_FARTHEST));
    const doubles k = _mm256_round_pd(product(x, constant(QRT_INVERSE_LOG)), _MM_FROUND_TO_NEAREST_INT);
    const doubles near = _mm256_sub_pd(x, product(k, constant(QRT_LOG_HIGH)));
    const doubles r = _mm256_sub_pd(near, product(k, constant(QRT_LOG_LOW))), square = product(r, r);
    const doubles high = sum(product(constant(1.0 / 720), r), constant(1.0 / 120));
    const doubles low = sum(product(constant(1.0 / 24), r), constant(1.0 / 6));
    const doubles far = sum(product(high, square), low), power = power_of(_mm256_cvtpd_epi32(k));
    const doubles rest = sum(sum(product(far, product(square, r)), product(square, constant(0.5))), r);
    return sum(product(rest, power), power);
}

void avx2_float_exponential(const float *x, float *target, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i += 4) {
        const __m128 v = _mm_loadu_ps(x + i), made = _mm256_cvtpd_ps(wide_exponential(v));
        _mm_storeu_ps(target + i, _mm_blendv_ps(made, v, _mm_cmpunord_ps(v, v)));
    }
}
