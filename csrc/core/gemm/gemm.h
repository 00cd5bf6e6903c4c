/* The declarations that the files of the GEMM share. A file calls those that stand before it here and no others:
 * gemm_block.c (blocks of rows), conv.c (convolution without patches), gemm_pack.c (preparation of the narrow path,
 * packing of b), gemm_tasks.c (sharing among threads), gemm_split.c (16-bit operands), gemm.c (the entry). */
#pragma once

#include "core/core.h"

/* The number of parts. The comparison comes first because a division takes longer than a small product. */
static inline int64_t qrt_parts(int64_t total, int64_t part) {
    return total <= part ? 1 : qrt_ceil_div(total, part);
}

/* Bytes of A that stay in a share of L2, and bytes of B that a call packs at a time. */
#define QRT_A_BLOCK_BYTES (256 * 1024)
#define QRT_B_BLOCK_BYTES (4 * 1024 * 1024)
/* A matrix of b up to this size stays in L2, so that all threads share it. Of a larger one each takes its own
 * columns. */
#define QRT_SHARED_B_BYTES (512 * 1024)
/* Below this many multiply-adds, waking threads costs more than it saves. */
#define QRT_SERIAL_WORK (1 << 19)

/* The operands of one call. */
struct qrt_gemm_call {
    const qrt_gemm_args *args;
    const char *a, *b;
    const void *bias;
    char *out;
    bool bias_fits; /* |bias| <= plan.bias_limit for every bias; only the narrow path sets and reads it */
};

/* Rows [row, row + rows) of one batch by columns [column, column + columns), where column is a multiple of nr. `packed`
 * holds the panels of the batch's matrix of b, from column packed_column on. `backwards`: the last panel comes
 * first. */
typedef struct {
    int64_t batch, row, rows, column, columns;
    qrt_packed packed;
    int64_t packed_column;
    bool backwards;
} qrt_gemm_block;

/* Rows of a, packed or in place. The other fields are those of qrt_microkernel_call. */
typedef struct {
    const char *rows;
    int64_t stride;
    int32_t *compensation;
    const int64_t *segments;
    int64_t image_rows, a_image_row, target_image_row;
    void *workspace;
} qrt_gemm_rows;

/* A GEMM of 16-bit operands by the 8-bit products of their low and high bytes: gemm_split.c. */
#define QRT_SPLIT_PARTS 2

struct qrt_gemm_split {
    int a_parts, b_parts;
    int64_t *a_zero_point[QRT_SPLIT_PARTS], *b_zero_point[QRT_SPLIT_PARTS];
    /* Products for the rows of one block, without requantization. */
    qrt_gemm_args product[QRT_SPLIT_PARTS][QRT_SPLIT_PARTS];
};

/* The product by part i of a and by what `part` of a problem says of b; NULL if there is none. */
static inline const qrt_gemm_args *qrt_split_product(const qrt_gemm_split *split, int i, int part) {
    const bool is_there = i < split->a_parts && (split->b_parts > 1) == (part > 0);
    return is_there ? &split->product[i][part > 0 ? part - 1 : 0] : NULL;
}

/* The threads that a call uses, of those that it may. */
static inline int qrt_gemm_threads(const qrt_gemm_problem *problem, int threads) {
    const double work = (double)problem->batch * (double)problem->m * (double)problem->n * (double)problem->k;
    return work < QRT_SERIAL_WORK ? 1 : threads;
}

static inline int64_t qrt_panel_bytes(int64_t width, int64_t depth, int ku, int size) {
    return qrt_round_up(width * qrt_round_up(depth, ku) * size, QRT_ALIGNMENT);
}

static inline int64_t qrt_slice_depth(const qrt_gemm_args *args, int64_t slice) {
    return qrt_min(args->plan.kc, args->problem.k - slice * args->plan.kc);
}

static inline int64_t qrt_a_matrix(const qrt_gemm_problem *problem, int64_t batch) {
    return problem->a_index ? problem->a_index[batch] : problem->a_matrices == 1 ? 0 : batch;
}

static inline int64_t qrt_b_matrix(const qrt_gemm_problem *problem, int64_t batch) {
    return problem->b_index ? problem->b_index[batch] : problem->b_matrices == 1 ? 0 : batch;
}

/* The index of a row's zero point in a_zero_point. */
static inline int64_t qrt_a_zero_point_index(const qrt_gemm_problem *problem, int64_t batch, int64_t row) {
    const int64_t *steps = problem->a_zero_point_steps;
    return qrt_a_matrix(problem, batch) * steps[0] + row * steps[1];
}

static inline int64_t qrt_a_zero_point(const qrt_gemm_problem *problem, int64_t batch, int64_t row) {
    return problem->a_zero_point[qrt_a_zero_point_index(problem, batch, row)];
}

/* The number of zero points without k_block. It is at least one, so that the bounds of |value - zero point| are not 0
 * where a dimension is. */
static inline int64_t qrt_a_zero_points(const qrt_gemm_problem *problem) {
    const int64_t *steps = problem->a_zero_point_steps;
    return 1 + steps[0] * qrt_max(problem->a_matrices - 1, 0) + steps[1] * qrt_max(problem->m - 1, 0);
}

static inline int64_t qrt_b_zero_points(const qrt_gemm_problem *problem) {
    const int64_t *steps = problem->b_zero_point_steps;
    return 1 + steps[0] * qrt_max(problem->b_matrices - 1, 0) + steps[2] * qrt_max(problem->n - 1, 0);
}

/* The panels of one matrix of the packed b_constant. */
static inline qrt_packed qrt_packed_matrix(const qrt_gemm_plan *plan, int64_t matrix) {
    return (qrt_packed){(char *)plan->packed.panels + matrix * plan->shape.matrix_bytes,
                        plan->packed.compensation + matrix * plan->shape.matrix_compensation, plan->packed.stored};
}

static inline int64_t qrt_parameter_of(const qrt_gemm_problem *problem, int64_t batch, int64_t row, int64_t column) {
    const int64_t *steps = problem->requant_steps;
    return batch * steps[0] + row * steps[1] + column * steps[2];
}

static inline void *qrt_output_at(const qrt_gemm_call *call, int64_t batch, int64_t row, int64_t column) {
    const qrt_gemm_problem *problem = &call->args->problem;
    return call->out + batch * problem->out_matrix_stride + row * problem->out_row_stride +
           column * qrt_container_size(problem->requant.container);
}

/* gemm_pack.c: whether both calls pack their constant into the same panels, as far as their problems say. */
bool qrt_pack_alike(const qrt_gemm_args *earlier, const qrt_gemm_args *args);
bool qrt_bias_fits(const qrt_gemm_args *args, const void *bias);

/* gemm_pack.c: qrt_gemm_begin clears the plan, rewrites a pointwise convolution as a product, bounds the operands and
 * says whether the path is narrow. qrt_narrow_prepare derives the rest of a narrow plan and packs a constant b. */
void qrt_gemm_begin(qrt_gemm_args *args);
qrt_status qrt_narrow_prepare(qrt_gemm_args *args);
void qrt_narrow_release(qrt_gemm_args *args);
int qrt_narrow_packed(const qrt_gemm_args *args, qrt_packed_part *to);

/* Packs panel number `panel` of the `columns` columns from `column` on. */
void qrt_pack_b_panel(const qrt_gemm_args *args, const char *b, int64_t matrix, int64_t column, int64_t columns,
                      int64_t panel, qrt_packed packed);

/* Bytes of the workspace that qrt_gemm_block_run needs. */
int64_t qrt_block_workspace(const qrt_gemm_args *args, int64_t rows);
qrt_status qrt_gemm_block_run(const qrt_gemm_call *call, const qrt_gemm_block *block, char *workspace);

/* Multiplies rows by the columns of a block, over the whole of K in one slice. */
void qrt_gemm_run_rows(const qrt_gemm_call *call, const qrt_gemm_block *block, const qrt_gemm_rows *a);

/* conv.c. qrt_conv_prepare chooses plan.conv, once everything but the packing is known. qrt_conv_filled_weights
 * allocates constant weights [n][segments][depth] whose segments are filled up with zero points, which add nothing.
 * qrt_conv_run computes all rows of `batches` batches from b->batch on. */
void qrt_conv_prepare(qrt_gemm_args *args);
void *qrt_conv_filled_weights(const qrt_gemm_args *args);
qrt_status qrt_conv_run(const qrt_gemm_call *call, const qrt_gemm_block *b, int64_t batches, int threads);

/* gemm_tasks.c */
qrt_status qrt_narrow_run(const qrt_gemm_call *call, int threads);
qrt_status qrt_wide_run(const qrt_gemm_call *call, int threads);

/* gemm_split.c. qrt_gemm_splits says whether the 8-bit microkernel can compute this call by the bytes of its operands.
 * qrt_split_new packs b, which may be freed afterwards; what it returns must be freed even after a failure. */
bool qrt_gemm_splits(const qrt_gemm_args *args);
qrt_status qrt_split_new(const qrt_gemm_args *args, const char *b, qrt_gemm_split **to);
void qrt_split_free(qrt_gemm_split *split);
int qrt_split_packed(const qrt_gemm_split *split, qrt_packed_part *to);
qrt_status qrt_split_run(const qrt_gemm_call *call, int threads);

/* Adds the bias to `columns` accumulators from `column` on. */
qrt_status qrt_add_bias(const qrt_gemm_call *call, int64_t batch, int64_t column, int64_t columns, int64_t *acc);

/* Computes one row of a wide or sub-channel GEMM, all columns of it. */
int64_t qrt_wide_workspace(const qrt_gemm_problem *problem);
qrt_status qrt_wide_row_run(const qrt_gemm_call *call, int64_t batch, int64_t row, char *workspace);

/* Returns the K values of a row of a: in place, or gathered into `patch`. */
const void *qrt_a_row(const qrt_gemm_call *call, int64_t batch, int64_t row, void *patch);
