"""Helpers of the patterns of `vector`: questions about vectors, their parts, and positions in them."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from qrt.ir import Attribute, Builder, DenseElementsAttr, Operation, Value
from qrt.ir.core.attributes import ArrayAttr, DenseArrayAttr, IntegerAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of, made_by
from qrt.ir.dialects.vector.types import integers, part_type, shape_of, vector_of
from qrt.ir.rewriting.rewrite import IN_PLACE, Made
from qrt.ir.text import dense
from qrt.ir.text.assembly_elements import DYNAMIC
from qrt.ir.text.dense import Array
from qrt.types import IntegerType, Type, VectorType

Position = Sequence[int | Value]
_I64 = IntegerType(64)


def dense_array(values: Sequence[int]) -> DenseArrayAttr:
    return DenseArrayAttr(_I64, tuple(values))


def array(values: Sequence[int]) -> ArrayAttr:
    return ArrayAttr(tuple(IntegerAttr(value, _I64) for value in values))


def same_type(op: Operation, builder: Builder) -> Made:
    """Folds an op whose operand has the result's type already."""
    return [op.operands[0]] if op.operands[0].type is op.results[0].type else None


def changed(
    builder: Builder, op: Operation, operands: Sequence[Value], changes: Mapping[str, Attribute]
) -> list[Value]:
    """The operation itself on other operands, as upstream's folders change it: what it no longer uses, and so counts as
    a use of other values, goes when it is looked at again."""
    builder.set_operands(op, operands)
    op.attributes = {**op.attributes, **changes}
    return IN_PLACE


# -- values ------------------------------------------------------------------------------------------------------------


def dense_of(value: Value) -> DenseElementsAttr | None:
    """The constant that a vector is."""
    constant = constant_of(value)
    return constant if isinstance(constant, DenseElementsAttr) else None


def constant(builder: Builder, values: Array, type: Type) -> Value:
    """A constant vector of these elements, or of one everywhere."""
    assert isinstance(type, VectorType)
    return builder.constant(DenseElementsAttr(values, type), type)


def splat(builder: Builder, value: Any, type: Type) -> Made:
    """A constant vector of one element everywhere, unless no array has so many."""
    made = dense.splat(value, type)
    return None if made is None else [builder.constant(made, type)]


def splat_source(value: Value) -> Value | None:
    """The scalar that a vector has everywhere."""
    source = made_by(value, "vector.broadcast")
    return None if source is None or isinstance(source.operands[0].type, VectorType) else source.operands[0]


def repeated(value: Value) -> Value | None:
    """The value that a vector repeats: the source of a broadcast, or of a cast that adds leading dimensions of 1."""
    broadcast = made_by(value, "vector.broadcast")
    if broadcast is not None:
        return broadcast.operands[0]
    cast = made_by(value, "vector.shape_cast")
    if cast is None:
        return None
    given, made = shape_of(cast.operands[0].type), shape_of(value.type)
    return cast.operands[0] if made[max(len(made) - len(given), 0) :] == given else None


# -- types -------------------------------------------------------------------------------------------------------------


def can_broadcast(given: Type, made: VectorType) -> bool:
    """Whether a value of the one type can be repeated to make one of the other."""
    if not isinstance(given, VectorType):
        return given is made.element
    lead = len(made.shape) - len(given.shape)
    if lead < 0 or given.element is not made.element:
        return False
    old, new = (list(zip(type.shape, type.scalable, strict=True)) for type in (given, made))
    return all(a in ((1, False), b) for a, b in zip(old, new[lead:], strict=True))


def has_as_many(given: Type, made: Type) -> bool:
    """Whether two vectors have the same number of elements."""
    return prod(shape_of(given)) == prod(shape_of(made)) and element_of(given) is element_of(made)


# -- positions ---------------------------------------------------------------------------------------------------------


def position_of(op: Operation) -> Position:
    """The position at which a `vector.extract` or `vector.insert` takes or puts a part."""
    following = iter(op.operand_group("dynamic_position"))
    return [next(following) if index == DYNAMIC else index for index in integers(op, "static_position")]


def known_position(op: Operation) -> tuple[int, ...] | None:
    """The same where it is known. Upstream's -1 is poison, and no position."""
    position = integers(op, "static_position")
    return None if any(index < 0 for index in position) else position


def with_position(position: Position, before: Sequence[Value]) -> tuple[list[Value], dict[str, Attribute]]:
    """The operands after `before`, and the attribute, that say a position."""
    dynamic = [index for index in position if isinstance(index, Value)]
    static = [DYNAMIC if isinstance(index, Value) else index for index in position]
    return [*before, *dynamic], {"static_position": dense_array(static)}


def extract(builder: Builder, source: Value, position: Position) -> Value:
    """The part of a vector at a position, which may be all of it."""
    vector = vector_of(source)
    if not position and vector.shape:
        return source
    operands, attributes = with_position(position, (source,))
    return builder.value(
        "vector.extract", operands, part_type(vector, range(len(position), len(vector.shape))), attributes
    )
