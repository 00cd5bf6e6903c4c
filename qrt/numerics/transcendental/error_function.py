"""Error functions erf and erfc in double-double arithmetic.

``erfc(x)`` is ``exp(-x^2) w(x)`` with a function w that falls slowly from 1, and is expanded in Taylor series around
multiples of 1/16. ``erf(x)`` is ``1 - erfc(x)``, or a series if x is small. Relative errors stay below 2^-70.
"""

from fractions import Fraction
from functools import cache
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.numerics import enclosures
from qrt.numerics.double_double import (
    Pair,
    add,
    clamped,
    constant,
    fraction,
    multiply,
    negated,
    normalized,
    pair_of,
    polynomial,
    power_of_two,
    scaled,
    select,
    square,
    times,
)
from qrt.numerics.elements import choose
from qrt.numerics.transcendental.exponentials import ONE, exp_of

_STEPS = 16
_CENTRES = 28 * _STEPS + 1
"""The number of centres, from 0 to 28: beyond, ``erfc`` is below all positive numbers of float64."""
_TERMS = 14
_PAIRS = 4
"""The number of leading terms that are double-doubles."""
_SERIES_END = 1 / 16


def _slope(bits: int) -> enclosures.Bounds:
    """Return two bounds of the slope of erf at zero, ``2 / sqrt(pi)``, computed with ``bits`` bits."""
    low, high = enclosures.pi(bits)
    return 2 / enclosures.sqrt(high, bits)[1], 2 / enclosures.sqrt(low, bits)[0]


@cache
def _slope_at_zero() -> Pair:
    return constant(_slope)


@cache
def _expansions() -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
    """Return the Taylor coefficients of w about each centre, as arrays [term, centre] of high and of low parts.

    w is the factor of ``erfc(x) = exp(-x^2) w(x)``, and the centres are multiples of 1/16. By ``w' = 2 x w - 2 /
    sqrt(pi)`` all coefficients at a centre follow from w at this centre. w at a centre is the sum of the series of the
    next larger centre. The largest centre is 36, where w is taken as 0. The error of that start vanishes long before
    the centres that are used, because it shrinks by a factor from each centre to the next smaller one.
    """
    one, terms = 1 << 256, 40
    slope = int(fraction(_slope, 256) * one)
    rows, value = [], 0
    for centre in range(36 * _STEPS, -1, -1):
        row = [value, 2 * centre * value // _STEPS - slope]
        for n in range(1, terms):
            row.append((2 * centre * row[n] // _STEPS + 2 * row[n - 1]) // (n + 1))
        if centre < _CENTRES:
            rows.append([pair_of(Fraction(coefficient, one)) for coefficient in row[:_TERMS]])
        value = sum(coefficient * (-1) ** n // _STEPS**n for n, coefficient in enumerate(row))
    both = np.array(rows[::-1]).transpose(2, 1, 0)
    return np.ascontiguousarray(both[0]), np.ascontiguousarray(both[1])


def _factor(x: Any) -> Pair:
    """Return the factor w of ``erfc(x) = exp(-x^2) w(x)`` as a double-double, for x from 0 to 28."""
    k = np.rint(x * _STEPS)
    d = x - k / _STEPS
    high, low = _expansions()
    k = k.astype(np.int64)
    tail = polynomial(d, *(column[k] for column in high[_PAIRS:]))
    total: Pair = (tail, 0.0)
    for n in reversed(range(_PAIRS)):
        total = add((high[n][k], low[n][k]), times(total, d))
    return total


def _tail(x: Any) -> tuple[Pair, Any]:
    """Return ((high, low), exponent) with ``erfc(x) = (high + low) * 2**exponent``, for nonnegative x."""
    high, low, exponent = exp_of(negated(square(clamped(x, 0.0, 40.0))))
    return multiply((high, low), _factor(clamped(x, 0.0, 28.0))), exponent


def _complement(x: Any) -> Pair:
    """Return ``erfc(x)`` as a double-double for x from 0 to 8; for larger x return ``erfc(8)``."""
    tail, exponent = _tail(clamped(x, 0.0, 8.0))
    return scaled(tail, power_of_two(exponent))


def erf(x: Any) -> tuple[Any, Any, Any]:
    """Return (high, low, exponent) with ``erf(x) = (high + low) * 2**exponent``, for positive x."""
    tiny = x < 2.0**-500
    small = choose(x < _SERIES_END, x * choose(tiny, 2.0**500, 1.0), _SERIES_END)
    xx = square(choose(tiny, 0.0, small))
    third = multiply(xx, _MINUS_THIRD)
    tail = xx[0] * xx[0] * polynomial(xx[0], 1 / 10, -1 / 42, 1 / 216, -1 / 1320, 1 / 9360)
    series = times(multiply(add(ONE, normalized(third[0], third[1] + tail)), _slope_at_zero()), small)
    high, low = select(x < _SERIES_END, series, add(ONE, negated(_complement(x))))
    return high, low, choose(tiny, np.int64(-500), np.int64(0))


_MINUS_THIRD = pair_of(Fraction(-1, 3))


def erfc(x: Any) -> tuple[Any, Any, Any]:
    tail, exponent = _tail(abs(x))
    is_left = x < 0
    high, low = select(is_left, add((2.0, 0.0), negated(_complement(abs(x)))), tail)
    return high, low, choose(is_left, np.int64(0), exponent)
