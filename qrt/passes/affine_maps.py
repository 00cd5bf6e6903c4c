"""Affine maps and their operands in one form: composed with what computes the operands, constants and symbols in place,
each sum written in one way, as upstream's `canonicalize` does."""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.ir.affine import AffineMapAttr, Expression, substitute
from qrt.ir.dialects.affine_scope import is_symbol, map_of
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.fold import constant_number
from qrt.passes.affine_sums import flattened


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
        counts = len(self.dimensions), len(self.symbols)
        self.results = tuple(flattened(result, *counts) for result in self.results)

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


def simplest(map: AffineMapAttr, operands: Sequence[Value]) -> tuple[AffineMapAttr, list[Value]]:
    """The map and its operands in their one form."""
    inputs = Inputs(map.results, operands, map.dimensions)
    inputs.compose()
    inputs.canonicalize()
    inputs.simplify()
    made = AffineMapAttr(len(inputs.dimensions), len(inputs.symbols), inputs.results)
    return made, inputs.dimensions + inputs.symbols
