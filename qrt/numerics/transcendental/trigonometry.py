"""Functions sin, cos, tan and their inverses, in double-double arithmetic.

Tables have sines at each 1024th of a turn, and arctangents of multiples of 1/256. For the remainder there is a short
series, whose leading terms are double-doubles. Relative errors stay below 2^-70. A pair is a double-double (high, low).
"""

from fractions import Fraction
from functools import cache, partial
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
    negated,
    normalized,
    parts,
    polynomial,
    scaled,
    select,
    sqrt,
    table,
    times,
    two_sum,
)
from qrt.numerics.elements import choose

LARGEST_ANGLE = 2.0**19
"""The largest angle that is reduced here; `exact` computes functions of larger ones."""
_STEPS = 1024
_CANCELLED = 2.0**-40
"""The magnitude below which a remainder has lost too many bits to cancellation."""


@cache
def _pi() -> Pair:
    return constant(enclosures.pi)


def _half_pi() -> Pair:
    return scaled(_pi(), 0.5)


# -- sine and cosine ---------------------------------------------------------------------------------------------------


@cache
def _steps_of_pi() -> list[float]:
    """Return ``pi / 512`` as a sum of five floats.

    The first four have 26 bits, so that their products with integers of 27 bits are exact; the fifth is the remainder.
    """
    return parts(fraction(enclosures.pi, 200) / (_STEPS // 2), 33, 59, 85, 111)


@cache
def _sines() -> Pair:
    """Return double-doubles of the sines of j / 1024 turns, for j from 0 to 1279: a turn and a quarter.

    The cosine of j / 1024 turns is ``sines[j + 256]``.
    """
    quarter = _STEPS // 4
    rising = [(0.0, 0.0), *(constant(_sine(Fraction(j, quarter))) for j in range(1, quarter)), (1.0, 0.0)]
    falling = rising[-2::-1]
    half = rising + falling[:-1]
    turn = half + [negated(pair) for pair in half]
    return table(turn + half[:quarter])


def _sine(quarters: Fraction) -> Any:
    """Return a function from a number of bits to bounds of ``sin(quarters * pi / 2)``."""

    def enclosure(bits: int) -> enclosures.Bounds:
        low, high = (angle * quarters / 2 for angle in enclosures.pi(bits))
        return enclosures.sin(low, bits)[0], enclosures.sin(high, bits)[1]

    return enclosure


def _reduced(x: Any) -> tuple[Any, Pair]:
    """Return (k, remainder): the nearest 1024th of a turn to an angle, and the rest as a double-double.

    The remainder is NaN if cancellation has left too few bits.
    """
    k = np.rint(x * (_STEPS / 2 / _pi()[0]))
    first, *others, last = _steps_of_pi()
    high, low = x - k * first, 0.0 * x
    for part in others:
        high, error = two_sum(high, -k * part)
        low = low + error
    high, low = two_sum(high, low - k * last)
    lost = (abs(high) < _CANCELLED) & (k != 0)
    return k.astype(np.int64), (choose(lost, np.nan, high), low)


def _sine_and_cosine(x: Any) -> tuple[Pair, Pair]:
    k, r = _reduced(x)
    rr = multiply(r, r)
    sine = add(r, (r[0] * rr[0] * polynomial(rr[0], -1 / 6, 1 / 120, -1 / 5040, 1 / 362880), 0.0))
    half = scaled(rr, -0.5)
    versine = normalized(half[0], half[1] + rr[0] * rr[0] * polynomial(rr[0], 1 / 24, -1 / 720, 1 / 40320))
    high, low = _sines()
    j = k & (_STEPS - 1)
    s, c = (high[j], low[j]), (high[j + _STEPS // 4], low[j + _STEPS // 4])
    return (
        add(s, add(multiply(s, versine), multiply(c, sine))),
        add(c, add(multiply(c, versine), negated(multiply(s, sine)))),
    )


def sin(x: Any) -> Pair:
    return _sine_and_cosine(x)[0]


def cos(x: Any) -> Pair:
    return _sine_and_cosine(x)[1]


def tan(x: Any) -> Pair:
    return divide(*_sine_and_cosine(x))


# -- arctangent --------------------------------------------------------------------------------------------------------

_CENTRES = 256


@cache
def _arctangents() -> Pair:
    steps = (Fraction(j, _CENTRES) for j in range(_CENTRES + 1))
    return table(constant(partial(enclosures.atan, x)) if x else (0.0, 0.0) for x in steps)


def _angle(y: Pair, x: Pair) -> Pair:
    """Return the angle of the point (x, y) in the first quadrant as a double-double; x and y are double-doubles."""
    is_steep = y[0] > x[0]
    near, far = select(is_steep, x, y), select(is_steep, y, x)
    j = np.rint(near[0] / far[0] * _CENTRES)
    c = j / _CENTRES
    t = divide(add(near, negated(times(far, c))), add(far, times(near, c)))
    tt = t[0] * t[0]
    series = add(t, (t[0] * tt * polynomial(tt, -1 / 3, 1 / 5, -1 / 7, 1 / 9, -1 / 11), 0.0))
    high, low = _arctangents()
    j = j.astype(np.int64)
    angle = add((high[j], low[j]), series)
    return select(is_steep, add(_half_pi(), negated(angle)), angle)


def _turned(angle: Pair, is_left: Any) -> Pair:
    """Return ``pi - angle`` where ``is_left`` is true, else ``angle``, as a double-double."""
    return select(is_left, add(_pi(), negated(angle)), angle)


def _other_side(x: Any) -> Pair:
    """Return ``sqrt(1 - x^2)`` as a double-double."""
    return sqrt(multiply(two_sum(1.0, -x), two_sum(1.0, x)))


def atan(x: Any) -> Pair:
    return _angle((clamped(x, 0.0, 2.0**200), 0.0), (1.0, 0.0))


def asin(x: Any) -> Pair:
    return _angle((x, 0.0), _other_side(x))


def acos(x: Any) -> Pair:
    return _turned(_angle(_other_side(x), (abs(x), 0.0)), x < 0)


def atan2(y: Any, x: Any) -> Pair:
    """Return the angle of the point (x, y) as a double-double.

    The magnitudes of x and y may differ by a factor of up to 2**300.
    """
    high, low = _turned(_angle((abs(y), 0.0), (abs(x), 0.0)), x < 0)
    sign = np.copysign(1.0, y)
    return high * sign, low * sign
