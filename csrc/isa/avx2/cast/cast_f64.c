/* Casts computed in f64, four elements at a time.
 *
 *   vdivpd                  the limit of qcast: 4 quotients in 8 cycles, and memory delivers no more
 *   vcvtpd2ps, vcvtps2pd    f32's rounding of each step; from f64 it equals one rounding, as 53 >= 2 * 24 + 2
 *   vroundpd                half even and truncation whatever the control register says; two uops on ports 0 and 1
 *   vcvtpd2dq               converts integers within the bounds, so exactly; unsigned ones are moved by 2^31 to fit
 *
 * The other uops of four elements fit beside the divider. Exact: see f64.inl. Hazard: fewer than four elements are
 * loaded and stored through a buffer, because memory may end behind them. */
#include "isa/rows.h"
#include "isa/x86/cast/parameters.inl"
#include "isa/avx2/vectors.h"

#define DOUBLES 4
#define STREAMS false
#define round_pd _mm256_round_pd

typedef __m256d doubles, numbers;
typedef int64_t live_doubles;

QRT_INLINE live_doubles first_doubles(int64_t count) {
    return count < DOUBLES ? count : DOUBLES;
}

QRT_INLINE numbers numbers_of(__m256d v) {
    return _mm256_cmp_pd(v, v, _CMP_ORD_Q);
}

QRT_INLINE __m256d where(numbers number, __m256d v, __m256d otherwise) {
    return _mm256_blendv_pd(otherwise, v, number);
}

/* Copies elements of 1, 2 or 4 bytes. Four of them have a constant size, which becomes one move. */
QRT_INLINE void move(void *to, const void *from, live_doubles live, int size) {
    if (live < DOUBLES)
        memcpy(to, from, (size_t)(live * size));
    else if (size == 1)
        memcpy(to, from, DOUBLES);
    else if (size == 2)
        memcpy(to, from, 2 * DOUBLES);
    else
        memcpy(to, from, 4 * DOUBLES);
}

QRT_INLINE __m256d load_values(const char *source, live_doubles live, qrt_expressed expressed) {
    char buffer[sizeof(__m256d)] = {0};
    if (live < DOUBLES)
        source = memcpy(buffer, source, (size_t)(live * qrt_expressed_size(expressed)));
    return expressed == QRT_F32 ? _mm256_cvtps_pd(_mm_loadu_ps((const float *)source))
                                : _mm256_loadu_pd((const double *)source);
}

QRT_INLINE void store_values(double *target, __m256d v, live_doubles live, bool stream) {
    (void)stream;
    if (live < DOUBLES)
        memcpy(target, &v, (size_t)live * sizeof(double));
    else
        _mm256_storeu_pd(target, v);
}

QRT_INLINE __m256d load_storage(const char *source, live_doubles live, qrt_container container) {
    __m128i q = _mm_setzero_si128();
    move(&q, source, live, qrt_container_size(container));
    if (container == QRT_U32)
        return _mm256_add_pd(_mm256_cvtepi32_pd(_mm_xor_si128(q, _mm_set1_epi32(INT32_MIN))), _mm256_set1_pd(0x1p31));
    return _mm256_cvtepi32_pd(container == QRT_I8    ? _mm_cvtepi8_epi32(q)
                              : container == QRT_U8  ? _mm_cvtepu8_epi32(q)
                              : container == QRT_I16 ? _mm_cvtepi16_epi32(q)
                              : container == QRT_U16 ? _mm_cvtepu16_epi32(q)
                                                     : q);
}

QRT_INLINE void store_storage(char *target, __m256d v, live_doubles live, qrt_container container) {
    __m128i q;
    if (container == QRT_U32)
        q = _mm_xor_si128(_mm256_cvtpd_epi32(_mm256_sub_pd(v, _mm256_set1_pd(0x1p31))), _mm_set1_epi32(INT32_MIN));
    else
        q = _mm256_cvtpd_epi32(v);
    if (container <= QRT_U8)
        q = _mm_shuffle_epi8(q, _mm_set1_epi32(0x0c080400));
    else if (container <= QRT_U16)
        q = _mm_shuffle_epi8(q, _mm_set1_epi64x(0x0d0c090805040100));
    move(target, &q, live, qrt_container_size(container));
}

#include "isa/x86/cast/f64.inl"
