/* Softmax and its logarithm by every rule: exponentials from a table, a sum, and a quotient or a difference for each
 * value. */
#include "gemmlowp.h"
#include "ref/ref.h"

#include <string.h>

/* One row: its values are `inner` elements apart. */
typedef struct {
    const qrt_softmax_args *args;
    const void *x;
    void *target;
    int64_t largest;
} softmax_values;

static int64_t distance(const softmax_values *of, int64_t i) {
    return of->largest - qrt_load(of->args->container, of->x, i * of->args->inner);
}

static void store(const softmax_values *of, int64_t i, int64_t value) {
    const qrt_softmax_args *args = of->args;
    ref_store_value(args->out, of->target, i * args->inner, ref_clamp(value, args->storage_min, args->storage_max));
}

/* A rounded value, which is no NaN, plus the zero point; it is clamped first, so that the conversion is defined. */
static void store_rounded(const softmax_values *of, int64_t i, double rounded) {
    const qrt_softmax_args *args = of->args;
    const double low = (double)(args->storage_min - args->zero_point);
    const double high = (double)(args->storage_max - args->zero_point);
    store(of, i, (int64_t)(rounded < low ? low : rounded > high ? high : rounded) + args->zero_point);
}

static void table_int32(const softmax_values *of) {
    const qrt_softmax_args *args = of->args;
    int64_t sum = 0;
    for (int64_t i = 0; i < args->size; i++)
        sum += args->table[distance(of, i)];
    /* The divisor is positive, because the largest value has a positive entry in the table. It is infinite where the
     * scale is huge; then all ratios are 0. */
    const double divisor = (double)sum * args->scale;
    for (int64_t i = 0; i < args->size; i++)
        store_rounded(of, i, rint(args->table[distance(of, i)] / divisor));
}

/* The sum of floats in order. */
static float sum_float32(const softmax_values *of) {
    float sum = 0;
    for (int64_t i = 0; i < of->args->size; i++)
        sum += of->args->table_f32[distance(of, i)];
    return sum;
}

static void table_float32(const softmax_values *of) {
    const float inverse = 1.0f / (sum_float32(of) * (float)of->args->scale);
    for (int64_t i = 0; i < of->args->size; i++)
        store_rounded(of, i, ref_round_half_away((double)(of->args->table_f32[distance(of, i)] * inverse)));
}

static void table_shifted(const softmax_values *of) {
    const float sum = sum_float32(of), units = floorf(1.0f / (float)of->args->scale);
    for (int64_t i = 0; i < of->args->size; i++)
        store_rounded(of, i, (double)rintf(of->args->table_f32[distance(of, i)] * units / sum));
}

/* The sum of 32-bit exponentials without integer bits, with 12 of them. */
static int64_t sum_gemmlowp(const softmax_values *of) {
    int64_t sum = 0;
    for (int64_t i = 0; i < of->args->size; i++)
        sum += gemmlowp_divide(of->args->table[distance(of, i)], 12);
    return sum;
}

static void gemmlowp(const softmax_values *of) {
    const qrt_softmax_args *args = of->args;
    const int bits = 8 * qrt_container_size(args->out);
    const int64_t sum = sum_gemmlowp(of);
    const int headroom = gemmlowp_leading_zeros(sum);
    const int64_t scale = gemmlowp_reciprocal(sum * ((int64_t)1 << headroom) - ((int64_t)1 << 31), 32);
    for (int64_t i = 0; i < args->size; i++) {
        const int64_t product = gemmlowp_multiply(scale, args->table[distance(of, i)], 32);
        store(of, i, gemmlowp_divide(product, 12 - headroom + 31 - bits) + args->storage_min);
    }
}

static int64_t interpolated(const int16_t *table, int64_t x) {
    const int64_t at = (x < INT16_MIN ? INT16_MIN : x > INT16_MAX ? INT16_MAX : x) - INT16_MIN, low = at & 127;
    const int16_t *entry = table + (at >> 7);
    return entry[0] + (((entry[1] - entry[0]) * low + 64) >> 7);
}

static int64_t exponential_int16(const softmax_values *of, int64_t i) {
    const qrt_softmax_args *args = of->args;
    return interpolated(args->exponential,
                        ref_scale_fixed_double(-distance(of, i), args->multiplier, args->shift) + INT16_MAX);
}

static void table_int16(const softmax_values *of) {
    int64_t sum = 0;
    for (int64_t i = 0; i < of->args->size; i++)
        sum += exponential_int16(of, i);
    const int headroom = gemmlowp_leading_zeros(sum), right = 31 - headroom;
    const int64_t normal = (sum * ((int64_t)1 << (headroom - 1)) + (1 << 13)) >> 14;
    const int64_t inverse = interpolated(of->args->reciprocal, normal - (1 << 15) - (1 << 16));
    for (int64_t i = 0; i < of->args->size; i++)
        store(of, i, (exponential_int16(of, i) * inverse + ((int64_t)1 << (right - 1))) >> right);
}

/* The logarithm of a positive normal float32 as glibc computes it; qrt/numerics/floats32.py says the same. */
static float log_float32(float x) {
    static const double inverse[] = {
        0x1.661ec79f8f3bep+0, 0x1.571ed4aaf883dp+0, 0x1.49539f0f010bp+0,  0x1.3c995b0b80385p+0, 0x1.30d190c8864a5p+0,
        0x1.25e227b0b8eap+0,  0x1.1bb4a4a1a343fp+0, 0x1.12358f08ae5bap+0, 0x1.0953f419900a7p+0, 0x1p+0,
        0x1.e608cfd9a47acp-1, 0x1.ca4b31f026aap-1,  0x1.b2036576afce6p-1, 0x1.9c2d163a1aa2dp-1, 0x1.886e6037841edp-1,
        0x1.767dcf5534862p-1};
    static const double logarithm[] = {-0x1.57bf7808caadep-2, -0x1.2bef0a7c06ddbp-2,
                                       -0x1.01eae7f513a67p-2, -0x1.b31d8a68224e9p-3,
                                       -0x1.6574f0ac07758p-3, -0x1.1aa2bc79c81p-3,
                                       -0x1.a4e76ce8c0e5ep-4, -0x1.1973c5a611cccp-4,
                                       -0x1.252f438e10c1ep-5, 0x0p+0,
                                       0x1.aa5aa5df25984p-5,  0x1.c5e53aa362eb4p-4,
                                       0x1.526e57720db08p-3,  0x1.bc2860d22477p-3,
                                       0x1.1058bc8a07ee1p-2,  0x1.4043057b6ee09p-2};
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const int32_t over = bits - 0x3f330000, part = over >> 19 & 15, exponent = over >> 23;
    const int32_t rest = bits - (int32_t)((uint32_t)over & 0xff800000u);
    float z;
    memcpy(&z, &rest, sizeof z);
    const double r = z * inverse[part] - 1, r2 = r * r;
    const double y0 = logarithm[part] + exponent * 0x1.62e42fefa39efp-1;
    const double y = -0x1.00ea348b88334p-2 * r2 + (0x1.5575b0be00b6ap-2 * r + -0x1.ffffef20a4123p-2);
    return (float)(y * r2 + (y0 + r));
}

static void log_float32_row(const softmax_values *of) {
    const qrt_softmax_args *args = of->args;
    const float scale = args->input_scale, result = (float)args->scale;
    const float offset = (scale * (float)of->largest + log_float32(sum_float32(of))) / result, ratio = scale / result;
    for (int64_t i = 0; i < args->size; i++)
        store_rounded(of, i, (double)rintf(ratio * (float)(of->largest - distance(of, i)) - offset));
}

static void log_gemmlowp_row(const softmax_values *of) {
    const qrt_softmax_args *args = of->args;
    const int64_t log = gemmlowp_log(sum_gemmlowp(of), 12, 5);
    const int64_t found = ref_scale_fixed_double(log - ((int64_t)1 << 31), args->multiplier, args->shift);
    const int64_t least = found > -args->radius - 1 ? found : -args->radius - 1;
    for (int64_t i = 0; i < args->size; i++) {
        const int64_t d = distance(of, i);
        const int64_t value = gemmlowp_divide(args->scaled[d] - log, 31 - 5 - 4) + args->zero_point;
        store(of, i, -d > least ? value : args->storage_min);
    }
}

void ref_softmax_row(const qrt_softmax_args *args, const void *x, void *target) {
    static void (*const rows[])(const softmax_values *) = {table_int32,   table_float32,   gemmlowp,        table_int16,
                                                           table_shifted, log_float32_row, log_gemmlowp_row};
    softmax_values of = {args, x, target, INT64_MIN};
    for (int64_t i = 0; i < args->size; i++) {
        const int64_t value = qrt_load(args->container, x, i * args->inner);
        of.largest = value > of.largest ? value : of.largest;
    }
    rows[args->rule](&of);
}
