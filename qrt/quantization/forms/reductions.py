"""Recognition of sums, maxima and minima along axes and over windows, which are also parts of means and softmax."""

from dataclasses import dataclass
from typing import Literal

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

ReductionKind = Literal["sum", "max", "min"]
EXPANSIONS = ("tensor.expand_shape", "qrt.reshape")
"""Operations that restore reduced axes as axes of size 1."""
QUOTIENTS = ("arith.divf", "arith.mulf")
"""Operations that may write a division by a count."""
_KINDS: dict[object, ReductionKind] = {
    "arith.addf": "sum",
    "arith.maximumf": "max",
    "arith.maxnumf": "max",
    "arith.minimumf": "min",
    "arith.minnumf": "min",
}


@dataclass(frozen=True)
class Reduction:
    """A loop nest that computes the sum, maximum or minimum of its first operand, starting with the neutral element."""

    operation: StructuredOp
    kind: ReductionKind

    @property
    def source(self) -> Value:
        """The operand whose elements are reduced."""
        return self.operation.operands[0]


def reduction_of(value: Value) -> Reduction | None:
    """Return the reduction of one tensor that computes a value; None if there is none.

    A sum must start with 0, a maximum with the least finite float or less, a minimum with the greatest one or more.
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
    kind = _KINDS.get(computed[0])
    if kind is None or start is None:
        return None
    is_neutral = start == 0 if kind == "sum" else is_least(start if kind == "max" else -start, value)
    return Reduction(operation, kind) if is_neutral else None


def is_least(number: float | None, value: Value) -> bool:
    """Return True if ``number`` is at most the least finite float of a value's element type."""
    type = tensor_type(value)
    if number is None or type is None or not isinstance(type.element, FloatType):
        return False
    return number <= -float(type.element.format.largest)


@dataclass(frozen=True)
class AxisReduction:
    """A sum, maximum or minimum along whole axes of a tensor, and the operations that compute it."""

    source: Value
    axes: tuple[int, ...]
    keepdims: bool
    operations: tuple[Operation, ...]


def axis_reduction_of(value: Value, kind: ReductionKind) -> AxisReduction | None:
    """Return the reduction of this kind, along whole axes, that computes a value; None if there is none.

    A reshape that restores the reduced axes with size 1 is part of the reduction.
    """
    source = value.operation
    if source is not None and source.name in EXPANSIONS:
        passed: list[Operation] = []
        inner = axis_reduction_of(behind(source.operands[0], passed), kind)
        if inner is None or not restores(inner, value):
            return None
        return AxisReduction(inner.source, inner.axes, True, (*inner.operations, *reversed(passed), source))
    reduction = reduction_of(value)
    if reduction is None or reduction.kind != kind or reduction.operation.input_count != 1:
        return None
    first, last = (map.results for map in reduction.operation.indexing_maps)
    rank = len(first)
    if list(first) != [("d", loop) for loop in range(rank)]:
        return None
    axes = tuple(axis for axis, kind in enumerate(reduction.operation.iterators) if kind == "reduction")
    kept_results = [0 if axis in axes else ("d", axis) for axis in range(rank)]
    if list(last) == [result for result in kept_results if result != 0]:
        return AxisReduction(reduction.source, axes, False, (reduction.operation,))
    if list(last) != kept_results or any(shape_of(value)[axis] != 1 for axis in axes):
        return None
    return AxisReduction(reduction.source, axes, True, (reduction.operation,))


def restores(inner: AxisReduction, value: Value) -> bool:
    """Return True if a value has the shape of the reduction's operand, with size 1 along the reduced axes."""
    restored = tuple(1 if axis in inner.axes else size for axis, size in enumerate(shape_of(inner.source)))
    return not inner.keepdims and shape_of(value) == restored


def quotient_of(value: Value, count: int) -> tuple[Value, Operation] | None:
    """Return the dividend of a division by ``count``, and the dividing operation; None for any other value.

    A multiplication by the float nearest to `1 / count` counts as such a division.
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
