/* Products of float32 by 8-bit storage: operands a, [w], [bias], out (float32). */
#ifndef QRT_MIXED_MATMUL_H
#define QRT_MIXED_MATMUL_H

#include "qrt/float_matmul.h"

/* numerics.mixed_product. K is cut into pieces: the blocks of values that share parameters, and these into pieces of
 * QRT_PIECE, the last of a block perhaps shorter. A row of a has in each piece one unit u, a power of two, and integers
 * x of three signed bytes. With T, the exact sum of x * (q - zero point) over the piece, a result is fma(float(T) *
 * scale, u, sum) over all pieces in ascending order from +0. Then the bias; then, where the row has NaNs or infinities,
 * which count as 0 until here, each times its dequantized weight. */
#define QRT_PIECE 128
#define QRT_MIXED_MR 4 /* rows of a tile */

typedef struct {
    qrt_product product;
    bool nibbles;              /* widths to 4 */
    qrt_container w;           /* QRT_I8 or QRT_U8, [k][n] */
    int64_t k_block;           /* values of K that share parameters; at least k: all do */
    const float *scale;        /* [ceil(k / k_block)][n], needed while w is packed, as is */
    const int32_t *zero_point; /* the same, within +-255 */
} qrt_mixed_problem;

/* Packed weights are unsigned, and zero points theirs. */
typedef struct {
    const uint8_t *panels; /* constant weights, as mixed_packing.h says */
    int64_t panel_bytes;
    int64_t row_bytes; /* of a row as digits */
    bool half_scales;  /* as f16, which holds all of them */
    bool zero_points_differ;
    int32_t common_zero_point; /* where they do not */
    bool low_fits;             /* sums of (256 * digit + digit) * (q - zero point) over a piece are below 2^24 */
} qrt_mixed_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_mixed_problem problem;
    qrt_mixed_plan plan;
} qrt_mixed_matmul_args;

qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args);
void qrt_mixed_matmul_release(void *args);
qrt_status qrt_mixed_matmul(const void *args, qrt_scratch *scratch);

#endif
