/* Functions of float32, rounded to nearest even: the arithmetic of float_functions.inl on one number, and the arguments
 * for which it is not made: NaNs, numbers outside of the domain, subnormal ones of the logarithm, and large angles. */
#include <float.h>
#include <string.h>

#include "ref/ref.h"

typedef double doubles;
typedef float halves;
typedef int32_t indices;

static double constant(double value) {
    return value;
}

static double plus(double a, double b) {
    return a + b;
}

static double minus(double a, double b) {
    return a - b;
}

static double times(double a, double b) {
    return a * b;
}

static double over(double a, double b) {
    return a / b;
}

static double nearest(double a) {
    return rint(a);
}

static double magnitude(double a) {
    return fabs(a);
}

static double sign_of(double a) {
    return copysign(0.0, a);
}

static double with_sign(double a, double zero) {
    return signbit(zero) ? -a : a;
}

static double least(double a, double b) {
    return a < b ? a : b;
}

static double most(double a, double b) {
    return a > b ? a : b;
}

static int32_t same_index(int value) {
    return value;
}

static int32_t index_of(double a) {
    return (int32_t)a;
}

static double doubles_of(int32_t a) {
    return a;
}

static int32_t add(int32_t a, int32_t b) {
    return a + b;
}

static int32_t subtract(int32_t a, int32_t b) {
    return a - b;
}

static int32_t and_bits(int32_t a, int32_t b) {
    return a & b;
}

static int32_t shift_left(int32_t a, int places) {
    return (int32_t)((uint32_t)a << places);
}

static int32_t shift_right(int32_t a, int places) {
    return a >> places;
}

static double entry(const double *table, int32_t at) {
    return table[at];
}

static double power_of_two(int32_t exponent) {
    const uint64_t bits = (uint64_t)(1023 + exponent) << 52;
    double power;
    memcpy(&power, &bits, sizeof power);
    return power;
}

static double even(int32_t at, double a, double b) {
    return at & 1 ? b : a;
}

static double sign_of_quarter(int32_t at) {
    return at & 2 ? -0.0 : 0.0;
}

static int32_t bits_of(float x) {
    int32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float halves_of(int32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static double widened(float x) {
    return x;
}

static float narrowed(double a) {
    return (float)a;
}

static double choose_below(double a, double b, double below, double otherwise) {
    return a < b ? below : otherwise;
}

#include "float_functions.inl"

static float logarithm(float x) {
    if (!(x > 0) || isinf(x))
        return x < 0 ? NAN : x == 0 ? -INFINITY : x;
    return (float)(x < FLT_MIN ? wide_log(x * 0x1p23f, -23) : wide_log(x, 0));
}

static float logarithm_of_sum(float x) {
    if (!(x > -1) || isinf(x))
        return x < -1 ? NAN : x == -1 ? -INFINITY : x;
    return (float)wide_log1p(x);
}

/* x = m * 2^e, whose quotient by pi/2 is m times the bits of 2/pi from the one of weight 2^(1 - e) on; those before it
 * give multiples of 4. 128 bits of them are exact to 2^-102 of the quotient. */
static double sine_of_large(float x, int quarters) {
    const int32_t bits = bits_of(fabsf(x));
    const int start = (bits >> 23) - 127 - 23 - 2 + 64, word = start >> 6, places = start & 63;
    const uint64_t *from = qrt_two_over_pi + word;
    const unsigned __int128 pair = (unsigned __int128)from[0] << 64 | from[1];
    const unsigned __int128 window = places ? pair << places | from[2] >> (64 - places) : pair;
    const unsigned __int128 quotient = window * (uint32_t)((bits & 0x7fffff) | 0x800000);
    const int32_t quarter = (int32_t)((quotient + ((unsigned __int128)1 << 125)) >> 126);
    const __int128 rest = (__int128)(quotient - ((unsigned __int128)(uint32_t)quarter << 126));
    const double turn = (double)(int64_t)(rest >> 64) * 0x1p-62 + (double)(uint64_t)rest * 0x1p-126;
    return sine_of(turn * QRT_HALF_PI, quarter + quarters);
}

static float sine(float x, int quarters) {
    if (isnan(x) || isinf(x))
        return isinf(x) ? NAN : x;
    const double sign = quarters ? 0.0 : sign_of(x);
    const bool is_large = fabsf(x) > (float)QRT_LARGEST_ANGLE;
    return (float)with_sign(is_large ? sine_of_large(x, quarters) : sine_from(fabs((double)x), quarters), sign);
}

static float value_of(int code, float x) {
    switch (code) {
    case QRT_STEP_EXP:
        return (float)wide_exponential(within(x, -QRT_FARTHEST));
    case QRT_STEP_EXPM1:
        return (float)wide_expm1(within(x, QRT_LEAST_EXPM1));
    case QRT_STEP_LOG:
        return logarithm(x);
    case QRT_STEP_LOG1P:
        return logarithm_of_sum(x);
    case QRT_STEP_TANH:
        return (float)wide_tanh(x);
    case QRT_STEP_ERF:
        return (float)wide_erf(x);
    case QRT_STEP_ERFC:
        return (float)wide_erfc(x);
    case QRT_STEP_SIN:
        return sine(x, 0);
    default:
        return sine(x, 1);
    }
}

void ref_float_function(int code, const float *x, float *target, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i++)
        target[i] = isnan(x[i]) ? x[i] : value_of(code, x[i]);
}
