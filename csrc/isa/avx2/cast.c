/* qcast f32 -> 8 bits and dcast 8 bits -> f32, 32 elements at a time.
 *
 *   vcmpps (ordered), vandps  turn NaNs into 0
 *   vminps, vmaxps            clamp x
 *   vmulps, vfnmadd, vfmadd   the correctly rounded quotient in 3 operations; vdivps ymm issues once in 5 cycles
 *   vcvtps2dq                 half even: the entry has set the control register; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb   narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                             lanes, which one vpermd undoes
 *
 * Exact because of the bounds in cast_guard.h; scales outside the guard go to the parent's row. A tail is one more
 * block, computed in a buffer. */
#include <immintrin.h>
#include <string.h>

#include "../cast_guard.h"
#include "avx2.h"

#define BLOCK 32

static qrt_cast_row parent_qcast, parent_dcast;

typedef struct {
    __m256 scale, reciprocal, bound, zero_f32;
    __m256i zero;
} parameters;

QRT_INLINE parameters load_parameters(const qrt_cast_args *args, int64_t index, qrt_qcast_mode mode) {
    parameters p = {.zero_f32 = _mm256_setzero_ps(), .zero = _mm256_setzero_si256()};
    if (mode.each) {
        p.scale = _mm256_loadu_ps(args->scale_f32 + index);
        p.reciprocal = _mm256_loadu_ps(args->reciprocal_f32 + index);
        if (mode.before)
            p.zero_f32 = _mm256_loadu_ps(args->zero_point_f32 + index);
        else
            p.zero = _mm256_loadu_si256((const __m256i *)(args->zero_point_i32 + index));
    } else {
        p.scale = _mm256_set1_ps(args->scale_f32[index]);
        p.reciprocal = _mm256_set1_ps(args->reciprocal_f32[index]);
        if (mode.before)
            p.zero_f32 = _mm256_set1_ps(args->zero_point_f32[index]);
        else
            p.zero = _mm256_set1_epi32(args->zero_point_i32[index]);
    }
    p.bound = _mm256_mul_ps(p.scale, _mm256_set1_ps(QRT_QUOTIENT_BOUND));
    return p;
}

QRT_INLINE __m256i round_to_int(__m256 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm256_cvtps_epi32(v);
    if (rounding == QRT_HALF_AWAY) {
        __m256 sign = _mm256_and_ps(v, _mm256_set1_ps(-0.0f));
        v = _mm256_add_ps(v, _mm256_or_ps(sign, _mm256_set1_ps(QRT_BELOW_HALF)));
    }
    return _mm256_cvttps_epi32(v);
}

QRT_INLINE __m256i quantize(__m256 x, const parameters *p, qrt_qcast_mode mode) {
    x = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
    x = _mm256_max_ps(_mm256_min_ps(x, p->bound), _mm256_xor_ps(p->bound, _mm256_set1_ps(-0.0f)));
    __m256 v = _mm256_mul_ps(x, p->reciprocal);
    if (mode.divide)
        v = _mm256_fmadd_ps(_mm256_fnmadd_ps(v, p->scale, x), p->reciprocal, v);
    if (mode.before)
        return round_to_int(_mm256_add_ps(v, p->zero_f32), mode.rounding);
    return _mm256_add_epi32(round_to_int(v, mode.rounding), p->zero);
}

QRT_INLINE __m256i narrow(const qrt_cast_args *args, const __m256i q[4]) {
    __m256i low = _mm256_packs_epi32(q[0], q[1]), high = _mm256_packs_epi32(q[2], q[3]), bytes;
    const __m256i least = _mm256_set1_epi8((char)args->storage_min), most = _mm256_set1_epi8((char)args->storage_max);
    if (args->container == QRT_I8)
        bytes = _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(low, high), least), most);
    else
        bytes = _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(low, high), least), most);
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

QRT_INLINE __m256i qcast_block(const qrt_cast_args *args, const float *x, int64_t parameter, const parameters *shared,
                               qrt_qcast_mode mode) {
    __m256i q[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const parameters p = mode.each ? load_parameters(args, parameter + 8 * j, mode) : *shared;
        q[j] = quantize(_mm256_loadu_ps(x + 8 * j), &p, mode);
    }
    return narrow(args, q);
}

QRT_INLINE void qcast_loop(const qrt_cast_args *args, const float *x, uint8_t *out, int64_t count, int64_t parameter,
                           qrt_qcast_mode mode) {
    const bool stream = count >= QRT_STREAM_COUNT;
    const qrt_qcast_mode one = {mode.rounding, mode.divide, mode.before, false};
    const parameters shared = load_parameters(args, parameter, one);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        if (stream)
            for (int line = 0; line < 2; line++)
                _mm_prefetch((const char *)(x + i) + QRT_STREAM_AHEAD + 64 * line, _MM_HINT_T0);
        _mm256_storeu_si256((__m256i *)(out + i), qcast_block(args, x + i, parameter + i, &shared, mode));
    }
    if (i < count) {
        float values[BLOCK] = {0};
        uint8_t bytes[BLOCK];
        memcpy(values, x + i, (size_t)(count - i) * sizeof *x);
        _mm256_storeu_si256((__m256i *)bytes, qcast_block(args, values, parameter + i, &shared, mode));
        memcpy(out + i, bytes, (size_t)(count - i));
    }
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
QRT_INLINE void dcast_loop(const qrt_cast_args *args, const uint8_t *q, float *out, int64_t count, int64_t parameter,
                           bool is_signed, bool each) {
    const bool stream = count >= QRT_STREAM_COUNT;
    __m256 scale = _mm256_set1_ps(args->scale_f32[parameter]), zero = _mm256_set1_ps(args->zero_point_f32[parameter]);
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK) {
        if (stream)
            _mm_prefetch((const char *)(q + i) + QRT_STREAM_AHEAD / 4, _MM_HINT_T0);
#pragma GCC unroll 4
        for (int64_t j = i; j < i + BLOCK; j += 8) {
            if (each) {
                scale = _mm256_loadu_ps(args->scale_f32 + parameter + j);
                zero = _mm256_loadu_ps(args->zero_point_f32 + parameter + j);
            }
            const __m128i bytes = _mm_loadl_epi64((const __m128i *)(q + j));
            const __m256i values = is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
            _mm256_storeu_ps(out + j, _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(values), zero), scale));
        }
    }
    if (i < count)
        parent_dcast(args, q + i, out + i, count - i, parameter + (each ? i : 0), each);
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

void qrt_avx2_install_casts(qrt_kernels *table) {
    parent_qcast = table->qcast_row;
    parent_dcast = table->dcast_row;
    table->qcast_row = qcast_row;
    table->dcast_row = dcast_row;
}
