"""Affine maps: `affine_map<(d0, d1)[s0] -> (d0 floordiv 2, d1 + s0)>`, simplified and spelled as upstream does.

An expression is `("d", i)`, `("s", i)`, an integer, or `(operator, left, right)`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from qrt.ir.attributes import Attribute
from qrt.text import Scanner

if TYPE_CHECKING:
    from qrt.ir.attribute_parser import AttributeParser

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
        dimensions = ", ".join(f"d{i}" for i in range(self.dimensions))
        symbols = f"[{', '.join(f's{i}' for i in range(self.symbols))}]" if self.symbols else ""
        return f"affine_map<({dimensions}){symbols} -> ({', '.join(map(_spell, self.results))})>"


def floordiv(left: Expression, right: int) -> Expression:
    """`left floordiv right`, simplified."""
    return _combine("floordiv", left, right)


def parse_affine_map(parser: "AttributeParser", start: int) -> AffineMapAttr:
    """What stands after the word `affine_map`. Raises ParseError."""
    scanner = parser.scanner
    scanner.expect("<", " after 'affine_map'")
    scanner.expect("(", " before affine dimensions")
    reader = _Reader(scanner)
    dimensions = reader.names("d", ")")
    symbols = reader.names("s", "]") if scanner.accept("[") else 0
    scanner.expect("->", " in affine map")
    scanner.expect("(", " before affine results")
    results: list[Expression] = []
    if not scanner.accept(")"):
        results.append(reader.sum())
        while scanner.accept(","):
            results.append(reader.sum())
        scanner.expect(")", " after affine results")
    scanner.expect(">", " closing the affine map")
    return AffineMapAttr(dimensions, symbols, tuple(results))


class _Reader:
    """Reads the expressions of one map."""

    def __init__(self, scanner: Scanner) -> None:
        self.scanner = scanner
        self.known: dict[str, Expression] = {}
        self.operators = 0

    def names(self, kind: str, close: str) -> int:
        scanner = self.scanner
        count = 0
        if scanner.accept(close):
            return 0
        while True:
            start = scanner.skip()
            name = scanner.word("an affine identifier")
            if name in self.known:
                raise scanner.error(f"redefinition of identifier '{name}'", start, scanner.pos)
            self.known[name] = (kind, count)
            count += 1
            if not scanner.accept(","):
                scanner.expect(close, " after affine identifiers")
                return count

    def sum(self) -> Expression:
        scanner = self.scanner
        with scanner.nested():
            value = self._product()
            while True:
                start = scanner.skip()
                if scanner.accept("+"):
                    value = self._combined(start, "+", value, self._product())
                elif scanner.at("-") and not scanner.at("->"):
                    scanner.expect("-")
                    value = self._combined(start, "+", value, self._combined(start, "*", self._product(), -1))
                else:
                    return value

    def _product(self) -> Expression:
        scanner = self.scanner
        value = self._operand()
        while True:
            start = scanner.skip()
            word = "*" if scanner.accept("*") else scanner.peek_word()
            if word in _WORDS:
                scanner.expect(word)
            elif word != "*":
                return value
            right = self._operand()
            if word == "*" and not (_is_constant(value) or _is_constant(right)):
                message = "non-affine expression: one factor must be a constant or a symbol"
                raise scanner.error(message, start, scanner.pos)
            if word != "*" and (not _is_constant(right) or (isinstance(right, int) and right <= 0)):
                message = f"the right side of {word} must be a positive constant or a symbol"
                raise scanner.error(message, start, scanner.pos)
            value = self._combined(start, word, value, right)

    def _operand(self) -> Expression:
        scanner = self.scanner
        start = scanner.skip()
        if scanner.accept("("):
            value = self.sum()
            scanner.expect(")", " in affine expression")
            return value
        if scanner.accept("-"):
            with scanner.nested():
                return self._combined(start, "*", self._operand(), -1)
        if scanner.text[start : start + 1].isdigit():
            return scanner.integer(64, "an affine constant")
        name = scanner.word("an affine expression")
        if name not in self.known:
            raise scanner.error(f"use of undeclared identifier '{name}'", start, scanner.pos)
        return self.known[name]

    def _combined(self, start: int, operator: str, left: Expression, right: Expression) -> Expression:
        """The expression, simplified; an error where it is too large to be taken apart again."""
        self.operators += 1
        if self.operators > MAX_OPERATORS:
            raise self.scanner.error(f"more than {MAX_OPERATORS} operators in an affine map", start)
        value = _combine(operator, left, right)
        constant = value if isinstance(value, int) else value[-1]
        if isinstance(constant, int) and not _INT64_MIN <= constant <= -_INT64_MIN - 1:
            raise self.scanner.error("an affine constant does not fit 64 bits", start, self.scanner.pos)
        return value


def _is_constant(value: Expression) -> bool:
    """A constant, or made of symbols alone."""
    if isinstance(value, int):
        return True
    return value[0] == "s" or (value[0] != "d" and all(map(_is_constant, value[1:])))


_CONSTANTS: dict[str, Callable[[int, int], int]] = {
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
