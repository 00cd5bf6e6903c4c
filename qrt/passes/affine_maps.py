"""Affine maps and their operands in one form: composed with what computes the operands, constants and symbols in place,
each sum written in one way, as upstream's `canonicalize` does."""

from collections.abc import Sequence
from math import gcd

from qrt.ir import Value
from qrt.ir.affine import AffineMapAttr, Expression, add, floordiv, multiply, substitute
from qrt.ir.dialects.affine import is_symbol, map_of
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.fold import constant_number


class Inputs:
    """The operands of expressions while both are rewritten."""

    def __init__(self, results: Sequence[Expression], operands: Sequence[Value], dimensions: int) -> None:
        self.results = tuple(results)
        self.dimensions = list(operands[:dimensions])
        self.symbols = list(operands[dimensions:])

    def replace(self, dimensions: Sequence[Expression], symbols: Sequence[Expression]) -> None:
        self.results = tuple(substitute(result, dimensions, symbols) for result in self.results)

    def compose(self) -> bool:
        """What an `affine.apply` computes is computed here. Whether there was any."""
        found = False
        while self._compose_one(self.dimensions, "d") or self._compose_one(self.symbols, "s"):
            found = True
        return found

    def simplify(self) -> None:
        """Each sum in one form."""
        self.results = tuple(map(_flattened, self.results))

    def _compose_one(self, operands: list[Value], kind: str) -> bool:
        for position, value in enumerate(operands):
            inner = made_by(value, "affine.apply")
            if inner is None:
                continue
            dimensions: list[Expression] = [("d", i) for i in range(len(self.dimensions))]
            symbols: list[Expression] = [("s", i) for i in range(len(self.symbols))]
            map = map_of(inner)
            made = substitute(
                map.results[0],
                [("d", len(dimensions) + i) for i in range(map.dimensions)],
                [("s", len(symbols) + i) for i in range(map.symbols)],
            )
            (dimensions if kind == "d" else symbols)[position] = made
            self.replace(dimensions, symbols)
            self.dimensions += inner.operands[: map.dimensions]
            self.symbols += inner.operands[map.dimensions :]
            self._drop_unused()
            return True
        return False

    def _drop_unused(self) -> None:
        used = {name for result in self.results for name in _names(result)}
        kept = {kind: [i for i in range(len(values)) if (kind, i) in used] for kind, values in self._kinds()}
        self.replace(
            *(
                [(kind, kept[kind].index(i)) if i in kept[kind] else 0 for i in range(len(values))]
                for kind, values in self._kinds()
            )
        )
        self.dimensions = [self.dimensions[i] for i in kept["d"]]
        self.symbols = [self.symbols[i] for i in kept["s"]]

    def _kinds(self) -> tuple[tuple[str, list[Value]], tuple[str, list[Value]]]:
        return ("d", self.dimensions), ("s", self.symbols)

    def canonicalize(self) -> None:
        """Symbols are no dimensions; constants are in the expressions; each operand is there once, and read."""
        dimensions: list[Expression] = []
        kept: list[Value] = []
        for value in self.dimensions:
            if is_symbol(value):
                dimensions.append(("s", len(self.symbols)))
                self.symbols.append(value)
            else:
                dimensions.append(("d", len(kept)))
                kept.append(value)
        self.dimensions, given = kept, len(self.symbols)
        self.replace(dimensions, [("s", i) for i in range(given)])
        self._drop_unused()
        self.replace(
            [("d", i) for i in range(len(self.dimensions))],
            [_constant(self.symbols, i) for i in range(len(self.symbols))],
        )
        self.replace(*([(kind, values.index(value)) for value in values] for kind, values in self._kinds()))
        self._drop_unused()


def _constant(symbols: Sequence[Value], index: int) -> Expression:
    number = constant_number(symbols[index])
    return ("s", index) if number is None else number


def _names(value: Expression) -> set[tuple[str, int]]:
    if isinstance(value, int):
        return set()
    if value[0] in ("d", "s"):
        return {(value[0], value[1])}
    return _names(value[1]) | _names(value[2])


# -- one form of each sum ----------------------------------------------------------------------------------------------

_Terms = dict[Expression, int]
"""Coefficients of dimensions, symbols and quotients; 1 stands for the constant term."""


def _flattened(value: Expression) -> Expression:
    """Dimensions, symbols, quotients, a constant: each once. What multiplies symbols stays as it is."""
    terms = _terms(value)
    return value if terms is None else _sum(terms)


def _sum(terms: _Terms) -> Expression:
    kinds = {"d": 0, "s": 1}
    parts = sorted((part for part in terms if not isinstance(part, int)), key=lambda part: kinds.get(part[0], 2))
    named = sorted((part for part in parts if part[0] in kinds), key=lambda part: (kinds[part[0]], part[1]))
    total: Expression = 0
    for part in [*named, *(part for part in parts if part[0] not in kinds)]:
        if terms[part]:
            total = add(total, multiply(part, terms[part]))
    return add(total, terms.get(1, 0))


def _terms(value: Expression) -> _Terms | None:
    if isinstance(value, int):
        return {1: value}
    if value[0] in ("d", "s"):
        return {value: 1}
    operator, left, right = value
    first, second = _terms(left), _terms(right)
    if first is None or second is None:
        return None
    if operator == "+":
        return {part: first.get(part, 0) + second.get(part, 0) for part in [*first, *second]}
    if not isinstance(right, int):
        return None
    if operator == "*":
        return {part: number * right for part, number in first.items()}
    return None if right < 1 else _quotient(operator, first, right)


def _quotient(operator: str, terms: _Terms, divisor: int) -> _Terms:
    common = gcd(divisor, *terms.values())
    small = {part: number // common for part, number in terms.items()}
    if operator == "mod":
        quotient = floordiv(_sum(small), divisor // common)
        inner = _terms_of(quotient)
        return {part: terms.get(part, 0) - divisor * inner.get(part, 0) for part in [*terms, *inner]}
    if divisor == common:
        return small
    if operator == "floordiv":
        return _terms_of(floordiv(_sum(small), divisor // common))
    return {("ceildiv", _sum(small), divisor // common): 1}


def _terms_of(quotient: Expression) -> _Terms:
    """A quotient is a term; what it has been simplified to may be none."""
    whole = isinstance(quotient, tuple) and quotient[0] in ("floordiv", "ceildiv")
    return {quotient: 1} if whole else _terms(quotient) or {quotient: 1}


def simplest(map: AffineMapAttr, operands: Sequence[Value]) -> tuple[AffineMapAttr, list[Value]]:
    """The map and its operands in their one form."""
    inputs = Inputs(map.results, operands, map.dimensions)
    inputs.compose()
    inputs.canonicalize()
    inputs.simplify()
    made = AffineMapAttr(len(inputs.dimensions), len(inputs.symbols), inputs.results)
    return made, inputs.dimensions + inputs.symbols
