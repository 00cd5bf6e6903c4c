"""Affine maps, `affine_map<(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)>`, and sets, `affine_set<(d0) : (d0 - 1 >= 0)>`.

Maps and sets are simplified and printed as in upstream MLIR. Python code represents an affine expression as an int of
64 bits, the dimension `("d", i)`, the symbol `("s", i)`, or `(operator, left, right)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import Any, cast

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir.core.attributes import Attribute
from qrt.types.scanner import MAX_NESTING

Expression = int | tuple[Any, ...]
MAX_OPERATORS = 256
"""The largest number of operators of an expression that is parsed or composed. Many functions recurse over them."""
_MAX_DEPTH = MAX_NESTING - 4
"""The most nested parentheses of an expression that is composed. A literal -2**63 in it adds up to two levels."""
_INT64_MIN, _INT64_MAX = -(1 << 63), (1 << 63) - 1


class Compound(tuple[Any, ...]):
    """Affine expression `(operator, left, right)`, with cached divisor, operator count and depth of parentheses."""

    is_constant: bool
    divisor: int
    operators: int
    depth: int

    def __new__(cls, parts: tuple[str, Expression, Expression]) -> "Compound":
        compound = super().__new__(cls, parts)
        operator, left, right = parts
        compound.is_constant = is_constant(left) and is_constant(right)
        compound.divisor = _divisor_of(*parts)
        compound.operators = 1 + count_operators(left) + count_operators(right)
        compound.depth = max(_depth(left, operator), _depth(right, operator)) + (operator == "*" and right == -1)
        return compound


def _compound(value: tuple[Any, ...]) -> Compound:
    return value if isinstance(value, Compound) else Compound(cast("tuple[str, Expression, Expression]", value))


def is_constant(value: Expression) -> bool:
    """Return True if an expression has no dimensions: an integer, a symbol, or an operator on integers and symbols."""
    if isinstance(value, int):
        return True
    return value[0] == "s" if value[0] in ("d", "s") else _compound(value).is_constant


def count_operators(value: Expression) -> int:
    """Return the number of operators in the text of an expression."""
    if isinstance(value, int):
        return int(value == _INT64_MIN)  # this number has no literal, and is written as a difference
    return 0 if value[0] in ("d", "s") else _compound(value).operators


def _depth(part: Expression, operator: str) -> int:
    """Return how deeply parentheses are nested when `part` is printed as an operand of `operator`."""
    if isinstance(part, int) or part[0] in ("d", "s"):
        return 0
    return _compound(part).depth + (operator != "+")


def is_readable(value: Expression) -> bool:
    """Return True if the printed expression is within the parser's limits on operators and nested parentheses."""
    return count_operators(value) <= MAX_OPERATORS and _depth(value, "+") <= _MAX_DEPTH


def divisor_of(value: Expression) -> int:
    """Return the largest integer that is known to divide the value of an expression, for all dimensions and symbols.

    This is `getLargestKnownDivisor` of upstream MLIR.
    """
    if isinstance(value, int):
        return abs(value)
    return 1 if value[0] in ("d", "s") else _compound(value).divisor


def _divisor_of(operator: str, left: Expression, right: Expression) -> int:
    first = divisor_of(left)
    if operator == "*":
        return first * divisor_of(right)
    if operator in ("+", "mod"):
        return gcd(first, divisor_of(right))
    return abs(first // right) if isinstance(right, int) and right != 0 and first % right == 0 else 1


def is_index(number: int) -> bool:
    """Return True if `number` fits a signed 64-bit integer, the range of constants in affine expressions."""
    return _INT64_MIN <= number <= _INT64_MAX


@dataclass(frozen=True, slots=True)
class AffineMapAttr(Attribute):
    """Attribute `affine_map<...>`: result expressions over `dimensions` dimensions and `symbols` symbols."""

    dimensions: int
    symbols: int
    results: tuple[Expression, ...]

    @classmethod
    def identity(cls, rank: int) -> "AffineMapAttr":
        return cls(rank, 0, tuple(("d", i) for i in range(rank)))

    def spell(self, elide: bool = False) -> str:
        results = ", ".join(map(spell_expression, self.results))
        return f"affine_map<{_spell_names(self.dimensions, self.symbols)} -> ({results})>"


@dataclass(frozen=True, slots=True)
class IntegerSetAttr(Attribute):
    """Attribute `affine_set<...>`: each pair in `constraints` is (expression, is_equality).

    The constraint is `expression == 0` if `is_equality` is True, else `expression >= 0`.
    """

    dimensions: int
    symbols: int
    constraints: tuple[tuple[Expression, bool], ...]

    def spell(self, elide: bool = False) -> str:
        constraints = ", ".join(
            f"{spell_expression(expression)} {'==' if is_equality else '>='} 0"
            for expression, is_equality in self.constraints
        )
        return f"affine_set<{_spell_names(self.dimensions, self.symbols)} : ({constraints})>"


def _spell_names(dimensions: int, symbols: int) -> str:
    listed = f"[{', '.join(f's{i}' for i in range(symbols))}]" if symbols else ""
    return f"({', '.join(f'd{i}' for i in range(dimensions))}){listed}"


def add(left: Expression, right: Expression) -> Expression:
    """Return `left + right`, simplified."""
    return combine("+", left, right)


def multiply(left: Expression, right: int) -> Expression:
    """Return `left * right`, simplified."""
    return combine("*", left, right)


def floordiv(left: Expression, right: int) -> Expression:
    """Return `left floordiv right`, simplified."""
    return combine("floordiv", left, right)


def modulo(left: Expression, right: int) -> Expression:
    """Return `left mod right`, simplified."""
    return combine("mod", left, right)


def evaluate(value: Expression, dimensions: Sequence[Any], symbols: Sequence[Any] = ()) -> Any:
    """Return the value of an expression for given dimensions and symbols: integers, or integer arrays that broadcast.

    Raises UndefinedError for a division by zero, and for a modulus that is not positive.

    >>> evaluate(("+", ("*", ("d", 0), 2), ("s", 0)), [3], [1])
    7
    """
    if isinstance(value, int):
        return value
    if value[0] == "d":
        return dimensions[value[1]]
    if value[0] == "s":
        return symbols[value[1]]
    operator, left, right = value
    divisor = evaluate(right, dimensions, symbols)
    divisors = (divisor,) if isinstance(divisor, int) or operator in "+*" else np.unique(divisor).tolist()
    for number in divisors:
        if not is_defined(operator, number):
            wanted = "positive" if operator == "mod" else "other than 0"
            raise UndefinedError(f"the divisor in {spell_expression(value)} must be {wanted}, got {number}")
    return _CONSTANTS[operator](evaluate(left, dimensions, symbols), divisor)


def substitute(value: Expression, dimensions: Sequence[Expression], symbols: Sequence[Expression]) -> Expression:
    """Replace dimension i of an expression by `dimensions[i]` and symbol i by `symbols[i]`, and simplify the result.

    A subexpression that occurs several times is processed once.

    >>> substitute(("+", ("d", 0), ("d", 1)), [("s", 0), ("s", 0)], [])
    ('*', ('s', 0), 2)
    """
    results: dict[Expression, Expression] = {}

    def visit(part: Expression) -> Expression:
        if isinstance(part, int):
            return part
        if part[0] in ("d", "s"):
            return (dimensions if part[0] == "d" else symbols)[part[1]]
        result = results.get(part)
        if result is None:
            operator, left, right = part
            result = results[part] = combine(operator, visit(left), visit(right))
        return result

    return visit(value)


def linear(value: Expression, dimensions: int) -> tuple[int, ...] | None:
    """Return (constant term, coefficient of d0, coefficient of d1, ...); None if the expression is not linear.

    The last coefficient is that of dimension `dimensions - 1`. Terms in symbols are ignored.

    >>> linear(("+", ("*", ("d", 1), 2), 5), 2)
    (5, 0, 2)
    """
    terms = linear_terms(value)
    if terms is None:
        return None
    return (terms.get(1, 0), *(terms.get(("d", index), 0) for index in range(dimensions)))


def linear_terms(value: Expression) -> dict[Expression, int] | None:
    """Return {dimension or symbol: coefficient, 1: constant term}; None if the expression is not linear."""
    if isinstance(value, int):
        return {1: value}
    if value[0] in ("d", "s"):
        return {value: 1}
    operator, left, right = value
    terms = linear_terms(left)
    if terms is None:
        return None
    if operator == "*" and isinstance(right, int):
        return {name: factor * right for name, factor in terms.items()}
    others = linear_terms(right) if operator == "+" else None
    return None if others is None else {name: terms.get(name, 0) + others.get(name, 0) for name in [*terms, *others]}


def parts_of(values: Sequence[Expression]) -> set[Expression]:
    """Return all distinct subexpressions of `values`: dimensions, symbols and operator expressions, but no integers."""
    seen: set[Expression] = set()
    pending = list(values)
    while pending:
        part = pending.pop()
        if not isinstance(part, int) and part not in seen:
            seen.add(part)
            pending += part[1:] if part[0] not in ("d", "s") else ()
    return seen


def plain_loops(map: AffineMapAttr) -> tuple[int, ...] | None:
    """Return the dimension numbers of a map's results, if the results are distinct dimensions; None for any other map.

    For `(d0, d1) -> (d1, d0)` the numbers are (1, 0).
    """
    loops = tuple(result[1] for result in map.results if isinstance(result, tuple) and result[0] == "d")
    return loops if len(loops) == len(map.results) == len(set(loops)) else None


_CONSTANTS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
}


def is_defined(operator: str, right: int) -> bool:
    """Return True unless `left operator right` is undefined: a division by 0, or a modulus that is not positive.

    >>> is_defined("floordiv", -2), is_defined("mod", -2)
    (True, False)
    """
    return operator in "+*" or right > 0 or (right < 0 and operator != "mod")


def combine(operator: str, left: Expression, right: Expression) -> Expression:
    """Return `left operator right`, simplified by the rules of upstream MLIR's `AffineExpr`, tried in upstream's order.

    Two constants whose result needs more than 64 bits stay `(operator, left, right)`; upstream MLIR wraps the result.
    """
    if isinstance(left, int) and isinstance(right, int) and is_defined(operator, right):
        number = int(_CONSTANTS[operator](left, right))
        return number if is_index(number) else Compound((operator, left, right))
    if operator in "+*" and _belongs_right(left, right):
        left, right = right, left
    simplified = _SIMPLIFY[operator](left, right)
    return Compound((operator, left, right)) if simplified is None else simplified


def _belongs_right(value: Expression, other: Expression) -> bool:
    """Return True if `value` must be the right operand of a sum or product with `other`.

    A constant is to the right of any other expression, and an expression without dimensions to the right of one with
    dimensions. Of two dimensions or two symbols, the one with the higher index is on the right.
    """
    if isinstance(value, int):
        return True
    if isinstance(other, int) or is_constant(value) != is_constant(other):
        return is_constant(value) and not is_constant(other)
    return bool(value[0] == other[0] in ("d", "s") and value[1] > other[1])


def _parts(value: Expression, operator: str) -> tuple[Expression, Expression] | None:
    """Return (left, right) of an expression whose operator is `operator`; None for any other expression."""
    return (value[1], value[2]) if isinstance(value, tuple) and value[0] == operator else None


def _scaled(value: Expression) -> tuple[Expression, int]:
    """Return `value` as (expression, integer factor); the factor is 1 unless `value` is a product with an integer."""
    parts = _parts(value, "*")
    return (parts[0], parts[1]) if parts is not None and isinstance(parts[1], int) else (value, 1)


def _add(left: Expression, right: Expression) -> Expression | None:
    if right == 0:
        return left
    inner = _parts(left, "+")
    constant = inner[1] if inner is not None and isinstance(inner[1], int) else None
    if inner is not None and constant is not None and isinstance(right, int):
        return combine("+", inner[0], constant + right) if is_index(constant + right) else None
    (first, times), (second, more) = _scaled(left), _scaled(right)
    if first == second and is_index(times + more):
        return combine("*", first, times + more)
    if inner is not None and constant is not None:  # (d0 + 2) + d1 is d0 + d1 + 2
        return combine("+", combine("+", inner[0], right), constant)
    remainder = _as_remainder(left, right)
    if remainder is None and inner is not None and _is_multiple_of_quotient(right):  # with the last term it may be one
        last = combine("+", inner[1], right)
        return None if last == ("+", inner[1], right) else combine("+", inner[0], last)
    return remainder


def _is_multiple_of_quotient(value: Expression) -> bool:
    quotient, factor = _parts(value, "*") or (0, None)
    return isinstance(factor, int) and _parts(quotient, "floordiv") is not None


def _as_remainder(left: Expression, right: Expression) -> Expression | None:
    """Return `e mod q` if the sum `left + right` has the form `e - (e floordiv q) * q`; else None."""
    product = _parts(right, "*")
    if product is None:
        return None
    quotient, factor = product
    divisor: Expression = -factor if isinstance(factor, int) else combine("*", factor, -1)
    nested = _parts(quotient, "*")
    if factor == -1 and nested is not None:
        quotient, divisor = nested
    division = _parts(quotient, "floordiv")
    return combine("mod", left, divisor) if division == (left, divisor) else None


def _multiply(left: Expression, right: Expression) -> Expression | None:
    if right in (0, 1):
        return left if right == 1 else 0
    inner = _parts(left, "*")
    if inner is None or not isinstance(inner[1], int):
        return None
    if isinstance(right, int):
        return combine("*", inner[0], inner[1] * right) if is_index(inner[1] * right) else None
    return combine("*", combine("*", inner[0], right), inner[1])


def _floor_divide(left: Expression, right: Expression) -> Expression | None:
    if not isinstance(right, int) or right == 0:
        return None
    exact = _divide_exactly(left, right)
    terms = _parts(left, "+")
    if exact is None and terms is not None and any(divisor_of(term) % right == 0 for term in terms):
        return combine("+", combine("floordiv", terms[0], right), combine("floordiv", terms[1], right))
    return exact


def _ceil_divide(left: Expression, right: Expression) -> Expression | None:
    return _divide_exactly(left, right) if isinstance(right, int) and right != 0 else None


def _divide_exactly(left: Expression, right: int) -> Expression | None:
    inner, times = _scaled(left)
    if right == 1:
        return left
    return combine("*", inner, times // right) if inner != left and times % right == 0 else None


def _remainder(left: Expression, right: Expression) -> Expression | None:
    if not isinstance(right, int) or right < 1:
        return None
    if divisor_of(left) % right == 0:
        return 0
    for term, other in _sides(left):
        if divisor_of(term) % right == 0:
            return combine("mod", other, right)
    inner = _parts(left, "mod")
    if inner is not None and isinstance(inner[1], int) and inner[1] >= 1 and inner[1] % right == 0:
        return combine("mod", inner[0], right)
    return None


def _sides(value: Expression) -> list[tuple[Expression, Expression]]:
    terms = _parts(value, "+")
    return [] if terms is None else [terms, terms[::-1]]


_SIMPLIFY: dict[str, Callable[[Expression, Expression], Expression | None]] = {
    "+": _add,
    "*": _multiply,
    "floordiv": _floor_divide,
    "ceildiv": _ceil_divide,
    "mod": _remainder,
}


_LEAST = ("+", -_INT64_MAX, -1)


def _is_negative(factor: Expression) -> bool:
    """Return True for a negative constant, except -2**63, because its negation exceeds 64 bits.

    The printer writes `+ x * factor` as `- x * -factor` for such a factor.
    """
    return isinstance(factor, int) and _INT64_MIN < factor < 0


def _plain_name(kind: str, index: int) -> str:
    return f"{kind}{index}"


def spell_expression(value: Expression, name: Callable[[str, int], str] = _plain_name, tight: bool = False) -> str:
    """Return the text of an expression; `name` maps ("d" or "s", index) to the text of a dimension or symbol.

    `tight` puts parentheses around an expression with an operator.

    >>> spell_expression(("+", ("*", ("d", 0), 4), -1))
    'd0 * 4 - 1'

    No literal denotes -2**63, so that constant is printed as a difference.

    >>> spell_expression(("*", ("d", 0), -(1 << 63)))
    'd0 * (-9223372036854775807 - 1)'
    """
    if isinstance(value, int):
        return str(value) if value != _INT64_MIN else spell_expression(_LEAST, name, tight)
    if value[0] in ("d", "s"):
        return name(*value)
    operator, left, right = value
    if right == _INT64_MIN and operator == "+":
        text = f"{spell_expression(left, name)} - {_INT64_MAX} - 1"
    elif operator == "*" and right == -1:
        text = f"-{spell_expression(left, name, True)}"
    elif operator != "+":
        text = f"{spell_expression(left, name, True)} {operator} {spell_expression(right, name, True)}"
    elif isinstance(right, int) and right < 0:
        text = f"{spell_expression(left, name)} - {-right}"
    elif isinstance(right, tuple) and right[0] == "*" and _is_negative(right[2]):
        factor = "" if right[2] == -1 else f" * {-right[2]}"
        is_tight = right[2] != -1 or isinstance(right[1], int) or right[1][0] == "+"
        subtracted = spell_expression(right[1], name, is_tight)
        text = f"{spell_expression(left, name)} - {subtracted}{factor}"
    else:
        text = f"{spell_expression(left, name)} + {spell_expression(right, name)}"
    return f"({text})" if tight else text
