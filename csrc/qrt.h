/* The frame of the kernels: argument structs, the kernel table, and the entries that the seam binds.
 *
 * Every entry is `qrt_status f(const void *args, qrt_scratch *scratch)`. `args` is immutable once bound and shared by
 * all threads; `scratch` belongs to one call. `args->kernels` is the table of the ISA chosen when the call was bound,
 * so the loops in core/ never name an ISA. docs/kernels.md describes who packs, blocks, loads the bias and stores. */
#ifndef QRT_H
#define QRT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define QRT_MAX_RANK 64
#define QRT_MAX_OPERANDS 64
/* Parameter arrays (scales, multipliers, shifts, zero points, bias) may be read this many elements past their end. */
#define QRT_PARAMETER_PADDING 64
/* Limits of the tile a GEMM kernel may declare. */
#define QRT_MAX_MR 64
#define QRT_MAX_NR 64

typedef enum {
    QRT_OK = 0,
    QRT_NO_MEMORY,
    QRT_BAD_ARGUMENT,
    QRT_ACCUMULATOR_OVERFLOW, /* an exact accumulator needs more than 64 bits */
} qrt_status;

typedef enum { QRT_I8, QRT_U8, QRT_I16, QRT_U16, QRT_I32, QRT_U32 } qrt_container;
typedef enum { QRT_F16, QRT_BF16, QRT_F32, QRT_F64 } qrt_expressed;
typedef enum { QRT_HALF_EVEN, QRT_HALF_AWAY, QRT_TOWARD_ZERO } qrt_rounding;
typedef enum { QRT_ZERO_POINT_BEFORE, QRT_ZERO_POINT_AFTER } qrt_zero_point_order;
typedef enum { QRT_SCALE_DIVIDE, QRT_SCALE_RECIPROCAL } qrt_scale_mode;
typedef enum { QRT_FIXED, QRT_FIXED_DOUBLE, QRT_FLOAT32, QRT_FLOAT64_AWAY } qrt_rule;

typedef struct qrt_kernels qrt_kernels;
typedef struct qrt_gemm_args qrt_gemm_args;

typedef struct {
    void *const *operands; /* inputs, then the output */
    int threads;
} qrt_scratch;

typedef qrt_status (*qrt_entry)(const void *args, qrt_scratch *scratch);

/* An element's parameter index is sum(index[d] / block[d] * step[d]); step 0 leaves an axis out. */
typedef struct {
    int rank;
    int64_t shape[QRT_MAX_RANK];
    int64_t block[QRT_MAX_RANK];
    int64_t step[QRT_MAX_RANK];
} qrt_layout;

/* Splits blocked axes into (blocks, block), drops axes of size 1 and merges those that are walked as one: afterwards
 * every block is 1 and the innermost step 0 or 1. The strides of operands walked along (or NULL) are rewritten with it.
 */
qrt_status qrt_layout_prepare(qrt_layout *layout, int64_t *a_strides, int64_t *b_strides);

typedef struct {
    qrt_rule rule;
    qrt_container container;
    int64_t storage_min, storage_max;
    const int32_t *multiplier; /* fixed, fixed_double: M0 */
    const int32_t *shift;      /* fixed: N, right; fixed_double: TFLite's, left when positive */
    const float *scale_f32;    /* float32 */
    const double *scale_f64;   /* float64_away */
    const int64_t *zero_point;
    /* Derived when bound. */
    const int32_t *zero_point_i32; /* NULL when storage_min - zp or storage_max - zp leaves 32 bits for some zp */
    int32_t shift_min, shift_max;
} qrt_requant;

/* ---- casts: operands x, out ---- */

/* Consecutive elements and their parameters: that of element i is `parameter + (phase + i) / run % period`, with
 * 0 <= phase < run * period. Per layer and per axis, whatever the axis, the whole tensor is one span. */
typedef struct {
    int64_t count, parameter, phase, run, period;
} qrt_span;

/* Joins the innermost axes of a prepared layout into one of step 0, along which parameters repeat as in a span. */
void qrt_layout_gather(qrt_layout *layout, int64_t *run, int64_t *period);

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_expressed expressed;
    qrt_container container;
    int64_t storage_min, storage_max;
    qrt_rounding rounding;
    qrt_zero_point_order zero_point_order;
    qrt_scale_mode scale_mode;
    const double *scale; /* already values of the expressed type */
    const int64_t *zero_point;
    /* Derived when bound. */
    int64_t run, period;     /* of every row of the layout */
    bool prefetch;           /* long enough to fetch a page ahead: the hardware streams stop at page boundaries */
    bool stream;             /* the result is larger than the caches: what is stored is not read back from them */
    bool finite_zero_points; /* every zero point is finite in the expressed type */
    double scale_least, scale_most;
    /* For f16, bf16 and f32, else NULL. zero_point_f32 is rounded to the expressed type, and so is reciprocal_f32 where
     * it is multiplied by; where it is divided by the scale, reciprocal_f32 is f32(1 / scale). */
    const float *scale_f32, *reciprocal_f32, *zero_point_f32;
    const int32_t *zero_point_i32; /* NULL when some zero point needs more than 24 bits */
    /* For f32 and f64, else NULL: 1 / scale and the zero point rounded to the expressed type, the zero point itself. */
    const double *reciprocal_f64, *rounded_zero_point_f64, *zero_point_f64;
} qrt_cast_args;

/* Completes args whose layout is prepared: gathers the layout, sets run, period, prefetch and stream. */
void qrt_cast_prepare(qrt_cast_args *args);
qrt_status qrt_qcast(const void *args, qrt_scratch *scratch);
qrt_status qrt_dcast(const void *args, qrt_scratch *scratch);

/* source and target have no alignment beyond their element's. */
typedef void (*qrt_cast_row)(const qrt_cast_args *args, const void *source, void *target, const qrt_span *span);

/* ---- requantize: operands q, out ---- */

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_container container;   /* of the input */
    const int64_t *zero_point; /* of the input, indexed as requant's arrays are */
    qrt_requant requant;
} qrt_requantize_args;

qrt_status qrt_requantize(const void *args, qrt_scratch *scratch);

typedef void (*qrt_requantize_row)(const qrt_requantize_args *args, const void *source, void *target, int64_t count,
                                   int64_t parameter, int64_t step);

/* ---- GEMM: operands a, [b], [bias], out ---- */

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

/* target[i][j] = requantize(acc[i][j]) with parameter index parameter + i * row_step + j * column_step (steps 0 or 1;
 * at most one is 1 where columns > 1 is read contiguously). acc rows are acc_stride apart, target rows target_stride
 * elements of requant->container. acc may be read up to the next multiple of 16 columns; target past `columns` belongs
 * to others. */
typedef void (*qrt_store)(const qrt_requant *requant, const int32_t *acc, int64_t acc_stride, int rows, int columns,
                          void *target, int64_t target_stride, int64_t parameter, int64_t row_step,
                          int64_t column_step);
typedef void (*qrt_store_wide)(const qrt_requant *requant, const int64_t *acc, int64_t acc_stride, int rows,
                               int columns, void *target, int64_t target_stride, int64_t parameter, int64_t row_step,
                               int64_t column_step);

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

typedef struct {
    int64_t images, height, width, channels; /* of the input, NHWC */
    int64_t out_height, out_width;
    int64_t kernel[2], strides[2], dilations[2], padding[2]; /* padding: top, left */
    int64_t groups;
} qrt_window;

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

/* ref only: a row of exact 64-bit accumulators for any container, and a sub-channel row stored. */
typedef qrt_status (*qrt_wide_row)(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b,
                                   int64_t matrix, int64_t *acc);
typedef qrt_status (*qrt_block_row)(const qrt_gemm_args *args, const void *a, int64_t a_zero_point, const void *b,
                                    int64_t matrix, const void *bias, void *target, int64_t parameter);

/* ---- float_matmul: operands a, [w], [bias], out: float32 ---- */

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

/* Up to QRT_FLOAT_ROWS rows of `a`, a_stride floats apart, for tiles: target[lane][step][QRT_FLOAT_ROWS], `stride`
 * floats from lane to lane, zeros past k. Rows that lack are left out or filled with anything. */
typedef void (*qrt_float_rows)(const float *a, int64_t a_stride, int rows, int64_t k, float *target, int64_t stride);
/* One lane of a tile: sums[rows][QRT_FLOAT_COLUMNS], each the chain over a[step][QRT_FLOAT_ROWS] and
 * b[step][QRT_FLOAT_COLUMNS], 64-byte aligned. Of `a` and `sums` the first `rows` rows are touched, at least one. */
typedef void (*qrt_float_tile)(const float *a, const float *b, int64_t steps, int rows, float *sums);
/* A step of one lane, for one row and many columns: sums[i] = a * b[i] + sums[i], fused. `sums` are 64-byte aligned and
 * continue to a multiple of 16, where anything may be written. */
typedef void (*qrt_float_axpy)(float a, const float *b, int64_t count, float *sums);
/* Adds up lanes[lane][row][QRT_FLOAT_COLUMNS], `stride` floats from lane to lane, with the bias, if any, to `out`. */
typedef void (*qrt_float_tree)(const float *lanes, int64_t stride, int64_t rows, int columns, const float *bias,
                               float *out, int64_t out_stride);

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
typedef void (*qrt_float_short)(const qrt_float_panel *panel);

/* ---- mixed_matmul: operands a (float32), [w] (8-bit storage), [bias], out (float32) ---- */

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

/* A row of a as units, sums and integers, in a form known to the tile of the same ISA: for each piece 16 bytes, then 16
 * for every four values of its vectors, 64-byte aligned; up to 64 bytes behind may be written. Whether all is finite.
 */
typedef bool (*qrt_mixed_row)(const qrt_mixed_matmul_args *args, const float *a, void *digits);
/* sums[rows][QRT_MIXED_COLUMNS] of 1 to QRT_MIXED_ROWS rows, row_bytes apart, by a panel, without the bias. */
typedef void (*qrt_mixed_tile)(const qrt_mixed_matmul_args *args, const void *digits, int rows, const uint8_t *panel,
                               float *sums);

/* ---- depthwise_conv2d: operands x (NHWC), [w], [bias], out ---- */

typedef struct qrt_depthwise_kernel qrt_depthwise_kernel;

/* Blocks of channels, and what of them was packed for a kernel. */
typedef struct {
    const qrt_depthwise_kernel *kernel; /* NULL: none computes this */
    int rows;                           /* output rows computed together: 1 or 2 */
    int64_t groups;                     /* of input rows that these rows see */
    int64_t blocks, block_bytes;
    void *packed;   /* blocks of block_bytes */
    int32_t *start; /* of sums, with the bias of this call: `channels` of each block; NULL: as packed */
} qrt_depthwise_plan;

typedef struct {
    const qrt_kernels *kernels;
    qrt_window window;    /* groups 1 */
    int64_t out_channels; /* j reads channel j / multiplier */
    int64_t multiplier;
    qrt_container x, w;
    int64_t w_tap_step, w_channel_step; /* elements of w; taps are row-major */
    const int64_t *x_zero_point;        /* one */
    const int64_t *w_zero_point;        /* index j * w_zero_point_step */
    int64_t w_zero_point_step;
    qrt_requant requant; /* index j * requant_step */
    int64_t requant_step;
    const void *w_constant;    /* NULL: w is an operand */
    qrt_bias_kind bias;        /* not f32 */
    const void *bias_constant; /* NULL: bias is an operand */
    /* Derived when bound, by qrt_depthwise_prepare. */
    int64_t bias_limit;      /* |bias| up to which every sum fits 31 bits; negative: none */
    qrt_depthwise_plan plan; /* of constant weights, and of the bias where it is one */
} qrt_depthwise_args;

/* Completes args: packs constant weights. qrt_depthwise_release frees what it allocated. */
qrt_status qrt_depthwise_prepare(qrt_depthwise_args *args);
void qrt_depthwise_release(void *args);
qrt_status qrt_depthwise_conv2d(const void *args, qrt_scratch *scratch);

/* acc[j] += sum of (x - x zero point) * (w - w zero point of j), for all out channels j of one output pixel, over the
 * rows x columns taps of its window that lie inside the input; x and w point at the first of them. Taps are
 * (y * dilation * width + x * dilation) * channels elements of x apart, (y * kernel width + x) * w_tap_step of w. In
 * the narrow form both containers have 8 bits, neither |value - zero point| exceeds 255 and every sum fits 32 bits. */
typedef void (*qrt_depthwise_pixel)(const qrt_depthwise_args *args, const void *x, const void *w, int64_t rows,
                                    int64_t columns, int32_t *acc);
typedef qrt_status (*qrt_depthwise_wide_pixel)(const qrt_depthwise_args *args, const void *x, const void *w,
                                               int64_t rows, int64_t columns, int64_t *acc);

/* Bytes of zero point on either side of qrt_depthwise_run.padding, and of a column of a row of padding. */
#define QRT_DEPTHWISE_PADDING 64

/* Out channels [first, first + channels). With two segments the channels fill half a vector at most, and its halves
 * belong to two runs of pixels. */
typedef struct {
    int64_t first;
    int channels, segments;
    int rows;
    int64_t groups;
    const void *packed;
    const int32_t *start; /* what sums begin with */
} qrt_depthwise_block;

/* A run of output pixels in bands of block->rows output rows, one below the other. */
typedef struct {
    const qrt_depthwise_block *block;
    int64_t bands;
    int last_rows; /* of the last band, that exist */
    /* [band][groups * group]: input rows, at the channel that the block's first reads; rows of padding hold zero points
     * wherever a column is read. */
    const char *const *lines;
    const int64_t *offsets; /* [segment][columns]: bytes from a line's pointer to each column; -1: padding */
    int64_t columns, pixel_step, tap_step; /* tap t of pixel p is column p * pixel_step + t * tap_step */
    int64_t pixels;                        /* of each segment; two may have one in common */
    char *target; /* the first channel of the first pixel; pixels are out_channels elements apart */
    int64_t row_elements, segment_elements; /* between output rows; between the two segments */
    const char *padding;                    /* zero points, also before it */
    void *interleaved;                      /* room for every column of every tile: columns * groups * group_bytes */
} qrt_depthwise_run;

/* The 8-bit kernel. core chooses blocks, rows and runs, and owns all memory; the kernel dictates the packing. Neither
 * |value - zero point| exceeds 255 nor a sum 31 bits. A packed block begins with what its sums begin with. */
struct qrt_depthwise_kernel {
    int channels;                      /* of a block */
    int segments;                      /* at most */
    int group;                         /* adjacent input rows that one multiply-add takes */
    int pixels;                        /* a run is computed this many at a time, or a divisor of it */
    int64_t header_bytes, group_bytes; /* of a packed block, of the channels of a group */
    int w_min, w_max;                  /* of weight - zero point */
    const qrt_depthwise_kernel *wider; /* for the other weights */
    /* Into zeros. */
    void (*pack)(const qrt_depthwise_args *args, const void *w, const qrt_depthwise_block *block, void *to);
    /* start[channels of a block] = what the block was packed with, plus the bias. */
    void (*add_bias)(const qrt_depthwise_args *args, const void *bias, const qrt_depthwise_block *block,
                     int32_t *start);
    void (*run)(const qrt_depthwise_args *args, const qrt_depthwise_run *run);
};

/* ---- element-wise: operands a, b, out ---- */

typedef enum { QRT_ADD, QRT_SUB, QRT_MUL } qrt_binary_kind;

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout; /* shape of the result, and its parameter index */
    qrt_binary_kind kind;
    qrt_container a, b;
    int64_t a_strides[QRT_MAX_RANK], b_strides[QRT_MAX_RANK]; /* elements; 0 broadcasts */
    const int64_t *a_zero_point, *b_zero_point;               /* indexed as requant's arrays are */
    const int64_t *a_multiplier, *b_multiplier;               /* add, sub: 20 fractional bits */
    qrt_requant requant;                                      /* add, sub: container, bounds and zero point only */
} qrt_binary_args;

qrt_status qrt_binary(const void *args, qrt_scratch *scratch);

typedef qrt_status (*qrt_binary_row)(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b,
                                     int64_t b_stride, void *target, int64_t count, int64_t parameter, int64_t step);

/* ---- clamp: operands q, out ---- */

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;
    qrt_container container;
    const int64_t *lower, *upper;
} qrt_clamp_args;

qrt_status qrt_clamp(const void *args, qrt_scratch *scratch);

typedef void (*qrt_clamp_row)(const qrt_clamp_args *args, const void *source, void *target, int64_t count,
                              int64_t parameter, int64_t step);

/* ---- lookup: operands x, [table], out ---- */

typedef struct {
    const qrt_kernels *kernels;
    qrt_layout layout;          /* one row */
    qrt_container container;    /* QRT_I8 or QRT_U8 */
    int width;                  /* of the storage type, 1 to 8 bits */
    qrt_container out;          /* of the table and the result */
    const void *table_constant; /* NULL: table is an operand */
} qrt_lookup_args;

qrt_status qrt_lookup(const void *args, qrt_scratch *scratch);

/* target[i] = table[source[i] - the storage type's least value], modulo 2^width: no source reaches outside. */
typedef void (*qrt_lookup_row)(const qrt_lookup_args *args, const void *table, const void *source, void *target,
                               int64_t count);

/* ---- pooling, NHWC: operands x, out ---- */

typedef struct {
    const qrt_kernels *kernels;
    qrt_window window; /* groups 1 */
    qrt_container container;
    const int64_t *zero_point; /* avg: of the input, index channel * zero_point_step */
    int64_t zero_point_step;
    qrt_requant requant; /* avg: index (count - 1) * count_step + channel * channel_step */
    int64_t count_step, channel_step;
} qrt_pool_args;

qrt_status qrt_avg_pool2d(const void *args, qrt_scratch *scratch);
qrt_status qrt_max_pool2d(const void *args, qrt_scratch *scratch);

/* All channels of one output pixel. `pixels` points at the first valid element of the window; it has rows x columns
 * valid pixels, row_stride and column_stride elements apart. */
typedef void (*qrt_pool_pixel)(const qrt_pool_args *args, const void *pixels, int64_t rows, int64_t columns,
                               int64_t row_stride, int64_t column_stride, void *target);

/* ---- mean: operands x, out ---- */

typedef struct {
    const qrt_kernels *kernels;
    qrt_container container;         /* of x */
    qrt_layout layout;               /* shape of the result, and its parameter index */
    int64_t x_strides[QRT_MAX_RANK]; /* of x along the result's axes, elements */
    int reduced_rank;
    int64_t reduced_shape[QRT_MAX_RANK], reduced_strides[QRT_MAX_RANK];
    int64_t count;             /* elements of reduced_shape */
    const int64_t *zero_point; /* of x, indexed as requant's arrays are */
    qrt_requant requant;
} qrt_mean_args;

qrt_status qrt_mean(const void *args, qrt_scratch *scratch);

/* `count` results, that of i summed over the reduced axes from element i * x_stride of x on. Sums of values and of zero
 * points fit 64 bits. */
typedef void (*qrt_mean_row)(const qrt_mean_args *args, const void *x, int64_t x_stride, void *target, int64_t count,
                             int64_t parameter, int64_t step);

/* ---- softmax: operands x, out ---- */

typedef struct {
    const qrt_kernels *kernels;
    int64_t outer, size, inner; /* x is [outer][size][inner]; sums run along size */
    qrt_container container;    /* QRT_I8 or QRT_U8 */
    const int32_t *table;       /* of 256 differences from the largest value, each within 2^30 */
    qrt_container out;
    int64_t storage_min, storage_max, zero_point; /* of the result */
    double scale;
} qrt_softmax_args;

qrt_status qrt_softmax(const void *args, qrt_scratch *scratch);

/* One line of `size` elements, `inner` apart in x and target. */
typedef void (*qrt_softmax_line)(const qrt_softmax_args *args, const void *x, void *target);

/* ---- movement: operands source..., out ---- */

typedef struct {
    int rank;
    int itemsize; /* 1, 2, 4 or 8 */
    int64_t shape[QRT_MAX_RANK];
    int64_t source_strides[QRT_MAX_RANK], target_strides[QRT_MAX_RANK]; /* elements */
    int64_t source_offset, target_offset;
    const void *constant; /* NULL: the part reads the next operand */
} qrt_copy_part;

typedef struct {
    int parts;
    const qrt_copy_part *part;
} qrt_copy_args;

qrt_status qrt_copy(const void *args, qrt_scratch *scratch);

typedef struct {
    const qrt_kernels *kernels;
    qrt_container container; /* QRT_I8 or QRT_U8 */
    int width;               /* 1, 2 or 4 */
    int64_t rows, columns;   /* a packed row is ceil(columns * width / 8) bytes, low element first */
} qrt_bits_args;

qrt_status qrt_pack_bits(const void *args, qrt_scratch *scratch);
qrt_status qrt_unpack_bits(const void *args, qrt_scratch *scratch);

/* `count` values from or to the first byte's low bits on; the bits that are left of the last byte are written 0. */
typedef void (*qrt_bits_row)(const qrt_bits_args *args, const void *source, void *target, int64_t count);

/* ---- the table ---- */

struct qrt_kernels {
    const char *name;
    bool streams; /* stores past the caches are faster than owned lines, for results larger than the caches */
    qrt_gemm_kernel gemm;
    const qrt_depthwise_kernel *depthwise; /* NULL: depthwise_pixel */
#define QRT_ROW(type, name) type name;
#include "rows.def"
#undef QRT_ROW
};

/* An ISA's init receives a copy of its parent's table and overrides entries. It runs once per process, before the table
 * is published; an entry that falls back keeps its parent's in a static (args->kernels may be a descendant's table). */
typedef void (*qrt_init)(qrt_kernels *table);

/* Available tables, from ref to the best; NULL past the last. Thread-safe. */
const qrt_kernels *qrt_kernels_at(int index);
const qrt_kernels *qrt_kernels_named(const char *name);

/* What the tables are made of, gemm and depthwise included; NULL past the last. Whether a table's differs from its
 * parent's, or, where it has no parent, is set. */
const char *qrt_row_name(int row);
bool qrt_row_is_own(const qrt_kernels *kernels, int row);

/* ---- plans ---- */

typedef struct {
    qrt_entry entry;
    const void *args;
    int operands;
    const int32_t *slots; /* operand i is pointers[slots[i]] */
} qrt_step;

/* Runs the steps in order, timing each where `seconds` is not NULL; on failure *failed is the step's number. */
qrt_status qrt_run(const qrt_step *steps, int64_t count, void *const *pointers, int threads, double *seconds,
                   int64_t *failed);

/* ---- threads and memory ---- */

/* Runs fn(context, task) for every task in [0, tasks), on at most `threads` threads. Work may run in any order; a busy
 * pool leaves all of it to the caller. The first status that is not QRT_OK is returned. */
typedef qrt_status (*qrt_task)(void *context, int64_t task);
qrt_status qrt_parallel(int64_t tasks, qrt_task fn, void *context, int threads);

int qrt_get_num_threads(void);         /* 0: QRT_NUM_THREADS is not within [1, 256] */
void qrt_set_num_threads(int threads); /* clamped to [1, 256] */

const char *qrt_status_text(qrt_status status);

#endif
