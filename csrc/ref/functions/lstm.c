/* A step of a long short-term memory in integers, whose cell has 16 bits. */
#include "gemmlowp.h"
#include "ref/ref.h"

/* Of a gate's 16-bit sums. */
#define INTEGER_BITS 3

/* In whole blocks of so many cells, peepholes are rounded half up. */
#define BLOCK 16

/* Cells whose products are summed together. */
#define AT_ONCE 64

/* Of normalized sums, their fractional bits. */
#define NORM_BITS 10

static int64_t scaled(const qrt_lstm_gate *gate, int which, int64_t x) {
    return ref_scale_fixed_double(x, gate->multiplier[which], gate->shift[which]);
}

/* The sum of cell i, from those of its products. */
static int64_t gate_sum(const qrt_lstm_args *args, const qrt_lstm_gate *gate, void *const *operands, int64_t i,
                        int64_t from_x, int64_t from_hidden, int16_t cell) {
    const int32_t *bias = operands[gate->bias];
    from_x += gate->norm < 0 ? bias[i] : 0;
    int64_t sum = gemmlowp_saturate(scaled(gate, 0, from_x), 16);
    sum = gemmlowp_saturate(scaled(gate, 1, from_hidden) + sum, 16);
    if (gate->peephole >= 0) {
        const int16_t *peephole = operands[gate->peephole];
        const int64_t product = (int64_t)peephole[i] * cell;
        sum += i < args->cells / BLOCK * BLOCK ? ref_scale_half_up_twice(product, gate->multiplier[2], gate->shift[2])
                                               : scaled(gate, 2, product);
        sum = gemmlowp_saturate(sum, 16);
    }
    return sum;
}

/* Layer normalization of a gate's sums. Quotients are cut off. The variance has the reciprocal of the number of cells
 * as an integer with 20 fractional bits. */
static void normalize(const qrt_lstm_gate *gate, void *const *operands, int64_t cells, int16_t *sums) {
    const int16_t *weights = operands[gate->norm];
    const int32_t *bias = operands[gate->bias];
    int64_t total = 0, squares = 0;
    int right;
    for (int64_t i = 0; i < cells; i++) {
        total += sums[i];
        squares += (int64_t)sums[i] * sums[i];
    }
    const int64_t mean = total * (1 << NORM_BITS) / cells, unit = 1 << 2 * NORM_BITS;
    const int64_t variance = (squares * (unit / cells) - mean * mean) >> 2 * NORM_BITS;
    const int64_t root = gemmlowp_inverse_root(variance < 1 ? gate->least_variance : variance, &right);
    for (int64_t i = 0; i < cells; i++) {
        const int64_t apart = ref_scale_fixed_double(sums[i] * (1 << NORM_BITS) - mean, (int32_t)root, -right);
        const int64_t weighted = apart * weights[i] + bias[i];
        const int64_t half = weighted > 0 ? 1 << (NORM_BITS - 1) : -(1 << (NORM_BITS - 1));
        sums[i] = (int16_t)gemmlowp_saturate(scaled(gate, 3, (weighted + half) / (1 << NORM_BITS)), 16);
    }
}

static void gate_row(const qrt_lstm_args *args, const qrt_lstm_gate *gate, void *const *operands, const int8_t *x,
                     const int8_t *hidden, const int16_t *cell, int16_t *sums) {
    const int8_t *w = operands[gate->w], *r = operands[gate->r];
    for (int64_t first = 0; first < args->cells; first += AT_ONCE) {
        const int64_t part = qrt_min(AT_ONCE, args->cells - first);
        int64_t from_x[AT_ONCE], from_hidden[AT_ONCE];
        args->kernels->byte_products(x, w + first * args->inputs, part, args->inputs, args->x_zero_point, from_x);
        args->kernels->byte_products(hidden, r + first * args->values, part, args->values, args->hidden_zero_point,
                                     from_hidden);
        for (int64_t i = first; i < first + part; i++)
            sums[i] = (int16_t)gate_sum(args, gate, operands, i, from_x[i - first], from_hidden[i - first], cell[i]);
    }
    if (gate->norm >= 0 && args->cells > 0)
        normalize(gate, operands, args->cells, sums);
}

static void project(const qrt_lstm_args *args, void *const *operands, const int8_t *made, int8_t *target) {
    const int8_t *w = operands[args->projection];
    const int32_t *bias = args->projection_bias < 0 ? NULL : operands[args->projection_bias];
    const int64_t most = args->projection_clip;
    for (int64_t i = 0; i < args->values; i++) {
        int64_t sum;
        args->kernels->byte_products(made, w + i * args->cells, 1, args->cells, args->made_zero_point, &sum);
        const int64_t scaled = ref_scale_fixed_double(sum + (bias ? bias[i] : 0), args->multiplier[1], args->shift[1]);
        const int64_t value = gemmlowp_saturate(scaled + args->result_zero_point, 8);
        target[i] = (int8_t)(value < -most ? -most : value > most ? most : value);
    }
}

void ref_lstm_step(const qrt_lstm_args *args, void *const *operands, const int8_t *x, int8_t *hidden, int16_t *cell,
                   int16_t *gates) {
    const int64_t cells = args->cells;
    for (int gate = 0; gate < 3; gate++)
        if (args->gate[gate].w >= 0)
            gate_row(args, &args->gate[gate], operands, x, hidden, cell, gates + gate * cells);
    for (int64_t i = 0; i < cells; i++) {
        const int64_t forget = gemmlowp_logistic(gates[cells + i], INTEGER_BITS, 16);
        const int64_t enter = args->gate[0].w < 0 ? 32767 - forget : gemmlowp_logistic(gates[i], INTEGER_BITS, 16);
        const int64_t candidate = gemmlowp_tanh(gates[2 * cells + i], INTEGER_BITS, 16);
        const int64_t kept = gemmlowp_saturate(gemmlowp_divide(forget * cell[i], 15), 16);
        const int64_t added = gemmlowp_saturate(gemmlowp_divide(enter * candidate, 30 + args->cell_exponent), 16);
        const int64_t sum = gemmlowp_saturate(kept + added, 16);
        cell[i] = (int16_t)(sum < -args->cell_clip ? -args->cell_clip : sum > args->cell_clip ? args->cell_clip : sum);
    }
    /* The peephole of the output gate sees the new cell. */
    gate_row(args, &args->gate[3], operands, x, hidden, cell, gates + 3 * cells);
    int8_t *target = args->projection < 0 ? hidden : (int8_t *)(gates + 4 * cells);
    for (int64_t i = 0; i < cells; i++) {
        const int64_t out = gemmlowp_logistic(gates[3 * cells + i], INTEGER_BITS, 16);
        const int64_t activated = gemmlowp_tanh(cell[i], 15 + args->cell_exponent, 16);
        const int64_t made = ref_scale_fixed_double(out * activated, args->multiplier[0], args->shift[0]);
        target[i] = (int8_t)gemmlowp_saturate(made + args->made_zero_point, 8);
    }
    if (args->projection >= 0)
        project(args, operands, target, hidden);
}
