/* Rows of floats by quantized weights, for any vector width, without instructions that add four products.
 *
 *   vpmaddubsw    nibbles by digits of 8 bits: sums of two products, each at most 15 * 128, in 16 bits. CHUNK vectors
 *                 of them, each with two such pairs, fit 16 bits
 *   vpmaddwd      bytes, widened, by digits of 16 bits: sums of two products, each at most 255 * 2^15, in 32 bits
 *
 * Eight nibbles of a row and a vector take 12 uops, six vpmaddubsw and six vpaddw; four bytes take 8, four vpmaddwd and
 * four vpaddd. Multiply-adds are on ports 0 and 1 (512 bits: 0 and 5), additions on 0, 1 and 5 (512 bits: 0 and 5).
 *
 * A vector holds columns, and one vector of them is computed at a time for all rows, whose words are broadcast. Nibbles
 * meet integers as three signed bytes, S2, S1 and S0; bytes meet them as S2 and 16 bits, B. avx512vnni/mixed_matmul.c
 * has the proof that sums fit and that T is rounded once. There B is 256 * S1 + S0; here it is as large, because
 * |digit| <= 2^15. Hazard: more than CHUNK vectors of nibbles would leave 16 bits.
 *
 * The including file defines
 *
 *   OP(name), SI(name)    the intrinsic of that name for `vector`, of LANES i32, or `floats`; the one for its bits
 *   HALF(name)            the intrinsic of that name for the bits of half a vector */
#pragma once

#if !defined OP || !defined SI || !defined HALF || !defined LANES
#error "mixed_matmul/tile.inl needs OP, SI, HALF and LANES"
#endif

#include "isa/rows.h"
#include "qrt/products/mixed_matmul.h"

#define NR QRT_PRODUCT_NR
#define MR QRT_MIXED_MR
#define VECTORS (NR / LANES)
#define CHUNK 4
#define MOST_DIGITS 3
#define AHEAD 4096 /* bytes, at which prefetching alone reads the stream at full speed */

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

/* Adds up to CHUNK vectors of nibbles, which are 64 bytes apart. For one row it is unrolled, because the loop itself
 * would take as long as its sums. */
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

/* Adds vectors of bytes: first the first and third of four values, then the second and fourth. */
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

/* Returns T, rounded once. */
QRT_INLINE floats rounded(const bool nibbles, bool low_fits, const vector sums[MOST_DIGITS]) {
    const vector low = nibbles ? OP(add_epi32)(OP(slli_epi32)(sums[1], 8), sums[2]) : sums[0];
    if (low_fits)
        return OP(fmadd_ps)(OP(cvtepi32_ps)(nibbles ? sums[0] : sums[1]), OP(set1_ps)(65536), OP(cvtepi32_ps)(low));
    const vector high = OP(add_epi32)(nibbles ? sums[0] : sums[1], OP(srai_epi32)(low, 16));
    const vector rest = SI (and)(low, OP(set1_epi32)(0xFFFF));
    return OP(fmadd_ps)(OP(cvtepi32_ps)(high), OP(set1_ps)(65536), OP(cvtepi32_ps)(rest));
}

/* Multiplies a piece by a vector of columns and adds the result to `total`. */
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
            sums[i][d] = word((const int32_t *)(digits + i * row_bytes) + (nibbles ? 1 + d : 3 - 2 * d));
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

void QRT_OF_ISA(mixed_tile)(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
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
