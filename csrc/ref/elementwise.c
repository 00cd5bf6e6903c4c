/* add, sub, mul, pairs, leaky_relu, clamp and lookup in portable C, exactly in 128 bits. */
#include "ref.h"

#pragma GCC diagnostic error "-Wswitch-enum" /* a rule without a case does not compile */

/* The rule fixed_double, before the zero point and the clamp, of an operand that is shifted to the left. With one
 * rounding, all places are shifted before the product; those to the right round down. */
static int64_t scaled_operand(const qrt_binary_args *args, int64_t q, int64_t multiplier, int32_t shift) {
    const int32_t m0 = (int32_t)multiplier;
    const int places = args->left_shift + shift;
    if (!args->rounds_once)
        return ref_scale_fixed_double(q * ((int64_t)1 << args->left_shift), m0, shift);
    return ref_doubling_high_multiply(places > 0 ? q * ((int64_t)1 << places) : q >> -places, m0, 0);
}

static int64_t fused_sum(const qrt_binary_args *args, int64_t a, int64_t b, int64_t p) {
    const float inner = fmaf((float)b, args->b_scale[p], args->requant.offset_f32[p]);
    return ref_epilogue_float32(&args->requant, fmaf((float)a, args->a_scale[p], inner), 0);
}

/* add, sub: scales both operands, and rounds their sum by the end of its rule. */
static int64_t scaled_sum(const qrt_binary_args *args, int64_t a, int64_t b, int64_t p) {
    int128 left = 0, right = 0;
    switch (args->requant.rule) {
    case QRT_FIXED:
        left = (int128)a * args->a_multiplier[p];
        right = (int128)b * args->b_multiplier[p];
        break;
    case QRT_FIXED_DOUBLE:
        left = scaled_operand(args, a, args->a_multiplier[p], args->a_shift[p]);
        right = scaled_operand(args, b, args->b_multiplier[p], args->b_shift[p]);
        break;
    case QRT_RAW_MEAN:
        return fused_sum(args, a, b, p);
    case QRT_HALF_UP_TWICE:
    case QRT_FLOAT32:
    case QRT_FLOAT64_AWAY:
    case QRT_INTEGER:
    case QRT_DEQUANTIZED:
        __builtin_trap(); /* bind_binary refuses them */
    }
    return ref_requantize(&args->requant, args->kind == QRT_ADD ? left + right : left - right, p);
}

qrt_status ref_binary_row(const qrt_binary_args *args, const void *a, int64_t a_stride, const void *b, int64_t b_stride,
                          void *target, int64_t count, int64_t parameter, int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = parameter + i * step;
        const int64_t left = qrt_load(args->a, a, i * a_stride) - args->a_zero_point[p];
        const int64_t right = qrt_load(args->b, b, i * b_stride) - args->b_zero_point[p];
        int64_t value;
        if (args->kind != QRT_MUL) {
            value = scaled_sum(args, left, right, p);
        } else {
            const int128 acc = (int128)left * right;
            if (acc != (int64_t)acc)
                return QRT_ACCUMULATOR_OVERFLOW;
            value = ref_requantize(&args->requant, acc, p);
        }
        ref_store_value(args->requant.container, target, i, value);
    }
    return QRT_OK;
}

static int64_t pair_value(const qrt_pair_args *args, int64_t a, int64_t b) {
    if (args->kind == QRT_MAXIMUM)
        return qrt_max(a, b);
    if (args->kind == QRT_MINIMUM)
        return qrt_min(a, b);
    if (args->kind == QRT_TABLE_OF_PAIRS)
        return qrt_load(args->out, args->table, (uint8_t)a << 8 | (uint8_t)b);
    const int128 acc = a - args->a_zero_point;
    return acc < 0 ? ref_requantize(&args->requant, acc * (b - args->b_zero_point), 1)
                   : ref_requantize(&args->requant, acc, 0);
}

void ref_pair_row(const qrt_pair_args *args, const void *a, int64_t a_stride, const void *b, int64_t b_stride,
                  void *target, int64_t count) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t left = qrt_load(args->a, a, i * a_stride), right = qrt_load(args->b, b, i * b_stride);
        ref_store_value(args->out, target, i, pair_value(args, left, right));
    }
}

void ref_leaky_relu_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                        int64_t step) {
    (void)parameter, (void)step;
    for (int64_t i = 0; i < count; i++) {
        const int64_t acc = qrt_load(args->container, source, i) - *args->zero_point;
        ref_store_value(args->requant.container, target, i, ref_requantize(&args->requant, acc, acc < 0));
    }
}

void ref_clamp_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                   int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = parameter + i * step;
        ref_store_value(args->container, target, i,
                        ref_clamp(qrt_load(args->container, source, i), args->lower[p], args->upper[p]));
    }
}

void ref_lookup_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                    int64_t step) {
    const int64_t least = args->container == QRT_I8 ? -(1 << (args->width - 1)) : 0;
    const int64_t mask = (1 << args->width) - 1;
    (void)parameter, (void)step;
    for (int64_t i = 0; i < count; i++)
        ref_store_value(args->out, target, i,
                        qrt_load(args->out, args->table, (qrt_load(args->container, source, i) - least) & mask));
}

void ref_lookup_interpolated_row(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                                 int64_t parameter, int64_t step) {
    const int n = args->fraction;
    const int64_t mask = ((int64_t)1 << n) - 1, half = ((int64_t)1 << n) >> 1;
    (void)parameter, (void)step;
    for (int64_t i = 0; i < count; i++) {
        const int64_t at = ((const int16_t *)source)[i] - INT16_MIN;
        const int16_t *entry = args->entries + (at >> n);
        ((int16_t *)target)[i] = (int16_t)(entry[0] + (((entry[1] - entry[0]) * (at & mask) + half) >> n));
    }
}
