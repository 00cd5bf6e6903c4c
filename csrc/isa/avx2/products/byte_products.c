/* Sums of products of bytes, of four rows of weights at a time.
 *
 *   vpmovsxbw  widens sixteen bytes, on port 5; one for each row, and one of x for all four
 *   vpmaddwd   32 bits of two products, on ports 0 and 1
 *
 * Exact: a value minus its zero point has at most 255 in magnitude, so that a pair of products is below 2^17, and the
 * eight lanes of 2^14 values add up to less than 2^30. Sums go on in 64 bits. */
#include <immintrin.h>

#include "isa/rows.h"

#define ROWS 4
#define AT_ONCE (1 << 14)

static int64_t sum_of_lanes(__m256i lanes) {
    const __m128i four = _mm_add_epi32(_mm256_castsi256_si128(lanes), _mm256_extracti128_si256(lanes, 1));
    const __m128i two = _mm_add_epi32(four, _mm_shuffle_epi32(four, 0x4e));
    return _mm_cvtsi128_si32(_mm_add_epi32(two, _mm_shuffle_epi32(two, 0xb1)));
}

/* Adds to sums[r] the products of `count` values with row r of w. */
QRT_INLINE void add_products(const int8_t *x, const int8_t *w, int rows, int64_t stride, int64_t count,
                             int64_t zero_point, int64_t *sums) {
    const __m256i zero = _mm256_set1_epi16((short)zero_point);
    __m256i lanes[ROWS];
    int64_t i = 0;
    for (int r = 0; r < rows; r++)
        lanes[r] = _mm256_setzero_si256();
    for (; i + 16 <= count; i += 16) {
        const __m256i values = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(x + i)));
        const __m256i apart = _mm256_sub_epi16(values, zero);
        for (int r = 0; r < rows; r++) {
            const __m256i weights = _mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i *)(w + r * stride + i)));
            lanes[r] = _mm256_add_epi32(lanes[r], _mm256_madd_epi16(apart, weights));
        }
    }
    for (int r = 0; r < rows; r++) {
        int32_t rest = 0;
        for (int64_t j = i; j < count; j++)
            rest += (x[j] - (int32_t)zero_point) * w[r * stride + j];
        sums[r] += sum_of_lanes(lanes[r]) + rest;
    }
}

void avx2_byte_products(const int8_t *x, const int8_t *w, int64_t rows, int64_t count, int64_t zero_point,
                        int64_t *sums) {
    if (zero_point < INT8_MIN || zero_point > INT8_MAX) {
        avx2_parent.byte_products(x, w, rows, count, zero_point, sums);
        return;
    }
    for (int64_t row = 0; row < rows; row++)
        sums[row] = 0;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t part = count - first < AT_ONCE ? count - first : AT_ONCE;
        int64_t row = 0;
        for (; row + ROWS <= rows; row += ROWS)
            add_products(x + first, w + row * count + first, ROWS, count, part, zero_point, sums + row);
        for (; row < rows; row++)
            add_products(x + first, w + row * count + first, 1, count, part, zero_point, sums + row);
    }
}
