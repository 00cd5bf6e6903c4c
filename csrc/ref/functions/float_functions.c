/* Functions of float32, rounded to nearest even: the arithmetic of float_functions.inl on one number, and the arguments
 * for which it is not made: NaNs, numbers outside of the domain, subnormal ones of the logarithm, and large angles. */
#include <float.h>
#include <string.h>

#include "qrt/products/mixed_matmul.h"
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
    return (int32_t)qrt_bits_of(x);
}

static float halves_of(int32_t bits) {
    return qrt_float_of((uint32_t)bits);
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

/* Results that float64 rounds to the wrong side of a middle. */
static const struct {
    int code;
    float x, result;
} hard_cases[] = {
    {QRT_STEP_LOG, 0x1.827a74p-7f, -0x1.1c2b1ep+2f},      {QRT_STEP_LOG, 0x1.2f1fd6p+3f, 0x1.1fcbcep+1f},
    {QRT_STEP_LOG, 0x1.bacb4ap+25f, 0x1.1e0696p+4f},      {QRT_STEP_LOG, 0x1.b121a6p+76f, 0x1.a9a3f2p+5f},
    {QRT_STEP_LOG, 0x1.6351d8p+95f, 0x1.08b512p+6f},      {QRT_STEP_ERFC, -0x1.d93ec4p-17f, 0x1.00010ap+0f},
    {QRT_STEP_SIN, 0x1.33333p+13f, -0x1.63f4bap-2f},      {QRT_STEP_COS, 0x1.3170fp+63f, 0x1.fe2976p-1f},
    {QRT_STEP_COS, 0x1.2b9622p+67f, 0x1.f0285ep-1f},      {QRT_STEP_LOG1P, 0x1.800006p-21f, 0x1.7ffffep-21f},
    {QRT_STEP_LOG1P, 0x1.200036p-17f, 0x1.1fffe6p-17f},   {QRT_STEP_LOG1P, 0x1.fb035ap-2f, 0x1.9bddc2p-2f},
    {QRT_STEP_LOG1P, 0x1.0f1fd6p+3f, 0x1.1fcbcep+1f},     {QRT_STEP_LOG1P, 0x1.b121a6p+76f, 0x1.a9a3f2p+5f},
    {QRT_STEP_LOG1P, 0x1.6351d8p+95f, 0x1.08b512p+6f},    {QRT_STEP_LOG1P, -0x1.7ffffap-21f, -0x1.800002p-21f},
    {QRT_STEP_LOG1P, -0x1.1fffcap-17f, -0x1.20001ap-17f}, {QRT_STEP_LOG1P, -0x1.1d9188p-9f, -0x1.1de14ap-9f},
};

static bool is_doubtful(double wide) {
    uint64_t bits;
    memcpy(&bits, &wide, sizeof bits);
    return ((bits + QRT_DOUBTFUL - 0x10000000) & 0x1fffffff) <= 2 * QRT_DOUBTFUL;
}

/* The function of x, which is `wide` in float64. */
static float rounded(int code, float x, double wide) {
    if (is_doubtful(wide))
        for (size_t i = 0; i < sizeof hard_cases / sizeof *hard_cases; i++)
            if (hard_cases[i].code == code && hard_cases[i].x == x)
                return hard_cases[i].result;
    return (float)wide;
}

static float logarithm(float x) {
    if (!(x > 0) || isinf(x))
        return x < 0 ? NAN : x == 0 ? -INFINITY : x;
    return rounded(QRT_STEP_LOG, x, x < FLT_MIN ? wide_log(x * 0x1p23f, -23) : wide_log(x, 0));
}

static float logarithm_of_sum(float x) {
    if (!(x > -1) || isinf(x))
        return x < -1 ? NAN : x == -1 ? -INFINITY : x;
    return rounded(QRT_STEP_LOG1P, x, wide_log1p(x));
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

/* The cosine is the sine from a quarter on. */
static float sine(int code, float x) {
    if (isinf(x))
        return NAN;
    const float size = fabsf(x);
    const int quarters = code == QRT_STEP_COS;
    const bool is_large = size > (float)QRT_LARGEST_ANGLE;
    const float value = rounded(code, size, is_large ? sine_of_large(x, quarters) : sine_from(size, quarters));
    return signbit(x) && !quarters ? -value : value;
}

static float value_of(int code, float x) {
    switch (code) {
    case QRT_STEP_EXP:
        return rounded(code, x, wide_exponential(within(x, -QRT_FARTHEST)));
    case QRT_STEP_EXPM1:
        return rounded(code, x, wide_expm1(within(x, QRT_LEAST_EXPM1)));
    case QRT_STEP_LOG:
        return logarithm(x);
    case QRT_STEP_LOG1P:
        return logarithm_of_sum(x);
    case QRT_STEP_TANH:
        return rounded(code, x, wide_tanh(x));
    case QRT_STEP_ERF:
        return rounded(code, x, wide_erf(x));
    case QRT_STEP_ERFC:
        return rounded(code, x, wide_erfc(x));
    default:
        return sine(code, x);
    }
}

void ref_float_function(int code, const float *x, float *target, int64_t lanes) {
    for (int64_t i = 0; i < lanes; i++)
        target[i] = isnan(x[i]) ? x[i] : value_of(code, x[i]);
}
