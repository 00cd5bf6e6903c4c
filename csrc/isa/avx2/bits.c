/* 1, 2 and 4-bit values, 32 at a time; what is left over is the parent's.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d), as sums that never carry
 *   vpshufb, vpermq          keep the low byte of each
 *   vpmovzxbw, vpmovzxbd     a packed byte in front of room for its values; shifts and a mask spread them
 *   vpmovmskb                gathers the top bits of 32 bytes; vpshufb and vpcmpeqb spread them again */
#include <immintrin.h>
#include <string.h>

#include "isa/rows.h"

#define BLOCK 32

void avx2_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *values = source;
    uint8_t *bytes = target;
    const int width = args->width;
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        const __m256i v = _mm256_loadu_si256((const __m256i *)(values + i));
        if (width == 4) {
            const __m256i low = _mm256_and_si256(v, _mm256_set1_epi8(15));
            const __m256i pairs = _mm256_maddubs_epi16(low, _mm256_set1_epi16(0x1001));
            const __m256i packed = _mm256_permute4x64_epi64(_mm256_packus_epi16(pairs, pairs), 0xd8);
            _mm_storeu_si128((__m128i *)bytes, _mm256_castsi256_si128(packed));
        } else if (width == 2) {
            const __m256i low = _mm256_and_si256(v, _mm256_set1_epi8(3));
            const __m256i pairs = _mm256_maddubs_epi16(low, _mm256_set1_epi16(0x0401));
            __m256i fours = _mm256_madd_epi16(pairs, _mm256_set1_epi32(0x00100001));
            fours = _mm256_shuffle_epi8(fours, _mm256_set1_epi32(0x0c080400));
            const __m128i high = _mm256_extracti128_si256(fours, 1);
            _mm_storel_epi64((__m128i *)bytes, _mm_unpacklo_epi32(_mm256_castsi256_si128(fours), high));
        } else {
            const int bits = _mm256_movemask_epi8(_mm256_slli_epi16(v, 7));
            memcpy(bytes, &bits, sizeof bits);
        }
    }
    if (i < count)
        avx2_parent.pack_bits_row(args, values + i, bytes, count - i);
}

/* 32 bits as 32 bytes of 0 or 1. */
static inline __m256i spread_bits(const uint8_t *bytes) {
    int bits;
    memcpy(&bits, bytes, sizeof bits);
    const __m256i byte_of = _mm256_setr_epi64x(0, 0x0101010101010101, 0x0202020202020202, 0x0303030303030303);
    const __m256i bit_of = _mm256_set1_epi64x((long long)0x8040201008040201);
    const __m256i spread = _mm256_and_si256(_mm256_shuffle_epi8(_mm256_set1_epi32(bits), byte_of), bit_of);
    return _mm256_and_si256(_mm256_cmpeq_epi8(spread, bit_of), _mm256_set1_epi8(1));
}

void avx2_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *bytes = source;
    uint8_t *values = target;
    const int width = args->width;
    /* (v ^ sign) - sign extends the sign; of unsigned values nothing. */
    const __m256i sign = _mm256_set1_epi8((char)(args->container == QRT_I8 ? 1 << (width - 1) : 0));
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        __m256i v;
        if (width == 4) {
            v = _mm256_cvtepu8_epi16(_mm_loadu_si128((const __m128i *)bytes));
            v = _mm256_and_si256(_mm256_or_si256(v, _mm256_slli_epi16(v, 4)), _mm256_set1_epi8(15));
        } else if (width == 2) {
            v = _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)bytes));
            v = _mm256_or_si256(v, _mm256_slli_epi32(v, 12));
            v = _mm256_and_si256(_mm256_or_si256(v, _mm256_slli_epi32(v, 6)), _mm256_set1_epi8(3));
        } else {
            v = spread_bits(bytes);
        }
        _mm256_storeu_si256((__m256i *)(values + i), _mm256_sub_epi8(_mm256_xor_si256(v, sign), sign));
    }
    if (i < count)
        avx2_parent.unpack_bits_row(args, bytes, values + i, count - i);
}
