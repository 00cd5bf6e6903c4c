"""Upstream's canonicalization patterns for `expand_shape`, `collapse_shape` and `tensor.reshape`."""

from collections.abc import Iterable
from itertools import accumulate, pairwise
from math import prod

from qrt.ir import Attribute, Builder, DenseElementsAttr, IntegerAttr, Operation, Value
from qrt.ir.core.attributes import ArrayAttr
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.dialects._shaped.lists import Groups, Mixed, mixed_values, reassociation_of, with_lists
from qrt.ir.dialects._shaped.strides import has_identity_layout
from qrt.ir.dialects._shaped.types import Shape, ranked, shaped
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import IntegerType, MemRefType, TensorType, Type
from qrt.types.shaped import MAX_DIM


def _shape(value: Value) -> Shape:
    return shaped(value).shape or ()


def _are_contiguous(*values: Value) -> bool:
    """Return True if each value is a tensor, or a memref with the identity layout."""
    return all(not isinstance(value.type, MemRefType) or has_identity_layout(value.type) for value in values)


def _is_collapse(op: Operation) -> bool:
    return op.name.endswith(".collapse_shape")


def _sibling(op: Operation, name: str) -> str:
    """Return `name` with the dialect prefix of `op`, such as `tensor.expand_shape`."""
    return f"{op.name.partition('.')[0]}.{name}"


def _groups_attribute(groups: Groups) -> ArrayAttr:
    return ArrayAttr(tuple(ArrayAttr(tuple(IntegerAttr(axis, IntegerType(64)) for axis in group)) for group in groups))


def collapse(op: Operation, builder: Builder, source: Value, groups: Groups, type: Type) -> Value:
    """Build a `collapse_shape` of `source` to `type`, in the dialect of `op` (`tensor` or `memref`)."""
    attributes: dict[str, Attribute] = {"reassociation": _groups_attribute(groups)}
    return builder.value(_sibling(op, "collapse_shape"), (source,), type, attributes)


def expand(op: Operation, builder: Builder, source: Value, groups: Groups, sizes: Mixed, type: Type) -> Value:
    """Build an `expand_shape` of `source` to `type` with these output `sizes`, in the dialect of `op`."""
    operands, attributes = with_lists({"output_shape": sizes}, (source,))
    del attributes["operandSegmentSizes"]
    attributes["reassociation"] = _groups_attribute(groups)
    return builder.value(_sibling(op, "expand_shape"), operands, type, attributes)


# -- expand_shape and collapse_shape -----------------------------------------------------------------------------------


def to_itself(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``reshape(x)``, ``expand(collapse(x))`` or ``collapse(expand(x))`` by x, if the types are equal."""
    given, type = op.operands[0], op.results[0].type
    if given.type is type:
        return [given]
    inverse = defining_op(given, _sibling(op, "expand_shape" if _is_collapse(op) else "collapse_shape"))
    if inverse is None or inverse.operands[0].type is not type:
        return None
    shape, groups = _shape(op.results[0]), reassociation_of(op)
    if shape.count(None) > 1:
        if groups != reassociation_of(inverse):
            return None
        if not _is_collapse(op) and any([shape[axis] for axis in group].count(None) > 1 for group in groups):
            return None
    return [inverse.operands[0]]


def of_constant(op: Operation, builder: Builder) -> PatternResult:
    """Replace a reshape of a constant, `tensor.splat` or `tensor.from_elements` by the same op with the result type."""
    source, result_type = op.operands[0].operation, ranked(op.results[0])
    constant = constant_of(op.operands[0])
    if not result_type.has_static_shape or source is None:
        return None
    if isinstance(constant, DenseElementsAttr):
        elements = constant.array.reshape(result_type.shape)  # type: ignore[arg-type]  # static
        return [builder.constant(DenseElementsAttr(elements, result_type), result_type)]
    if source.name == "tensor.from_elements" or (source.name == "tensor.splat" and len(source.operands) == 1):
        return [builder.value(source.name, source.operands, result_type)]
    return None


def twice(op: Operation, builder: Builder) -> PatternResult:
    """Merge two reshapes of one kind: ``expand(expand(x)) -> expand(x)``, ``collapse(collapse(x)) -> collapse(x)``."""
    inner = defining_op(op.operands[0], op.name)
    if inner is None or not _are_contiguous(inner.operands[0], op.operands[0]):
        return None
    source, type = inner.operands[0], op.results[0].type
    first, second = (inner, op) if _is_collapse(op) else (op, inner)
    fine = reassociation_of(first)
    groups = tuple(tuple(axis for part in group for axis in fine[part]) for group in reassociation_of(second))
    if _is_collapse(op):
        return [collapse(op, builder, source, groups, type)]
    return [expand(op, builder, source, groups, mixed_values(op, "output_shape"), type)]


# -- an expand_shape of a collapse_shape, and the reverse --------------------------------------------------------------


def collapse_of_expand(op: Operation, builder: Builder) -> PatternResult:
    """Merge ``collapse(expand(x))`` into one reshape, if the groups of one op are unions of groups of the other."""
    inner = defining_op(op.operands[0], _sibling(op, "expand_shape"))
    if inner is None or not _are_contiguous(inner.operands[0], op.operands[0]):
        return None
    source, result_type = inner.operands[0], op.results[0].type
    rank, result_rank = len(_shape(source)), len(_shape(op.results[0]))
    if rank == result_rank:  # the types may still differ: a layout has several spellings
        same = _shape(source) == _shape(op.results[0]) and reassociation_of(inner) == reassociation_of(op)
        return [builder.value(_sibling(op, "cast"), (source,), result_type)] if same else None
    fine, coarse = reassociation_of(inner), reassociation_of(op)
    groups = _regrouped(fine, coarse) if rank > result_rank else _regrouped(coarse, fine)
    if groups is None:
        return None
    if rank > result_rank:
        return [collapse(op, builder, source, groups, result_type)]
    sizes = mixed_values(inner, "output_shape")
    if any(_known(sizes[axis] for axis in group) >= 1 << 63 for group in coarse):  # more than a dimension can be
        return None
    products: Mixed = [_product(builder, [sizes[axis] for axis in group]) for group in coarse]
    return [expand(op, builder, source, groups, products, result_type)]


def _known(sizes: Iterable[int | Value]) -> int:
    return prod(size for size in sizes if isinstance(size, int))


def _product(builder: Builder, sizes: Mixed) -> int | Value:
    number = _known(sizes)
    values = [size for size in sizes if isinstance(size, Value)]
    if not values:
        return number
    if number != 1:
        values.append(builder.constant(number, INDEX))
    result = values[0]
    for value in values[1:]:
        result = builder.value("arith.muli", (result, value), INDEX)
    return result


def _regrouped(fine: Groups, coarse: Groups) -> Groups | None:
    """Return the indices of the fine groups in each coarse group; None if a fine group overlaps two coarse groups."""
    at, groups = 0, []
    for group in coarse:
        parts: list[int] = []
        while at < len(fine):
            last = fine[at][-1]
            if last > group[-1]:
                return None
            parts.append(at)
            at += 1
            if last == group[-1]:
                break
        groups.append(tuple(parts))
    return tuple(groups)


def expand_of_collapse(op: Operation, builder: Builder) -> PatternResult:
    """Merge ``expand(collapse(x))`` into one reshape, if a single expand or collapse gives the result's shape."""
    inner = defining_op(op.operands[0], _sibling(op, "collapse_shape"))
    if inner is None or not _are_contiguous(inner.operands[0], op.operands[0]):
        return None
    source, result_type = inner.operands[0], op.results[0].type
    shape, result = _shape(source), _shape(op.results[0])
    collapses = len(shape) > len(result)
    before, after = (reassociation_of(inner), shape), (reassociation_of(op), result)
    groups = _finer_groups(*before, *after) if collapses else _finer_groups(*after, *before)
    if groups is None:
        return None
    if collapses:
        return [collapse(op, builder, source, groups, result_type)]
    return [expand(op, builder, source, groups, mixed_values(op, "output_shape"), result_type)]


def _finer_groups(large: Groups, shape: Shape, small: Groups, result: Shape) -> Groups | None:
    """Group the dimensions of `shape` so that group i forms dimension i of `result`; None if that is impossible.

    Both shapes collapse to a common shape, whose dimension i consists of the dimensions `large[i]` of `shape`, and of
    the dimensions `small[i]` of `result`.
    """
    if not large:
        return _ranges(shape, result)
    groups: list[tuple[int, ...]] = []
    for axes, result_axes in zip(large, small, strict=True):
        parts, sizes = tuple(shape[axis] for axis in axes), tuple(result[axis] for axis in result_axes)
        if len(parts) == len(sizes):
            if parts != sizes or None in parts:
                return None
            groups += [(axis,) for axis in axes]
            continue
        ranges = _ranges(parts, sizes)
        if ranges is None:
            return None
        groups += [tuple(axes[0] + axis for axis in group) for group in ranges]
    return tuple(groups)


def _ranges(shape: Shape, result: Shape) -> Groups | None:
    """Group consecutive dimensions of `shape` so that the product of group i is `result[i]`; None if it is impossible.

    `result` may have one unknown size (None), whose group consists of the remaining dimensions. A dimension of size 1
    between two groups belongs to the second group; at the end, it belongs to the last group.
    """
    if len(shape) <= len(result) or not result or result.count(None) > 1:
        return None
    before = result.index(None) if None in result else len(result)
    first = _runs(shape, result[:before])
    last = _runs(shape[::-1], result[before + 1 :][::-1], longest=True)
    if first is None or last is None:
        return None
    start, end = sum(first), len(shape) - sum(last)
    if None not in result:
        first[-1] += end - start
        lengths = first
    else:
        lengths = [*first, end - start, *last[::-1]]
    bounds = list(accumulate(lengths, initial=0))
    if any(length < 1 for length in lengths):
        return None
    groups = tuple(tuple(range(*pair)) for pair in pairwise(bounds))
    return groups if products_of(shape, groups) == tuple(result) else None


def _runs(shape: Shape, sizes: Shape, longest: bool = False) -> list[int] | None:
    """Return how many consecutive dimensions of `shape` multiply to each of `sizes`; None if it is impossible.

    The dimensions for the first size begin at dimension 0, those for each later size after the previous ones. With
    `longest`, each number includes the dimensions of size 1 that follow.
    """
    lengths, at = [], 0
    for size in sizes:
        start, size_so_far = at, 1
        while at < len(shape) and (at == start or size_so_far != size):
            size_so_far *= shape[at] or 0
            at += 1
        if size_so_far != size:
            return None
        while longest and at < len(shape) and shape[at] == 1:
            at += 1
        lengths.append(at - start)
    return lengths


def products_of(shape: Shape, groups: Groups) -> Shape | None:
    """Return the product of the sizes in each group of dimensions; None for a product with an unknown size.

    If a product exceeds MAX_DIM, return None instead of the tuple of products.
    """
    parts = [[shape[axis] for axis in group] for group in groups]
    sizes = tuple(None if None in part else prod(size or 0 for size in part) for part in parts)
    return None if any(size is not None and size > MAX_DIM for size in sizes) else sizes


# -- casts and known sizes ---------------------------------------------------------------------------------------------


def collapse_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = cast_source(op.operands[0])
    if source is None:
        return None
    groups, result_type = reassociation_of(op), ranked(op.results[0])
    shape = products_of(ranked(source).shape or (), groups)
    if shape is None:
        return None
    return [cast(builder, collapse(op, builder, source, groups, result_type.with_(shape=shape)), result_type)]


def static_expand(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``expand(x)`` to ``cast(expand(cast(x)))`` with static output sizes, if x is the result of a cast.

    Output sizes become static if their operands are constants.
    """
    sizes, result_type, groups = mixed_values(op, "output_shape"), ranked(op.results[0]), reassociation_of(op)
    source = op.operands[0]
    known: Mixed = [
        number if isinstance(size, Value) and (number := constant_number(size)) is not None and number >= 0 else size
        for size in sizes
    ]
    if known == sizes or cast_source(source) is None:
        return None
    shape = tuple(size if isinstance(size, int) else None for size in known)
    before = products_of(shape, groups)
    if before is None:
        return None
    narrowed = cast(builder, source, ranked(source).with_(shape=before))
    return [cast(builder, expand(op, builder, narrowed, groups, known, result_type.with_(shape=shape)), result_type)]


# -- tensor.reshape ----------------------------------------------------------------------------------------------------


def known_reshape(op: Operation, builder: Builder) -> PatternResult:
    """Fold a `tensor.reshape` of a constant, merge it into another reshape, or remove it if it keeps the shape."""
    (source, shape), result_type = op.operands, op.results[0].type
    constant = constant_of(source)
    if isinstance(constant, DenseElementsAttr) and isinstance(result_type, TensorType) and result_type.has_static_shape:
        elements = constant.array.reshape(result_type.shape)  # type: ignore[arg-type]  # static
        return [builder.constant(DenseElementsAttr(elements, result_type), result_type)]
    inner = defining_op(source, op.name)
    if inner is not None:
        return [builder.value(op.name, (inner.operands[0], shape), result_type)]
    if source.type is not result_type or not isinstance(result_type, TensorType) or result_type.shape is None:
        return None
    return [source] if result_type.rank == 1 or _is_shape_of(shape, source) else None


def _is_shape_of(shape: Value, tensor: Value) -> bool:
    elements = defining_op(shape, "tensor.from_elements")
    if elements is None:
        return False
    for axis, (size, known) in enumerate(zip(elements.operands, ranked(tensor).shape or (), strict=True)):
        dim = defining_op(size, "tensor.dim")
        is_its_dim = dim is not None and dim.operands[0] is tensor and constant_number(dim.operands[1]) == axis
        if not is_its_dim and (known is None or constant_number(size) != known):
            return False
    return True
