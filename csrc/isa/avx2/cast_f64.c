/* Casts computed in f64, four elements at a time: f64, and qcast from f32 where f32 alone would not do (32-bit storage,
 * scales or zero points outside the guard).
 *
 *   vdivpd                  as fast as memory delivers: 4 quotients in 8 cycles
 *   vcvtpd2ps, vcvtps2pd    f32's rounding of each step; from f64 it equals one rounding, as 53 >= 2 * 24 + 2
 *   vroundpd                half even and truncation whatever the control register says
 *   vcvtpd2dq               of integers within the bounds, so exact; unsigned ones are moved by 2^31 to fit
 *
 * The bounds less a zero point, and a rounded value within them plus the zero point, need at most 42 bits: exact. */
#include <immintrin.h>

#include "isa/x86/cast/span.inl"
#include "isa/rows.h"

#define LANES 4

QRT_INLINE __m256d load_f64(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const double *values = (const double *)parameters->array[array] + index;
    return each ? _mm256_loadu_pd(values) : _mm256_set1_pd(*values);
}

/* Elements of 1, 2 or 4 bytes; the sizes of four are constants, which become one move. */
QRT_INLINE void move(void *to, const void *from, int64_t live, int size) {
    if (live < LANES)
        memcpy(to, from, (size_t)(live * size));
    else if (size == 1)
        memcpy(to, from, LANES);
    else if (size == 2)
        memcpy(to, from, 2 * LANES);
    else
        memcpy(to, from, 4 * LANES);
}

QRT_INLINE __m256d round_integral(__m256d v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm256_round_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (rounding == QRT_HALF_AWAY) {
        const __m256d sign = _mm256_and_pd(v, _mm256_set1_pd(-0.0));
        v = _mm256_add_pd(v, _mm256_or_pd(sign, _mm256_set1_pd(QRT_BELOW_HALF_F64)));
    }
    return _mm256_round_pd(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

QRT_INLINE __m256d clamp(__m256d v, __m256d low, __m256d high) {
    return _mm256_min_pd(_mm256_max_pd(v, low), high);
}

/* The integers of four elements, as f64. */
QRT_INLINE __m256d quantize(const qrt_cast_args *args, const qrt_cast_parameters *parameters, __m256d x, int64_t index,
                            qrt_qcast_mode mode) {
    const __m256d zero = load_f64(parameters, QRT_ZERO_POINTS, index, mode.each);
    __m256d low = _mm256_set1_pd((double)args->storage_min), high = _mm256_set1_pd((double)args->storage_max);
    const __m256d missing = clamp(zero, low, high);
    const bool f32 = mode.expressed == QRT_F32;
    __m256d v;
    if (mode.divide)
        v = _mm256_div_pd(x, load_f64(parameters, QRT_SCALES, index, mode.each));
    else
        v = _mm256_mul_pd(x, load_f64(parameters, QRT_RECIPROCALS, index, mode.each));
    v = f32 ? _mm256_cvtps_pd(_mm256_cvtpd_ps(v)) : v;
    if (mode.before) {
        v = _mm256_add_pd(v, load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each));
        v = f32 ? _mm256_cvtps_pd(_mm256_cvtpd_ps(v)) : v;
    } else {
        low = _mm256_sub_pd(low, zero);
        high = _mm256_sub_pd(high, zero);
    }
    const __m256d number = _mm256_cmp_pd(v, v, _CMP_ORD_Q);
    v = round_integral(clamp(v, low, high), mode.rounding);
    if (!mode.before)
        v = _mm256_add_pd(v, zero);
    return _mm256_blendv_pd(missing, v, number);
}

/* Sixteen bytes, of which the first four integers of the container are the results. */
QRT_INLINE __m128i to_integers(__m256d v, qrt_container container) {
    if (container == QRT_U32) {
        const __m128i q = _mm256_cvtpd_epi32(_mm256_sub_pd(v, _mm256_set1_pd(0x1p31)));
        return _mm_xor_si128(q, _mm_set1_epi32(INT32_MIN));
    }
    const __m128i q = _mm256_cvtpd_epi32(v);
    if (container <= QRT_U8)
        return _mm_shuffle_epi8(q, _mm_set1_epi32(0x0c080400));
    if (container <= QRT_U16)
        return _mm_shuffle_epi8(q, _mm_set1_epi64x(0x0d0c090805040100));
    return q;
}

QRT_INLINE void qcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                           char *target, int64_t run, int64_t runs, qrt_qcast_mode mode) {
    const int source_size = mode.expressed == QRT_F32 ? 4 : 8, size = qrt_container_size(args->container);
    for (int64_t r = 0; r < runs; r++, source += run * source_size, target += run * size)
        for (int64_t i = 0; i < run; i += LANES) {
            const int64_t live = run - i < LANES ? run - i : LANES;
            const char *from = source + i * source_size;
            char buffer[32] = {0};
            if (live < LANES)
                from = memcpy(buffer, from, (size_t)(live * source_size));
            else if (args->prefetch) {
                qrt_cast_fetch(from + QRT_READ_AHEAD, LANES * source_size);
                qrt_cast_own(target + i * size + QRT_WRITE_AHEAD, LANES * size);
            }
            const __m256d x = mode.expressed == QRT_F32 ? _mm256_cvtps_pd(_mm_loadu_ps((const float *)from))
                                                        : _mm256_loadu_pd((const double *)from);
            const __m256d v = quantize(args, parameters, x, mode.each ? i : r, mode);
            const __m128i q = to_integers(v, args->container);
            move(target + i * size, &q, live, size);
        }
}

static void qcast_from_f32(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs) {
    qrt_qcast_mode mode = qrt_qcast_mode_of(args, QRT_F32);
    mode.each = each;
    qcast_runs(args, parameters, source, target, run, runs, mode);
}

static void qcast_from_f64(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                           const char *source, char *target, int64_t run, int64_t runs) {
    qrt_qcast_mode mode = qrt_qcast_mode_of(args, QRT_F64);
    mode.each = each;
    qcast_runs(args, parameters, source, target, run, runs, mode);
}

void avx2_qcast_f64(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    if (args->expressed == QRT_F32)
        qrt_qcast_span_f64(args, qcast_from_f32, source, target, span);
    else if (args->expressed == QRT_F64)
        qrt_qcast_span_f64(args, qcast_from_f64, source, target, span);
    else
        avx2_parent.qcast_row(args, source, target, span);
}

/* ---- dcast to f64 ---- */

QRT_INLINE __m256d load_storage(const char *source, int64_t live, qrt_container container) {
    __m128i q = _mm_setzero_si128();
    move(&q, source, live, qrt_container_size(container));
    switch (container) {
    case QRT_I8:
        return _mm256_cvtepi32_pd(_mm_cvtepi8_epi32(q));
    case QRT_U8:
        return _mm256_cvtepi32_pd(_mm_cvtepu8_epi32(q));
    case QRT_I16:
        return _mm256_cvtepi32_pd(_mm_cvtepi16_epi32(q));
    case QRT_U16:
        return _mm256_cvtepi32_pd(_mm_cvtepu16_epi32(q));
    case QRT_I32:
        return _mm256_cvtepi32_pd(q);
    case QRT_U32:
        q = _mm_xor_si128(q, _mm_set1_epi32(INT32_MIN));
        return _mm256_add_pd(_mm256_cvtepi32_pd(q), _mm256_set1_pd(0x1p31));
    }
    return _mm256_setzero_pd();
}

static void dcast_to_f64(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                         const char *source, char *target, int64_t run, int64_t runs) {
    const int size = qrt_container_size(args->container);
    for (int64_t r = 0; r < runs; r++, source += run * size, target += run * (int64_t)sizeof(double)) {
        for (int64_t i = 0; i < run; i += LANES) {
            const int64_t live = run - i < LANES ? run - i : LANES;
            const int64_t index = each ? i : r;
            const __m256d zero = load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, each);
            const __m256d q = load_storage(source + i * size, live, args->container);
            const __m256d v = _mm256_mul_pd(_mm256_sub_pd(q, zero), load_f64(parameters, QRT_SCALES, index, each));
            double *to = (double *)target + i;
            if (live < LANES)
                memcpy(to, &v, (size_t)live * sizeof(double));
            else {
                if (args->prefetch) {
                    qrt_cast_fetch(source + i * size + QRT_READ_AHEAD, LANES * size);
                    qrt_cast_own((char *)to + QRT_WRITE_AHEAD, sizeof v);
                }
                _mm256_storeu_pd(to, v);
            }
        }
    }
}

void avx2_dcast_f64(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    if (args->expressed == QRT_F64)
        qrt_dcast_span_f64(args, dcast_to_f64, source, target, span);
    else
        avx2_parent.dcast_row(args, source, target, span);
}
