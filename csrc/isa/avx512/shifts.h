/* Shifts and lanes of 512 bits, which isa/x86/store/strip.inl needs beside vectors.h. */
#pragma once

#include "vectors.h"

#define LOGICAL_SHIFTS false

QRT_INLINE __m512i shift_right(__m512i v, __m512i count) {
    return _mm512_srav_epi64(v, count);
}

QRT_INLINE __m512i interleave(__m512i even, __m512i odd) {
    return _mm512_mask_shuffle_epi32(even, 0xaaaa, odd, _MM_PERM_CCAA);
}

QRT_INLINE bool all_within(__m512i values, int low, int high, live_lanes live) {
    const __m512i above = _mm512_sub_epi32(values, _mm512_set1_epi32(low));
    return _mm512_mask_cmpgt_epu32_mask(live, above, _mm512_set1_epi32(high - low)) == 0;
}
