/* The steps of loop nests whose lanes have 64 bits, and conversions to and from them, in portable C. */
#include <math.h>
#include <string.h>

#include "ref.h"

typedef union {
    double number;
    int64_t integer;
    uint64_t bits;
} wide;

typedef union {
    float number;
    int32_t integer;
    uint32_t bits;
} narrow;

/* The registers of a step; those of another size than a code names are not read. */
typedef struct {
    const wide *a, *b, *c;
    const narrow *short_a, *short_b;
    wide *to;
    narrow *short_to;
} operands;

static double maximum(double a, double b) {
    if (a > b || isnan(a))
        return a;
    return b > a || isnan(b) || signbit(a) ? b : a;
}

static double minimum(double a, double b) {
    if (a < b || isnan(a))
        return a;
    return b < a || isnan(b) || signbit(b) ? b : a;
}

/* The default NaN where arithmetic on numbers has a NaN, whose bits depend on the processor. */
static double with_one_nan(double result, bool of_numbers) {
    return isnan(result) && of_numbers ? (double)NAN : result;
}

#define CASE(code, target, expression)                                                                                 \
    case code:                                                                                                         \
        for (int64_t i = 0; i < lanes; i++)                                                                            \
            target = expression;                                                                                       \
        return;

/* ---- float64 ---- */

#define A o.a[i].number
#define B o.b[i].number
#define C o.c[i].number
#define MAKES(code, expression, of_numbers) CASE(code, o.to[i].number, with_one_nan(expression, of_numbers))
#define PASSES(code, expression) CASE(code, o.to[i].number, expression)

static void compute_doubles(int code, operands o, int64_t lanes) {
    switch ((qrt_step_code)code) {
        MAKES(QRT_STEP_ADD_F64, A + B, !isnan(A) && !isnan(B))
        MAKES(QRT_STEP_SUB_F64, A - B, !isnan(A) && !isnan(B))
        MAKES(QRT_STEP_MUL_F64, A * B, !isnan(A) && !isnan(B))
        MAKES(QRT_STEP_DIV_F64, A / B, !isnan(A) && !isnan(B))
        MAKES(QRT_STEP_REM_F64, fmod(A, B), !isnan(A) && !isnan(B))
        MAKES(QRT_STEP_FMA_F64, fma(A, B, C), !isnan(A) && !isnan(B) && !isnan(C))
        MAKES(QRT_STEP_SQRT_F64, sqrt(A), !isnan(A))
        PASSES(QRT_STEP_NEG_F64, -A)
        PASSES(QRT_STEP_ABS_F64, fabs(A))
        PASSES(QRT_STEP_FLOOR_F64, floor(A))
        PASSES(QRT_STEP_CEIL_F64, ceil(A))
        PASSES(QRT_STEP_TRUNC_F64, trunc(A))
        PASSES(QRT_STEP_ROUNDEVEN_F64, nearbyint(A)) /* the entry has set the control register */
        PASSES(QRT_STEP_ROUND_F64, round(A))
        PASSES(QRT_STEP_MAXIMUM_F64, maximum(A, B))
        PASSES(QRT_STEP_MINIMUM_F64, minimum(A, B))
        PASSES(QRT_STEP_MAXNUM_F64, isnan(A) ? B : isnan(B) ? A : maximum(A, B))
        PASSES(QRT_STEP_MINNUM_F64, isnan(A) ? B : isnan(B) ? A : minimum(A, B))
    default:
        return;
    }
}

/* ---- comparisons ---- */

#define FLAG(code, holds) CASE(code, o.short_to[i].bits, (holds) ? UINT32_MAX : 0)

static void compare(int code, operands o, int64_t lanes) {
    switch ((qrt_step_code)code) {
        FLAG(QRT_STEP_LESS_F64, A < B)
        FLAG(QRT_STEP_LESS_EQUAL_F64, A <= B)
        FLAG(QRT_STEP_EQUAL_F64, A == B)
        FLAG(QRT_STEP_UNORDERED_F64, isnan(A) || isnan(B))
        FLAG(QRT_STEP_LESS_I64, o.a[i].integer < o.b[i].integer)
        FLAG(QRT_STEP_BELOW_I64, o.a[i].bits < o.b[i].bits)
        FLAG(QRT_STEP_EQUAL_I64, o.a[i].bits == o.b[i].bits)
        FLAG(QRT_STEP_LESS_I32, o.short_a[i].integer < o.short_b[i].integer)
        FLAG(QRT_STEP_BELOW_I32, o.short_a[i].bits < o.short_b[i].bits)
        FLAG(QRT_STEP_EQUAL_I32, o.short_a[i].bits == o.short_b[i].bits)
    default:
        return;
    }
}

/* ---- integers ---- */

#define BITS(code, expression) CASE(code, o.to[i].bits, expression)

static void compute_integers(int code, operands o, int64_t lanes) {
    switch ((qrt_step_code)code) {
        BITS(QRT_STEP_SELECT_64, o.short_a[i].bits ? o.b[i].bits : o.c[i].bits)
        BITS(QRT_STEP_AND_I64, o.a[i].bits & o.b[i].bits)
        BITS(QRT_STEP_OR_I64, o.a[i].bits | o.b[i].bits)
        BITS(QRT_STEP_XOR_I64, o.a[i].bits ^ o.b[i].bits)
        BITS(QRT_STEP_ADD_I64, o.a[i].bits + o.b[i].bits)
        BITS(QRT_STEP_SUB_I64, o.a[i].bits - o.b[i].bits)
        BITS(QRT_STEP_MUL_I64, o.a[i].bits * o.b[i].bits)
        BITS(QRT_STEP_MAX_I64, o.a[i].integer > o.b[i].integer ? o.a[i].bits : o.b[i].bits)
        BITS(QRT_STEP_MIN_I64, o.a[i].integer < o.b[i].integer ? o.a[i].bits : o.b[i].bits)
    default:
        return;
    }
}

/* ---- conversions, and two steps on float32 ---- */

static float of_numbers(float result, float x, float y) {
    return isnan(result) && !isnan(x) && !isnan(y) ? NAN : result;
}

static void convert(int code, operands o, int64_t lanes) {
    switch ((qrt_step_code)code) {
        CASE(QRT_STEP_ROUND_F32, o.short_to[i].number, roundf(o.short_a[i].number))
        CASE(QRT_STEP_REM_F32, o.short_to[i].number,
             of_numbers(fmodf(o.short_a[i].number, o.short_b[i].number), o.short_a[i].number, o.short_b[i].number))
        CASE(QRT_STEP_F64_OF_F32, o.to[i].number, o.short_a[i].number)
        CASE(QRT_STEP_F64_OF_I32, o.to[i].number, o.short_a[i].integer)
        CASE(QRT_STEP_F64_OF_I64, o.to[i].number, (double)o.a[i].integer)
        CASE(QRT_STEP_I64_OF_I32, o.to[i].integer, o.short_a[i].integer)
        CASE(QRT_STEP_F32_OF_F64, o.short_to[i].number, (float)o.a[i].number)
        CASE(QRT_STEP_F32_OF_I64, o.short_to[i].number, (float)o.a[i].integer)
        CASE(QRT_STEP_I32_OF_I64, o.short_to[i].bits, (uint32_t)o.a[i].bits)
    default:
        return;
    }
}

/* The bounds lie from -2^63 to 2^63. */
static int64_t bounded(double whole, double least, double beyond) {
    if (whole >= beyond)
        return beyond >= 0x1p63 ? INT64_MAX : (int64_t)beyond - 1;
    return whole < least ? (int64_t)least : isnan(whole) ? 0 : (int64_t)whole;
}

static bool truncate_doubles(bool saturates, operands o, int64_t lanes, int64_t live) {
    bool is_defined = true;
    for (int64_t i = 0; i < lanes; i++) {
        const double whole = trunc(A), least = B, beyond = C;
        is_defined &= saturates || i >= live || (whole >= least && whole < beyond);
        o.to[i].integer = bounded(whole, least, beyond);
    }
    return is_defined;
}

bool ref_wide_steps(const qrt_loops_step *step, int count, float *const *reg, int64_t lanes, int64_t live) {
    bool is_defined = true;
    for (; count > 0; count--, step++) {
        const void *a = reg[step->a], *b = reg[step->b];
        void *to = reg[step->to];
        const operands o = {a, b, (const void *)reg[step->c], a, b, to, to};
        if (step->code >= QRT_STEP_I64_OF_F64)
            is_defined &= truncate_doubles(step->code == QRT_STEP_SATURATE_I64, o, lanes, live);
        else if (step->code < QRT_STEP_ROUND_F32)
            compute_doubles(step->code, o, lanes);
        else if (step->code >= QRT_STEP_LESS_F64 && step->code < QRT_STEP_SELECT_64)
            compare(step->code, o, lanes);
        else if (step->code >= QRT_STEP_SELECT_64 && step->code < QRT_STEP_F64_OF_F32)
            compute_integers(step->code, o, lanes);
        else
            convert(step->code, o, lanes);
    }
    return is_defined;
}
