/* Floats that are quantized at run time, and the cells of a long short-term memory: ref/functions/dynamic.c in vectors,
 * operation by operation in the same order and format, so with the same bits.
 *
 * The including file gives the ports. It defines load_floats and store_floats of live lanes, one_nan and
 * choose_below; doubles, half a vector of floats each, with low_half, high_half and join_halves, and
 * power_of_two and gather_powers of half a vector of integers. Hazard: minimum and maximum return their second operand
 * where one is a NaN. */
#pragma once

#include "isa/rows.h"
#include "ref/functions/exponential.h"

/* ---- products ---- */

void QRT_OF_ISA(dynamic_range)(const float *x, int64_t count, float *range) {
    floats least[2] = {V(setzero_ps)(), V(setzero_ps)()}, most[2] = {V(setzero_ps)(), V(setzero_ps)()};
    for (int64_t i = 0; i < count; i += 2 * LANES)
        for (int j = 0; j < 2; j++) {
            const int64_t left = count - i - j * LANES;
            if (left <= 0)
                break;
            const floats v = load_floats(x + i + j * LANES, first_lanes(left));
            least[j] = V(min_ps)(v, least[j]);
            most[j] = V(max_ps)(v, most[j]);
        }
    float both[2][LANES];
    V(storeu_ps)(both[0], V(min_ps)(least[0], least[1]));
    V(storeu_ps)(both[1], V(max_ps)(most[0], most[1]));
    range[0] = both[0][0];
    range[1] = both[1][0];
    for (int i = 1; i < LANES; i++) {
        range[0] = both[0][i] < range[0] ? both[0][i] : range[0];
        range[1] = both[1][i] > range[1] ? both[1][i] : range[1];
    }
}

/* A quotient within +-1e6, both integers, rounds as it does outside: what is beyond ends at 0 or 255, and a NaN, of
 * which the maximum is its second operand, at 0. */
void QRT_OF_ISA(dynamic_storage)(const float *x, int64_t count, float scale, int zero_point, uint8_t *target) {
    const floats divisor = V(set1_ps)(scale), far = V(set1_ps)(1e6f), low = V(set1_ps)(-1e6f);
    const integers zero = V(set1_epi32)(zero_point), most = V(set1_epi32)(UINT8_MAX);
    for (int64_t i = 0; i < count; i += LANES) {
        const live_lanes live = first_lanes(count - i);
        const floats quotient = V(div_ps)(load_floats(x + i, live), divisor);
        const integers step = round_half_even(V(min_ps)(V(max_ps)(quotient, low), far));
        const integers value = V(max_epi32)(V(add_epi32)(step, zero), V(set1_epi32)(0));
        store_bytes(target + i, low_bytes(V(min_epi32)(value, most)), live);
    }
}

void QRT_OF_ISA(dynamic_scale)(const int32_t *sums, const float *scales, float scale, int64_t count,
                               const float *before, const float *bias, float *target) {
    const floats of_x = V(set1_ps)(scale);
    for (int64_t i = 0; i < count; i += LANES) {
        const live_lanes live = first_lanes(count - i);
        const floats sum = V(cvtepi32_ps)(bits_of(load_floats((const float *)(sums + i), live)));
        const floats product = one_nan(V(mul_ps)(sum, V(mul_ps)(of_x, load_floats(scales + i, live))));
        const floats total =
            before ? V(add_ps)(V(add_ps)(load_floats(before + i, live), product), load_floats(bias + i, live))
                   : product;
        store_floats(target + i, total, live);
    }
}

/* ---- functions ---- */

/* |x| is at most QRT_FARTHEST. The integer k = 32 * n + i gives 2^n * 2^(i / 32), whose product is exact. */
QRT_INLINE doubles exponential(doubles x) {
    const doubles z = V(mul_pd)(x, V(set1_pd)(0x1.71547652b82fep+5)), whole = round_doubles(z);
    const doubles r = V(sub_pd)(z, whole), square = V(mul_pd)(r, r);
    const half_integers k = V(cvtpd_epi32)(whole);
    const doubles power = V(mul_pd)(power_of_two(k), gather_powers(k));
    const doubles high = V(add_pd)(V(mul_pd)(V(set1_pd)(0x1.c6af84b912394p-20), r), V(set1_pd)(0x1.ebfce50fac4f3p-13));
    const doubles low = V(add_pd)(V(mul_pd)(V(set1_pd)(0x1.62e42ff0c52d6p-6), r), V(set1_pd)(1.0));
    return V(mul_pd)(V(add_pd)(V(mul_pd)(high, square), low), power);
}

QRT_INLINE doubles magnitude(doubles x) {
    return V(andnot_pd)(V(set1_pd)(-0.0), x);
}

QRT_INLINE doubles sigmoid_of_half(doubles x) {
    const doubles one = V(set1_pd)(1.0), near = V(min_pd)(magnitude(x), V(set1_pd)(QRT_FARTHEST));
    const doubles power = exponential(V(xor_pd)(near, V(set1_pd)(-0.0)));
    return V(div_pd)(choose_below(x, V(setzero_pd)(), power, one), V(add_pd)(power, one));
}

QRT_INLINE doubles tangent_of_half(doubles x) {
    const doubles one = V(set1_pd)(1.0), wide = magnitude(x), square = V(mul_pd)(wide, wide);
    doubles near = V(set1_pd)(62.0 / 2835);
    near = V(add_pd)(V(mul_pd)(near, square), V(set1_pd)(-17.0 / 315));
    near = V(add_pd)(V(mul_pd)(near, square), V(set1_pd)(2.0 / 15));
    near = V(add_pd)(V(mul_pd)(near, square), V(set1_pd)(-1.0 / 3));
    near = V(add_pd)(V(mul_pd)(V(mul_pd)(near, square), wide), wide);
    const doubles power = exponential(V(min_pd)(V(add_pd)(wide, wide), V(set1_pd)(QRT_FARTHEST)));
    const doubles far = V(sub_pd)(one, V(div_pd)(V(set1_pd)(2.0), V(add_pd)(power, one)));
    const doubles value = choose_below(wide, V(set1_pd)(0x1p-4), near, far);
    return V(or_pd)(value, V(and_pd)(x, V(set1_pd)(-0.0)));
}

/* A NaN stays one. */
QRT_INLINE floats sigmoid(floats x) {
    return keep_nans(x, join_halves(sigmoid_of_half(low_half(x)), sigmoid_of_half(high_half(x))));
}

QRT_INLINE floats hyperbolic_tangent(floats x) {
    return keep_nans(x, join_halves(tangent_of_half(low_half(x)), tangent_of_half(high_half(x))));
}

/* ---- cells ---- */

void QRT_OF_ISA(dynamic_cells)(const float *gates, int64_t cells, float *hidden, float *cell) {
    for (int64_t i = 0; i < cells; i += LANES) {
        const live_lanes live = first_lanes(cells - i);
        const floats enter = sigmoid(load_floats(gates + i, live));
        const floats out = sigmoid(load_floats(gates + cells + i, live));
        const floats forget = sigmoid(load_floats(gates + 2 * cells + i, live));
        const floats candidate = hyperbolic_tangent(load_floats(gates + 3 * cells + i, live));
        const floats kept = V(mul_ps)(forget, load_floats(cell + i, live)), added = V(mul_ps)(enter, candidate);
        const floats sum = V(add_ps)(kept, added);
        store_floats(cell + i, one_nan(sum), live);
        store_floats(hidden + i, one_nan(V(mul_ps)(out, hyperbolic_tangent(sum))), live);
    }
}
