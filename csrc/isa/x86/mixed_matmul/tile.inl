/* Rows of floats by quantized weights, for any vector width, without instructions that add four products.
 *
 *   vpmaddubsw    nibbles times digits of a byte, two products of at most 15 * 128 to 16 bits: CHUNK vectors of them,
 *                 each of two such pairs, fit
 *   vpmaddwd      bytes, widened, times digits of 16 bits, two products of at most 255 * 2^15 to 32 bits
 *
 * Vectors are columns; one of them at a time, for all rows, whose words are broadcast. Nibbles meet integers as three
 * signed bytes, S2, S1 and S0, bytes meet them as S2 and 16 bits, B. How T is rounded, and why sums fit, stands in
 * avx512vnni/mixed_matmul.c; B is there 256 * S1 + S0 and here as large: of |digit| <= 2^15.
 *
 * The including file defines
 *
 *   OP(name), SI(name)    the intrinsic of that name for `vector`, of LANES i32, or `floats`; the one of its bits
 *   HALF(name)            the intrinsic of that name for the bits of half a vector */
#ifndef QRT_ISA_MIXED_TILE_H
#define QRT_ISA_MIXED_TILE_H

#if !defined OP || !defined SI || !defined HALF || !defined LANES
#error "mixed_matmul/tile.inl needs OP, SI, HALF and LANES"
#endif

#include "isa/rows.h"
#include "qrt/mixed_matmul.h"

#define NR QRT_PRODUCT_NR
#define MR QRT_MIXED_MR
#define VECTORS (NR / LANES)
#define CHUNK 4
#define MOST_DIGITS 3
#define AHEAD 4096 /* bytes: the stream that prefetching alone keeps up with */

QRT_INLINE vector word(const int32_t *from) {
    return OP(set1_epi32)(*from);
}

QRT_INLINE void add_nibble_vector(const int rows, const uint8_t *from, const char *digits, int64_t row_bytes,
                                  vector pairs[MR][MOST_DIGITS]) {
    const vector low = OP(set1_epi8)(15), bytes = SI(load)((const vector *)from);
    const vector first = SI (and)(bytes, low), second = SI (and)(OP(srli_epi16)(bytes, 4), low);
    _mm_prefetch((const char *)from + AHEAD, _MM_HINT_T0);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int d = 0; d < 3; d++) {
            const int32_t *words = (const int32_t *)(digits + i * row_bytes) + 1 + d;
            const vector products =
                OP(add_epi16)(OP(maddubs_epi16)(first, word(words)), OP(maddubs_epi16)(second, word(words + 4)));
            pairs[i][d] = OP(add_epi16)(pairs[i][d], products);
        }
}

/* Up to CHUNK vectors of nibbles, 64 bytes apart; written out for one row, whose loop would take as long as its sums.
 */
QRT_INLINE void add_nibbles(const int rows, const uint8_t *from, const char *digits, int64_t row_bytes, int64_t count,
                            vector sums[MR][MOST_DIGITS]) {
    vector pairs[MR][MOST_DIGITS] = {0};
    if (rows == 1 && count == CHUNK) {
#pragma GCC unroll 4
        for (int v = 0; v < CHUNK; v++)
            add_nibble_vector(rows, from + v * 64, digits + v * 32, row_bytes, pairs);
    } else {
        for (int64_t v = 0; v < count; v++)
            add_nibble_vector(rows, from + v * 64, digits + v * 32, row_bytes, pairs);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int d = 0; d < 3; d++)
            sums[i][d] = OP(add_epi32)(sums[i][d], OP(madd_epi16)(pairs[i][d], OP(set1_epi16)(1)));
}

/* Vectors of bytes: the first and third of four values, then the second and fourth. */
QRT_INLINE void add_bytes(const int rows, const uint8_t *from, const char *digits, int64_t row_bytes, int64_t count,
                          vector sums[MR][MOST_DIGITS]) {
    for (; count > 0; count--, from += 64, digits += 16) {
        const vector bytes = SI(load)((const vector *)from);
        const vector even = SI (and)(bytes, OP(set1_epi16)(255)), odd = OP(srli_epi16)(bytes, 8);
        _mm_prefetch((const char *)from + AHEAD, _MM_HINT_T0);
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int d = 0; d < 2; d++) {
                const int32_t *words = (const int32_t *)(digits + i * row_bytes) + 2 * d;
                const vector products =
                    OP(add_epi32)(OP(madd_epi16)(even, word(words)), OP(madd_epi16)(odd, word(words + 1)));
                sums[i][d] = OP(add_epi32)(sums[i][d], products);
            }
    }
}

/* T, rounded once. */
QRT_INLINE floats rounded(const bool nibbles, bool low_fits, const vector sums[MOST_DIGITS]) {
    const vector low = nibbles ? OP(add_epi32)(OP(slli_epi32)(sums[1], 8), sums[2]) : sums[0];
    if (low_fits)
        return OP(fmadd_ps)(OP(cvtepi32_ps)(nibbles ? sums[0] : sums[1]), OP(set1_ps)(65536), OP(cvtepi32_ps)(low));
    const vector high = OP(add_epi32)(nibbles ? sums[0] : sums[1], OP(srai_epi32)(low, 16));
    const vector rest = SI (and)(low, OP(set1_epi32)(0xFFFF));
    return OP(fmadd_ps)(OP(cvtepi32_ps)(high), OP(set1_ps)(65536), OP(cvtepi32_ps)(rest));
}

/* A piece by a vector of columns, added to `total`. */
QRT_INLINE void add_piece(const bool nibbles, const int rows, const qrt_mixed_matmul_args *args, const char *digits,
                          const uint8_t *piece, int64_t count, int column, float *total) {
    const int64_t row_bytes = args->plan.row_bytes;
    const uint8_t *from = piece + column / 16 * count * 64 + column % 16 * 4, *scales = piece + 2 * 64 * count;
    const int16_t *zero_points = (const int16_t *)(scales + (args->plan.half_scales ? 64 : 128));
    const int parts = nibbles ? 3 : 2;
    vector sums[MR][MOST_DIGITS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int d = 0; d < parts; d++) {
            sums[i][d] = word((const int32_t *)(digits + i * row_bytes) + 1 + d);
            if (args->plan.zero_points_differ)
                sums[i][d] =
                    OP(mullo_epi32)(OP(cvtepi16_epi32)(HALF(load)((const void *)(zero_points + column))), sums[i][d]);
        }
    if (nibbles)
        for (int64_t v = 0; v < count; v += CHUNK)
            add_nibbles(rows, from + v * 64, digits + 16 + v * 32, row_bytes, count - v < CHUNK ? count - v : CHUNK,
                        sums);
    else
        add_bytes(rows, from, digits + 16, row_bytes, count, sums);
    const floats scale = args->plan.half_scales ? OP(cvtph_ps)(HALF(load)((const void *)(scales + column * 2)))
                                                : OP(load_ps)((const float *)scales + column);
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++, total += NR, digits += row_bytes) {
        const floats unit = OP(set1_ps)(*(const float *)digits);
        OP(store_ps)(total, OP(fmadd_ps)(OP(mul_ps)(rounded(nibbles, args->plan.low_fits, sums[i]), scale), unit,
                                         OP(load_ps)(total)));
    }
}

QRT_INLINE void tile_of(const bool nibbles, const int rows, const qrt_mixed_matmul_args *args, const char *digits,
                        const uint8_t *panel, float *sums) {
    memset(sums, 0, (size_t)rows * NR * sizeof *sums);
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t count = qrt_piece_vectors(nibbles, piece.length);
        for (int column = 0; column < NR; column += LANES)
            add_piece(nibbles, rows, args, digits, panel, count, column, sums + column);
        panel += qrt_piece_bytes(args, piece.length);
        digits += 16 + count * (nibbles ? 32 : 16);
    }
}

static void mixed_tile(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
                       float *sums) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        args->problem.nibbles ? tile_of(true, count, args, digits, panel, sums)                                        \
                              : tile_of(false, count, args, digits, panel, sums);                                      \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4)
#undef CASE
    }
}

#endif
