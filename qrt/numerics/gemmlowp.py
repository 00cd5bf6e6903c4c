"""gemmlowp's fixed-point arithmetic on int64 arrays, and the functions that TFLite computes with it.

Numbers have 32 bits; in functions with the parameter ``bits`` they may have 16.
"""

import numpy as np
import numpy.typing as npt

from qrt.numerics.elements import broadcast_arrays
from qrt.numerics.multipliers import double_multiplier
from qrt.numerics.rounding import Array, round_integral

_LOW, _HIGH = -(1 << 31), (1 << 31) - 1
_SQUARE_BITS = 7
"""The bits by which squared_difference shifts its operands to the left."""


def saturate(x: npt.ArrayLike, bits: int = 32) -> Array:
    """Clamp integers of any magnitude to the range of signed integers of ``bits`` bits, and return int64."""
    values = np.asarray(x)
    wide = values if values.dtype == object else values.astype(np.int64)
    return np.asarray(np.clip(wide, -(1 << (bits - 1)), (1 << (bits - 1)) - 1), np.int64)


def doubling_high_multiply(a: npt.ArrayLike, b: npt.ArrayLike, bits: int = 32) -> Array:
    """Return ``a * b / 2**(bits - 1)``, rounded half up and saturated.

    gemmlowp adds a nudge that depends on the sign, and truncates. The result is rounded half up, as by NEON's vqrdmulh.

    >>> doubling_high_multiply([3 << 29, -(1 << 31)], [1 << 30, -(1 << 31)]).tolist()
    [805306368, 2147483647]
    """
    product = np.asarray(a, np.int64) * np.asarray(b, np.int64)
    half = 1 << (bits - 2)
    return np.asarray(np.minimum((product + half) >> (bits - 1), 2 * half - 1))


def divide_by_power(x: npt.ArrayLike, exponent: npt.ArrayLike) -> Array:
    """Return ``x / 2**exponent``, rounded half away from zero; an exponent above 31 gives 0.

    >>> divide_by_power([5, -5, 6, 1], [1, 1, 2, 40]).tolist()
    [3, -3, 2, 0]
    """
    values, places = broadcast_arrays(np.asarray(x, np.int64), np.asarray(exponent, np.int64))
    right = np.minimum(places, 31)
    mask = (np.int64(1) << right) - 1
    threshold = (mask >> 1) + (values < 0)
    return np.where(places > 31, 0, (values >> right) + ((values & mask) > threshold))


def multiply_by_multiplier(x: npt.ArrayLike, multiplier: float) -> Array:
    """Multiply 32-bit values by a real multiplier as TFLite does.

    If the multiplier is above 1, values are first shifted left, with saturation. The product and the final right shift
    are each rounded.
    """
    return scale_fixed_double(x, *double_multiplier(multiplier))


def shifted_high_multiply(x: npt.ArrayLike, m0: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """Return ``doubling_high_multiply`` of ``x`` and M0, after a saturating left shift of ``x`` where ``shift`` > 0.

    ``x`` may have any magnitude.
    """
    left = np.clip(np.asarray(shift, np.int64), 0, 31)
    return doubling_high_multiply(saturate(saturate(x) << left), m0)


def scale_fixed_double(x: npt.ArrayLike, m0: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """Return ``x * M0 / 2**31 * 2**shift`` by the rule ``fixed_double``, before the zero point and the clamp."""
    return divide_by_power(shifted_high_multiply(x, m0, shift), np.maximum(-np.asarray(shift, np.int64), 0))


def scale_half_up_twice(x: npt.ArrayLike, m0: npt.ArrayLike, shift: npt.ArrayLike) -> Array:
    """Return ``scale_fixed_double`` with the last shift rounded half up, as NEON's vrshl does."""
    right = np.maximum(-np.asarray(shift, np.int64), 0)
    half = (np.int64(1) << right) >> 1
    return np.asarray((shifted_high_multiply(x, m0, shift) + half) >> right)


def squared_difference(
    a: npt.ArrayLike, b: npt.ArrayLike, sa: float, sb: float, so: float, zero_point: int, low: int, high: int
) -> Array:
    """Return the storage of ``(sa * a - sb * b)**2 / so``, for ``a`` and ``b`` of at most 9 bits.

    ``a`` and ``b`` are stored values minus their zero points. Both are shifted left by 7 bits and rescaled to twice the
    larger scale; the square of their difference is rescaled to ``so``.
    """
    twice = 2.0 * max(sa, sb)
    x, y = (multiply_by_multiplier(np.asarray(q, np.int64) << _SQUARE_BITS, s / twice) for q, s in ((a, sa), (b, sb)))
    square = multiply_by_multiplier((x - y) ** 2, twice * twice / ((1 << 2 * _SQUARE_BITS) * so))
    return np.asarray(np.clip(square + zero_point, low, high))


def reciprocal(x: npt.ArrayLike) -> tuple[Array, Array]:
    """Return ``1 / x`` of positive 32-bit integers as (M0, shift): ``M0 / 2**31 / 2**shift``.

    M0 is computed by three Newton steps.
    """
    values = np.asarray(x, np.int64)
    shift = np.frexp(values.astype(np.float64))[1].astype(np.int64) - 1
    return one_over_one_plus((values << (31 - shift)) - (1 << 31)), shift


def inverse_root(values: npt.ArrayLike) -> tuple[Array, Array]:
    """Return ``1 / sqrt(x)`` of integers from 1 to 2^31 - 1 as (M0, right): ``M0 / 2**31 / 2**right``.

    M0 is computed by five Newton steps.

    >>> m0, right = inverse_root([1, 4, 100])
    >>> [round(float(m), 4) for m in m0 / 2.0**31 / 2.0**right]
    [1.0, 0.5, 0.1]
    """
    given = np.asarray(values, np.int64)
    is_large = given >= 1 << 29
    x = np.where(is_large, given >> 2, given)
    pairs = (31 - np.frexp(x.astype(np.float64))[1].astype(np.int64)) // 2 - 1
    right = 11 + is_large - pairs
    m0 = _inverse_root_of(x << 2 * pairs) << np.maximum(-right, 0)
    is_one = given <= 1
    return np.where(is_one, (1 << 31) - 1, m0), np.where(is_one, 0, np.maximum(right, 0))


def _inverse_root_of(values: Array) -> Array:
    """Return ``sqrt(1/2) / sqrt(x)`` for numbers x from 1/4 to 1 with 29 fractional bits.

    Newton's method takes five steps from 1, with three integer bits.
    """
    half, three_halves = divide_by_power(values >> 1, 1), (1 << 28) + (1 << 27)
    x = np.full(values.shape, 1 << 28, np.int64)
    for _ in range(5):
        cube = saturate(doubling_high_multiply(doubling_high_multiply(x, x), x) << 6)
        x = saturate((doubling_high_multiply(three_halves, x) - doubling_high_multiply(half, cube)) << 3)
    return doubling_high_multiply(x, 1518500250)


def one_over_one_plus(a: npt.ArrayLike, bits: int = 32) -> Array:
    """Return ``1 / (1 + a)`` for ``a`` from 0 to 1; both have ``bits - 1`` fractional bits."""
    return saturate(twice_reciprocal(a, bits) << 1, bits)


def twice_reciprocal(a: npt.ArrayLike, bits: int = 32) -> Array:
    """Return ``2 / (1 + a)`` with ``bits - 3`` fractional bits, for ``a`` from 0 to 1 with ``bits - 1`` of them."""
    half = (np.asarray(a, np.int64) + (1 << (bits - 1))) // 2
    # 48/17 - 32/17 * half, with two integer bits
    x = constant(1515870810, bits) + doubling_high_multiply(half, constant(-1010580540, bits), bits)
    for _ in range(3):
        rest = (1 << (bits - 3)) - doubling_high_multiply(half, x, bits)
        x = x + saturate(doubling_high_multiply(x, rest, bits) << 2, bits)
    return x


def constant(value: int, bits: int) -> int:
    """Return a 32-bit fixed-point constant converted to ``bits`` bits: the low-order bits are rounded off."""
    return int(divide_by_power(value, 32 - bits))


def quotient(
    a: npt.ArrayLike, b: npt.ArrayLike, sa: float, sb: float, so: float, zero_point: int, low: int, high: int
) -> Array:
    """Return the storage of ``sa * a / (sb * b) / so`` for 32-bit values minus their zero points.

    ``a / 0`` saturates by the sign of ``a``, and ``0 / 0`` is 0.

    ``a`` is shifted to the left until it fills 32 bits, and multiplied by the reciprocal of ``b``. The product is
    multiplied by ``sa / (sb * so)``, which is formed in float32. The last shift may be to the right by more than 31
    places, as for most ``a`` near 0, or by fewer than 0, as for large multipliers. TFLite's kernel then shifts by the
    number of places modulo 32 and adds 1 to nonnegative results. So does this function.
    """
    dividend, divisor = broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    is_zero = divisor == 0
    dividend = np.where(divisor < 0, -dividend, dividend)
    inverse, bits = reciprocal(np.where(is_zero, 1, np.abs(divisor)))
    magnitude = np.where(dividend < 0, ~dividend, dividend)
    headroom = 31 - np.frexp(magnitude.astype(np.float64))[1].astype(np.int64)
    whole = doubling_high_multiply(dividend << headroom, inverse)
    m0, shift = double_multiplier(float(np.float32(sa) / (np.float32(sb) * np.float32(so))))
    product, places = doubling_high_multiply(whole, m0), bits + headroom - shift
    is_wrapped = (places < 0) | (places > 31)
    wrapped = (product >> (places & 31)) + (product >= 0)
    scaled = np.where(is_wrapped, wrapped, divide_by_power(product, np.maximum(places, 0)))
    scaled = np.where(is_zero, np.sign(dividend) << 32, scaled)
    return np.asarray(np.clip(scaled + zero_point, low, high))


def nearest_quotient(
    a: npt.ArrayLike, b: npt.ArrayLike, sa: float, sb: float, so: float, zero_point: int, low: int, high: int
) -> Array:
    """Return the storage of ``a / b * (sa / sb) / so``, computed in float64 and rounded half away from zero.

    ``a / 0`` saturates by the sign of ``a``, and ``0 / 0`` is 0.

    >>> int(nearest_quotient(1, 2, 0.5, 0.25, 2.0, 3, -128, 127))
    4
    """
    dividend, divisor = broadcast_arrays(np.asarray(a, np.float64), np.asarray(b, np.float64))
    with np.errstate(divide="ignore", invalid="ignore", over="ignore", under="ignore"):
        real = dividend / np.abs(divisor) * (np.float64(sa) / np.float64(sb)) / np.float64(so)
    real = np.where(dividend == 0, 0.0, np.where(divisor < 0, -real, real))
    scaled = round_integral(np.clip(real, -(2.0**33), 2.0**33), "half_away")
    return np.asarray(np.clip(scaled.astype(np.int64) + zero_point, low, high))
