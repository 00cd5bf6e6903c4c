"""Interpolated tables of 513 entries for functions of 16-bit values, and the exponentials of qrt's softmax.

The low 7 bits of a value interpolate between two entries. The exponentials are computed only with integers.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final

import numpy as np

from qrt.numerics.enclosures import Bounds, rounded, series
from qrt.numerics.rounding import Array, round_integral

SOFTMAX_FRACTION_BITS: Final = 30


@lru_cache(maxsize=64)
def softmax_table(scale: float, beta: float) -> Array:
    """Return ``exp(-beta * scale * d)`` for d from 0 to 255 with 30 fractional bits: int32, read-only.

    Each entry is correctly rounded.
    """
    step = Fraction(beta) * Fraction(scale)
    table = np.array([negative_exponential(step * d, SOFTMAX_FRACTION_BITS) for d in range(256)], np.int32)
    table.flags.writeable = False
    return table


def softmax(
    q: Array, axis: int, table: Array, scale: float, zero_point: int, storage_min: int, storage_max: int
) -> Array:
    """Return the softmax along ``axis`` of stored values of at most 8 bits, as storage.

    The result is ``half_even(table[d] / (S * scale)) + zp``, clamped, with ``d = max(q) - q`` and S the exact sum of
    ``table[d]``. The product and the quotient are in float64.
    """
    if q.size == 0:
        return q.astype(np.int64)
    values = q.astype(np.int64)
    entries = table.astype(np.int64)[values.max(axis=axis, keepdims=True) - values]
    with np.errstate(over="ignore"):
        scaled = entries.astype(np.float64) / (entries.sum(axis=axis, keepdims=True).astype(np.float64) * scale)
    integral = np.clip(round_integral(scaled, "half_even"), storage_min - zero_point, storage_max - zero_point)
    return np.asarray(integral.astype(np.int64) + zero_point)


def negative_exponential(x: Fraction, bits: int) -> int:
    """Return ``exp(-x) * 2**bits`` for nonnegative x and at least 3 bits, rounded to the nearest integer.

    Bounds of ``exp(x)`` are narrowed until both round to one integer. This terminates, because ``exp`` of a rational
    other than 0 is irrational, and so never half way between two integers (Lindemann).

    >>> negative_exponential(Fraction(1), 30)
    395007542
    """
    if x > bits:
        return 0  # exp(-bits) * 2**bits is below 0.74**bits, and that below a half

    def exponential(precision: int) -> Bounds:
        return series(lambda n: (x.numerator, x.denominator * n), precision)

    return -rounded(exponential, lambda bound: -round((1 << bits) / bound), 2 * bits + 32)


INTERPOLATED_BITS: Final = 7
"""Number of low bits of a value that interpolate between two entries."""
_INTERVALS: Final = 1 << (16 - INTERPOLATED_BITS)


def interpolated_table(
    function: Callable[[Array], Array],
    low: float,
    high: float,
    least: float,
    most: float,
    dtype: type[np.floating[Any]],
) -> Array:
    """Return 513 equidistant int16 entries of a function from ``low`` to ``high``, for interpolation.

    The unit of the entries is ``(most - least) / 2**16``. Each entry is moved by half of the error that linear
    interpolation has in the middle of the next interval. Every step is computed in ``dtype``.
    """
    step = dtype(dtype(high) - dtype(low)) / dtype(_INTERVALS)
    units = dtype(65536) / (dtype(most) - dtype(least))
    at = dtype(low) + np.arange(_INTERVALS, dtype=dtype) * step
    value, middle, following = (
        np.asarray(function(x.astype(dtype)), dtype) * units
        for x in (at, at + step / 2, dtype(low) + (np.arange(1, _INTERVALS + 1, dtype=dtype)) * step)
    )
    sample = round_integral(value, "half_away")
    interpolated = round_integral((following + sample.astype(dtype)) / dtype(2), "half_away")
    bias = round_integral((interpolated - round_integral(middle, "half_away")) / 2, "half_away")
    last = round_integral(np.asarray(function(np.array([high], dtype)), dtype) * units, "half_away")
    table: Array = np.clip(np.concatenate([sample - bias, last]), -32768, 32767).astype(np.int16)
    table.flags.writeable = False
    return table


def lookup_interpolated(q: Array, table: Array, bits: int = INTERPOLATED_BITS) -> Array:
    """Return 16-bit values interpolated in a table of 513 entries.

    The upper bits of a value choose an entry; its low ``bits`` are the fraction of the way to the next entry. The
    result is rounded half up.
    """
    values, entries = q.astype(np.int64) + (1 << 15), table.astype(np.int64)
    base = entries[values >> bits]
    slope = entries[(values >> bits) + 1] - base
    return np.asarray(base + ((slope * (values & ((1 << bits) - 1)) + ((1 << bits) >> 1)) >> bits))
