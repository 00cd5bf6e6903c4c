/* Products of matrices, and convolutions as such: operands a, [b], [bias], out. */
#ifndef QRT_GEMM_H
#define QRT_GEMM_H

#include "qrt/requantize.h"
#include "qrt/window.h"

typedef struct qrt_gemm_args qrt_gemm_args;
typedef struct qrt_microkernel_call qrt_microkernel_call;
typedef struct qrt_gemm_split qrt_gemm_split;

/* How the microkernel wants the rows of a. */
typedef enum {
    QRT_A_IN_PLACE,          /* as they are given */
    QRT_A_IN_PLACE_BUT_LAST, /* whole tiles of rows as they are given; the last rows of a matrix through pack_a */
    QRT_A_PACKED,            /* through pack_a */
    QRT_A_COMPENSATED,       /* through pack_a, with a_compensation */
    QRT_A_BY_MICROKERNEL, /* as they are given: run packs them itself; but through pack_a where K is longer than KC */
} qrt_a_form;

/* The 8-bit microkernel. It dictates the packing; core/gemm/ blocks, shares among threads and owns all memory. Packed
 * rows of a begin at multiples of 64 bytes, panels of b too, and both are padded to whole steps of ku values of K.
 * Neither |value - zero point| exceeds 255 nor an exact sum 31 bits: core sends everything else to the wide path. */
typedef struct qrt_gemm_microkernel {
    const char *name;
    int mr, nr;         /* rows of a tile (MC is a multiple of it), columns of a panel of b */
    int ku;             /* values of K per step */
    int a_size, b_size; /* bytes of one packed value */
    /* Asked once, when a call is bound: how sums end, in the microkernel's own words, plan.epilogue. NULL: 0. */
    int (*epilogue)(const qrt_gemm_args *args);
    /* Asked then too. Core packs gathered patches whatever the answer. */
    qrt_a_form (*a_form)(const qrt_gemm_args *args);
    /* Row i, `depth` contiguous values of K from source + i * source_stride, to target + i * target_stride. The padding
     * adds nothing. zero_point has `rows` values. compensation: NULL, or room for 2 per row, private to the kernel. */
    void (*pack_a)(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *compensation);
    /* A panel of `columns` <= nr columns: element (k, j) is at source + k * k_stride + j * n_stride. A panel is a
     * sequence of steps and at most nr * ku * b_size bytes of each. compensation: 2 * nr, private to the kernel. */
    void (*pack_b)(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *compensation);
    /* Multiplies rows of a by a panel of b and stores. */
    void (*run)(const qrt_microkernel_call *call);
    bool segmented; /* run follows a_segments */
    bool splits;    /* 16-bit operands go by their bytes, not as the wide path */
    /* run takes two panels at once, 2 * nr columns, of up to pair_depth values of K; the second's b and compensation
     * follow the first's. Without `pairs` no depth does, an empty one neither. */
    bool pairs;
    int pair_depth;
    bool all_panels; /* run takes all columns of a block at once, panels as with pairs */
    bool flat_lines; /* run goes from line to line of a_segments as over one row of pixels: lines should allow it */
    int64_t a_block_bytes; /* that packed rows may take beside a large b; 0: QRT_A_BLOCK_BYTES */
    /* Bytes of the call's workspace for a block of so many rows. NULL: none. */
    int64_t (*workspace)(const qrt_gemm_args *args, int64_t rows);
    /* Asked when a call is bound: whether the microkernel computes it at all (NULL: any), and whether it is the best at
     * it. What it does not support, or does not suit it, is left to `fallback`. NULL: the last. */
    bool (*supports)(const qrt_gemm_args *args);
    bool (*suits)(const qrt_gemm_args *args);
    const struct qrt_gemm_microkernel *fallback;
} qrt_gemm_microkernel;

/* target[i][j] = requantize(bias[j] + sum over k of (a[i][k] - za[i]) * (b[k][j] - zb[j])); with `sums`, sums[i][j] is
 * that sum, not requantized. Intermediate sums may wrap modulo 2^32: only the final value is known to fit. */
struct qrt_microkernel_call {
    const qrt_gemm_args *args;
    int rows, columns;
    int64_t depth; /* values of K of each segment of a */
    const void *a;
    int64_t a_stride;              /* bytes */
    const int32_t *a_compensation; /* NULL: not packed with it */
    void *workspace;               /* of QRT_A_BY_MICROKERNEL, where rows of a are not packed yet; else NULL */
    int32_t a_zero_point;          /* of all rows, without compensation */
    /* The values of K of a row, where they are not contiguous: `segments` times `depth`, a multiple of ku, each so many
     * bytes from the row's start. Rows may overlap. NULL: one segment. */
    const int64_t *a_segments;
    int64_t segments;
    /* All of it so many times, bytes apart in a and in target; more than once only where no row has parameters of its
     * own. */
    int64_t lines, a_line, target_line;
    const void *b, *next; /* next: the panel whose turn comes then */
    const int32_t *b_compensation;
    const int32_t *bias; /* `columns` values; NULL: none */
    int32_t *sums;       /* NULL, or rows sums_stride elements apart */
    int64_t sums_stride;
    void *target;      /* rows problem.out_row_stride bytes apart */
    int64_t parameter; /* of the first element; problem.requant_steps[1] and [2] lead to the others */
};

typedef enum { QRT_BIAS_NONE, QRT_BIAS_I32, QRT_BIAS_I64, QRT_BIAS_F32 } qrt_bias_kind;

/* What a call asks. The arrays outlive it. */
typedef struct {
    qrt_container a, b;
    int64_t batch, m, n, k;
    const int64_t *a_index, *b_index; /* matrix of each batch; NULL: the batch's own number */
    int64_t a_matrices, b_matrices;
    int64_t a_row_stride, b_k_stride, b_n_stride, out_row_stride;
    int64_t a_matrix_stride, b_matrix_stride, out_matrix_stride;
    const int64_t *a_zero_point, *b_zero_point;
    int64_t a_zero_point_steps[2]; /* matrix, row */
    int64_t b_zero_point_steps[3]; /* matrix, block of K, column */
    qrt_requant requant;
    int64_t requant_steps[3]; /* batch, row, column */
    const void *b_constant;   /* NULL: b is an operand */
    qrt_bias_kind bias;
    const void *bias_constant; /* NULL: bias is an operand */
    int64_t bias_batch_step;
    /* Sub-channel b: k_block values of K share (scale, zero point); arrays [ceil(k / k_block)][n], else k_block 0. */
    int64_t k_block;
    const float *block_scale;                /* float32 */
    const int64_t *block_multiplier;         /* fixed */
    const int64_t *bias_multiplier;          /* fixed, [n] */
    const qrt_window *window;                /* conv2d: rows of a are gathered patches; NULL: a is a matrix */
    const qrt_gemm_args *earlier;            /* prepared before for the same b_constant, and living as long; or NULL */
    const qrt_gemm_microkernel *microkernel; /* goes before the others where it supports the call; NULL: none does */
} qrt_gemm_problem;

/* In a block of K, 0 without k_block. */
QRT_INLINE int64_t qrt_b_zero_point(const qrt_gemm_problem *problem, int64_t matrix, int64_t block, int64_t column) {
    const int64_t *steps = problem->b_zero_point_steps;
    return problem->b_zero_point[matrix * steps[0] + block * steps[1] + column * steps[2]];
}

/* Panels of b, and the microkernel's compensation of each. */
typedef struct {
    void *panels;
    int32_t *compensation;
} qrt_packed;

/* Where the panels of a packed matrix are: [slice of K][panel of columns]. A slice has KC values of K, the last fewer.
 */
typedef struct {
    int64_t slices, panels;
    int64_t panel_bytes; /* over a whole slice */
    int64_t matrix_bytes;
    int64_t matrix_compensation; /* int32 values */
} qrt_packed_shape;

/* A convolution that reads its patches where they overlap. */
typedef struct {
    int64_t segments, depth; /* of a patch; segments 0: patches are gathered one by one */
    bool in_place;           /* from the input; else from a copy of regions */
    int64_t rows, pixels;    /* of output, of a region at most */
    bool filled;             /* segments are filled up to whole steps, in the packed b alone */
} qrt_conv_plan;

/* How a problem is computed. */
typedef struct {
    const qrt_gemm_microkernel *microkernel; /* of the narrow path; else NULL */
    int epilogue;                            /* what it says of how sums end */
    bool narrow;                             /* the 8-bit microkernel applies */
    bool splits;                             /* it does to the bytes of 16-bit operands */
    qrt_gemm_split *split;                   /* those of b_constant */
    int64_t a_max, b_max;                    /* bounds of |value - zero point| */
    int64_t bias_limit;                      /* |bias| up to which a whole sum fits 31 bits; negative: none */
    bool bias_fits;                          /* bias_constant is within it */
    bool raw;                                /* requantization leaves every sum as it is */
    qrt_a_form a_form;
    qrt_conv_plan conv;
    int64_t a_stride;               /* bytes of a packed row of a over a whole slice of K */
    int64_t mc;                     /* rows of a that stay in L2 */
    int64_t kc;                     /* values of K whose sums of products fit 31 bits in one tile */
    int64_t nc;                     /* columns of b packed together: all of a constant's */
    qrt_packed_shape shape;         /* of those */
    qrt_packed packed;              /* b_constant packed */
    const qrt_gemm_args *packed_by; /* problem.earlier, where its packed b serves here too; NULL: packed is its own */
    unsigned *turns;                /* memory of its own, which calls count in atomically; NULL: they take no turns */
} qrt_gemm_plan;

struct qrt_gemm_args {
    const qrt_kernels *kernels;
    qrt_gemm_problem problem;
    qrt_gemm_plan plan;
};

/* Derives the plan, a constant b packed; rewrites a pointwise convolution as a product. qrt_gemm_release frees what it
 * allocated. */
qrt_status qrt_gemm_prepare(qrt_gemm_args *args);
void qrt_gemm_release(void *args);
qrt_status qrt_gemm(const void *args, qrt_scratch *scratch);

#endif
