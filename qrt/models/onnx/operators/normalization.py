"""Normalizations over the last axes.

Sums, means and quotients are in float64, and each result is rounded to float32 once. Runtimes sum in float32, in orders
that differ from one runtime to another.
"""

from collections.abc import Sequence

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, LoweringContext
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import apply
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.reductions import number_tensor


class _Rows:
    """A float32 tensor as rows: the elements along all axes from ``axis`` on are one row, normalized together."""

    def __init__(self, node: Node, x: Value, axis: int) -> None:
        self.node, self.x, self.axis, self.context = node, x, axis, lowering_context(node)
        if 0 in node.shape()[axis:]:
            node.refuse(f"of a tensor without elements, shape {list(node.shape())}")
        count = self.context.count(self.context.extents(x)[axis:])
        self.count = count if isinstance(count, int) else number_tensor(node, count, F64)

    def _mean(self, means: Sequence[Value]) -> Value:
        """Return the mean of each row. If ``means`` is a list with these means, return the variances instead."""
        extents = self.context.extents(self.x)
        nest = LoopNest(self.context, "accumulate", extents[: self.axis], extents[self.axis :])
        value = nest.value("arith.extf", (nest.read(self.x, nest.loops),), F64)
        for mean in means:
            difference = nest.value("arith.subf", (value, nest.read(mean, nest.loops[: self.axis])), F64)
            value = nest.value("arith.mulf", (difference, difference), F64)
        (total,) = nest.finish(nest.value("arith.addf", (nest.running(F64, 0.0), value), F64))
        nest = LoopNest(self.context, "divide", extents[: self.axis])
        value = nest.read(total, nest.loops)
        count = self.count
        by = nest.constant(float(count), F64) if isinstance(count, int) else nest.read(count, [])
        return nest.finish(nest.value("arith.divf", (value, by), F64))[0]

    def zeros(self) -> Value:
        """Return a mean of 0 for each row, for a normalization that subtracts no mean."""
        return self.context.filled(self.context.extents(self.x)[: self.axis], self.context.constant(0.0, F64))

    def normalized(self, mean: Value, epsilon: float, scale: Value | None, bias: Value | None) -> tuple[Value, Value]:
        """Return ``(x - mean) / deviation * scale + bias`` for each element, and ``1 / deviation`` for each row.

        ``deviation`` is the root of the row's mean squared difference from ``mean`` plus ``epsilon``. A scale or bias
        of None is left out.
        """
        variance = self._mean([mean])
        rows = self.context.extents(self.x)[: self.axis]
        nest = LoopNest(self.context, "deviation", rows)
        wide = nest.value("arith.addf", (nest.read(variance, nest.loops), nest.constant(epsilon, F64)), F64)
        root = nest.value("math.sqrt", (wide,), F64)
        (inverse,) = nest.finish(nest.value("arith.divf", (nest.constant(1.0, F64), root), F64))
        nest = LoopNest(self.context, "normalize", self.context.extents(self.x))
        row = nest.loops[: self.axis]
        value = nest.value("arith.extf", (nest.read(self.x, nest.loops),), F64)
        value = nest.value("arith.subf", (value, nest.read(mean, row)), F64)
        value = nest.value("arith.mulf", (value, nest.read(inverse, row)), F64)
        for op, operand in (("arith.mulf", scale), ("arith.addf", bias)):
            if operand is not None:
                value = nest.value(op, (value, nest.value("arith.extf", (self._along(nest, operand),), F64)), F64)
        return nest.finish(nest.value("arith.truncf", (value,), F32))[0], inverse

    def mean(self) -> Value:
        """Return the mean of each row."""
        return self._mean([])

    def _along(self, nest: LoopNest, operand: Value) -> Value:
        shape = operand.type.shape  # type: ignore[attr-defined]
        loops = nest.loops[len(nest.loops) - len(shape) :]
        return nest.read(operand, [0 if size == 1 else loop for size, loop in zip(shape, loops, strict=True)])

    def narrow(self, rows: Value) -> Value:
        """Round ``rows``, which has one float64 for each row, to float32.

        The result has axes of size 1 in place of the normalized axes.
        """
        context: LoweringContext = self.context
        extents = [*context.extents(rows), *(1,) * (len(self.node.shape()) - self.axis)]
        nest = LoopNest(context, "narrow", extents)
        value = nest.value("arith.truncf", (nest.read(rows, nest.loops[: self.axis]),), F32)
        return nest.finish(value)[0]


def _check(node: Node, i: int, axis: int) -> Value | None:
    """Return input ``i``, a scale or bias, or None if it is missing.

    Raise ModelError unless it is of float32 and broadcasts to input 0.
    """
    if not node.has(i):
        return None
    shape, own = node.shape(), node.shape(i)
    fits = len(own) <= len(shape) and all(a in (1, b) for a, b in zip(reversed(own), reversed(shape), strict=False))
    if node.plain(i) is not F32 or not fits or None in own:
        node.fail(
            f"input {i} must be float32 and broadcast to the axes of {node.type(0)} from axis {axis} on, got "
            f"{node.type(i)}"
        )
    return node.value(i)


def _normalize(node: Node, x: Value, axis: int, centred: bool, scale: int, bias: int | None) -> None:
    rows = _Rows(node, x, axis)
    mean = rows.mean() if centred else rows.zeros()
    epsilon = node.attribute("epsilon", 1e-5)
    parts = _check(node, scale, axis), None if bias is None else _check(node, bias, axis)
    y, inverse = rows.normalized(mean, epsilon, *parts)
    node.set(0, y)
    for i, value in ((1, mean), (2, inverse)):
        if node.returns(i):
            node.set(i, rows.narrow(value))


def _axis(node: Node) -> int:
    if node.plain(0) is not F32:
        node.refuse(f"of {node.dtype(0)}")
    return node.axis(node.attribute("axis", -1), len(node.shape()))


def layer_normalization(node: Node) -> None:
    """Import LayerNormalization: normalize float32 by mean and standard deviation over the axes from ``axis`` on.

    Then a scale and a bias are applied.
    """
    _normalize(node, node.value(0), _axis(node), True, 1, 2)


def rms_normalization(node: Node) -> None:
    """Import RMSNormalization or SimplifiedLayerNormalization: divide float32 by its root mean square.

    The mean is over the axes from ``axis`` on. The quotient is multiplied by a scale.
    """
    if node.returns(1):
        node.refuse("with the second result, the inverse of the root mean square")
    _normalize(node, node.value(0), _axis(node), False, 1, None)


def skip_layer_normalization(node: Node) -> None:
    """Import SkipLayerNormalization or SkipSimplifiedLayerNormalization: add two tensors, and normalize the sum.

    An optional bias is added too. The sum is normalized along the last axis.
    """
    simplified = node.op.type.startswith("SkipSimplified")
    bias_index = 3 if simplified else 4
    if any(node.returns(i) for i in (1, 2)) or node.plain(0) is not F32 or node.shape() != node.shape(1):
        node.refuse("of operands of two shapes, of another type than float32, or with more results")
    total = apply(node, "arith.addf", [node.value(0), node.value(1)], [F32, F32], F32)
    if node.has(bias_index):
        total = apply(node, "arith.addf", [total, node.value(bias_index)], [F32, F32], F32)
    assert isinstance(total, Value)
    if node.returns(3):
        node.set(3, total)
    rows = _Rows(node, total, len(node.shape()) - 1)
    mean = rows.zeros() if simplified else rows.mean()
    parts = _check(node, 2, rows.axis), None if simplified else _check(node, 3, rows.axis)
    node.set(0, rows.normalized(mean, node.attribute("epsilon", 1e-12 if not simplified else 1e-5), *parts)[0])
