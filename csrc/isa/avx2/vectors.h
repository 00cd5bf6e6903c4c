/* Vectors of 256 bits in the words of the templates in isa/x86: eight lanes of 32 bits, eight words, eight bytes, four
 * doubles. Fewer than all lanes are stored through a buffer. */
#pragma once

#include <immintrin.h>
#include <string.h>

#include "qrt/base.h"

#define LANES 8
#define ALL ((int64_t)LANES)
#define LOADS_ARE_MASKED false
#define V(operation) _mm256_##operation

typedef __m256 floats;
typedef __m256i integers;
typedef __m128i words;
typedef int64_t live_lanes;

QRT_INLINE live_lanes first_lanes(int64_t count) {
    return count < LANES ? count : LANES;
}

/* Rounds half to even, because the entry has set the control register. */
QRT_INLINE integers round_half_even(floats v) {
    return _mm256_cvtps_epi32(v);
}

/* Each returns the low byte, or the low word, of each integer. */
QRT_INLINE __m128i low_bytes(integers v) {
    v = _mm256_shuffle_epi8(v, _mm256_set1_epi32(0x0c080400));
    return _mm_unpacklo_epi32(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

QRT_INLINE words low_words(integers v) {
    v = _mm256_shuffle_epi8(v, _mm256_set1_epi64x(0x0d0c090805040100));
    return _mm_unpacklo_epi64(_mm256_castsi256_si128(v), _mm256_extracti128_si256(v, 1));
}

/* The low bytes of four vectors, whose values are within the container: all fit signed words. */
QRT_INLINE integers narrow_bytes(integers a, integers b, integers c, integers d, bool is_signed) {
    const integers low = _mm256_packs_epi32(a, b), high = _mm256_packs_epi32(c, d);
    const integers bytes = is_signed ? _mm256_packs_epi16(low, high) : _mm256_packus_epi16(low, high);
    return _mm256_permutevar8x32_epi32(bytes, _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
}

/* The loads read all lanes, whatever is live. */
QRT_INLINE __m128i load_bytes(const void *source, live_lanes live) {
    (void)live;
    return _mm_loadl_epi64(source);
}

QRT_INLINE words load_words(const void *source, live_lanes live) {
    (void)live;
    return _mm_loadu_si128(source);
}

QRT_INLINE integers load_integers(const void *source, live_lanes live) {
    (void)live;
    return _mm256_loadu_si256(source);
}

QRT_INLINE void store_bytes(void *target, __m128i v, live_lanes live) {
    if (__builtin_expect(live == ALL, true))
        _mm_storel_epi64(target, v);
    else
        memcpy(target, &v, (size_t)live);
}

/* `stream` has no effect: no ISA with this width gains by stores past the caches. */
QRT_INLINE void store_words(void *target, words v, live_lanes live, bool stream) {
    (void)stream;
    if (__builtin_expect(live == ALL, true))
        _mm_storeu_si128(target, v);
    else
        memcpy(target, &v, (size_t)live * 2);
}

QRT_INLINE void store_whole(void *target, integers v, bool stream) {
    (void)stream;
    _mm256_storeu_si256(target, v);
}

QRT_INLINE void store_integers(void *target, integers v, live_lanes live) {
    if (__builtin_expect(live == ALL, true))
        _mm256_storeu_si256(target, v);
    else
        memcpy(target, &v, (size_t)live * 4);
}
