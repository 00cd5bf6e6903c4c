/* Products of floats that were quantized at run time, and the cells of a long short-term memory. Its functions go
 * through float64, and are rounded to float32 once. */
#include <string.h>

#include "ref/ref.h"

static float one_nan(float x) {
    return isnan(x) ? __builtin_nanf("") : x;
}

/* ---- products ---- */

void ref_dynamic_product(const qrt_dynamic_weights *weights, const void *w, int64_t depth, int64_t columns,
                         const uint8_t *x, int64_t rows, int zero_point, float scale, int64_t *sums, float *target) {
    for (int64_t row = 0; row < rows; row++, x += depth, target += columns) {
        memset(sums, 0, (size_t)columns * sizeof *sums);
        for (int64_t k = 0; k < depth; k++) {
            const int32_t value = x[k] - zero_point;
            for (int64_t j = 0; j < columns; j++) {
                const int32_t weight =
                    weights->is_signed ? ((const int8_t *)w)[k * columns + j] : ((const uint8_t *)w)[k * columns + j];
                sums[j] += (int64_t)value * (weight - weights->zero_points[j]);
            }
        }
        for (int64_t j = 0; j < columns; j++)
            target[j] = one_nan((float)sums[j] * (scale * weights->scales[j]));
    }
}

/* ---- functions ---- */

#define PARTS 32
#define FARTHEST 104.0 /* the sigmoid of -104 is 0 in float32 */

/* 2^(i / 32) */
static const double powers[PARTS] = {
    0x1p+0,
    0x1.059b0d3158574p+0,
    0x1.0b5586cf9890fp+0,
    0x1.11301d0125b51p+0,
    0x1.172b83c7d517bp+0,
    0x1.1d4873168b9aap+0,
    0x1.2387a6e756238p+0,
    0x1.29e9df51fdee1p+0,
    0x1.306fe0a31b715p+0,
    0x1.371a7373aa9cbp+0,
    0x1.3dea64c123422p+0,
    0x1.44e086061892dp+0,
    0x1.4bfdad5362a27p+0,
    0x1.5342b569d4f82p+0,
    0x1.5ab07dd485429p+0,
    0x1.6247eb03a5585p+0,
    0x1.6a09e667f3bcdp+0,
    0x1.71f75e8ec5f74p+0,
    0x1.7a11473eb0187p+0,
    0x1.82589994cce13p+0,
    0x1.8ace5422aa0dbp+0,
    0x1.93737b0cdc5e5p+0,
    0x1.9c49182a3f09p+0,
    0x1.a5503b23e255dp+0,
    0x1.ae89f995ad3adp+0,
    0x1.b7f76f2fb5e47p+0,
    0x1.c199bdd85529cp+0,
    0x1.cb720dcef9069p+0,
    0x1.d5818dcfba487p+0,
    0x1.dfc97337b9b5fp+0,
    0x1.ea4afa2a490dap+0,
    0x1.f50765b6e454p+0,
};

/* |x| is at most FARTHEST. */
static double exponential(double x) {
    const double z = x * 0x1.71547652b82fep+5, whole = rint(z), r = z - whole;
    const int64_t k = (int64_t)whole;
    const uint64_t exponent = (uint64_t)(1023 + (k >> 5)) << 52;
    double power;
    memcpy(&power, &exponent, sizeof power);
    power *= powers[k & (PARTS - 1)];
    return ((0x1.c6af84b912394p-20 * r + 0x1.ebfce50fac4f3p-13) * (r * r) + (0x1.62e42ff0c52d6p-6 * r + 1.0)) * power;
}

static float sigmoid(float x) {
    if (isnan(x))
        return x;
    const double wide = fabs((double)x), power = exponential(-(wide < FARTHEST ? wide : FARTHEST));
    return (float)((x < 0 ? power : 1.0) / (power + 1.0));
}

static float hyperbolic_tangent(float x) {
    if (isnan(x))
        return x;
    const double wide = fabs((double)x), twice = wide + wide, square = wide * wide;
    if (wide < 0x1p-4) {
        double near = 62.0 / 2835;
        near = near * square + -17.0 / 315;
        near = near * square + 2.0 / 15;
        near = near * square + -1.0 / 3;
        return (float)copysign(near * square * wide + wide, x);
    }
    return (float)copysign(1.0 - 2.0 / (exponential(twice < FARTHEST ? twice : FARTHEST) + 1.0), x);
}

/* ---- cells ---- */

void ref_dynamic_cells(const float *gates, int64_t cells, float *hidden, float *cell) {
    for (int64_t i = 0; i < cells; i++) {
        const float enter = sigmoid(gates[i]), out = sigmoid(gates[cells + i]), forget = sigmoid(gates[2 * cells + i]);
        const float kept = forget * cell[i], added = enter * hyperbolic_tangent(gates[3 * cells + i]);
        const float sum = kept + added;
        cell[i] = one_nan(sum);
        hidden[i] = one_nan(out * hyperbolic_tangent(sum));
    }
}
