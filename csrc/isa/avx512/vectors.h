/* Vectors of 512 bits in the words of the templates in isa/x86: sixteen lanes of 32 bits, sixteen words, sixteen bytes,
 * eight doubles. Fewer than all lanes are loaded and stored under a mask. */
#pragma once

#include <immintrin.h>

#include "qrt/base.h"

#define LANES 16
#define ALL ((__mmask16)0xffff)
#define LOADS_ARE_MASKED true
#define V(operation) _mm512_##operation

typedef __m512 floats;
typedef __m512i integers;
typedef __m256i words;
typedef __mmask16 live_lanes;

QRT_INLINE live_lanes first_lanes(int64_t count) {
    return count >= LANES ? ALL : (live_lanes)((1u << count) - 1);
}

/* Rounds half to even, whatever the control register says. */
QRT_INLINE integers round_half_even(floats v) {
    return _mm512_cvt_roundps_epi32(v, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}

/* Each returns the low byte, or the low word, of each integer. */
QRT_INLINE __m128i low_bytes(integers v) {
    return _mm512_cvtepi32_epi8(v);
}

QRT_INLINE words low_words(integers v) {
    return _mm512_cvtepi32_epi16(v);
}

/* The low bytes of four vectors, whose values are within the container: all fit signed words. */
QRT_INLINE integers narrow_bytes(integers a, integers b, integers c, integers d, bool is_signed) {
    const integers low = _mm512_packs_epi32(a, b), high = _mm512_packs_epi32(c, d);
    const integers bytes = is_signed ? _mm512_packs_epi16(low, high) : _mm512_packus_epi16(low, high);
    const integers order = _mm512_setr_epi32(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
    return _mm512_permutexvar_epi32(order, bytes);
}

QRT_INLINE __m128i load_bytes(const void *source, live_lanes live) {
    return live == ALL ? _mm_loadu_si128(source) : _mm_maskz_loadu_epi8(live, source);
}

QRT_INLINE words load_words(const void *source, live_lanes live) {
    return live == ALL ? _mm256_loadu_si256(source) : _mm256_maskz_loadu_epi16(live, source);
}

QRT_INLINE integers load_integers(const void *source, live_lanes live) {
    return live == ALL ? _mm512_loadu_si512(source) : _mm512_maskz_loadu_epi32(live, source);
}

QRT_INLINE void store_bytes(void *target, __m128i v, live_lanes live) {
    if (__builtin_expect(live == ALL, true))
        _mm_storeu_si128(target, v);
    else
        _mm_mask_storeu_epi8(target, live, v);
}

/* With `stream` it stores past the caches, where all lanes are live and the target is aligned. */
QRT_INLINE void store_words(void *target, words v, live_lanes live, bool stream) {
    if (__builtin_expect(live != ALL, false))
        _mm256_mask_storeu_epi16(target, live, v);
    else if (__builtin_expect(stream, false) && (uintptr_t)target % sizeof v == 0)
        _mm256_stream_si256(target, v);
    else
        _mm256_storeu_si256(target, v);
}

QRT_INLINE void store_whole(void *target, integers v, bool stream) {
    if (__builtin_expect(stream, false) && (uintptr_t)target % sizeof v == 0)
        _mm512_stream_si512(target, v);
    else
        _mm512_storeu_si512(target, v);
}

QRT_INLINE void store_integers(void *target, integers v, live_lanes live) {
    _mm512_mask_storeu_epi32(target, live, v);
}
