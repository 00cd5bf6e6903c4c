/* Rows of floats, as integers in units of each piece, by packed weights, in portable C. Here the digits of a row are
 * for each piece its unit, three words that are added to every sum, in units of 65536, 256 and 1, and then its
 * integers, 32 bits each, padded to whole vectors. */
#include <math.h>

#include "qrt/products/mixed_matmul.h"
#include "ref/ref.h"

#define NR QRT_PRODUCT_NR

static int64_t padded_length(const qrt_mixed_matmul_args *args, int64_t length) {
    return qrt_piece_vectors(args->problem.nibbles, length) * (args->problem.nibbles ? 8 : 4);
}

static float largest_finite(const float *a, int64_t count) {
    float largest = 0;
    for (int64_t i = 0; i < count; i++)
        largest = isfinite(a[i]) ? fmaxf(largest, fabsf(a[i])) : largest;
    return largest;
}

bool ref_mixed_row(const qrt_mixed_matmul_args *args, const float *a, void *digits) {
    bool finite = true;
    float *header = digits;
    for (qrt_piece piece = qrt_first_piece(args); piece.length; piece = qrt_next_piece(args, piece)) {
        const int64_t padded = padded_length(args, piece.length);
        const int exponent = qrt_unit_exponent(qrt_bits_of(largest_finite(a + piece.k, piece.length)));
        const float inverse = qrt_float_of(qrt_inverse_unit_bits(exponent));
        int32_t *x = (int32_t *)(header + 4);
        header[0] = qrt_float_of(qrt_unit_bits(exponent));
        memset(header + 1, 0, 3 * sizeof *header);
        for (int64_t i = 0; i < padded; i++) {
            const float value = i < piece.length ? a[piece.k + i] : 0;
            finite &= isfinite(value);
            x[i] = isfinite(value) ? (int32_t)rintf(value * inverse) : 0;
        }
        header += 4 + padded;
    }
    return finite;
}

/* The sum is exact: it is at most 128 * 2^23 * 2^9. */
static int64_t piece_sum(const qrt_mixed_matmul_args *args, const uint8_t *from, int64_t length, const int32_t *starts,
                         int column) {
    const int32_t zero_point = qrt_packed_zero_point(args, from, length, column), *x = starts + 3;
    int64_t sum = 65536 * (int64_t)starts[0] + 256 * (int64_t)starts[1] + starts[2];
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
                const int64_t sum = piece_sum(args, panel, piece.length, (const int32_t *)(header + 1), column);
                const float scale = qrt_packed_scale(args, panel, piece.length, column);
                float *to = sums + row * NR + column;
                *to = fmaf((float)sum * scale, header[0], *to);
            }
        }
        offset += 4 + padded_length(args, piece.length);
        panel += qrt_piece_bytes(args, piece.length);
    }
}
