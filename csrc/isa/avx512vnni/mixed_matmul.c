/* Rows of floats by quantized weights, as integers of three signed bytes.
 *
 *   vpdpbusd      64 multiply-adds of bytes, unsigned weights by signed digits, without saturation: ports 0 and 5,
 *                 three for four values of a row and 16 columns
 *   vpand, shift  two or three uops make two vectors out of one of nibbles, for all rows
 *
 * With one row, reading the weights is the limit as long as both ports keep up:
 * docs/reference/kernels/quantized_weights.md.
 *
 * Vectors hold columns; four values of a row are one broadcast word for each digit. Exact: |digit| <= 128, a piece has
 * at most 128 values, and |q - zero point| <= 509 (zero points within 255, and unsigned values of the container). So a
 * piece's sum of each digit, S2, S1 or S0, is below 2^23, and B = 256 * S1 + S0, whose summands are at most 32896 *
 * 509, is below 2^31. Then T = 65536 * S2 + B = 65536 * (S2 + (B >> 16)) + (B & 65535) has two parts that floats hold,
 * and one fused multiply-add rounds T once. Hazard: sums may wrap until zero points are subtracted, so nothing may look
 * at them before. */
#include <immintrin.h>

#include "isa/rows.h"
#include "qrt/products/mixed_matmul.h"

#define NR QRT_PRODUCT_NR
#define MR QRT_MIXED_MR
#define DIGITS 3
#define VECTORS 2 /* vectors of columns */
#define SPLIT_ROWS 2
#define AHEAD 4096 /* bytes, at which prefetching alone reads the stream at full speed */

/* ---- rows ---- */

QRT_INLINE __mmask16 live(int64_t left) {
    return (__mmask16)(left >= 16 ? 0xFFFF : (1 << left) - 1);
}

/* The values of a row without their signs, as bits. */
QRT_INLINE __m512i magnitudes(__m512 x) {
    return _mm512_and_si512(_mm512_castps_si512(x), _mm512_set1_epi32(0x7FFFFFFF));
}

QRT_INLINE __mmask16 finite_of(__m512 x) {
    return _mm512_cmplt_epi32_mask(magnitudes(x), _mm512_set1_epi32(0x7F800000));
}

/* Returns the bits of the largest finite magnitude, and clears *finite where there are other values. */
static inline uint32_t largest_finite(const float *a, int64_t length, bool *finite) {
    __m512i largest = _mm512_setzero_si512();
    for (int64_t i = 0; i < length; i += 16) {
        const __m512 x = _mm512_maskz_loadu_ps(live(length - i), a + i);
        const __mmask16 usual = finite_of(x);
        *finite &= usual == 0xFFFF;
        largest = _mm512_mask_max_epi32(largest, usual, largest, magnitudes(x));
    }
    return (uint32_t)_mm512_reduce_max_epi32(largest);
}

/* Writes the digits of a piece to `to`, each four values as four words. Returns their sums in the same form: an empty
 * word, then one for each digit. */
static inline __m128i split_piece(const float *a, int64_t length, float inverse, __m128i *to) {
    const __m512i carries = _mm512_set1_epi32(0x8080), ones = _mm512_set1_epi8(1);
    const __m512i planes =
        _mm512_broadcast_i32x4(_mm_setr_epi8(-1, -1, -1, -1, 2, 6, 10, 14, 1, 5, 9, 13, 0, 4, 8, 12));
    __m512i sums = _mm512_setzero_si512();
    for (int64_t i = 0; i < length; i += 16, to += 4) {
        const __m512 x = _mm512_maskz_loadu_ps(live(length - i), a + i);
        const __m512i integers = _mm512_cvtps_epi32(_mm512_maskz_mul_ps(finite_of(x), x, _mm512_set1_ps(inverse)));
        const __m512i bytes = _mm512_xor_si512(_mm512_add_epi32(integers, carries), carries);
        const __m512i digits = _mm512_shuffle_epi8(bytes, planes);
        _mm512_storeu_si512(to, digits);
        sums = _mm512_dpbusd_epi32(sums, ones, digits);
    }
    const __m256i half = _mm256_add_epi32(_mm512_castsi512_si256(sums), _mm512_extracti64x4_epi64(sums, 1));
    return _mm_add_epi32(_mm256_castsi256_si128(half), _mm256_extracti128_si256(half, 1));
}

/* Writes for each piece its unit, and what the sums of its digits begin with, the most significant digit first; where
 * zero points differ, the sums of digits that zero points are multiplied by. Then follows for every four values an
 * empty word and one word for each digit. */
bool avx512vnni_mixed_row(const qrt_mixed_matmul_args *args, const float *a, void *digits) {
    const __m128i times = _mm_set1_epi32(args->plan.zero_points_differ ? -1 : -args->plan.common_zero_point);
    __m128i *to = digits;
    bool finite = true;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int exponent = qrt_unit_exponent(largest_finite(a + piece.k, piece.length, &finite));
        const float inverse = qrt_float_of(qrt_inverse_unit_bits(exponent));
        const __m128i sums = split_piece(a + piece.k, piece.length, inverse, to + 1);
        const __m128i unit = _mm_cvtsi32_si128((int)qrt_unit_bits(exponent));
        _mm_store_si128(to, _mm_mask_mullo_epi32(unit, 14, sums, times));
        to += 1 + qrt_piece_vectors(args->problem.nibbles, piece.length) * (args->problem.nibbles ? 2 : 1);
    }
    return finite;
}

/* ---- tiles ---- */

/* Written in assembly so that the sum stays in its register: see avx512/gemm.c. */
QRT_INLINE __m512i multiply_add(__m512i sum, __m512i weights, __m512i digits) {
    __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(weights), "v"(digits));
    return sum;
}

QRT_INLINE __m512i word(const int32_t *from) {
    return _mm512_set1_epi32(*from);
}

/* The sums of a row. High nibbles may have sums of their own, which are 16 times as large: then vectors need no
 * shift. */
typedef struct {
    __m512i of[VECTORS][DIGITS], high[VECTORS][DIGITS];
} row_sums;

/* Multiplies by one vector of each group of columns; `digits` are the rows' words for it. */
QRT_INLINE void add_vector(const bool nibbles, const bool split, const int rows, const uint8_t *const from[VECTORS],
                           const char *digits, int64_t row_bytes, row_sums sums[MR]) {
    const __m512i low = _mm512_set1_epi8(15);
    __m512i first[VECTORS], second[VECTORS];
#pragma GCC unroll 2
    for (int h = 0; h < VECTORS; h++) {
        _mm_prefetch((const char *)from[h] + AHEAD, _MM_HINT_T0);
        const __m512i bytes = _mm512_load_si512(from[h]);
        first[h] = nibbles ? _mm512_and_si512(bytes, low) : bytes;
        second[h] = split ? _mm512_andnot_si512(low, bytes) : _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 3
        for (int d = 0; d < DIGITS; d++) {
            const int32_t *words = (const int32_t *)(digits + i * row_bytes) + 1 + d;
            const __m512i low_word = word(words), high_word = nibbles ? word(words + 4) : low_word;
#pragma GCC unroll 2
            for (int h = 0; h < VECTORS; h++) {
                __m512i *high = split ? &sums[i].high[h][d] : &sums[i].of[h][d];
                sums[i].of[h][d] = multiply_add(sums[i].of[h][d], first[h], low_word);
                if (nibbles)
                    *high = multiply_add(*high, second[h], high_word);
            }
        }
}

/* Multiplies by the `count` vectors of a piece. */
QRT_INLINE void add_vectors(const bool nibbles, const bool split, const int rows, const uint8_t *piece,
                            const char *digits, int64_t row_bytes, int64_t count, row_sums sums[MR]) {
    const uint8_t *from[VECTORS] = {piece, piece + count * 64};
    int64_t left = count;
#define ADD_ONE                                                                                                        \
    add_vector(nibbles, split, rows, from, digits, row_bytes, sums);                                                   \
    from[0] += 64;                                                                                                     \
    from[1] += 64;                                                                                                     \
    digits += nibbles ? 32 : 16;
    for (; left >= 4; left -= 4) {
        ADD_ONE ADD_ONE ADD_ONE ADD_ONE
    }
    for (; left; left--) {
        ADD_ONE
    }
#undef ADD_ONE
    if (nibbles && split)
#pragma GCC unroll 2
        for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
            for (int h = 0; h < VECTORS; h++)
#pragma GCC unroll 3
                for (int d = 0; d < DIGITS; d++)
                    sums[i].of[h][d] = _mm512_add_epi32(sums[i].of[h][d], _mm512_srai_epi32(sums[i].high[h][d], 4));
}

/* Returns T, rounded once. */
QRT_INLINE __m512 rounded(const bool low_fits, const __m512i sums[DIGITS]) {
    const __m512i low = _mm512_add_epi32(_mm512_slli_epi32(sums[1], 8), sums[2]);
    if (low_fits)
        return _mm512_fmadd_ps(_mm512_cvtepi32_ps(sums[0]), _mm512_set1_ps(65536), _mm512_cvtepi32_ps(low));
    const __m512i high = _mm512_add_epi32(sums[0], _mm512_srai_epi32(low, 16));
    const __m512i rest = _mm512_and_si512(low, _mm512_set1_epi32(0xFFFF));
    return _mm512_fmadd_ps(_mm512_cvtepi32_ps(high), _mm512_set1_ps(65536), _mm512_cvtepi32_ps(rest));
}

/* Sets what the sums of a row begin with: the product of its sums of digits and the zero points. */
QRT_INLINE void begin(const bool differ, const uint8_t *zero_points, const int32_t *header, row_sums *sums) {
#pragma GCC unroll 2
    for (int h = 0; h < VECTORS; h++)
#pragma GCC unroll 3
        for (int d = 0; d < DIGITS; d++) {
            sums->of[h][d] = word(header + 1 + d);
            sums->high[h][d] = _mm512_setzero_si512();
            if (differ) { /* words of a zero point and 0 serve, because the sum of up to 128 digits fits 16 bits */
                const __m256i points = _mm256_load_si256((const __m256i *)zero_points + h);
                sums->of[h][d] = _mm512_madd_epi16(_mm512_cvtepu16_epi32(points), sums->of[h][d]);
            }
        }
}

/* Multiplies by all pieces. Each has `fixed` vectors; with 0, as many as its length says. */
QRT_INLINE void tile_of(const bool nibbles, const int64_t fixed, const int rows, const qrt_mixed_matmul_args *args,
                        const char *digits, const uint8_t *panel, float *target) {
    const int64_t row_bytes = args->plan.row_bytes;
    const bool low_fits = fixed, split = nibbles && !fixed && rows <= SPLIT_ROWS;
    __m512 total[MR][VECTORS];
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
        total[i][0] = total[i][1] = _mm512_setzero_ps();
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t count = fixed ? fixed : qrt_piece_vectors(nibbles, piece.length);
        const uint8_t *scales = panel + count * VECTORS * 64;
        const uint8_t *zero_points = scales + (args->plan.half_scales ? 64 : 128);
        row_sums sums[MR];
#pragma GCC unroll 4
        for (int i = 0; i < rows; i++) {
            const int32_t *header = (const int32_t *)(digits + i * row_bytes);
            if (args->plan.zero_points_differ)
                begin(true, zero_points, header, &sums[i]);
            else
                begin(false, zero_points, header, &sums[i]);
        }
        add_vectors(nibbles, split, rows, panel, digits + 16, row_bytes, count, sums);
#pragma GCC unroll 2
        for (int h = 0; h < VECTORS; h++) {
            const __m512 scale = args->plan.half_scales
                                     ? _mm512_cvtph_ps(_mm256_load_si256((const __m256i *)scales + h))
                                     : _mm512_load_ps((const float *)scales + 16 * h);
#pragma GCC unroll 4
            for (int i = 0; i < rows; i++) {
                const __m512 unit = _mm512_set1_ps(*(const float *)(digits + i * row_bytes));
                total[i][h] =
                    _mm512_fmadd_ps(_mm512_mul_ps(rounded(low_fits, sums[i].of[h]), scale), unit, total[i][h]);
            }
        }
        panel = zero_points + (args->plan.zero_points_differ ? 64 : 0);
        digits += 16 + count * (nibbles ? 32 : 16);
    }
#pragma GCC unroll 4
    for (int i = 0; i < rows; i++)
#pragma GCC unroll 2
        for (int h = 0; h < VECTORS; h++)
            _mm512_store_ps(target + i * NR + 16 * h, total[i][h]);
}

/* Nibbles in pieces of 32 have a loop of their own, because floats hold their B. */
QRT_INLINE void rows_of(const int rows, const qrt_mixed_matmul_args *args, const char *digits, const uint8_t *panel,
                        float *sums) {
    if (!args->problem.nibbles)
        tile_of(false, 0, rows, args, digits, panel, sums);
    else if (args->problem.k_block == 32 && args->problem.product.k % 32 == 0 && args->plan.low_fits)
        tile_of(true, 4, rows, args, digits, panel, sums);
    else
        tile_of(true, 0, rows, args, digits, panel, sums);
}

void avx512vnni_mixed_tile(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
                           float *sums) {
    switch (rows) {
#define CASE(count)                                                                                                    \
    case count:                                                                                                        \
        rows_of(count, args, digits, panel, sums);                                                                     \
        break;
        CASE(1) CASE(2) CASE(3) CASE(4)
#undef CASE
    }
}
