"""Affine maps and sets, `affine_map<(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)>` and `affine_set<(d0) : (d0 - 1 >= 0)>`,
simplified and spelled as upstream does.

An expression is `("d", i)`, `("s", i)`, an integer, or `(operator, left, right)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir.attributes import Attribute
from qrt.text import Scanner

if TYPE_CHECKING:
    from qrt.ir.attribute_parser import AttributeParser
    from qrt.ir.parser import OperandName, Parser

Expression = int | tuple[Any, ...]
MAX_OPERATORS = 256
"""Most operators of one map that are read: expressions are taken apart recursively."""
_INT64_MIN = -(1 << 63)
_WORDS = ("floordiv", "ceildiv", "mod")


@dataclass(frozen=True, slots=True)
class AffineMapAttr(Attribute):
    """`affine_map<...>`: results as expressions of `dimensions` and `symbols`."""

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
    """`affine_set<...>`: the points at which each constraint's expression is zero (`is_equality`), or not negative."""

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
    """`left + right`, simplified."""
    return combine("+", left, right)


def multiply(left: Expression, right: int) -> Expression:
    """`left * right`, simplified."""
    return combine("*", left, right)


def floordiv(left: Expression, right: int) -> Expression:
    """`left floordiv right`, simplified."""
    return combine("floordiv", left, right)


def evaluate(value: Expression, dimensions: Sequence[Any], symbols: Sequence[Any] = ()) -> Any:
    """The value of an expression: of integers, or of integer arrays that broadcast. Raises UndefinedError for a
    division by zero, and for a modulus that is not positive.

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
    if operator not in "+*" and not all(is_defined(operator, int(number)) for number in np.unique(divisor)):
        raise UndefinedError(f"{spell_expression(value)} divides by zero, or its modulus is not positive")
    return _CONSTANTS[operator](evaluate(left, dimensions, symbols), divisor)


def substitute(value: Expression, dimensions: Sequence[Expression], symbols: Sequence[Expression]) -> Expression:
    """The expression with others for its dimensions and symbols, simplified.

    >>> substitute(("+", ("d", 0), ("d", 1)), [("s", 0), ("s", 0)], [])
    ('*', ('s', 0), 2)
    """
    if isinstance(value, int):
        return value
    if value[0] in ("d", "s"):
        return (dimensions if value[0] == "d" else symbols)[value[1]]
    operator, left, right = value
    return combine(operator, substitute(left, dimensions, symbols), substitute(right, dimensions, symbols))


def linear(value: Expression, dimensions: int) -> tuple[int, ...] | None:
    """(constant term, coefficient of each dimension) of an expression that is a weighted sum of dimensions; else None.

    >>> linear(("+", ("*", ("d", 1), 2), 5), 2)
    (5, 0, 2)
    """
    if isinstance(value, int):
        return (value, *[0] * dimensions)
    if value[0] == "d":
        return (0, *(int(index == value[1]) for index in range(dimensions)))
    operator, left, right = value
    first = linear(left, dimensions) if operator in "+*" else None
    second = linear(right, dimensions) if first is not None else None
    if first is None or second is None:
        return None
    if operator == "+":
        return tuple(a + b for a, b in zip(first, second, strict=True))
    return tuple(a * right for a in first) if isinstance(right, int) else None


def plain_loops(map: AffineMapAttr) -> tuple[int, ...] | None:
    """The loop that indexes each dimension, if each is indexed by a loop of its own."""
    loops = tuple(result[1] for result in map.results if isinstance(result, tuple) and result[0] == "d")
    return loops if len(loops) == len(map.results) == len(set(loops)) else None


def parse_affine_map(parser: "AttributeParser", start: int) -> AffineMapAttr:
    """What stands after the word `affine_map`. Raises ParseError."""
    parser.scanner.expect("<", " after 'affine_map'")
    map = parse_affine_map_body(parser)
    parser.scanner.expect(">", " closing the affine map")
    return map


def parse_affine_map_body(parser: "AttributeParser") -> AffineMapAttr:
    """`(d0)[s0] -> (d0 + s0)`."""
    scanner = parser.scanner
    names, dimensions, symbols = _parse_header(parser)
    scanner.expect("->", " in affine map")
    scanner.expect("(", " before affine results")
    return AffineMapAttr(dimensions, symbols, tuple(parse_expressions(parser, names, ")")))


def parse_affine_set(parser: "AttributeParser", start: int) -> IntegerSetAttr:
    """What stands after the word `affine_set`. Raises ParseError."""
    scanner = parser.scanner
    scanner.expect("<", " after 'affine_set'")
    names, dimensions, symbols = _parse_header(parser)
    scanner.expect(":", " in integer set")
    scanner.expect("(", " before constraints")
    constraints: list[tuple[Expression, bool]] = []
    while not scanner.at(")") and (not constraints or scanner.accept(",")):
        constraints.append(_constraint(parser, names))
    scanner.expect(")", " after constraints")
    scanner.expect(">", " closing the integer set")
    return IntegerSetAttr(dimensions, symbols, tuple(constraints) or ((0, True),))


class Names(dict[str, Expression]):
    """What identifiers stand for in the expressions of one map, and how many operators these have."""

    operators = 0

    def combine(self, scanner: Scanner, start: int, operator: str, left: Expression, right: Expression) -> Expression:
        """The expression, simplified; an error where it is too large to be taken apart again."""
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise scanner.error(f"more than {MAX_OPERATORS} operators in an affine map", start)
        value = combine(operator, left, right)
        constant = value if isinstance(value, int) else value[-1]
        if isinstance(constant, int) and not _INT64_MIN <= constant <= -_INT64_MIN - 1:
            raise scanner.error("an affine constant does not fit 64 bits", start, scanner.pos)
        return value


class ValueNames(Names):
    """The SSA values that the expressions of a custom form name: `%i + symbol(%n)`. Each is one dimension or symbol."""

    def __init__(self) -> None:
        super().__init__()
        self.dimensions: list[OperandName] = []
        self.symbols: list[OperandName] = []

    @property
    def operands(self) -> "list[OperandName]":
        return [*self.dimensions, *self.symbols]

    def value(self, parser: "Parser", kind: str) -> Expression:
        """The expression of the value at the cursor."""
        operand = parser.operand()
        found = self.dimensions if kind == "d" else self.symbols
        if operand[:2] not in [known[:2] for known in self.operands]:
            found.append(operand)
            self[f"{operand[0]}#{operand[1]}"] = (kind, len(found) - 1)
        return self[f"{operand[0]}#{operand[1]}"]


def parse_map_of_values(parser: "Parser", brackets: str) -> "tuple[AffineMapAttr, list[OperandName]]":
    """Expressions of SSA values in brackets: the map, and its operands, dimensions before symbols."""
    parser.scanner.expect(brackets[0])
    names = ValueNames()
    results = parse_expressions(parser, names, brackets[1])
    return AffineMapAttr(len(names.dimensions), len(names.symbols), tuple(results)), names.operands


def parse_expressions(parser: "AttributeParser", names: Names, close: str) -> list[Expression]:
    """Expressions up to a bracket that closes them."""
    scanner = parser.scanner
    results: list[Expression] = []
    if not scanner.accept(close):
        results.append(_sum(parser, names))
        while scanner.accept(","):
            results.append(_sum(parser, names))
        scanner.expect(close, " after affine expressions")
    return results


def parse_expression(parser: "AttributeParser", names: Names) -> Expression:
    """One expression."""
    return _sum(parser, names)


def _parse_header(parser: "AttributeParser") -> tuple[Names, int, int]:
    """`(d0, d1)[s0]`: the names, and how many are dimensions and symbols."""
    scanner = parser.scanner
    scanner.expect("(", " before affine dimensions")
    names = Names()
    dimensions = _names(parser, names, "d", ")")
    return names, dimensions, _names(parser, names, "s", "]") if scanner.accept("[") else 0


def _constraint(parser: "AttributeParser", names: Names) -> tuple[Expression, bool]:
    left = _sum(parser, names)
    for relation in (">=", "<=", "=="):
        if parser.scanner.accept(relation):
            right = _sum(parser, names)
            if relation == "<=":
                left, right = right, left
            scanner, start = parser.scanner, parser.scanner.pos
            negative = names.combine(scanner, start, "*", right, -1)
            return names.combine(scanner, start, "+", left, negative), relation == "=="
    raise parser.scanner.error("expected '>=', '<=' or '==' in a constraint")


def _names(parser: "AttributeParser", names: Names, kind: str, close: str) -> int:
    scanner = parser.scanner
    count = 0
    if scanner.accept(close):
        return 0
    while True:
        start = scanner.skip()
        name = scanner.word("an affine identifier")
        if name in names:
            raise scanner.error(f"redefinition of identifier '{name}'", start, scanner.pos)
        names[name] = (kind, count)
        count += 1
        if not scanner.accept(","):
            scanner.expect(close, " after affine identifiers")
            return count


def _sum(parser: "AttributeParser", names: Names) -> Expression:
    scanner = parser.scanner
    with scanner.nested():
        value = _product(parser, names)
        while True:
            start = scanner.skip()
            if scanner.accept("+"):
                value = names.combine(scanner, start, "+", value, _product(parser, names))
            elif scanner.at("-") and not scanner.at("->"):
                scanner.expect("-")
                negative = names.combine(scanner, start, "*", _product(parser, names), -1)
                value = names.combine(scanner, start, "+", value, negative)
            else:
                return value


def _product(parser: "AttributeParser", names: Names) -> Expression:
    scanner = parser.scanner
    value = _operand(parser, names)
    while True:
        start = scanner.skip()
        word = "*" if scanner.accept("*") else scanner.peek_word()
        if word in _WORDS:
            scanner.expect(word)
        elif word != "*":
            return value
        right = _operand(parser, names)
        if word == "*" and not (_is_constant(value) or _is_constant(right)):
            raise scanner.error("non-affine expression: one factor must be a constant or a symbol", start, scanner.pos)
        if word != "*" and not _is_constant(right):
            message = f"non-affine expression: right operand of {word} has to be either a constant or symbolic"
            raise scanner.error(message, start, scanner.pos)
        value = names.combine(scanner, start, word, value, right)


def _operand(parser: "AttributeParser", names: Names) -> Expression:
    scanner = parser.scanner
    start = scanner.skip()
    if scanner.accept("("):
        value = _sum(parser, names)
        scanner.expect(")", " in affine expression")
        return value
    if scanner.accept("-"):
        with scanner.nested():
            return names.combine(scanner, start, "*", _operand(parser, names), -1)
    if scanner.text[start : start + 1].isdigit():
        return scanner.integer(64, "an affine constant")
    if isinstance(names, ValueNames):
        return _value(cast("Parser", parser), names)
    name = scanner.word("an affine expression")
    if name not in names:
        raise scanner.error(f"use of undeclared identifier '{name}'", start, scanner.pos)
    return names[name]


def _value(parser: "Parser", names: ValueNames) -> Expression:
    if not parser.scanner.accept_word("symbol"):
        return names.value(parser, "d")
    parser.scanner.expect("(", " after 'symbol'")
    value = names.value(parser, "s")
    parser.scanner.expect(")", " after a symbol")
    return value


def _is_constant(value: Expression) -> bool:
    """A constant, or made of symbols alone."""
    if isinstance(value, int):
        return True
    return value[0] == "s" or (value[0] != "d" and all(map(_is_constant, value[1:])))


_CONSTANTS: dict[str, Callable[[Any, Any], Any]] = {
    "+": lambda a, b: a + b,
    "*": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "ceildiv": lambda a, b: -(-a // b),
    "mod": lambda a, b: a % b,
}


def is_defined(operator: str, right: int) -> bool:
    """Whether an operator has a value: nothing is divided by zero, and a modulus is positive.

    >>> is_defined("floordiv", -2), is_defined("mod", -2)
    (True, False)
    """
    return operator in "+*" or right > 0 or (right < 0 and operator != "mod")


def combine(operator: str, left: Expression, right: Expression) -> Expression:
    """`left operator right`, simplified by the rules of upstream's AffineExpr, in their order."""
    if isinstance(left, int) and isinstance(right, int) and is_defined(operator, right):
        return int(_CONSTANTS[operator](left, right))
    if operator in "+*" and _stands_right(left, right):
        left, right = right, left
    found = _SIMPLIFY[operator](left, right)
    return (operator, left, right) if found is None else found


def _stands_right(value: Expression, other: Expression) -> bool:
    """Whether a term stands to the right of another: constants and symbols do, and of two names the later."""
    if isinstance(value, int):
        return True
    if isinstance(other, int) or _is_constant(value) != _is_constant(other):
        return _is_constant(value) and not _is_constant(other)
    return bool(value[0] == other[0] in ("d", "s") and value[1] > other[1])


def _parts(value: Expression, operator: str) -> tuple[Expression, Expression] | None:
    """The two sides of an expression of this operator."""
    return (value[1], value[2]) if isinstance(value, tuple) and value[0] == operator else None


def _scaled(value: Expression) -> tuple[Expression, int]:
    """An expression as a multiple of another."""
    parts = _parts(value, "*")
    return (parts[0], parts[1]) if parts is not None and isinstance(parts[1], int) else (value, 1)


def _add(left: Expression, right: Expression) -> Expression | None:
    if right == 0:
        return left
    inner = _parts(left, "+")
    constant = inner[1] if inner is not None and isinstance(inner[1], int) else None
    if inner is not None and constant is not None and isinstance(right, int):
        return combine("+", inner[0], constant + right)
    (first, times), (second, more) = _scaled(left), _scaled(right)
    if first == second:
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
    """`e - (e floordiv q) * q` is `e mod q`."""
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
        return combine("*", inner[0], inner[1] * right)
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


def divisor_of(value: Expression) -> int:
    """The largest integer that is known to divide an expression."""
    if isinstance(value, int):
        return abs(value)
    if value[0] in ("d", "s"):
        return 1
    operator, left, right = value
    first = divisor_of(left)
    if operator == "*":
        return first * divisor_of(right)
    if operator in ("+", "mod"):
        return gcd(first, divisor_of(right))
    return abs(first // right) if isinstance(right, int) and right != 0 and first % right == 0 else 1


_SIMPLIFY: dict[str, Callable[[Expression, Expression], Expression | None]] = {
    "+": _add,
    "*": _multiply,
    "floordiv": _floor_divide,
    "ceildiv": _ceil_divide,
    "mod": _remainder,
}


def _plain_name(kind: str, index: int) -> str:
    return f"{kind}{index}"


def spell_expression(value: Expression, name: Callable[[str, int], str] = _plain_name, tight: bool = False) -> str:
    """The text of an expression; `name` spells dimension ("d") or symbol ("s") number so-and-so.

    >>> spell_expression(("+", ("*", ("d", 0), 4), -1))
    'd0 * 4 - 1'
    """
    if isinstance(value, int):
        return str(value)
    if value[0] in ("d", "s"):
        return name(*value)
    operator, left, right = value
    if operator == "*" and right == -1:
        text = f"-{spell_expression(left, name, True)}"
    elif operator != "+":
        text = f"{spell_expression(left, name, True)} {operator} {spell_expression(right, name, True)}"
    elif isinstance(right, int) and right < 0:
        text = f"{spell_expression(left, name)} - {-right}"
    elif isinstance(right, tuple) and right[0] == "*" and isinstance(right[2], int) and right[2] < 0:
        factor = "" if right[2] == -1 else f" * {-right[2]}"
        subtracted = spell_expression(right[1], name, right[2] != -1 or (right[1][0] == "+"))
        text = f"{spell_expression(left, name)} - {subtracted}{factor}"
    else:
        text = f"{spell_expression(left, name)} + {spell_expression(right, name)}"
    return f"({text})" if tight else text
