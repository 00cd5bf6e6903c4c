/* Packing for multiply-adds on pairs of 16-bit values: value - zero point, widened.
 *
 * Rows of A follow each other, so that packing is a widening copy. B is [pair][column][2], so that a broadcast pair of
 * A meets a vector of columns. A panel has one vector where no more columns are valid. Per 8 values of A: vpmovzxbw or
 * vpmovsxbw, a shuffle on port 5, and vpsubw. B takes two unpacks more for each pair of rows.
 *
 * Exact: |value - zero point| <= 255 fits 16 bits, the two products of a pair sum up to at most 2 * 255^2 < 2^31, and
 * vpmaddwd does not saturate. There is nothing to compensate for. Hazard: memory may end behind a row, so its last
 * values go through a buffer.
 *
 * The including file defines KU, LANES (columns of a vector) and NR (columns of a panel). */
#pragma once

#if !defined(KU) || KU != 2 || !defined(LANES) || !defined(NR)
#error "gemm/pack_i16.inl packs pairs (KU is 2), and needs LANES and NR"
#endif

#include <immintrin.h>
#include <string.h>

#include "qrt/qrt.h"

#define PART 8 /* values that are widened at a time */

static inline __m128i widen8(qrt_container container, __m128i bytes) {
    return container == QRT_I8 ? _mm_cvtepi8_epi16(bytes) : _mm_cvtepu8_epi16(bytes);
}

static inline int value8(qrt_container container, const uint8_t *p) {
    return container == QRT_I8 ? (int8_t)*p : *p;
}

static inline __m128i load8(qrt_container container, const uint8_t *source) {
    return widen8(container, _mm_loadl_epi64((const __m128i *)source));
}

/* Loads fewer than 8 values; the others are 0. */
static inline __m128i load_part(qrt_container container, const uint8_t *source, int count, __m128i zero) {
    uint8_t bytes[8] = {0};
    int16_t values[8] = {0};
    memcpy(bytes, source, (size_t)count);
    _mm_storeu_si128((__m128i *)values, _mm_sub_epi16(load8(container, bytes), zero));
    memset(values + count, 0, (size_t)(8 - count) * sizeof *values);
    return _mm_loadu_si128((const __m128i *)values);
}

static inline __m128i load_step(qrt_container container, const uint8_t *source, int64_t left, __m128i zero) {
    return left >= PART ? _mm_sub_epi16(load8(container, source), zero) : load_part(container, source, (int)left, zero);
}

static qrt_a_form a_form(const qrt_gemm_args *args) {
    (void)args;
    return QRT_A_PACKED;
}

static void pack_a(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation) {
    (void)compensation;
    for (int i = 0; i < rows; i++) {
        const uint8_t *from = (const uint8_t *)source + i * source_stride;
        int16_t *to = (int16_t *)((char *)target + i * target_stride);
        const __m128i zero = _mm_set1_epi16((short)zero_point[i]);
        for (int64_t k = 0; k < depth; k += PART)
            _mm_store_si128((__m128i *)(to + k), load_step(container, from + k, depth - k, zero));
    }
}

/* For contiguous columns. Two rows of 8 columns interleave into 8 pairs. */
static inline void pack_b_rows(qrt_container container, const uint8_t *source, int64_t k_stride, int columns,
                               int64_t depth, const int32_t *zero_point, int16_t *panel, int width) {
    const int64_t pairs = (depth + KU - 1) / KU;
    for (int64_t p = 0; p < pairs; p++) {
        for (int j = 0; j < width; j += 8) {
            const __m128i zero = _mm_packs_epi32(_mm_loadu_si128((const __m128i *)(zero_point + j)),
                                                 _mm_loadu_si128((const __m128i *)(zero_point + j + 4)));
            __m128i row[2];
            for (int r = 0; r < 2; r++) {
                const uint8_t *from = source + (2 * p + r) * k_stride + j;
                if (2 * p + r >= depth || j >= columns)
                    row[r] = _mm_setzero_si128();
                else if (j + 8 <= columns)
                    row[r] = _mm_sub_epi16(load8(container, from), zero);
                else
                    row[r] = load_part(container, from, columns - j, zero);
            }
            int16_t *to = panel + (p * width + j) * 2;
            _mm_store_si128((__m128i *)to, _mm_unpacklo_epi16(row[0], row[1]));
            _mm_store_si128((__m128i *)(to + 8), _mm_unpackhi_epi16(row[0], row[1]));
        }
    }
}

/* For contiguous K. Four columns of 8 values are a 4x4 transpose of pairs. */
static inline void pack_b_columns(qrt_container container, const uint8_t *source, int64_t n_stride, int columns,
                                  int64_t depth, const int32_t *zero_point, int16_t *panel, int width) {
    for (int64_t k = 0; k < depth; k += PART) {
        const int pairs = depth - k < PART ? (int)(depth - k + KU - 1) / KU : PART / KU;
        for (int j = 0; j < width; j += 4) {
            __m128i c[4];
            for (int i = 0; i < 4; i++)
                c[i] = j + i < columns ? load_step(container, source + (j + i) * n_stride + k, depth - k,
                                                   _mm_set1_epi16((short)zero_point[j + i]))
                                       : _mm_setzero_si128();
            const __m128i low01 = _mm_unpacklo_epi32(c[0], c[1]), low23 = _mm_unpacklo_epi32(c[2], c[3]);
            const __m128i high01 = _mm_unpackhi_epi32(c[0], c[1]), high23 = _mm_unpackhi_epi32(c[2], c[3]);
            const __m128i pair[4] = {_mm_unpacklo_epi64(low01, low23), _mm_unpackhi_epi64(low01, low23),
                                     _mm_unpacklo_epi64(high01, high23), _mm_unpackhi_epi64(high01, high23)};
            for (int p = 0; p < pairs; p++)
                _mm_store_si128((__m128i *)(panel + (k + p * KU) * width + j * KU), pair[p]);
        }
    }
}

static void pack_b(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation) {
    (void)compensation;
    int16_t *to = panel;
    const int width = columns > LANES ? NR : LANES;
    if (n_stride == 1) {
        pack_b_rows(container, source, k_stride, columns, depth, zero_point, to, width);
        return;
    }
    if (k_stride == 1) {
        pack_b_columns(container, source, n_stride, columns, depth, zero_point, to, width);
        return;
    }
    memset(to, 0, (size_t)((depth + KU - 1) / KU * KU * width) * sizeof *to);
    for (int64_t k = 0; k < depth; k++)
        for (int j = 0; j < columns; j++)
            to[(k / KU * width + j) * KU + k % KU] =
                (int16_t)(value8(container, (const uint8_t *)source + k * k_stride + j * n_stride) - zero_point[j]);
}
