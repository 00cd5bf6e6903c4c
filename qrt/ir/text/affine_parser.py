"""Parser of affine maps, integer sets and affine expressions."""

from functools import partial
from typing import cast

from qrt.ir.core.affine import (
    MAX_OPERATORS,
    AffineMapAttr,
    Expression,
    IntegerSetAttr,
    combine,
    count_operators,
    is_constant,
    multiply,
)
from qrt.ir.core.attribute_kinds import AttributeReader
from qrt.ir.core.forms import FormParser, OperandName
from qrt.types.scanner import Scanner

_WORDS = ("floordiv", "ceildiv", "mod")


def parse_affine_map(parser: AttributeReader, start: int) -> AffineMapAttr:
    """Parse `<(d0)[s0] -> (d0 + s0)>` after the word `affine_map`."""
    parser.scanner.expect("<", " after 'affine_map'")
    map = parse_affine_map_body(parser)
    parser.scanner.expect(">", " closing the affine map")
    return map


def parse_affine_map_body(parser: AttributeReader) -> AffineMapAttr:
    """Parse an affine map without its angle brackets: `(d0)[s0] -> (d0 + s0)`."""
    scanner = parser.scanner
    names, dimensions, symbols = _parse_header(parser)
    scanner.expect("->", " in affine map")
    return AffineMapAttr(dimensions, symbols, tuple(parse_expressions(parser, names, before=" before affine results")))


def parse_affine_set(parser: AttributeReader, start: int) -> IntegerSetAttr:
    """Parse `<(d0)[s0] : (d0 - s0 >= 0)>` after the word `affine_set`."""
    scanner = parser.scanner
    scanner.expect("<", " after 'affine_set'")
    names, dimensions, symbols = _parse_header(parser)
    scanner.expect(":", " in integer set")
    read = partial(_constraint, parser, names)
    constraints = scanner.bracketed("()", read, " before constraints", " after constraints")
    scanner.expect(">", " closing the integer set")
    return IntegerSetAttr(dimensions, symbols, tuple(constraints) or ((0, True),))


class Names(dict[str, Expression]):
    """Dict from the identifiers of one affine map to their expressions, such as `("d", 0)`.

    `operators` counts the operators of the expression being parsed, to limit its size.
    """

    operators = 0

    def combine(self, scanner: Scanner, start: int, operator: str, left: Expression, right: Expression) -> Expression:
        """Return `left operator right`, simplified. Raise ParseError if the expression has too many operators."""
        self.operators += 1
        value = combine(operator, left, right)
        if max(self.operators, count_operators(value)) > MAX_OPERATORS:
            raise scanner.error(f"an affine expression can have at most {MAX_OPERATORS} operators", start)
        return value


class ValueNames(Names):
    """Dict from SSA values in the subscripts of a custom form, `[%i + symbol(%n)]`, to dimensions and symbols."""

    def __init__(self) -> None:
        super().__init__()
        self.dimensions: list[OperandName] = []
        self.symbols: list[OperandName] = []

    @property
    def operands(self) -> list[OperandName]:
        return [*self.dimensions, *self.symbols]

    def value(self, parser: FormParser, kind: str) -> Expression:
        """Read an SSA value and return its dimension (kind "d") or symbol (kind "s"), a new one at the first use."""
        operand = parser.operand()
        operands = self.dimensions if kind == "d" else self.symbols
        if operand[:2] not in [known[:2] for known in self.operands]:
            operands.append(operand)
            self[f"{operand[0]}#{operand[1]}"] = (kind, len(operands) - 1)
        return self[f"{operand[0]}#{operand[1]}"]


def parse_map_of_values(parser: FormParser, brackets: str) -> tuple[AffineMapAttr, list[OperandName]]:
    """Parse bracketed affine expressions of SSA values, such as `[%i + 1, symbol(%n)]`.

    Return the map and its operands: the values for dimensions, then the values for symbols.
    """
    names = ValueNames()
    results = parse_expressions(parser, names, brackets)
    return AffineMapAttr(len(names.dimensions), len(names.symbols), tuple(results)), names.operands


def parse_expressions(
    parser: AttributeReader, names: Names, brackets: str = "()", before: str = ""
) -> list[Expression]:
    """Parse a bracketed list of affine expressions; `before` completes the error about a missing opening bracket."""
    read = partial(parse_expression, parser, names)
    return parser.scanner.bracketed(brackets, read, before, " after affine expressions")


def parse_expression(parser: AttributeReader, names: Names) -> Expression:
    """Parse an affine expression.

    The limit on nesting counts from 0 for each expression, not from the depth of the regions around it. A pass may
    build the same expression at any depth of regions, and the printed text must parse again.
    """
    names.operators = 0
    scanner = parser.scanner
    around, scanner.depth = scanner.depth, 0
    try:
        return _sum(parser, names)
    finally:
        scanner.depth = around


def _parse_header(parser: AttributeReader) -> tuple[Names, int, int]:
    """Parse `(d0, d1)[s0]`; return the names and the numbers of dimensions and of symbols."""
    scanner = parser.scanner
    scanner.expect("(", " before affine dimensions")
    names = Names()
    dimensions = _names(parser, names, "d", ")")
    return names, dimensions, _names(parser, names, "s", "]") if scanner.accept("[") else 0


def _constraint(parser: AttributeReader, names: Names) -> tuple[Expression, bool]:
    left = parse_expression(parser, names)
    for relation in (">=", "<=", "=="):
        if parser.scanner.accept(relation):
            right = _sum(parser, names)
            if relation == "<=":
                left, right = right, left
            if right != 0:
                left = names.combine(parser.scanner, parser.scanner.pos, "+", left, multiply(right, -1))
            return left, relation == "=="
    raise parser.scanner.error("expected '>=', '<=' or '==' in a constraint")


def _names(parser: AttributeReader, names: Names, kind: str, close: str) -> int:
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


def _sum(parser: AttributeReader, names: Names) -> Expression:
    scanner = parser.scanner
    with scanner.nested():
        value = _product(parser, names)
        while True:
            start = scanner.skip()
            if scanner.accept("+"):
                value = names.combine(scanner, start, "+", value, _product(parser, names))
            elif scanner.at("-") and not scanner.at("->"):
                scanner.expect("-")
                value = names.combine(scanner, start, "+", value, multiply(_product(parser, names), -1))
            else:
                return value


def _product(parser: AttributeReader, names: Names) -> Expression:
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
        if word == "*" and not (is_constant(value) or is_constant(right)):
            raise scanner.error("non-affine expression: one factor must be a constant or a symbol", start, scanner.pos)
        if word != "*" and not is_constant(right):
            message = f"non-affine expression: right operand of {word} has to be either a constant or symbolic"
            raise scanner.error(message, start, scanner.pos)
        value = names.combine(scanner, start, word, value, right)


def _operand(parser: AttributeReader, names: Names) -> Expression:
    scanner = parser.scanner
    start = scanner.skip()
    if scanner.accept("("):
        value = _sum(parser, names)
        scanner.expect(")", " in affine expression")
        return value
    if scanner.accept("-"):
        with scanner.nested():
            return multiply(_operand(parser, names), -1)
    if scanner.text[start : start + 1].isdigit():
        return scanner.integer(64, "an affine constant")
    if isinstance(names, ValueNames):
        return _value(cast(FormParser, parser), names)
    name = scanner.word("an affine expression")
    if name not in names:
        raise scanner.error(f"use of undeclared identifier '{name}'", start, scanner.pos)
    return names[name]


def _value(parser: FormParser, names: ValueNames) -> Expression:
    if not parser.scanner.accept_word("symbol"):
        return names.value(parser, "d")
    parser.scanner.expect("(", " after 'symbol'")
    value = names.value(parser, "s")
    parser.scanner.expect(")", " after a symbol")
    return value
