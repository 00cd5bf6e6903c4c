/* Products of floats that are quantized at run time, and a long short-term memory of them: those of all inputs
 * together, then those of the hidden values at each step. */
#include <math.h>

#include "core/core.h"
#include "core/float_control.h"

#define MOST 255

typedef struct {
    float scale;
    int zero_point;
} parameters;

/* Of numbers from 0 and from x; comparisons are false for a NaN, which counts as 0 so. */
static parameters dynamic_parameters(const float *x, int64_t count) {
    float least = 0, most = 0;
    for (int64_t i = 0; i < count; i++) {
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    if (least == most)
        return (parameters){1, 0};
    const float scale = (most - least) / MOST, zero_point = -least / scale;
    const float bounded = zero_point > 0 ? zero_point < MOST ? zero_point : MOST : 0; /* 0 of a NaN */
    return (parameters){scale, (int)rintf(bounded)};
}

static void quantize(const float *x, int64_t count, parameters p, uint8_t *target) {
    for (int64_t i = 0; i < count; i++) {
        const float step = rintf(x[i] / p.scale);
        const int whole = isnan(step) ? 0 : step > 1e6f ? 1000000 : step < -1e6f ? -1000000 : (int)step;
        const int value = whole + p.zero_point;
        target[i] = (uint8_t)(value < 0 ? 0 : value > MOST ? MOST : value);
    }
}

/* The memory of a call. */
typedef struct {
    int64_t *sums;
    float *of_x, *of_hidden;
    uint8_t *quantized;
} buffers;

static buffers divide(const qrt_dynamic_lstm_args *args, char *memory) {
    const int64_t columns = 4 * args->cells;
    buffers made;
    made.sums = (int64_t *)memory;
    made.of_x = (float *)(made.sums + columns);
    made.of_hidden = made.of_x + args->steps * args->batch * columns;
    made.quantized = (uint8_t *)(made.of_hidden + args->batch * columns);
    return made;
}

static size_t bytes_of(const qrt_dynamic_lstm_args *args) {
    const int64_t columns = 4 * args->cells, rows = args->steps * args->batch;
    const int64_t widest = qrt_max(rows * args->inputs, args->batch * args->cells);
    return (size_t)columns * sizeof(int64_t) + (size_t)((rows + args->batch) * columns) * sizeof(float) +
           (size_t)widest;
}

static void product(const qrt_kernels *kernels, const qrt_dynamic_weights *weights, const void *w, const float *x,
                    int64_t rows, int64_t depth, int64_t columns, const buffers *memory, float *target) {
    const parameters p = dynamic_parameters(x, rows * depth);
    quantize(x, rows * depth, p, memory->quantized);
    kernels->dynamic_product(weights, w, depth, columns, memory->quantized, rows, p.zero_point, p.scale, memory->sums,
                             target);
}

qrt_status qrt_dynamic_matmul(const void *pointer, qrt_scratch *scratch) {
    const qrt_dynamic_matmul_args *args = pointer;
    void *const *operands = scratch->operands;
    char *block =
        qrt_workspace(QRT_WORKSPACE_CALL, (size_t)args->columns * sizeof(int64_t) + (size_t)(args->rows * args->depth));
    if (block == NULL)
        return QRT_NO_MEMORY;
    const buffers memory = {(int64_t *)block, NULL, NULL, (uint8_t *)((int64_t *)block + args->columns)};
    const qrt_float_state saved = qrt_float_enter();
    product(args->kernels, &args->w, operands[1], operands[0], args->rows, args->depth, args->columns, &memory,
            operands[2]);
    qrt_float_leave(saved);
    return QRT_OK;
}

static void run(const qrt_dynamic_lstm_args *args, void *const *operands, const buffers *memory) {
    const int64_t state = args->batch * args->cells, columns = 4 * args->cells;
    const float *bias = operands[3];
    float *y = operands[6], *hidden = operands[7], *cell = operands[8];
    memcpy(hidden, operands[4], (size_t)state * sizeof *hidden);
    memcpy(cell, operands[5], (size_t)state * sizeof *cell);
    product(args->kernels, &args->w, operands[1], operands[0], args->steps * args->batch, args->inputs, columns, memory,
            memory->of_x);
    for (int64_t i = 0; i < args->steps; i++) {
        const int64_t step = args->reverse ? args->steps - 1 - i : i;
        product(args->kernels, &args->r, operands[2], hidden, args->batch, args->cells, columns, memory,
                memory->of_hidden);
        for (int64_t b = 0; b < args->batch; b++) {
            float *gates = memory->of_x + (step * args->batch + b) * columns;
            for (int64_t j = 0; j < columns; j++) {
                const float sum = gates[j] + memory->of_hidden[b * columns + j];
                gates[j] = sum + bias[j];
            }
            args->kernels->dynamic_cells(gates, args->cells, hidden + b * args->cells, cell + b * args->cells);
        }
        memcpy(y + step * state, hidden, (size_t)state * sizeof *y);
    }
}

qrt_status qrt_dynamic_lstm(const void *pointer, qrt_scratch *scratch) {
    const qrt_dynamic_lstm_args *args = pointer;
    char *block = qrt_workspace(QRT_WORKSPACE_CALL, bytes_of(args));
    if (block == NULL)
        return QRT_NO_MEMORY;
    const buffers memory = divide(args, block);
    const qrt_float_state saved = qrt_float_enter();
    run(args, scratch->operands, &memory);
    qrt_float_leave(saved);
    return QRT_OK;
}
