"""What the operators share that move elements: axes, results that keep their bits, and results that are known."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.formats.importing.node import Node
from qrt.ir import DenseElementsAttr, Value
from qrt.ops import family_of
from qrt.ops.core import Array
from qrt.types import TensorType, Type, UniformType

Shape = tuple[int | None, ...]

_MOST_KNOWN = 1 << 12
"""Elements of a result that is computed at import. Sizes and positions are few."""
_MOST_OPERANDS = 63
"""Operands of one copy."""


def axis_of(node: Node, axis: int, rank: int) -> int:
    """An axis counted from 0, which may be named from the end."""
    if not -rank <= axis < rank:
        node.fail(f"axis {axis} is out of range for rank {rank}")
    return axis % rank


def axes_of(node: Node, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Axes counted from 0, each once and in order."""
    return tuple(sorted({axis_of(node, axis, rank) for axis in axes}))


def reshaped(node: Node, value: Value, shape: Shape) -> Value:
    """The value in another shape."""
    assert isinstance(value.type, TensorType)  # operators have tensors alone
    if value.type.shape == shape:
        return value
    known = [size for size in shape if size is not None]
    if None not in (*shape, *(value.type.shape or ())) and prod(known) != prod(n or 0 for n in value.type.shape or ()):
        node.fail(f"{list(value.type.shape or ())} does not have the elements of shape {list(shape)}")
    return node.emit("qrt.reshape", [value], None, TensorType(shape, value.type.element))


def joined(node: Node, values: Sequence[Value], axis: int, element: Type | None = None) -> Value:
    """Values of one type side by side; many are joined in groups."""
    parts = list(values)
    while len(parts) > 1:
        groups = [parts[first : first + _MOST_OPERANDS] for first in range(0, len(parts), _MOST_OPERANDS)]
        parts = [
            node.emit("qrt.concat", each, {"axis": axis}, element) if len(each) > 1 else each[0] for each in groups
        ]
    return parts[0]


def taken(node: Node, value: Value, axis: int, first: int, size: int, stride: int = 1) -> Value:
    """Elements along one axis."""
    assert isinstance(value.type, TensorType)
    rank = value.type.rank or 0
    lists = {
        "offsets": [first if d == axis else 0 for d in range(rank)],
        "sizes": [size if d == axis else -1 for d in range(rank)],
        "strides": [stride if d == axis else 1 for d in range(rank)],
    }
    return node.emit("qrt.slice", [value], lists)


def known_result(value: Value) -> Array | None:
    """The elements of a small tensor of integers or truth values that families make of constants."""
    if not isinstance(value.type, TensorType) or isinstance(value.type.element, UniformType):
        return None
    shape = value.type.shape
    if shape is None or None in shape or prod(n or 0 for n in shape) > _MOST_KNOWN:
        return None
    op = value.operation
    if op is None:
        return None
    if op.name == "arith.constant":
        held = op.attributes["value"]
        array = np.asarray(held.array) if isinstance(held, DenseElementsAttr) else None
        return array if array is not None and array.dtype.kind in "iub" else None
    family = family_of(op)
    if family is None or family.declaration.dialect != "qrt":
        return None
    operands = [known_result(each) for each in op.operands]
    arrays = [array for array in operands if array is not None]
    if len(arrays) < len(operands):
        return None
    types, results = (
        tuple(each.type for each in side if isinstance(each.type, TensorType)) for side in (op.operands, op.results)
    )
    attributes = family.read(op.attributes)
    return np.ascontiguousarray(family.compute(arrays, types, results, attributes)[value.index])


def erase_unused(value: Value) -> None:
    """Erases the operation of a value that nothing reads, and those that it alone reads; constants stay."""
    op = value.operation
    if op is None or op.name == "arith.constant" or any(result.uses for result in op.results):
        return
    operands = list(op.operands)
    op.erase()
    for operand in operands:
        erase_unused(operand)
