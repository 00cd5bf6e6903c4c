/* Packing for dot products of four u8 with four s8: A made u8, B s8 by flipping the top bit where it is not, which
 * moves the values and their zero points by 128 alike.
 *
 *     sum (a - za)(b - zb) = sum a*b - zb * (sum a - depth * za) - za * sum b
 *
 * `start` puts the last two terms in before the products. The instructions wrap modulo 2^32 as it does, and the exact
 * sum fits 31 bits (qrt.h), so the final value is exact. Filled-up values of K are 0 in both panels.
 *
 * A step is ku values of K, a multiple of 16. Panels: A [step][row][ku]; B [step][quad][column][4]. */
#ifndef QRT_ISA_PACK_U8S8_H
#define QRT_ISA_PACK_U8S8_H

#include <immintrin.h>
#include <string.h>

#include "qrt.h"

#define QRT_PIECE 16 /* bytes handled at once */

/* min(left, 16) bytes with their top bits flipped as asked, then zeros. */
static inline __m128i qrt_load_flipped(const uint8_t *source, int64_t left, __m128i flip) {
    if (left >= QRT_PIECE)
        return _mm_xor_si128(_mm_loadu_si128((const __m128i *)source), flip);
    uint8_t bytes[QRT_PIECE] = {0}, flips[QRT_PIECE] = {0};
    if (left > 0) {
        memcpy(bytes, source, (size_t)left);
        memset(flips, _mm_cvtsi128_si32(flip), (size_t)left);
    }
    return _mm_xor_si128(_mm_loadu_si128((const __m128i *)bytes), _mm_loadu_si128((const __m128i *)flips));
}

/* a_terms: sum a - depth * za per row, then za. */
static inline void qrt_pack_a_u8(qrt_container container, const uint8_t *source, int64_t row_stride, int rows,
                                 int64_t depth, const int32_t *zero_point, uint8_t *panel, int32_t *terms, int mr,
                                 int ku) {
    const uint8_t top = container == QRT_I8 ? 0x80 : 0;
    const __m128i flip = _mm_set1_epi8((char)top);
    const int64_t padded = (depth + ku - 1) / ku * ku;
    for (int i = 0; i < mr; i++) {
        const uint8_t *row = source + i * row_stride;
        const int64_t valid = i < rows ? depth : 0;
        __m128i sum = _mm_setzero_si128();
        for (int64_t k = 0; k < padded; k += QRT_PIECE) {
            const __m128i bytes = qrt_load_flipped(row + k, valid - k, flip);
            _mm_store_si128((__m128i *)(panel + k / ku * ku * mr + i * ku + k % ku), bytes);
            sum = _mm_add_epi64(sum, _mm_sad_epu8(bytes, _mm_setzero_si128()));
        }
        const int32_t zero = i < rows ? zero_point[i] + top : 0;
        const int64_t total = _mm_cvtsi128_si64(sum) + _mm_extract_epi64(sum, 1);
        terms[i] = (int32_t)(uint32_t)(total - depth * zero);
        terms[mr + i] = zero;
    }
}

/* Columns contiguous: four rows of 16 columns interleave into 16 quads. */
static inline void qrt_pack_b_rows_s8(const uint8_t *source, int64_t k_stride, int columns, int64_t depth,
                                      int64_t padded, __m128i flip, int8_t *panel, int nr) {
    for (int64_t k = 0; k < padded; k += 4)
        for (int j = 0; j < nr; j += QRT_PIECE) {
            __m128i row[4];
            for (int r = 0; r < 4; r++)
                row[r] = qrt_load_flipped(source + (k + r) * k_stride + j, k + r < depth ? columns - j : 0, flip);
            const __m128i low01 = _mm_unpacklo_epi8(row[0], row[1]), low23 = _mm_unpacklo_epi8(row[2], row[3]);
            const __m128i high01 = _mm_unpackhi_epi8(row[0], row[1]), high23 = _mm_unpackhi_epi8(row[2], row[3]);
            __m128i *to = (__m128i *)(panel + k * nr + j * 4);
            _mm_store_si128(to, _mm_unpacklo_epi16(low01, low23));
            _mm_store_si128(to + 1, _mm_unpackhi_epi16(low01, low23));
            _mm_store_si128(to + 2, _mm_unpacklo_epi16(high01, high23));
            _mm_store_si128(to + 3, _mm_unpackhi_epi16(high01, high23));
        }
}

/* K contiguous: four columns of 16 values are a 4x4 transpose of quads. */
static inline void qrt_pack_b_columns_s8(const uint8_t *source, int64_t n_stride, int columns, int64_t depth,
                                         int64_t padded, __m128i flip, int8_t *panel, int nr) {
    for (int64_t k = 0; k < padded; k += QRT_PIECE)
        for (int j = 0; j < nr; j += 4) {
            __m128i c[4];
            for (int i = 0; i < 4; i++)
                c[i] = qrt_load_flipped(source + (j + i) * n_stride + k, j + i < columns ? depth - k : 0, flip);
            const __m128i low01 = _mm_unpacklo_epi32(c[0], c[1]), low23 = _mm_unpacklo_epi32(c[2], c[3]);
            const __m128i high01 = _mm_unpackhi_epi32(c[0], c[1]), high23 = _mm_unpackhi_epi32(c[2], c[3]);
            __m128i *to = (__m128i *)(panel + k * nr + j * 4);
            const int quad = nr * 4 / 16; /* vectors from one quad to the next */
            _mm_store_si128(to, _mm_unpacklo_epi64(low01, low23));
            _mm_store_si128(to + quad, _mm_unpackhi_epi64(low01, low23));
            _mm_store_si128(to + 2 * quad, _mm_unpacklo_epi64(high01, high23));
            _mm_store_si128(to + 3 * quad, _mm_unpackhi_epi64(high01, high23));
        }
}

/* Of one packed panel. Pairs of at most 2 * 128 do not saturate their 16 bits. */
static inline void qrt_column_sums_s8(const int8_t *panel, int64_t quads, int32_t *sums, int nr) {
    memset(sums, 0, (size_t)nr * sizeof *sums);
    for (int64_t q = 0; q < quads; q++)
        for (int j = 0; j < nr; j += 8, panel += 32) {
            const __m256i values = _mm256_load_si256((const __m256i *)panel);
            const __m256i pairs = _mm256_maddubs_epi16(_mm256_set1_epi8(1), values);
            const __m256i added = _mm256_add_epi32(_mm256_loadu_si256((const __m256i *)(sums + j)),
                                                   _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
            _mm256_storeu_si256((__m256i *)(sums + j), added);
        }
}

/* b_terms: zb per column, then sum b. */
static inline void qrt_pack_b_s8(qrt_container container, const uint8_t *source, int64_t k_stride, int64_t n_stride,
                                 int columns, int64_t depth, const int32_t *zero_point, int8_t *panel, int32_t *terms,
                                 int nr, int ku) {
    const uint8_t top = container == QRT_U8 ? 0x80 : 0;
    const __m128i flip = _mm_set1_epi8((char)top);
    const int64_t padded = (depth + ku - 1) / ku * ku;
    if (n_stride == 1) {
        qrt_pack_b_rows_s8(source, k_stride, columns, depth, padded, flip, panel, nr);
    } else if (k_stride == 1) {
        qrt_pack_b_columns_s8(source, n_stride, columns, depth, padded, flip, panel, nr);
    } else {
        memset(panel, 0, (size_t)(padded * nr));
        for (int64_t k = 0; k < depth; k++)
            for (int j = 0; j < columns; j++)
                panel[(k / 4 * nr + j) * 4 + k % 4] = (int8_t)(source[k * k_stride + j * n_stride] ^ top);
    }
    for (int j = 0; j < nr; j++)
        terms[j] = j < columns ? zero_point[j] - top : 0;
    qrt_column_sums_s8(panel, padded / 4, terms + nr, nr);
}

/* Plain: it is vectorised for whatever the including folder is built for. */
static inline void qrt_start_u8s8(const int32_t *restrict bias, const int32_t *restrict a_terms,
                                  const int32_t *restrict b_terms, int32_t *restrict tile, int mr, int nr) {
    for (int i = 0; i < mr; i++)
        for (int j = 0; j < nr; j++)
            tile[i * nr + j] = bias[j] - b_terms[nr + j] * a_terms[mr + i] - b_terms[j] * a_terms[i];
}

#endif
