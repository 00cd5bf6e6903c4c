/* The steps of loop nests in float32 and int32, in portable C. */
#include <math.h>
#include <string.h>

#include "ref.h"

static uint32_t bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static float float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static float flag(bool holds) {
    return float_of(holds ? UINT32_MAX : 0);
}

/* IEEE 754's maximum, and its minimum as that of the negated numbers: -0 is below +0. */
static float maximum(float a, float b) {
    if (a > b || isnan(a))
        return a;
    return b > a || isnan(b) || signbit(a) ? b : a;
}

static float minimum(float a, float b) {
    if (a < b || isnan(a))
        return a;
    return b < a || isnan(b) || signbit(b) ? b : a;
}

static float computed(int code, float a, float b, float c) {
    switch ((qrt_step_code)code) {
    case QRT_STEP_ADD:
        return a + b;
    case QRT_STEP_SUB:
        return a - b;
    case QRT_STEP_MUL:
        return a * b;
    case QRT_STEP_DIV:
        return a / b;
    case QRT_STEP_FMA:
        return fmaf(a, b, c);
    case QRT_STEP_SQRT:
        return sqrtf(a);
    case QRT_STEP_NEG:
        return float_of(bits_of(a) ^ 0x80000000u);
    case QRT_STEP_ABS:
        return float_of(bits_of(a) & 0x7fffffffu);
    case QRT_STEP_FLOOR:
        return floorf(a);
    case QRT_STEP_CEIL:
        return ceilf(a);
    case QRT_STEP_TRUNC:
        return truncf(a);
    case QRT_STEP_ROUNDEVEN:
        return nearbyintf(a); /* the entry has set the control register */
    case QRT_STEP_MAXIMUM:
        return maximum(a, b);
    case QRT_STEP_MINIMUM:
        return minimum(a, b);
    case QRT_STEP_MAXNUM:
        return isnan(a) ? b : isnan(b) ? a : maximum(a, b);
    case QRT_STEP_MINNUM:
        return isnan(a) ? b : isnan(b) ? a : minimum(a, b);
    case QRT_STEP_SELECT:
        return bits_of(a) ? b : c;
    case QRT_STEP_AND:
        return float_of(bits_of(a) & bits_of(b));
    case QRT_STEP_OR:
        return float_of(bits_of(a) | bits_of(b));
    case QRT_STEP_XOR:
        return float_of(bits_of(a) ^ bits_of(b));
    case QRT_STEP_LESS:
        return flag(a < b);
    case QRT_STEP_LESS_EQUAL:
        return flag(a <= b);
    case QRT_STEP_EQUAL:
        return flag(a == b);
    case QRT_STEP_UNORDERED:
        return flag(isnan(a) || isnan(b));
    default:
        return 0;
    }
}

/* Whether no operand that the code reads is a NaN. */
static bool of_numbers(int code, float a, float b, float c) {
    return !isnan(a) && (code == QRT_STEP_SQRT || !isnan(b)) && (code != QRT_STEP_FMA || !isnan(c));
}

void ref_float_steps(const qrt_loops_step *step, int count, float *const *reg, int64_t lanes) {
    for (; count > 0; count--, step++) {
        const float *a = reg[step->a], *b = reg[step->b], *c = reg[step->c];
        float *to = reg[step->to];
        for (int64_t i = 0; i < lanes; i++) {
            const float made = computed(step->code, a[i], b[i], c[i]);
            const bool is_made = step->code < QRT_STEP_NEG && isnan(made) && of_numbers(step->code, a[i], b[i], c[i]);
            to[i] = is_made ? NAN : made;
        }
    }
}

/* ---- integers ---- */

/* A float whose integer part an i32 holds. */
static bool has_integer(float x) {
    return x >= -0x1p31f && x < 0x1p31f;
}

static int32_t saturated(float x) {
    return has_integer(x) ? (int32_t)x : isnan(x) ? 0 : x < 0 ? INT32_MIN : INT32_MAX;
}

static uint32_t of_integers(int code, uint32_t a, uint32_t b) {
    const float x = float_of(a);
    switch ((qrt_step_code)code) {
    case QRT_STEP_TO_F32:
        return bits_of((float)(int32_t)a);
    case QRT_STEP_TO_I32:
        return has_integer(x) ? (uint32_t)(int32_t)x : 0;
    case QRT_STEP_SATURATE_I32:
        return (uint32_t)saturated(x);
    case QRT_STEP_TO_I8:
        return (uint32_t)(int8_t)a;
    case QRT_STEP_TO_I16:
        return (uint32_t)(int16_t)a;
    case QRT_STEP_ADD_I32:
        return a + b;
    case QRT_STEP_SUB_I32:
        return a - b;
    case QRT_STEP_MUL_I32:
        return a * b;
    case QRT_STEP_MAX_I32:
        return (int32_t)a > (int32_t)b ? a : b;
    case QRT_STEP_MIN_I32:
        return (int32_t)a < (int32_t)b ? a : b;
    default:
        return 0;
    }
}

bool ref_integer_steps(const qrt_loops_step *step, int count, float *const *reg, int64_t lanes, int64_t live) {
    bool is_defined = true;
    for (; count > 0; count--, step++)
        for (int64_t i = 0; i < lanes; i++) {
            uint32_t a, b;
            memcpy(&a, reg[step->a] + i, sizeof a);
            memcpy(&b, reg[step->b] + i, sizeof b);
            is_defined &= step->code != QRT_STEP_TO_I32 || i >= live || has_integer(float_of(a));
            const uint32_t made = of_integers(step->code, a, b);
            memcpy(reg[step->to] + i, &made, sizeof made);
        }
    return is_defined;
}
