"""Canonicalization patterns of slices of tensors, and of padding: upstream's."""

from collections.abc import Sequence

import numpy as np

from qrt.errors import VerifyError
from qrt.ir import Attribute, DenseArrayAttr, DenseElementsAttr, Operation, Value
from qrt.ir.assembly_elements import DYNAMIC
from qrt.ir.define import segments
from qrt.ir.dialects.arith_folds import made_by
from qrt.ir.dialects.tensor_slices import PARTS, Shape, dropped_dimensions, mixed_values, ranked
from qrt.ir.fold import constant_number, constant_of
from qrt.ir.rewrite import Builder, Pattern, replace
from qrt.passes.tensor_patterns import cast, cast_source, keeps_sizes
from qrt.types import IntegerType, TensorType, Type

Made = list[Value] | None
Mixed = list[int | Value]


def with_lists(lists: dict[str, Mixed], before: Sequence[Value]) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands after `before`, and the attributes, that say lists of integers and values."""
    operands, attributes, sizes = list(before), {}, [1] * len(before)
    for name, values in lists.items():
        given = [value for value in values if isinstance(value, Value)]
        stated = tuple(DYNAMIC if isinstance(value, Value) else value for value in values)
        attributes[f"static_{name}"] = DenseArrayAttr(IntegerType(64), stated)
        operands += given
        sizes.append(len(given))
    return operands, {**attributes, "operandSegmentSizes": segments(*sizes)}


def static_lists(op: Operation) -> dict[str, Mixed] | None:
    """The lists of a slice with its constant operands as integers; None where there are none that may be. Offsets and
    sizes are not negative."""
    lists = {name: mixed_values(op, name) for name in PARTS}
    static: dict[str, Mixed] = {}
    for name, values in lists.items():
        numbers = [constant_number(value) if isinstance(value, Value) else None for value in values]
        allowed = [number is not None and (name == "strides" or number >= 0) for number in numbers]
        static[name] = [
            number if fine and number is not None else value
            for value, number, fine in zip(values, numbers, allowed, strict=True)
        ]
    return None if static == lists else static


def numbers_of(values: Mixed) -> Shape:
    """A list without its values."""
    return tuple(None if isinstance(value, Value) else value for value in values)


def _reduced(full: Shape, rank: int) -> Shape:
    """A shape without its first sizes of 1, as many as it has dimensions too many."""
    spare, kept = len(full) - rank, []
    for size in full:
        if size == 1 and spare:
            spare -= 1
        else:
            kept.append(size)
    return tuple(kept)


def _slice(
    op: Operation, builder: Builder, before: Sequence[Value], lists: dict[str, Mixed], type: Type
) -> Value | None:
    """The same op on other lists; None where the slice would not be within its source."""
    operands, attributes = with_lists(lists, before)
    made = builder.create(op.name, operands, (type,) if op.results else (), attributes)
    assert made.definition is not None
    assert made.definition.verify_signature is not None
    try:
        made.definition.verify_signature(made)
    except VerifyError:
        made.erase()
        return None
    return made.results[0] if op.results else before[0]


# -- tensor.extract_slice ----------------------------------------------------------------------------------------------


def _slice_of_constant(op: Operation, builder: Builder) -> Made:
    """Of one that is the same everywhere."""
    constant, type = constant_of(op.operands[0]), ranked(op.results[0])
    if not isinstance(constant, DenseElementsAttr) or not constant.is_splat or not type.has_static_shape:
        return None
    array = np.broadcast_to(constant.array.flat[0], type.shape)  # type: ignore[arg-type]  # static
    return [builder.constant(DenseElementsAttr(array, type), type)]


def _same_place(op: Operation, other: Operation) -> bool:
    return all(mixed_values(op, name) == mixed_values(other, name) for name in PARTS)


def _slice_of_insert(op: Operation, builder: Builder) -> Made:
    """What was put there."""
    inserted = made_by(op.operands[0], "tensor.insert_slice")
    if inserted is None or inserted.operands[0].type is not op.results[0].type or not _same_place(op, inserted):
        return None
    return [inserted.operands[0]]


def _static_extract(op: Operation, builder: Builder) -> Made:
    lists, type = static_lists(op), ranked(op.results[0])
    if lists is None:
        return None
    result = type.with_(shape=_reduced(numbers_of(lists["sizes"]), len(type.shape or ())))
    made = _slice(op, builder, op.operands[:1], lists, result)
    return None if made is None else [cast(builder, made, type)]


def _slice_of_cast(op: Operation, builder: Builder) -> Made:
    source = cast_source(op.operands[0])
    if source is None or any(constant_of(value) is not None for value in op.operands):
        return None
    made = _slice(op, builder, (source,), {name: mixed_values(op, name) for name in PARTS}, op.results[0].type)
    return None if made is None else [made]


def _cast_of_slice(op: Operation, builder: Builder) -> Made:
    """Sizes that only the type it is cast to says are those of the slice."""
    slice_, type = made_by(op.operands[0], "tensor.extract_slice"), op.results[0].type
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
    made = _slice(slice_, builder, slice_.operands[:1], lists, type)
    return None if made is None else [made]


# -- tensor.insert_slice -----------------------------------------------------------------------------------------------


def _insert_over(op: Operation, builder: Builder) -> Made:
    """What was put in the same place before is not seen."""
    before = made_by(op.operands[1], "tensor.insert_slice")
    if before is None or before.operands[0].type is not op.operands[0].type or not _same_place(op, before):
        return None
    operands = [op.operands[0], before.operands[1], *op.operands[2:]]
    return [builder.value(op.name, operands, op.results[0].type, dict(op.attributes))]


def _for_source(op: Operation, builder: Builder) -> Builder:
    """Where a cast of what is inserted is to stand: what is in `in_parallel` does nothing else."""
    parent = op.parent_operation
    return Builder.before(parent) if not op.results and parent is not None else builder


def _results(op: Operation, value: Value | None, builder: Builder) -> Made:
    if value is None:
        return None
    return [cast(builder, value, op.results[0].type)] if op.results else []


def _static_insert(op: Operation, builder: Builder) -> Made:
    lists, (source, dest) = static_lists(op), op.operands[:2]
    if lists is None:
        return None
    type = ranked(source)
    known = type.with_(shape=_reduced(numbers_of(lists["sizes"]), len(type.shape or ())))
    given = cast(_for_source(op, builder), source, known)
    return _results(op, _slice(op, builder, (given, dest), lists, dest.type), builder)


def _insert_of_casts(op: Operation, builder: Builder) -> Made:
    source, dest = map(cast_source, op.operands[:2])
    if (source is None and dest is None) or any(constant_number(value) is not None for value in op.operands):
        return None
    source, dest = source or op.operands[0], dest or op.operands[1]
    lists = {name: mixed_values(op, name) for name in PARTS}
    dropped = _inserted_dimensions(numbers_of(lists["sizes"]), ranked(source).shape or ())
    if dropped is None:
        return None
    known = iter(ranked(source).shape or ())
    lists["sizes"] = [
        size if axis in dropped or (stated := next(known)) is None or not isinstance(size, Value) else stated
        for axis, size in enumerate(lists["sizes"])
    ]
    return _results(op, _slice(op, builder, (source, dest), lists, dest.type), builder)


def _inserted_dimensions(full: Shape, reduced: Shape) -> tuple[int, ...] | None:
    """As `dropped_dimensions`, where a size that is not known may be any."""
    if len(full) == len(reduced):
        return ()
    at, dropped = 0, []
    for axis, size in enumerate(full):
        if at < len(reduced) and (size == reduced[at] or None in (size, reduced[at])):
            at += 1
        elif size == 1:
            dropped.append(axis)
        else:
            return None
    return tuple(dropped) if at == len(reduced) else None


def _cast_source(op: Operation, builder: Builder) -> Made:
    """Sizes that only the slice says are those of what is inserted."""
    source = op.operands[0]
    given, sizes = ranked(source), [size if isinstance(size, int) else None for size in mixed_values(op, "sizes")]
    shape = given.shape or ()
    if len(sizes) != len(shape):
        return None
    known = given.with_(shape=[b if a is None else a for a, b in zip(sizes, shape, strict=True)])
    if known is given or not keeps_sizes(given, known):
        return None
    operands = [cast(_for_source(op, builder), source, known), *op.operands[1:]]
    return builder.create(op.name, operands, [result.type for result in op.results], dict(op.attributes)).results


# -- tensor.pad --------------------------------------------------------------------------------------------------------


def _padded(given: TensorType, low: Mixed, high: Mixed) -> TensorType:
    """As far as the lists say."""
    return given.with_(
        shape=[
            None if size is None or isinstance(a, Value) or isinstance(b, Value) else size + a + b
            for size, a, b in zip(given.shape or (), low, high, strict=True)
        ]
    )


def _pad_by_nothing(op: Operation, builder: Builder) -> Made:
    amounts = mixed_values(op, "low") + mixed_values(op, "high")
    if "nofold" in op.attributes or any(isinstance(amount, Value) or amount for amount in amounts):
        return None
    return [cast(builder, op.operands[0], op.results[0].type)]


def _pad(op: Operation, builder: Builder, source: Value, low: Mixed, high: Mixed, type: Type) -> Value:
    operands, attributes = with_lists({"low": low, "high": high}, (source,))
    attributes |= {name: value for name, value in op.attributes.items() if name not in attributes}
    return builder.create(op.name, operands, (type,), attributes, op.take_regions()).results[0]


def _pad_of_cast(op: Operation, builder: Builder) -> Made:
    source = cast_source(op.operands[0])
    if source is None:
        return None
    low, high, made = mixed_values(op, "low"), mixed_values(op, "high"), ranked(op.results[0])
    inferred = _padded(ranked(source), low, high)
    return [cast(builder, _pad(op, builder, source, low, high, inferred), made)]


def _cast_of_pad(op: Operation, builder: Builder) -> Made:
    """Sizes that only the type it is cast to says are those of the result."""
    users = op.results[0].users
    user = users[0] if len(users) == 1 else None
    if user is None or user.name != "tensor.cast" or not keeps_sizes(op.results[0].type, user.results[0].type):
        return None
    low, high = mixed_values(op, "low"), mixed_values(op, "high")
    made = _pad(op, builder, op.operands[0], low, high, user.results[0].type)
    replace(user, [made])
    return [made]


def _static_pad(op: Operation, builder: Builder) -> Made:
    lists = [mixed_values(op, name) for name in ("low", "high")]
    low, high = (
        [number if isinstance(v, Value) and (number := constant_number(v)) is not None else v for v in values]
        for values in lists
    )
    made, inferred = ranked(op.results[0]), _padded(ranked(op.operands[0]), low, high)
    if [low, high] == lists or inferred.shape == made.shape:
        return None
    return [cast(builder, _pad(op, builder, op.operands[0], low, high, inferred), made)]


def _pad_of_pad(op: Operation, builder: Builder) -> Made:
    """By the same value, which neither computes inside."""
    inner = made_by(op.operands[0], "tensor.pad")
    if inner is None or "nofold" in op.attributes or "nofold" in inner.attributes:
        return None
    values = [pad_value(each) for each in (op, inner)]
    if values[0] is None or values[0] is not values[1]:
        return None
    sums: list[Mixed] = []
    for name in ("low", "high"):
        pairs = zip(mixed_values(inner, name), mixed_values(op, name), strict=True)
        total = [b if a == 0 else a if b == 0 else _sum(a, b) for a, b in pairs]
        sums.append([amount for amount in total if amount is not None])
    low, high = sums
    if len(low) + len(high) < 2 * len(ranked(op.results[0]).shape or ()):
        return None
    return [_pad(op, builder, inner.operands[0], low, high, op.results[0].type)]


def _sum(left: int | Value, right: int | Value) -> int | None:
    return left + right if isinstance(left, int) and isinstance(right, int) else None


def pad_value(op: Operation) -> Value | None:
    """The one value that a tensor is padded by, if it does not depend on where."""
    last = op.regions[0].blocks[0].last
    assert last is not None
    (value,) = last.operands
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    return None if block is last.parent else value


_INSERT = (_static_insert, _insert_of_casts, _cast_source)

SLICE_PATTERNS: dict[str, Sequence[Pattern]] = {
    "tensor.cast": (_cast_of_slice,),
    "tensor.extract_slice": (_slice_of_constant, _slice_of_insert, _static_extract, _slice_of_cast),
    "tensor.insert_slice": (_insert_over, *_INSERT),
    "tensor.pad": (_pad_by_nothing, _pad_of_cast, _cast_of_pad, _static_pad, _pad_of_pad),
    "tensor.parallel_insert_slice": _INSERT,
}
