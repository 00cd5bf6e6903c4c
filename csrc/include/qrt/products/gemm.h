/* Products of matrices, and convolutions computed as such: operands a, [b], [bias], out. */
#pragma once

#include "qrt/products/stored.h"
#include "qrt/requantize.h"
#include "qrt/window.h"

typedef struct qrt_gemm_args qrt_gemm_args;
typedef struct qrt_microkernel_call qrt_microkernel_call;
typedef struct qrt_gemm_call qrt_gemm_call;
typedef struct qrt_gemm_split qrt_gemm_split;

/* The form in which the microkernel reads rows of a. */
typedef enum {
    QRT_A_IN_PLACE,          /* in place */
    QRT_A_IN_PLACE_BUT_LAST, /* whole tiles of rows in place; the last rows of a matrix packed by pack_a */
    QRT_A_PACKED,            /* packed by pack_a */
    QRT_A_COMPENSATED,       /* packed by pack_a, with a_compensation */
    QRT_A_BY_MICROKERNEL,    /* in place, and `run` packs them itself; packed by pack_a where K is longer than KC */
} qrt_a_form;

/* The 8-bit microkernel. It dictates the packing; core/gemm/ cuts blocks, shares them among threads and owns all
 * memory. Packed rows of a begin at multiples of 64 bytes, and so do panels of b. Both are padded to whole steps of ku
 * values of K. No |value - zero point| exceeds 255, and no exact sum exceeds 31 bits: core sends everything else to the
 * wide path. */
typedef struct qrt_gemm_microkernel {
    const char *name;
    int mr, nr;         /* rows of a tile (MC is a multiple of them), columns of a panel of b */
    int ku;             /* values of K of a step */
    int a_size, b_size; /* bytes of one packed value */
    /* Called once, when a call is bound. Returns how sums end, in the microkernel's own terms; core keeps it as
     * plan.epilogue. NULL: 0. */
    int (*epilogue)(const qrt_gemm_args *args);
    /* Called then too. Core packs gathered patches whatever the answer is. */
    qrt_a_form (*a_form)(const qrt_gemm_args *args);
    /* Packs row i, the `depth` contiguous values of K from source + i * source_stride on, to target + i *
     * target_stride. The padding adds nothing to sums. zero_point has `rows` values. compensation has room for 2 values
     * per row, which only the microkernel reads; NULL: none is wanted. */
    void (*pack_a)(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation);
    /* Packs a panel of `columns` <= nr columns: element (k, j) is at source + k * k_stride + j * n_stride. A panel is a
     * sequence of steps, each of at most nr * ku * b_size bytes. compensation has room for 2 * nr values, which only
     * the microkernel reads. */
    void (*pack_b)(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation);
    /* Multiplies rows of a by a panel of b and stores the results. */
    void (*run)(const qrt_microkernel_call *call);
    bool segmented; /* run supports a_segments */
    bool splits;    /* 16-bit operands are computed by their bytes, not on the wide path */
    /* run takes two panels at once, 2 * nr columns, where K is at most pair_depth. The panel and the compensation of
     * the second follow those of the first. */
    bool pairs;
    int pair_depth;
    bool all_panels; /* run takes all columns of a block at once; their panels follow each other as with `pairs` */
    bool joins_image_rows; /* run crosses from one image row to the next as within a row: copies should allow it */
    int64_t a_block_bytes; /* bytes of packed rows beside a large b; 0: QRT_A_BLOCK_BYTES */
    /* Bytes of the call's workspace for a block of so many rows. NULL: none are needed. */
    int64_t (*workspace)(const qrt_gemm_args *args, int64_t rows);
    /* Called when a call is bound: whether the microkernel can compute it (NULL: it can), and whether it is the best
     * one for it. Other calls are left to `fallback`; the last microkernel has none and takes every call. */
    bool (*supports)(const qrt_gemm_args *args);
    bool (*suits)(const qrt_gemm_args *args);
    const struct qrt_gemm_microkernel *fallback;
} qrt_gemm_microkernel;

/* Computes target[i][j] = requantize(bias[j] + sum over k of (a[i][k] - za[i]) * (b[k][j] - zb[j])). Where `sums` is
 * given, sums[i][j] is the sum without requantization. Intermediate sums may wrap modulo 2^32: only the final value is
 * known to fit. */
struct qrt_microkernel_call {
    const qrt_gemm_args *args;
    int rows, columns;
    int64_t depth; /* values of K of each segment */
    const void *a;
    int64_t a_stride;              /* in bytes */
    const int32_t *a_compensation; /* NULL: rows are packed without it */
    void *workspace;               /* for QRT_A_BY_MICROKERNEL where rows are not packed yet; else NULL */
    int32_t a_zero_point;          /* the one of all rows, where they have no compensation */
    /* Where the values of K of a row are not contiguous: `segments` pieces of `depth` values each, a multiple of ku, at
     * these bytes from the row's start. Rows may overlap. NULL: there is one segment. */
    const int64_t *a_segments;
    int64_t segments;
    /* All of it is repeated for so many image rows; a and target then advance by these bytes. There is more than one
     * image row only where no row has parameters of its own. */
    int64_t image_rows, a_image_row, target_image_row;
    const void *b, *next; /* next: the panel of the next call */
    const int32_t *b_compensation;
    const int32_t *bias; /* `columns` values; NULL: there is no bias */
    int32_t *sums;       /* rows are sums_stride elements apart; NULL: results are requantized */
    int64_t sums_stride;
    void *target;      /* rows are problem.out_row_stride bytes apart */
    int64_t parameter; /* index of the first element; problem.requant_steps[1] and [2] lead to the others */
};

typedef enum { QRT_BIAS_NONE, QRT_BIAS_I32, QRT_BIAS_I64, QRT_BIAS_F32 } qrt_bias_kind;

/* What the caller asks. The arrays must outlive it. */
typedef struct {
    qrt_container a, b;
    int64_t batch, m, n, k;
    const int64_t *a_index, *b_index; /* the matrix of each batch; NULL: the batch's own number */
    int64_t a_matrices, b_matrices;
    int64_t a_row_stride, b_k_stride, b_n_stride, out_row_stride;
    int64_t a_matrix_stride, b_matrix_stride, out_matrix_stride;
    const int64_t *a_zero_point, *b_zero_point;
    int64_t a_zero_point_steps[2]; /* from matrix to matrix, from row to row */
    int64_t b_zero_point_steps[3]; /* from matrix to matrix, block of K to block, column to column */
    qrt_requant requant;
    int64_t requant_steps[3]; /* from batch to batch, row to row, column to column */
    const void *b_constant;   /* NULL: b is an operand */
    qrt_bias_kind bias;
    const void *bias_constant; /* NULL: bias is an operand */
    int64_t bias_batch_step;
    /* Sub-channel b: k_block values of K share scale and zero point, and arrays are [ceil(k / k_block)][n]. Otherwise
     * k_block is 0. */
    int64_t k_block;
    const float *block_scale;        /* for the rule float32 */
    const int64_t *block_multiplier; /* for the rule fixed */
    const int64_t *bias_multiplier;  /* for the rule fixed, [n] */
    const qrt_window *window;        /* conv2d: rows of a are patches of the input; NULL: a is a matrix */
    /* A call prepared for the same b_constant, which outlives this one, and with it the one that is its own `earlier`;
     * or NULL. Where one of them packed what this one packs, it does not pack again. */
    const qrt_gemm_args *earlier;
    int part; /* 1 for the low bytes of the 16-bit values of b_constant, 2 for the high ones; 0: b is whole */
    const qrt_gemm_microkernel *microkernel; /* it is preferred where it supports the call; or NULL */
    qrt_stored *stored; /* the packed b_constant, if there is one already; or NULL. It is read while binding. */
} qrt_gemm_problem;

/* The zero point of a column in a block of K, which is block 0 without k_block. */
QRT_INLINE int64_t qrt_b_zero_point(const qrt_gemm_problem *problem, int64_t matrix, int64_t block, int64_t column) {
    const int64_t *steps = problem->b_zero_point_steps;
    return problem->b_zero_point[matrix * steps[0] + block * steps[1] + column * steps[2]];
}

/* Panels of b, and the microkernel's compensation for each. */
typedef struct {
    void *panels;
    int32_t *compensation;
    bool stored; /* they are part of problem.stored, whose owner frees them */
} qrt_packed;

/* The panels of a packed matrix are ordered as [slice of K][panel of columns]. A slice has KC values of K, the last one
 * fewer. */
typedef struct {
    int64_t slices, panels;
    int64_t panel_bytes; /* bytes of a panel over a whole slice */
    int64_t matrix_bytes;
    int64_t matrix_compensation; /* the number of int32 values */
} qrt_packed_shape;

/* A convolution that reads its patches where they overlap. */
typedef struct {
    int64_t segments, depth; /* segments of a patch and their values; no segments: patches are gathered one by one */
    bool in_place;           /* patches are read from the input; else from copies of regions */
    int64_t rows, pixels;    /* the most output rows and pixels of a region */
    bool filled;             /* packed b pads each segment to whole steps */
} qrt_conv_plan;

/* How a problem is computed. */
typedef struct {
    /* The path: by the 8-bit microkernel (narrow), by the bytes of 16-bit operands (split), or wide. */
    qrt_status (*run)(const qrt_gemm_call *call, int threads);
    const qrt_gemm_microkernel *microkernel; /* that of the narrow path; else NULL */
    int epilogue;                            /* what kernel->epilogue answered */
    bool narrow;                             /* the 8-bit microkernel computes it */
    qrt_gemm_split *split;                   /* the products with b_constant on the path `split`; else NULL */
    int64_t a_max, b_max;                    /* bounds of |value - zero point| */
    int64_t bias_limit; /* the largest |bias| with which a whole sum fits 31 bits; negative: there is none */
    bool bias_fits;     /* every value of bias_constant is within bias_limit */
    bool raw;           /* requantization leaves every sum as it is */
    qrt_a_form a_form;
    qrt_conv_plan conv;
    int64_t a_stride;               /* bytes between packed rows of a, over a whole slice of K */
    int64_t mc;                     /* rows of a that stay in L2 */
    int64_t kc;                     /* values of K whose sums of products fit 31 bits in one tile */
    int64_t nc;                     /* columns of b packed together; all of them where b is constant */
    qrt_packed_shape shape;         /* the shape of nc packed columns */
    qrt_packed packed;              /* the packed b_constant */
    const qrt_gemm_args *packed_by; /* the call whose packed b serves here too; NULL: `packed` is this plan's own */
    unsigned *turns;                /* a counter that calls advance atomically; NULL: they take no turns */
} qrt_gemm_plan;

struct qrt_gemm_args {
    const qrt_kernels *kernels;
    qrt_gemm_problem problem;
    qrt_gemm_plan plan;
};

/* Derives the plan and packs a constant b. A pointwise convolution is rewritten as a product. qrt_gemm_release frees
 * what it allocated. */
qrt_status qrt_gemm_prepare(qrt_gemm_args *args);
void qrt_gemm_release(void *args);
/* Writes what problem.stored would hold, up to QRT_MAX_PACKED_PARTS parts; returns their number. */
int qrt_gemm_packed(const void *args, qrt_packed_part *to);
/* Whether calls read b_constant itself, and not only what is packed of it. */
bool qrt_gemm_reads_b(const qrt_gemm_args *args);
/* Whether some packed weights are the call's own, and not those of an earlier one. */
bool qrt_gemm_packs(const qrt_gemm_args *args);
qrt_status qrt_gemm(const void *args, qrt_scratch *scratch);
