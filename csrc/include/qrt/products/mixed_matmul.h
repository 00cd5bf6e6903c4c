/* Products of float32 by 8-bit storage: operands a, [w], [bias], out (float32). */
#pragma once

#include <string.h>

#include "qrt/products/float_matmul.h"

/* docs/numerics.md says what is computed. K is cut into blocks of values that share parameters, and these into pieces
 * of QRT_PIECE values; the last piece of a block may be shorter. In each piece a row of a has one unit u, a power of
 * two, and integers x of three signed bytes. Let T be the exact sum of x * (q - zero point) over a piece. The result is
 * fma(float(T) * scale, u, sum) over all pieces in ascending order from +0, then plus the bias. NaNs and infinities of
 * the row count as 0 so far; at the end each is multiplied by its dequantized weight and added.
 *
 * Where each value of K has a scale of its own, the row is multiplied by these scales first, the products take the
 * place of the row, and K is one block of scale 1. Values whose products are NaN or infinite count as 0, and are
 * themselves multiplied by their dequantized weights at the end. */
#define QRT_PIECE 128
#define QRT_MIXED_MR 4 /* rows of a tile */

typedef struct {
    qrt_product product;
    bool nibbles;              /* widths up to 4 bits */
    qrt_container w;           /* QRT_I8 or QRT_U8, [k][n] */
    int64_t k_block;           /* values of K that share parameters; one block where it is at least k */
    bool shared;               /* all columns share the parameters of a block */
    const float *scale;        /* [ceil(k / k_block)][n], or [ceil(k / k_block)] if shared; needed while w is packed */
    const int32_t *zero_point; /* of the same shape, within +-255 */
    const float *k_scale;      /* [k], by which rows are multiplied, all other scales being 1; or NULL */
    const int32_t *k_zero_point; /* [k], within +-255, all other zero points being 0; or NULL */
} qrt_mixed_problem;

/* Packed weights are unsigned, and their zero points are moved alike. */
typedef struct {
    const uint8_t *panels; /* constant weights, in the order below; NULL: w is an operand, or would take too much */
    bool stored;           /* they are part of product.stored, or of another call */
    int64_t panel_bytes;
    int64_t row_bytes; /* bytes of a row as digits */
    bool half_scales;  /* f16 holds every scale, and scales are packed as f16 */
    bool zero_points_differ;
    int32_t common_zero_point; /* the zero point of all, where they do not differ */
    bool low_fits;             /* sums of (256 * digit + digit) * (q - zero point) over a piece are below 2^24 */
} qrt_mixed_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_mixed_problem problem;
    qrt_mixed_plan plan;
} qrt_mixed_matmul_args;

qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args);
void qrt_mixed_matmul_release(void *args);
/* Uses the panels of another call, which outlives this one and whose bytes are the same, in place of its own. */
void qrt_mixed_matmul_share(void *args, const void *panels);
int qrt_mixed_matmul_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_mixed_matmul(const void *args, qrt_scratch *scratch);

static inline float qrt_float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
static inline uint32_t qrt_bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

/* ---- units ---- */

/* The unit is 2^(exponent - 149). The exponent follows from the bits of the largest |x|: it is the biased exponent, or
 * one more where x, rounded, would exceed 0x7F7F7F. That is the largest number of three signed bytes whose negative is
 * one too. In units of 2^-22 the largest float below 2 that stays within it has the fraction 0x7EFEFE; adding the carry
 * to a larger fraction carries into the exponent. Unit and inverse are normal numbers, and products with them are exact
 * unless they round to 0. */
#define QRT_UNIT_CARRY 0x010101
#define QRT_LEAST_EXPONENT 23
static inline int qrt_unit_exponent(uint32_t largest) {
    const int exponent = (int)((largest + QRT_UNIT_CARRY) >> 23);
    return exponent > QRT_LEAST_EXPONENT ? exponent : QRT_LEAST_EXPONENT;
}
static inline uint32_t qrt_unit_bits(int exponent) {
    return (uint32_t)(exponent - 22) << 23;
}
static inline uint32_t qrt_inverse_unit_bits(int exponent) {
    return (uint32_t)(276 - exponent) << 23;
}

/* ---- pieces ---- */

/* The position of a walk over the pieces. */
typedef struct {
    int64_t k;      /* the first value of the piece */
    int64_t length; /* the values of the piece; 0 behind the last piece */
    int64_t block;  /* the values of its block from k on */
} qrt_piece;

static inline qrt_piece qrt_piece_at(const qrt_mixed_matmul_args *args, int64_t k, int64_t block) {
    int64_t length = block < QRT_PIECE ? block : QRT_PIECE;
    if (length > args->problem.product.k - k)
        length = args->problem.product.k - k;
    return (qrt_piece){k, length, block};
}
static inline qrt_piece qrt_first_piece(const qrt_mixed_matmul_args *args) {
    return qrt_piece_at(args, 0, args->problem.k_block);
}
static inline qrt_piece qrt_next_piece(const qrt_mixed_matmul_args *args, qrt_piece piece) {
    const int64_t left = piece.block - piece.length;
    return qrt_piece_at(args, piece.k + piece.length, left ? left : args->problem.k_block);
}
/* The number of vectors of 16 columns that a piece of so many values takes. */
static inline int64_t qrt_piece_vectors(bool nibbles, int64_t length) {
    return nibbles ? (length + 7) / 8 : (length + 3) / 4;
}
/* The bytes that the digits of a piece take in a row: its unit; three words, what sums begin with in units of 65536,
 * 256 and 1 (kernels of 16-bit digits ignore the middle one); and 16 bytes for every four values. mixed_row writes
 * them, and zero points along K are subtracted from the first and the last of the three words. */
static inline int64_t qrt_piece_digits_bytes(bool nibbles, int64_t length) {
    return 16 + 16 * qrt_piece_vectors(nibbles, length) * (nibbles ? 2 : 1);
}
static inline int64_t qrt_piece_bytes(const qrt_mixed_matmul_args *args, int64_t length) {
    const int64_t parameters = (args->plan.half_scales ? 2 : 4) + (args->plan.zero_points_differ ? 2 : 0);
    return 2 * 64 * qrt_piece_vectors(args->problem.nibbles, length) + QRT_PRODUCT_NR * parameters;
}

/* ---- Packed weights are [panel][piece][2][vector][16 columns] words of 32 bits: four values of K as bytes, or eight
 * as nibbles with the first four in the low ones. Values past the end of a piece are arbitrary. The scales of the
 * columns follow a piece, as floats or f16, and their zero points as 16 bits where they differ. Each begins at a
 * multiple of 64 bytes. ---- */

static inline const uint8_t *qrt_piece_scales(const qrt_mixed_matmul_args *args, const uint8_t *piece, int64_t length) {
    return piece + 2 * 64 * qrt_piece_vectors(args->problem.nibbles, length);
}
static inline const uint8_t *qrt_piece_zero_points(const qrt_mixed_matmul_args *args, const uint8_t *piece,
                                                   int64_t length) {
    return qrt_piece_scales(args, piece, length) + (args->plan.half_scales ? 2 : 4) * QRT_PRODUCT_NR;
}

/* The value of an f16, by the bits of a float whose exponent bias is 112 larger. It serves finite values, subnormal
 * ones too. */
static inline float qrt_half_value(uint16_t half) {
    const float value = qrt_float_of((uint32_t)(half & 0x7FFF) << 13) * 0x1p112f;
    return half & 0x8000 ? -value : value;
}
/* The bits of a finite value that f16 holds. For any other value the result is some number, which the caller
 * compares. */
static inline uint16_t qrt_half_bits(float value) {
    const uint32_t bits = qrt_bits_of(value * 0x1p-112f);
    return (uint16_t)((bits & 0x80000000) >> 16 | (bits >> 13 & 0x7FFF));
}

/* The value and the parameters of a column in a piece. */
static inline int32_t qrt_packed_value(const qrt_mixed_matmul_args *args, const uint8_t *piece, int64_t length,
                                       int64_t i, int column) {
    const int64_t per_vector = args->problem.nibbles ? 8 : 4;
    const int64_t vector = column / 16 * qrt_piece_vectors(args->problem.nibbles, length) + i / per_vector;
    const uint8_t byte = piece[vector * 64 + column % 16 * 4 + i % 4];
    return !args->problem.nibbles ? byte : i % 8 < 4 ? byte & 15 : byte >> 4;
}
static inline float qrt_packed_scale(const qrt_mixed_matmul_args *args, const uint8_t *piece, int64_t length,
                                     int column) {
    const uint8_t *scales = qrt_piece_scales(args, piece, length);
    return args->plan.half_scales ? qrt_half_value(((const uint16_t *)scales)[column])
                                  : ((const float *)scales)[column];
}
static inline int32_t qrt_packed_zero_point(const qrt_mixed_matmul_args *args, const uint8_t *piece, int64_t length,
                                            int column) {
    if (!args->plan.zero_points_differ)
        return args->plan.common_zero_point;
    return ((const int16_t *)qrt_piece_zero_points(args, piece, length))[column];
}
