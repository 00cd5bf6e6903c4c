"""Integer values with exact rational scales, in the body of a linear region before the requantization at its end.

The sum of two values gets the largest scale that divides both scales. If one scale is the float64 nearest to the other,
both are treated as equal, as for the scale of a bias (`ops.accumulate.bias_is_direct`). An integer that would not fit
64 bits is first rounded half up to a coarser scale, and the rounding is reported.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import gcd, lcm

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I64
from qrt.ir.passes.lower_qrt.requantize import round_shift, scale_fixed_exactly

MOST = 1 << 62
"""The bound of the magnitudes of integers: below it, adding a rounding term does not overflow."""
_ROUNDED = 1 << 30
"""The greatest magnitude of integers that are rounded to a coarser scale."""
Report = Callable[[str], None]


@dataclass(frozen=True)
class Exact:
    """A real number or tensor: the i64 integers `value` times their scales, or, for a constant, the number `known`.

    `scales` has one scale, or one for each index of `axis`. If `value` is a tensor, `axis` is one of its axes; if it is
    a scalar in a loop nest, `axis` is the number of a loop. `bounds` has, for each scale, the greatest magnitude of its
    integers, so that channels with small integers need not be rounded like those with large ones. A constant has None
    as `value`.
    """

    value: Value | None
    scales: tuple[Fraction, ...]
    bounds: tuple[int, ...]
    axis: int | None = None
    known: Fraction | None = None

    @property
    def bound(self) -> int:
        """The greatest magnitude of the integers of all scales."""
        return max(self.bounds)


def number(value: Fraction) -> Exact:
    """Return the constant ``value`` as an `Exact`."""
    return Exact(None, (abs(value) or Fraction(1),), (int(value != 0),), None, value)


def divisor(numbers: Sequence[Fraction]) -> Fraction:
    """Return the largest number of which all given numbers are integer multiples.

    >>> divisor([Fraction(1, 2), Fraction(1, 3)])
    Fraction(1, 6)
    """
    below = lcm(*(value.denominator for value in numbers))
    return Fraction(gcd(*(int(value * below) for value in numbers)), below)


@dataclass(frozen=True)
class Arithmetic:
    """A builder of exact integer arithmetic on scalars in the body of a loop nest."""

    nest: LoopNest
    report: Report

    def value(self, x: Exact) -> Value:
        """Return the i64 integer of a scalar.

        The integer of a constant is its sign, because its scale is its magnitude.
        """
        if x.value is not None:
            return x.value
        return self.nest.constant(((x.known or 0) > 0) - ((x.known or 0) < 0), I64)

    def multiplied(self, a: Exact, b: Exact) -> Exact:
        """Return the product `a * b`. A constant factor changes only the scale and the sign of the other factor."""
        if a.known is not None and b.known is not None:
            return number(a.known * b.known)
        if a.known is not None or a.bound == 0:
            a, b = b, a
        if b.known is not None:
            scaled = replace(a, scales=tuple(s * (abs(b.known) or 1) for s in a.scales))
            return scaled if b.known > 0 else number(Fraction(0)) if b.known == 0 else self.negated(scaled)
        while a.bound * b.bound >= MOST:
            a, b = (self.coarser(a, _ROUNDED), b) if a.bound >= b.bound else (a, self.coarser(b, _ROUNDED))
        axis, left, right = _together(a, b)
        products = self.nest.value("arith.muli", (self.value(a), self.value(b)), I64)
        scales = tuple(s * t for s, t in zip(left, right, strict=True))
        bounds = tuple(m * n for m, n in zip(*(_spread(x.bounds, len(scales)) for x in (a, b)), strict=True))
        return Exact(products, scales, bounds, axis)

    def negated(self, a: Exact) -> Exact:
        """Return `-a`."""
        if a.known is not None:
            return number(-a.known)
        return replace(a, value=self.nest.value("arith.subi", (self.nest.constant(0, I64), self.value(a)), I64))

    def added(self, a: Exact, b: Exact) -> Exact:
        """Return the sum `a + b`, with the largest scale that divides both scales.

        If this sum could overflow, both terms are first rounded to 30 bits.
        """
        if a.known is not None and b.known is not None:
            return number(a.known + b.known)
        if b.bound == 0 or a.bound == 0:
            return a if b.bound == 0 else b
        axis, left, right = _together(a, b)
        left, right = (tuple(map(_as_the_other, *pair)) for pair in ((left, right), (right, left)))
        common = tuple(divisor(pair) for pair in zip(left, right, strict=True))
        a, b = (
            replace(term, scales=own, bounds=_spread(term.bounds, len(own)), axis=axis)
            for term, own in ((a, left), (b, right))
        )
        reach = [m * s + n * t for m, s, n, t in zip(a.bounds, left, b.bounds, right, strict=True)]
        if all(term < MOST * scale for term, scale in zip(reach, common, strict=True)):
            a, b = (self._multiples(term, common, axis) for term in (a, b))
        else:
            self.report("a sum would overflow 64 bits: its terms are rounded to 30 bits")
            common = tuple(_power_of_two_above(r / _ROUNDED) for r in reach)
            a, b = (self._rounded(term, common, axis) for term in (a, b))
        sums = self.nest.value("arith.addi", (self.value(a), self.value(b)), I64)
        return Exact(sums, common, tuple(m + n for m, n in zip(a.bounds, b.bounds, strict=True)), axis)

    def _multiples(self, x: Exact, common: Sequence[Fraction], axis: int | None) -> Exact:
        factors = _multipliers(x, common)
        value = self.value(x)
        if any(factor != 1 for factor in factors):
            table = np.array(factors, np.int64).reshape(-1 if axis is not None else ())
            value = self.nest.value("arith.muli", (value, self.nest.parameter(table, I64, _loops(axis))), I64)
        bounds = tuple(bound * factor for bound, factor in zip(x.bounds, factors, strict=True))
        return replace(x, value=value, scales=tuple(common), bounds=bounds, axis=axis, known=None)

    def _rounded(self, x: Exact, common: Sequence[Fraction], axis: int | None) -> Exact:
        """Round integers to the scales ``common`` by the `fixed` rule of requantization.

        The integers are first shifted right to at most 31 bits, because the rule returns 0 if it has to shift by more
        than 62 bits.
        """
        x = self.shifted(x, [(bound >> 31).bit_length() for bound in x.bounds])
        ratios = [own / scale for own, scale in zip(x.scales, common, strict=True)]
        pairs = np.array([numerics.fixed_multiplier(ratio) for ratio in ratios], np.int64)
        m0, shift = (pairs[:, i].reshape(-1 if axis is not None else ()) for i in (0, 1))
        value = scale_fixed_exactly(self.nest, self.value(x), m0, shift, _loops(axis))
        bounds = tuple(int(bound * ratio) + 2 for bound, ratio in zip(x.bounds, ratios, strict=True))
        return Exact(value, tuple(common), bounds, axis)

    def coarser(self, x: Exact, limit: int) -> Exact:
        """Round off low-order bits so that integers have at most the magnitude ``limit``, and enlarge their scales."""
        places = [(bound // limit).bit_length() for bound in x.bounds]
        if any(places):
            self.report(f"a value would overflow 64 bits: its {max(places)} low bits are rounded off")
        return self.shifted(x, places)

    def shifted(self, x: Exact, bits: Sequence[int]) -> Exact:
        """Divide integers by `2**bits`, rounded half up, and multiply their scales by `2**bits`.

        ``bits`` has a number for each scale of ``x``.
        """
        by_scale = np.array(bits, np.int64)
        if x.value is None or not by_scale.any():
            return x
        shift = by_scale.reshape(-1 if x.axis is not None else ())
        value = round_shift(self.nest, x.value, shift, _loops(x.axis))
        scales = tuple(scale * (1 << int(by)) for scale, by in zip(x.scales, by_scale, strict=True))
        bounds = tuple((bound >> int(by)) + 1 for bound, by in zip(x.bounds, by_scale, strict=True))
        return replace(x, value=value, scales=scales, bounds=bounds)


def _spread(bounds: tuple[int, ...], count: int) -> tuple[int, ...]:
    return bounds if len(bounds) == count else bounds * count


def _multipliers(x: Exact, common: Sequence[Fraction]) -> list[int]:
    return [int(own / scale) for own, scale in zip(x.scales, common, strict=True)]


def _together(a: Exact, b: Exact) -> tuple[int | None, tuple[Fraction, ...], tuple[Fraction, ...]]:
    """Return the axis along which the scales of a or b vary, and the scales of both, repeated to equal length."""
    if a.axis is not None and b.axis is not None and a.axis != b.axis:
        raise QuantTypeError("scales that differ along one axis are combined with scales that differ along another")
    axis = b.axis if a.axis is None else a.axis
    count = max(len(a.scales), len(b.scales))
    left, right = (x.scales if len(x.scales) == count else x.scales * count for x in (a, b))
    return axis, left, right


def _as_the_other(own: Fraction, other: Fraction) -> Fraction:
    """Return ``other`` if ``own`` equals it after rounding to float64; otherwise return ``own``."""
    return other if own == float(other) else own


def _loops(axis: int | None) -> tuple[tuple[str, int], ...]:
    return () if axis is None else (("d", axis),)


def _power_of_two_above(value: Fraction) -> Fraction:
    exponent = value.numerator.bit_length() - value.denominator.bit_length() + 1
    return Fraction(1 << exponent) if exponent >= 0 else Fraction(1, 1 << -exponent)
