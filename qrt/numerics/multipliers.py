"""Real multipliers as integers and a shift."""

from collections.abc import Sequence
from fractions import Fraction
from typing import Final

import numpy as np

from qrt.errors import QuantTypeError
from qrt.numerics.rounding import round_integral

ADD_FRACTION_BITS: Final = 20


def fixed_multiplier(multiplier: Fraction) -> tuple[int, int]:
    """(M0, N) with ``M0 / 2**N`` nearest to ``multiplier`` and M0 in [2**30, 2**31).

    >>> fixed_multiplier(Fraction(1))
    (1073741824, 30)
    >>> fixed_multiplier(Fraction(1, 3))
    (1431655765, 32)
    """
    if multiplier <= 0:
        raise QuantTypeError(f"requantization multiplier must be positive, got {multiplier}")
    shift = 31 - (multiplier.numerator.bit_length() - multiplier.denominator.bit_length())
    scaled = _scaled(multiplier, shift)
    if scaled >= 1 << 31:
        shift, scaled = shift - 1, scaled / 2
    m0 = round(scaled)  # of a Fraction: half to even, exactly
    return (m0 >> 1, shift - 1) if m0 == 1 << 31 else (m0, shift)


def _scaled(value: Fraction, shift: int) -> Fraction:
    return value * (1 << shift) if shift >= 0 else value / (1 << -shift)


def shared_fixed_multipliers(multipliers: Sequence[Fraction]) -> tuple[list[int], int]:
    """(M0 of each, N): one shared N, chosen by the largest multiplier, for sums of products with one rounding."""
    shift = fixed_multiplier(max(multipliers))[1]
    return [round(_scaled(m, shift)) for m in multipliers], shift


def double_multiplier(multiplier: float) -> tuple[int, int]:
    """(M0, shift) of TFLite's ``QuantizeMultiplier``: ``multiplier = M0 / 2**31 * 2**shift``; a positive shift is to
    the left.

    M0 is rounded half away from zero. A multiplier that needs more than 31 places to the right is 0.

    >>> double_multiplier(0.75)
    (1610612736, 0)
    """
    fraction, exponent = np.frexp(multiplier)
    m0 = int(round_integral(float(fraction) * 2.0**31, "half_away"))
    if m0 == 1 << 31:
        m0, exponent = m0 >> 1, exponent + 1
    if exponent < -31:
        return 0, 0
    if exponent > 30:
        raise QuantTypeError(f"requant = 'fixed_double' needs a multiplier below 2**30, got {multiplier}")
    return m0, int(exponent)


def add_multiplier(operand_scale: float, result_scale: float) -> int:
    """Operand scale over result scale with 20 fractional bits, half to even: the multiplier of ``add`` and ``sub``."""
    return round(Fraction(operand_scale) / Fraction(result_scale) * (1 << ADD_FRACTION_BITS))
