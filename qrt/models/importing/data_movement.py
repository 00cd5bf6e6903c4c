"""What the operators share that move elements: axes, results that keep their bits, and results that are known."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from qrt.ir import DenseElementsAttr, Operation, Value
from qrt.ir.constants import constant_array
from qrt.ir.rewriting.constant_folder import ConstantFolder
from qrt.models.importing.node import Node
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
        node.fail(f"{list(value.type.shape or ())} has another number of elements than shape {list(shape)}")
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
    if value.operation is None or not _is_small(value.type):
        return None
    results = _FOLDER.results(value.operation, known_result)
    return None if results is None else np.asarray(results[value.index], order="C")


def _is_small(type: Type) -> bool:
    if not isinstance(type, TensorType) or isinstance(type.element, UniformType) or not type.has_static_shape:
        return False
    return prod(size or 0 for size in type.shape or ()) <= _MOST_KNOWN


def _evaluate(op: Operation, known: Mapping[Value, Array]) -> Sequence[Array] | None:
    """Compute a constant of integers, or an op of a family by its reference. One that does not run is an error."""
    if op.name == "arith.constant":
        constant = op.attributes["value"]
        is_whole = isinstance(constant, DenseElementsAttr) and constant.array.dtype.kind in "iub"
        return [constant_array(op)] if is_whole else None
    family = family_of(op)
    if family is None:
        return None
    types, results = (
        tuple(each.type for each in side if isinstance(each.type, TensorType)) for side in (op.operands, op.results)
    )
    return family.compute([known[each] for each in op.operands], types, results, family.read(op.attributes))


_FOLDER: ConstantFolder[Value] = ConstantFolder(_evaluate, lambda op: True, lambda op, arrays: None)
"""What is computed at import goes into the file's constants, not into the program."""


def erase_unused(value: Value) -> None:
    """Erases the operation of a value that nothing reads, and those that it alone reads; constants stay."""
    op = value.operation
    if op is None or op.name == "arith.constant" or any(result.uses for result in op.results):
        return
    operands = list(op.operands)
    op.erase()
    for operand in operands:
        erase_unused(operand)
