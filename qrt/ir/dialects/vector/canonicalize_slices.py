"""Upstream's canonicalization patterns of slices of vectors."""

from collections.abc import Sequence

from qrt.ir import Attribute, Builder, Operation, Value
from qrt.ir.core.matching import defining_op
from qrt.ir.dialects.vector.elements import slice_of
from qrt.ir.dialects.vector.types import integers, shape_of, vector_of
from qrt.ir.dialects.vector.values import array, changed, constant, dense_of, extract, splat_source
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import MAX_FOLDED
from qrt.types import Type, VectorType

_MAX_ELEMENTS = 256
"""The size up to which upstream creates a new constant even if the old one is still used."""


def _slice(builder: Builder, source: Value, offsets: Sequence[int], sizes: Sequence[int], type: Type) -> Value:
    lists = {"offsets": offsets, "sizes": sizes, "strides": [1] * len(offsets)}
    attributes: dict[str, Attribute] = {name: array(values) for name, values in lists.items()}
    return builder.value("vector.extract_strided_slice", (source,), type, attributes)


# -- vector.extract_strided_slice --------------------------------------------------------------------------------------


def of_inserted(op: Operation, builder: Builder) -> PatternResult:
    """Extract a slice from the last inserted slice that contains it, instead of from the result of the insertions."""
    value = op.operands[0]
    taken = slice_of(op)
    while (insert := defining_op(value, "vector.insert_strided_slice")) is not None:
        part, whole = (shape_of(operand.type) for operand in insert.operands)
        if len(part) != len(whole):
            return None
        given = slice_of(insert)
        if all(a.start <= b.start < a.stop for a, b in zip(given, taken, strict=False)):
            inside = all(b.stop <= a.stop for a, b in zip(given, taken, strict=False))
            if not inside or part[len(taken) :] != whole[len(taken) :]:
                return None
            offsets = [b.start - a.start for a, b in zip(given, taken, strict=False)]
            return changed(builder, op, insert.operands[:1], {"offsets": array(offsets)})
        if not any(b.stop <= a.start or a.stop <= b.start for a, b in zip(given, taken, strict=False)):
            return None
        value = insert.operands[1]
    return None


def of_constant(op: Operation, builder: Builder) -> PatternResult:
    dense = dense_of(op.operands[0])
    if dense is None:
        return None
    return [constant(builder, dense.array[slice_of(op)], op.results[0].type)]


def of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Replace a slice of a broadcast by a broadcast of the broadcast's source, or of a slice of that source."""
    broadcast, type = defining_op(op.operands[0], "vector.broadcast"), vector_of(op.results[0])
    if broadcast is None:
        return None
    source = broadcast.operands[0]
    given, lead = shape_of(source.type), len(type.shape) - len(shape_of(source.type))
    sliced_shape = tuple(1 if old == 1 else new for old, new in zip(given, type.shape[lead:], strict=True))
    if sliced_shape != given:
        given_type = vector_of(source)
        pairs = zip(given, integers(op, "offsets")[lead:], strict=False)
        offsets = [0 if size == 1 else offset for size, offset in pairs]
        sliced = VectorType(sliced_shape, type.element, given_type.scalable)
        source = _slice(builder, source, offsets, sliced_shape[: len(offsets)], sliced)
    return [builder.value("vector.broadcast", (source,), type)]


def to_extract(op: Operation, builder: Builder) -> PatternResult:
    """Replace a slice of size 1 along the first dimensions, and complete along the others, by a `vector.extract`.

    A `shape_cast` restores the dimensions of size 1.
    """
    source, sizes, offsets = vector_of(op.operands[0]), integers(op, "sizes"), integers(op, "offsets")
    count = len(sizes)
    while count and sizes[count - 1] == source.shape[count - 1]:
        count -= 1
    if not count or count == len(source.shape) or any(size != 1 for size in sizes[:count]) or any(source.scalable):
        return None
    while count < len(sizes) - 1 and sizes[count] == 1:
        count += 1
    part = extract(builder, op.operands[0], offsets[:count])
    return [builder.value("vector.shape_cast", (part,), op.results[0].type)]


# -- vector.insert_strided_slice ---------------------------------------------------------------------------------------


def insert_of_existing(op: Operation, builder: Builder) -> PatternResult:
    """Replace an insertion by the inserted vector if it covers the destination, or by an unchanged destination."""
    part, whole = op.operands
    if part.type is whole.type:
        return [part]
    splat = splat_source(part)
    if splat is not None and splat_source(whole) is splat:
        return [whole]
    taken = defining_op(part, "vector.extract_strided_slice")
    if taken is None or taken.operands[0] is not whole:
        return None
    return [whole] if all(integers(taken, name) == integers(op, name) for name in ("offsets", "strides")) else None


def into_constant(op: Operation, builder: Builder) -> PatternResult:
    part, whole = (dense_of(value) for value in op.operands)
    if part is None or whole is None:
        return None
    if whole.array.size > (_MAX_ELEMENTS if len(op.operands[1].uses) != 1 else MAX_FOLDED):
        return None
    elements = whole.array.copy()
    shape = (1,) * (elements.ndim - part.array.ndim) + part.array.shape
    elements[slice_of(op)] = part.array.reshape(shape)
    return [constant(builder, elements, op.results[0].type)]
