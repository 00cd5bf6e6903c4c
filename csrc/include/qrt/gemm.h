/* Products of matrices, and convolutions as such: operands a, [b], [bias], out. */
#ifndef QRT_GEMM_H
#define QRT_GEMM_H

#include "qrt/requantize.h"
#include "qrt/window.h"

typedef struct qrt_gemm_args qrt_gemm_args;

/* How the 8-bit microkernel wants the rows of a. */
typedef enum {
    QRT_A_IN_PLACE,          /* as they are given */
    QRT_A_IN_PLACE_BUT_LAST, /* whole steps of rows as they are given; the last rows of a matrix through pack_a */
    QRT_A_PACKED,            /* through pack_a */
    QRT_A_PACKED_TERMS,      /* through pack_a, with a_terms */
    QRT_A_BY_KERNEL,         /* as they are given: run packs them itself; but pack_a for spans of a longer K */
} qrt_a_form;

typedef struct qrt_gemm_panel qrt_gemm_panel;

/* The 8-bit microkernel. It dictates the packing; core/gemm.c blocks, shares among threads and owns all memory. Packed
 * rows of a begin at multiples of 64 bytes, panels of b too, and both are padded to whole steps of ku values of K.
 * Neither |value - zero point| exceeds 255 nor an exact sum 31 bits: core sends everything else to the wide path. */
typedef struct qrt_gemm_kernel {
    const char *name;
    int mr, nr;         /* rows of a tile (blocks of rows are multiples of it), columns of a panel */
    int ku;             /* K values per step */
    int a_size, b_size; /* bytes of one packed value */
    /* Asked once, when a call is bound: how sums end, in the kernel's own words, args->finish. NULL: 0. */
    int (*finish_of)(const qrt_gemm_args *args);
    /* Asked then too. Core packs gathered patches whatever the answer. */
    qrt_a_form (*a_form)(const qrt_gemm_args *args);
    /* Row i, `depth` contiguous values of K from source + i * source_stride, to target + i * target_stride. The padding
     * adds nothing. zero_point has `rows` values. terms: NULL, or room for 2 per row, private to the kernel. */
    void (*pack_a)(qrt_container container, const void *source, int64_t source_stride, int rows, int64_t depth,
                   const int32_t *zero_point, void *target, int64_t target_stride, int32_t *terms);
    /* A panel of `columns` <= nr columns: element (k, j) is at source + k * k_stride + j * n_stride. A panel is a
     * sequence of steps and at most nr * ku * b_size bytes of each. terms: 2 * nr, private to the kernel. */
    void (*pack_b)(qrt_container container, const void *source, int64_t k_stride, int64_t n_stride, int columns,
                   int64_t depth, const int32_t *zero_point, void *panel, int32_t *terms);
    /* Multiplies rows of a by a panel of b and stores. */
    void (*run)(const qrt_gemm_panel *panel);
    bool segmented; /* run follows a_segments */
    bool splits;    /* 16-bit operands go by their bytes, not as the wide path */
    /* run takes two panels at once, 2 * nr columns, of up to pair_depth values of K; the second's b and b_terms follow
     * the first's. Without `pairs` no depth does, an empty one neither. */
    bool pairs;
    int pair_depth;
    bool all_panels; /* run takes all columns of a block at once, panels as with pairs */
    bool flat_lines; /* run goes from line to line of a_segments as over one row of pixels: lines should allow it */
    int64_t a_block; /* bytes that packed rows may take beside a large b; 0: QRT_A_BLOCK_BYTES */
    /* Bytes of panel->workspace for a block of so many rows. NULL: none. */
    int64_t (*workspace)(const qrt_gemm_args *args, int64_t rows);
    /* Asked when a call is bound: whether the kernel computes it at all (NULL: any), and whether it is the best at it.
     * What it does not take, or does not suit it, is left to `otherwise`. NULL: the last. */
    bool (*takes)(const qrt_gemm_args *args);
    bool (*suits)(const qrt_gemm_args *args);
    const struct qrt_gemm_kernel *otherwise;
} qrt_gemm_kernel;

/* target[i][j] = requantize(bias[j] + sum over k of (a[i][k] - za[i]) * (b[k][j] - zb[j])); with `sums`, sums[i][j] is
 * that sum, not requantized. Intermediate sums may wrap modulo 2^32: only the final value is known to fit. */
struct qrt_gemm_panel {
    const qrt_gemm_args *args;
    int rows, columns;
    int64_t depth; /* of each segment of a */
    const void *a;
    int64_t a_stride;       /* bytes */
    const int32_t *a_terms; /* NULL: not packed with terms */
    void *workspace;        /* of QRT_A_BY_KERNEL, where rows of a are not packed yet; else NULL */
    int32_t a_zero_point;   /* of all rows, without terms */
    /* The values of K of a row, where they are not contiguous: `segments` times `depth`, a multiple of ku, each so many
     * bytes from the row's start. Rows may overlap. NULL: one segment. */
    const int64_t *a_segments;
    int64_t segments;
    /* All of it so many times, bytes apart in a and in target; more than once only where no row has parameters of its
     * own. */
    int64_t lines, a_line, target_line;
    const void *b, *next; /* next: the panel whose turn comes then */
    const int32_t *b_terms;
    const int32_t *bias; /* `columns` values; NULL: none */
    int32_t *sums;       /* NULL, or rows sums_stride elements apart */
    int64_t sums_stride;
    void *target;      /* rows args->out_row_stride bytes apart */
    int64_t parameter; /* of the first element; args->requant_steps[1] and [2] lead to the others */
};

typedef enum { QRT_BIAS_NONE, QRT_BIAS_I32, QRT_BIAS_I64, QRT_BIAS_F32 } qrt_bias_kind;

typedef struct {
    void *panels;
    int32_t *terms;
} qrt_packed;

/* Where the panels of a packed matrix are: [span of K][panel of columns]. */
typedef struct {
    int64_t spans, panels;
    int64_t span_bytes; /* of a panel over a whole span */
    int64_t matrix_bytes;
    int64_t matrix_terms; /* int32 values */
} qrt_packed_shape;

/* A convolution that reads its patches where they overlap. */
typedef struct {
    int64_t segments, depth; /* of a patch; segments 0: patches are gathered one by one */
    bool in_place;           /* from the input; else from a copy of regions */
    int64_t rows, pixels;    /* of output, of a region at most */
    bool filled;             /* segments are filled up to whole steps, in the packed b alone */
} qrt_conv_plan;

typedef struct qrt_gemm_split qrt_gemm_split;

struct qrt_gemm_args {
    const qrt_kernels *kernels;
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
    const float *block_scale;        /* float32 */
    const int64_t *block_multiplier; /* fixed */
    const int64_t *bias_multiplier;  /* fixed, [n] */
    const qrt_window *window;        /* conv2d: rows of a are gathered patches; NULL: a is a matrix */
    /* Args prepared before for the same b_constant, which outlive these; or NULL. qrt_gemm_prepare leaves them only
     * where their packed b serves here too. */
    const qrt_gemm_args *earlier;
    /* A kernel that goes before the others where it takes the call, whatever suits best; NULL: none. */
    const qrt_gemm_kernel *wanted;
    /* Derived when bound, by qrt_gemm_prepare. */
    const qrt_gemm_kernel *gemm; /* of the narrow path; else NULL */
    int finish;                  /* what it says of how sums end */
    bool narrow;                 /* the 8-bit microkernel applies */
    bool splits;                 /* it does to the bytes of 16-bit operands */
    qrt_gemm_split *split;       /* those of b_constant */
    int64_t a_max, b_max;        /* bounds of |value - zero point| */
    int64_t span;                /* values of K whose sums of products fit 31 bits in one tile */
    int64_t bias_limit;          /* |bias| up to which a whole sum fits 31 bits; negative: none */
    bool bias_fits;              /* bias_constant is within it */
    bool raw;                    /* requantization leaves every sum as it is */
    qrt_a_form a_form;
    qrt_conv_plan conv;
    int64_t a_stride;       /* bytes of a packed row of a over a whole span */
    int64_t block_rows;     /* rows of a that stay in L2 */
    int64_t packed_columns; /* columns of b packed together: all of a constant's */
    qrt_packed_shape shape; /* of those */
    qrt_packed packed;      /* b_constant packed */
    unsigned calls;         /* the one thing a call changes, atomically: the order of its reads depends on it */
};

/* Completes args: chooses the path, packs a constant b. qrt_gemm_release frees what it allocated. */
qrt_status qrt_gemm_prepare(qrt_gemm_args *args);
void qrt_gemm_release(void *args);
qrt_status qrt_gemm(const void *args, qrt_scratch *scratch);

#endif
