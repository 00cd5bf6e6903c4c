"""Canonicalization patterns of `memref`: upstream's."""

from collections.abc import Sequence

from qrt.errors import VerifyError
from qrt.ir import Operation, Value
from qrt.ir.attributes import IntegerAttr
from qrt.ir.constraints import INDEX
from qrt.ir.define import segments
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.dialects.memref_views import memref_type
from qrt.ir.dialects.strides import subview
from qrt.ir.dialects.tensor_slices import PARTS, dropped_dimensions, mixed_values
from qrt.ir.fold import constant_number, constant_of
from qrt.ir.rewrite import Builder, Pattern
from qrt.passes.slice_patterns import Mixed, sizes_of, static_lists, with_lists
from qrt.types import MemRefType, StridedLayout, Type

Made = list[Value] | None


# -- casts -------------------------------------------------------------------------------------------------------------


def _cast(builder: Builder, value: Value, type: Type) -> Value:
    return value if value.type is type else builder.value("memref.cast", (value,), type)


def _ranked_source(value: Value) -> Value | None:
    """What was cast, of a type with a rank."""
    cast = made_by(value, "memref.cast")
    return cast.operands[0] if cast is not None and memref_type(cast.operands[0]).shape is not None else None


def _keeps_more(value: Value) -> Value | None:
    """What was cast to a type that says no more than its own."""
    source = _ranked_source(value)
    if source is None:
        return None
    given, made = memref_type(source), memref_type(value)
    old, new = given.strides, made.strides
    if made.shape is None or given.shape is None or old is None or new is None:
        return None
    before = (*given.shape, *old.strides, old.offset)
    after = (*made.shape, *new.strides, new.offset)
    return source if all(b is None or a == b for a, b in zip(before, after, strict=True)) else None


def from_ranked_casts(op: Operation, builder: Builder) -> Made:
    """What was cast is taken as it was."""
    sources = [_ranked_source(value) if isinstance(value.type, MemRefType) else None for value in op.operands]
    if sources.count(None) == len(sources):
        return None
    operands = [value if source is None else source for value, source in zip(op.operands, sources, strict=True)]
    types = [result.type for result in op.results]
    return builder.create(op.name, operands, types, dict(op.attributes), op.take_regions()).results


def _cast_of_cast(op: Operation, builder: Builder) -> Made:
    source = _ranked_source(op.operands[0])
    if op.operands[0].type is op.results[0].type or (source is not None and source.type is op.results[0].type):
        return [source or op.operands[0]]
    if source is None:
        return None
    made = builder.create(op.name, (source,), (op.results[0].type,))
    assert made.definition is not None
    assert made.definition.verify_signature is not None
    try:
        made.definition.verify_signature(made)
    except VerifyError:  # sizes that differ: an error when it runs
        made.erase()
        return None
    return made.results


def _space_cast(op: Operation, builder: Builder) -> Made:
    inner = made_by(op.operands[0], op.name)
    source = op.operands[0] if inner is None else inner.operands[0]
    if source.type is op.results[0].type:
        return [source]
    return None if inner is None else [builder.value(op.name, (source,), op.results[0].type)]


# -- buffers and their extents -----------------------------------------------------------------------------------------


def _dim(op: Operation, builder: Builder) -> Made:
    """What a buffer was made with, or a view was asked for."""
    (source, axis), made = op.operands, op.operands[0].operation
    number, shape = constant_number(axis), memref_type(source).shape
    if made is None or shape is None:
        return None
    given = _ranked_source(source)
    if given is not None:
        return [builder.value(op.name, (given, axis), INDEX)]
    if number is None or not 0 <= number < len(shape) or shape[number] is not None:
        return None
    if made.name in ("memref.alloc", "memref.alloca"):
        assert made.definition is not None
        return [made.definition.operand_group(made, "dynamicSizes")[shape[:number].count(None)]]
    if made.name != "memref.subview":
        return None
    sizes = mixed_values(made, "sizes")
    dropped = dropped_dimensions(_numbers(sizes), shape) or ()
    size = [size for index, size in enumerate(sizes) if index not in dropped][number]
    return [size] if isinstance(size, Value) else [builder.constant(IntegerAttr(size, INDEX), INDEX)]


def _numbers(values: Mixed) -> tuple[int | None, ...]:
    return tuple(None if isinstance(value, Value) else value for value in values)


def _only_written(op: Operation, builder: Builder) -> Made:
    """A buffer that is only written to and freed goes, with what does so."""
    users = set(op.results[0].users)
    for user in users:
        freed = user.name == "memref.dealloc"
        if not freed and (user.name != "memref.store" or user.operands[0] is op.results[0]):
            return None
    for user in users:
        user.erase()
    return [op.results[0]]


def _known_sizes(op: Operation, builder: Builder) -> Made:
    """Sizes that are constants become part of the type."""
    type = memref_type(op.results[0])
    assert op.definition is not None
    dynamic = op.definition.operand_group(op, "dynamicSizes")
    sizes = iter(dynamic)
    shape, kept = [], []
    for known in type.shape or ():
        size = None if known is not None else next(sizes)
        number = None if size is None else constant_number(size)
        if size is not None and (number is None or number < 0):
            kept.append(size)
            number = None
        shape.append(known if size is None else number)
    if len(kept) == len(dynamic) or type.layout is not None or len(dynamic) < len(op.operands):
        return None
    attributes = {**op.attributes, "operandSegmentSizes": segments(len(kept), 0)}
    return [_cast(builder, builder.value(op.name, kept, type.with_(shape=shape), attributes), type)]


def _copy_of_nothing(op: Operation, builder: Builder) -> Made:
    """To itself, or without elements."""
    empty = any(0 in (memref_type(value).shape or ()) for value in op.operands)
    return [] if empty or op.operands[0] is op.operands[1] else None


# -- views -------------------------------------------------------------------------------------------------------------


def _whole(op: Operation, builder: Builder) -> Made:
    source, type = op.operands[0], memref_type(op.results[0])
    lists = {name: mixed_values(op, name) for name in PARTS}
    if len(op.operands) > 1 or tuple(lists["sizes"]) != memref_type(source).shape:
        return None
    if any(lists["offsets"]) or any(step != 1 for step in lists["strides"]):
        return None
    return [_cast(builder, source, type)] if type.rank == memref_type(source).rank else None


def _view(op: Operation, builder: Builder, source: Value, lists: dict[str, Mixed]) -> Made:
    """The same view by other lists or of another source, as the type that it was."""
    type = memref_type(op.results[0])
    dropped = dropped_dimensions(_numbers(mixed_values(op, "sizes")), type.shape or ())
    full = subview(memref_type(source), *(_numbers(lists[name]) for name in PARTS))
    layout = None if full is None else full.strides
    if full is None or layout is None or dropped is None:
        return None
    kept = [axis for axis in range(len(full.shape or ())) if axis not in dropped]
    strides = StridedLayout(tuple(layout.strides[axis] for axis in kept), layout.offset)
    made = MemRefType([sizes_of(lists)[axis] for axis in kept], full.element, strides, full.space)
    operands, attributes = with_lists(lists, (source,))
    return [_cast(builder, builder.value(op.name, operands, made, attributes), type)]


def _static_view(op: Operation, builder: Builder) -> Made:
    lists = static_lists(op)
    return None if lists is None else _view(op, builder, op.operands[0], lists)


def _view_of_cast(op: Operation, builder: Builder) -> Made:
    source = _keeps_more(op.operands[0])
    if source is None or any(constant_of(value) is not None for value in op.operands):
        return None
    return _view(op, builder, source, {name: mixed_values(op, name) for name in PARTS})


def _metadata(op: Operation, builder: Builder) -> Made:
    """What the type says of offset, sizes and strides."""
    type = memref_type(op.operands[0])
    if type.shape is None or type.strides is None:
        return None
    numbers = (None, type.strides.offset, *type.shape, *type.strides.strides)
    pairs = list(zip(op.results, numbers, strict=True))
    if not any(result.uses and number is not None for result, number in pairs):
        return None
    same = builder.create(op.name, op.operands, [result.type for result in op.results]).results
    return [
        value if number is None else builder.constant(IntegerAttr(number, INDEX), INDEX)
        for value, number in zip(same, numbers, strict=True)
    ]


_ACCESS: Sequence[Pattern] = (from_ranked_casts,)

MEMREF_PATTERNS: dict[str, Sequence[Pattern]] = {
    "affine.load": _ACCESS,
    "affine.store": _ACCESS,
    "memref.alloc": (_known_sizes, _only_written),
    "memref.alloca": (_known_sizes, _only_written),
    "memref.cast": (_cast_of_cast,),
    "memref.copy": (from_ranked_casts, _copy_of_nothing),
    "memref.dealloc": _ACCESS,
    "memref.dim": (_dim,),
    "memref.extract_strided_metadata": (_metadata,),
    "memref.load": _ACCESS,
    "memref.memory_space_cast": (_space_cast,),
    "memref.store": _ACCESS,
    "memref.subview": (_whole, _static_view, _view_of_cast),
}
