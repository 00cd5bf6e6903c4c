"""Canonicalization patterns of `vector`, some of upstream's: shapes that are as they were, transfers in bounds."""

from collections.abc import Sequence
from math import prod

from qrt.ir import Operation, Value
from qrt.ir.attributes import FALSE, TRUE, ArrayAttr, Attribute, DenseArrayAttr
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.dialects.vector import integers, shape_of, vector_of
from qrt.ir.dialects.vector_transfers import BOUNDS, MAP, is_in_bounds, permutation_of
from qrt.ir.fold import constant_number
from qrt.ir.rewrite import Builder, Pattern
from qrt.types import IntegerType, MemRefType, TensorType

Made = list[Value] | None


def _integers(values: Sequence[int]) -> Attribute:
    return DenseArrayAttr(IntegerType(64), tuple(values))


def _same_type(op: Operation, builder: Builder) -> Made:
    """A shape that is what it was."""
    return [op.operands[0]] if op.operands[0].type is op.results[0].type else None


def _of_the_same(op: Operation, builder: Builder) -> Made:
    """A broadcast of a broadcast, and a cast of a cast, are one."""
    inner = made_by(op.operands[0], op.name)
    return None if inner is None else [builder.value(op.name, inner.operands, op.results[0].type)]


def _identity_transpose(op: Operation, builder: Builder) -> Made:
    order = integers(op, "permutation")
    return [op.operands[0]] if order == tuple(range(len(order))) else None


def _transpose_of_transpose(op: Operation, builder: Builder) -> Made:
    inner = made_by(op.operands[0], op.name)
    if inner is None:
        return None
    first = integers(inner, "permutation")
    order = _integers([first[axis] for axis in integers(op, "permutation")])
    return [builder.value(op.name, inner.operands, op.results[0].type, {"permutation": order})]


def _known_part(op: Operation, builder: Builder) -> Made:
    """A part of what is the same in all parts, or has been put there."""
    if len(op.operands) > 1 or any(position < 0 for position in integers(op, "static_position")):
        return None
    broadcast = made_by(op.operands[0], "vector.broadcast")
    if broadcast is not None and broadcast.operands[0].type is op.results[0].type:
        return broadcast.operands[:]
    insert = made_by(op.operands[0], "vector.insert")
    if insert is None or len(insert.operands) > 2:
        return None
    same = integers(insert, "static_position") == integers(op, "static_position")
    return insert.operands[:1] if same else None


def _one_element(op: Operation, builder: Builder) -> Made:
    """The reduction of one element is that."""
    if len(op.operands) > 1 or shape_of(op.operands[0].type) != (1,):
        return None
    position = {"static_position": _integers([0])}
    return [builder.value("vector.extract", op.operands, op.results[0].type, position)]


def _identity_shuffle(op: Operation, builder: Builder) -> Made:
    mask, (first, second) = integers(op, "mask"), op.operands
    size = prod(shape_of(first.type)[:1])
    for value, begin in ((first, 0), (second, size)):
        if value.type is op.results[0].type and mask == tuple(range(begin, begin + len(mask))):
            return [value]
    return None


def _constant_mask(op: Operation, builder: Builder) -> Made:
    sizes = [constant_number(value) for value in op.operands]
    known = [size for size in sizes if size is not None]
    shape = vector_of(op.results[0]).shape
    if len(known) < len(shape) or not shape:
        return None
    kept = [min(max(size, 0), extent) for size, extent in zip(known, shape, strict=True)]
    kept = kept if all(kept) else [0] * len(kept)
    return [builder.value("vector.constant_mask", (), op.results[0].type, {"mask_dim_sizes": _integers(kept)})]


# -- transfers ---------------------------------------------------------------------------------------------------------


def _group(op: Operation, name: str) -> list[Value]:
    assert op.definition is not None  # whose group it is
    return op.definition.operand_group(op, name)


def _in_bounds(op: Operation, builder: Builder) -> Made:
    """Constant indices say that no lane leaves the memory."""
    memory = _group(op, "base")[0].type
    assert isinstance(memory, TensorType | MemRefType)  # the constraint
    vector = vector_of(op.results[0] if op.name == "vector.transfer_read" else op.operands[0])
    flags, indices, extents = is_in_bounds(op), _group(op, "indices"), memory.shape or ()
    known = []
    for axis, size, flag in zip(permutation_of(op), vector.shape, flags, strict=True):
        begin = None if axis is None else constant_number(indices[axis])
        extent = None if axis is None else extents[axis]
        within = begin is not None and extent is not None and 0 <= begin <= extent - size
        known.append(flag or within)
    if tuple(known) == flags:
        return None
    bounds = ArrayAttr(tuple(TRUE if flag else FALSE for flag in known))
    types = [result.type for result in op.results]
    return builder.create(op.name, op.operands, types, {**op.attributes, BOUNDS: bounds}).results


def _what_was_written(op: Operation, builder: Builder) -> Made:
    """A read of the vector that has been written there is that vector."""
    write = made_by(_group(op, "base")[0], "vector.transfer_write")
    if write is None or _group(op, "mask") or _group(write, "mask"):
        return None
    vector = write.operands[0]
    same = _group(op, "indices") == _group(write, "indices") and op.attributes[MAP] == write.attributes[MAP]
    inside = all(is_in_bounds(op)) and all(is_in_bounds(write))
    return [vector] if same and inside and vector.type is op.results[0].type else None


VECTOR_PATTERNS: dict[str, Sequence[Pattern]] = {
    "vector.broadcast": (_same_type, _of_the_same),
    "vector.create_mask": (_constant_mask,),
    "vector.extract": (_same_type, _known_part),
    "vector.extract_strided_slice": (_same_type,),
    "vector.reduction": (_one_element,),
    "vector.shape_cast": (_same_type, _of_the_same),
    "vector.shuffle": (_identity_shuffle,),
    "vector.transfer_read": (_in_bounds, _what_was_written),
    "vector.transfer_write": (_in_bounds,),
    "vector.transpose": (_identity_transpose, _transpose_of_transpose),
}
