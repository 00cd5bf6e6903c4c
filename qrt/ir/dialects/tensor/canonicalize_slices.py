"""Upstream's canonicalization patterns of slices of tensors."""

from collections.abc import Sequence

from qrt.ir import Builder, DenseElementsAttr, Operation, Value
from qrt.ir.core.matching import constant_number, constant_of, defining_op
from qrt.ir.dialects._shaped.lists import Mixed, mixed_values, numbers_of, with_lists
from qrt.ir.dialects._shaped.slices import PARTS, dropped_dimensions, static_lists
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source, keeps_sizes
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.ir.text.dense import splat
from qrt.types import TensorType, Type


def _known(op: Operation, part: Value, lists: dict[str, Mixed]) -> TensorType | None:
    """Return the type of `part`, the extracted or inserted tensor, if the op gets the sizes in `lists`.

    The new type drops the same dimensions of size 1 as the present type. Return None if these dimensions are unknown.
    """
    type = ranked(part)
    dropped = dropped_dimensions(numbers_of(mixed_values(op, "sizes")), type.shape or ())
    if dropped is None:
        return None
    return type.with_(shape=[size for axis, size in enumerate(numbers_of(lists["sizes"])) if axis not in dropped])


def _slice(
    op: Operation, builder: Builder, before: Sequence[Value], lists: dict[str, Mixed], type: Type
) -> Value | None:
    """Rebuild an extraction or insertion with the offsets, sizes and strides in `lists`.

    `before` are the operands before these lists, `type` is the result type. Return None if the slice would be out of
    bounds.
    """
    operands, attributes = with_lists(lists, before)
    rebuilt = builder.create_valid(op.name, operands, (type,) if op.results else (), attributes)
    if rebuilt is None:
        return None
    return rebuilt.results[0] if op.results else before[0]


# -- tensor.extract_slice ----------------------------------------------------------------------------------------------


def slice_of_constant(op: Operation, builder: Builder) -> PatternResult:
    """Replace a slice of a splat constant by a splat constant."""
    constant, type = constant_of(op.operands[0]), ranked(op.results[0])
    if not isinstance(constant, DenseElementsAttr) or not constant.is_splat or not type.has_static_shape:
        return None
    constant_slice = splat(constant.first, type)
    return None if constant_slice is None else [builder.constant(constant_slice, type)]


def _same_place(op: Operation, other: Operation) -> bool:
    return all(mixed_values(op, name) == mixed_values(other, name) for name in PARTS)


def slice_of_insert(op: Operation, builder: Builder) -> PatternResult:
    """Replace ``extract_slice(insert_slice(x, y))`` by x, if both slices have equal offsets, sizes and strides.

    The type of x must be the result type.
    """
    inserted = defining_op(op.operands[0], "tensor.insert_slice")
    if inserted is None or inserted.operands[0].type is not op.results[0].type or not _same_place(op, inserted):
        return None
    return [inserted.operands[0]]


def static_extract(op: Operation, builder: Builder) -> PatternResult:
    lists = static_lists(op)
    type = None if lists is None else _known(op, op.results[0], lists)
    if lists is None or type is None:
        return None
    rebuilt = _slice(op, builder, op.operands[:1], lists, type)
    return None if rebuilt is None else [cast(builder, rebuilt, op.results[0].type)]


def slice_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = cast_source(op.operands[0])
    if source is None or any(constant_of(value) is not None for value in op.operands):
        return None
    rebuilt = _slice(op, builder, (source,), {name: mixed_values(op, name) for name in PARTS}, op.results[0].type)
    return None if rebuilt is None else [rebuilt]


def cast_of_slice(op: Operation, builder: Builder) -> PatternResult:
    """Replace a `tensor.cast` that adds static sizes to a slice by a slice with these sizes."""
    slice_, type = defining_op(op.operands[0], "tensor.extract_slice"), op.results[0].type
    if slice_ is None or type is op.operands[0].type or not keeps_sizes(op.operands[0].type, type):
        return None
    lists = {name: mixed_values(slice_, name) for name in PARTS}
    dropped = dropped_dimensions(numbers_of(lists["sizes"]), ranked(op.operands[0]).shape or ())
    assert isinstance(type, TensorType)
    known = iter(type.shape or ())
    lists["sizes"] = [
        size if axis in (dropped or ()) or (stated := next(known)) is None else stated
        for axis, size in enumerate(lists["sizes"])
    ]
    rebuilt = _slice(slice_, builder, slice_.operands[:1], lists, type)
    return None if rebuilt is None else [rebuilt]


# -- tensor.insert_slice -----------------------------------------------------------------------------------------------


def insert_over(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``insert_slice(x, insert_slice(y, dest))`` to ``insert_slice(x, dest)``, if x overwrites exactly y."""
    before = defining_op(op.operands[1], "tensor.insert_slice")
    if before is None or before.operands[0].type is not op.operands[0].type or not _same_place(op, before):
        return None
    operands = [op.operands[0], before.operands[1], *op.operands[2:]]
    return [builder.value(op.name, operands, op.results[0].type, dict(op.attributes))]


def _for_source(op: Operation, builder: Builder) -> Builder:
    """Return a builder for casts of the tensor that `op` inserts: before `op`, or before the `in_parallel` around it.

    The body of an `in_parallel` may contain insertions only.
    """
    parent = op.parent_operation
    return builder.at(parent) if not op.results and parent is not None else builder


def _results(op: Operation, value: Value | None, builder: Builder) -> PatternResult:
    if value is None:
        return None
    return [cast(builder, value, op.results[0].type)] if op.results else []


def static_insert(op: Operation, builder: Builder) -> PatternResult:
    lists, (source, dest) = static_lists(op), op.operands[:2]
    known = None if lists is None else _known(op, source, lists)
    if lists is None or known is None:
        return None
    given = cast(_for_source(op, builder), source, known)
    return _results(op, _slice(op, builder, (given, dest), lists, dest.type), builder)


def insert_of_casts(op: Operation, builder: Builder) -> PatternResult:
    source, dest = map(cast_source, op.operands[:2])
    if (source is None and dest is None) or any(constant_number(value) is not None for value in op.operands):
        return None
    source, dest = source or op.operands[0], dest or op.operands[1]
    lists = {name: mixed_values(op, name) for name in PARTS}
    sizes, shape = numbers_of(lists["sizes"]), ranked(source).shape or ()
    dropped = () if len(sizes) == len(shape) else dropped_dimensions(sizes, shape, unknown_matches=True)
    if dropped is None:
        return None
    known = iter(shape)
    lists["sizes"] = [
        size if axis in dropped or (stated := next(known)) is None or not isinstance(size, Value) else stated
        for axis, size in enumerate(lists["sizes"])
    ]
    return _results(op, _slice(op, builder, (source, dest), lists, dest.type), builder)
