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
    __m512 scale, reciprocal, before;
    __m512i after;
} parameters;

static inline __attribute__((always_inline)) parameters load_parameters(const qrt_cast_args *args, int64_t index,
                                                                        bool each) {
    bool before = args->zero_point_order == QRT_ZERO_POINT_BEFORE;
    parameters p = {.before = _mm512_setzero_ps(), .after = _mm512_setzero_si512()};
    if (each) {
        p.scale = _mm512_loadu_ps(args->scale_f32 + index);
        p.reciprocal = _mm512_loadu_ps(args->reciprocal_f32 + index);
        if (before)
            p.before = _mm512_loadu_ps(args->zero_point_f32 + index);
        else
            p.after = _mm512_loadu_si512(args->zero_point_i32 + index);
    } else {
        p.scale = _mm512_set1_ps(args->scale_f32[index]);
        p.reciprocal = _mm512_set1_ps(args->reciprocal_f32[index]);
        if (before)
            p.before = _mm512_set1_ps(args->zero_point_f32[index]);
        else
            p.after = _mm512_set1_epi32(args->zero_point_i32[index]);
    }
    return p;
}

static inline __attribute__((always_inline)) __m512i round_to_int(__m512 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    if (rounding == QRT_HALF_AWAY) {
        __m512 sign = _mm512_and_ps(v, _mm512_set1_ps(-0.0f));
        v = _mm512_add_ps(v, _mm512_or_ps(sign, _mm512_set1_ps(QRT_BELOW_HALF)));
    }
    return _mm512_cvttps_epi32(v);
}

static inline __attribute__((always_inline)) __m512i quantize(__m512 x, const parameters *p, qrt_rounding rounding,
                                                              bool divide) {
    __m512 bound = _mm512_mul_ps(p->scale, _mm512_set1_ps(QRT_QUOTIENT_BOUND));
    x = _mm512_maskz_range_ps(_mm512_cmp_ps_mask(x, x, _CMP_ORD_Q), x, bound, 2);
    __m512 v = _mm512_mul_ps(x, p->reciprocal);
    if (divide)
        v = _mm512_fmadd_ps(_mm512_fnmadd_ps(v, p->scale, x), p->reciprocal, v);
    return _mm512_add_epi32(round_to_int(_mm512_add_ps(v, p->before), rounding), p->after);
}

static inline __attribute__((always_inline)) __m512i narrow(const qrt_cast_args *args, const __m512i q[4]) {
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

static inline bool scales_in_guard(const float *scale, __mmask64 live) {
    const __m512 least = _mm512_set1_ps(QRT_SCALE_LEAST), most = _mm512_set1_ps(QRT_SCALE_MOST);
    int outside = 0;
    for (int i = 0; i < 4; i++) {
        __m512 s = _mm512_loadu_ps(scale + 16 * i);
        __mmask16 inside = _mm512_mask_cmp_ps_mask(_mm512_cmp_ps_mask(s, least, _CMP_GE_OQ), s, most, _CMP_LE_OQ);
        outside |= ~inside & (int)(live >> (16 * i) & 0xffff);
    }
    return outside == 0;
}

static inline __attribute__((always_inline)) void qcast_loop(const qrt_cast_args *args, const float *x, uint8_t *out,
                                                             int64_t count, int64_t parameter, bool each,
                                                             qrt_rounding rounding, bool divide) {
    bool stream = count >= QRT_STREAM_COUNT;
    parameters p = load_parameters(args, parameter, false);
    for (int64_t i = 0; i < count; i += BLOCK) {
        int64_t left = count - i;
        __mmask64 live = left >= BLOCK ? ~(__mmask64)0 : ~(__mmask64)0 >> (BLOCK - left);
        if (each && !scales_in_guard(args->scale_f32 + parameter + i, live)) {
            parent_qcast(args, x + i, out + i, left < BLOCK ? left : BLOCK, parameter + i, 1);
            continue;
        }
        if (stream)
            for (int line = 0; line < 4; line++)
                _mm_prefetch((const char *)(x + i) + QRT_STREAM_AHEAD + 64 * line, _MM_HINT_T0);
        __m512i q[4];
#pragma GCC unroll 4
        for (int j = 0; j < 4; j++) {
            if (each)
                p = load_parameters(args, parameter + i + 16 * j, true);
            q[j] = quantize(_mm512_maskz_loadu_ps((__mmask16)(live >> (16 * j)), x + i + 16 * j), &p, rounding, divide);
        }
        _mm512_mask_storeu_epi8(out + i, live, narrow(args, q));
    }
}

static inline __attribute__((always_inline)) void qcast_mode(const qrt_cast_args *args, const float *x, uint8_t *out,
                                                             int64_t count, int64_t parameter, bool each,
                                                             qrt_rounding rounding) {
    if (args->scale_mode == QRT_SCALE_DIVIDE)
        qcast_loop(args, x, out, count, parameter, each, rounding, true);
    else
        qcast_loop(args, x, out, count, parameter, each, rounding, false);
}

static inline __attribute__((always_inline)) void
qcast_rounding(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count, int64_t parameter, bool each) {
    switch (args->rounding) {
    case QRT_HALF_EVEN:
        qcast_mode(args, x, out, count, parameter, each, QRT_HALF_EVEN);
        break;
    case QRT_HALF_AWAY:
        qcast_mode(args, x, out, count, parameter, each, QRT_HALF_AWAY);
        break;
    case QRT_TOWARD_ZERO:
        qcast_mode(args, x, out, count, parameter, each, QRT_TOWARD_ZERO);
        break;
    }
}

static void qcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                      int64_t step) {
    if (!qrt_is_8bit_f32(args) || !args->zero_point_i32 || (!step && !qrt_scale_in_guard(args->scale_f32[parameter])))
        parent_qcast(args, source, target, count, parameter, step);
    else if (step)
        qcast_rounding(args, source, target, count, parameter, true);
    else
        qcast_rounding(args, source, target, count, parameter, false);
}

static inline __attribute__((always_inline)) void dcast_loop(const qrt_cast_args *args, const uint8_t *q, float *out,
                                                             int64_t count, int64_t parameter, bool each) {
    bool stream = count >= QRT_STREAM_COUNT, is_signed = args->container == QRT_I8;
    __m512 scale = _mm512_set1_ps(args->scale_f32[parameter]), zero = _mm512_set1_ps(args->zero_point_f32[parameter]);
    for (int64_t i = 0; i < count; i += 16) {
        __mmask16 live = (__mmask16)(count - i >= 16 ? 0xffff : (1 << (count - i)) - 1);
        if (each) {
            scale = _mm512_loadu_ps(args->scale_f32 + parameter + i);
            zero = _mm512_loadu_ps(args->zero_point_f32 + parameter + i);
        }
        if (stream && i % 64 == 0)
            _mm_prefetch((const char *)(q + i) + QRT_STREAM_AHEAD / 4, _MM_HINT_T0);
        __m128i bytes = _mm_maskz_loadu_epi8(live, q + i);
        __m512 v = _mm512_cvtepi32_ps(is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes));
        _mm512_mask_storeu_ps(out + i, live, _mm512_mul_ps(_mm512_sub_ps(v, zero), scale));
    }
}

static void dcast_row(const qrt_cast_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                      int64_t step) {
    if (!qrt_is_8bit_f32(args))
        parent_dcast(args, source, target, count, parameter, step);
    else if (step)
        dcast_loop(args, source, target, count, parameter, true);
    else
        dcast_loop(args, source, target, count, parameter, false);
}

void qrt_avx512_install_casts(qrt_kernels *table) {
    parent_qcast = table->qcast_row;
    parent_dcast = table->dcast_row;
    table->qcast_row = qcast_row;
    table->dcast_row = dcast_row;
}
