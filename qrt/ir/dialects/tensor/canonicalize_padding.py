"""Upstream's canonicalization patterns of `tensor.pad`."""

from collections.abc import Sequence

from qrt.ir import Builder, Operation, Value
from qrt.ir.core.affine import AffineMapAttr, Expression, add
from qrt.ir.core.constraints import INDEX
from qrt.ir.core.matching import constant_of, defining_op, number_of
from qrt.ir.dialects._shaped.lists import Mixed, mixed_values, numbers_of, with_lists
from qrt.ir.dialects._shaped.types import ranked
from qrt.ir.dialects.affine.dimensions import is_symbol
from qrt.ir.dialects.tensor.canonicalize import cast, cast_source, keeps_sizes
from qrt.ir.rewriting.rewrite import PatternResult
from qrt.types import TensorType, Type
from qrt.types.shaped import MAX_DIM


def pad_by_nothing(op: Operation, builder: Builder) -> PatternResult:
    amounts = mixed_values(op, "low") + mixed_values(op, "high")
    if "nofold" in op.attributes or any(number_of(amount) != 0 for amount in amounts):
        return None
    return [cast(builder, op.operands[0], op.results[0].type)]


def pad_to_itself(op: Operation, builder: Builder) -> PatternResult:
    """Remove a padding by zero elements, if the types are equal and static."""
    type = ranked(op.results[0])
    return pad_by_nothing(op, builder) if type.has_static_shape and op.operands[0].type is type else None


def _pad(op: Operation, builder: Builder, source: Value, low: Mixed, high: Mixed, type: Type) -> Value:
    operands, attributes = with_lists({"low": low, "high": high}, (source,))
    attributes |= {name: value for name, value in op.attributes.items() if name not in attributes}
    return builder.emit(op.name, operands, (type,), attributes, op.take_regions()).results[0]


def _known_type(op: Operation, source: Value, low: Mixed, high: Mixed) -> TensorType | None:
    """Return the result type of a `tensor.pad` with the sizes that its operands determine.

    Return None if a size is negative or too large.
    """
    stated = ranked(op.results[0])
    shape = list(stated.shape or ())
    for axis, (size, before, after) in enumerate(zip(ranked(source).shape or (), low, high, strict=True)):
        if size is not None and isinstance(before, int) and isinstance(after, int):
            padded = size + before + after
            if not 0 <= padded <= MAX_DIM:
                return None
            shape[axis] = padded if shape[axis] is None else shape[axis]
    return stated.with_(shape=shape)


def _pad_as_stated(op: Operation, builder: Builder, source: Value, low: Mixed, high: Mixed) -> PatternResult:
    """Rebuild a `tensor.pad` with another source or other amounts of padding, and cast it to its former type.

    Return None if a size is negative or too large.
    """
    type = _known_type(op, source, low, high)
    return None if type is None else [cast(builder, _pad(op, builder, source, low, high, type), op.results[0].type)]


def pad_of_cast(op: Operation, builder: Builder) -> PatternResult:
    source = cast_source(op.operands[0])
    low, high = mixed_values(op, "low"), mixed_values(op, "high")
    return None if source is None else _pad_as_stated(op, builder, source, low, high)


def cast_of_pad(op: Operation, builder: Builder) -> PatternResult:
    """Give a `tensor.pad` the type of a `tensor.cast` that is its only user and adds static sizes; remove the cast."""
    users = op.results[0].users
    user = users[0] if len(users) == 1 else None
    if user is None or user.name != "tensor.cast" or not keeps_sizes(op.results[0].type, user.results[0].type):
        return None
    low, high = mixed_values(op, "low"), mixed_values(op, "high")
    padded = _pad(op, builder, op.operands[0], low, high, user.results[0].type)
    builder.replace(user, [padded])
    return [padded]


def static_pad(op: Operation, builder: Builder) -> PatternResult:
    lists = [mixed_values(op, name) for name in ("low", "high")]
    low, high = ([value if (number := number_of(value)) is None else number for value in values] for values in lists)
    if _known_type(op, op.operands[0], low, high) is op.results[0].type:
        return None
    return _pad_as_stated(op, builder, op.operands[0], low, high)


def pad_of_slice_of_pad(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``pad(slice(pad(slice(x))))`` to ``pad(slice(x))``, if the paddings are compatible.

    Both must pad with the same constant, only at the end, and along different dimensions.
    """
    inner = defining_op(op.operands[0], "tensor.extract_slice")
    outer_pad = None if inner is None else defining_op(inner.operands[0], "tensor.pad")
    outer = None if outer_pad is None else defining_op(outer_pad.operands[0], "tensor.extract_slice")
    if inner is None or outer_pad is None or outer is None or "nofold" in outer_pad.attributes:
        return None
    if len({ranked(value).rank for value in (op.operands[0], inner.operands[0], outer.operands[0])}) > 1:
        return None
    constants = [None if (value := pad_value(pad)) is None else constant_of(value) for pad in (op, outer_pad)]
    ones = set(mixed_values(inner, "strides") + mixed_values(outer, "strides"))
    lows = {number_of(low) for low in mixed_values(op, "low") + mixed_values(outer_pad, "low")}
    if constants[0] is None or constants[0] != constants[1] or not ones <= {1} or not lows <= {0}:
        return None
    lists = _joined_slices(op, inner, outer_pad, outer)
    if lists is None:
        return None
    high: Mixed = [
        second if number_of(first) == 0 else first
        for first, second in zip(mixed_values(op, "high"), mixed_values(outer_pad, "high"), strict=True)
    ]
    type = ranked(outer.operands[0]).with_(shape=numbers_of(lists["sizes"]))
    operands, attributes = with_lists(lists, outer.operands[:1])
    source = builder.value(outer.name, operands, type, attributes)
    return _pad_as_stated(op, builder, source, mixed_values(op, "low"), high)


def _joined_slices(op: Operation, inner: Operation, outer_pad: Operation, outer: Operation) -> dict[str, Mixed] | None:
    """Merge the slices in ``op(inner(outer_pad(outer(x))))`` to one slice of x; return its offsets, sizes and strides.

    `op` and `outer_pad` are paddings, `inner` and `outer` slices. In each dimension, either `inner` and `op` or `outer`
    and `outer_pad` must have offset 0 and no padding. `inner` must not cut off padding of `outer_pad`. Return None if a
    condition does not hold.
    """
    lists: dict[str, Mixed] = {"offsets": [], "sizes": [], "strides": mixed_values(inner, "strides")}
    rows = zip(
        mixed_values(op, "high"),
        mixed_values(outer_pad, "high"),
        *(mixed_values(slice_, name) for name in ("offsets", "sizes") for slice_ in (inner, outer)),
        ranked(inner.operands[0]).shape or (),
        strict=True,
    )
    for high, outer_high, offset, outer_offset, size, outer_size, extent in rows:
        if number_of(high) == 0 and number_of(offset) == 0:
            lists["offsets"].append(outer_offset)
        elif number_of(outer_high) == 0 and number_of(outer_offset) == 0:
            lists["offsets"].append(offset)
        else:
            return None
        if number_of(outer_high) != 0:
            if extent is None or number_of(size) != extent:
                return None
            size = outer_size
        lists["sizes"].append(size)
    return lists


def pad_of_pad(op: Operation, builder: Builder) -> PatternResult:
    """Rewrite ``pad(pad(x))`` to ``pad(x)``, if both pad with the same value, which is defined outside their bodies."""
    inner = defining_op(op.operands[0], "tensor.pad")
    if inner is None or "nofold" in op.attributes or "nofold" in inner.attributes:
        return None
    values = [pad_value(pad) for pad in (op, inner)]
    if values[0] is None or values[0] is not values[1]:
        return None
    pairs = [list(zip(mixed_values(op, name), mixed_values(inner, name), strict=True)) for name in ("high", "low")]
    if not all(sum_fits(pair) for side in pairs for pair in side):
        return None
    high, low = ([affine_sum(builder, pair) for pair in side] for side in pairs)
    return _pad_as_stated(op, builder, inner.operands[0], low, high)


def known_sum(terms: Sequence[int | Value]) -> tuple[list[Value], int]:
    """Return (the terms that are not constant, the sum of the constant terms)."""
    known = list(map(number_of, terms))
    values = [term for term, stated in zip(terms, known, strict=True) if stated is None and isinstance(term, Value)]
    return values, sum(stated for stated in known if stated is not None)


def sum_fits(terms: Sequence[int | Value]) -> bool:
    """Return True if the sum of the constant terms fits 64 bits, as numbers in the text of a program must."""
    return -(1 << 63) <= known_sum(terms)[1] < 1 << 63


def affine_sum(builder: Builder, terms: Sequence[int | Value]) -> int | Value:
    """Return the sum of the terms: a number if all are constant, else a value, built with `affine.apply`.

    `sum_fits(terms)` must be True.
    """
    values, number = known_sum(terms)
    if not values:
        return number
    if len(values) == 1 and number == 0:
        return values[0]
    symbols = [value for value in values if is_symbol(value)]
    dimensions = [value for value in values if value not in symbols]
    total: Expression = number
    for kind, named in (("s", symbols), ("d", dimensions)):
        for index in reversed(range(len(named))):
            total = add((kind, index), total)
    map = AffineMapAttr(len(dimensions), len(symbols), (total,))
    return builder.value("affine.apply", [*dimensions, *symbols], INDEX, {"map": map})


def pad_value(op: Operation) -> Value | None:
    """Return the value with which a tensor is padded; None if the body of the `tensor.pad` computes the value."""
    body = op.regions[0].blocks[0]
    (value,) = body.terminator.operands
    owner = value.owner
    block = owner.parent if isinstance(owner, Operation) else owner
    return None if block is body else value
