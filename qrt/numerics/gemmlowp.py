"""Fixed-point arithmetic of 32 bits as gemmlowp has it, on int64 arrays, and what TFLite computes with it."""

import numpy as np
import numpy.typing as npt

from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array

_LOW, _HIGH = -(1 << 31), (1 << 31) - 1
_SQUARE_BITS = 7
"""The bits by which squared_difference shifts its operands to the left."""


def doubling_high_multiply(a: npt.ArrayLike, b: npt.ArrayLike) -> Array:
    """``a * b / 2**31`` of 32-bit values, half away from zero but for negative ties, saturated.

    >>> doubling_high_multiply([3 << 29, -(1 << 31)], [1 << 30, -(1 << 31)]).tolist()
    [805306368, 2147483647]
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    nudged = product + np.where(product >= 0, 1 << 30, 1 - (1 << 30))
    # The division truncates: the nudge makes that a rounding.
    return np.minimum(np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31)), _HIGH)


def divide_by_power(x: npt.ArrayLike, exponent: npt.ArrayLike) -> Array:
    """``x / 2**exponent``, half away from zero; an exponent above 31 gives 0.

    >>> divide_by_power([5, -5, 6, 1], [1, 1, 2, 40]).tolist()
    [3, -3, 2, 0]
    """
    values, places = np.broadcast_arrays(np.asarray(x, np.int64), np.asarray(exponent, np.int64))
    right = np.minimum(places, 31)
    mask = (np.int64(1) << right) - 1
    threshold = (mask >> 1) + (values < 0)
    return np.where(places > 31, 0, (values >> right) + ((values & mask) > threshold))


def multiply_by_multiplier(x: npt.ArrayLike, multiplier: float) -> Array:
    """TFLite's product of 32-bit values with a real multiplier: a saturating shift to the left where that is above 1,
    then two roundings."""
    m0, shift = double_multiplier(multiplier)
    left = np.clip(np.asarray(x, np.int64) << max(shift, 0), _LOW, _HIGH)
    return divide_by_power(doubling_high_multiply(left, m0), max(-shift, 0))


def squared_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, sa: float, sb: float, so: float, zero_point: int, low: int, high: int
) -> Array:
    """Storage of ``(sa * a - sb * b)**2``, for ``a`` and ``b`` of at most 9 bits.

    Both are brought to twice the larger scale with 7 bits more; the square of the difference is scaled in turn.
    """
    twice = 2.0 * max(sa, sb)
    x, y = (multiply_by_multiplier(np.asarray(q, np.int64) << _SQUARE_BITS, s / twice) for q, s in ((a, sa), (b, sb)))
    square = multiply_by_multiplier((x - y) ** 2, twice * twice / ((1 << 2 * _SQUARE_BITS) * so))
    return np.asarray(np.clip(square + zero_point, low, high))


def reciprocal(x: npt.ArrayLike) -> tuple[Array, Array]:
    """``1 / x`` of positive 32-bit values as (M0, shift): ``M0 / 2**31 / 2**shift``, by three Newton steps."""
    values = np.asarray(x, np.int64)
    shift = np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1
    return one_over_one_plus((values << (31 - shift)) - (1 << 31)), shift


def one_over_one_plus(a: npt.ArrayLike) -> Array:
    """``1 / (1 + a)`` for ``a`` from 0 to 1; both have 31 fractional bits."""
    half = (np.asarray(a, np.int64) + _HIGH + 1) // 2
    x = 1515870810 + doubling_high_multiply(half, -1010580540)  # 48/17 - 32/17 * half, with 29 fractional bits
    for _ in range(3):
        rest = (1 << 29) - doubling_high_multiply(half, x)
        x = x + np.clip(doubling_high_multiply(x, rest) << 2, _LOW, _HIGH)
    return np.asarray(np.clip(x << 1, _LOW, _HIGH))


def quotient(
    a: npt.ArrayLike, b: npt.ArrayLike, sa: float, sb: float, so: float, zero_point: int, low: int, high: int
) -> Array:
    """Storage of ``sa * a / (sb * b)`` for 32-bit values; ``a / 0`` saturates by the sign of ``a``, and ``0 / 0`` is 0.

    ``a``, shifted to the left until it fills 32 bits, is multiplied by the reciprocal of ``b``, and the product by
    ``sa / (sb * so)``, which is formed in float32. Where the last shift, to the right, is by more than 31 places, as it
    is for most ``a`` near 0, TFLite's kernel shifts by their rest modulo 32 and adds 1 to what is not negative. So does
    this.
    """
    dividend, divisor = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    is_zero = divisor == 0
    dividend = np.where(divisor < 0, -dividend, dividend)
    inverse, bits = reciprocal(np.where(is_zero, 1, np.abs(divisor)))
    magnitude = np.where(dividend < 0, ~dividend, dividend)
    headroom = 31 - np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    whole = doubling_high_multiply(dividend << headroom, inverse)
    m0, shift = double_multiplier(float(np.float32(sa) / (np.float32(sb) * np.float32(so))))
    product, places = doubling_high_multiply(whole, m0), bits + headroom - shift
    scaled = np.where(places > 31, (product >> (places & 31)) + (product >= 0), divide_by_power(product, places))
    scaled = np.where(is_zero, np.sign(dividend) << 32, scaled)
    return np.asarray(np.clip(scaled + zero_point, low, high))
