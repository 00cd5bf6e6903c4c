"""Elements of tensors as polynomials: what a lowered program computes, in a form in which equal sums are equal.

A variable of a polynomial is an element that is read, a sum of products of such elements, or the result of a step that
is not a polynomial (an extension, a shift, a clamp). Coefficients are arrays over the loops of the result, such as the
multipliers of channels. Arithmetic of `width` bits is modulo `2**width`.
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
    """A condition of raising that a program does not meet; its text is a part of the remark."""


@dataclass(frozen=True)
class Read:
    """The element of a tensor of integers at `indices`, read as a signed or an unsigned integer of `width` bits."""

    source: Value
    indices: tuple[Expression, ...]
    width: int
    signed: bool

    @property
    def range(self) -> tuple[int, int]:
        return integer_range(self.width, self.signed)

    def map(self, change: Callable[[Expression], Expression]) -> "Read":
        """Return the read at changed indices."""
        return Read(self.source, tuple(map(change, self.indices)), self.width, self.signed)


@dataclass(frozen=True)
class Indicator:
    """1 if the value of `index` is less than `size`, else 0: the elements of a tensor that are not padding."""

    index: Expression
    size: int


@dataclass(frozen=True)
class Sum:
    """The sum of a product of reads over loops: loop i, `FIRST_SUM_LOOP + i`, has `extents[i]` iterations."""

    extents: tuple[int, ...]
    reads: tuple[Read, ...]


@dataclass(frozen=True, eq=False)
class Extension:
    """An integer of `width` bits that another width extends; it may differ from its polynomial by a multiple."""

    value: "Polynomial"
    width: int
    signed: bool


@dataclass(frozen=True, eq=False)
class Shift:
    """`value >> places` of an integer of `width` bits."""

    value: "Polynomial"
    places: Array
    width: int


@dataclass(frozen=True, eq=False)
class Clamp:
    """The larger (`is_lower`) or smaller one of an integer of `width` bits and a constant."""

    value: "Polynomial"
    limit: Array
    is_lower: bool
    width: int


@dataclass(frozen=True, eq=False)
class Accumulator:
    """An accumulator before an iteration of its loop."""


Variable = Read | Indicator | Sum | Extension | Shift | Clamp | Accumulator
Monomial = frozenset[tuple[Variable, int]]
ONE: Monomial = frozenset()


class Polynomial:
    """A sum of monomials with coefficients: arrays of Python integers over the result's loops, or scalar arrays."""

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
        """Return the polynomial with coefficients that are signed integers of `width` bits."""
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
    """Return the numbers of the loops in an index expression."""
    if isinstance(expression, int):
        return set()
    if expression[0] == "d":
        return {expression[1]}
    return dimensions(expression[1]) | dimensions(expression[2])


def rewritten(expression: Expression, new: Mapping[Expression, Expression]) -> Expression:
    """Return an index expression with the parts that are keys of `new` replaced, outermost ones first."""
    if expression in new:
        return new[expression]
    if isinstance(expression, int) or expression[0] in ("d", "s"):
        return expression
    operator, left, right = expression
    return combine(operator, rewritten(left, new), rewritten(right, new))


def canonical(expression: Expression) -> Expression:
    """Return an index expression in the one form of all equal sums of multiples of loops, quotients and remainders."""
    terms = {part: factor for part, factor in _multiples(expression).items() if factor}
    constant = terms.pop(1, 0)
    total: Expression = 0
    for part in sorted(terms, key=str):
        term: Expression = part if terms[part] == 1 else ("*", part, terms[part])
        total = term if total == 0 else ("+", total, term)
    return total if constant == 0 else constant if total == 0 else ("+", total, constant)


def _multiples(expression: Expression) -> dict[Expression, int]:
    """Return the factors of the parts of an expression that are not sums or products; the part 1 has the constant."""
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
