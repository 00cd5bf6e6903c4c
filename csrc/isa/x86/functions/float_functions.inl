/* Functions of float32 on vectors: the arithmetic of ref/functions/float_functions.inl. A block of lanes with an
 * argument that this arithmetic does not support is the parent's.
 *
 * The including file gives the types `doubles`, `halves` and `indices`; D(operation) and H(operation), the intrinsics
 * of doubles and of halves; HALF, the number of lanes of `halves`; the ports that are not here; `shifted`, which moves
 * the low bits of indices to the places of an exponent or a sign; and keep_nans, are_within, and has_doubtful, as
 * is_doubtful of ref. */
#pragma once

#if !defined HALF || !defined D || !defined H
#error "functions/float_functions.inl needs HALF, D and H"
#endif

#include <float.h>
#include <string.h>

#include "isa/rows.h"

/* ---- ports that differ in their width alone ---- */

QRT_INLINE doubles constant(double value) {
    return D(set1_pd)(value);
}

QRT_INLINE doubles plus(doubles a, doubles b) {
    return D(add_pd)(a, b);
}

QRT_INLINE doubles minus(doubles a, doubles b) {
    return D(sub_pd)(a, b);
}

QRT_INLINE doubles times(doubles a, doubles b) {
    return D(mul_pd)(a, b);
}

QRT_INLINE doubles over(doubles a, doubles b) {
    return D(div_pd)(a, b);
}

QRT_INLINE doubles magnitude(doubles a) {
    return D(andnot_pd)(constant(-0.0), a);
}

QRT_INLINE doubles sign_of(doubles a) {
    return D(and_pd)(constant(-0.0), a);
}

QRT_INLINE doubles with_sign(doubles a, doubles zero) {
    return D(xor_pd)(a, zero);
}

QRT_INLINE doubles least(doubles a, doubles b) {
    return D(min_pd)(a, b);
}

QRT_INLINE doubles most(doubles a, doubles b) {
    return D(max_pd)(a, b);
}

QRT_INLINE indices same_index(int value) {
    return H(set1_epi32)(value);
}

QRT_INLINE indices index_of(doubles a) {
    return D(cvtpd_epi32)(a);
}

QRT_INLINE doubles doubles_of(indices a) {
    return D(cvtepi32_pd)(a);
}

QRT_INLINE indices add(indices a, indices b) {
    return H(add_epi32)(a, b);
}

QRT_INLINE indices subtract(indices a, indices b) {
    return H(sub_epi32)(a, b);
}

QRT_INLINE indices shift_left(indices a, const int places) {
    return H(slli_epi32)(a, places);
}

QRT_INLINE indices shift_right(indices a, const int places) {
    return H(srai_epi32)(a, places);
}

QRT_INLINE doubles power_of_two(indices exponent) {
    return shifted(add(exponent, same_index(1023)), 52);
}

QRT_INLINE doubles sign_of_quarter(indices at) {
    return sign_of(shifted(at, 62));
}

QRT_INLINE doubles widened(halves x) {
    return D(cvtps_pd)(x);
}

QRT_INLINE halves narrowed(doubles a) {
    return D(cvtpd_ps)(a);
}

QRT_INLINE halves load_halves(const float *from) {
    return H(loadu_ps)(from);
}

QRT_INLINE void store_halves(float *to, halves x) {
    H(storeu_ps)(to, x);
}

/* ---- blocks ---- */

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
