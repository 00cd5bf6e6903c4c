/* Products of floats that were quantized at run time, and the cells of a long short-term memory. Its functions go
 * through float64, and are rounded to float32 once. */
#include <string.h>

#include "exponential.h"
#include "ref/ref.h"

static float one_nan(float x) {
    return isnan(x) ? __builtin_nanf("") : x;
}

/* ---- products ---- */

void ref_dynamic_range(const float *x, int64_t count, float *range) {
    float least = 0, most = 0;
    for (int64_t i = 0; i < count; i++) { /* comparisons are false for a NaN */
        least = x[i] < least ? x[i] : least;
        most = x[i] > most ? x[i] : most;
    }
    range[0] = least;
    range[1] = most;
}

void ref_dynamic_storage(const float *x, int64_t count, float scale, int zero_point, uint8_t *target) {
    for (int64_t i = 0; i < count; i++) {
        const float step = rintf(x[i] / scale);
        const int whole = isnan(step) ? -1000000 : step > 1e6f ? 1000000 : step < -1e6f ? -1000000 : (int)step;
        const int value = whole + zero_point;
        target[i] = (uint8_t)(value < 0 ? 0 : value > UINT8_MAX ? UINT8_MAX : value);
    }
}

void ref_dynamic_scale(const int32_t *sums, const float *scales, float scale, int64_t count, const float *before,
                       const float *bias, float *target) {
    for (int64_t i = 0; i < count; i++) {
        int32_t sum;
        memcpy(&sum, sums + i, sizeof sum); /* target may be the same memory, of another type */
        const float product = one_nan((float)sum * (scale * scales[i]));
        target[i] = before ? (before[i] + product) + bias[i] : product;
    }
}

/* ---- functions ---- */

/* |x| is at most QRT_FARTHEST. */
static double exponential(double x) {
    const double z = x * 0x1.71547652b82fep+5, whole = rint(z), r = z - whole;
    const int64_t k = (int64_t)whole;
    const uint64_t exponent = (uint64_t)(1023 + (k >> 5)) << 52;
    double power;
    memcpy(&power, &exponent, sizeof power);
    power *= qrt_powers[k & (QRT_POWERS - 1)];
    return ((0x1.c6af84b912394p-20 * r + 0x1.ebfce50fac4f3p-13) * (r * r) + (0x1.62e42ff0c52d6p-6 * r + 1.0)) * power;
}

static float sigmoid(float x) {
    if (isnan(x))
        return x;
    const double wide = fabs((double)x), power = exponential(-(wide < QRT_FARTHEST ? wide : QRT_FARTHEST));
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
    return (float)copysign(1.0 - 2.0 / (exponential(twice < QRT_FARTHEST ? twice : QRT_FARTHEST) + 1.0), x);
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
