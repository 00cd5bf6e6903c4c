/* Casts computed in f64, eight elements at a time.
 *
 *   vdivpd                  the limit of qcast: 8 quotients in 16 cycles, and memory delivers no more
 *   vcvtpd2ps, vcvtps2pd    f32's rounding of each step; from f64 it equals one rounding, as 53 >= 2 * 24 + 2
 *   vrndscalepd             half even and truncation whatever the control register says; two uops on ports 0 and 5
 *   vcvtpd2dq, vcvtpd2udq   convert integers within the bounds, so exactly
 *
 * The other uops of eight elements, some 25, fit beside the divider on ports 0 and 5. Exact: see f64.inl. Hazard:
 * memory may end behind the last elements, so loads and stores of fewer than eight are masked. */
#include "isa/rows.h"
#include "isa/x86/cast/parameters.inl"
#include "vectors.h"

#define DOUBLES 8
#define ALL_DOUBLES ((__mmask8)0xff)
#define STREAMS true
#define round_pd _mm512_roundscale_pd

typedef __m512d doubles;
typedef __mmask8 numbers, live_doubles;

QRT_INLINE live_doubles first_doubles(int64_t count) {
    return count >= DOUBLES ? ALL_DOUBLES : (live_doubles)((1u << count) - 1);
}

QRT_INLINE numbers numbers_of(__m512d v) {
    return _mm512_cmp_pd_mask(v, v, _CMP_ORD_Q);
}

QRT_INLINE __m512d where(numbers number, __m512d v, __m512d otherwise) {
    return _mm512_mask_mov_pd(otherwise, number, v);
}

QRT_INLINE __m512d load_values(const char *source, live_doubles live, qrt_expressed expressed) {
    return expressed == QRT_F32 ? _mm512_cvtps_pd(_mm256_maskz_loadu_ps(live, source))
                                : _mm512_maskz_loadu_pd(live, source);
}

QRT_INLINE void store_values(double *target, __m512d v, live_doubles live, bool stream) {
    if (live != ALL_DOUBLES)
        _mm512_mask_storeu_pd(target, live, v);
    else if (stream)
        _mm512_stream_pd(target, v);
    else
        _mm512_storeu_pd(target, v);
}

QRT_INLINE __m512d load_storage(const char *source, live_doubles live, qrt_container container) {
    switch (container) {
    case QRT_I8:
        return _mm512_cvtepi32_pd(_mm256_cvtepi8_epi32(_mm_maskz_loadu_epi8(live, source)));
    case QRT_U8:
        return _mm512_cvtepi32_pd(_mm256_cvtepu8_epi32(_mm_maskz_loadu_epi8(live, source)));
    case QRT_I16:
        return _mm512_cvtepi32_pd(_mm256_cvtepi16_epi32(_mm_maskz_loadu_epi16(live, source)));
    case QRT_U16:
        return _mm512_cvtepi32_pd(_mm256_cvtepu16_epi32(_mm_maskz_loadu_epi16(live, source)));
    case QRT_I32:
        return _mm512_cvtepi32_pd(_mm256_maskz_loadu_epi32(live, source));
    case QRT_U32:
        return _mm512_cvtepu32_pd(_mm256_maskz_loadu_epi32(live, source));
    }
    return _mm512_setzero_pd();
}

QRT_INLINE void store_storage(char *target, __m512d v, live_doubles live, qrt_container container) {
    const __m256i q = container == QRT_U32 ? _mm512_cvtpd_epu32(v) : _mm512_cvtpd_epi32(v);
    if (container <= QRT_U8)
        _mm_mask_storeu_epi8(target, live, _mm256_cvtepi32_epi8(q));
    else if (container <= QRT_U16)
        _mm_mask_storeu_epi16(target, live, _mm256_cvtepi32_epi16(q));
    else
        _mm256_mask_storeu_epi32(target, live, q);
}

#include "isa/x86/cast/f64.inl"
