/* Rows of floats as integers of a unit per piece, by packed weights. A row as digits is here the units and the
 * integers: for each piece a float in 16 bytes, then 32 bits for each value of its vectors. */
#include <math.h>
#include <string.h>

#include "qrt/mixed_packing.h"
#include "ref.h"

#define NR QRT_PRODUCT_NR

static float from_bits(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint32_t magnitude_bits(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits & 0x7FFFFFFF;
}

static int64_t padded_length(const qrt_mixed_matmul_args *args, int64_t length) {
    return qrt_piece_vectors(args->problem.nibbles, length) * (args->problem.nibbles ? 8 : 4);
}

/* The largest magnitude of finite values, as bits. */
static uint32_t largest_finite(const float *a, int64_t count) {
    uint32_t largest = 0;
    for (int64_t i = 0; i < count; i++)
        if (isfinite(a[i]) && magnitude_bits(a[i]) > largest)
            largest = magnitude_bits(a[i]);
    return largest;
}

bool ref_mixed_row(const qrt_mixed_matmul_args *args, const float *a, void *digits) {
    bool finite = true;
    float *header = digits;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t padded = padded_length(args, piece.length);
        const int exponent = qrt_unit_exponent(largest_finite(a + piece.k, piece.length));
        const float inverse = from_bits(qrt_inverse_unit_bits(exponent));
        int32_t *x = (int32_t *)(header + 4);
        header[0] = from_bits(qrt_unit_bits(exponent));
        for (int64_t i = 0; i < padded; i++) {
            const float value = i < piece.length ? a[piece.k + i] : 0;
            finite &= isfinite(value);
            x[i] = isfinite(value) ? (int32_t)rintf(value * inverse) : 0;
        }
        header += 4 + padded;
    }
    return finite;
}

/* The exact sum, of at most 128 * 2^23 * 2^9. */
static int64_t piece_sum(const qrt_mixed_matmul_args *args, const uint8_t *from, int64_t length, const int32_t *x,
                         int column) {
    const int32_t zero_point = qrt_packed_zero_point(args, from, length, column);
    int64_t sum = 0;
    for (int64_t i = 0; i < length; i++)
        sum += (int64_t)x[i] * (qrt_packed_value(args, from, length, i, column) - zero_point);
    return sum;
}

void ref_mixed_tile(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
                    float *sums) {
    memset(sums, 0, (size_t)rows * NR * sizeof *sums);
    int64_t offset = 0;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        for (int row = 0; row < rows; row++) {
            const float *header = (const float *)((const char *)digits + row * args->plan.row_bytes) + offset;
            for (int column = 0; column < NR; column++) {
                const int64_t sum = piece_sum(args, panel, piece.length, (const int32_t *)(header + 4), column);
                const float scale = qrt_packed_scale(args, panel, piece.length, column);
                float *to = sums + row * NR + column;
                *to = fmaf((float)sum * scale, header[0], *to);
            }
        }
        offset += 4 + padded_length(args, piece.length);
        panel += qrt_piece_bytes(args, piece.length);
    }
}
