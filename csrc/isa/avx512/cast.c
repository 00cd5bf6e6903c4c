/* qcast f32 -> 8 bits and dcast 8 bits -> f32, 64 elements at a time.
 *
 *   vcmpps (ordered)        finds NaNs; the masked vrangeps turns them into 0 for free
 *   vrangeps (min-absolute) clamps |x| and keeps its sign
 *   vmulps, vfnmadd, vfmadd the correctly rounded quotient in 3 operations; vdivps zmm issues once in 10 cycles
 *   vcvtps2dq {rn-sae}      half even whatever the control register says; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                           lanes, which one vpermd undoes
 *
 * Exact because of the bounds in cast_guard.h; scales outside the guard go to the parent's row. */
#include <immintrin.h>

#include "../cast_guard.h"
#include "avx512.h"

#define BLOCK 64

static qrt_cast_row parent_qcast, parent_dcast;

typedef struct {
    __m512 scale, reciprocal, bound, zero_f32;
    __m512i zero;
} parameters;

QRT_INLINE parameters load_parameters(const qrt_cast_args *args, int64_t index, qrt_qcast_mode mode) {
    parameters p = {.zero_f32 = _mm512_setzero_ps(), .zero = _mm512_setzero_si512()};
    if (mode.each) {
        p.scale = _mm512_loadu_ps(args->scale_f32 + index);
        p.reciprocal = _mm512_loadu_ps(args->reciprocal_f32 + index);
        if (mode.before)
            p.zero_f32 = _mm512_loadu_ps(args->zero_point_f32 + index);
        else
            p.zero = _mm512_loadu_si512(args->zero_point_i32 + index);
    } else {
        p.scale = _mm512_set1_ps(args->scale_f32[index]);
        p.reciprocal = _mm512_set1_ps(args->reciprocal_f32[index]);
        if (mode.before)
            p.zero_f32 = _mm512_set1_ps(args->zero_point_f32[index]);
        else
            p.zero = _mm512_set1_epi32(args->zero_point_i32[index]);
    }
    p.bound = _mm512_mul_ps(p.scale, _mm512_set1_ps(QRT_QUOTIENT_BOUND));
    return p;
}

QRT_INLINE __m512i round_to_int(__m512 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (rounding == QRT_HALF_AWAY) {
        __m512 sign = _mm512_and_ps(v, _mm512_set1_ps(-0.0f));
        v = _mm512_add_ps(v, _mm512_or_ps(sign, _mm512_set1_ps(QRT_BELOW_HALF)));
    }
    return _mm512_cvttps_epi32(v);
}

QRT_INLINE __m512i quantize(__m512 x, const parameters *p, qrt_qcast_mode mode) {
    x = _mm512_maskz_range_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, p->bound, 2);
    __m512 v = _mm512_mul_ps(x, p->reciprocal);
    if (mode.divide)
        v = _mm512_fmadd_ps(_mm512_fnmadd_ps(v, p->scale, x), p->reciprocal, v);
    if (mode.before)
        return round_to_int(_mm512_add_ps(v, p->zero_f32), mode.rounding);
    return _mm512_add_epi32(round_to_int(v, mode.rounding), p->zero);
}

QRT_INLINE __m512i narrow(const qrt_cast_args *args, const __m512i q[4]) {
    __m512i low = _mm512_packs_epi32(q[0], q[1]), high = _mm512_packs_epi32(q[2], q[3]);
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    if (args->container == QRT_I8) {
        __m512i bytes = _mm512_packs_epi16(low, high);
        bytes = _mm512_max_epi8(bytes, _mm512_set1_epi8((char)args->storage_min));
        bytes = _mm512_min_epi8(bytes, _mm512_set1_epi8((char)args->storage_max));
        return _mm512_permutexvar_epi32(order, bytes);
    }
    __m512i bytes = _mm512_packus_epi16(low, high);
    bytes = _mm512_max_epu8(bytes, _mm512_set1_epi8((char)args->storage_min));
    bytes = _mm512_min_epu8(bytes, _mm512_set1_epi8((char)args->storage_max));
    return _mm512_permutexvar_epi32(order, bytes);
}

/* The first `left` of 64 elements, or all of them. */
QRT_INLINE void qcast_block(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t left, int64_t parameter,
                            const parameters *shared, qrt_qcast_mode mode) {
    const __mmask64 live = left >= BLOCK ? ~(__mmask64)0 : ~(__mmask64)0 >> (BLOCK - left);
    __m512i q[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const parameters p = mode.each ? load_parameters(args, parameter + 16 * j, mode) : *shared;
        const __m512 values = left >= BLOCK ? _mm512_loadu_ps(x + 16 * j)
                                            : _mm512_maskz_loadu_ps((__mmask16)(live >> (16 * j)), x + 16 * j);
        q[j] = quantize(values, &p, mode);
    }
    if (left >= BLOCK)
        _mm512_storeu_si512(out, narrow(args, q));
    else
        _mm512_mask_storeu_epi8(out, live, narrow(args, q));
}

QRT_INLINE void qcast_loop(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count, int64_t parameter,
                           qrt_qcast_mode mode) {
    const bool stream = count >= QRT_STREAM_COUNT;
    const qrt_qcast_mode one = {mode.rounding, mode.divide, mode.before, false};
    const parameters shared = load_parameters(args, parameter, one);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        if (stream)
            for (int line = 0; line < 4; line++)
                _mm_prefetch((const char *)(x + i) + QRT_STREAM_AHEAD + 64 * line, _MM_HINT_T0);
        qcast_block(args, x + i, out + i, BLOCK, parameter + i, &shared, mode);
    }
    if (i < count)
        qcast_block(args, x + i, out + i, count - i, parameter + i, &shared, mode);
}

/* Each step of the ladder makes one field of the mode a constant. */
QRT_INLINE void qcast_scale(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count, int64_t parameter,
                            qrt_qcast_mode mode) {
    if (args->scale_mode == QRT_SCALE_DIVIDE) {
        mode.divide = true;
        qcast_loop(args, x, out, count, parameter, mode);
    } else {
        mode.divide = false;
        qcast_loop(args, x, out, count, parameter, mode);
    }
}

QRT_INLINE void qcast_order(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count, int64_t parameter,
                            qrt_qcast_mode mode) {
    if (args->zero_point_order == QRT_ZERO_POINT_BEFORE) {
        mode.before = true;
        qcast_scale(args, x, out, count, parameter, mode);
    } else {
        mode.before = false;
        qcast_scale(args, x, out, count, parameter, mode);
    }
}

QRT_INLINE void qcast_rounding(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count,
                               int64_t parameter, qrt_qcast_mode mode) {
    switch (args->rounding) {
    case QRT_HALF_EVEN:
        mode.rounding = QRT_HALF_EVEN;
        qcast_order(args, x, out, count, parameter, mode);
        break;
    case QRT_HALF_AWAY:
        mode.rounding = QRT_HALF_AWAY;
        qcast_order(args, x, out, count, parameter, mode);
        break;
    case QRT_TOWARD_ZERO:
        mode.rounding = QRT_TOWARD_ZERO;
        qcast_order(args, x, out, count, parameter, mode);
        break;
    }
}

static void qcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                      int64_t step) {
    if (!qrt_qcast_in_guard(args))
        parent_qcast(args, source, target, count, parameter, step);
    else if (step)
        qcast_rounding(args, source, target, count, parameter, (qrt_qcast_mode){.each = true});
    else
        qcast_rounding(args, source, target, count, parameter, (qrt_qcast_mode){.each = false});
}

/* f(q) - f(zp) in float is what the rule says: the zero point is rounded once, then the difference. */
QRT_INLINE __m512 dequantize(__m128i bytes, bool is_signed, __m512 zero, __m512 scale) {
    const __m512i values = is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
    return _mm512_mul_ps(_mm512_sub_ps(_mm512_cvtepi32_ps(values), zero), scale);
}

QRT_INLINE void dcast_loop(const qrt_cast_args *args, const uint8_t *q, float *out, int64_t count, int64_t parameter,
                           bool is_signed, bool each) {
    const bool stream = count >= QRT_STREAM_COUNT;
    __m512 scale = _mm512_set1_ps(args->scale_f32[parameter]), zero = _mm512_set1_ps(args->zero_point_f32[parameter]);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        if (stream)
            _mm_prefetch((const char *)(q + i) + QRT_STREAM_AHEAD / 4, _MM_HINT_T0);
#pragma GCC unroll 4
        for (int64_t j = i; j < i + BLOCK; j += 16) {
            if (each) {
                scale = _mm512_loadu_ps(args->scale_f32 + parameter + j);
                zero = _mm512_loadu_ps(args->zero_point_f32 + parameter + j);
            }
            const __m128i bytes = _mm_loadu_si128((const __m128i *)(q + j));
            _mm512_storeu_ps(out + j, dequantize(bytes, is_signed, zero, scale));
        }
    }
    for (; i < count; i += 16) {
        const __mmask16 live = (__mmask16)(count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
        if (each) {
            scale = _mm512_loadu_ps(args->scale_f32 + parameter + i);
            zero = _mm512_loadu_ps(args->zero_point_f32 + parameter + i);
        }
        const __m128i bytes = _mm_maskz_loadu_epi8(live, q + i);
        _mm512_mask_storeu_ps(out + i, live, dequantize(bytes, is_signed, zero, scale));
    }
}

QRT_INLINE void dcast_sign(const qrt_cast_args *args, const uint8_t *q, float *out, int64_t count, int64_t parameter,
                           int64_t step, bool is_signed) {
    if (step)
        dcast_loop(args, q, out, count, parameter, is_signed, true);
    else
        dcast_loop(args, q, out, count, parameter, is_signed, false);
}

static void dcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                      int64_t step) {
    if (!qrt_is_8bit_f32(args))
        parent_dcast(args, source, target, count, parameter, step);
    else if (args->container == QRT_I8)
        dcast_sign(args, source, target, count, parameter, step, true);
    else
        dcast_sign(args, source, target, count, parameter, step, false);
}

void qrt_avx512_install_casts(qrt_kernels *table) {
    parent_qcast = table->qcast_row;
    parent_dcast = table->dcast_row;
    table->qcast_row = qcast_row;
    table->dcast_row = dcast_row;
}
