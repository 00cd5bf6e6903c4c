"""Helpers for operators that move elements: axes, reshapes, concatenations, slices, and results computed at import."""

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from qrt.ir import DenseElementsAttr, IntegerAttr, Operation, Value
from qrt.ir.constants import constant_array
from qrt.ir.core.matching import constant_of
from qrt.ir.dialects.arith.scalars import bind_operation
from qrt.ir.rewriting.constant_folder import ConstantFolder, Known
from qrt.models.importing.node import Node
from qrt.ops import family_of
from qrt.ops.core import Array
from qrt.types import IntegerType, TensorType, Type

Shape = tuple[int | None, ...]

_MOST_KNOWN = 1 << 12
"""The largest number of elements of a result that is computed at import: sizes and positions have few."""
_MOST_OPERANDS = 63
"""The largest number of operands of one concatenation."""


def axis_of(node: Node, axis: int, rank: int) -> int:
    """Return ``axis`` counted from 0; a negative axis counts from the end. Raise ModelError if it is out of range."""
    if not -rank <= axis < rank:
        expected = f"must be from {-rank} to {rank - 1}" if rank else "cannot be given, because the tensor is a scalar"
        node.fail(f"the axis {expected}, got {axis}")
    return axis % rank


def axes_of(node: Node, axes: Sequence[int], rank: int) -> tuple[int, ...]:
    """Return axes counted from 0, sorted and without duplicates. Raise ModelError if one is out of range."""
    return tuple(sorted({axis_of(node, axis, rank) for axis in axes}))


def reshaped(node: Node, value: Value, shape: Shape) -> Value:
    """Return the value in another shape. Raise ModelError if the number of elements differs."""
    assert isinstance(value.type, TensorType)  # operators have tensors alone
    if value.type.shape == shape:
        return value
    known = [size for size in shape if size is not None]
    if None not in (*shape, *(value.type.shape or ())) and prod(known) != prod(n or 0 for n in value.type.shape or ()):
        node.fail(
            f"a tensor of shape {list(value.type.shape or ())} cannot be reshaped to {list(shape)}: the numbers of "
            "elements differ"
        )
    return node.emit("qrt.reshape", [value], None, TensorType(shape, value.type.element))


def joined(node: Node, values: Sequence[Value], axis: int, element: Type | None = None) -> Value:
    """Return the concatenation of values along an axis, by `qrt.concat` ops of at most 63 operands each.

    ``element`` is the element type of the result; None infers it.
    """
    parts = list(values)
    while len(parts) > 1:
        groups = [parts[first : first + _MOST_OPERANDS] for first in range(0, len(parts), _MOST_OPERANDS)]
        parts = [
            node.emit("qrt.concat", group, {"axis": axis}, element) if len(group) > 1 else group[0] for group in groups
        ]
    return parts[0]


def taken(node: Node, value: Value, axis: int, first: int, size: int, stride: int = 1) -> Value:
    """Return a slice: ``size`` elements of one axis, from index ``first`` on in steps of ``stride``."""
    assert isinstance(value.type, TensorType)
    rank = value.type.rank or 0
    lists = {
        "offsets": [first if d == axis else 0 for d in range(rank)],
        "sizes": [size if d == axis else -1 for d in range(rank)],
        "strides": [stride if d == axis else 1 for d in range(rank)],
    }
    return node.emit("qrt.slice", [value], lists)


def known_result(value: Value) -> Array | None:
    """Return the elements of an integer tensor if ops of qrt compute them from constants; else None.

    Tensors of more than 4,096 elements are not computed and give None.
    """
    return _result(value, known_result) if _is_small(value.type) else None


def constant_result(value: Value) -> Array | None:
    """Return the elements of a tensor, of any size and type, if ops compute them from constants; else None."""
    return _result(value, constant_result)


def _result(value: Value, known: Known) -> Array | None:
    if value.operation is None:
        return None
    results = _FOLDER.results(value.operation, known)
    return None if results is None else np.asarray(results[value.index], order="C")


def _is_small(type: Type) -> bool:
    if not isinstance(type, TensorType) or not isinstance(type.element, IntegerType) or not type.has_static_shape:
        return False
    return prod(size or 0 for size in type.shape or ()) <= _MOST_KNOWN


def _evaluate(op: Operation, known: Mapping[Value, Array]) -> Sequence[Array] | None:
    """Compute the results of an op, whose operands have the elements ``known``. Return None for unsupported ops.

    Supported are constants, `arith.extf`, and op families of qrt, whose reference implementations compute the results.
    """
    if op.name == "arith.constant":
        return [constant_array(op)] if isinstance(op.attributes["value"], DenseElementsAttr) else None
    if op.name == "arith.extf":
        return [bind_operation(op)(*known.values())]
    family = family_of(op)
    if family is None:
        return None
    types, results = (
        tuple(value.type for value in side if isinstance(value.type, TensorType)) for side in (op.operands, op.results)
    )
    return family.compute([known[value] for value in op.operands], types, results, family.read(op.attributes))


_FOLDER: ConstantFolder[Value] = ConstantFolder(_evaluate, lambda op: True, lambda op, arrays: None)
"""Computes results at import. The importer keeps them as arrays; no constants are added to the program."""


_KEEPS_SIZES = ("arith.extsi", "arith.trunci", "qrt.reshape")
"""The operations on a tensor of sizes whose result has the same elements in the same order."""


def sizes_of(value: Value) -> tuple[int | Value, ...] | None:
    """Return the elements of a small integer tensor, such as the target shape of a RESHAPE.

    An element is an int if it is known at import, or else the scalar value of the program that computes it. To find the
    scalars, the function follows the tensor through reshapes, concatenations and slices to a `tensor.from_elements`. If
    any other operation computes an element, the result is None.
    """
    array, op = known_result(value), value.operation
    if array is not None:
        return tuple(int(size) for size in array.ravel())
    if op is None or not _is_small(value.type):
        return None
    if op.name == "tensor.from_elements":
        constants = [constant_of(size) for size in op.operands]
        return tuple(
            constant.value if isinstance(constant, IntegerAttr) else size
            for size, constant in zip(op.operands, constants, strict=True)
        )
    parts = [sizes_of(operand) for operand in op.operands]
    if op.name == "qrt.concat" and None not in parts:
        return tuple(size for part in parts for size in part or ())
    if len(parts) != 1 or parts[0] is None:
        return None
    if op.name in _KEEPS_SIZES:
        return parts[0]
    if op.name == "qrt.slice" and len(parts[0]) > 0 and isinstance(value.type, TensorType) and value.type.rank == 1:
        (offset,), (count,) = op.attributes["offsets"].python, value.type.shape or ()
        (stride,) = op.attributes["strides"].python if "strides" in op.attributes else (1,)
        return tuple(parts[0][offset + stride * step] for step in range(count or 0))
    return None


def erase_unused(value: Value) -> None:
    """Erase the operation that computes an unused value, and operations whose results only that operation used.

    Constants are not erased.
    """
    op = value.operation
    if op is None or op.name == "arith.constant" or any(result.uses for result in op.results):
        return
    operands = list(op.operands)
    op.erase()
    for operand in operands:
        erase_unused(operand)
