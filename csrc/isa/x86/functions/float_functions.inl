/* Functions of float32 on vectors: the arithmetic of ref/functions/float_functions.inl. A block of lanes with an
 * argument that this arithmetic does not support is the parent's.
 *
 * The including file gives the ports of that file, and HALF, the number of lanes of `halves`; load_halves,
 * store_halves, keep_nans and are_within. */
#pragma once

#ifndef HALF
#error "functions/float_functions.inl needs HALF"
#endif

#include <float.h>
#include <string.h>

#include "isa/rows.h"
#include "ref/functions/float_functions.inl"

static bool is_block_within(const float *x, float low, float high) {
    bool is_within = true;
    for (int i = 0; i < QRT_LOOPS_ALIGN; i += HALF)
        is_within &= are_within(load_halves(x + i), low, high);
    return is_within;
}

/* Where a result is doubtful, the parent computes the block again; `target` may be x, so results wait for that. */
#define BLOCKS(is_supported, value)                                                                                    \
    for (int64_t first = 0; first < lanes; first += QRT_LOOPS_ALIGN) {                                                 \
        bool is_known = is_supported;                                                                                  \
        float results[QRT_LOOPS_ALIGN];                                                                                \
        for (int i = 0; is_known && i < QRT_LOOPS_ALIGN; i += HALF) {                                                  \
            const halves narrow = load_halves(x + first + i);                                                          \
            const doubles wide = widened(narrow), result = value;                                                      \
            (void)wide;                                                                                                \
            is_known &= !has_doubtful(result);                                                                         \
            store_halves(results + i, keep_nans(narrow, narrowed(result)));                                            \
        }                                                                                                              \
        if (is_known)                                                                                                  \
            memcpy(target + first, results, sizeof results);                                                           \
        else                                                                                                           \
            QRT_OF_ISA(parent).float_function(code, x + first, target + first, QRT_LOOPS_ALIGN);                       \
    }                                                                                                                  \
    break

void QRT_OF_ISA(float_function)(int code, const float *x, float *target, int64_t lanes) {
    const float most_angle = (float)QRT_LARGEST_ANGLE;
    switch (code) {
    case QRT_STEP_EXP:
        BLOCKS(true, wide_exponential(within(wide, -QRT_FARTHEST)));
    case QRT_STEP_EXPM1:
        BLOCKS(true, wide_expm1(within(wide, QRT_LEAST_EXPM1)));
    case QRT_STEP_LOG:
        BLOCKS(is_block_within(x + first, FLT_MIN, FLT_MAX), wide_log(narrow, same_index(0)));
    case QRT_STEP_LOG1P:
        BLOCKS(is_block_within(x + first, -0x1.fffffep-1f, FLT_MAX), wide_log1p(wide));
    case QRT_STEP_TANH:
        BLOCKS(true, wide_tanh(wide));
    case QRT_STEP_ERF:
        BLOCKS(true, wide_erf(wide));
    case QRT_STEP_ERFC:
        BLOCKS(true, wide_erfc(wide));
    case QRT_STEP_SIN:
        BLOCKS(is_block_within(x + first, -most_angle, most_angle), wide_sin(wide));
    default:
        BLOCKS(is_block_within(x + first, -most_angle, most_angle), wide_cos(wide));
    }
}
