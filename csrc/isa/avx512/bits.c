/* 1, 2 and 4-bit values, 64 at a time; what is left over is the parent's.
 *
 *   vpmaddubsw, vpmaddwd     gather neighbours: a + 4b, then (a + 4b) + 16(c + 4d), as sums that never carry
 *   vpmovwb, vpmovdb         keep the low byte of each
 *   vpmovzxbw, vpmovzxbd     a packed byte in front of room for its values; shifts and a mask spread them
 *   vptestmb, kmovq          64 bits are 64 lanes of a mask, both ways */
#include <immintrin.h>

#include "isa/rows.h"

#define BLOCK 64

void avx512_pack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *values = source;
    uint8_t *bytes = target;
    const int width = args->width;
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        const __m512i v = _mm512_loadu_si512(values + i);
        if (width == 4) {
            const __m512i low = _mm512_and_si512(v, _mm512_set1_epi8(15));
            const __m512i pairs = _mm512_maddubs_epi16(low, _mm512_set1_epi16(0x1001));
            _mm256_storeu_si256((__m256i *)bytes, _mm512_cvtepi16_epi8(pairs));
        } else if (width == 2) {
            const __m512i low = _mm512_and_si512(v, _mm512_set1_epi8(3));
            const __m512i pairs = _mm512_maddubs_epi16(low, _mm512_set1_epi16(0x0401));
            const __m512i fours = _mm512_madd_epi16(pairs, _mm512_set1_epi32(0x00100001));
            _mm_storeu_si128((__m128i *)bytes, _mm512_cvtepi32_epi8(fours));
        } else {
            const uint64_t bits = _mm512_test_epi8_mask(v, _mm512_set1_epi8(1));
            _mm_storeu_si64(bytes, _mm_cvtsi64_si128((long long)bits));
        }
    }
    if (i < count)
        avx512_parent.pack_bits_row(args, values + i, bytes, count - i);
}

void avx512_unpack_bits_row(const qrt_bits_args *args, const void *source, void *target, int64_t count) {
    const uint8_t *bytes = source;
    uint8_t *values = target;
    const int width = args->width;
    /* (v ^ sign) - sign extends the sign; of unsigned values nothing. */
    const __m512i sign = _mm512_set1_epi8((char)(args->container == QRT_I8 ? 1 << (width - 1) : 0));
    int64_t i = 0;
    for (; i + BLOCK <= count; i += BLOCK, bytes += BLOCK * width / 8) {
        __m512i v;
        if (width == 4) {
            v = _mm512_cvtepu8_epi16(_mm256_loadu_si256((const __m256i *)bytes));
            v = _mm512_and_si512(_mm512_or_si512(v, _mm512_slli_epi16(v, 4)), _mm512_set1_epi8(15));
        } else if (width == 2) {
            v = _mm512_cvtepu8_epi32(_mm_loadu_si128((const __m128i *)bytes));
            v = _mm512_or_si512(v, _mm512_slli_epi32(v, 12));
            v = _mm512_and_si512(_mm512_or_si512(v, _mm512_slli_epi32(v, 6)), _mm512_set1_epi8(3));
        } else {
            const long long bits = _mm_cvtsi128_si64(_mm_loadu_si64(bytes));
            v = _mm512_maskz_set1_epi8((__mmask64)bits, 1);
        }
        _mm512_storeu_si512(values + i, _mm512_sub_epi8(_mm512_xor_si512(v, sign), sign));
    }
    if (i < count)
        avx512_parent.unpack_bits_row(args, bytes, values + i, count - i);
}
