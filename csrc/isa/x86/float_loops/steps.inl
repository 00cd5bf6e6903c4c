/* The steps of loop nests in float32, for any vector width. Registers are loaded and stored whole: they have a multiple
 * of QRT_LOOPS_ALIGN lanes.
 *
 * The including file defines, besides what floats.h has, blend(flags, no, yes), spread(flags), which makes a lane of
 * all bits or none of each flag, set_in(vector), which is its inverse, compare(a, b, predicate), and
 * rounded(a, mode). */
#pragma once

#if !defined OP || !defined WIDTH || !defined blend || !defined spread || !defined set_in || !defined compare ||       \
    !defined rounded
#error "float_loops/steps.inl needs OP, WIDTH, blend, spread, set_in, compare and rounded"
#endif

#include "isa/rows.h"

/* The instructions return the second operand where one is a NaN, and where both are zeros: then the sign of the result
 * is the `and` of the signs, or their `or`. */
QRT_INLINE vector maximum(vector a, vector b) {
    const vector ordered = blend(compare(a, b, _CMP_EQ_OQ), OP(max_ps)(a, b), OP(and_ps)(a, b));
    return blend(unordered(a, a), ordered, a);
}

QRT_INLINE vector minimum(vector a, vector b) {
    const vector ordered = blend(compare(a, b, _CMP_EQ_OQ), OP(min_ps)(a, b), OP(or_ps)(a, b));
    return blend(unordered(a, a), ordered, a);
}

/* The operand that is a number, where one is, else the second: the instructions return that one where a NaN is. */
QRT_INLINE vector maxnum(vector a, vector b) {
    const vector ordered = blend(compare(a, b, _CMP_EQ_OQ), OP(max_ps)(a, b), OP(and_ps)(a, b));
    return blend(unordered(b, b), ordered, blend(unordered(a, a), a, b));
}

QRT_INLINE vector minnum(vector a, vector b) {
    const vector ordered = blend(compare(a, b, _CMP_EQ_OQ), OP(min_ps)(a, b), OP(or_ps)(a, b));
    return blend(unordered(b, b), ordered, blend(unordered(a, a), a, b));
}

/* A NaN of numbers becomes the one that numerics.md names; that of an operand goes on as it is. */
QRT_INLINE vector of_two(vector made, vector a, vector b) {
    return blend(unordered(a, b), with_one_nan(made), made);
}

QRT_INLINE vector computed(const int code, vector a, vector b, vector c) {
    switch (code) {
    case QRT_STEP_ADD:
        return of_two(OP(add_ps)(a, b), a, b);
    case QRT_STEP_SUB:
        return of_two(OP(sub_ps)(a, b), a, b);
    case QRT_STEP_MUL:
        return of_two(OP(mul_ps)(a, b), a, b);
    case QRT_STEP_DIV:
        return of_two(OP(div_ps)(a, b), a, b);
    case QRT_STEP_FMA:
        return blend(unordered(c, c), of_two(OP(fmadd_ps)(a, b, c), a, b), OP(fmadd_ps)(a, b, c));
    case QRT_STEP_SQRT:
        return of_two(OP(sqrt_ps)(a), a, a);
    case QRT_STEP_NEG:
        return OP(xor_ps)(a, OP(set1_ps)(-0.0F));
    case QRT_STEP_ABS:
        return OP(andnot_ps)(OP(set1_ps)(-0.0F), a);
    case QRT_STEP_FLOOR:
        return rounded(a, _MM_FROUND_TO_NEG_INF | _MM_FROUND_NO_EXC);
    case QRT_STEP_CEIL:
        return rounded(a, _MM_FROUND_TO_POS_INF | _MM_FROUND_NO_EXC);
    case QRT_STEP_TRUNC:
        return rounded(a, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    case QRT_STEP_ROUNDEVEN:
        return rounded(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
    case QRT_STEP_MAXIMUM:
        return maximum(a, b);
    case QRT_STEP_MINIMUM:
        return minimum(a, b);
    case QRT_STEP_MAXNUM:
        return maxnum(a, b);
    case QRT_STEP_MINNUM:
        return minnum(a, b);
    case QRT_STEP_SELECT:
        return blend(set_in(a), c, b);
    case QRT_STEP_AND:
        return OP(and_ps)(a, b);
    case QRT_STEP_OR:
        return OP(or_ps)(a, b);
    case QRT_STEP_XOR:
        return OP(xor_ps)(a, b);
    case QRT_STEP_LESS:
        return spread(compare(a, b, _CMP_LT_OQ));
    case QRT_STEP_LESS_EQUAL:
        return spread(compare(a, b, _CMP_LE_OQ));
    case QRT_STEP_EQUAL:
        return spread(compare(a, b, _CMP_EQ_OQ));
    default:
        return spread(unordered(a, b));
    }
}

#define CASES(CASE)                                                                                                    \
    CASE(QRT_STEP_ADD)                                                                                                 \
    CASE(QRT_STEP_SUB)                                                                                                 \
    CASE(QRT_STEP_MUL)                                                                                                 \
    CASE(QRT_STEP_DIV)                                                                                                 \
    CASE(QRT_STEP_FMA)                                                                                                 \
    CASE(QRT_STEP_SQRT)                                                                                                \
    CASE(QRT_STEP_NEG)                                                                                                 \
    CASE(QRT_STEP_ABS)                                                                                                 \
    CASE(QRT_STEP_FLOOR)                                                                                               \
    CASE(QRT_STEP_CEIL)                                                                                                \
    CASE(QRT_STEP_TRUNC)                                                                                               \
    CASE(QRT_STEP_ROUNDEVEN)                                                                                           \
    CASE(QRT_STEP_MAXIMUM)                                                                                             \
    CASE(QRT_STEP_MINIMUM)                                                                                             \
    CASE(QRT_STEP_MAXNUM)                                                                                              \
    CASE(QRT_STEP_MINNUM)                                                                                              \
    CASE(QRT_STEP_SELECT)                                                                                              \
    CASE(QRT_STEP_AND)                                                                                                 \
    CASE(QRT_STEP_OR)                                                                                                  \
    CASE(QRT_STEP_XOR)                                                                                                 \
    CASE(QRT_STEP_LESS)                                                                                                \
    CASE(QRT_STEP_LESS_EQUAL)                                                                                          \
    CASE(QRT_STEP_EQUAL)                                                                                               \
    CASE(QRT_STEP_UNORDERED)

void QRT_OF_ISA(float_steps)(const qrt_loops_step *step, int count, float *const *reg, int64_t lanes) {
    for (; count > 0; count--, step++) {
        const float *a = reg[step->a], *b = reg[step->b], *c = reg[step->c];
        float *to = reg[step->to];
        switch (step->code) {
#define CASE(code)                                                                                                     \
    case code:                                                                                                         \
        for (int64_t i = 0; i < lanes; i += WIDTH)                                                                     \
            OP(storeu_ps)(to + i, computed(code, OP(loadu_ps)(a + i), OP(loadu_ps)(b + i), OP(loadu_ps)(c + i)));      \
        break;
            CASES(CASE)
#undef CASE
        }
    }
}
