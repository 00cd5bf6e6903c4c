"""Polynomials that represent the elements of a lowered program's results; equal sums have equal polynomials.

A variable of a polynomial is an element that is read, a sum of products of such elements, or the result of an operation
that a polynomial cannot express (an extension, a shift, a clamp). Coefficients are arrays over the loops of the result,
for example the multipliers of channels. Arithmetic of `width` bits is modulo `2**width`.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, combine
from qrt.ir.dialects.linalg.lowering import Array

FIRST_SUM_LOOP = 1 << 16
"""The number of the first loop of a sum; the loops of the result have smaller numbers."""


_MOST_TERMS = 1 << 10
"""The largest number of products of terms; those of kernels have few."""


class NotRaisedError(Exception):
    """Error for a program that does not meet a condition of raising; its text becomes part of the remark."""


@dataclass(frozen=True)
class Read:
    """Element of the integer tensor `source` at `indices`, read as a signed or an unsigned integer of `width` bits."""

    source: Value
    indices: tuple[Expression, ...]
    width: int
    signed: bool

    @property
    def range(self) -> tuple[int, int]:
        return integer_range(self.width, self.signed)

    def map(self, change: Callable[[Expression], Expression]) -> "Read":
        """Return the read of the element at the indices that `change` returns for these indices."""
        return Read(self.source, tuple(map(change, self.indices)), self.width, self.signed)


@dataclass(frozen=True)
class Indicator:
    """Variable that is 1 if `index` is less than `size`, else 0; as a factor, it replaces padding by zeros."""

    index: Expression
    size: int


@dataclass(frozen=True)
class Sum:
    """Sum over loops of the product of `reads`; loop number `FIRST_SUM_LOOP + i` has `extents[i]` iterations."""

    extents: tuple[int, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, eq=False)
class Extension:
    """Extension of an integer of `width` bits, which may differ from `value` by a multiple of `2**width`."""

    value: "Polynomial"
    width: int
    signed: bool


@dataclass(frozen=True, eq=False)
class Shift:
    """Arithmetic shift `value >> places` of an integer of `width` bits."""

    value: "Polynomial"
    places: Array
    width: int


@dataclass(frozen=True, eq=False)
class Clamp:
    """Maximum (`is_lower`) or minimum of an integer of `width` bits and the constant `limit`."""

    value: "Polynomial"
    limit: Array
    is_lower: bool
    width: int


@dataclass(frozen=True, eq=False)
class Accumulator:
    """Value of an accumulator at the start of an iteration of the reduced loops."""


Variable = Read | Indicator | Sum | Extension | Shift | Clamp | Accumulator
Monomial = frozenset[tuple[Variable, int]]
ONE: Monomial = frozenset()


class Polynomial:
    """A sum of monomials; each coefficient is an array of Python integers over the result's loops, or of rank 0."""

    def __init__(self, terms: Mapping[Monomial, Any]) -> None:
        arrays = {monomial: np.asarray(factor).astype(object) for monomial, factor in terms.items()}
        self.terms = {monomial: factor for monomial, factor in arrays.items() if np.any(factor != 0)}

    @classmethod
    def variable(cls, variable: Variable) -> "Polynomial":
        return cls({frozenset(((variable, 1),)): 1})

    @classmethod
    def constant(cls, values: Any) -> "Polynomial":
        return cls({ONE: values})

    @property
    def number(self) -> Array | None:
        """The value of a constant polynomial; None if there are variables."""
        return self.terms.get(ONE, np.asarray(0, object)) if self.terms.keys() <= {ONE} else None

    def __add__(self, other: "Polynomial") -> "Polynomial":
        terms = dict(self.terms)
        for monomial, factor in other.terms.items():
            terms[monomial] = terms[monomial] + factor if monomial in terms else factor
        return Polynomial(terms)

    def __mul__(self, other: "Polynomial") -> "Polynomial":
        if len(self.terms) * len(other.terms) > _MOST_TERMS:
            raise NotRaisedError("it multiplies sums of many terms")
        terms: dict[Monomial, Any] = {}
        for left, a in self.terms.items():
            for right, b in other.terms.items():
                powers = dict(left)
                for variable, power in right:
                    powers[variable] = powers.get(variable, 0) + power
                monomial = frozenset(powers.items())
                terms[monomial] = terms.get(monomial, 0) + a * b
        return Polynomial(terms)

    def modulo(self, width: int) -> "Polynomial":
        """Return the polynomial with its coefficients reduced modulo `2**width` to signed integers."""
        return Polynomial({monomial: signed(factor, width) for monomial, factor in self.terms.items()})


@dataclass(frozen=True)
class Scalar:
    """An integer of `width` bits that equals a polynomial modulo `2**width`."""

    value: Polynomial
    width: int


def signed(values: Any, width: int) -> Any:
    """Return the signed integers of `width` bits that equal `values` modulo `2**width`."""
    half = 1 << (width - 1)
    return (values + half) % (1 << width) - half


def integer_range(width: int, is_signed: bool) -> tuple[int, int]:
    return (-(1 << (width - 1)), (1 << (width - 1)) - 1) if is_signed else (0, (1 << width) - 1)


def dimensions(expression: Expression) -> set[int]:
    """Return the numbers of the loops that an index expression uses."""
    if isinstance(expression, int):
        return set()
    if expression[0] == "d":
        return {expression[1]}
    return dimensions(expression[1]) | dimensions(expression[2])


def rewritten(expression: Expression, new: Mapping[Expression, Expression]) -> Expression:
    """Replace each subexpression that is a key of `new` by its value, outermost ones first, and simplify the result."""
    if expression in new:
        return new[expression]
    if isinstance(expression, int) or expression[0] in ("d", "s"):
        return expression
    operator, left, right = expression
    return combine(operator, rewritten(left, new), rewritten(right, new))


def canonical(expression: Expression) -> Expression:
    """Return an index expression as a sorted sum, so that equal sums of multiples of the same terms are identical.

    A term is a loop, a quotient or a remainder.
    """
    terms = {part: factor for part, factor in _multiples(expression).items() if factor}
    constant = terms.pop(1, 0)
    total: Expression = 0
    for part in sorted(terms, key=str):
        term: Expression = part if terms[part] == 1 else ("*", part, terms[part])
        total = term if total == 0 else ("+", total, term)
    return total if constant == 0 else constant if total == 0 else ("+", total, constant)


def _multiples(expression: Expression) -> dict[Expression, int]:
    """Return the integer factor of each term (loop, quotient or remainder) of a sum; the key 1 is the constant."""
    if isinstance(expression, int):
        return {1: expression}
    operator, left = expression[:2]
    if operator in ("d", "s"):
        return {expression: 1}
    right = expression[2]
    if operator == "+":
        terms = _multiples(left)
        for part, factor in _multiples(right).items():
            terms[part] = terms.get(part, 0) + factor
        return terms
    if operator == "*" and isinstance(right, int):
        return {part: factor * right for part, factor in _multiples(left).items()}
    return {(operator, canonical(left), canonical(right)): 1}
