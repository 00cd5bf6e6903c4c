"""Sums and maxima along axes and over windows: what pools, means and softmax are made of."""

from dataclasses import dataclass

from qrt.ir import FloatAttr, Operation, Value
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.quantization.forms.elements import (
    Expression,
    behind,
    body_expression,
    elements_of,
    shape_of,
    splat_of,
    tensor_type,
)
from qrt.types import FloatType

_SUM = ("arith.addf",)
EXPANSIONS = ("tensor.expand_shape", "qrt.reshape")
"""Ops that put summed axes back."""
QUOTIENTS = ("arith.divf", "arith.mulf")
"""How the quotient by a count is written."""
_MAXIMUM = ("arith.maximumf", "arith.maxnumf")


@dataclass(frozen=True)
class Reduction:
    """A nest of loops that folds its first operand, from nothing."""

    operation: StructuredOp
    is_sum: bool

    @property
    def source(self) -> Value:
        """What it folds."""
        return self.operation.operands[0]


def reduction_of(value: Value) -> Reduction | None:
    """The sum or the maximum of elements of one tensor that a value is; a sum begins with 0, a maximum with nothing
    greater than the least float.
    """
    operation = value.operation
    if not isinstance(operation, StructuredOp) or len(operation.outputs) != 1 or tensor_type(value) is None:
        return None
    computed, out = body_expression(operation), ("input", len(operation.operands) - 1)
    if computed is None or "reduction" not in operation.iterators or len(computed) != 3:
        return None
    if computed[1:] not in ((("input", 0), out), (out, ("input", 0))):
        return None
    start = splat_of(operation.outputs[0])
    if computed[0] in _SUM and start == 0:
        return Reduction(operation, True)
    return Reduction(operation, False) if computed[0] in _MAXIMUM and is_least(start, value) else None


def is_least(number: float | None, value: Value) -> bool:
    """Whether no finite float of a value's elements is below a number."""
    type = tensor_type(value)
    if number is None or type is None or not isinstance(type.element, FloatType):
        return False
    return number <= -float(type.element.format.largest)


@dataclass(frozen=True)
class AxisReduction:
    """A reduction along whole axes."""

    source: Value
    axes: tuple[int, ...]
    keepdims: bool
    operations: tuple[Operation, ...]


def folded(value: Value, is_sum: bool) -> AxisReduction | None:
    """The sum or the maximum along axes that a value is; the axes are kept where a reshape puts them back."""
    source = value.operation
    if source is not None and source.name in EXPANSIONS:
        passed: list[Operation] = []
        inner = folded(behind(source.operands[0], passed), is_sum)
        if inner is None or not restores(inner, value):
            return None
        return AxisReduction(inner.source, inner.axes, True, (*inner.operations, *reversed(passed), source))
    reduction = reduction_of(value)
    if reduction is None or reduction.is_sum != is_sum or reduction.operation.input_count != 1:
        return None
    first, last = (map.results for map in reduction.operation.indexing_maps)
    rank = len(first)
    if list(first) != [("d", loop) for loop in range(rank)]:
        return None
    axes = tuple(axis for axis, kind in enumerate(reduction.operation.iterators) if kind == "reduction")
    kept = [0 if axis in axes else ("d", axis) for axis in range(rank)]
    if list(last) == [result for result in kept if result != 0]:
        return AxisReduction(reduction.source, axes, False, (reduction.operation,))
    if list(last) != kept or any(shape_of(value)[axis] != 1 for axis in axes):
        return None
    return AxisReduction(reduction.source, axes, True, (reduction.operation,))


def restores(inner: AxisReduction, value: Value) -> bool:
    """Whether a value has the axes that were summed over as axes of size 1."""
    kept = tuple(1 if axis in inner.axes else size for axis, size in enumerate(shape_of(inner.source)))
    return not inner.keepdims and shape_of(value) == kept


def quotient_of(value: Value, count: int) -> tuple[Value, Operation] | None:
    """What a value is a quotient of by a count, written as a division or as a product with the nearest float to the
    count's reciprocal; and the operation.
    """
    elements, type = elements_of(value), tensor_type(value)
    if elements is None or type is None or not isinstance(type.element, FloatType) or count < 1:
        return None
    simple = elements.simplified()
    if len(simple.inputs) != 1 or not simple.is_identity(0):
        return None
    x: Expression = ("input", 0)
    inverse = ("constant", FloatAttr.of(1 / count, type.element).value)
    quotients = (("arith.divf", x, ("constant", count)), ("arith.mulf", x, inverse), ("arith.mulf", inverse, x))
    return (simple.inputs[0], elements.operation) if simple.computed in quotients else None
