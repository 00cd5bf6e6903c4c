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
    __m256 scale, reciprocal, before;
    __m256i after;
} parameters;

static inline __attribute__((always_inline)) parameters load_parameters(const qrt_cast_args *args, int64_t index,
                                                                        bool each) {
    bool before = args->zero_point_order == QRT_ZERO_POINT_BEFORE;
    parameters p = {.before = _mm256_setzero_ps(), .after = _mm256_setzero_si256()};
    if (each) {
        p.scale = _mm256_loadu_ps(args->scale_f32 + index);
        p.reciprocal = _mm256_loadu_ps(args->reciprocal_f32 + index);
        if (before)
            p.before = _mm256_loadu_ps(args->zero_point_f32 + index);
        else
            p.after = _mm256_loadu_si256((const __m256i *)(args->zero_point_i32 + index));
    } else {
        p.scale = _mm256_set1_ps(args->scale_f32[index]);
        p.reciprocal = _mm256_set1_ps(args->reciprocal_f32[index]);
        if (before)
            p.before = _mm256_set1_ps(args->zero_point_f32[index]);
        else
            p.after = _mm256_set1_epi32(args->zero_point_i32[index]);
    }
    return p;
}

static inline __attribute__((always_inline)) __m256i round_to_int(__m256 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm256_cvtps_epi32(v);
    if (rounding == QRT_HALF_AWAY) {
        __m256 sign = _mm256_and_ps(v, _mm256_set1_ps(-0.0f));
        v = _mm256_add_ps(v, _mm256_or_ps(sign, _mm256_set1_ps(QRT_BELOW_HALF)));
    }
    return _mm256_cvttps_epi32(v);
}

static inline __attribute__((always_inline)) __m256i quantize(__m256 x, const parameters *p, qrt_rounding rounding,
                                                              bool divide) {
    __m256 bound = _mm256_mul_ps(p->scale, _mm256_set1_ps(QRT_QUOTIENT_BOUND));
    x = _mm256_and_ps(x, _mm256_cmp_ps(x, x, _CMP_ORD_Q));
    x = _mm256_max_ps(_mm256_min_ps(x, bound), _mm256_xor_ps(bound, _mm256_set1_ps(-0.0f)));
    __m256 v = _mm256_mul_ps(x, p->reciprocal);
    if (divide)
        v = _mm256_fmadd_ps(_mm256_fnmadd_ps(v, p->scale, x), p->reciprocal, v);
    return _mm256_add_epi32(round_to_int(_mm256_add_ps(v, p->before), rounding), p->after);
}

static inline __attribute__((always_inline)) __m256i narrow(const qrt_cast_args *args, const __m256i q[4]) {
    __m256i low = _mm256_packs_epi32(q[0], q[1]), high = _mm256_packs_epi32(q[2], q[3]), bytes;
    const __m256i least = _mm256_set1_epi8((char)args->storage_min), most = _mm256_set1_epi8((char)args->storage_max);
    if (args->container == QRT_I8)
        bytes = _mm256_min_epi8(_mm256_max_epi8(_mm256_packs_epi16(low, high), least), most);
    else
        bytes = _mm256_min_epu8(_mm256_max_epu8(_mm256_packus_epi16(low, high), least), most);
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

static inline bool scales_in_guard(const float *scale, int64_t live) {
    const __m256 least = _mm256_set1_ps(QRT_SCALE_LEAST), most = _mm256_set1_ps(QRT_SCALE_MOST);
    uint32_t inside = 0;
    for (int i = 0; i < 4; i++) {
        const __m256 s = _mm256_loadu_ps(scale + 8 * i);
        const __m256 both = _mm256_and_ps(_mm256_cmp_ps(s, least, _CMP_GE_OQ), _mm256_cmp_ps(s, most, _CMP_LE_OQ));
        inside |= (uint32_t)_mm256_movemask_ps(both) << (8 * i);
    }
    const uint32_t wanted = ~(uint32_t)0 >> (BLOCK - live);
    return (inside & wanted) == wanted;
}

static inline __attribute__((always_inline)) __m256i qcast_block(const qrt_cast_args *args, const float *x,
                                                                 int64_t parameter, bool each, const parameters *one,
                                                                 qrt_rounding rounding, bool divide) {
    __m256i q[4];
#pragma GCC unroll 4
    for (int j = 0; j < 4; j++) {
        const parameters p = each ? load_parameters(args, parameter + 8 * j, true) : *one;
        q[j] = quantize(_mm256_loadu_ps(x + 8 * j), &p, rounding, divide);
    }
    return narrow(args, q);
}

static inline __attribute__((always_inline)) void qcast_loop(const qrt_cast_args *args, const float *x, uint8_t *out,
                                                             int64_t count, int64_t parameter, bool each,
                                                             qrt_rounding rounding, bool divide) {
    const bool stream = count >= QRT_STREAM_COUNT;
    const parameters one = load_parameters(args, parameter, false);
    for (int64_t i = 0; i < count; i += BLOCK) {
        const int64_t left = count - i;
        const int64_t live = left < BLOCK ? left : BLOCK;
        if (each && !scales_in_guard(args->scale_f32 + parameter + i, live)) {
            parent_qcast(args, x + i, out + i, live, parameter + i, 1);
            continue;
        }
        if (stream)
            for (int line = 0; line < 2; line++)
                _mm_prefetch((const char *)(x + i) + QRT_STREAM_AHEAD + 64 * line, _MM_HINT_T0);
        if (live == BLOCK) {
            _mm256_storeu_si256((__m256i *)(out + i),
                                qcast_block(args, x + i, parameter + i, each, &one, rounding, divide));
        } else {
            float values[BLOCK] = {0};
            uint8_t bytes[BLOCK];
            memcpy(values, x + i, (size_t)live * sizeof *x);
            _mm256_storeu_si256((__m256i *)bytes,
                                qcast_block(args, values, parameter + i, each, &one, rounding, divide));
            memcpy(out + i, bytes, (size_t)live);
        }
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

/* f(q) - f(zp) in float is what the rule says: the zero point is rounded once, then the difference. */
static inline __attribute__((always_inline)) void dcast_loop(const qrt_cast_args *args, const uint8_t *q, float *out,
                                                             int64_t count, int64_t parameter, bool each) {
    const bool stream = count >= QRT_STREAM_COUNT, is_signed = args->container == QRT_I8;
    __m256 scale = _mm256_set1_ps(args->scale_f32[parameter]), zero = _mm256_set1_ps(args->zero_point_f32[parameter]);
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        if (each) {
            scale = _mm256_loadu_ps(args->scale_f32 + parameter + i);
            zero = _mm256_loadu_ps(args->zero_point_f32 + parameter + i);
        }
        if (stream && i % 64 == 0)
            _mm_prefetch((const char *)(q + i) + QRT_STREAM_AHEAD / 4, _MM_HINT_T0);
        const __m128i bytes = _mm_loadl_epi64((const __m128i *)(q + i));
        const __m256i values = is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
        _mm256_storeu_ps(out + i, _mm256_mul_ps(_mm256_sub_ps(_mm256_cvtepi32_ps(values), zero), scale));
    }
    if (i < count)
        parent_dcast(args, q + i, out + i, count - i, parameter + (each ? i : 0), each);
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

void qrt_avx2_install_casts(qrt_kernels *table) {
    parent_qcast = table->qcast_row;
    parent_dcast = table->dcast_row;
    table->qcast_row = qcast_row;
    table->dcast_row = dcast_row;
}
