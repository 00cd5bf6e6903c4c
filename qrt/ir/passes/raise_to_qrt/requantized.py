"""Matching of requantization by the rule `fixed`: `clamp(((acc * M0 + half) >> N) + zero point)`."""

from dataclasses import dataclass

import numpy as np

from qrt.ir.dialects.linalg.lowering import Array
from qrt.ir.passes.raise_to_qrt.terms import (
    ONE,
    Clamp,
    Extension,
    Monomial,
    NotRaisedError,
    Polynomial,
    Scalar,
    Shift,
    Variable,
    integer_range,
    signed,
)

_MOST_PLACES = 62


@dataclass(frozen=True)
class Requantized:
    """A requantized sum: `clamp((((sums + inner) * multiplier + half) >> places) + zero_points, low, high)`.

    The arrays `multiplier` (M0), `places` (N) and `zero_points` have one dimension for each loop of the result. The sum
    is computed in two parts: the terms of `inner` are added in `inner_width` bits, then this part is extended, and the
    terms of `sums` are added. `inner` is empty if all terms are added in `product_width` bits, the width of the
    multiplication.
    """

    multiplier: Array
    places: Array
    zero_points: Array
    low: int
    high: int
    sums: Polynomial
    inner: Polynomial
    inner_width: int
    width: int
    product_width: int
    clamp_width: int

    @property
    def is_signed(self) -> bool:
        least, most = integer_range(self.width, True)
        return least <= self.low and self.high <= most

    def steps(self) -> list[tuple[int, int]]:
        """Return the pair (M0, N) of each channel."""
        multiplier, places = np.broadcast_arrays(self.multiplier, self.places)
        return [(int(m0), int(n)) for m0, n in zip(multiplier.flat, places.flat, strict=True)]

    def scales(self) -> list[float]:
        """Return the exact ratio `M0 / 2**N` of the sum's scale to the result's scale, for each channel."""
        return [m0 / (1 << places) for m0, places in self.steps()]

    def require_bounds(self, inner: int, bound: int) -> None:
        """Raise NotRaisedError if an intermediate value may overflow its integer type.

        `inner` is the largest magnitude of the terms that are extended (`self.inner`), `bound` that of the whole sum.
        """
        if self.inner.terms and inner >= 1 << (self.inner_width - 1):
            raise NotRaisedError(f"the sum may reach {inner}, which overflows i{self.inner_width}")
        for m0, places in self.steps():
            half = 1 << (places - 1)
            largest = bound * m0 + half
            if largest >= 1 << (self.product_width - 1):
                raise NotRaisedError(f"the product of the sum and the multiplier may overflow i{self.product_width}")
            if (largest >> places) + 1 + _largest(self.zero_points) >= 1 << (self.clamp_width - 1):
                raise NotRaisedError(f"the scaled sum may overflow i{self.clamp_width}")
            if places + 31 - m0.bit_length() > _MOST_PLACES and bound * m0 >= half:
                raise NotRaisedError(f"the multiplier {m0} / 2**{places} is less than kernels have")


def match_requantized(result: Scalar) -> Requantized:
    """Return the parameters and the terms of the requantized sum that computes `result`.

    Raises NotRaisedError, with the condition that does not hold, if the value is not a requantized sum.
    """
    low, high, scaled, clamp_width = _clamp(result)
    least = integer_range(result.width, True)[0]
    if not (least <= low <= high <= integer_range(result.width, False)[1]) or (low < 0 and high > -least - 1):
        raise NotRaisedError(f"the clamp to [{low}, {high}] does not fit i{result.width}")
    shift, zero_points = _shift_of(scaled)
    if np.any(shift.places < 1) or np.any(shift.places > _MOST_PLACES):
        raise NotRaisedError(f"the sum is shifted by {_listed(shift.places)} places, not by 1 to {_MOST_PLACES}")
    terms = dict(shift.value.terms)
    constant = terms.pop(ONE, np.asarray(0, object))
    multiplier = _multiplier(terms)
    if np.any(multiplier < 1) or np.any(multiplier >= 1 << 31):
        raise NotRaisedError(f"the multiplier {_listed(multiplier)} is not between 1 and 2**31 - 1")
    half = 2 ** (shift.places - 1)
    if np.any((constant - half) % multiplier):
        raise NotRaisedError(
            f"the rounding constant {_listed(constant)} is not half of 2**N, with N = {_listed(shift.places)}"
        )
    sums = Polynomial({ONE: (constant - half) // multiplier})
    inner, inner_width = Polynomial({}), shift.width
    for monomial, factor in terms.items():
        if np.any(factor % multiplier):
            raise NotRaisedError("the terms of the sum have different multipliers")
        ((variable, power),) = monomial if len(monomial) == 1 else ((None, 0),)
        if isinstance(variable, Extension):
            if inner.terms or power != 1 or np.any(factor != multiplier) or not variable.signed:
                raise NotRaisedError("the sum has several parts that are extended")
            inner, inner_width = variable.value, variable.width
        else:
            sums += Polynomial({monomial: factor // multiplier})
    multiplier, places = np.asarray(multiplier, object), np.asarray(shift.places, object)
    return Requantized(
        multiplier, places, zero_points, low, high, sums, inner, inner_width, result.width, shift.width, clamp_width
    )


def _clamp(result: Scalar) -> tuple[int, int, Polynomial, int]:
    """Return (low, high, clamped value, width of the clamp) of a result; raise NotRaisedError if it is not clamped."""
    ends: dict[bool, int] = {}
    value, width = result.value, result.width
    while (bound := only_variable(value)) is not None and isinstance(bound, Clamp):
        if np.ndim(bound.limit) or bound.is_lower in ends:
            raise NotRaisedError("the clamp has several bounds")
        ends[bound.is_lower] = int(signed(bound.limit, bound.width))
        value, width = bound.value, bound.width
    if len(ends) != 2:
        raise NotRaisedError("the result is not clamped to constants by arith.maxsi and arith.minsi")
    return ends[True], ends[False], value, width


def only_variable(value: Polynomial) -> Variable | None:
    """Return the variable if a polynomial consists of one variable with the factor 1; None for other polynomials."""
    if len(value.terms) != 1:
        return None
    ((monomial, factor),) = value.terms.items()
    pairs = list(monomial)
    return pairs[0][0] if len(pairs) == 1 and pairs[0][1] == 1 and not np.any(factor != 1) else None


def _shift_of(scaled: Polynomial) -> tuple[Shift, Array]:
    """Return (shifted product, zero points) of their sum `scaled`; raise NotRaisedError for another value."""
    terms = dict(scaled.terms)
    zero_points = terms.pop(ONE, np.asarray(0, object))
    shift = only_variable(Polynomial(terms))
    if not isinstance(shift, Shift):
        raise NotRaisedError("the value before the clamp is not a product shifted to the right plus a zero point")
    return shift, zero_points


def _multiplier(terms: dict[Monomial, Array]) -> Array:
    """Return the multiplier of the sum: the factor of an extended term if there is one, else the smallest factor."""
    for monomial, factor in terms.items():
        if any(isinstance(variable, Extension) for variable, _ in monomial):
            return factor
    if not terms:
        raise NotRaisedError("the product that is shifted reads nothing")
    return min(terms.values(), key=lambda factor: int(np.max(np.abs(factor))))


def _largest(values: Array) -> int:
    return int(np.max(np.abs(values)))


def _listed(values: Array) -> str:
    return ", ".join(dict.fromkeys(str(value) for value in np.asarray(values, object).flat))
