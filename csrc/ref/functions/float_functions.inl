/* Functions of float32 in float64, with an error of about one unit of float64: what they round to in float32 is the
 * exact result rounded, but for results that lie within that error of the middle between two floats.
 * `python -m tests.kernels.float_functions` compares all floats with `qrt.numerics`; there are none left.
 *
 * The including file gives the ports: `doubles`, and as many floats and integers of 32 bits, `halves` and `indices`; and
 * the functions below of them. So ref and the vectors of an ISA compute the same operations in the same order.
 *
 *   constant, plus, minus, times, over, nearest (whole, half to even), magnitude, sign_of (a zero of the sign), with_sign
 *   (of the magnitude, exclusive or), least(a, b) and most(a, b), which are b where a is a NaN
 *   same_index, index_of (of whole doubles), doubles_of, add, subtract, and_bits, shift_left, shift_right (with the sign)
 *   entry(table, index), power_of_two(index), even(index, a, b): a where the index is even, sign_of_quarter(index): a
 *   zero whose sign is bit 1 of the index
 *   bits_of(halves), halves_of(indices), widened(halves) */
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

/* e^y - 1 of -40 <= y <= QRT_FARTHEST, with a small relative error: 2^(z / 32) - 1 is exact, but for the low part of the
 * power. */
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

/* A normal positive number is 2^k * m, where m is between 0.69 and 1.38. In its cell, r = m * inverse - 1 is exact and
 * at most 2^-7, and log(m) = log(1 + r) - log(inverse). The cell around 1 has the inverse 1, so that results near 0 keep
 * their relative error. `scale` is added to k. */
QRT_INLINE doubles wide_log(halves x, indices scale) {
    const indices bits = bits_of(x), from_first = subtract(bits, same_index(QRT_FIRST_LOG_CELL));
    const indices k = shift_right(from_first, 23);
    const indices cell = and_bits(shift_right(from_first, 16), same_index(QRT_LOG_CELLS - 1));
    const doubles m = widened(halves_of(subtract(bits, shift_left(k, 23))));
    const doubles r = minus(times(m, entry(qrt_log_inverses, cell)), constant(1.0)), square = times(r, r);
    const doubles octave = doubles_of(add(k, scale));
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

/* erf(c + h), where c is a multiple of 1/16: the series of erf around c is erf(c) + erf'(c) * (h + a2 h^2 + ...), whose
 * coefficients follow from erf''(x) = -2x erf'(x). In float32 erf is 1 from 3.92 on. */
QRT_INLINE doubles wide_erf(doubles x) {
    const doubles near = least(magnitude(x), constant(4.0)), cell = nearest(times(near, constant(16.0)));
    const doubles c = times(cell, constant(1.0 / 16)), h = minus(near, c);
    doubles before = constant(1.0), last = minus(constant(0.0), c), power = times(h, h), sum = times(last, power);
    const indices place = index_of(cell);
#define TERM(n)                                                                                                        \
    {                                                                                                                  \
        const doubles next = times(plus(times(c, last), times(constant((n - 2.0) / (n - 1.0)), before)),               \
                                   constant(-2.0 / n));                                                                \
        before = last, last = next, power = times(power, h), sum = plus(sum, times(last, power));                      \
    }
    TERM(3) TERM(4) TERM(5) TERM(6) TERM(7) TERM(8) TERM(9) TERM(10) TERM(11) TERM(12)
#undef TERM
    const doubles rise = times(entry(qrt_erf_slopes, place), plus(sum, h));
    return with_sign(plus(entry(qrt_erf_values, place), rise), sign_of(x));
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
