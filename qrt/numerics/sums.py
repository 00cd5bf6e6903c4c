"""Exact sums of floats, quotients and roots that are rounded once, and ordered float32 sums.

Exact sums do not depend on the order of their elements. The orders of float32 sums are those of ONNX Runtime's pools.
All results are the same on every machine.
"""

import math
from collections.abc import Sequence
from fractions import Fraction
from math import isqrt
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics import double_double

Array = npt.NDArray[Any]

_PART = 1 << 20
"""The number of elements summed at a time: they stay in the cache, and sums of 27-bit integers are exact in float64."""

_FEW = 16
"""The number of multiples up to which they are rounded one by one."""

_FAR = 480
"""The bound of exponents, positive or negative, for which squares neither overflow float64 nor lose bits to underflow.

For other numbers this holds after their exponents are changed by 2 * _FAR.
"""


def exact_sum(values: Array) -> Fraction:
    """Return the exact sum of finite float64 numbers.

    >>> exact_sum(np.array([1e16, 1.0, -1e16, 2.0**-60])) == 1 + Fraction(1, 2**60)
    True
    """
    return exact_sums(values.reshape(-1, 1))[0]


def exact_sums(rows: Array) -> list[Fraction]:
    """Return the exact sum of each column of finite float64 numbers.

    A float64 is a 53-bit integer times a power of two; the integers of each power are summed, in two halves.

    >>> exact_sums(np.array([[1e16, 1.0], [0.25, 2.0]]))
    [Fraction(40000000000000001, 4), Fraction(3, 1)]
    """
    columns = rows.shape[1]
    totals = [Fraction(0)] * columns
    step = max(_PART // max(columns, 1), 1)
    for start in range(0, len(rows), step):
        fraction, exponent = np.frexp(rows[start : start + step])
        least = int(exponent.min())
        places = int(exponent.max()) - least + 1
        bins = (exponent - least + places * np.arange(columns)).reshape(-1)
        scaled = np.ldexp(fraction, 27)
        high = np.trunc(scaled)
        halves = [
            np.bincount(bins, half.reshape(-1), columns * places).reshape(columns, places).tolist()
            for half in (high, np.ldexp(scaled - high, 26))
        ]
        for column, sums in enumerate(zip(*halves, strict=True)):
            halves_by_place = enumerate(zip(*sums, strict=True))
            integer = sum(((int(h) << 26) + int(low)) << place for place, (h, low) in halves_by_place if h or low)
            totals[column] += Fraction(integer) * Fraction(2) ** (least - 53)
    return totals


def square_sum(values: Array) -> Fraction:
    """Return the exact sum of the squares of finite float64 numbers, where each square is first rounded to 53 bits.

    Squares neither overflow nor underflow. The results for parts of an array add up to the result for the whole.

    >>> square_sum(np.array([3.0, 2.0**-700, -(2.0**700)])) == 9 + Fraction(1, 2**1400) + 2**1400
    True
    """
    flat = values.reshape(-1)
    exponent = np.frexp(flat)[1]
    large, small = exponent > _FAR, exponent < -_FAR
    if not (large | small).any():
        return exact_sum(flat * flat)
    total = Fraction(0)
    for chosen, shift in ((~(large | small), 0), (large, -2 * _FAR), (small, 2 * _FAR)):
        scaled = np.ldexp(flat[chosen], shift)
        total += exact_sum(scaled * scaled) * Fraction(4) ** -shift
    return total


def require_finite(values: Array, what: str) -> None:
    """Raise QuantTypeError if an element is NaN or infinite.

    The message begins with ``what``, and names the first such element and its position.
    """
    finite = np.isfinite(values)
    if not finite.all():
        place = np.unravel_index(int(finite.argmin()), values.shape)
        where = f" at [{', '.join(map(str, place))}]" if place else ""
        raise QuantTypeError(f"{what} must be finite, got {float(values[place])}{where}")


def nearest_float(x: Fraction) -> float:
    """Return the float64 nearest to a rational; infinity if it exceeds the largest float64."""
    return rounded_quotient(x.numerator, x.denominator)


def rounded_quotient(numerator: int, denominator: int) -> float:
    """Return ``numerator / denominator`` rounded once to nearest even; infinity if it exceeds the largest float64."""
    try:
        return numerator / denominator
    except OverflowError:
        return math.inf if numerator > 0 else -math.inf


def rounded_root(numerator: int, denominator: int) -> float:
    """Return ``sqrt(numerator / denominator)`` of a nonnegative quotient, rounded once to nearest even."""
    shift = max(0, 64 + (denominator.bit_length() - numerator.bit_length() + 1) // 2)
    quotient, rest = divmod(numerator << 2 * shift, denominator)
    root = isqrt(quotient)
    # At least 60 bits of the root, and one that says whether more follow: the division then rounds as the root does.
    more = rest != 0 or root * root != quotient
    return rounded_quotient(2 * root + more, 2 << shift)


def rounded_multiples(numbers: Array, ratios: Sequence[Fraction], which: Array, root: bool) -> Array:
    """Return ``numbers * ratios[which]``, or its square root if ``root``, rounded once to float64.

    ``numbers`` are integers, ``which`` has the index of a positive ratio for each of them.

    >>> rounded_multiples(np.array([1, 7]), [Fraction(1, 3)], np.array([0, 0]), False).tolist()
    [0.3333333333333333, 2.3333333333333335]
    """
    flat, places, rounded = numbers.ravel(), which.ravel(), rounded_root if root else rounded_quotient
    values: Array = np.empty(flat.size)
    unsure: Sequence[int] = range(flat.size)
    if flat.size > _FEW and flat.dtype != object and _are_ordinary(flat, ratios):
        values, unsure = _by_pairs(flat, ratios, places, root)
    for i in unsure:
        ratio = ratios[places[i]]
        values[i] = rounded(int(flat[i]) * ratio.numerator, ratio.denominator)
    return values.reshape(numbers.shape)


def _are_ordinary(numbers: Array, ratios: Sequence[Fraction]) -> bool:
    """Return True if double-double arithmetic is accurate for these numbers: all are far from float64's limits."""
    far = Fraction(2) ** 400
    return all(1 / far < ratio < far for ratio in ratios) and int(np.abs(numbers).max()) < 1 << 62


def _by_pairs(numbers: Array, ratios: Sequence[Fraction], which: Array, root: bool) -> tuple[Array, Sequence[int]]:
    """Return (values, positions at which the last bit is uncertain), computed in double-double arithmetic.

    The relative error of this arithmetic is below 2**-85.
    """
    high = numbers.astype(np.float64)
    value = high, (numbers - high.astype(np.int64)).astype(np.float64)
    first, second = double_double.table([double_double.pair_of(ratio) for ratio in ratios])
    value = double_double.multiply(value, (first[which], second[which]))
    is_zero = numbers == 0
    if root:
        value = double_double.sqrt((np.where(is_zero, 1.0, value[0]), np.where(is_zero, 0.0, value[1])))
    high, low = value
    error = np.abs(high) * 2.0**-85
    is_sure = ((high + (low + error) == high) & (high + (low - error) == high)) | is_zero
    return np.where(is_zero, 0.0, high), np.flatnonzero(~is_sure).tolist()


LANES: Final = 4


def sum_in_order(windows: Array, order: str) -> Array:
    """Return the sums of float32 windows [..., rows, columns], whose elements are added in a named order.

    "rows" adds element by element in row-major order, "columns" first adds up each column, and "lanes" adds four
    interleaved partial sums. The elements of a window must not all be -0.

    >>> window = np.array([[1e8, 1.0, 1.0], [-1e8, 1.0, 1.0]], np.float32)
    >>> [float(sum_in_order(window, order)) for order in ("rows", "columns", "lanes")]
    [2.0, 4.0, 2.0]
    """
    return _ORDERS[order](windows)


def _flat(windows: Array) -> Array:
    return windows.reshape(*windows.shape[:-2], windows.shape[-2] * windows.shape[-1])


def _sum_of_rows(windows: Array) -> Array:
    return _added(_flat(windows), -1)


def _sum_of_columns(windows: Array) -> Array:
    return _added(_added(windows, -2), -1)


def _sum_of_lanes(windows: Array) -> Array:
    flat = _flat(windows)
    whole = flat.shape[-1] // LANES * LANES
    total = np.zeros(flat.shape[:-1], flat.dtype)
    if whole:
        lanes = _added(flat[..., :whole].reshape(*flat.shape[:-1], whole // LANES, LANES), -2)
        total = (lanes[..., 0] + lanes[..., 2]) + (lanes[..., 1] + lanes[..., 3])
    return _added(np.concatenate([total[..., np.newaxis], flat[..., whole:]], axis=-1), -1)


def _added(values: Array, axis: int) -> Array:
    return np.asarray(np.add.accumulate(values, axis=axis, dtype=values.dtype).take(-1, axis=axis))


_ORDERS = {"rows": _sum_of_rows, "columns": _sum_of_columns, "lanes": _sum_of_lanes}
