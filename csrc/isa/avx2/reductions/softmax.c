/* Rows of softmax of bytes by the rule of a float32 table, and of 16 bits by the rule of interpolated tables. Values
 * lie side by side.
 *
 *   vpmaxub, vpmaxsb  the largest of 32 bytes
 *   vcvttps2dq        the whole part of a quotient; eight at a time
 *   vpgatherdd        two neighbouring entries of an interpolated table; eight pairs in some 10 cycles, the limit
 *
 * Exact: the floats are added one after the other, as the rule is, which takes four cycles for each. A quotient is not
 * negative, and v - trunc(v) is exact, so half away from zero adds 1 where that is at least 1/2. Quotients are clamped
 * to 2^20 before, above every bound of bytes. Of 16 bits, all values but one product fit 32: strip.inl has the proof
 * for fixed_double. Other calls go to the parent. */
#include <float.h>
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define CHUNK 1024
#define MOST_QUOTIENT 1048576.0f

static int64_t largest_byte(qrt_container container, const uint8_t *x, int64_t count) {
    /* Signed bytes are in the order of unsigned ones after their sign is flipped. */
    const uint8_t flip = container == QRT_I8 ? 0x80 : 0;
    const __m256i flips = _mm256_set1_epi8((char)flip);
    __m256i most = _mm256_setzero_si256();
    int64_t i = 0;
    uint8_t lanes[32], largest = 0;
    for (; i + 32 <= count; i += 32)
        most = _mm256_max_epu8(most, _mm256_xor_si256(_mm256_loadu_si256((const __m256i *)(x + i)), flips));
    _mm256_storeu_si256((__m256i *)lanes, most);
    for (int lane = 0; lane < 32; lane++)
        largest = lanes[lane] > largest ? lanes[lane] : largest;
    for (; i < count; i++) {
        const uint8_t value = x[i] ^ flip;
        largest = value > largest ? value : largest;
    }
    return container == QRT_I8 ? (int64_t)largest - 128 : largest;
}

/* Stores eight quotients as bytes: each rounded, plus the zero point, within the bounds. */
QRT_INLINE int64_t eight_bytes(__m256 quotient, __m256i zero_point, __m256i low, __m256i high) {
    const __m256 v = _mm256_min_ps(quotient, _mm256_set1_ps(MOST_QUOTIENT));
    const __m256i whole = _mm256_cvttps_epi32(v);
    const __m256 rest = _mm256_sub_ps(v, _mm256_cvtepi32_ps(whole));
    const __m256i up = _mm256_castps_si256(_mm256_cmp_ps(rest, _mm256_set1_ps(0.5f), _CMP_GE_OQ));
    const __m256i q = _mm256_add_epi32(_mm256_sub_epi32(whole, up), zero_point);
    const __m256i bounded = _mm256_min_epi32(_mm256_max_epi32(q, low), high);
    const __m256i bytes = _mm256_shuffle_epi8(bounded, _mm256_set1_epi32(0x0c080400));
    return _mm_cvtsi128_si64(_mm_unpacklo_epi32(_mm256_castsi256_si128(bytes), _mm256_extracti128_si256(bytes, 1)));
}

static bool is_byte(qrt_container container) {
    return container == QRT_I8 || container == QRT_U8;
}

/* ---- 16 bits ---- */

/* -d * multiplier * 2^(shift - 31) by fixed_double, for differences of at most 17 bits. */
typedef struct {
    __m256i multiplier, away;
    __m128i left, places, last;
} scaling;

QRT_INLINE __m256i scaled(__m256i x, const scaling *s) {
    const __m256i half = _mm256_set1_epi64x(1 << 30), wide = _mm256_sll_epi32(x, s->left);
    const __m256i even = _mm256_add_epi64(_mm256_mul_epi32(wide, s->multiplier), half);
    const __m256i odd = _mm256_add_epi64(_mm256_mul_epi32(_mm256_srli_epi64(wide, 32), s->multiplier), half);
    const __m256i t = _mm256_blend_epi32(_mm256_srli_epi64(even, 31), _mm256_slli_epi64(odd, 1), 0xAA);
    const __m256i moved = _mm256_add_epi32(t, _mm256_and_si256(_mm256_srai_epi32(t, 31), s->away));
    const __m256i near = _mm256_sub_epi32(_mm256_sra_epi32(moved, s->places), s->away);
    return _mm256_sra_epi32(near, s->last);
}

/* Entries of a table of 513, of arguments from -2^15 on, which are clamped. */
QRT_INLINE __m256i interpolated(const int16_t *table, __m256i x) {
    const __m256i bounded =
        _mm256_min_epi32(_mm256_max_epi32(x, _mm256_set1_epi32(INT16_MIN)), _mm256_set1_epi32(INT16_MAX));
    const __m256i at = _mm256_sub_epi32(bounded, _mm256_set1_epi32(INT16_MIN));
    const __m256i low = _mm256_and_si256(at, _mm256_set1_epi32(127));
    const __m256i pair = _mm256_i32gather_epi32((const int *)table, _mm256_srli_epi32(at, 7), sizeof *table);
    const __m256i first = _mm256_srai_epi32(_mm256_slli_epi32(pair, 16), 16), second = _mm256_srai_epi32(pair, 16);
    const __m256i product = _mm256_mullo_epi32(_mm256_sub_epi32(second, first), low);
    return _mm256_add_epi32(first, _mm256_srai_epi32(_mm256_add_epi32(product, _mm256_set1_epi32(64)), 7));
}

QRT_INLINE int32_t interpolated_one(const int16_t *table, int32_t x) {
    return _mm256_cvtsi256_si32(interpolated(table, _mm256_set1_epi32(x)));
}

QRT_INLINE __m256i eight_values(const int16_t *x, int64_t count) {
    int16_t values[8] = {0};
    if (count < 8)
        memcpy(values, x, (size_t)count * sizeof *x);
    return _mm256_cvtepi16_epi32(_mm_loadu_si128((const __m128i *)(count < 8 ? values : x)));
}

/* Returns false for shifts, and for sums, whose values could leave 32 bits. */
static bool softmax_int16(const qrt_softmax_args *args, const int16_t *x, int16_t *target) {
    const int right = args->shift < 0 ? -args->shift : 0, is_right = right > 0;
    if (args->shift > 14 || right > 31)
        return false;
    int32_t largest = INT16_MIN, exponentials[CHUNK + 8];
    for (int64_t i = 0; i < args->size; i++)
        largest = x[i] > largest ? x[i] : largest;
    const scaling by = {
        .multiplier = _mm256_set1_epi32(args->multiplier),
        .away = _mm256_set1_epi32(-is_right),
        .left = _mm_cvtsi32_si128(args->shift > 0 ? args->shift : 0),
        .places = _mm_cvtsi32_si128(right - is_right),
        .last = _mm_cvtsi32_si128(is_right),
    };
    const __m256i most = _mm256_set1_epi32(largest), lanes = _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7);
    __m256i sums = _mm256_setzero_si256();
    for (int64_t i = 0; i < args->size; i += 8) {
        const __m256i d = _mm256_sub_epi32(eight_values(x + i, args->size - i), most);
        const __m256i at = _mm256_add_epi32(scaled(d, &by), _mm256_set1_epi32(INT16_MAX));
        const __m256i is_live = _mm256_cmpgt_epi32(_mm256_set1_epi32((int)(args->size - i)), lanes);
        const __m256i e = _mm256_and_si256(interpolated(args->exponential, at), is_live);
        _mm256_storeu_si256((__m256i *)(exponentials + i), e);
        sums = _mm256_add_epi32(sums, e);
    }
    int32_t parts[8], sum = 0;
    _mm256_storeu_si256((__m256i *)parts, sums);
    for (int lane = 0; lane < 8; lane++)
        sum += parts[lane];
    if (sum < 1 << 14)
        return false;
    const int headroom = __builtin_clz((unsigned)sum), places = 31 - headroom;
    const int64_t normal = ((int64_t)sum * ((int64_t)1 << (headroom - 1)) + (1 << 13)) >> 14;
    const __m256i inverse =
        _mm256_set1_epi32(interpolated_one(args->reciprocal, (int32_t)(normal - (1 << 15) - (1 << 16))));
    const __m256i low = _mm256_set1_epi32((int)args->storage_min), high = _mm256_set1_epi32((int)args->storage_max);
    const __m256i half = _mm256_set1_epi32(1 << (places - 1));
    for (int64_t i = 0; i < args->size; i += 8) {
        const __m256i e = _mm256_loadu_si256((const __m256i *)(exponentials + i));
        const __m256i sum_of = _mm256_add_epi32(_mm256_mullo_epi32(e, inverse), half);
        const __m256i q = _mm256_sra_epi32(sum_of, _mm_cvtsi32_si128(places));
        const __m256i bounded = _mm256_min_epi32(_mm256_max_epi32(q, low), high);
        const __m256i words = _mm256_permute4x64_epi64(_mm256_packs_epi32(bounded, bounded), 0xD8);
        const __m128i out = _mm256_castsi256_si128(words);
        memcpy(target + i, &out, (size_t)(args->size - i < 8 ? args->size - i : 8) * sizeof *target);
    }
    return true;
}

void avx2_softmax_row(const qrt_softmax_args *args, const void *x, void *target) {
    if (args->rule == QRT_SOFTMAX_INT16 && args->inner == 1 && args->size <= CHUNK && args->size > 0 &&
        args->container == QRT_I16 && args->out == QRT_I16 && softmax_int16(args, x, target))
        return;
    if (args->rule != QRT_SOFTMAX_FLOAT32 || args->inner != 1 || args->size > CHUNK || !is_byte(args->container) ||
        !is_byte(args->out) || args->zero_point < -1024 || args->zero_point > 1024) {
        avx2_parent.softmax_row(args, x, target);
        return;
    }
    float exponentials[CHUNK + 8];
    const int64_t largest = largest_byte(args->container, x, args->size);
    float sum = 0;
    for (int64_t i = 0; i < args->size; i++) {
        exponentials[i] = args->table_f32[largest - qrt_load(args->container, x, i)];
        sum += exponentials[i];
    }
    memset(exponentials + args->size, 0, 8 * sizeof *exponentials);
    const float factor = 1.0f / (sum * (float)args->scale);
    if (!(factor <= FLT_MAX)) {
        avx2_parent.softmax_row(args, x, target);
        return;
    }
    const __m256 inverse = _mm256_set1_ps(factor);
    const __m256i zero_point = _mm256_set1_epi32((int)args->zero_point);
    const __m256i low = _mm256_set1_epi32((int)args->storage_min), high = _mm256_set1_epi32((int)args->storage_max);
    for (int64_t i = 0; i < args->size; i += 8) {
        const int64_t bytes =
            eight_bytes(_mm256_mul_ps(_mm256_loadu_ps(exponentials + i), inverse), zero_point, low, high);
        memcpy((char *)target + i, &bytes, (size_t)(args->size - i < 8 ? args->size - i : 8));
    }
}
