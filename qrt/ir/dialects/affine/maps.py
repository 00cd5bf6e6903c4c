"""Canonical form of affine maps and their operands, as upstream's `canonicalize` writes them.

The `affine.apply` ops that compute operands are merged into the map, constants are inlined, dimension operands that are
valid symbols become symbol operands, and sums are flattened.
"""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.ir.core.affine import AffineMapAttr, Expression, is_readable, parts_of, substitute
from qrt.ir.core.matching import constant_number, defining_op
from qrt.ir.dialects.affine.dimensions import is_symbol, map_of
from qrt.ir.dialects.affine.sums import flattened


class Inputs:
    """Affine expressions (`results`) and their operands, which are rewritten together.

    In an expression, `("d", i)` is operand `dimensions[i]` and `("s", i)` is operand `symbols[i]`.
    """

    def __init__(self, results: Sequence[Expression], operands: Sequence[Value], dimensions: int) -> None:
        self.results = tuple(results)
        self.dimensions = list(operands[:dimensions])
        self.symbols = list(operands[dimensions:])

    def replace(self, dimensions: Sequence[Expression], symbols: Sequence[Expression]) -> bool:
        """Substitute expressions for dimensions and symbols; return False, without effect, if a result gets too large.

        Repeated substitution can grow the results exponentially, because every use of an operand is replaced.
        """
        if list(dimensions) == _own("d", dimensions) and list(symbols) == _own("s", symbols):
            return True
        results = tuple(substitute(result, dimensions, symbols) for result in self.results)
        if not all(map(is_readable, results)):
            return False
        self.results = results
        return True

    def compose(self) -> bool:
        """Merge each `affine.apply` that computes an operand into the expressions; return True if there was any."""
        is_changed = False
        while self._compose_one(self.dimensions, "d") or self._compose_one(self.symbols, "s"):
            is_changed = True
        return is_changed

    def simplify(self) -> None:
        """Replace each result by its canonical sum (`sums.flattened`)."""
        counts = len(self.dimensions), len(self.symbols)
        self.results = tuple(flattened(result, *counts) for result in self.results)

    def _compose_one(self, operands: list[Value], kind: str) -> bool:
        for position, value in enumerate(operands):
            inner = defining_op(value, "affine.apply")
            if inner is None:
                continue
            dimensions, symbols = _own("d", self.dimensions), _own("s", self.symbols)
            computed = map_of(inner)
            expression = substitute(
                computed.results[0],
                [("d", len(dimensions) + i) for i in range(computed.dimensions)],
                [("s", len(symbols) + i) for i in range(computed.symbols)],
            )
            (dimensions if kind == "d" else symbols)[position] = expression
            if not self.replace(dimensions, symbols):
                continue
            self.dimensions += inner.operands[: computed.dimensions]
            self.symbols += inner.operands[computed.dimensions :]
            self._drop_unused()
            return True
        return False

    def _drop_unused(self) -> None:
        used = parts_of(self.results)
        indices_by_kind = {kind: [i for i in range(len(values)) if (kind, i) in used] for kind, values in self._kinds()}
        places = {
            (kind, old): (kind, new) for kind, indices in indices_by_kind.items() for new, old in enumerate(indices)
        }
        if self.replace(*([places.get((kind, i), 0) for i in range(len(values))] for kind, values in self._kinds())):
            self.dimensions = [self.dimensions[i] for i in indices_by_kind["d"]]
            self.symbols = [self.symbols[i] for i in indices_by_kind["s"]]

    def _kinds(self) -> tuple[tuple[str, list[Value]], tuple[str, list[Value]]]:
        return ("d", self.dimensions), ("s", self.symbols)

    def canonicalize(self) -> None:
        """Turn dimensions into symbols where possible, inline constants, and remove repeated and unused operands."""
        self._name_symbols()
        self._drop_unused()
        self.replace(_own("d", self.dimensions), [_constant(self.symbols, i) for i in range(len(self.symbols))])
        first = {kind: {value: i for i, value in reversed(list(enumerate(values)))} for kind, values in self._kinds()}
        self.replace(*([(kind, first[kind][value]) for value in values] for kind, values in self._kinds()))
        self._drop_unused()

    def _name_symbols(self) -> None:
        dimensions: list[Expression] = []
        remaining: list[Value] = []
        moved: list[Value] = []
        for value in self.dimensions:
            if is_symbol(value):
                dimensions.append(("s", len(self.symbols) + len(moved)))
                moved.append(value)
            else:
                dimensions.append(("d", len(remaining)))
                remaining.append(value)
        if self.replace(dimensions, _own("s", self.symbols)):
            self.dimensions, self.symbols = remaining, self.symbols + moved


def _own(kind: str, operands: Sequence[object]) -> list[Expression]:
    return [(kind, i) for i in range(len(operands))]


def _constant(symbols: Sequence[Value], index: int) -> Expression:
    number = constant_number(symbols[index])
    return ("s", index) if number is None else number


def simplest(map: AffineMapAttr, operands: Sequence[Value]) -> tuple[AffineMapAttr, list[Value]]:
    """Return the canonical form of a map and its operands."""
    inputs = Inputs(map.results, operands, map.dimensions)
    inputs.compose()
    inputs.canonicalize()
    inputs.simplify()
    simplified = AffineMapAttr(len(inputs.dimensions), len(inputs.symbols), inputs.results)
    return simplified, inputs.dimensions + inputs.symbols
