/* Products of float32 matrices: operands a, [w], [bias], out. */
#pragma once

#include "qrt/products/stored.h"

/* A product of float32 rows by weights of any type. */
typedef struct {
    int64_t m, n, k;
    const void *w_constant; /* [k][n], needed only while binding; NULL: w is an operand */
    bool bias;
    const float *bias_constant; /* NULL: bias is an operand */
    qrt_stored *stored;         /* as in a GEMM */
} qrt_product;

#define QRT_PRODUCT_NR 32 /* columns of a panel of weights */

/* A dot product has QRT_FLOAT_LANES sums. The sum of lane l is a chain of fused multiply-adds over all k = l modulo 16,
 * in ascending order from +0; both operands are padded with zeros to a multiple of 16. Then a tree adds the lanes: l
 * and l + 8, l and l + 4, l and l + 2, and the last two. The bias is added to the total. */
#define QRT_FLOAT_LANES 16
#define QRT_FLOAT_MR 12 /* rows of a tile; its columns are those of a panel */

/* A lane of a panel, [step][column], is followed by the padding of one cache line. Without it the lanes of a deep panel
 * would share a set of the cache. */
#define QRT_FLOAT_PAD 16

typedef enum {
    QRT_FLOAT_AXPY,  /* few rows: w is used where it lies, because packing it would take longer */
    QRT_FLOAT_SHORT, /* short K: a panel stays in L1, and the sums of lanes in registers */
    QRT_FLOAT_TILES,
} qrt_float_form;

typedef struct {
    qrt_float_form form;
    int64_t steps;        /* each has QRT_FLOAT_LANES values of K */
    int64_t lane_stride;  /* floats from a lane of a panel to the next */
    int64_t panel_floats; /* floats of all lanes */
    int64_t tiles;        /* tiles of a block of rows */
    const float *panels;  /* constant weights: [panel][lane][step][column] */
    bool stored;          /* they are part of problem.stored, or of another call */
} qrt_float_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_product problem;
    qrt_float_plan plan;
} qrt_float_matmul_args;

qrt_status qrt_float_matmul_prepare(qrt_float_matmul_args *args);
void qrt_float_matmul_release(void *args);
/* Uses the panels of another call, which outlives this one and whose bytes are the same, in place of its own. */
void qrt_float_matmul_share(void *args, const void *panels);
int qrt_float_matmul_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_float_matmul(const void *args, qrt_scratch *scratch);

/* Rows by one panel over the whole of K: `out` gets the dot products over 16 * steps values of K, plus the bias if
 * any. */
typedef struct {
    const float *a; /* [rows][16 * steps], rows a_stride floats apart */
    int64_t a_stride, rows, steps;
    const float *b; /* [lane][step][column], lanes b_stride floats apart, 64-byte aligned */
    int64_t b_stride;
    int columns; /* at most QRT_PRODUCT_NR */
    const float *bias;
    float *out;
    int64_t out_stride;
} qrt_float_panel;
