/* Casts computed in f32: f16, bf16 and f32 to and from containers of 8 and 16 bits, dcast from 32 bits too. 64 elements
 * at a time, then sixteens under a mask.
 *
 *   vcmpps (ordered)        finds NaNs; the masked vrangeps turns them into 0 for free, or lets them pass
 *   vrangeps (min-absolute) clamps |x| and keeps its sign; the default rule tries without both, and looks at the words
 *   vmulps, vfnmadd, vfmadd the correctly rounded quotient in 3 operations; vdivps zmm issues once in 10 cycles
 *   vcvtps2dq {rn-sae}      half even whatever the control register says; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                           lanes, which one vpermd or vpermq undoes
 *   vcvtps2ph, vcvtph2ps    one rounding to f16; bf16 is rounded by integers, where a NaN that came from bf16 or from
 *                           the processor has no low bits that could carry
 *   prefetchw               owns the lines of a long result before they are stored to
 *   vmovntdq                stores past the caches, where the table says that this is faster
 *
 * Exact because of the bounds in cast_guard.h; the rest goes to the parent's row. */
#include <immintrin.h>

#include "isa/x86/cast/span.inl"
#include "isa/rows.h"

#define LANES 16
#define BLOCK 64
#define STREAMS true

typedef __m512 floats;
typedef __m512i integers;

#define ROUND_TO_NEAREST (_MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC)
#define MIN_ABSOLUTE 2 /* of vrangeps: the smaller magnitude, with the sign of the first */

#define ALL ((__mmask16)0xffff)

/* The first `left` of sixteen lanes. */
QRT_INLINE __mmask16 live_lanes(int64_t left) {
    return left >= 16 ? ALL : (__mmask16)((1u << left) - 1);
}

/* Past the caches, where the target is aligned. */
QRT_INLINE void put(void *target, __m512i value, bool stream) {
    if (__builtin_expect(stream, false) && (uintptr_t)target % 64 == 0)
        _mm512_stream_si512(target, value);
    else
        _mm512_storeu_si512(target, value);
}

QRT_INLINE __m128i load_16x8(const char *source, __mmask16 live) {
    return live == ALL ? _mm_loadu_si128((const __m128i *)source) : _mm_maskz_loadu_epi8(live, source);
}

QRT_INLINE __m256i load_16x16(const char *source, __mmask16 live) {
    return live == ALL ? _mm256_loadu_si256((const __m256i *)source) : _mm256_maskz_loadu_epi16(live, source);
}

QRT_INLINE __m512i load_16x32(const char *source, __mmask16 live) {
    return live == ALL ? _mm512_loadu_si512(source) : _mm512_maskz_loadu_epi32(live, source);
}

/* ---- the formats ---- */

QRT_INLINE __m512 load_live(const char *source, __mmask16 live, qrt_expressed expressed) {
    if (expressed == QRT_F32)
        return _mm512_castsi512_ps(load_16x32(source, live));
    const __m256i bits = load_16x16(source, live);
    if (expressed == QRT_F16)
        return _mm512_cvtph_ps(bits);
    return _mm512_castsi512_ps(_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16));
}

QRT_INLINE __m512 load_expressed(const char *source, qrt_expressed expressed) {
    __m512 x = load_live(source, ALL, expressed);
    __asm__("" : "+v"(x)); /* as an operand it would be loaded twice */
    return x;
}

/* The bits of a float rounded to bf16, in the upper halves; the lower ones are left over. */
QRT_INLINE __m512i rounded_bf16(__m512 v) {
    const __m512i bits = _mm512_castps_si512(v);
    const __m512i odd = _mm512_and_si512(_mm512_srli_epi32(bits, 16), _mm512_set1_epi32(1));
    return _mm512_add_epi32(_mm512_add_epi32(bits, _mm512_set1_epi32(0x7fff)), odd);
}

QRT_INLINE __m512 round_expressed(__m512 v, qrt_expressed expressed) {
    if (expressed == QRT_F16)
        return _mm512_cvtph_ps(_mm512_cvtps_ph(v, ROUND_TO_NEAREST));
    if (expressed == QRT_BF16)
        return _mm512_castsi512_ps(_mm512_and_si512(rounded_bf16(v), _mm512_set1_epi32((int)0xffff0000)));
    return v;
}

/* ---- qcast ---- */

typedef struct {
    __m512 scale, reciprocal, bound, rounded_zero;
    __m512i zero;
} lanes;

QRT_INLINE __m512 load_f32(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const float *values = (const float *)parameters->array[array] + index;
    return each ? _mm512_loadu_ps(values) : _mm512_set1_ps(*values);
}

QRT_INLINE lanes load_lanes(const qrt_cast_parameters *parameters, int64_t index, qrt_qcast_mode mode) {
    lanes p = {.scale = load_f32(parameters, QRT_SCALES, index, mode.each),
               .reciprocal = load_f32(parameters, QRT_RECIPROCALS, index, mode.each)};
    if (mode.each)
        __asm__("" : "+v"(p.reciprocal)); /* as an operand it would be loaded twice */
    if (!mode.trial)
        p.bound = _mm512_mul_ps(p.scale, _mm512_set1_ps(QRT_QUOTIENT_BOUND));
    if (mode.before)
        p.rounded_zero = load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each);
    if (!mode.before || mode.expressed != QRT_F32)
        p.zero = _mm512_castps_si512(load_f32(parameters, QRT_ZERO_POINTS, index, mode.each));
    return p;
}

QRT_INLINE __m512i round_to_int(__m512 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm512_cvt_roundps_epi32(v, ROUND_TO_NEAREST);
    if (rounding == QRT_HALF_AWAY) {
        __m512 sign = _mm512_and_ps(v, _mm512_set1_ps(-0.0f));
        v = _mm512_add_ps(v, _mm512_or_ps(sign, _mm512_set1_ps(QRT_BELOW_HALF_F32)));
    }
    return _mm512_cvttps_epi32(v);
}

/* `count` vectors step by step together: their chains are long, and the scheduler holds only two blocks of them. */
#define EACH_VECTOR _Pragma("GCC unroll 4") for (int j = 0; j < count; j++)

QRT_INLINE void quantize(__m512 *x, const lanes *p, int count, qrt_qcast_mode mode, __m512i *q) {
    const bool narrow = mode.expressed != QRT_F32;
    __m512 v[4];
    if (!mode.trial)
        EACH_VECTOR {
            const __mmask16 number = _mm512_cmp_ps_mask(x[j], x[j], _CMP_ORD_Q);
            x[j] = narrow ? _mm512_mask_range_ps(x[j], number, x[j], p[j].bound, MIN_ABSOLUTE)
                          : _mm512_maskz_range_ps(number, x[j], p[j].bound, MIN_ABSOLUTE);
        }
    EACH_VECTOR v[j] = _mm512_mul_ps(x[j], p[j].reciprocal);
    if (mode.divide) {
        EACH_VECTOR x[j] = _mm512_fnmadd_ps(v[j], p[j].scale, x[j]);
        EACH_VECTOR v[j] = _mm512_fmadd_ps(x[j], p[j].reciprocal, v[j]);
    }
    EACH_VECTOR v[j] = round_expressed(v[j], mode.expressed);
    if (mode.before)
        EACH_VECTOR v[j] = round_expressed(_mm512_add_ps(v[j], p[j].rounded_zero), mode.expressed);
    if (narrow) {
        EACH_VECTOR {
            const __mmask16 number = _mm512_cmp_ps_mask(v[j], v[j], _CMP_ORD_Q);
            v[j] = _mm512_range_ps(v[j], _mm512_set1_ps(QRT_QUOTIENT_BOUND), MIN_ABSOLUTE);
            q[j] = round_to_int(v[j], mode.rounding);
            q[j] = mode.before ? _mm512_mask_mov_epi32(p[j].zero, number, q[j]) : _mm512_maskz_mov_epi32(number, q[j]);
        }
    } else
        EACH_VECTOR q[j] = round_to_int(v[j], mode.rounding);
    if (!mode.before)
        EACH_VECTOR q[j] = _mm512_add_epi32(q[j], p[j].zero);
}

/* Where results go, and the bounds between which they are kept. */
typedef struct {
    qrt_container container;
    int size;
    bool narrow;         /* the bounds are not the container's, to which saturation keeps */
    __m512i least, most; /* of the container's width */
    __m512i least_word;  /* of 16 bits */
} sink;

QRT_INLINE sink make_sink(const qrt_cast_args *args, qrt_container container) {
    const int low = (int)args->storage_min, high = (int)args->storage_max;
    sink to = {
        .container = container, .size = qrt_container_size(container), .narrow = !qrt_cast_is_full(args, container)};
    to.least = to.size == 1 ? _mm512_set1_epi8((char)low) : _mm512_set1_epi16((short)low);
    to.most = to.size == 1 ? _mm512_set1_epi8((char)high) : _mm512_set1_epi16((short)high);
    to.least_word = _mm512_set1_epi16(INT16_MIN);
    __asm__("" : "+v"(to.least_word)); /* a constant would be broadcast again for each block */
    return to;
}

/* After a trial: whether one of the four has left 16 bits downwards, as what is no number does. */
QRT_INLINE bool may_be_wrong(const __m512i q[4], const sink *to) {
    const __m512i words = _mm512_min_epi16(_mm512_packs_epi32(q[0], q[1]), _mm512_packs_epi32(q[2], q[3]));
    return _mm512_cmpeq_epi16_mask(words, to->least_word) != 0;
}

QRT_INLINE void store_bytes(char *target, const __m512i q[4], const sink *to, bool stream) {
    const __m512i order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    const __m512i low = _mm512_packs_epi32(q[0], q[1]), high = _mm512_packs_epi32(q[2], q[3]);
    __m512i bytes;
    if (to->container == QRT_I8) {
        bytes = _mm512_packs_epi16(low, high);
        if (to->narrow)
            bytes = _mm512_min_epi8(_mm512_max_epi8(bytes, to->least), to->most);
    } else {
        bytes = _mm512_packus_epi16(low, high);
        if (to->narrow)
            bytes = _mm512_min_epu8(_mm512_max_epu8(bytes, to->least), to->most);
    }
    put(target, _mm512_permutexvar_epi32(order, bytes), stream);
}

QRT_INLINE void store_words(char *target, const __m512i q[4], const sink *to, bool stream) {
    const __m512i order = _mm512_setr_epi64(0, 2, 4, 6, 1, 3, 5, 7);
    for (int half = 0; half < 2; half++) {
        const __m512i a = q[2 * half], b = q[2 * half + 1];
        __m512i words;
        if (to->container == QRT_I16)
            words = _mm512_min_epi16(_mm512_max_epi16(_mm512_packs_epi32(a, b), to->least), to->most);
        else
            words = _mm512_min_epu16(_mm512_max_epu16(_mm512_packus_epi32(a, b), to->least), to->most);
        put(target + 64 * half, _mm512_permutexvar_epi64(order, words), stream);
    }
}

QRT_INLINE void store_block(char *target, const __m512i q[4], const sink *to, bool stream) {
    if (to->size == 1)
        store_bytes(target, q, to, stream);
    else
        store_words(target, q, to, stream);
}

/* `count` elements, sixteen at a time. */
QRT_INLINE void qcast_ends(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each, int64_t index,
                           const char *source, char *target, int64_t count, qrt_container container,
                           qrt_qcast_mode mode) {
    const int source_size = qrt_qcast_source_size(mode), target_size = qrt_container_size(container);
    const __m512i low = _mm512_set1_epi32((int)args->storage_min), high = _mm512_set1_epi32((int)args->storage_max);
    mode.trial = false;
    mode.each = each;
    for (int64_t i = 0; i < count; i += 16) {
        const __mmask16 live = live_lanes(count - i);
        const lanes p = load_lanes(parameters, each ? index + i : index, mode);
        __m512 x = load_live(source + i * source_size, live, mode.expressed);
        __m512i q;
        quantize(&x, &p, 1, mode, &q);
        q = _mm512_min_epi32(_mm512_max_epi32(q, low), high);
        if (target_size == 1)
            _mm_mask_storeu_epi8(target + i, live, _mm512_cvtepi32_epi8(q));
        else
            _mm256_mask_storeu_epi16(target + 2 * i, live, _mm512_cvtepi32_epi16(q));
    }
}

/* ---- dcast ---- */

QRT_INLINE __m512 load_storage(const char *source, __mmask16 live, qrt_container container) {
    switch (container) {
    case QRT_I8:
        return _mm512_cvtepi32_ps(_mm512_cvtepi8_epi32(load_16x8(source, live)));
    case QRT_U8:
        return _mm512_cvtepi32_ps(_mm512_cvtepu8_epi32(load_16x8(source, live)));
    case QRT_I16:
        return _mm512_cvtepi32_ps(_mm512_cvtepi16_epi32(load_16x16(source, live)));
    case QRT_U16:
        return _mm512_cvtepi32_ps(_mm512_cvtepu16_epi32(load_16x16(source, live)));
    case QRT_I32:
        return _mm512_cvtepi32_ps(load_16x32(source, live));
    case QRT_U32:
        return _mm512_cvtepu32_ps(load_16x32(source, live));
    }
    return _mm512_setzero_ps();
}

QRT_INLINE void store_expressed(char *target, __mmask16 live, __m512 v, bool stream, qrt_expressed expressed) {
    if (expressed == QRT_F32) {
        if (live == ALL)
            put(target, _mm512_castps_si512(v), stream);
        else
            _mm512_mask_storeu_ps(target, live, v);
        return;
    }
    const __m256i bits = expressed == QRT_F16 ? _mm512_cvtps_ph(v, ROUND_TO_NEAREST)
                                              : _mm512_cvtepi32_epi16(_mm512_srli_epi32(rounded_bf16(v), 16));
    if (live != ALL)
        _mm256_mask_storeu_epi16(target, live, bits);
    else if (stream && (uintptr_t)target % 32 == 0)
        _mm256_stream_si256((__m256i *)target, bits);
    else
        _mm256_storeu_si256((__m256i *)target, bits);
}

typedef struct {
    __m512 scale, zero;
} dcast_lanes;

QRT_INLINE dcast_lanes load_dcast_lanes(const qrt_cast_parameters *parameters, int64_t index, bool each) {
    return (dcast_lanes){load_f32(parameters, QRT_SCALES, index, each),
                         load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, each)};
}

/* f(q) - f(zp) in the format is what the rule says: the zero point is rounded once. */
QRT_INLINE void dcast_sixteen(const char *source, char *target, dcast_lanes p, __mmask16 live, qrt_dcast_mode mode) {
    __m512 q = load_storage(source, live, mode.container);
    if (mode.container > QRT_U8)
        q = round_expressed(q, mode.expressed);
    const __m512 v = _mm512_mul_ps(round_expressed(_mm512_sub_ps(q, p.zero), mode.expressed), p.scale);
    store_expressed(target, live, v, mode.stream, mode.expressed);
}

QRT_INLINE void dcast_vector(const char *source, char *target, dcast_lanes p, qrt_dcast_mode mode) {
    dcast_sixteen(source, target, p, ALL, mode);
}

/* `count` elements, sixteen at a time. */
QRT_INLINE void dcast_ends(const qrt_cast_parameters *parameters, const dcast_lanes *shared, const char *source,
                           char *target, int64_t count, qrt_dcast_mode mode) {
    mode.stream = false;
    for (int64_t i = 0; i < count; i += 16)
        dcast_sixteen(source + i * qrt_dcast_source_size(mode), target + i * qrt_dcast_target_size(mode),
                      mode.each ? load_dcast_lanes(parameters, i, true) : *shared, live_lanes(count - i), mode);
}

#include "isa/x86/cast/rows.inl"
#include "isa/x86/cast/variants.inl"

void avx512_qcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    qcast_row(args, source, target, span);
}

void avx512_dcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    dcast_row(args, source, target, span);
}
