/* Products of float32 matrices: operands a, [w], [bias], out. */
#ifndef QRT_FLOAT_MATMUL_H
#define QRT_FLOAT_MATMUL_H

#include "qrt/base.h"

/* A dot product has QRT_FLOAT_LANES sums: that of lane l is a chain of fused multiply-adds over the k = l modulo 16, in
 * ascending order from +0, both operands continued by zeros to a multiple of 16. The lanes are then added by a tree, l
 * and l + 8, l and l + 4, l and l + 2, the last two, and the bias to the whole. */
#define QRT_FLOAT_LANES 16
#define QRT_FLOAT_ROWS 12    /* of a tile */
#define QRT_FLOAT_COLUMNS 32 /* of a tile, and of a panel */

/* From a lane of a panel, [step][column], to the next. A line more than its floats: else the lanes of a deep panel
 * would share one set of a cache. */
#define QRT_FLOAT_PAD 16
static inline int64_t qrt_float_lane_stride(int64_t k) {
    return (k + QRT_FLOAT_LANES - 1) / QRT_FLOAT_LANES * QRT_FLOAT_COLUMNS + QRT_FLOAT_PAD;
}

typedef struct {
    const qrt_kernels *kernels;
    int64_t m, n, k;
    const void *w_constant; /* NULL: w is an operand; else [k][n], needed while binding alone */
    bool bias;
    const float *bias_constant; /* NULL: bias is an operand */
    /* Derived when bound. */
    const float *panels; /* w_constant packed, K in steps of 16: [panel][lane][step][column] */
} qrt_float_matmul_args;

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args);
void qrt_float_matmul_release(void *args);
qrt_status qrt_float_matmul(const void *args, qrt_scratch *scratch);

/* Rows by a panel, all of it: out = the dot products over 16 * steps values of K, and the bias, if any. */
typedef struct {
    const float *a; /* [rows][16 * steps], rows a_stride floats apart */
    int64_t a_stride, rows, steps;
    const float *b; /* [lane][step][column], lanes b_stride floats apart, 64-byte aligned */
    int64_t b_stride;
    int columns; /* at most QRT_FLOAT_COLUMNS */
    const float *bias;
    float *out;
    int64_t out_stride;
} qrt_float_panel;

#endif
