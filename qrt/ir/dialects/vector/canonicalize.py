"""Upstream's canonicalization patterns of `vector` ops that repeat, reshape and reorder elements."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.matching import constant_of, defining_op
from qrt.ir.dialects._shaped.types import stored
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.dialects.vector.values import (
    can_broadcast,
    changed,
    constant,
    dense_array,
    dense_of,
    has_as_many,
    same_type,
    splat,
    splat_source,
)
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import Type, VectorType


def _broadcast(builder: Builder, source: Value, type: Type) -> PatternResult:
    return [builder.value("vector.broadcast", (source,), type)]


def _transpose(builder: Builder, source: Value, order: Sequence[int], type: Type) -> PatternResult:
    return [builder.value("vector.transpose", (source,), type, {"permutation": dense_array(order)})]


# -- vector.broadcast --------------------------------------------------------------------------------------------------


def broadcast_of_shape_cast(op: Operation, builder: Builder) -> PatternResult:
    """Broadcast from the source of a `shape_cast` that only adds or removes leading dimensions of size 1."""
    cast, type = defining_op(op.operands[0], "vector.shape_cast"), vector_of(op.results[0])
    if cast is None or not can_broadcast(cast.operands[0].type, type):
        return None
    given, result_shape = shape_of(cast.operands[0].type), shape_of(cast.results[0].type)
    common = min(len(given), len(result_shape))
    if given[len(given) - common :] != result_shape[len(result_shape) - common :]:
        return None
    return changed(builder, op, cast.operands, {})


def broadcast_of_constant(op: Operation, builder: Builder) -> PatternResult:
    source, type = op.operands[0], vector_of(op.results[0])
    dense = dense_of(source)
    if dense is None:
        value = stored(constant_of(source), type)
    else:
        value = dense.first if dense.is_splat else None
    return None if value is None else splat(builder, value, type)


def broadcast_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], op.name)
    return None if inner is None else _broadcast(builder, inner.operands[0], op.results[0].type)


# -- vector.shape_cast -------------------------------------------------------------------------------------------------


def cast_of_cast(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``shape_cast(op(x))`` to ``shape_cast(x)``, if `op` keeps the order of the elements."""
    source = op.operands[0].operation
    if source is None or source.name not in (op.name, "vector.transpose"):
        return None
    if source.name == "vector.transpose" and not _keeps_order(source):
        return None
    return changed(builder, op, source.operands, {})


def cast_to_source(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``shape_cast(broadcast(x))`` to ``x``, if the result has the type of x."""
    broadcast = defining_op(op.operands[0], "vector.broadcast")
    is_back = broadcast is not None and broadcast.operands[0].type is op.results[0].type
    return broadcast.operands[:] if broadcast is not None and is_back else None


def cast_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``shape_cast(broadcast(x))`` by one of the two ops, if one suffices.

    That is a `shape_cast` of x if the broadcast repeats nothing, or a `broadcast` of x if x can be broadcast to the
    result's shape.
    """
    broadcast, type = defining_op(op.operands[0], "vector.broadcast"), vector_of(op.results[0])
    if broadcast is None:
        return None
    source = broadcast.operands[0]
    if isinstance(source.type, VectorType) and has_as_many(source.type, type):
        return [builder.value(op.name, (source,), type)]
    return _broadcast(builder, source, type) if can_broadcast(source.type, type) else None


def cast_of_constant(op: Operation, builder: Builder) -> PatternResult:
    dense, type = dense_of(op.operands[0]), vector_of(op.results[0])
    return None if dense is None else [constant(builder, dense.array.reshape(type.shape), type)]


# -- vector.transpose --------------------------------------------------------------------------------------------------


def _keeps_order(transpose: Operation) -> bool:
    """Return True if a transpose only moves dimensions of size 1, and so keeps the order of the elements."""
    given = vector_of(transpose.operands[0])
    dimensions = list(zip(given.shape, given.scalable, strict=True))
    moved = [axis for axis in integers(transpose, "permutation") if dimensions[axis] != (1, False)]
    return moved == sorted(moved)


def transpose_of_constant(op: Operation, builder: Builder) -> PatternResult:
    dense, type = dense_of(op.operands[0]), vector_of(op.results[0])
    return None if dense is None or not dense.is_splat else splat(builder, dense.first, type)


def transpose_to_itself(op: Operation, builder: Builder) -> PatternResult:
    return same_type(op, builder) if _keeps_order(op) else None


def transpose_of_shape_cast(op: Operation, builder: Builder) -> PatternResult:
    cast = defining_op(op.operands[0], "vector.shape_cast")
    if cast is None or not _keeps_order(op):
        return None
    return [builder.value(cast.name, cast.operands, op.results[0].type)]


def transpose_of_transpose(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], op.name)
    if inner is None:
        return None
    first = integers(inner, "permutation")
    order = [first[axis] for axis in integers(op, "permutation")]
    return _transpose(builder, inner.operands[0], order, op.results[0].type)


def transpose_of_elements(op: Operation, builder: Builder) -> PatternResult:
    elements = defining_op(op.operands[0], "vector.from_elements")
    if elements is None:
        return None
    numbers = np.arange(len(elements.operands)).reshape(shape_of(op.operands[0].type))
    order = numbers.transpose(integers(op, "permutation")).reshape(-1).tolist()
    return [builder.value(elements.name, [elements.operands[number] for number in order], op.results[0].type)]


def transpose_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``transpose(broadcast(x))`` to ``broadcast(x)``, if one broadcast has the same result.

    That is the case if no dimension moves past a dimension of x whose size is not 1.
    """
    broadcast = defining_op(op.operands[0], "vector.broadcast")
    if broadcast is None:
        return None
    source, order = broadcast.operands[0], integers(op, "permutation")
    given = shape_of(source.type)
    lead, low = len(order) - len(given), 0
    for axis, size in enumerate(given):
        if size != 1 or (axis and given[axis - 1] != 1):
            high = axis + lead
            if any(not low <= moved < high for moved in order[low:high]):
                return None
            low = high
    return _broadcast(builder, source, op.results[0].type)


# -- vector.shuffle ----------------------------------------------------------------------------------------------------


def identity_shuffle(op: Operation, builder: Builder) -> PatternResult:
    mask, begin = integers(op, "mask"), 0
    for value in op.operands:
        shape = shape_of(value.type)
        if shape and len(mask) == shape[0] and mask == tuple(range(begin, begin + shape[0])):
            return [value]
        begin += prod(shape[:1])
    return None


def shuffle_of_constants(op: Operation, builder: Builder) -> PatternResult:
    left, right = (dense_of(value) for value in op.operands)
    mask = integers(op, "mask")
    if left is None or right is None or left.array.ndim != 1 or -1 in mask:
        return None
    size = left.array.size
    lanes = [left.array[lane] if lane < size else right.array[lane - size] for lane in mask]
    return [constant(builder, np.array(lanes), op.results[0].type)]


def shuffle_of_splats(op: Operation, builder: Builder) -> PatternResult:
    left, right = (splat_source(value) for value in op.operands)
    if left is None or left is not right or -1 in integers(op, "mask"):
        return None
    return _broadcast(builder, left, op.results[0].type)


def interleave(op: Operation, builder: Builder) -> PatternResult:
    (left, right), mask = op.operands, integers(op, "mask")
    size = len(mask) // 2
    lanes = tuple(lane for pair in zip(range(size), range(size, 2 * size), strict=True) for lane in pair)
    shape = shape_of(left.type) or (1,)
    if left.type is not right.type or shape != (size,) or mask != lanes:
        return None
    return [builder.value("vector.interleave", (left, right), op.results[0].type)]


def shuffle_of_scalars(op: Operation, builder: Builder) -> PatternResult:
    """Replace a shuffle of two vectors of rank 0 that selects a single lane by a broadcast of the selected vector."""
    mask = integers(op, "mask")
    if shape_of(op.operands[0].type) or mask not in ((0,), (1,)):
        return None
    return _broadcast(builder, op.operands[mask[0]], op.results[0].type)
