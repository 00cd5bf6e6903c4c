/* Packing and unpacking of 1, 2 and 4-bit values, 64 at a time.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d); ports 0 and 5
 *   vpmovwb, vpmovdb         keep the low byte of each; two uops on port 5
 *   vpmovzxbw, vpmovzxbd     put a packed byte in front of room for its values (port 5); shifts and a mask spread them
 *   vptestmb, kmovq          64 bits are 64 lanes of a mask, both ways
 *
 * A vector of 64 values takes at most 5 uops to pack and 8 to unpack, on ports 0 and 5. Exact: values do not overlap in
 * these sums, so that nothing carries. Hazard: a row may end anywhere, so its last values, fewer than 64, are left to
 * the parent. */
#include "isa/rows.h"
#include "vectors.h"

QRT_INLINE __m256i bytes_of_words(__m512i v) {
    return _mm512_cvtepi16_epi8(v);
}

QRT_INLINE void pack_ones(uint8_t *bytes, __m512i v) {
    const uint64_t bits = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
    _mm_storeu_si64(bytes, _mm_cvtsi64_si128((long long)bits));
}

QRT_INLINE __m512i spread_ones(const uint8_t *bytes) {
    const long long bits = _mm_cvtsi128_si64(_mm_loadu_si64(bytes));
    return _mm512_maskz_set1_epi8((__mmask64)bits, 1);
}

#include "isa/x86/bits/bits.inl"
