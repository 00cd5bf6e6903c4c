/* Products of floats that are quantized at run time, and a long short-term memory of them: those of all inputs
 * together, then those of the hidden values at each step. The sums of integers are those of a GEMM. */
#include <math.h>

#include "core/core.h"
#include "core/float_control.h"

#define MOST 255
/* A sum of so many products fits 31 bits. */
#define DEEPEST (INT32_MAX / (MOST * MOST))

/* ---- binding ---- */

/* With the multiplier 2^30 and the shift 30 the result of requantization is the sum. */
static const int32_t raw_multiplier[] = {1 << 30}, raw_shift[] = {30};
static const int64_t no_zero_point[] = {0};

/* Completes the problem of a product and packs constant weights. Where its sums do not fit 31 bits nothing is packed,
 * because the GEMM is not called. */
static qrt_status prepare(const qrt_kernels *kernels, qrt_dynamic_weights *weights, int64_t rows, int64_t depth,
                          int64_t columns, qrt_stored *stored) {
    qrt_gemm_args *gemm = &weights->gemm;
    qrt_gemm_problem *problem = &gemm->problem;
    gemm->kernels = kernels;
    problem->a = QRT_U8;
    problem->batch = problem->a_matrices = problem->b_matrices = 1;
    problem->m = rows;
    problem->n = columns;
    problem->k = depth;
    problem->a_row_stride = depth;
    problem->b_k_stride = columns;
    problem->b_n_stride = 1;
    problem->b_matrix_stride = depth * columns;
    problem->out_row_stride = columns * (int64_t)sizeof(int32_t);
    problem->a_matrix_stride = rows * problem->a_row_stride;
    problem->out_matrix_stride = rows * problem->out_row_stride;
    problem->a_zero_point = no_zero_point; /* a call has its own; |value - it| has the same bound */
    problem->b_zero_point_steps[2] = 1;
    problem->requant = (qrt_requant){.rule = QRT_FIXED,
                                     .container = QRT_I32,
                                     .storage_min = INT32_MIN,
                                     .storage_max = INT32_MAX,
                                     .multiplier = raw_multiplier,
                                     .shift = raw_shift,
                                     .zero_point = no_zero_point,
                                     .shift_min = 30,
                                     .shift_max = 30};
    if (depth > DEEPEST)
        return QRT_OK;
    problem->stored = stored;
    const qrt_status status = qrt_gemm_prepare(gemm);
    problem->stored = NULL;
    return status;
}

qrt_status qrt_dynamic_matmul_prepare(qrt_dynamic_matmul_args *args, qrt_stored *stored) {
    return prepare(args->kernels, &args->w, args->rows, args->depth, args->columns, stored);
}

void qrt_dynamic_matmul_release(void *pointer) {
    qrt_gemm_release(&((qrt_dynamic_matmul_args *)pointer)->w.gemm);
}

int qrt_dynamic_matmul_packed(const void *pointer, qrt_packed_part *to) {
    return qrt_gemm_packed(&((const qrt_dynamic_matmul_args *)pointer)->w.gemm, to);
}

qrt_status qrt_dynamic_lstm_prepare(qrt_dynamic_lstm_args *args, qrt_stored *stored) {
    const int64_t columns = 4 * args->cells;
    const qrt_status status =
        prepare(args->kernels, &args->w, args->steps * args->batch, args->inputs, columns, stored);
    return status == QRT_OK ? prepare(args->kernels, &args->r, args->batch, args->cells, columns, stored) : status;
}

void qrt_dynamic_lstm_release(void *pointer) {
    qrt_dynamic_lstm_args *args = pointer;
    qrt_gemm_release(&args->w.gemm);
    qrt_gemm_release(&args->r.gemm);
}

int qrt_dynamic_lstm_packed(const void *pointer, qrt_packed_part *to) {
    const qrt_dynamic_lstm_args *args = pointer;
    const int count = qrt_gemm_packed(&args->w.gemm, to);
    return count + qrt_gemm_packed(&args->r.gemm, to + count);
}

/* ---- products ---- */

typedef struct {
    float scale;
    int zero_point;
} parameters;

static parameters dynamic_parameters(const qrt_kernels *kernels, const float *x, int64_t count) {
    float range[2];
    kernels->dynamic_range(x, count, range);
    if (range[0] == range[1])
        return (parameters){1, 0};
    const float scale = (range[1] - range[0]) / MOST, zero_point = -range[0] / scale;
    const float bounded = zero_point < MOST ? zero_point > 0 ? zero_point : 0 : MOST; /* MOST of a NaN */
    return (parameters){scale, (int)rintf(bounded)};
}

/* The memory of a call. */
typedef struct {
    int64_t *wide;    /* sums of a row, where they do not fit 31 bits */
    float *of_x;      /* gates of all steps */
    int32_t *sums;    /* of the hidden values */
    uint8_t *storage; /* of rows */
} buffers;

/* One row after the other, by sums of 64 bits. */
static qrt_status wide_product(const qrt_gemm_args *gemm, const qrt_dynamic_weights *weights, const void *w,
                               float scale, const buffers *memory, float *target) {
    const qrt_gemm_problem *problem = &gemm->problem;
    for (int64_t row = 0; row < problem->m; row++) {
        const qrt_status status = gemm->kernels->wide_row(gemm, memory->storage + row * problem->k,
                                                          *problem->a_zero_point, w, 0, memory->wide);
        if (status != QRT_OK)
            return status;
        for (int64_t j = 0; j < problem->n; j++) {
            const float product = (float)memory->wide[j] * (scale * weights->scales[j]);
            target[row * problem->n + j] = isnan(product) ? __builtin_nanf("") : product;
        }
    }
    return QRT_OK;
}

/* Quantizes rows of x and multiplies them. The sums are exact integers in `sums`, or the scaled products in `target`
 * where sums is NULL. *scale is that of x. */
static qrt_status product(const qrt_dynamic_weights *weights, const void *w, const float *x, const buffers *memory,
                          int threads, float *scale, void *sums, float *target) {
    qrt_gemm_args gemm = weights->gemm;
    const qrt_gemm_problem *problem = &gemm.problem;
    const int64_t count = problem->m * problem->k;
    const parameters p = dynamic_parameters(gemm.kernels, x, count);
    const int64_t zero_point = p.zero_point;
    gemm.problem.a_zero_point = &zero_point;
    gemm.kernels->dynamic_storage(x, count, p.scale, p.zero_point, memory->storage);
    *scale = p.scale;
    if (problem->k > DEEPEST)
        return wide_product(&gemm, weights, w, p.scale, memory, target);
    void *operands[] = {memory->storage, problem->b_constant ? sums : (void *)w, sums};
    return qrt_gemm(&gemm, &(qrt_scratch){operands, threads});
}

/* The products themselves. */
static qrt_status whole_product(const qrt_dynamic_weights *weights, const void *w, const float *x,
                                const buffers *memory, int threads, float *target) {
    const qrt_gemm_problem *problem = &weights->gemm.problem;
    float scale;
    const qrt_status status = product(weights, w, x, memory, threads, &scale, target, target);
    if (status != QRT_OK || problem->k > DEEPEST)
        return status;
    for (int64_t row = 0; row < problem->m; row++, target += problem->n)
        weights->gemm.kernels->dynamic_scale((const int32_t *)target, weights->scales, scale, problem->n, NULL, NULL,
                                             target);
    return QRT_OK;
}

static const void *weights_of(const qrt_dynamic_weights *weights, void *const **operands) {
    return weights->gemm.problem.b_constant ? weights->gemm.problem.b_constant : *(*operands)++;
}

qrt_status qrt_dynamic_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_dynamic_matmul_args *args = pointer;
    void *const *operands = scratch->operands;
    const float *x = *operands++;
    const void *w = weights_of(&args->w, &operands);
    const size_t wide = args->depth > DEEPEST ? (size_t)args->columns * sizeof(int64_t) : 0;
    char *block = qrt_workspace(QRT_WORKSPACE_CALLER, wide + (size_t)(args->rows * args->depth));
    if (block == NULL)
        return QRT_NO_MEMORY;
    const buffers memory = {.wide = (int64_t *)block, .storage = (uint8_t *)block + wide};
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = whole_product(&args->w, w, x, &memory, scratch->threads, *operands);
    qrt_float_leave(saved);
    return status;
}

/* ---- the long short-term memory ---- */

static buffers divide(const qrt_dynamic_lstm_args *args, char *memory) {
    const int64_t columns = 4 * args->cells;
    buffers made;
    made.wide = (int64_t *)memory;
    made.of_x = (float *)(made.wide + columns);
    made.sums = (int32_t *)(made.of_x + args->steps * args->batch * columns);
    made.storage = (uint8_t *)(made.sums + args->batch * columns);
    return made;
}

static size_t bytes_of(const qrt_dynamic_lstm_args *args) {
    const int64_t columns = 4 * args->cells, rows = args->steps * args->batch;
    const int64_t widest = qrt_max(rows * args->inputs, args->batch * args->cells);
    return (size_t)columns * sizeof(int64_t) + (size_t)((rows + args->batch) * columns) * sizeof(float) +
           (size_t)widest;
}

/* gates = (gates + the product of hidden values) + bias */
static qrt_status add_hidden(const qrt_dynamic_lstm_args *args, const void *r, const float *hidden, const float *bias,
                             const buffers *memory, int threads, float *gates) {
    const int64_t columns = 4 * args->cells;
    float scale, *products = (float *)memory->sums;
    const qrt_status status = product(&args->r, r, hidden, memory, threads, &scale, memory->sums, products);
    if (status != QRT_OK)
        return status;
    for (int64_t b = 0; b < args->batch; b++, gates += columns, products += columns) {
        if (args->cells <= DEEPEST) {
            args->kernels->dynamic_scale((const int32_t *)products, args->r.scales, scale, columns, gates, bias, gates);
            continue;
        }
        for (int64_t j = 0; j < columns; j++)
            gates[j] = (gates[j] + products[j]) + bias[j];
    }
    return QRT_OK;
}

/* The operands of a call, but for x. */
typedef struct {
    const void *r;
    const float *bias;
    float *y, *hidden, *cell;
} state;

static qrt_status run_steps(const qrt_dynamic_lstm_args *args, const state *s, const buffers *memory, int threads) {
    const int64_t cells = args->cells, size = args->batch * cells, columns = 4 * cells;
    for (int64_t i = 0; i < args->steps; i++) {
        const int64_t step = args->reverse ? args->steps - 1 - i : i;
        float *gates = memory->of_x + step * args->batch * columns;
        const qrt_status status = add_hidden(args, s->r, s->hidden, s->bias, memory, threads, gates);
        if (status != QRT_OK)
            return status;
        for (int64_t b = 0; b < args->batch; b++)
            args->kernels->dynamic_cells(gates + b * columns, cells, s->hidden + b * cells, s->cell + b * cells);
        memcpy(s->y + step * size, s->hidden, (size_t)size * sizeof *s->y);
    }
    return QRT_OK;
}

static qrt_status run(const qrt_dynamic_lstm_args *args, void *const *operands, const buffers *memory, int threads) {
    const size_t bytes = (size_t)(args->batch * args->cells) * sizeof(float);
    const float *x = *operands++;
    const void *w = weights_of(&args->w, &operands), *r = weights_of(&args->r, &operands);
    const state s = {r, operands[0], operands[3], operands[4], operands[5]};
    memcpy(s.hidden, operands[1], bytes);
    memcpy(s.cell, operands[2], bytes);
    const qrt_status status = whole_product(&args->w, w, x, memory, threads, memory->of_x);
    return status == QRT_OK ? run_steps(args, &s, memory, threads) : status;
}

qrt_status qrt_dynamic_lstm(const void *pointer, qrt_scratch *scratch) {
    const qrt_dynamic_lstm_args *args = pointer;
    char *block = qrt_workspace(QRT_WORKSPACE_CALLER, bytes_of(args));
    if (block == NULL)
        return QRT_NO_MEMORY;
    const buffers memory = divide(args, block);
    const qrt_float_state saved = qrt_float_enter();
    const qrt_status status = run(args, scratch->operands, &memory, scratch->threads);
    qrt_float_leave(saved);
    return status;
}
