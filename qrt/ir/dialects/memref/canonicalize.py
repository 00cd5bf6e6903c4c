"""Upstream's canonicalization patterns of `memref` allocations, casts, loads, stores and copies."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, defining_op
from qrt.ir.dialects._shaped.lists import constant_sizes, mixed_values, numbers_of
from qrt.ir.dialects._shaped.slices import dropped_dimensions
from qrt.ir.dialects._shaped.strides import strides_of
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import MemRefType, Type

# -- casts -------------------------------------------------------------------------------------------------------------


def cast(builder: Builder, value: Value, type: Type) -> Value:
    """Cast a value to a type, or return it if it has the type already."""
    return value if value.type is type else builder.value("memref.cast", (value,), type)


def ranked_source(value: Value) -> Value | None:
    """Return the operand of the `memref.cast` that produces a value, if that operand is ranked; None otherwise."""
    cast = defining_op(value, "memref.cast")
    return cast.operands[0] if cast is not None and memref_type(cast.operands[0]).shape is not None else None


def static_cast_source(value: Value) -> Value | None:
    """Return the operand of the cast that produces a value, if the cast makes no size, stride or offset static.

    Return None otherwise.
    """
    source = ranked_source(value)
    if source is None:
        return None
    given, result_type = memref_type(source), memref_type(value)
    old, new = strides_of(given), strides_of(result_type)
    if result_type.shape is None or given.shape is None or old is None or new is None:
        return None
    before = (*given.shape, *old.strides, old.offset)
    after = (*result_type.shape, *new.strides, new.offset)
    return source if all(b is None or a == b for a, b in zip(before, after, strict=True)) else None


def from_ranked_casts(op: Operation, builder: Builder) -> PatternResult:
    """Replace each operand that is the result of a `memref.cast` by the operand of the cast, if that is ranked."""
    sources = [ranked_source(value) if isinstance(value.type, MemRefType) else None for value in op.operands]
    if sources.count(None) == len(sources):
        return None
    operands = [value if source is None else source for value, source in zip(op.operands, sources, strict=True)]
    types = [result.type for result in op.results]
    return builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions()).results


def store_to_cast(op: Operation, builder: Builder) -> PatternResult:
    """Replace a store into the result of a `memref.cast` by a store into the operand of the cast."""
    target = ranked_source(op.operands[1])
    if target is None:
        return None
    operands = [op.operands[0], target, *op.operands[2:]]
    return builder.emit(op.name, operands, (), dict(op.attributes)).results


def cast_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = ranked_source(op.operands[0])
    value = op.operands[0] if source is None else source
    if value.type is op.results[0].type:
        return [value]
    if source is None:
        return None
    merged = builder.create_valid(op.name, (source,), (op.results[0].type,))
    return None if merged is None else merged.results  # None if sizes differ: the casts fail when they run


def space_cast(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], op.name)
    source = op.operands[0] if inner is None else inner.operands[0]
    if source.type is op.results[0].type:
        return [source]
    return None if inner is None else [builder.value(op.name, (source,), op.results[0].type)]


# -- buffers and their extents -----------------------------------------------------------------------------------------


def dim(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `memref.dim` of a cast by a `memref.dim` of the cast's operand.

    A `memref.dim` of an allocation, `view` or `subview` is replaced by the size operand of the allocation or view.
    """
    (source, axis), producer = op.operands, op.operands[0].operation
    number, shape = constant_number(axis), memref_type(source).shape
    if producer is None or shape is None:
        return None
    given = ranked_source(source)
    if given is not None:
        return [builder.value(op.name, (given, axis), INDEX)]
    if number is None or not 0 <= number < len(shape) or shape[number] is not None:
        return None
    if producer.name in ("memref.alloc", "memref.alloca"):
        return [producer.operand_group("dynamicSizes")[shape[:number].count(None)]]
    if producer.name == "memref.view":
        return [producer.operands[2 + shape[:number].count(None)]]
    if producer.name != "memref.subview":
        return None
    sizes = mixed_values(producer, "sizes")
    dropped = dropped_dimensions(numbers_of(sizes), shape) or ()
    size = [size for index, size in enumerate(sizes) if index not in dropped][number]
    return [size] if isinstance(size, Value) else [builder.constant(size, INDEX)]


def only_written(op: Operation, builder: Builder) -> PatternResult:
    """Remove a buffer that is only written to and freed, with the ops that write and free it."""
    users = op.results[0].users
    for user in users:
        is_free = user.name == "memref.dealloc"
        if not is_free and (user.name != "memref.store" or user.operands[0] is op.results[0]):
            return None
    for user in users:
        builder.erase(user)
    return [op.results[0]]


def known_sizes(op: Operation, builder: Builder) -> PatternResult:
    """Move constant sizes of an allocation into its type."""
    type = memref_type(op.results[0])
    dynamic = op.operand_group("dynamicSizes")
    shape, remaining = constant_sizes(type.shape or (), dynamic)
    if len(remaining) == len(dynamic) or type.layout is not None or len(dynamic) < len(op.operands):
        return None
    attributes = {**op.attributes, "operandSegmentSizes": segments(len(remaining), 0)}
    return [cast(builder, builder.value(op.name, remaining, type.with_(shape=shape), attributes), type)]


def copy_of_nothing(op: Operation, builder: Builder) -> PatternResult:
    """Remove a `memref.copy` of a buffer to itself, or of no elements."""
    empty = any(0 in (memref_type(value).shape or ()) for value in op.operands)
    return [] if empty or op.operands[0] is op.operands[1] else None
