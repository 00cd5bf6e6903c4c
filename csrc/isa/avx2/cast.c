/* Casts computed in f32: f16, bf16 and f32 to and from containers of 8 and 16 bits, dcast from 32 bits too. 32 elements
 * at a time, then eights, the last of which goes through a buffer.
 *
 *   vcmpps (ordered), vandps  turn NaNs into 0
 *   vminps, vmaxps            clamp; where one operand is a NaN the result is the second one
 *   vmulps, vfnmadd, vfmadd   the correctly rounded quotient in 3 operations; vdivps ymm issues once in 5 cycles
 *   vcvtps2dq                 half even: the entry has set the control register; vcvttps2dq truncates
 *   vpackssdw, vpack[su]swb   narrow with saturation, which is the clamp to the container; they work within 128-bit
 *                             lanes, which one vpermd or vpermq undoes
 *   vcvtps2ph, vcvtph2ps      one rounding to f16; bf16 is rounded by integers, where a NaN that came from bf16 or from
 *                             the processor has no low bits that could carry
 *   prefetchw                 owns the lines of a long result before they are stored to
 *
 * Exact because of the bounds in cast_guard.h; the rest goes to the parent's row. */
#include <immintrin.h>

#include "isa/x86/cast/span.inl"
#include "isa/rows.h"

#define BLOCK 32
#define LANES 8
#define STREAMS false

typedef __m256 floats;
typedef __m256i integers;

/* ---- the formats ---- */

QRT_INLINE __m256 load_expressed(const char *source, qrt_expressed expressed) {
    if (expressed == QRT_F32) {
        __m256 x = _mm256_loadu_ps((const float *)source);
        __asm__("" : "+x"(x)); /* as an operand it would be loaded twice */
        return x;
    }
    const __m128i bits = _mm_loadu_si128((const __m128i *)source);
    if (expressed == QRT_F16)
        return _mm256_cvtph_ps(bits);
    return _mm256_castsi256_ps(_mm256_slli_epi32(_mm256_cvtepu16_epi32(bits), 16));
}

/* The bits of a float rounded to bf16, in the upper halves; the lower ones are left over. */
QRT_INLINE __m256i rounded_bf16(__m256 v) {
    const __m256i bits = _mm256_castps_si256(v);
    const __m256i odd = _mm256_and_si256(_mm256_srli_epi32(bits, 16), _mm256_set1_epi32(1));
    return _mm256_add_epi32(_mm256_add_epi32(bits, _mm256_set1_epi32(0x7fff)), odd);
}

QRT_INLINE __m256 round_expressed(__m256 v, qrt_expressed expressed) {
    if (expressed == QRT_F16)
        return _mm256_cvtph_ps(_mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    if (expressed == QRT_BF16)
        return _mm256_castsi256_ps(_mm256_and_si256(rounded_bf16(v), _mm256_set1_epi32((int)0xffff0000)));
    return v;
}

/* ---- qcast ---- */

typedef struct {
    __m256 scale, reciprocal, bound, rounded_zero;
    __m256i zero;
} lanes;

QRT_INLINE __m256 load_f32(const qrt_cast_parameters *parameters, int array, int64_t index, bool each) {
    const float *values = (const float *)parameters->array[array] + index;
    return each ? _mm256_loadu_ps(values) : _mm256_set1_ps(*values);
}

QRT_INLINE lanes load_lanes(const qrt_cast_parameters *parameters, int64_t index, qrt_qcast_mode mode) {
    lanes p = {.scale = load_f32(parameters, QRT_SCALES, index, mode.each),
               .reciprocal = load_f32(parameters, QRT_RECIPROCALS, index, mode.each)};
    if (mode.each)
        __asm__("" : "+x"(p.reciprocal)); /* as an operand it would be loaded twice */
    if (!mode.trial)
        p.bound = _mm256_mul_ps(p.scale, _mm256_set1_ps(QRT_QUOTIENT_BOUND));
    if (mode.before)
        p.rounded_zero = load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, mode.each);
    if (!mode.before || mode.expressed != QRT_F32)
        p.zero = _mm256_castps_si256(load_f32(parameters, QRT_ZERO_POINTS, index, mode.each));
    return p;
}

/* NaNs pass: they are the second operand. */
QRT_INLINE __m256 clamp_magnitude(__m256 v, __m256 bound) {
    const __m256 negative = _mm256_xor_ps(bound, _mm256_set1_ps(-0.0f));
    return _mm256_max_ps(negative, _mm256_min_ps(bound, v));
}

QRT_INLINE __m256i round_to_int(__m256 v, qrt_rounding rounding) {
    if (rounding == QRT_HALF_EVEN)
        return _mm256_cvtps_epi32(v);
    if (rounding == QRT_HALF_AWAY) {
        __m256 sign = _mm256_and_ps(v, _mm256_set1_ps(-0.0f));
        v = _mm256_add_ps(v, _mm256_or_ps(sign, _mm256_set1_ps(QRT_BELOW_HALF_F32)));
    }
    return _mm256_cvttps_epi32(v);
}

/* `count` vectors step by step together: their chains are long, and the scheduler holds few blocks of them. */
#define EACH_VECTOR _Pragma("GCC unroll 4") for (int j = 0; j < count; j++)

QRT_INLINE void quantize(__m256 *x, const lanes *p, int count, qrt_qcast_mode mode, __m256i *q) {
    const bool narrow = mode.expressed != QRT_F32;
    __m256 v[4];
    if (!narrow && !mode.trial)
        EACH_VECTOR x[j] = _mm256_and_ps(x[j], _mm256_cmp_ps(x[j], x[j], _CMP_ORD_Q));
    if (!mode.trial)
        EACH_VECTOR x[j] = clamp_magnitude(x[j], p[j].bound);
    EACH_VECTOR v[j] = _mm256_mul_ps(x[j], p[j].reciprocal);
    if (mode.divide) {
        EACH_VECTOR x[j] = _mm256_fnmadd_ps(v[j], p[j].scale, x[j]);
        EACH_VECTOR v[j] = _mm256_fmadd_ps(x[j], p[j].reciprocal, v[j]);
    }
    EACH_VECTOR v[j] = round_expressed(v[j], mode.expressed);
    if (mode.before)
        EACH_VECTOR v[j] = round_expressed(_mm256_add_ps(v[j], p[j].rounded_zero), mode.expressed);
    if (narrow) {
        EACH_VECTOR {
            const __m256i number = _mm256_castps_si256(_mm256_cmp_ps(v[j], v[j], _CMP_ORD_Q));
            v[j] = clamp_magnitude(v[j], _mm256_set1_ps(QRT_QUOTIENT_BOUND));
            q[j] = round_to_int(v[j], mode.rounding);
            q[j] = mode.before ? _mm256_blendv_epi8(p[j].zero, q[j], number) : _mm256_and_si256(q[j], number);
        }
    } else
        EACH_VECTOR q[j] = round_to_int(v[j], mode.rounding);
    if (!mode.before)
        EACH_VECTOR q[j] = _mm256_add_epi32(q[j], p[j].zero);
}

/* Where results go, and the bounds between which they are kept. */
typedef struct {
    qrt_container container;
    int size;
    bool narrow;         /* the bounds are not the container's, to which saturation keeps */
    __m256i least, most; /* of the container's width */
    __m256i least_word;  /* of 16 bits */
} sink;

QRT_INLINE sink make_sink(const qrt_cast_args *args, qrt_container container) {
    const int low = (int)args->storage_min, high = (int)args->storage_max;
    sink to = {
        .container = container, .size = qrt_container_size(container), .narrow = !qrt_cast_is_full(args, container)};
    to.least = to.size == 1 ? _mm256_set1_epi8((char)low) : _mm256_set1_epi16((short)low);
    to.most = to.size == 1 ? _mm256_set1_epi8((char)high) : _mm256_set1_epi16((short)high);
    to.least_word = _mm256_set1_epi16(INT16_MIN);
    __asm__("" : "+x"(to.least_word)); /* a constant would be broadcast again for each block */
    return to;
}

/* After a trial: whether one of the four has left 16 bits downwards, as what is no number does. */
QRT_INLINE bool may_be_wrong(const __m256i q[4], const sink *to) {
    const __m256i words = _mm256_min_epi16(_mm256_packs_epi32(q[0], q[1]), _mm256_packs_epi32(q[2], q[3]));
    return _mm256_movemask_epi8(_mm256_cmpeq_epi16(words, to->least_word)) != 0;
}

QRT_INLINE void store_bytes(char *target, const __m256i q[4], const sink *to) {
    const __m256i low = _mm256_packs_epi32(q[0], q[1]), high = _mm256_packs_epi32(q[2], q[3]);
    __m256i bytes;
    if (to->container == QRT_I8) {
        bytes = _mm256_packs_epi16(low, high);
        if (to->narrow)
            bytes = _mm256_min_epi8(_mm256_max_epi8(bytes, to->least), to->most);
    } else {
        bytes = _mm256_packus_epi16(low, high);
        if (to->narrow)
            bytes = _mm256_min_epu8(_mm256_max_epu8(bytes, to->least), to->most);
    }
    _mm256_storeu_si256((__m256i *)target,
                        _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7)));
}

QRT_INLINE void store_words(char *target, const __m256i q[4], const sink *to) {
    for (int half = 0; half < 2; half++) {
        const __m256i a = q[2 * half], b = q[2 * half + 1];
        __m256i words;
        if (to->container == QRT_I16)
            words = _mm256_min_epi16(_mm256_max_epi16(_mm256_packs_epi32(a, b), to->least), to->most);
        else
            words = _mm256_min_epu16(_mm256_max_epu16(_mm256_packus_epi32(a, b), to->least), to->most);
        _mm256_storeu_si256((__m256i *)(target + 32 * half), _mm256_permute4x64_epi64(words, 0xd8));
    }
}

/* Integers within the container, truncated to its width. */
QRT_INLINE __m128i truncate(__m256i q, int size) {
    if (size == 1) {
        const __m256i first = _mm256_set1_epi32(0x0c080400);
        q = _mm256_shuffle_epi8(q, first);
        return _mm_unpacklo_epi32(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
    }
    q = _mm256_shuffle_epi8(q, _mm256_set1_epi64x(0x0d0c090805040100));
    return _mm_unpacklo_epi64(_mm256_castsi256_si128(q), _mm256_extracti128_si256(q, 1));
}

QRT_INLINE void store_block(char *target, const __m256i q[4], const sink *to, bool stream) {
    (void)stream; /* never */
    if (to->size == 1)
        store_bytes(target, q, to);
    else
        store_words(target, q, to);
}

/* `count` elements, eight at a time. */
QRT_INLINE void qcast_ends(const qrt_cast_args *args, const qrt_cast_parameters *parameters, bool each, int64_t index,
                           const char *source, char *target, int64_t count, qrt_container container,
                           qrt_qcast_mode mode) {
    const int source_size = qrt_qcast_source_size(mode), target_size = qrt_container_size(container);
    const __m256i low = _mm256_set1_epi32((int)args->storage_min), high = _mm256_set1_epi32((int)args->storage_max);
    mode.trial = false;
    mode.each = each;
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t live = count - i < LANES ? count - i : LANES;
        const char *x = source + i * source_size;
        char buffer[32] = {0};
        if (live < LANES)
            x = memcpy(buffer, x, (size_t)(live * source_size));
        const lanes p = load_lanes(parameters, each ? index + i : index, mode);
        __m256 values = load_expressed(x, mode.expressed);
        __m256i q;
        quantize(&values, &p, 1, mode, &q);
        q = _mm256_min_epi32(_mm256_max_epi32(q, low), high);
        const __m128i stored = truncate(q, target_size);
        memcpy(target + i * target_size, &stored, (size_t)(live * target_size));
    }
}

/* ---- dcast ---- */

QRT_INLINE __m256 load_storage(const char *source, qrt_container container) {
    switch (container) {
    case QRT_I8:
        return _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(_mm_loadl_epi64((const __m128i *)source)));
    case QRT_U8:
        return _mm256_cvtepi32_ps(_mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)source)));
    case QRT_I16:
        return _mm256_cvtepi32_ps(_mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)source)));
    case QRT_U16:
        return _mm256_cvtepi32_ps(_mm256_cvtepu16_epi32(_mm_loadu_si128((const __m128i *)source)));
    case QRT_I32:
        return _mm256_cvtepi32_ps(_mm256_loadu_si256((const __m256i *)source));
    case QRT_U32: { /* both halves are exact, so is 2^16 times one: their sum is rounded once */
        const __m256i q = _mm256_loadu_si256((const __m256i *)source);
        const __m256 high = _mm256_cvtepi32_ps(_mm256_srli_epi32(q, 16));
        const __m256 low = _mm256_cvtepi32_ps(_mm256_and_si256(q, _mm256_set1_epi32(0xffff)));
        return _mm256_fmadd_ps(high, _mm256_set1_ps(0x1p16f), low);
    }
    }
    return _mm256_setzero_ps();
}

QRT_INLINE void store_expressed(char *target, __m256 v, qrt_expressed expressed) {
    if (expressed == QRT_F32)
        _mm256_storeu_ps((float *)target, v);
    else if (expressed == QRT_F16)
        _mm_storeu_si128((__m128i *)target, _mm256_cvtps_ph(v, _MM_FROUND_TO_NEAREST_INT));
    else
        _mm_storeu_si128((__m128i *)target, truncate(_mm256_srli_epi32(rounded_bf16(v), 16), 2));
}

typedef struct {
    __m256 scale, zero;
} dcast_lanes;

QRT_INLINE dcast_lanes load_dcast_lanes(const qrt_cast_parameters *parameters, int64_t index, bool each) {
    return (dcast_lanes){load_f32(parameters, QRT_SCALES, index, each),
                         load_f32(parameters, QRT_ROUNDED_ZERO_POINTS, index, each)};
}

/* f(q) - f(zp) in the format is what the rule says: the zero point is rounded once. */
QRT_INLINE void dcast_vector(const char *source, char *target, dcast_lanes p, qrt_dcast_mode mode) {
    __m256 q = load_storage(source, mode.container);
    if (mode.container > QRT_U8)
        q = round_expressed(q, mode.expressed);
    const __m256 v = _mm256_mul_ps(round_expressed(_mm256_sub_ps(q, p.zero), mode.expressed), p.scale);
    store_expressed(target, v, mode.expressed);
}

/* `count` elements, eight at a time. */
QRT_INLINE void dcast_ends(const qrt_cast_parameters *parameters, const dcast_lanes *shared, const char *source,
                           char *target, int64_t count, qrt_dcast_mode mode) {
    const int source_size = qrt_dcast_source_size(mode), target_size = qrt_dcast_target_size(mode);
    for (int64_t i = 0; i < count; i += LANES) {
        const int64_t live = count - i < LANES ? count - i : LANES;
        char q[32] = {0}, values[32];
        memcpy(q, source + i * source_size, (size_t)(live * source_size));
        dcast_vector(q, values, mode.each ? load_dcast_lanes(parameters, i, true) : *shared, mode);
        memcpy(target + i * target_size, values, (size_t)(live * target_size));
    }
}

#include "isa/x86/cast/rows.inl"
#include "isa/x86/cast/variants.inl"

void avx2_qcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    qcast_row(args, source, target, span);
}

void avx2_dcast_row(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span) {
    dcast_row(args, source, target, span);
}
