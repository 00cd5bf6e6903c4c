"""Conversion of real multipliers to an integer multiplier and a shift."""

from collections.abc import Sequence
from fractions import Fraction
from math import prod
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from qrt.errors import QuantTypeError
from qrt.numerics.rounding import round_integral

Array = npt.NDArray[Any]

ADD_FRACTION_BITS: Final = 20
_DOUBT: Final = 2.0**-14
"""The distance of M0's float64 estimate from a tie below which its rounding is uncertain.

Each of the few operations of the estimate is off by at most 2**-22 of a unit of M0.
"""


def fixed_multiplier(multiplier: Fraction) -> tuple[int, int]:
    """Return (M0, N) with ``M0 / 2**N`` nearest to ``multiplier`` and M0 in [2**30, 2**31).

    >>> fixed_multiplier(Fraction(1))
    (1073741824, 30)
    >>> fixed_multiplier(Fraction(1, 3))
    (1431655765, 32)
    """
    if multiplier <= 0:
        raise QuantTypeError(f"a requantization multiplier must be positive, got {multiplier}")
    shift = 31 - (multiplier.numerator.bit_length() - multiplier.denominator.bit_length())
    scaled = _scaled(multiplier, shift)
    if scaled >= 1 << 31:
        shift, scaled = shift - 1, scaled / 2
    m0 = round(scaled)  # of a Fraction: half to even, exactly
    return (m0 >> 1, shift - 1) if m0 == 1 << 31 else (m0, shift)


def _scaled(value: Fraction, shift: int) -> Fraction:
    return value * (1 << shift) if shift >= 0 else value / (1 << -shift)


def fixed_multipliers(numerators: Array, denominators: Array) -> tuple[Array, Array]:
    """Return arrays of ``fixed_multiplier`` (M0, N), one for each row's ratio of numerators to denominators.

    The ratio is the exact product of the row's numerators over that of its denominators. A float64 estimate determines
    (M0, N), except near a tie, where exact fractions do.

    >>> fixed_multipliers(np.array([[0.5, 2.0], [1.0, 1.0]]), np.array([[1.0], [3.0]]))
    (array([1073741824, 1431655765]), array([30, 32]))
    """
    estimate, exponent = np.ones(len(numerators)), np.zeros(len(numerators), np.int64)
    with np.errstate(all="ignore"):
        for factors, sign in ((numerators, 1), (denominators, -1)):
            fractions, exponents = np.frexp(factors)
            exponent += sign * exponents.sum(axis=1, dtype=np.int64)
            for column in fractions.T:
                estimate = estimate * column if sign > 0 else estimate / column
        fraction, own = np.frexp(estimate)
        scaled = np.ldexp(fraction, 31)
        rounded = np.rint(scaled)
        sure = np.abs(np.abs(scaled - rounded) - 0.5) > _DOUBT * max(numerators.shape[1] + denominators.shape[1], 1)
        m0, shift = np.where(sure, rounded, 0).astype(np.int64), 31 - exponent - own
    carried = m0 == 1 << 31
    m0, shift = np.where(carried, m0 >> 1, m0), np.where(carried, shift - 1, shift)
    usable = sure & (estimate > 0) & (estimate < np.inf)
    for i in np.flatnonzero(~usable):
        m0[i], shift[i] = fixed_multiplier(exact_ratio(numerators[i].tolist(), denominators[i].tolist()))
    return m0, shift


def exact_ratio(numerators: Sequence[float], denominators: Sequence[float]) -> Fraction:
    """Return the exact product of the numerators divided by the exact product of the denominators; all are doubles."""
    # Integers are multiplied and reduced once: fractions that are multiplied are reduced each time.
    above = [x.as_integer_ratio() for x in numerators]
    below = [x.as_integer_ratio() for x in denominators]
    return Fraction(
        prod(n for n, _ in above) * prod(d for _, d in below), prod(d for _, d in above) * prod(n for n, _ in below)
    )


def shared_fixed_multipliers(multipliers: Sequence[Fraction]) -> tuple[list[int], int]:
    """Return (list of M0, N) with ``M0 / 2**N`` near each multiplier. The largest multiplier determines N.

    A sum of products with these M0 can be shifted by N with a single rounding.
    """
    shift = fixed_multiplier(max(multipliers))[1]
    return [round(_scaled(m, shift)) for m in multipliers], shift


def rounded_ratios(numerators: Array, denominators: Array, dtype: type[np.floating[Any]]) -> Array:
    """Return each row's product of numerators divided by its denominators, in a float format.

    Every factor is rounded to the format, and so is every step; the product of the numerators comes first.

    >>> rounded_ratios(np.array([[0.5, 2.0]]), np.array([[3.0]]), np.float32)
    array([0.33333334], dtype=float32)
    """
    ratio = np.ones(len(numerators), dtype)
    with np.errstate(all="ignore"):
        for column in numerators.T:
            ratio = ratio * column.astype(dtype)
        for column in denominators.T:
            ratio = ratio / column.astype(dtype)
    outside = np.flatnonzero(~((ratio > 0) & (ratio < np.inf)))
    if outside.size:
        i = int(outside[0])
        raise QuantTypeError(
            f"the scale product {' * '.join(map(str, numerators[i].tolist()))} / "
            f"{' / '.join(map(str, denominators[i].tolist()))} "
            f"{'underflows' if ratio[i] == 0 else 'overflows'} {np.dtype(dtype).name}: use requant = 'fixed'"
        )
    return ratio


def double_multipliers(multipliers: Array, rule: str = "fixed_double") -> tuple[Array, Array]:
    """Return (M0, shift) of TFLite's ``QuantizeMultiplier``: ``multiplier = M0 / 2**31 * 2**shift``.

    A positive shift is to the left. M0 is rounded half away from zero. A multiplier that needs a right shift of more
    than 31 places becomes (0, 0). ``rule`` is named in error messages.

    >>> double_multipliers(np.array([0.75, 2.0**-40]))
    (array([1610612736,          0]), array([0, 0]))
    """
    if not np.isfinite(multipliers).all():
        raise QuantTypeError(f"requant = '{rule}' needs a multiplier below 2**30, got one that is not finite")
    fraction, exponent = np.frexp(np.asarray(multipliers, np.float64))
    m0, shift = round_integral(np.ldexp(fraction, 31), "half_away").astype(np.int64), exponent.astype(np.int64)
    carried = m0 == 1 << 31
    m0, shift = np.where(carried, m0 >> 1, m0), np.where(carried, shift + 1, shift)
    if (shift > 30).any():
        largest = float(np.max(multipliers))
        raise QuantTypeError(f"requant = '{rule}' needs a multiplier below 2**30, got {largest}")
    small = shift < -31
    return np.where(small, 0, m0), np.where(small, 0, shift)


def double_multiplier(multiplier: float) -> tuple[int, int]:
    """Return ``double_multipliers`` of a single multiplier.

    >>> double_multiplier(0.75)
    (1610612736, 0)
    """
    m0, shift = double_multipliers(np.array([multiplier]))
    return int(m0[0]), int(shift[0])


def divided_multipliers(m0: Array, shift: Array, counts: Array) -> tuple[Array, Array]:
    """Return (M0, shift) of multipliers divided by counts, as TFLite's reference kernel of MEAN computes them.

    M0 is shifted left by `floor(log2(count))`, but by at most 32 and so that the new shift is at least -31. It is then
    divided by the count, truncating.

    >>> divided_multipliers(np.array([1 << 30]), np.array([0]), np.array([6]))
    (array([715827882]), array([-2]))
    """
    counts = np.asarray(counts, np.int64)
    places = np.minimum(np.minimum(np.frexp(counts.astype(np.float64))[1] - 1, 32), 31 + shift)
    return (m0 << places) // counts, shift - places


def reduced_multipliers(m0: Array, shift: Array) -> tuple[Array, Array]:
    """Return (M0, N) of the rule ``fixed`` with M0 of 15 significant bits, as TFLite scales 64-bit accumulators.

    TFLite's multiplier has only 15 bits, and the result represents the same multiplier. Because kernels require N >=
    31, the 15 bits are the top bits of M0, and N is TFLite's shift plus 16.

    >>> reduced_multipliers(np.array([1431655765]), np.array([-1]))
    (array([1431633920]), array([32]))
    """
    return np.minimum((m0 + (1 << 15)) >> 16, 0x7FFF) << 16, 31 - shift


def byte_multipliers(ratios: Array) -> tuple[Array, Array]:
    """Return (M0, N) of the rule ``fixed`` with N = 8 for each ratio of scales, as XNNPACK converts 8-bit storage.

    >>> byte_multipliers(np.float32([0.5]))
    (array([128]), array([8]))
    """
    outside = ratios[~((ratios >= 2.0**-8) & (ratios <= 2.0**7))]
    if outside.size:
        raise QuantTypeError(
            "requant = 'fixed8' needs the scale of the operand divided by that of the result in [2**-8, 2**7], got "
            f"{outside[0]}"
        )
    m0 = np.rint(np.ldexp(ratios.astype(np.float64), 8)).astype(np.int64)
    return m0, np.full(m0.shape, 8)


def add_multiplier(operand_scale: float, result_scale: float) -> int:
    """Return ``operand_scale / result_scale * 2**20``, rounded half to even: a multiplier of ``add`` and ``sub``."""
    return round(Fraction(operand_scale) / Fraction(result_scale) * (1 << ADD_FRACTION_BITS))
