/* Recurrent operations. Each entry has several results, the last of its operands. */
#pragma once

#include "qrt/base.h"

/* Operands x, the weights of x for the input, forget, cell and output gate, those of the hidden values, their biases,
 * hidden, cell; then y, hidden, cell. x is [steps][batch][inputs], or [batch][steps][inputs]; y has cells in place of
 * inputs. */
typedef struct {
    const qrt_kernels *kernels;
    int64_t steps, batch, inputs, cells;
    bool time_major;
    int64_t x_zero_point, hidden_zero_point, result_zero_point;
    int32_t multiplier[9], shift[9]; /* of x by gate, of the hidden values by gate, of the result */
    int cell_exponent;               /* the cell's scale is 2^cell_exponent: -15 to -9 */
    int64_t cell_clip;               /* 32768: nothing is clipped */
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
