/* Casts computed in f64, eight elements at a time: f64, and qcast from f32 where f32 alone would not do (32-bit
 * storage, scales or zero points outside the guard).
 *
 *   vdivpd                  as fast as memory delivers: 8 quotients in 16 cycles
 *   vcvtpd2ps, vcvtps2pd    f32's rounding of each step; from f64 it equals one rounding, as 53 >= 2 * 24 + 2
 *   vrndscalepd             half even and truncation whatever the control register says
 *   vcvtpd2dq, vcvtpd2udq   of integers within the bounds, so exact
 *
 * The bounds less a zero point, and a rounded value within them plus the zero point, need at most 42 bits: exact. */
#include <immintrin.h>

#include "isa/x86/cast/span.inl"
#include "isa/rows.h"

#define ALL ((__mmask8)0xff)

/* The first `left` of eight lanes. */
QRT_INLINE __mmask8 live_lanes(int64_t left) {
    return left >= 8 ? ALL : (__mmask8)((1u << left) - 1);
}

QRT_INLINE __m512d load_f64(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const double *values = (const double *)parameters->array[array] + index;
    return each ? _mm512_loadu_pd(values) : _mm512_set1_pd(*values);
}

QRT_INLINE __m512d round_integral(__m512d v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm512_roundscale_pd(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (rounding == QRT_HALF_AWAY) {
        const __m512d sign = _mm512_and_pd(v, _mm512_set1_pd(-0.0));
        v = _mm512_add_pd(v, _mm512_or_pd(sign, _mm512_set1_pd(QRT_BELOW_HALF_F64)));
    }
    return _mm512_roundscale_pd(v, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
}

QRT_INLINE __m512d clamp(__m512d v, __m512d low, __m512d high) {
    return _mm512_min_pd(_mm512_max_pd(v, low), high);
}

/* The integers of eight elements, as f64. */
QRT_INLINE __m512d quantize(const qrt_cast_args *args, const qrt_cast_parameters *parameters, __m512d x, int64_t index,
                            qrt_qcast_mode mode) {
    const __m512d zero = load_f64(parameters, QRT_ZERO_POINTS, index, mode.each);
    __m512d low = _mm512_set1_pd((double)args->storage_min), high = _mm512_set1_pd((double)args->storage_max);
    const __m512d missing = clamp(zero, low, high);
    const bool f32 = mode.expressed == QRT_F32;
    __m512d v;
    if (mode.divide)
        v = _mm512_div_pd(x, load_f64(parameters, QRT_SCALES, index, mode.each));
    else
        v = _mm512_mul_pd(x, load_f64(parameters, QRT_RECIPROCALS, index, mode.each));
    v = f32 ? _mm512_cvtps_pd(_mm512_cvtpd_ps(v)) : v;
    if (mode.before) {
        v = _mm512_add_pd(v, load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each));
        v = f32 ? _mm512_cvtps_pd(_mm512_cvtpd_ps(v)) : v;
    } else {
        low = _mm512_sub_pd(low, zero);
        high = _mm512_sub_pd(high, zero);
    }
    const __mmask8 number = _mm512_cmp_pd_mask(v, v, _CMP_ORD_Q);
    v = round_integral(clamp(v, low, high), mode.rounding);
    if (!mode.before)
        v = _mm512_add_pd(v, zero);
    return _mm512_mask_mov_pd(missing, number, v);
}

QRT_INLINE void store_integers(char *target, __mmask8 live, __m512d v, qrt_container container) {
    const __m256i q = container == QRT_U32 ? _mm512_cvtpd_epu32(v) : _mm512_cvtpd_epi32(v);
    if (container <= QRT_U8)
        _mm_mask_storeu_epi8(target, live, _mm256_cvtepi32_epi8(q));
    else if (container <= QRT_U16)
        _mm_mask_storeu_epi16(target, live, _mm256_cvtepi32_epi16(q));
    else
        _mm256_mask_storeu_epi32(target, live, q);
}

QRT_INLINE void qcast_runs(const qrt_cast_args *args, const qrt_cast_parameters *parameters, const char *source,
                           char *target, int64_t run, int64_t runs, qrt_qcast_mode mode) {
    const int source_size = mode.expressed == QRT_F32 ? 4 : 8;
    const int target_size = qrt_container_size(args->container);
    for (int64_t r = 0; r < runs; r++, source += run * source_size, target += run * target_size)
        for (int64_t i = 0; i < run; i += 8) {
            const __mmask8 live = live_lanes(run - i);
            const char *from = source + i * source_size;
            const __m512d x = mode.expressed == QRT_F32 ? _mm512_cvtps_pd(_mm256_maskz_loadu_ps(live, from))
                                                        : _mm512_maskz_loadu_pd(live, from);
            if (args->prefetch) {
                qrt_cast_fetch(from + QRT_READ_AHEAD, 8 * source_size);
                qrt_cast_own(target + i * target_size + QRT_WRITE_AHEAD, 8 * target_size);
            }
            store_integers(target + i * target_size, live, quantize(args, parameters, x, mode.each ? i : r, mode),
                           args->container);
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

void avx512_qcast_f64(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    if (args->expressed == QRT_F32)
        qrt_qcast_span_f64(args, qcast_from_f32, source, target, span);
    else if (args->expressed == QRT_F64)
        qrt_qcast_span_f64(args, qcast_from_f64, source, target, span);
    else
        avx512_parent.qcast_row(args, source, target, span);
}

/* ---- dcast to f64 ---- */

QRT_INLINE __m512d load_storage(const char *source, __mmask8 live, qrt_container container) {
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

static void dcast_to_f64(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each,
                         const char *source, char *target, int64_t run, int64_t runs) {
    const int size = qrt_container_size(args->container);
    for (int64_t r = 0; r < runs; r++, source += run * size, target += run * (int64_t)sizeof(double)) {
        const bool stream = args->stream && run >= QRT_ALIGN_COUNT;
        const int64_t head = stream ? qrt_cast_until_aligned(target, sizeof(double)) : 0;
        for (int64_t i = 0, lanes = head ? head : 8; i < run; i += lanes, lanes = 8) {
            const __mmask8 live = live_lanes(run - i < lanes ? run - i : lanes);
            const int64_t index = each ? i : r;
            const __m512d zero = load_f64(parameters, QRT_ROUNDED_ZERO_POINTS, index, each);
            const __m512d q = load_storage(source + i * size, live, args->container);
            const __m512d v = _mm512_mul_pd(_mm512_sub_pd(q, zero), load_f64(parameters, QRT_SCALES, index, each));
            double *to = (double *)target + i;
            if (args->prefetch)
                qrt_cast_fetch(source + i * size + QRT_READ_AHEAD, 8 * size);
            if (args->prefetch && !stream)
                qrt_cast_own((char *)to + QRT_WRITE_AHEAD, sizeof v);
            if (live != ALL)
                _mm512_mask_storeu_pd(to, live, v);
            else if (stream)
                _mm512_stream_pd(to, v);
            else
                _mm512_storeu_pd(to, v);
        }
    }
}

void avx512_dcast_f64(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    if (args->expressed == QRT_F64)
        qrt_dcast_span_f64(args, dcast_to_f64, source, target, span);
    else
        avx512_parent.dcast_row(args, source, target, span);
}
