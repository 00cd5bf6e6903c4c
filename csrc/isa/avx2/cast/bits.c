/* Packing and unpacking of 1, 2 and 4-bit values, 32 at a time.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d); ports 0 and 1
 *   vpackuswb, vpshufb, ...  keep the low byte of each; shuffles, on port 5 or on 1 and 5
 *   vpmovzxbw, vpmovzxbd     put a packed byte in front of room for its values (port 5); shifts and a mask spread them
 *   vpmovmskb                gathers the top bits of 32 bytes (port 0); vpshufb and vpcmpeqb spread them again
 *
 * A vector of 32 values takes 2 to 6 uops to pack, at most 8 to unpack. Exact: values do not overlap in these sums, so
 * that nothing carries. Hazard: a row may end anywhere, so its last values, fewer than 32, are left to the parent. */
#include "isa/rows.h"
#include "isa/avx2/vectors.h"

QRT_INLINE __m128i bytes_of_words(__m256i v) {
    return _mm256_castsi256_si128(_mm256_permute4x64_epi64(_mm256_packus_epi16(v, v), 0xd8));
}

QRT_INLINE void pack_ones(uint8_t *bytes, __m256i v) {
    const int bits = _mm256_movemask_epi8(_mm256_slli_epi16(v, 7));
    memcpy(bytes, &bits, sizeof bits);
}

QRT_INLINE __m256i spread_ones(const uint8_t *bytes) {
    int bits;
    memcpy(&bits, bytes, sizeof bits);
    const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte_of), bit_of);
    return _mm256_and_si256(_mm256_cmpeq_epi8(spread, bit_of), _mm256_set1_epi8(1));
}

#include "isa/x86/bits/bits.inl"
