"""gemmlowp's functions of fixed-point numbers: exponential, logistic, hyperbolic tangent and logarithm.

A fixed-point number has ``bits`` bits (16 or 32): a sign, integer bits and fractional bits. If a result has ``bits -
1`` fractional bits, its largest integer represents 1. Arrays are int64, and each step saturates to ``bits`` bits.

Source: gemmlowp's fixed-point numbers, and TFLite's kernels for the logarithm.
"""

from typing import Final

import numpy as np

from qrt.numerics.gemmlowp import (
    constant,
    divide_by_power,
    doubling_high_multiply,
    one_over_one_plus,
    saturate,
    twice_reciprocal,
)
from qrt.numerics.rounding import Array

_EIGHTHS: Final = ((-2, 1672461947), (-1, 1302514674), (0, 790015084), (1, 290630308), (2, 39332535), (3, 720401),
                   (4, 242))  # fmt: skip
"""Pairs of n and of ``exp(-2**n)`` with 31 fractional bits."""
_EXP_OF_MINUS_EIGHTH: Final = 1895147668
_THIRD: Final = 715827883


def exp_on_negative_values(a: Array, integer_bits: int, bits: int = 32) -> Array:
    """Return ``exp(a)`` with ``bits - 1`` fractional bits, for ``a <= 0`` with ``integer_bits`` integer bits."""
    fraction = bits - 1 - integer_bits
    quarter = np.int64(1) << (fraction - 2)
    rest = (a & (quarter - 1)) - quarter  # -1/4 <= rest < 0
    result = _exp_above_minus_quarter(saturate(rest << integer_bits, bits), bits)
    whole = rest - a
    for exponent, factor in _EIGHTHS:
        if integer_bits > exponent:
            is_set = (whole >> (fraction + exponent)) & 1
            result = np.where(is_set == 1, doubling_high_multiply(result, constant(factor, bits), bits), result)
    if integer_bits > 5:
        result = np.where(a < -(np.int64(32) << fraction), 0, result)
    return np.where(a == 0, _one(bits), result)


def _exp_above_minus_quarter(a: Array, bits: int) -> Array:
    """Return ``exp(a)`` for -1/4 <= a < 0 by a Taylor polynomial around -1/8.

    The argument and the result have ``bits - 1`` fractional bits.
    """
    x = a + (np.int64(1) << (bits - 4))
    x2 = doubling_high_multiply(x, x, bits)
    x3, x4 = doubling_high_multiply(x2, x, bits), doubling_high_multiply(x2, x2, bits)
    last = doubling_high_multiply(divide_by_power(x4, 2) + x3, constant(_THIRD, bits), bits) + x2
    base = constant(_EXP_OF_MINUS_EIGHTH, bits)
    result = base + doubling_high_multiply(x + divide_by_power(last, 1), base, bits)
    return saturate(result, bits) if bits == 16 else result


def logistic(a: Array, integer_bits: int, bits: int = 32) -> Array:
    """Return the logistic function with ``bits - 1`` fractional bits, for ``a`` with ``integer_bits`` integer bits."""
    positive = one_over_one_plus(exp_on_negative_values(np.minimum(a, -a), integer_bits, bits), bits)
    return np.where(a == 0, np.int64(1) << (bits - 2), np.where(a > 0, positive, _one(bits) - positive))


def tanh(a: Array, integer_bits: int, bits: int = 32) -> Array:
    """Return the hyperbolic tangent with ``bits - 1`` fractional bits, for ``a`` with ``integer_bits`` integer bits."""
    exp = exp_on_negative_values(np.minimum(a, -a), integer_bits + 1, bits)
    two = twice_reciprocal(exp, bits) - (np.int64(1) << (bits - 3))
    magnitude = saturate(two << 2, bits)
    return np.where(a == 0, 0, np.where(a < 0, -magnitude, magnitude))


def _one(bits: int) -> int:
    return (1 << (bits - 1)) - 1


def log_at_least_one(x: Array, integer_bits: int, result_bits: int) -> Array:
    """Return the logarithm of 32-bit fixed-point numbers ``x >= 1``, as 32-bit fixed-point numbers.

    ``x`` has ``integer_bits`` integer bits, and the result has ``result_bits``. The result is ``log(2)`` times the
    nearest quarter of a power of two, plus a rational function of the rest.
    """
    accumulated = result_bits + 1
    quarter = divide_by_power(np.int64(1) << 29, accumulated)
    above = 32 - _bit_length(x)  # leading zeros
    lowered = doubling_high_multiply(x, _SQRT_HALF)
    headroom = 31 - _bit_length(lowered)
    rest = saturate(doubling_high_multiply(saturate(x << (above - 1), 32), _SQRT_HALF) << 1, 32)
    r = np.minimum(rest, saturate(x << headroom, 32))
    unit = 31 - accumulated
    exponent = np.maximum(
        saturate(saturate((integer_bits - above) << unit, 32) + quarter, 32),
        saturate(saturate((integer_bits - headroom) << unit, 32) - quarter, 32),
    )
    p = r + _FOURTH_ROOT_OF_HALF
    p = (p + np.where(p >= 0, 1, 0)) >> 1
    q = 2 * (r - _FOURTH_ROOT_OF_HALF)
    square = doubling_high_multiply(q, q)
    above = doubling_high_multiply(q, r) + doubling_high_multiply(doubling_high_multiply(q, square), _ALPHA_N)
    inner = _ALPHA_I + q + doubling_high_multiply(square, _ALPHA_D)
    below = one_over_one_plus(doubling_high_multiply(p, inner) + doubling_high_multiply(q, _ALPHA_F))
    share = doubling_high_multiply(divide_by_power(above, accumulated), below)
    return saturate((doubling_high_multiply(exponent, _LOG_2) + share) << 1, 32)


_LOG_2, _SQRT_HALF, _FOURTH_ROOT_OF_HALF = 1488522236, 1518500250, 1805811301
_ALPHA_N, _ALPHA_D, _ALPHA_I, _ALPHA_F = 117049297, 127690142, 1057819769, 638450708


def _bit_length(x: Array) -> Array:
    """Return the bit lengths of positive integers below 2**53."""
    return np.frexp(x.astype(np.float64))[1].astype(np.int64)
