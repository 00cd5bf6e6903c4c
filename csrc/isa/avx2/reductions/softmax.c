/* Rows of softmax of bytes by the rule of a float32 table, whose values lie side by side.
 *
 *   vpmaxub, vpmaxsb  the largest of 32 bytes
 *   vcvttps2dq        the whole part of a quotient; eight at a time
 *
 * Exact: the floats are added one after the other, as the rule is, which takes four cycles for each. A quotient is not
 * negative, and v - trunc(v) is exact, so half away from zero adds 1 where that is at least 1/2. Quotients are clamped
 * to 2^20 before, above every bound of bytes. Other calls go to the parent. */
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

void avx2_softmax_row(const qrt_softmax_args *args, const void *x, void *target) {
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
