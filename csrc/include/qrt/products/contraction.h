/* Contractions in float32 and int32: a loop nest whose body adds the product of two operands to an element of the
 * result. */
#pragma once

#include "qrt/base.h"
#include "qrt/products/stored.h"

#define QRT_CONTRACTION_RANK 16
#define QRT_CONTRACTION_MR 6     /* rows of a tile */
#define QRT_CONTRACTION_NR 64    /* columns of a panel; the last has the next multiple of the following */
#define QRT_CONTRACTION_ALIGN 16 /* columns by which a panel grows */

typedef enum {
    QRT_CONTRACTION_A,
    QRT_CONTRACTION_B,
    QRT_CONTRACTION_INIT,
    QRT_CONTRACTION_OUT,
    QRT_CONTRACTION_OPERANDS,
} qrt_contraction_operand;

/* The loops in order: `batches` loops that index both b and the result, `rows` loops that index the result and not b,
 * `depth` loops that do not index the result, and the columns. Element `i` of an operand is at its offset plus the
 * loops' indices times its strides, in elements of 32 bits. The sum of an element begins with that of init, and runs
 * over the depth loops in order, the last one innermost: sum = a * b + sum, rounded once where it is `fused`, else
 * twice. Where all are `integers`, which float pointers lead to all the same, sums and products wrap. The columns of
 * the result have the stride 1, those of a and init 0 or 1, those of b any. */
typedef struct {
    int batches, rows, depth; /* how many loops */
    int64_t extent[QRT_CONTRACTION_RANK];
    int64_t stride[QRT_CONTRACTION_OPERANDS][QRT_CONTRACTION_RANK];
    int64_t offset[QRT_CONTRACTION_OPERANDS];
    bool fused, integers;
    const float *b_constant;    /* needed only while binding; NULL: b is an operand */
    const float *init_constant; /* NULL: init is an operand */
    qrt_stored *stored;         /* as in a GEMM */
} qrt_contraction_problem;

typedef struct {
    int64_t batches, rows, depth, columns; /* products of the loops' extents */
    const int64_t *a_steps, *b_steps;      /* [depth]: floats from the first value of the depth loops */
    const float *panels;                   /* constant b: [batch][panel][depth][column of the panel] */
    bool stored;                           /* they are part of problem.stored */
} qrt_contraction_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_contraction_problem problem;
    qrt_contraction_plan plan;
} qrt_contraction_args;

/* Operands: a, then b unless it is constant, then init unless it is constant, then the result. */
qrt_status qrt_contraction_prepare(qrt_contraction_args *args);
void qrt_contraction_release(void *args);
int qrt_contraction_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_contraction(const void *args, qrt_scratch *scratch);

/* Up to QRT_CONTRACTION_MR rows by a panel. */
typedef struct {
    const float *a[QRT_CONTRACTION_MR], *init[QRT_CONTRACTION_MR];
    float *out[QRT_CONTRACTION_MR];
    int rows, columns;  /* at least one row; columns to store */
    int width;          /* floats of a row of the panel: `columns`, rounded up to QRT_CONTRACTION_ALIGN */
    bool fused;         /* as in the problem */
    bool a_has_columns; /* a and init differ between columns, which lie side by side */
    bool init_has_columns;
    int64_t depth;
    const int64_t *a_steps; /* [depth] */
    const float *b;         /* [depth][width], 64-byte aligned, zeros past `columns` */
} qrt_contraction_tile;
