/* 1, 2 and 4-bit values, 32 at a time.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d), as sums that never carry
 *   vpshufb, vpermq          keep the low byte of each
 *   vpmovzxbw, vpmovzxbd     a packed byte in front of room for its values; shifts and a mask spread them
 *   vpmovmskb                gathers the top bits of 32 bytes; vpshufb and vpcmpeqb spread them again */
#include "isa/rows.h"
#include "vectors.h"

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

void avx2_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    pack_bits(args, source, target, count);
}

void avx2_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    unpack_bits(args, source, target, count);
}
