/* 8 and 16-bit storage as 32-bit integers, and back.
 *
 *   vpmovsxbd, vpmovzxbd, vpmovsxwd, vpmovzxwd   widen, on port 5
 *   vpack[su]sdw, vpack[su]swb                   narrow values that are within the container already, on port 5 */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "qrt/qrt.h"

#define CHUNK 256 /* 32-bit values that stay in L1 */
/* With a zero point up to this, no difference of 16-bit storage leaves 32 bits. */
#define MOST_ZERO_POINT (1 << 30)

/* Kernels that read whole vectors may read so many values behind the last one of a chunk. What they make of these is
 * dropped. */
#define BEHIND 16

/* Clears the values behind a chunk. To clear all of its memory first would take longer than a short row does. */
QRT_INLINE void clear_behind(int32_t *values, int64_t count) {
    memset(values + count, 0, BEHIND * sizeof *values);
}

QRT_INLINE __m256i widen_lanes(qrt_container container, __m128i lanes) {
    return container == QRT_I8    ? _mm256_cvtepi8_epi32(lanes)
           : container == QRT_U8  ? _mm256_cvtepu8_epi32(lanes)
           : container == QRT_I16 ? _mm256_cvtepi16_epi32(lanes)
                                  : _mm256_cvtepu16_epi32(lanes);
}

QRT_INLINE __m256i widen_eight(qrt_container container, const void *source) {
    return widen_lanes(container,
                       qrt_container_size(container) == 1 ? _mm_loadl_epi64(source) : _mm_loadu_si128(source));
}

/* The first `count` of eight lanes, side by side or apart; the others are 0. They meet in registers: a vector that is
 * loaded from narrower stores waits for them. */
QRT_INLINE __m256i widen_some(qrt_container container, const void *source, int64_t stride, int64_t count) {
    const int size = qrt_container_size(container), bits = 8 * size, half = 8 / size;
    const uint64_t mask = size == 1 ? 0xFF : 0xFFFF;
    uint64_t low = 0, high = 0;
    for (int64_t i = 0; i < count && i < half; i++)
        low |= ((uint64_t)qrt_load(container, source, i * stride) & mask) << (i * bits);
    for (int64_t i = half; i < count; i++)
        high |= ((uint64_t)qrt_load(container, source, i * stride) & mask) << ((i - half) * bits);
    return widen_lanes(container, _mm_set_epi64x((long long)high, (long long)low));
}

/* Writes whole vectors: up to seven values behind the last. */
QRT_INLINE void widen_of(qrt_container container, const void *source, int64_t stride, int32_t zero, int64_t count,
                         int32_t *acc) {
    const __m256i zeros = _mm256_set1_epi32(zero);
    const int size = qrt_container_size(container);
    int64_t i = 0;
    if (stride == 0) {
        const __m256i value = _mm256_sub_epi32(_mm256_set1_epi32((int)qrt_load(container, source, 0)), zeros);
        for (; i < count; i += 8)
            _mm256_storeu_si256((__m256i *)(acc + i), value);
        return;
    }
    for (; i + 8 <= count; i += 8) {
        const char *at = (const char *)source + i * stride * size;
        const __m256i values = stride == 1 ? widen_eight(container, at) : widen_some(container, at, stride, 8);
        _mm256_storeu_si256((__m256i *)(acc + i), _mm256_sub_epi32(values, zeros));
    }
    if (i < count) {
        const __m256i values = widen_some(container, (const char *)source + i * stride * size, stride, count - i);
        _mm256_storeu_si256((__m256i *)(acc + i), _mm256_sub_epi32(values, zeros));
    }
}

/* Calls f with the container, which has 8 or 16 bits, as a constant. */
#define BY_CONTAINER(f, container, ...)                                                                                \
    ((container) == QRT_I8    ? f(QRT_I8, __VA_ARGS__)                                                                 \
     : (container) == QRT_U8  ? f(QRT_U8, __VA_ARGS__)                                                                 \
     : (container) == QRT_I16 ? f(QRT_I16, __VA_ARGS__)                                                                \
                              : f(QRT_U16, __VA_ARGS__))

/* acc[i] = source[i * stride] - zero, and up to seven values behind the last */
static inline void widen(qrt_container container, const void *source, int64_t stride, int32_t zero, int64_t count,
                         int32_t *acc) {
    BY_CONTAINER(widen_of, container, source, stride, zero, count, acc);
}

static inline bool within(int64_t value, int64_t limit) {
    return value <= limit && value >= -limit;
}

/* acc[i] = source[i * stride] - zero_point[i * step]. Returns false where a difference could leave 32 bits. */
static inline bool differences(qrt_container container, const void *source, int64_t stride, const int64_t *zero_point,
                               int64_t step, int64_t count, int32_t *acc) {
    for (int64_t i = 0; i < (step ? count : 1); i++)
        if (!within(zero_point[i], MOST_ZERO_POINT))
            return false;
    widen(container, source, stride, step ? 0 : (int32_t)zero_point[0], count, acc);
    if (step)
        for (int64_t i = 0; i < count; i++)
            acc[i] -= (int32_t)zero_point[i];
    return true;
}

/* The minimum or maximum of each lane, for containers of 8 and 16 bits. */
#define MIN_OR_MAX(name)                                                                                               \
    QRT_INLINE __m256i name##_of(qrt_container container, __m256i a, __m256i b) {                                      \
        return container == QRT_I8    ? _mm256_##name##_epi8(a, b)                                                     \
               : container == QRT_U8  ? _mm256_##name##_epu8(a, b)                                                     \
               : container == QRT_I16 ? _mm256_##name##_epi16(a, b)                                                    \
                                      : _mm256_##name##_epu16(a, b);                                                   \
    }
MIN_OR_MAX(min)
MIN_OR_MAX(max)
#undef MIN_OR_MAX

/* Narrows each value to `size` bytes, in the low lanes. */
QRT_INLINE __m256i narrow_eight(__m256i q, qrt_container container, int size) {
    const __m128i low = _mm256_castsi256_si128(q), high = _mm256_extracti128_si256(q, 1);
    if (size == 4)
        return q;
    const __m128i words = container == QRT_U16 ? _mm_packus_epi32(low, high) : _mm_packs_epi32(low, high);
    if (size == 2)
        return _mm256_castsi128_si256(words);
    return _mm256_castsi128_si256(container == QRT_I8 ? _mm_packs_epi16(words, words) : _mm_packus_epi16(words, words));
}

/* Stores the low `count` bytes of a word, fewer than eight. */
QRT_INLINE void store_low_bytes(char *to, uint64_t word, int count) {
    if (count & 4) {
        memcpy(to, &word, 4);
        to += 4, word >>= 32;
    }
    if (count & 2) {
        memcpy(to, &word, 2);
        to += 2, word >>= 16;
    }
    if (count & 1)
        *to = (char)word;
}

/* Stores the first `count` of eight narrowed values. */
QRT_INLINE void store_eight(char *to, __m256i values, int count, int size) {
    const __m128i low = _mm256_castsi256_si128(values);
    const int bytes = count * size;
    if (count < 8 && size < 4) {
        if (bytes & 8)
            _mm_storel_epi64((__m128i *)to, low);
        store_low_bytes(to + (bytes & 8), (uint64_t)(bytes & 8 ? _mm_extract_epi64(low, 1) : _mm_cvtsi128_si64(low)),
                        bytes & 7);
    } else if (count < 8) {
        char all[sizeof values];
        _mm256_storeu_si256((__m256i *)all, values);
        memcpy(to, all, (size_t)bytes);
    } else if (size == 1) {
        _mm_storel_epi64((__m128i *)to, low);
    } else if (size == 2) {
        _mm_storeu_si128((__m128i *)to, low);
    } else {
        _mm256_storeu_si256((__m256i *)to, values);
    }
}
