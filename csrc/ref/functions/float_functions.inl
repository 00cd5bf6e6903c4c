/* Functions of float32 in float64, with an error of one or two units in the last place. Rounded to float32 they are the
 * exact results rounded once, but for results that lie within that error of the middle between two floats: ref has a
 * table of those that would be wrong, which `python -m tests.kernels.float_functions` has found among all floats.
 *
 * The including file gives the ports, so that ref and the vectors of an ISA compute the same operations in the same
 * order: `doubles`, and as many floats, `halves`, and integers of 32 bits, `indices`, with these functions:
 *
 *   of doubles   constant(number), plus, minus, times, over, nearest (whole, half to even), magnitude,
 *                sign_of (a zero with the sign), with_sign(positive, zero), choose_below(a, b, below, otherwise),
 *                least(a, b) and most(a, b), which are b where a is a NaN
 *   of indices   same_index(integer), add, subtract, and_bits, shift_left, shift_right (arithmetic)
 *   between      index_of(whole doubles), doubles_of(indices), bits_of(halves), halves_of(indices), widened(halves),
 *                narrowed(doubles), entry(table, indices), power_of_two(indices), even(indices, a, b), which is a
 *                where the index is even, and sign_of_quarter(indices), a zero whose sign is bit 1 of the index */
#pragma once

#include "ref/functions/float_tables.h"

#define QRT_LARGEST_ANGLE 0x1p20
#define QRT_LEAST_EXPM1 -40.0 /* e^-40 - 1 is -1 in float32 */

/* x between two numbers, so that powers of two and indices are in range; some number where x is a NaN. */
QRT_INLINE doubles within(doubles x, double lowest) {
    return least(most(x, constant(lowest)), constant(QRT_FARTHEST));
}

/* y = z * log(2) / 32 + r: the products with the parts of the logarithm are exact, and so is the first difference. */
typedef struct {
    indices whole; /* z */
    doubles r;
} reduced;

QRT_INLINE reduced reduced_by_logs(doubles y) {
    const doubles z = nearest(times(y, constant(QRT_INVERSE_LOG)));
    const doubles near = minus(y, times(z, constant(QRT_LOG_HIGH)));
    return (reduced){index_of(z), minus(near, times(z, constant(QRT_LOG_LOW)))};
}

QRT_INLINE doubles octaves(indices whole) {
    return power_of_two(shift_right(whole, 5));
}

QRT_INLINE doubles part(const double *table, indices whole) {
    return entry(table, and_bits(whole, same_index(QRT_POWERS - 1)));
}

/* |x| is at most QRT_FARTHEST. e^x is 2^(z / 32) * e^r. */
QRT_INLINE doubles wide_exponential(doubles x) {
    const reduced of = reduced_by_logs(x);
    const doubles r = of.r, square = times(r, r);
    const doubles high = plus(times(constant(1.0 / 720), r), constant(1.0 / 120));
    const doubles low = plus(times(constant(1.0 / 24), r), constant(1.0 / 6));
    const doubles far = plus(times(high, square), low), power = times(octaves(of.whole), part(qrt_powers, of.whole));
    const doubles rest = plus(plus(times(far, times(square, r)), times(square, constant(0.5))), r);
    return plus(times(rest, power), power);
}

/* e^y - 1 of -40 <= y <= QRT_FARTHEST, with a small relative error: 2^(z / 32) - 1 is exact, but for the low part of
 * the power. */
QRT_INLINE doubles exponential_less_one(doubles y) {
    const reduced of = reduced_by_logs(y);
    const doubles r = of.r, square = times(r, r);
    const doubles top = times(constant(1.0 / 5040), square);
    const doubles high = plus(top, plus(times(constant(1.0 / 720), r), constant(1.0 / 120)));
    const doubles low = plus(times(constant(1.0 / 24), r), constant(1.0 / 6));
    const doubles far = plus(times(high, square), low);
    const doubles rest = plus(plus(times(far, times(square, r)), times(square, constant(0.5))), r);
    const doubles scale = octaves(of.whole), power = times(scale, part(qrt_powers, of.whole));
    const doubles small = times(scale, part(qrt_powers_low, of.whole));
    return plus(minus(power, constant(1.0)), plus(small, times(power, rest)));
}

QRT_INLINE doubles wide_expm1(doubles x) {
    return with_sign(magnitude(exponential_less_one(x)), sign_of(x));
}

/* tanh |x| = (e^2|x| - 1) / (e^2|x| + 1), which is 1 in float32 from 9.02 on. */
QRT_INLINE doubles wide_tanh(doubles x) {
    const doubles y = least(magnitude(x), constant(10.0)), e = exponential_less_one(plus(y, y));
    return with_sign(over(e, plus(e, constant(2.0))), sign_of(x));
}

/* log(2^octave * m) of m in a cell of the logarithm, where r = m * inverse - 1 is at most 2^-7: log(m) is
 * log(1 + r) - log(inverse). The cell around 1 has the inverse 1, so that results near 0 keep their relative error. */
QRT_INLINE doubles log_in_cell(doubles octave, indices cell, doubles r) {
    const doubles square = times(r, r);
    const doubles high = plus(times(octave, constant(QRT_LOG_TWO_HIGH)), entry(qrt_logs_high, cell));
    const doubles low = plus(times(octave, constant(QRT_LOG_TWO_LOW)), entry(qrt_logs_low, cell));
    doubles far = plus(times(constant(-1.0 / 8), r), constant(1.0 / 7));
    far = plus(times(far, r), constant(-1.0 / 6));
    far = plus(times(far, r), constant(1.0 / 5));
    far = plus(times(far, r), constant(-1.0 / 4));
    far = plus(times(far, r), constant(1.0 / 3));
    far = plus(times(far, r), constant(-1.0 / 2));
    return plus(high, plus(r, plus(times(far, square), low)));
}

/* The octave of a normal positive number 2^k * m, and the cell of m, which is between 0.69 and 1.38. */
typedef struct {
    indices octave, cell;
} log_place;

QRT_INLINE log_place log_place_of(halves x) {
    const indices from_first = subtract(bits_of(x), same_index(QRT_FIRST_LOG_CELL));
    const indices cell = and_bits(shift_right(from_first, 16), same_index(QRT_LOG_CELLS - 1));
    return (log_place){shift_right(from_first, 23), cell};
}

/* Of a normal positive number; r is exact. `scale` is added to its octave. */
QRT_INLINE doubles wide_log(halves x, indices scale) {
    const log_place at = log_place_of(x);
    const doubles m = widened(halves_of(subtract(bits_of(x), shift_left(at.octave, 23))));
    const doubles r = minus(times(m, entry(qrt_log_inverses, at.cell)), constant(1.0));
    return log_in_cell(doubles_of(add(at.octave, scale)), at.cell, r);
}

/* log(1 + x) of a finite x > -1. The sum may need all bits of float64; m is split, so that the larger part of r is
 * exact. Where the sum is close to 1, r is x itself. */
QRT_INLINE doubles wide_log1p(doubles x) {
    const doubles total = plus(x, constant(1.0));
    const log_place at = log_place_of(narrowed(total));
    const doubles m = times(total, power_of_two(subtract(same_index(0), at.octave)));
    const doubles inverse = entry(qrt_log_inverses, at.cell), high = widened(narrowed(m));
    const doubles r = plus(minus(times(high, inverse), constant(1.0)), times(minus(m, high), inverse));
    const doubles near = choose_below(magnitude(x), constant(0x1p-10), x, r);
    return with_sign(magnitude(log_in_cell(doubles_of(at.octave), at.cell, near)), sign_of(x));
}

/* a2 h^2 + a3 h^3 + ..., with which erf(c + h) = erf(c) + erf'(c) * (h + a2 h^2 + ...): the coefficients of the series
 * around c follow from erf''(x) = -2x erf'(x). */
QRT_INLINE doubles error_series(doubles c, doubles h, const int degree) {
    doubles before = constant(1.0), last = minus(constant(0.0), c), power = times(h, h), sum = times(last, power);
    for (int n = 3; n <= degree; n++) {
        const doubles both = plus(times(c, last), times(constant((n - 2.0) / (n - 1.0)), before));
        before = last;
        last = times(both, constant(-2.0 / n));
        power = times(power, h);
        sum = plus(sum, times(last, power));
    }
    return sum;
}

/* Cells of 1/16. In float32 erf is 1 from 3.92 on. Around 0 the product of the slope and h decides the last bit: the
 * high part of the slope makes it exact, and the low one has what 2 / sqrt(pi) is more than its float64. */
QRT_INLINE doubles wide_erf(doubles x) {
    const doubles near = least(magnitude(x), constant(4.0)), cell = nearest(times(near, constant(16.0)));
    const doubles c = times(cell, constant(1.0 / 16)), h = minus(near, c);
    const indices place = index_of(cell);
    const doubles slope = entry(qrt_erf_slopes, place), high = widened(narrowed(slope));
    const doubles low = plus(minus(slope, high), constant(QRT_ERF_SLOPE_LOW));
    const doubles rest = plus(times(low, h), times(slope, error_series(c, h, 12)));
    return with_sign(plus(entry(qrt_erf_values, place), plus(times(high, h), rest)), sign_of(x));
}

/* erfc |x|, or 2 - erfc |x| for negative x, in cells of 1/32. In float32 erfc is 0 from 10.06 on. */
QRT_INLINE doubles wide_erfc(doubles x) {
    const doubles near = least(magnitude(x), constant(10.125)), cell = nearest(times(near, constant(32.0)));
    const doubles c = times(cell, constant(1.0 / 32)), h = minus(near, c), rise = plus(error_series(c, h, 14), h);
    const indices place = index_of(cell);
    const doubles value = minus(entry(qrt_erfc_values, place), times(entry(qrt_erfc_slopes, place), rise));
    return choose_below(x, constant(0.0), minus(constant(2.0), value), value);
}

/* |r| is at most pi/4 and a bit. */
QRT_INLINE doubles near_sine(doubles r) {
    const doubles square = times(r, r);
    doubles far = plus(times(constant(0x1.952c77030ad4ap-49), square), constant(-0x1.ae7f3e733b81fp-41));
    far = plus(times(far, square), constant(0x1.6124613a86d09p-33));
    far = plus(times(far, square), constant(-0x1.ae64567f544e4p-26));
    far = plus(times(far, square), constant(0x1.71de3a556c734p-19));
    far = plus(times(far, square), constant(-0x1.a01a01a01a01ap-13));
    far = plus(times(far, square), constant(0x1.1111111111111p-7));
    far = plus(times(far, square), constant(-0x1.5555555555555p-3));
    return plus(times(far, times(square, r)), r);
}

QRT_INLINE doubles near_cosine(doubles r) {
    const doubles square = times(r, r);
    doubles far = plus(times(constant(0x1.ae7f3e733b81fp-45), square), constant(-0x1.93974a8c07c9dp-37));
    far = plus(times(far, square), constant(0x1.1eed8eff8d898p-29));
    far = plus(times(far, square), constant(-0x1.27e4fb7789f5cp-22));
    far = plus(times(far, square), constant(0x1.a01a01a01a01ap-16));
    far = plus(times(far, square), constant(-0x1.6c16c16c16c17p-10));
    far = plus(times(far, square), constant(0x1.5555555555555p-5));
    far = plus(times(far, square), constant(-0.5));
    return plus(times(far, square), constant(1.0));
}

/* The sine of r + quarter * pi/2. */
QRT_INLINE doubles sine_of(doubles r, indices quarter) {
    return with_sign(even(quarter, near_sine(r), near_cosine(r)), sign_of_quarter(quarter));
}

/* x = k * pi/2 + r, for 0 <= x <= QRT_LARGEST_ANGLE: the products with the first two parts of pi/2 are exact. */
QRT_INLINE doubles sine_from(doubles x, int quarters) {
    const doubles k = nearest(times(x, constant(QRT_TWO_OVER_PI)));
    const doubles first = minus(x, times(k, constant(QRT_HALF_PI_1)));
    const doubles second = minus(first, times(k, constant(QRT_HALF_PI_2)));
    return sine_of(minus(second, times(k, constant(QRT_HALF_PI_3))), add(index_of(k), same_index(quarters)));
}

QRT_INLINE doubles wide_sin(doubles x) {
    return with_sign(sine_from(magnitude(x), 0), sign_of(x));
}

QRT_INLINE doubles wide_cos(doubles x) {
    return sine_from(magnitude(x), 1);
}
