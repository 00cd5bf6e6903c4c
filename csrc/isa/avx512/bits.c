/* 1, 2 and 4-bit values, 64 at a time.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d), as sums that never carry
 *   vpmovwb, vpmovdb         keep the low byte of each
 *   vpmovzxbw, vpmovzxbd     a packed byte in front of room for its values; shifts and a mask spread them
 *   vptestmb, kmovq          64 bits are 64 lanes of a mask, both ways */
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

void avx512_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    pack_bits(args, source, target, count);
}

void avx512_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    unpack_bits(args, source, target, count);
}
