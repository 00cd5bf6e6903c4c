/* Steps of recurrent networks in integers: a long short-term memory with a 16-bit cell, and a rank-decomposed filter
 * with a memory. */
#include "gemmlowp.h"
#include "ref/ref.h"

/* Of a gate's 16-bit sums. */
#define INTEGER_BITS 3

/* So many products fit 32 bits: each is at most 255 * 128. */
#define AT_ONCE 65536

static int64_t products(const int8_t *x, const int8_t *w, int64_t count, int64_t zero_point) {
    int64_t sum = 0;
    for (int64_t first = 0; first < count; first += AT_ONCE) {
        const int64_t end = qrt_min(first + AT_ONCE, count);
        int32_t part = 0;
        for (int64_t i = first; i < end; i++)
            part += (x[i] - (int32_t)zero_point) * w[i];
        sum += part;
    }
    return sum;
}

static int64_t gate_sum(const qrt_lstm_args *args, void *const *operands, int gate, int64_t cell, const int8_t *x,
                        const int8_t *hidden) {
    const int8_t *w = operands[1 + gate], *r = operands[5 + gate];
    const int32_t *bias = operands[9 + gate];
    const int64_t from_x = products(x, w + cell * args->inputs, args->inputs, args->x_zero_point) + bias[cell];
    const int64_t from_hidden = products(hidden, r + cell * args->cells, args->cells, args->hidden_zero_point);
    const int64_t first =
        gemmlowp_saturate(ref_scale_fixed_double(from_x, args->multiplier[gate], args->shift[gate]), 16);
    const int64_t then = ref_scale_fixed_double(from_hidden, args->multiplier[4 + gate], args->shift[4 + gate]);
    return gemmlowp_saturate(then + first, 16);
}

void ref_lstm_step(const qrt_lstm_args *args, void *const *operands, const int8_t *x, int8_t *hidden, int16_t *cell,
                   int16_t *gates) {
    const int64_t cells = args->cells;
    for (int gate = 0; gate < 4; gate++)
        for (int64_t i = 0; i < cells; i++)
            gates[gate * cells + i] = (int16_t)gate_sum(args, operands, gate, i, x, hidden);
    for (int64_t i = 0; i < cells; i++) {
        const int64_t enter = gemmlowp_logistic(gates[i], INTEGER_BITS, 16);
        const int64_t forget = gemmlowp_logistic(gates[cells + i], INTEGER_BITS, 16);
        const int64_t candidate = gemmlowp_tanh(gates[2 * cells + i], INTEGER_BITS, 16);
        const int64_t out = gemmlowp_logistic(gates[3 * cells + i], INTEGER_BITS, 16);
        const int64_t kept = gemmlowp_saturate(gemmlowp_divide(forget * cell[i], 15), 16);
        const int64_t added = gemmlowp_saturate(gemmlowp_divide(enter * candidate, 30 + args->cell_exponent), 16);
        const int64_t sum = gemmlowp_saturate(kept + added, 16);
        cell[i] = (int16_t)(sum < -args->cell_clip ? -args->cell_clip : sum > args->cell_clip ? args->cell_clip : sum);
        const int64_t activated = gemmlowp_tanh(cell[i], 15 + args->cell_exponent, 16);
        const int64_t made = ref_scale_fixed_double(out * activated, args->multiplier[8], args->shift[8]);
        hidden[i] = (int8_t)gemmlowp_saturate(made + args->result_zero_point, 8);
    }
}

void ref_svdf_step(const qrt_svdf_args *args, void *const *operands, const int8_t *x, int16_t *state, int8_t *target) {
    const int8_t *feature = operands[1];
    const int16_t *time = operands[2];
    const int32_t *bias = args->has_bias ? operands[4] : NULL;
    const int64_t memory = args->memory;
    for (int64_t unit = 0; unit < args->units; unit++) {
        int64_t sum = bias ? bias[unit] : 0;
        for (int64_t filter = unit * args->rank; filter < (unit + 1) * args->rank; filter++) {
            int16_t *features = state + filter * memory;
            for (int64_t i = 0; i + 1 < memory; i++)
                features[i] = features[i + 1];
            const int64_t found = products(x, feature + filter * args->inputs, args->inputs, args->x_zero_point);
            features[memory - 1] =
                (int16_t)gemmlowp_saturate(ref_scale_fixed_double(found, args->multiplier[0], args->shift[0]), 16);
            for (int64_t i = 0; i < memory; i++)
                sum += (int64_t)features[i] * time[filter * memory + i];
        }
        const int64_t made = ref_scale_fixed_double(sum, args->multiplier[1], args->shift[1]) + args->result_zero_point;
        target[unit] = (int8_t)gemmlowp_saturate(made, 8);
    }
}
