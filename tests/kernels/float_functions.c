/* Prints some of the floats from FIRST to LAST (their bits) with their function in float64, before it is rounded: each
 * STEP-th that lies within DISTANCE units of float64 of the middle between two floats, so that the error of float64 may
 * decide what it rounds to: float_functions CODE FIRST LAST STEP DISTANCE. */
#include <stdio.h>
#include <stdlib.h>

#include "ref/functions/float_functions.c"

static double wide_of(int code, float x) {
    switch (code) {
    case QRT_STEP_EXP:
        return wide_exponential(within(x, -QRT_FARTHEST));
    case QRT_STEP_EXPM1:
        return wide_expm1(within(x, QRT_LEAST_EXPM1));
    case QRT_STEP_LOG:
        return x < FLT_MIN ? wide_log(x * 0x1p23f, -23) : wide_log(x, 0);
    case QRT_STEP_LOG1P:
        return wide_log1p(x);
    case QRT_STEP_TANH:
        return wide_tanh(x);
    case QRT_STEP_ERF:
        return wide_erf(x);
    case QRT_STEP_ERFC:
        return wide_erfc(x);
    case QRT_STEP_SIN:
    case QRT_STEP_COS:
        return fabsf(x) > (float)QRT_LARGEST_ANGLE ? sine_of_large(x, code == QRT_STEP_COS)
                                                   : sine_from(fabs((double)x), code == QRT_STEP_COS);
    }
    return 0;
}

/* Whether the middle of two floats is within `distance` units of float64 of a number. */
static int is_near_middle(double x, double distance) {
    const double size = fabs(x), unit = size - nextafter(size, 0);
    const float near = (float)size, below = nextafterf(near, -INFINITY), above = nextafterf(near, INFINITY);
    return fabs(size - ((double)near + below) / 2) <= distance * unit ||
           fabs(size - ((double)near + above) / 2) <= distance * unit;
}

int main(int count, char **arguments) {
    if (count != 6)
        return 2;
    const int code = atoi(arguments[1]);
    const uint32_t first = (uint32_t)strtoul(arguments[2], NULL, 0), last = (uint32_t)strtoul(arguments[3], NULL, 0);
    const uint64_t step = strtoul(arguments[4], NULL, 0);
    for (uint64_t bits = first; bits <= last; bits += step) {
        const double wide = wide_of(code, halves_of((int32_t)bits));
        if (is_near_middle(wide, atof(arguments[5])))
            printf("%u %a\n", (uint32_t)bits, wide);
    }
    return 0;
}
