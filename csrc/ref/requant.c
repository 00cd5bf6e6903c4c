/* Requantizes exact accumulators by the rules of docs/numerics.md, in portable C. */
#include "functions/gemmlowp.h"
#include "ref.h"

#pragma GCC diagnostic error "-Wswitch-enum" /* a rule without a case does not compile */

/* A scaled value beyond this saturates in any case: zero points and storage bounds are far smaller. */
#define BEYOND ((int128)1 << 62)

/* Computes (product + (1 << (N-1))) >> N. N > 62 gives 0; N = 0 has no rounding term; N < 0 shifts left exactly and
 * saturates. */
int64_t ref_epilogue_fixed(const qrt_requant *requant, int128 product, int shift, int64_t zero_point) {
    int128 scaled;
    if (shift > 62)
        scaled = 0;
    else if (shift > 0)
        scaled = (product + ((int128)1 << (shift - 1))) >> shift;
    else {
        const int128 largest = -shift < 62 ? BEYOND >> -shift : 0;
        if (product > largest)
            scaled = BEYOND;
        else if (product < -largest)
            scaled = -BEYOND;
        else
            scaled = -shift < 62 ? product * ((int128)1 << -shift) : 0;
    }
    return ref_clamp(scaled + zero_point, requant->storage_min, requant->storage_max);
}

/* Clamps in float32 first, so that the conversion is defined. Bounds of more than 24 bits may round outwards there, so
 * the integer is clamped again. */
int64_t ref_epilogue_float32(const qrt_requant *requant, float scaled, int64_t zero_point) {
    const float low = (float)(requant->storage_min - zero_point), high = (float)(requant->storage_max - zero_point);
    float v = scaled < low ? low : scaled;
    v = v > high ? high : v;
    return ref_clamp((int128)(int64_t)rintf(v) + zero_point, requant->storage_min, requant->storage_max);
}

int32_t ref_doubling_high_multiply(int128 acc, int32_t multiplier, int32_t shift) {
    const int left = shift > 0 ? shift < 31 ? shift : 31 : 0;
    /* Saturating before the shift keeps it within 64 bits and changes nothing, because such a value saturates
     * afterwards too. */
    const int64_t x = ref_clamp(acc, INT32_MIN, INT32_MAX) * ((int64_t)1 << left);
    return (int32_t)gemmlowp_multiply(gemmlowp_saturate(x, 32), multiplier, 32);
}

int64_t ref_scale_fixed_double(int128 acc, int32_t multiplier, int32_t shift) {
    return gemmlowp_divide(ref_doubling_high_multiply(acc, multiplier, shift), shift < 0 ? -shift : 0);
}

int64_t ref_scale_half_up_twice(int128 acc, int32_t multiplier, int32_t shift) {
    const int right = shift < 0 ? shift > -32 ? -shift : 32 : 0;
    return (ref_doubling_high_multiply(acc, multiplier, shift) + (((int64_t)1 << right) >> 1)) >> right;
}

/* Divides by truncation what has been moved by half of the divisor, so that halves go away from zero. */
static int128 divide_away(int128 acc, int32_t divisor) {
    return (acc < 0 ? acc - divisor / 2 : acc + divisor / 2) / divisor;
}

static int64_t raw_mean(const qrt_requant *requant, int128 acc, int64_t parameter) {
    const float scaled = (float)(int64_t)acc * requant->scale_f32[parameter];
    return ref_epilogue_float32(requant, scaled + requant->offset_f32[parameter], 0);
}

static int64_t float64_away(const qrt_requant *requant, int128 acc, int64_t parameter) {
    const int64_t zero_point = requant->zero_point[parameter];
    const double v = ref_round_half_away((double)(int64_t)acc * requant->scale_f64[parameter]);
    const double low = (double)(requant->storage_min - zero_point), high = (double)(requant->storage_max - zero_point);
    return (int64_t)(v < low ? low : v > high ? high : v) + zero_point;
}

int64_t ref_requantize(const qrt_requant *requant, int128 acc, int64_t parameter) {
    const int64_t zero_point = requant->zero_point[parameter], low = requant->storage_min, high = requant->storage_max;
    switch (requant->rule) {
    case QRT_FIXED:
        return ref_epilogue_fixed(requant, acc * requant->multiplier[parameter], requant->shift[parameter], zero_point);
    case QRT_FIXED_DOUBLE:
        return ref_clamp(ref_scale_fixed_double(acc, requant->multiplier[parameter], requant->shift[parameter]) +
                             zero_point,
                         low, high);
    case QRT_HALF_UP_TWICE:
        return ref_clamp(ref_scale_half_up_twice(acc, requant->multiplier[parameter], requant->shift[parameter]) +
                             zero_point,
                         low, high);
    case QRT_FLOAT32:
        return ref_epilogue_float32(requant, (float)(int64_t)acc * requant->scale_f32[parameter], zero_point);
    case QRT_RAW_MEAN:
        return raw_mean(requant, acc, parameter);
    case QRT_FLOAT64_AWAY:
        return float64_away(requant, acc, parameter);
    case QRT_INTEGER:
        return ref_clamp(divide_away(acc, requant->multiplier[parameter]) + zero_point, low, high);
    case QRT_DEQUANTIZED:
        break; /* sums of floats alone, which a call cannot be bound without */
    }
    __builtin_trap();
}

#define STORE(name, sum)                                                                                               \
    void name(const qrt_requant *requant, const sum *acc, int64_t acc_stride, int rows, int columns, void *target,     \
              int64_t target_stride, int64_t parameter, int64_t row_step, int64_t column_step) {                       \
        for (int i = 0; i < rows; i++)                                                                                 \
            for (int j = 0; j < columns; j++) {                                                                        \
                const int64_t index = parameter + i * row_step + j * column_step;                                      \
                ref_store_value(requant->container, target, i * target_stride + j,                                     \
                                ref_requantize(requant, acc[i * acc_stride + j], index));                              \
            }                                                                                                          \
    }

STORE(ref_store, int32_t)
STORE(ref_store_wide, int64_t)
#undef STORE

void ref_requantize_row(const qrt_unary_args *args, const void *source, void *target, int64_t count, int64_t parameter,
                        int64_t step) {
    for (int64_t i = 0; i < count; i++) {
        const int64_t p = parameter + i * step;
        const int64_t acc = qrt_load(args->container, source, i) - args->zero_point[p];
        ref_store_value(args->requant.container, target, i, ref_requantize(&args->requant, acc, p));
    }
}
