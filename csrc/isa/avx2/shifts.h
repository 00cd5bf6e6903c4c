/* Shifts and lanes of 256 bits, which isa/x86/store/strip.inl needs beside vectors.h. */
#pragma once

#include "vectors.h"

#define LOGICAL_SHIFTS true

QRT_INLINE __m256i shift_right(__m256i v, __m256i count) {
    return _mm256_srlv_epi64(v, count);
}

QRT_INLINE __m256i interleave(__m256i even, __m256i odd) {
    return _mm256_blend_epi32(even, _mm256_slli_epi64(odd, 32), 0xaa);
}

QRT_INLINE bool all_within(__m256i values, int low, int high, live_lanes live) {
    const __m256i outside = _mm256_or_si256(_mm256_cmpgt_epi32(_mm256_set1_epi32(low), values),
                                            _mm256_cmpgt_epi32(values, _mm256_set1_epi32(high)));
    return (_mm256_movemask_ps(_mm256_castsi256_ps(outside)) & ((1 << live) - 1)) == 0;
}
