"""Sums of floats that are exact, so that no order changes them: the same on every machine and for every layout."""

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError

Array = npt.NDArray[Any]

_PART = 1 << 20
"""Elements at a time: they stay in the cache, and sums of so many integers of 27 bits are exact in float64."""


def exact_sum(values: Array) -> Fraction:
    """The sum of finite float64 numbers.

    Each is an integer of 53 bits times a power of two. Integers are summed by exponent, in two halves.

    >>> exact_sum(np.array([1e16, 1.0, -1e16, 2.0**-60])) == 1 + Fraction(1, 2**60)
    True
    """
    total, flat = Fraction(0), values.reshape(-1)
    for start in range(0, flat.size, _PART):
        fraction, exponent = np.frexp(flat[start : start + _PART])
        least = int(exponent.min())
        scaled = np.ldexp(fraction, 27)
        high = np.trunc(scaled)
        halves = [np.bincount(exponent - least, half) for half in (high, np.ldexp(scaled - high, 26))]
        sums = zip(*(half.tolist() for half in halves), strict=True)
        integer = sum(((int(h) << 26) + int(low)) << place for place, (h, low) in enumerate(sums))
        total += Fraction(integer) * Fraction(2) ** (least - 53)
    return total


def require_finite(values: Array, what: str) -> None:
    """Refuses NaNs and infinities; the error names the first, and ``what`` is wrong."""
    finite = np.isfinite(values)
    if not finite.all():
        place = np.unravel_index(int(finite.argmin()), values.shape)
        where = f" at [{', '.join(map(str, place))}]" if place else ""
        raise QuantTypeError(f"{what} must be finite, got {float(values[place])}{where}")


def nearest_float(x: Fraction) -> float:
    """The float64 nearest to a rational; infinity beyond the largest."""
    try:
        return x.numerator / x.denominator
    except OverflowError:
        return float("inf") if x > 0 else float("-inf")
