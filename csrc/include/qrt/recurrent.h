/* Recurrent operations. Each entry has several results, the last of its operands. */
#pragma once

#include "qrt/products/gemm.h"

/* A gate: which operands are its weights of x and of the hidden values, its bias, its peephole and its norm, -1 for
 * one that it lacks; multipliers of the sums over x and over the hidden values, of the peephole and of the norm. */
typedef struct {
    int w, r, bias, peephole, norm;
    int32_t multiplier[4], shift[4];
    int32_t least_variance;
} qrt_lstm_gate;

/* Operands x, the weights of x by gate, those of the hidden values, biases, hidden, cell, and further ones that the
 * gates and the projection name; from `first_result` on y, hidden, cell. x is [steps][batch][inputs], or
 * [batch][steps][inputs]; y has `values` in place of inputs, the number of cells where there is no projection. */
typedef struct {
    const qrt_kernels *kernels;
    int64_t steps, batch, inputs, cells, values;
    bool time_major;
    int64_t x_zero_point, hidden_zero_point, made_zero_point, result_zero_point;
    qrt_lstm_gate gate[4]; /* input, forget, cell, output. Without weights, input is what forget leaves. */
    int hidden, first_result, projection, projection_bias;
    int32_t multiplier[2], shift[2]; /* of what comes out of the cell, of the projection */
    int cell_exponent;               /* the cell's scale is 2^cell_exponent: -15 to -9 */
    int64_t cell_clip;               /* 32768: nothing is clipped */
    int64_t projection_clip;         /* 128: nothing is clipped */
} qrt_lstm_args;

qrt_status qrt_lstm(const void *args, qrt_scratch *scratch);

/* Operands x, weights of features, weights of time, state, [bias]; then y, state. x is [batch][inputs], the weights are
 * [units * rank][inputs] and [units * rank][memory], state is [batch][units * rank][memory], y is [batch][units]. */
typedef struct {
    const qrt_kernels *kernels;
    int64_t batch, inputs, units, rank, memory;
    bool has_bias;
    int64_t x_zero_point, result_zero_point;
    int32_t multiplier[2], shift[2]; /* of the features, of the result */
} qrt_svdf_args;

qrt_status qrt_svdf(const void *args, qrt_scratch *scratch);

/* Weights [depth][columns] of 8 bits with the zero point and the scale of each column, and the product of quantized
 * rows by them. Zero points are values of the container. */
typedef struct {
    qrt_gemm_args gemm; /* its problem has b_constant, container and zero points before a call is prepared */
    const float *scales;
} qrt_dynamic_weights;

/* Operands x, [w], then y: float32 rows [rows][depth], which are quantized together, times weights [depth][columns]. */
typedef struct {
    const qrt_kernels *kernels;
    int64_t rows, depth, columns;
    qrt_dynamic_weights w;
} qrt_dynamic_matmul_args;

/* Packs constant weights. The release frees what was allocated, even after a failure. */
qrt_status qrt_dynamic_matmul_prepare(qrt_dynamic_matmul_args *args, qrt_stored *stored);
void qrt_dynamic_matmul_release(void *args);
int qrt_dynamic_matmul_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_dynamic_matmul(const void *args, qrt_scratch *scratch);

/* Operands x, [weights of x], [weights of the hidden values], bias, hidden, cell; then y, hidden, cell. x is
 * [steps][batch][inputs] and y [steps][batch][cells], both float32 as the state is; the weights are [inputs][4 * cells]
 * and [cells][4 * cells], of the gates input, output, forget and cell. */
typedef struct {
    const qrt_kernels *kernels;
    int64_t steps, batch, inputs, cells;
    bool reverse; /* the last step comes first */
    qrt_dynamic_weights w, r;
} qrt_dynamic_lstm_args;

qrt_status qrt_dynamic_lstm_prepare(qrt_dynamic_lstm_args *args, qrt_stored *stored);
void qrt_dynamic_lstm_release(void *args);
int qrt_dynamic_lstm_packed(const void *args, qrt_packed_part *to);
qrt_status qrt_dynamic_lstm(const void *args, qrt_scratch *scratch);
