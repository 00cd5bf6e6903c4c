"""Exponentials, logarithms, and functions made of them, in double-double arithmetic.

``exp(x)`` is ``2**(k / 256) * exp(r)`` with |r| below 2^-9.5. ``log(x)`` is ``k log(2) - log(c) + log1p(m c - 1)``,
where ``x = m * 2**k`` and ``c`` is near ``1 / m`` and so short that ``m c - 1`` is exact (Tang, "Table-driven
implementation of the exponential function", 1989, and "... of the logarithm function", 1990). The leading terms of each
series are double-doubles, the others float64: relative errors stay below 2^-72.

A pair is a double-double (high, low). A result (high, low, exponent) is ``(high + low) * 2**exponent``.
"""

from fractions import Fraction
from functools import cache, partial
from math import isqrt
from typing import Any

import numpy as np

from qrt.numerics import enclosures
from qrt.numerics.double_double import (
    Pair,
    add,
    clamped,
    constant,
    divide,
    fraction,
    multiply,
    normalized,
    pair_of,
    parts,
    polynomial,
    power_of_two,
    scaled,
    select,
    sqrt,
    square,
    table,
    times,
    two_sum,
)
from qrt.numerics.elements import choose

ONE = (1.0, 0.0)
_STEPS = 256
"""The number of tabulated powers of two: their exponents are in steps of ``1 / _STEPS``."""
_SATURATED = 2000.0
"""A number whose ``exp`` overflows all formats, and the ``exp`` of whose negative rounds to zero."""
_LEAST_SHIFT = -400
"""The exponent of two that replaces lower ones: beside 1, the power is lost to rounding in any case."""
_LARGE = 2.0**40
"""The least x from which ``x * x + 1`` and ``x * x - 1`` can be replaced by ``x * x`` without changing a result."""


@cache
def _log_two() -> Pair:
    return constant(enclosures.log_two)


@cache
def _inverse_logs() -> dict[int, Pair]:
    return {base: pair_of(1 / enclosures.log(Fraction(base), 160)[0]) for base in (2, 10)}


# -- exponentials ------------------------------------------------------------------------------------------------------


@cache
def _powers_of_two() -> Pair:
    """Return double-doubles of ``2**(j / 256)`` for j from 0 to 255: an array of high and one of low parts.

    ``2**(1 / 256)`` is computed by eight successive square roots and the others as its powers, in integers of 320 bits.
    """
    bits = 320
    root = 2 << bits
    for _ in range(8):
        root = isqrt(root << bits)
    power, pairs = 1 << bits, []
    for _ in range(_STEPS):
        pairs.append(pair_of(Fraction(power, 1 << bits)))
        power = power * root >> bits
    return table(pairs)


@cache
def _steps_of_log_two() -> list[float]:
    """Return ``log(2) / 256`` as a sum of three floats.

    The first two have 32 bits, so that their products with integers of 21 bits are exact; the third is the remainder.
    """
    return parts(fraction(enclosures.log_two, 160) / _STEPS, 40, 72)


def _exp_of_rest(r: Pair) -> Pair:
    """Return ``exp(r) - 1`` as a double-double, for a double-double with |r| below 2^-9."""
    half_square = multiply(r, scaled(r, 0.5))
    tail = half_square[0] * r[0] * polynomial(r[0], 1 / 3, 1 / 12, 1 / 60, 1 / 360, 1 / 2520)
    return add(r, normalized(half_square[0], half_square[1] + tail))


def _scale_of(k: Any) -> tuple[Any, Pair]:
    """Return ``2**(k / 256)`` for a whole float64 k, as an exponent of two and a double-double."""
    k = k.astype(np.int64)
    high, low = _powers_of_two()
    return k >> 8, (high[k & 255], low[k & 255])


def _exp_parts(x: Pair) -> tuple[Any, Pair, Pair]:
    """Return (e, t, p) with ``exp(x) = 2**e * t * (1 + p)`` for |x| up to 2^11; x, t and p are double-doubles."""
    k = np.rint(x[0] * (_STEPS / _log_two()[0]))
    first, second, third = _steps_of_log_two()
    high, low = two_sum(x[0] - k * first, -k * second)
    exponent, t = _scale_of(k)
    return exponent, t, _exp_of_rest(two_sum(high, low + (x[1] - k * third)))


def exp_of(x: Pair) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with ``exp(x) = (high + low) * 2**exponent``, for a double-double x."""
    exponent, t, p = _exp_parts(x)
    return *add(t, multiply(t, p)), exponent


def exp(x: Any) -> tuple[Any, Any, Any]:
    return exp_of((clamped(x, -_SATURATED, _SATURATED), 0.0))


def exp2(x: Any) -> tuple[Any, Any, Any]:
    x = clamped(x, -_SATURATED, _SATURATED)
    k = np.rint(x * _STEPS)
    exponent, t = _scale_of(k)
    p = _exp_of_rest(times(_log_two(), x - k / _STEPS))
    return *add(t, multiply(t, p)), exponent


def _expm1_of(x: Any) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with ``exp(x) - 1 = (high + low) * 2**exponent``.

    1 is subtracted from the tabulated power of two; the subtraction is exact if the power is near 1.
    """
    exponent, t, p = _exp_parts((x, 0.0))
    one = power_of_two(-clamped(exponent, _LEAST_SHIFT, 1000))
    return *add(add(t, (-one, 0.0)), multiply(t, p)), exponent


def expm1(x: Any) -> tuple[Any, Any, Any]:
    high, low, exponent = _expm1_of(clamped(x, -100.0, _SATURATED))
    return choose(x == 0, x, high), low, exponent  # keeps the sign of zero


def _small_expm1(x: Any) -> Pair:
    """Return ``exp(x) - 1`` as a double-double, for x from 0 to 100."""
    high, low, exponent = _expm1_of(x)
    return scaled((high, low), power_of_two(exponent))


def sinh(x: Any) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with ``sinh(x) = (high + low) * 2**exponent``, for positive x.

    The result is half of ``e (1 + 1 / (e + 1))`` with ``e = exp(x) - 1``, or for large x half of ``exp(x)``.
    """
    high, low, exponent = exp_of((clamped(x, -_SATURATED, _SATURATED), 0.0))
    e = _small_expm1(clamped(x, 0.0, 50.0))
    near = add(e, divide(e, add(e, ONE)))
    is_near = x < 50.0
    high, low = select(is_near, near, (high, low))
    return high, low, choose(is_near, np.int64(0), exponent) - 1


def cosh(x: Any) -> tuple[Any, Any, Any]:
    high, low, exponent = exp_of((clamped(abs(x), 0.0, _SATURATED), 0.0))
    shift = -2 * clamped(exponent, 0, 200)
    return *add((high, low), scaled(divide(ONE, (high, low)), power_of_two(shift))), exponent - 1


def tanh(x: Any) -> Pair:
    e = _small_expm1(2 * clamped(x, 0.0, 50.0))
    return divide(e, add(e, (2.0, 0.0)))


# -- logarithms --------------------------------------------------------------------------------------------------------

_LEAST_CENTRE, _GREATEST_CENTRE = 361, 726  # sqrt(1/2) and sqrt(2), of 512ths


@cache
def _reciprocals() -> tuple[Any, Pair]:
    """Return, for each multiple m of 1/512 from sqrt(1/2) to sqrt(2), a reciprocal c of 13 bits, and ``-log(c)``.

    The logarithms are double-doubles: an array of high and one of low parts.
    """
    short = [Fraction(round(Fraction(512 << 13, i)), 1 << 13) for i in range(_LEAST_CENTRE, _GREATEST_CENTRE + 1)]
    logs = [(0.0, 0.0) if c == 1 else constant(partial(enclosures.log, 1 / c)) for c in short]
    return np.array([float(c) for c in short]), table(logs)


def log_of(x: Pair) -> Pair:
    """Return the natural logarithm of a positive double-double as a double-double."""
    lifted = x[0] < 2.0**-1000
    factor = choose(lifted, 2.0**600, 1.0)
    high, low = x[0] * factor, x[1] * factor
    bits = high.view(np.int64)
    k = (bits - _HALF_ROOT_BITS) >> 52  # m is from sqrt(1/2) to sqrt(2)
    m = (bits - (k << 52)).view(np.float64)
    low = low * power_of_two(-clamped(k, -1000, 1000))
    i = np.rint(m * 512.0).astype(np.int64) - _LEAST_CENTRE
    reciprocals, (log_high, log_low) = _reciprocals()
    c = reciprocals[i]
    upper = (m.view(np.int64) & ~((1 << 27) - 1)).view(np.float64)  # both products are exact, and the difference
    high, rest = two_sum(upper * c - 1.0, (m - upper) * c)
    high, error = two_sum(high, low * c)
    r = normalized(high, error + rest)
    log_two = _log_two()
    exponent = times(log_two, k - choose(lifted, 600.0, 0.0))
    return add(add(exponent, (log_high[i], log_low[i])), _log1p_of_rest(r))


_HALF_ROOT_BITS = int(np.float64(enclosures.sqrt(Fraction(1, 2), 60)[0]).view(np.int64))
_THIRD = pair_of(Fraction(1, 3))


def _log1p_of_rest(r: Pair) -> Pair:
    """Return ``log(1 + r)`` as a double-double, for a double-double with |r| below 2^-9."""
    r2 = multiply(r, r)
    r3 = multiply(multiply(r2, r), _THIRD)
    tail = r2[0] * r2[0] * polynomial(r[0], -1 / 4, 1 / 5, -1 / 6, 1 / 7, -1 / 8, 1 / 9)
    return add(add(r, scaled(r2, -0.5)), normalized(r3[0], r3[1] + tail))


def log(x: Any) -> Pair:
    return log_of((x, 0.0))


def log2(x: Any) -> Pair:
    return multiply(log(x), _inverse_logs()[2])


def log10(x: Any) -> Pair:
    return multiply(log(x), _inverse_logs()[10])


def _log1p_of(x: Pair) -> Pair:
    """Return ``log(1 + x)`` as a double-double, for a double-double x."""
    high, low = two_sum(1.0, x[0])
    return log_of(normalized(high, low + x[1]))


def log1p(x: Any) -> Pair:
    high, low = _log1p_of((x, 0.0))
    return choose(x == 0, x, high), low  # keeps the sign of zero


def asinh(x: Any) -> Pair:
    """Return ``asinh(x)`` as a double-double, for positive x.

    The result is ``log(1 + (x + x^2 / (1 + sqrt(x^2 + 1))))``, or for large x ``log(2 x)``.
    """
    near = choose(x < _LARGE, x, 1.0)
    xx = square(near)
    inner = add((near, 0.0), divide(xx, add(ONE, sqrt(add(xx, ONE)))))
    return _log_or_double(x, inner)


def acosh(x: Any) -> Pair:
    """Return ``acosh(x)`` as a double-double.

    The result is ``log(1 + (u + sqrt(u (u + 2))))`` with ``u = x - 1``, or for large x ``log(2 x)``.
    """
    u = two_sum(choose(x < _LARGE, x, 2.0), -1.0)
    return _log_or_double(x, add(u, sqrt(multiply(u, add(u, (2.0, 0.0))))))


def _log_or_double(x: Any, inner: Pair) -> Pair:
    is_large = x >= _LARGE
    high, low = two_sum(1.0, inner[0])
    near = normalized(high, low + inner[1])
    log_two = _log_two()
    doubled = choose(is_large, log_two[0], 0.0), choose(is_large, log_two[1], 0.0)
    return add(doubled, log_of(select(is_large, (x, 0.0), near)))


def atanh(x: Any) -> Pair:
    """Return ``atanh(x)`` as a double-double: half of ``log(1 + 2 x / (1 - x))``."""
    return scaled(_log1p_of(divide((2 * x, 0.0), two_sum(1.0, -x))), 0.5)


# -- powers ------------------------------------------------------------------------------------------------------------


def power(x: Any, y: Pair) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with ``x ** y = (high + low) * 2**exponent``, for x > 0 and a double-double y."""
    high, low = multiply(log(x), y)
    return exp_of(select(abs(high) < _SATURATED, (high, low), (np.copysign(_SATURATED, high), 0.0)))


def cbrt(x: Any) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with the cube root ``(high + low) * 2**exponent`` of a positive number.

    Halley's iteration starts from a guess that divides the exponent by three; a Newton step follows.
    """
    lifted = x < 2.0**-1000
    bits = (x * choose(lifted, 2.0**600, 1.0)).view(np.int64)
    k = ((bits >> 52) - 1023) // 3
    m = (bits - (3 * k << 52)).view(np.float64)  # from 1 to 8
    y = (m.view(np.int64) // 3 + _TWO_THIRDS_OF_ONE).view(np.float64)
    for _ in range(3):
        cube = y * y * y
        y = y * ((cube + (m + m)) / (cube + cube + m))
    cube_high, cube_low = times(square(y), y)
    return *normalized(y, -((cube_high - m) + cube_low) / (3 * y * y)), k - choose(lifted, np.int64(200), np.int64(0))


_TWO_THIRDS_OF_ONE = 2 * (1023 << 52) // 3
"""An integer: a number's bits divided by three, plus this, are the bits of its cube root within 6 %."""
