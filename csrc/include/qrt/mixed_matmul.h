/* Products of float32 by 8-bit storage: operands a, [w], [bias], out (float32). */
#ifndef QRT_MIXED_MATMUL_H
#define QRT_MIXED_MATMUL_H

#include "qrt/base.h"

/* numerics.mixed_product. K is cut into pieces: the blocks of values that share parameters, and these into pieces of
 * QRT_PIECE, the last of a block perhaps shorter. A row of a has in each piece one unit u, a power of two, and integers
 * x of three signed bytes. With T, the exact sum of x * (q - zero point) over the piece, a result is fma(float(T) *
 * scale, u, sum) over all pieces in ascending order from +0. Then the bias; then, where the row has NaNs or infinities,
 * which count as 0 until here, each times its dequantized weight. */
#define QRT_PIECE 128
#define QRT_MIXED_ROWS 4     /* of a tile */
#define QRT_MIXED_COLUMNS 32 /* of a panel */

typedef struct {
    const qrt_kernels *kernels;
    int64_t m, n, k;
    bool nibbles;              /* widths to 4 */
    qrt_container w;           /* QRT_I8 or QRT_U8, [k][n] */
    int64_t k_block;           /* values of K that share parameters; at least k: all do */
    const float *scale;        /* [ceil(k / k_block)][n], needed while w is packed, as is */
    const int32_t *zero_point; /* the same, within +-255 */
    const void *w_constant;    /* NULL: w is an operand; else needed while binding alone */
    bool bias;
    const float *bias_constant; /* NULL: bias is an operand */
    /* Derived when bound. Packed weights are unsigned, and zero points theirs. */
    const uint8_t *panels; /* w_constant, as mixed_matmul.h says */
    int64_t panel_bytes;
    int64_t row_bytes; /* of a row as digits */
    bool half_scales;  /* as f16, which holds all of them */
    bool zero_points_differ;
    int32_t common_zero_point; /* where they do not */
    bool low_fits;             /* sums of (256 * digit + digit) * (q - zero point) over a piece are below 2^24 */
} qrt_mixed_matmul_args;

qrt_status qrt_mixed_matmul_prepare(qrt_mixed_matmul_args *args);
void qrt_mixed_matmul_release(void *args);
qrt_status qrt_mixed_matmul(const void *args, qrt_scratch *scratch);

#endif
