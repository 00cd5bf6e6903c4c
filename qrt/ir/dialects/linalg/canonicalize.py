"""Upstream's canonicalization patterns of `linalg`."""

from collections.abc import Sequence

from qrt.ir import Attribute, Builder, DenseArrayAttr, Operation, Value
from qrt.ir.core.affine import AffineMapAttr
from qrt.ir.core.constraints import INDEX, element_of
from qrt.ir.core.matching import defining_op
from qrt.ir.dialects._shaped.lists import Mixed, mixed_values, numbers_of, with_lists
from qrt.ir.dialects._shaped.slices import PARTS
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.linalg.named import make_fill
from qrt.ir.dialects.linalg.named_bodies import COPY, build_body
from qrt.ir.dialects.linalg.structure import StructuredOp
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source, keeps_sizes
from qrt.ir.dialects.tensor.canonicalize_padding import affine_sum, known_sum, pad_value, sum_fits
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import IntegerType, MemRefType, TensorType

# -- all structured ops ------------------------------------------------------------------------------------------------


def without_elements(op: Operation, builder: Builder) -> PatternResult:
    """Remove an op on buffers if one of the buffers has no elements."""
    empty = any(isinstance(value.type, MemRefType) and 0 in (value.type.shape or ()) for value in op.operands)
    return [] if empty and not op.results else None


def known_sizes(op: Operation, builder: Builder) -> PatternResult:
    """Make dynamic sizes of operands and results static, if another operand has a static size along the same loop."""
    assert isinstance(op, StructuredOp)
    maps = op.indexing_maps
    if not op.results or any(not _is_projection(map) for map in maps):
        return None
    known: dict[object, int] = {}
    for value, map in zip(op.operands, maps, strict=True):
        for size, loop in zip(_stated_shape(value), map.results, strict=True):
            if size is not None:
                known.setdefault(loop, size)
    operands = []
    for value, map in zip(op.operands, maps, strict=True):
        type = value.type
        if isinstance(type, TensorType):
            sizes = zip(type.shape or (), map.results, strict=True)
            type = type.with_(shape=[known.get(loop) if size is None else size for size, loop in sizes])
        operands.append((value, type))
    if all(value.type is type for value, type in operands):
        return None
    return _with_operands(op, builder, [cast(builder, value, type) for value, type in operands])


def _is_projection(map: AffineMapAttr) -> bool:
    loops = [result for result in map.results if isinstance(result, tuple) and result[0] == "d"]
    return len(loops) == len(map.results) == len(set(loops))


def _stated_shape(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a tensor; for the result of a cast, the shape of the cast's operand if that is static."""
    source = cast_source(value)
    types = ([] if source is None else [source.type]) + [value.type]
    shapes = [type.shape for type in types if isinstance(type, TensorType) and type.shape is not None]
    return next((shape for shape in shapes if None not in shape), shapes[-1] if shapes else ())


def _with_operands(op: StructuredOp, builder: Builder, operands: Sequence[Value]) -> list[Value]:
    """Rebuild the op on other operands, and cast its results to their former types."""
    types = [value.type for value in operands[op.input_count :]]
    results = builder.emit(op.name, operands, types, dict(op.attributes), op.take_regions()).results
    return [cast(builder, value, result.type) for value, result in zip(results, op.results, strict=True)]


def cast_of_result(op: Operation, builder: Builder) -> PatternResult:
    """Move a `tensor.cast` that adds static sizes from the result of an op to the output operand of the op."""
    (value,) = op.operands
    source, type = value.operation, op.results[0].type
    if not isinstance(source, StructuredOp) or type is value.type or not keeps_sizes(value.type, type):
        return None
    if source.parent is not op.parent:
        return None
    at = builder.at(source)
    operands, index = list(source.operands), source.input_count + value.index
    operands[index] = cast(at, operands[index], type)
    types = [output.type for output in operands[source.input_count :]]
    results = at.emit(source.name, operands, types, dict(source.attributes), source.take_regions()).results
    builder.replace(source, [cast(at, new, old.type) for new, old in zip(results, source.results, strict=True)])
    return [results[value.index]]


# -- ops that only copy ------------------------------------------------------------------------------------------------


def identity(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `linalg.generic` by the operands whose elements it yields.

    Its maps must be equal, and its body must contain only the `linalg.yield`.
    """
    assert isinstance(op, StructuredOp)
    body = op.regions[0].blocks[0]
    if len(set(op.indexing_maps)) != 1 or body.first is not body.last or body.last is None:
        return None
    if any(value.owner is not body for value in body.last.operands):
        return None
    if not op.results:
        return [] if len(op.operands) == 2 and op.operands[0] is op.operands[1] else None
    sources = [op.operands[value.index] for value in body.last.operands]
    if any(not isinstance(value.type, TensorType) for value in sources):
        return None
    return [cast(builder, value, result.type) for value, result in zip(sources, op.results, strict=True)]


def copy_to_itself(op: Operation, builder: Builder) -> PatternResult:
    return [] if not op.results and op.operands[0] is op.operands[1] else None


def index_of_one(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `linalg.index` by 0, if an operand has static size 1 along the loop whose index the op returns."""
    around = op.parent_operation
    loop = ("d", op.attributes["dim"].python)
    if not isinstance(around, StructuredOp):
        return None
    for value, map in zip(around.operands, around.indexing_maps, strict=True):
        shape = value.type.shape if isinstance(value.type, TensorType | MemRefType) else None
        if any(size == 1 and result == loop for size, result in zip(shape or (), map.results, strict=True)):
            return [builder.constant(0, INDEX)]
    return None


# -- linalg.fill -------------------------------------------------------------------------------------------------------


def _filled(value: Value) -> Operation | None:
    """Return the `linalg.fill` that produces a tensor, if the fill value has the tensor's element type; else None."""
    fill = defining_op(value, "linalg.fill")
    return fill if fill is not None and fill.operands[0].type is ranked(value).element else None


def reshape_of_fill(op: Operation, builder: Builder) -> PatternResult:
    fill = _filled(op.operands[0])
    if fill is None:
        return None
    operands = [fill.operands[1], *op.operands[1:]]
    return [
        make_fill(builder, fill.operands[0], builder.value(op.name, operands, op.results[0].type, dict(op.attributes)))
    ]


def pad_of_fill(op: Operation, builder: Builder) -> PatternResult:
    fill, type = _filled(op.operands[0]), ranked(op.results[0])
    if fill is None or pad_value(op) is not fill.operands[0]:
        return None
    amounts = zip(ranked(op.operands[0]).shape or (), mixed_values(op, "low"), mixed_values(op, "high"), strict=True)
    dynamic = [(axis, *amount) for axis, amount in enumerate(amounts) if (type.shape or ())[axis] is None]
    if not all(sum_fits((stated or 0, low, high)) for _, stated, low, high in dynamic):
        return None
    sizes = []
    for axis, stated, low, high in dynamic:
        extent = _extent(builder, op.operands[0], axis) if stated is None else stated
        size = affine_sum(builder, (extent, low, high))
        sizes.append(size if isinstance(size, Value) else builder.constant(size, INDEX))
    return [make_fill(builder, fill.operands[0], builder.value("tensor.empty", sizes, type))]


def _extent(builder: Builder, tensor: Value, axis: int) -> Value:
    return builder.value("tensor.dim", (tensor, builder.constant(axis, INDEX)), INDEX)


def insert_of_pad(op: Operation, builder: Builder) -> PatternResult:
    """Insert the source of a `tensor.pad` instead of its result, if the padding value already fills the destination."""
    pad = defining_op(op.operands[0], "tensor.pad")
    if pad is None or ranked(op.operands[0]).rank != ranked(op.operands[1]).rank:
        return None
    fill = _fill_below(op)
    if fill is None or pad_value(pad) is not fill.operands[0]:
        return None
    lists = {name: mixed_values(op, name) for name in PARTS}
    amounts = zip(mixed_values(pad, "low"), mixed_values(pad, "high"), lists["strides"], strict=True)
    if not all(_is_within(low, high, step) for low, high, step in amounts):
        return None
    offsets = list(zip(mixed_values(pad, "low"), lists["offsets"], strict=True))
    source = pad.operands[0]
    sizes = zip(offsets, ranked(source).shape or (), ranked(op.operands[1]).shape or (), strict=True)
    if not all(sum_fits(pair) and _may_hold(pair, part, whole) for pair, part, whole in sizes):
        return None
    lists["offsets"] = [affine_sum(builder, pair) for pair in offsets]
    lists["sizes"] = [
        _extent(builder, source, axis) if size is None else size for axis, size in enumerate(ranked(source).shape or ())
    ]
    operands, attributes = with_lists(lists, (source, op.operands[1]))
    return [builder.value(op.name, operands, op.results[0].type, attributes)]


def _may_hold(offset: Sequence[int | Value], part: int | None, whole: int | None) -> bool:
    """Return False if a slice of size `part` at `offset` is known to exceed a dimension of size `whole`.

    `offset` is a list of terms to add. A program with such a slice may pass verification, but fails when it runs.
    """
    values, number = known_sum(offset)
    return bool(values) or part is None or whole is None or number + part <= whole


def _is_within(low: int | Value, high: int | Value, step: int | Value) -> bool:
    """Return True if `insert_of_pad` may insert the unpadded source in one dimension.

    `low` and `high` are the amounts of padding, which must not be negative constants. `step` is the stride of the
    insertion, which must be 1 unless `low` is 0.
    """
    negative = any(isinstance(amount, int) and amount < 0 for amount in (low, high))
    return not negative and (step == 1 or low == 0)


def _fill_below(op: Operation) -> Operation | None:
    """Return the `linalg.fill` that filled the destination of a `tensor.insert_slice`; None if there is none.

    Earlier insertions into disjoint slices of the destination are ignored.
    """
    dest = op.operands[1]
    while (before := defining_op(dest, "tensor.insert_slice")) is not None:
        if ranked(before.operands[0]).rank != ranked(dest).rank:
            return None
        if not any(_are_disjoint(*ranges) for ranges in zip(_ranges(op), _ranges(before), strict=True)):
            return None
        dest = before.operands[1]
    return _filled(dest)


_Range = tuple[int, int] | None


def _ranges(op: Operation) -> list[_Range]:
    """Return the (first, last) index of a slice in each dimension.

    A dimension whose offset, size or stride is not constant has None instead.
    """
    rows = zip(*(numbers_of(mixed_values(op, name)) for name in PARTS), strict=True)
    return [
        None if start is None or size is None or step is None else (start, start + (size - 1) * step)
        for start, size, step in rows
    ]


def _are_disjoint(left: _Range, right: _Range) -> bool:
    return left is not None and right is not None and (max(left) < min(right) or max(right) < min(left))


def extract_of_fill(op: Operation, builder: Builder) -> PatternResult:
    fill = _filled(op.operands[0])
    return None if fill is None else [fill.operands[0]]


def transpose_of_fill(op: Operation, builder: Builder) -> PatternResult:
    fill = _filled(op.operands[0]) if op.results else None
    return None if fill is None else [make_fill(builder, fill.operands[0], op.operands[1])]


def concat_of_fills(op: Operation, builder: Builder) -> PatternResult:
    fills = [_filled(value) for value in op.operands]
    known = [fill for fill in fills if fill is not None]
    if len(known) < len(fills) or len({fill.operands[0] for fill in known}) != 1:
        return None
    outputs = [fill.operands[1] for fill in known]
    joined = builder.value(op.name, outputs, op.results[0].type, dict(op.attributes))
    return [make_fill(builder, known[0].operands[0], joined)]


# -- linalg.transpose, linalg.broadcast --------------------------------------------------------------------------------


def _numbers(op: Operation, name: str) -> tuple[int, ...]:
    return op.attribute(name, DenseArrayAttr).values


def _moved(builder: Builder, source: Value, output: Value, name: str, numbers: Sequence[int]) -> list[Value]:
    """Build a `linalg.transpose` or `linalg.broadcast` whose attribute "permutation" or "dimensions" is `numbers`."""
    op_name = "linalg.transpose" if name == "permutation" else "linalg.broadcast"
    attributes: dict[str, Attribute] = {name: DenseArrayAttr(IntegerType(64), tuple(numbers))}
    types = [output.type] if isinstance(output.type, TensorType) else []
    body = build_body(COPY, [element_of(source.type), element_of(output.type)], False)
    return builder.emit(op_name, (source, output), types, attributes, [body]).results


def transpose_of_transpose(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], "linalg.transpose")
    if inner is None:
        return None
    first, then = _numbers(inner, "permutation"), _numbers(op, "permutation")
    return _moved(builder, inner.operands[0], op.operands[1], "permutation", [first[axis] for axis in then])


def transpose_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``transpose(broadcast(x))`` to ``broadcast(transpose(x))``."""
    inner = defining_op(op.operands[0], "linalg.broadcast")
    if inner is None or len(op.operands[0].uses) > 1:
        return None
    source, permutation, added = inner.operands[0], _numbers(op, "permutation"), _numbers(inner, "dimensions")
    source_axes = [axis for axis in range(len(permutation)) if axis not in added]
    moved = [source_axes.index(axis) for axis in permutation if axis in source_axes]
    type = ranked(source)
    sizes = [_extent(builder, source, axis) if size is None else size for axis, size in enumerate(type.shape or ())]
    ordered: Mixed = [sizes[axis] for axis in moved]
    dynamic = [size for size in ordered if isinstance(size, Value)]
    empty = builder.value("tensor.empty", dynamic, type.with_(shape=numbers_of(ordered)))
    (small,) = _moved(builder, source, empty, "permutation", moved)
    return _moved(builder, small, op.operands[1], "dimensions", [permutation.index(axis) for axis in added])


def transpose_to_itself(op: Operation, builder: Builder) -> PatternResult:
    permutation = _numbers(op, "permutation")
    if not op.results or list(permutation) != sorted(permutation):
        return None
    return [op.operands[0]] if op.operands[0].type is op.results[0].type else None


def broadcast_of_broadcast(op: Operation, builder: Builder) -> PatternResult:
    inner = defining_op(op.operands[0], "linalg.broadcast")
    if inner is None:
        return None
    added = _numbers(op, "dimensions")
    inner_axes = [axis for axis in range(ranked(op.operands[1]).rank or 0) if axis not in added]
    dimensions = sorted([*added, *(inner_axes[axis] for axis in _numbers(inner, "dimensions"))])
    return _moved(builder, inner.operands[0], op.operands[1], "dimensions", dimensions)
