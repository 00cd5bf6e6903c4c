"""Upstream's canonicalization patterns of `memref` ops that create views."""

from collections.abc import Sequence

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, constant_of, defining_op, number_of
from qrt.ir.dialects._shaped.canonicalize_reshapes import collapse, expand, products_of
from qrt.ir.dialects._shaped.lists import Mixed, constant_sizes, mixed_values, numbers_of, reassociation_of, with_lists
from qrt.ir.dialects._shaped.slices import PARTS, dropped_dimensions, may_be_static, static_lists
from qrt.ir.dialects._shaped.strides import Number, collapsed, expanded, strides_of, subview
from qrt.ir.dialects._shaped.types import memref_type
from qrt.ir.dialects.memref.canonicalize import cast, static_cast_source
from qrt.ir.dialects.memref.views import permutation_of
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import MemRefType, StridedLayout

# -- subview -----------------------------------------------------------------------------------------------------------


def same_view(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `subview` that selects all of its source by the source.

    The types of source and result must be equal. If they are not static, the source must be a `subview` of the same
    sizes.
    """
    source, type = op.operands[0], memref_type(op.results[0])
    if source.type is not type:
        return None
    layout = strides_of(type)
    if type.has_static_shape and layout is not None and None not in (*layout.strides, layout.offset):
        return [source]
    inner = defining_op(source, op.name)
    if inner is None or mixed_values(inner, "sizes") != mixed_values(op, "sizes"):
        return None
    return [source] if _is_at_start(op) and set(mixed_values(op, "strides")) <= {1} else None


def _is_at_start(subview: Operation) -> bool:
    """Return True if all offsets of a subview are known to be 0."""
    offsets = mixed_values(subview, "offsets")
    return all(number_of(value) == 0 for value in offsets)


def whole_view(op: Operation, builder: Builder) -> PatternResult:
    source, type = op.operands[0], memref_type(op.results[0])
    lists = {name: mixed_values(op, name) for name in PARTS}
    if len(op.operands) > 1 or tuple(lists["sizes"]) != memref_type(source).shape:
        return None
    if any(lists["offsets"]) or any(step != 1 for step in lists["strides"]):
        return None
    return [cast(builder, source, type)] if type.rank == memref_type(source).rank else None


def _view(op: Operation, builder: Builder, source: Value, lists: dict[str, Mixed]) -> PatternResult:
    """Rebuild a `subview` with another source or other lists, and cast it to its former type.

    `lists` has the offsets, sizes and strides. Return None if the new `subview` is invalid.
    """
    type = memref_type(op.results[0])
    dropped = dropped_dimensions(numbers_of(mixed_values(op, "sizes")), type.shape or ())
    full = subview(memref_type(source), *(numbers_of(lists[name]) for name in PARTS))
    layout = None if full is None else strides_of(full)
    if full is None or layout is None or dropped is None:
        return None
    remaining = [axis for axis in range(len(full.shape or ())) if axis not in dropped]
    strides = StridedLayout(tuple(layout.strides[axis] for axis in remaining), layout.offset)
    sizes = numbers_of(lists["sizes"])
    view_type = MemRefType([sizes[axis] for axis in remaining], full.element, strides, full.space)
    operands, attributes = with_lists(lists, (source,))
    view = builder.create_valid(op.name, operands, (view_type,), attributes)
    return (
        None if view is None else [cast(builder, view.results[0], type)]
    )  # None if out of bounds: the op fails when it runs


def static_view(op: Operation, builder: Builder) -> PatternResult:
    lists = static_lists(op)
    return None if lists is None else _view(op, builder, op.operands[0], lists)


def view_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = static_cast_source(op.operands[0])
    if source is None or any(constant_of(value) is not None for value in op.operands):
        return None
    return _view(op, builder, source, {name: mixed_values(op, name) for name in PARTS})


# -- extract_strided_metadata, reinterpret_cast ------------------------------------------------------------------------


def known_metadata(op: Operation, builder: Builder) -> PatternResult:
    """Replace by constants those results of `memref.extract_strided_metadata` that the source's type determines."""
    type = memref_type(op.operands[0])
    layout = strides_of(type)
    if type.shape is None or layout is None:
        return None
    numbers = (None, layout.offset, *type.shape, *layout.strides)
    pairs = list(zip(op.results, numbers, strict=True))
    if not any(result.uses and number is not None for result, number in pairs):
        return None
    same = builder.emit(op.name, op.operands, [result.type for result in op.results]).results
    return [
        value if number is None else builder.constant(number, INDEX)
        for value, number in zip(same, numbers, strict=True)
    ]


def _reinterpret(op: Operation, builder: Builder, source: Value) -> list[Value]:
    operands, types = [source, *op.operands[1:]], [op.results[0].type]
    return builder.emit(op.name, operands, types, dict(op.attributes)).results


def reinterpret_to_itself(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `reinterpret_cast` by its source, if both have the same static type with offset 0."""
    type = memref_type(op.results[0])
    layout = strides_of(type)
    if type is not op.operands[0].type or not type.has_static_shape or layout is None:
        return None
    return [op.operands[0]] if None not in layout.strides and layout.offset == 0 else None


def reinterpret_of_view(op: Operation, builder: Builder) -> PatternResult:
    """Replace the source of a `reinterpret_cast`, if it is a view, by the source of the view.

    The view must have the same base buffer: it is a cast, another `reinterpret_cast`, or a subview whose offsets are 0.
    """
    inner = op.operands[0].operation
    if inner is None:
        return None
    keeps_buffer = inner.name in (op.name, "memref.cast") or (inner.name == "memref.subview" and _is_at_start(inner))
    return _reinterpret(op, builder, inner.operands[0]) if keeps_buffer else None


def _with_numbers(values: Mixed, known: Sequence[Number]) -> Mixed:
    """Return `values` with integers in place of operands that are constants, or for which `known` has a number."""
    numbers = [number_of(value) if number is None else number for value, number in zip(values, known, strict=True)]
    return [value if number is None else number for value, number in zip(values, numbers, strict=True)]


def _stated_lists(op: Operation) -> dict[str, Mixed]:
    type = memref_type(op.results[0])
    layout = strides_of(type)
    assert layout is not None  # the verifier has checked it
    known = {"offsets": (layout.offset,), "sizes": type.shape or (), "strides": layout.strides}
    return {name: _with_numbers(mixed_values(op, name), known[name]) for name in PARTS}


def reinterpret_of_metadata(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `reinterpret_cast` whose operands are results of `extract_strided_metadata(x)` by x.

    If only the base buffer is such a result, and an offset, size or stride differs from that of x, rebuild the op as a
    `reinterpret_cast` of x.
    """
    metadata = defining_op(op.operands[0], "memref.extract_strided_metadata")
    if metadata is None:
        return None
    source = metadata.operands[0]
    type = memref_type(source)
    layout, (_, offset, *rest) = strides_of(type), metadata.results
    assert layout is not None  # the op's constraint
    rank = len(rest) // 2
    taken = {
        "offsets": _with_numbers([offset], (layout.offset,)),
        "sizes": _with_numbers(list(rest[:rank]), type.shape or ()),
        "strides": _with_numbers(list(rest[rank:]), layout.strides),
    }
    if taken == _stated_lists(op):
        return [cast(builder, source, op.results[0].type)]
    return _reinterpret(op, builder, source)


def static_reinterpret(op: Operation, builder: Builder) -> PatternResult:
    """Move constant offsets, sizes and strides of a `reinterpret_cast` into its type, if all of them are valid."""
    lists, type = _stated_lists(op), memref_type(op.results[0])
    if all(lists[name] == mixed_values(op, name) for name in PARTS):
        return None
    if not all(
        may_be_static(name, number) for name in PARTS for number in numbers_of(lists[name]) if number is not None
    ):
        return None
    sizes, (offset,) = numbers_of(lists["sizes"]), numbers_of(lists["offsets"])
    static_type = MemRefType(sizes, type.element, StridedLayout(numbers_of(lists["strides"]), offset), type.space)
    operands, attributes = with_lists(lists, op.operands[:1])
    return [cast(builder, builder.value(op.name, operands, static_type, attributes), type)]


# -- transpose, view, assume_alignment ---------------------------------------------------------------------------------


def transpose(op: Operation, builder: Builder) -> PatternResult:
    """Remove a `memref.transpose` that keeps the order of the dimensions, or merge it into a preceding transpose."""
    source, order = op.operands[0], permutation_of(op)
    if list(order) == sorted(order) and source.type is op.results[0].type:
        return [source]
    inner = defining_op(source, op.name)
    if inner is None:
        return None
    first = permutation_of(inner)
    map = AffineMapAttr(len(order), 0, tuple(("d", first[axis]) for axis in order))
    return [builder.value(op.name, inner.operands, op.results[0].type, {**op.attributes, "permutation": map})]


def view_of_all(op: Operation, builder: Builder) -> PatternResult:
    source, shift = op.operands[:2]
    whole = source.type is op.results[0].type and memref_type(source).has_static_shape
    return [source] if whole and constant_number(shift) == 0 else None


def static_sizes(op: Operation, builder: Builder) -> PatternResult:
    """Move constant sizes of a `memref.view` into its type."""
    type = memref_type(op.results[0])
    shape, remaining = constant_sizes(type.shape or (), op.operands[2:])
    if shape == type.shape:
        return None
    return [cast(builder, builder.value(op.name, [*op.operands[:2], *remaining], type.with_(shape=shape)), type)]


def aligned_twice(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], op.name)
    same = inner is not None and inner.attributes["alignment"] == op.attributes["alignment"]
    return [op.operands[0]] if same else None


# -- collapse_shape, expand_shape, reshape -----------------------------------------------------------------------------


def collapse_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = static_cast_source(op.operands[0])
    if source is None:
        return None
    given, groups = memref_type(source), reassociation_of(op)
    shape = products_of(given.shape or (), groups)
    type = None if shape is None else collapsed(given, groups, shape)
    return None if type is None else [cast(builder, collapse(op, builder, source, groups, type), op.results[0].type)]


def expand_of_cast(op: Operation, builder: Builder) -> PatternResult:
    """Expand the source of a cast instead of the cast's result, if the output sizes multiply to the source's sizes."""
    source = static_cast_source(op.operands[0])
    if source is None:
        return None
    given, groups, result_type = memref_type(source), reassociation_of(op), op.results[0].type
    stated = mixed_values(op, "output_shape")
    sizes = [size if (number := number_of(size)) is None else number for size in stated]
    shape = numbers_of(sizes)
    if products_of(shape, groups) != given.shape or any(size is not None and size < 0 for size in shape):
        return None
    type = expanded(given, groups, shape)
    if type is None:
        return None
    return [
        cast(builder, expand(op, builder, source, groups, stated if type is result_type else sizes, type), result_type)
    ]


def dim_of_reshape(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `memref.dim` of a `memref.reshape` by a load from its shape operand.

    The load is placed at the reshape, because the shape may be overwritten later.
    """
    source, axis = op.operands
    reshape = defining_op(source, "memref.reshape")
    if reshape is None or not _is_known_at(axis, op, reshape):
        return None
    at, shape = Builder.after(source, builder.observer), reshape.operands[1]
    size = at.value("memref.load", (shape, axis), memref_type(shape).element)
    return [size if size.type is INDEX else at.value("arith.index_cast", (size,), INDEX)]


def _is_known_at(index: Value, dim: Operation, reshape: Operation) -> bool:
    """Return True if `index`, the operand of a `dim`, is defined before `reshape`, the op that produces its memref."""
    block = index.block
    assert block is not None
    if dim.parent is reshape.parent:
        following = reshape.next
        while following is not None and following is not index.operation:
            following = following.next
        return following is None
    around = reshape.parent_operation
    while around is not None and (around.parent is None or around.parent.parent is not block.parent):
        around = around.parent_operation
    return around is not None
