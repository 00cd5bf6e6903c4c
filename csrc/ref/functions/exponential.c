/* The exponential of float32, rounded to nearest even. In float64, x = k * log(2) / 32 + r, whose difference is exact
 * but for the small part of the logarithm, and e^x = 2^(k / 32) * e^r. That is off by less than two units of float64.
 * They could change what float32 rounds to for few numbers; `python -m tests.kernels.exponential` has compared them
 * all. */
#include <string.h>

#include "exponential.h"
#include "ref/ref.h"

static double power_of(int64_t k) {
    const uint64_t exponent = (uint64_t)(1023 + (k >> 5)) << 52;
    double power;
    memcpy(&power, &exponent, sizeof power);
    return power * qrt_powers[k & (QRT_POWERS - 1)];
}

/* |x| is at most QRT_FARTHEST. */
static double wide_exponential(double x) {
    const double k = rint(x * QRT_INVERSE_LOG), r = (x - k * QRT_LOG_HIGH) - k * QRT_LOG_LOW, square = r * r;
    const double far = (1.0 / 720 * r + 1.0 / 120) * square + (1.0 / 24 * r + 1.0 / 6);
    const double power = power_of((int64_t)k);
    return (far * (square * r) + square * 0.5 + r) * power + power;
}

void ref_float_exponential(const float *x, float *target, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i++) {
        const double wide = x[i] < -QRT_FARTHEST ? -QRT_FARTHEST : x[i] > QRT_FARTHEST ? QRT_FARTHEST : x[i];
        target[i] = isnan(x[i]) ? x[i] : (float)wide_exponential(wide);
    }
}
