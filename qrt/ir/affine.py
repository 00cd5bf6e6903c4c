"""Affine maps: `affine_map<(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)>`, simplified and spelled as upstream does.

An expression is `("d", i)`, `("s", i)`, an integer, or `(operator, left, right)`.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qrt.ir.attributes import Attribute

if TYPE_CHECKING:
    from qrt.ir.attribute_parser import AttributeParser

Expression = int | tuple[Any, ...]
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
        dimensions = ", ".join(f"d{i}" for i in range(self.dimensions))
        symbols = f"[{', '.join(f's{i}' for i in range(self.symbols))}]" if self.symbols else ""
        return f"affine_map<({dimensions}){symbols} -> ({', '.join(map(_spell, self.results))})>"


def add(left: Expression, right: Expression) -> Expression:
    """`left + right`, simplified."""
    return _combine("+", left, right)


def multiply(left: Expression, right: int) -> Expression:
    """`left * right`, simplified."""
    return _combine("*", left, right)


def floordiv(left: Expression, right: int) -> Expression:
    """`left floordiv right`, simplified."""
    return _combine("floordiv", left, right)


def evaluate(value: Expression, dimensions: Sequence[Any], symbols: Sequence[Any] = ()) -> Any:
    """The value of an expression: of integers, or of integer arrays that broadcast.

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
    return _CONSTANTS[operator](evaluate(left, dimensions, symbols), evaluate(right, dimensions, symbols))


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


def parse_affine_map(parser: "AttributeParser", start: int) -> AffineMapAttr:
    """What stands after the word `affine_map`. Raises ParseError."""
    scanner = parser.scanner
    scanner.expect("<", " after 'affine_map'")
    scanner.expect("(", " before affine dimensions")
    names: dict[str, Expression] = {}
    dimensions = _names(parser, names, "d", ")")
    symbols = _names(parser, names, "s", "]") if scanner.accept("[") else 0
    scanner.expect("->", " in affine map")
    scanner.expect("(", " before affine results")
    results: list[Expression] = []
    if not scanner.accept(")"):
        results.append(_sum(parser, names))
        while scanner.accept(","):
            results.append(_sum(parser, names))
        scanner.expect(")", " after affine results")
    scanner.expect(">", " closing the affine map")
    return AffineMapAttr(dimensions, symbols, tuple(results))


def _names(parser: "AttributeParser", names: dict[str, Expression], kind: str, close: str) -> int:
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


def _sum(parser: "AttributeParser", names: dict[str, Expression]) -> Expression:
    scanner = parser.scanner
    with scanner.nested():
        value = _product(parser, names)
        while True:
            if scanner.accept("+"):
                value = _combine("+", value, _product(parser, names))
            elif scanner.at("-") and not scanner.at("->"):
                scanner.expect("-")
                value = _combine("+", value, _combine("*", _product(parser, names), -1))
            else:
                return value


def _product(parser: "AttributeParser", names: dict[str, Expression]) -> Expression:
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
        if word != "*" and (not _is_constant(right) or (isinstance(right, int) and right <= 0)):
            raise scanner.error(f"the right side of {word} must be a positive constant or a symbol", start, scanner.pos)
        value = _combine(word, value, right)


def _operand(parser: "AttributeParser", names: dict[str, Expression]) -> Expression:
    scanner = parser.scanner
    start = scanner.skip()
    if scanner.accept("("):
        value = _sum(parser, names)
        scanner.expect(")", " in affine expression")
        return value
    if scanner.accept("-"):
        with scanner.nested():
            return _combine("*", _operand(parser, names), -1)
    if scanner.text[start : start + 1].isdigit():
        return scanner.integer(64, "an affine constant")
    name = scanner.word("an affine expression")
    if name not in names:
        raise scanner.error(f"use of undeclared identifier '{name}'", start, scanner.pos)
    return names[name]


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


def _combine(operator: str, left: Expression, right: Expression) -> Expression:
    if isinstance(left, int) and isinstance(right, int):
        return _CONSTANTS[operator](left, right)
    if operator in "+*" and (isinstance(left, int) or (_is_constant(left) and not _is_constant(right))):
        left, right = right, left
    if right == 0 and operator in "+*":
        return left if operator == "+" else 0
    if right == 1 and operator != "+":
        return 0 if operator == "mod" else left
    if operator in "+*" and isinstance(right, int) and isinstance(left, tuple):
        inner, *parts = left
        if inner == operator and isinstance(parts[1], int):
            return _combine(operator, parts[0], _combine(operator, parts[1], right))
    return operator, left, right


def _spell(value: Expression, tight: bool = False) -> str:
    if isinstance(value, int):
        return str(value)
    if value[0] in ("d", "s"):
        return f"{value[0]}{value[1]}"
    operator, left, right = value
    if operator == "*" and right == -1:
        text = f"-{_spell(left, True)}"
    elif operator != "+":
        text = f"{_spell(left, True)} {operator} {_spell(right, True)}"
    elif isinstance(right, int) and right < 0:
        text = f"{_spell(left)} - {-right}"
    elif isinstance(right, tuple) and right[0] == "*" and isinstance(right[2], int) and right[2] < 0:
        factor = "" if right[2] == -1 else f" * {-right[2]}"
        subtracted = _spell(right[1], right[2] != -1 or (right[1][0] == "+"))
        text = f"{_spell(left)} - {subtracted}{factor}"
    else:
        text = f"{_spell(left)} + {_spell(right)}"
    return f"({text})" if tight else text
