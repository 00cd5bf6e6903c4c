/* Recurrent operations: the steps of a sequence, one after the other. The results hold the state as it changes. */
#include "core/core.h"

qrt_status qrt_lstm(const void *pointer, qrt_scratch *scratch) {
    const qrt_lstm_args *args = pointer;
    void *const *operands = scratch->operands;
    const int8_t *x = operands[0];
    int8_t *y = operands[args->first_result], *hidden = operands[args->first_result + 1];
    int16_t *cell = operands[args->first_result + 2];
    int16_t *gates = qrt_workspace(QRT_WORKSPACE_CALL, (size_t)(5 * args->cells) * sizeof *gates);
    if (gates == NULL)
        return QRT_NO_MEMORY;
    memcpy(hidden, operands[args->hidden], (size_t)(args->batch * args->values) * sizeof *hidden);
    memcpy(cell, operands[args->hidden + 1], (size_t)(args->batch * args->cells) * sizeof *cell);
    for (int64_t step = 0; step < args->steps; step++)
        for (int64_t b = 0; b < args->batch; b++) {
            const int64_t at = args->time_major ? step * args->batch + b : b * args->steps + step;
            int8_t *made = hidden + b * args->values;
            args->kernels->lstm_step(args, operands, x + at * args->inputs, made, cell + b * args->cells, gates);
            memcpy(y + at * args->values, made, (size_t)args->values);
        }
    return QRT_OK;
}

qrt_status qrt_svdf(const void *pointer, qrt_scratch *scratch) {
    const qrt_svdf_args *args = pointer;
    void *const *operands = scratch->operands;
    const int64_t per_state = args->units * args->rank * args->memory;
    const int8_t *x = operands[0];
    int8_t *y = operands[4 + args->has_bias];
    int16_t *state = operands[5 + args->has_bias];
    memcpy(state, operands[3], (size_t)(args->batch * per_state) * sizeof *state);
    for (int64_t b = 0; b < args->batch; b++)
        args->kernels->svdf_step(args, operands, x + b * args->inputs, state + b * per_state, y + b * args->units);
    return QRT_OK;
}
