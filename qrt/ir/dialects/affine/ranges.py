"""Ranges and divisors of affine expressions over loop variables, used to simplify `floordiv`, `ceildiv` and `mod`.

The rules are those of upstream's `simplifyMapWithOperands` and `simplifyMinOrMaxExprWithOperands`, and no others,
because tests compare the result with upstream's.
"""

from collections.abc import Sequence
from math import fmod, gcd

from qrt.ir import Block, Operation, Value
from qrt.ir.core.affine import (
    AffineMapAttr,
    Compound,
    Expression,
    combine,
    divisor_of,
    floordiv,
    is_index,
    is_readable,
    linear_terms,
)
from qrt.ir.dialects._regions.trip_counts import Number, constant_bounds
from qrt.ir.dialects.affine.dimensions import map_of
from qrt.ir.dialects.affine.ops import step_of

Range = tuple[Number, Number]
"""The least and the greatest value, each None if it is unknown."""
_QUOTIENTS = ("floordiv", "ceildiv", "mod")


class Ranges:
    """Ranges of the operands of an affine map: a variable of an `affine.for` with constant bounds has a known range."""

    def __init__(self, map: AffineMapAttr, operands: Sequence[Value]) -> None:
        self._dimensions = map.dimensions
        self._loops = [_loop_of(value) for value in operands]
        self._ranges = [_range_of(loop) for loop in self._loops]

    def _position(self, name: Expression) -> int:
        assert isinstance(name, tuple)  # ("d", i) or ("s", i)
        index: int = name[1]
        return index + (self._dimensions if name[0] == "s" else 0)

    def of(self, value: Expression) -> Range:
        """Return (least value, greatest value) of an expression; an unknown value is None.

        Both values are unknown for a sum with quotients. A value that exceeds 64 bits is unknown.
        """
        if isinstance(value, int):
            return value, value
        if value[0] in _QUOTIENTS:
            return self._of_quotient(value)
        terms = linear_terms(value)
        if terms is None:
            return None, None
        low: Number = terms.pop(1, 0)
        high = low
        for name, factor in terms.items():
            least, greatest = self._ranges[self._position(name)][:: 1 if factor > 0 else -1]
            if factor:
                low = None if low is None or least is None else low + factor * least
                high = None if high is None or greatest is None else high + factor * greatest
        return _written(low), _written(high)

    def _of_quotient(self, value: Expression) -> Range:
        assert isinstance(value, tuple)
        operator, left, divisor = value
        if not isinstance(divisor, int) or divisor < 1:
            return None, None
        low, high = self.of(left)
        if operator == "mod":
            if low is None or high is None or low // divisor != high // divisor:
                return 0, divisor - 1
            return low % divisor, high % divisor
        return _quotient(operator, low, divisor), _quotient(operator, high, divisor)

    def simplify(self, value: Expression) -> Expression:
        """Simplify each `floordiv`, `ceildiv` and `mod` whose result follows from known ranges and divisors."""
        if isinstance(value, int) or value[0] in ("d", "s"):
            return value
        operator, left, right = value
        combined = combine(operator, self.simplify(left), self.simplify(right))
        if not is_readable(combined):
            return value
        if (
            isinstance(combined, int)
            or combined[0] not in _QUOTIENTS
            or not isinstance(combined[2], int)
            or combined[2] <= 0
        ):
            return combined
        dividend: Expression = combined[1]
        operator, divisor = combined[0], combined[2]
        low, high = self.of(dividend)
        if low is not None and high is not None:
            if operator != "mod" and _quotient(operator, low, divisor) == _quotient(operator, high, divisor):
                return combine(operator, low, divisor)
            if operator == "mod" and low >= 0 and high < divisor:
                return dividend
        return self._divided(operator, dividend, divisor)

    def _divided(self, operator: str, left: Expression, divisor: int) -> Expression:
        parts = self._multiple_and_rest(left)
        if parts is not None:
            multiple, known, rest = parts
            if operator == "floordiv" and divisor % known == 0:
                return floordiv(multiple, divisor)
            if operator == "mod" and known % divisor == 0:
                return combine("mod", rest, divisor)
        elif (operator == "floordiv" and self._is_below(left, divisor)) or (
            operator == "mod" and self._divisor(left) % divisor == 0
        ):
            return 0
        return Compound((operator, left, divisor))

    def _multiple_and_rest(self, value: Expression) -> tuple[Expression, int, Expression] | None:
        """Split a sum into (multiple of n, n, rest) with 0 <= rest < n; return None if that is impossible."""
        if isinstance(value, int) or value[0] != "+":
            return None
        for multiple, rest in (value[1:], value[:0:-1]):
            known = self._divisor(multiple)
            if self._is_below(rest, known):
                return multiple, known, rest
        return None

    def _is_below(self, value: Expression, limit: int) -> bool:
        """Return True if an expression is a constant or a loop variable, and known to lie in [0, limit)."""
        if isinstance(value, int):
            return 0 <= value < limit
        if value[0] != "d" or (loop := self._loops[self._position(value)]) is None:
            return False
        low, end = constant_bounds(loop)
        return low is not None and end is not None and low >= 0 and end <= limit

    def _divisor(self, value: Expression) -> int:
        """Return a number that divides every value of an expression."""
        if isinstance(value, int) or value[0] != "d" or (loop := self._loops[self._position(value)]) is None:
            return divisor_of(value)
        return gcd(step_of(loop), *map(divisor_of, map_of(loop, "lowerBoundMap").results))

    def needed(self, results: Sequence[Expression], greatest: bool) -> tuple[Expression, ...]:
        """Return the results that may be the greatest of all, or the least of all if `greatest` is False.

        A result with only one possible value is returned as that constant. Only the first of equal constants is
        returned. In a loop without iterations, the ranges can exclude every result; then all results are returned.
        """
        sign = 1 if greatest else -1
        ranges = [(low, high) if greatest else (high, low) for low, high in map(self.of, results)]
        candidates: list[Expression] = []
        for index, (value, (near, far)) in enumerate(zip(results, ranges, strict=True)):
            others = ((number, other) for number, other in enumerate(ranges) if number != index)
            if not any(_passes(other, (near, far), sign, index < number) for number, other in others):
                candidates.append(far if far is not None and near == far else value)
        return tuple(candidates or results)


def _passes(other: Range, own: Range, sign: int, is_first: bool) -> bool:
    """Return True if a map result with the range `own` is not needed, given another result with the range `other`.

    This is so if every value in `other` is >= every value in `own`, or <= if `sign` is -1. If both ranges are the same
    constant, the first of the two results (`is_first`) is needed.
    """
    near, far = other[0], own[1]
    if near is None or far is None or sign * near < sign * far:
        return False
    return sign * near > sign * far or not (is_first and own[0] == own[1] and other[0] == other[1])


def _written(number: Number) -> Number:
    return number if number is not None and is_index(number) else None


def _quotient(operator: str, number: Number, divisor: int) -> Number:
    if number is None:
        return None
    return number // divisor if operator == "floordiv" else -(-number // divisor)


def _loop_of(value: Value) -> Operation | None:
    """Return the `affine.for` whose induction variable is `value`; None if `value` is something else."""
    owner = value.owner
    loop = owner.parent.parent if isinstance(owner, Block) and owner.parent is not None else None
    return loop if loop is not None and loop.name == "affine.for" and value.index == 0 else None


def _range_of(loop: Operation | None) -> Range:
    if loop is None:
        return None, None
    low, end = constant_bounds(loop)
    step = step_of(loop)
    if low is None or end is None or step == 0:
        return low, None if end is None else end - 1
    return low, end - 1 - int(
        fmod(end - low - 1, step)
    )  # fmod has C's sign for negative numbers (a loop without iterations)
