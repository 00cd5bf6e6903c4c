"""The pass `convert-stats`, which moves the ranges of `quant.stats` into the specifications of regions."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from qrt.ir import Attribute, DenseElementsAttr, IntegerAttr, Module, Operation
from qrt.ir.core.constraints import element_of
from qrt.ir.dialects.quant.port_stats import Array, PortRange
from qrt.ir.remarks import remark
from qrt.ir.rewriting.rewrite import replace
from qrt.quantization.annotations.boundary import AnnotatedType, Boundaries
from qrt.types import CalibratedType, FloatType, TensorType


@dataclass(frozen=True)
class ConvertStats:
    """Moves the ranges of `quant.stats` into the regions that define or use the annotated values. Changes no value."""

    def run(self, module: Module) -> None:
        remark_left(moved_stats(module))


def moved_stats(module: Module) -> list[Operation]:
    """Move the ranges of `quant.stats` into the regions that define or use the annotated values.

    Returns each `quant.stats` whose value no region defines or uses.
    """
    boundaries = Boundaries(module)
    of_results, of_operands = boundaries.move(annotation_of)
    moved = of_results | of_operands
    for operation in boundaries.outside:
        if operation in moved:
            replace(operation, operation.operands)
    return [op for op in boundaries.outside if op.name == "quant.stats" and op not in moved]


def remark_left(operations: Iterable[Operation]) -> None:
    """Emit a remark for each `quant.stats` that was kept because no region defines or uses its value."""
    for operation in operations:
        remark(operation, "is kept: no region defines or uses this value")


def annotation_of(operation: Operation) -> AnnotatedType | None:
    """Return the range of a `quant.stats`; None for other operations."""
    if operation.name != "quant.stats":
        return None
    type = operation.operands[0].type
    element = element_of(type)
    assert isinstance(element, FloatType)  # the op's rule
    ((low, high),) = _ranges(operation, "layerStats").tolist()
    axis = operation.attributes.get("axis")
    channels = None
    if isinstance(axis, IntegerAttr) and "axisStats" in operation.attributes:
        channels = _channels(_ranges(operation, "axisStats"), type, axis.value)
    if channels is None or not isinstance(axis, IntegerAttr):
        return AnnotatedType(CalibratedType(element, low, high), PortRange(low, high))
    return AnnotatedType(CalibratedType(element, low, high), PortRange(low, high, axis.value, channels))


def _ranges(operation: Operation, name: str) -> Array:
    """Return the ranges in the attribute ``name`` as float64 rows (low, high) with low < high.

    A range (x, x) is extended to 0; (0, 0) becomes (0, 1).
    """
    ends = _doubles(operation.attributes[name]).reshape(-1, 2)
    wrong = ~(np.isfinite(ends).all(1) & (ends[:, 0] <= ends[:, 1]))
    if wrong.any():
        low, high = ends[wrong.argmax()]
        raise operation.op_error(f"attribute '{name}' must have a finite minimum <= maximum, got {low:g} and {high:g}")
    is_point = ends[:, 0] == ends[:, 1]
    low = np.where(is_point, np.minimum(ends[:, 0], 0), ends[:, 0])
    high = np.where(is_point, np.maximum(ends[:, 1], 0), ends[:, 1])
    return np.stack((low, np.where((low == 0) & (high == 0), 1.0, high)), 1)


def _doubles(value: Attribute) -> Array:
    assert isinstance(value, DenseElementsAttr)  # the attribute's constraint
    return np.asarray(value.python, np.float64)


def _channels(ranges: Array, type: object, axis: int) -> Array | None:
    """Return one range (low, high) for each index of ``axis``; None if the size of the axis is unknown.

    ``ranges`` has one or more consecutive rows for each index; several, if the annotation also distinguishes indices of
    later axes. The rows of an index are joined to the smallest range that includes all of them.
    """
    size = type.shape[axis] if isinstance(type, TensorType) and type.shape is not None else None
    if not size:
        return None
    rows = ranges.reshape(size, -1, 2)
    return np.stack((rows[:, :, 0].min(1), rows[:, :, 1].max(1)), 1)
