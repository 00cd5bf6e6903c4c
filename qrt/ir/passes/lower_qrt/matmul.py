"""Lowering of matmul to a contraction whose outer loops are the result's dimensions and whose reduced loop is K."""

from collections.abc import Sequence

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.lowering import (
    Extent,
    LoweringContext,
    broadcast,
    broadcast_indices,
    tensor_type,
    uniform_type,
)
from qrt.ir.passes.lower_qrt.accumulate import contract, lower_bias
from qrt.ir.passes.lower_qrt.contraction import Contraction, ProductOperand, zero_points_of
from qrt.ir.passes.lower_qrt.parameters import Channels, requantization
from qrt.ir.passes.lower_qrt.sub_channel import contract_blocks
from qrt.ops.core import Attributes


def lower_matmul(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.matmul and return its result as storage integers.

    Dynamic batch dimensions do not broadcast: if one is 1 at run time and the other is not, that is an error.
    """
    if uniform_type(op.operands[1]).is_sub_channel:
        return contract_blocks(context, op, attributes["requant"])
    a, w = (_Operand(context, value, rows) for value, rows in zip(op.operands, (True, False), strict=False))
    outer = _result_extents(context, a, w)
    batch = len(outer) - a.is_matrix - w.is_matrix
    rows = [("d", batch)] if a.is_matrix else []
    columns = [("d", len(outer) - 1)] if w.is_matrix else []
    left, right = a.factor(outer, batch, rows), w.factor(outer, batch, columns)
    depth = a.depth if isinstance(a.depth, int) else w.depth
    known = depth if isinstance(depth, int) else None
    c = Contraction(left, right, outer, (depth,), known)
    element = uniform_type(op.results[0])
    factors = [Channels.along(f.type, f.channel[0] if f.channel else 0) for f in (left, right)]
    r = requantization(attributes["requant"], factors, Channels.along(element, ("d", element.axis or 0)))
    if len(op.operands) < 3:
        return contract(context, c, None, r)
    channels = outer[-1] if columns else 1
    bias = lower_bias(context, op.operands[2], left.type, right.type, channels)
    return contract(context, c, (bias, columns or [0]), r)


class _Operand:
    """An operand of a matmul: `a` [..., rows, K] or `w` [..., K, columns], or a vector [K].

    `batch` are the sizes of the leading dimensions, and `line` is the number of rows or columns.
    """

    def __init__(self, context: LoweringContext, value: Value, is_left: bool) -> None:
        self.type = uniform_type(value)
        self.tensor = context.storage(value)
        self.is_left = is_left
        self.shape = tensor_type(value).shape or ()
        self.is_matrix = len(self.shape) > 1
        self.sizes = context.extents(self.tensor)
        self.batch = self.sizes[:-2]
        self.depth = self.sizes[-1] if is_left or not self.is_matrix else self.sizes[-2]
        self.line = self.sizes[-2] if is_left and self.is_matrix else self.sizes[-1]

    def index(self, coordinates: Sequence[Expression], reduced: Sequence[Expression]) -> tuple[Expression, ...]:
        if self.is_left or not self.is_matrix:
            return (*coordinates, *reduced)
        return (*coordinates[:-1], *reduced, coordinates[-1])

    def factor(self, outer: Sequence[Extent], batch: int, line: Sequence[Expression]) -> ProductOperand:
        """Return the operand as the factor of a contraction over the loops `outer`.

        The first `batch` loops are batch dimensions. `line` is the loop along the operand's rows or columns; it is
        empty for a vector.
        """
        coordinates = (*broadcast_indices(self.batch, batch), *line)
        extents = (*self.batch, *([self.line] if line else []))
        axis = self.type.axis if self.type.is_per_axis else None
        channel = () if axis is None else (self.index(coordinates, (0,))[axis],)
        return ProductOperand(
            self.tensor, self.type, coordinates, extents, self.index, zero_points_of(self.type), channel
        )


def _result_extents(context: LoweringContext, a: _Operand, w: _Operand) -> tuple[Extent, ...]:
    """Return the sizes of the result, by NumPy's rules for `a @ w`."""
    return (
        *broadcast(context, a.batch, w.batch),
        *([a.line] if a.is_matrix else []),
        *([w.line] if w.is_matrix else []),
    )
