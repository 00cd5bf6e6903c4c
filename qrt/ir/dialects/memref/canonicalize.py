"""Canonicalization patterns of buffers, their casts and accesses: upstream's."""

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.define import segments
from qrt.ir.core.matching import constant_number, made_by
from qrt.ir.dialects._shaped.lists import constant_sizes, mixed_values, numbers_of
from qrt.ir.dialects._shaped.slices import dropped_dimensions
from qrt.ir.dialects._shaped.strides import strides_of
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.rewriting.rewrite import Made
from qrt.types import MemRefType, Type

# -- casts -------------------------------------------------------------------------------------------------------------


def cast(builder: Builder, value: Value, type: Type) -> Value:
    """The value as one of a type, which may be its own."""
    return value if value.type is type else builder.value("memref.cast", (value,), type)


def ranked_source(value: Value) -> Value | None:
    """The operand of the cast that made a value, if its type has a rank."""
    cast = made_by(value, "memref.cast")
    return cast.operands[0] if cast is not None and memref_type(cast.operands[0]).shape is not None else None


def keeps_more(value: Value) -> Value | None:
    """The operand of the cast that made a value, if the cast added no static information."""
    source = ranked_source(value)
    if source is None:
        return None
    given, made = memref_type(source), memref_type(value)
    old, new = strides_of(given), strides_of(made)
    if made.shape is None or given.shape is None or old is None or new is None:
        return None
    before = (*given.shape, *old.strides, old.offset)
    after = (*made.shape, *new.strides, new.offset)
    return source if all(b is None or a == b for a, b in zip(before, after, strict=True)) else None


def from_ranked_casts(op: Operation, builder: Builder) -> Made:
    """An op takes the operand of a cast instead of the cast's result."""
    sources = [ranked_source(value) if isinstance(value.type, MemRefType) else None for value in op.operands]
    if sources.count(None) == len(sources):
        return None
    operands = [value if source is None else source for value, source in zip(op.operands, sources, strict=True)]
    types = [result.type for result in op.results]
    return builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions()).results


def store_to_cast(op: Operation, builder: Builder) -> Made:
    """A store into a cast memref stores into the memref before the cast. The stored value keeps its type."""
    target = ranked_source(op.operands[1])
    if target is None:
        return None
    operands = [op.operands[0], target, *op.operands[2:]]
    return builder.emit(op.name, operands, (), dict(op.attributes)).results


def cast_of_cast(op: Operation, builder: Builder) -> Made:
    source = ranked_source(op.operands[0])
    value = op.operands[0] if source is None else source
    if value.type is op.results[0].type:
        return [value]
    if source is None:
        return None
    made = builder.create_valid(op.name, (source,), (op.results[0].type,))
    return None if made is None else made.results  # sizes that differ: an error when it runs


def space_cast(op: Operation, builder: Builder) -> Made:
    inner = made_by(op.operands[0], op.name)
    source = op.operands[0] if inner is None else inner.operands[0]
    if source.type is op.results[0].type:
        return [source]
    return None if inner is None else [builder.value(op.name, (source,), op.results[0].type)]


# -- buffers and their extents -----------------------------------------------------------------------------------------


def dim(op: Operation, builder: Builder) -> Made:
    """A `memref.dim` of a cast measures the cast's source. Of an allocation or a view it becomes the operand that gave
    the size.
    """
    (source, axis), made = op.operands, op.operands[0].operation
    number, shape = constant_number(axis), memref_type(source).shape
    if made is None or shape is None:
        return None
    given = ranked_source(source)
    if given is not None:
        return [builder.value(op.name, (given, axis), INDEX)]
    if number is None or not 0 <= number < len(shape) or shape[number] is not None:
        return None
    if made.name in ("memref.alloc", "memref.alloca"):
        return [made.operand_group("dynamicSizes")[shape[:number].count(None)]]
    if made.name == "memref.view":
        return [made.operands[2 + shape[:number].count(None)]]
    if made.name != "memref.subview":
        return None
    sizes = mixed_values(made, "sizes")
    dropped = dropped_dimensions(numbers_of(sizes), shape) or ()
    size = [size for index, size in enumerate(sizes) if index not in dropped][number]
    return [size] if isinstance(size, Value) else [builder.constant(size, INDEX)]


def only_written(op: Operation, builder: Builder) -> Made:
    """Removes a buffer that is only written to and freed, and the ops that do so."""
    users = op.results[0].users
    for user in users:
        freed = user.name == "memref.dealloc"
        if not freed and (user.name != "memref.store" or user.operands[0] is op.results[0]):
            return None
    for user in users:
        builder.erase(user)
    return [op.results[0]]


def known_sizes(op: Operation, builder: Builder) -> Made:
    """Constant sizes of an allocation become part of its type."""
    type = memref_type(op.results[0])
    dynamic = op.operand_group("dynamicSizes")
    shape, kept = constant_sizes(type.shape or (), dynamic)
    if len(kept) == len(dynamic) or type.layout is not None or len(dynamic) < len(op.operands):
        return None
    attributes = {**op.attributes, "operandSegmentSizes": segments(len(kept), 0)}
    return [cast(builder, builder.value(op.name, kept, type.with_(shape=shape), attributes), type)]


def copy_of_nothing(op: Operation, builder: Builder) -> Made:
    """Removes a `memref.copy` of a buffer to itself, or of no elements."""
    empty = any(0 in (memref_type(value).shape or ()) for value in op.operands)
    return [] if empty or op.operands[0] is op.operands[1] else None
