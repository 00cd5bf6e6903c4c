"""Helpers of the canonicalization patterns of `vector`: constants, splats, types and positions of parts."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

from qrt.ir import Attribute, Builder, DenseElementsAttr, Operation, Value
from qrt.ir.core.attributes import ArrayAttr, DenseArrayAttr, IntegerAttr
from qrt.ir.core.constraints import element_of
from qrt.ir.core.matching import constant_of, defining_op
from qrt.ir.dialects.vector.types import integers, part_type, shape_of, vector_of
from qrt.ir.rewriting.rewrite import IN_PLACE, PatternResult
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


def same_type(op: Operation, builder: Builder) -> PatternResult:
    """Replace an op by its operand, if the operand already has the type of the result."""
    return [op.operands[0]] if op.operands[0].type is op.results[0].type else None


def changed(
    builder: Builder, op: Operation, operands: Sequence[Value], changes: Mapping[str, Attribute]
) -> list[Value]:
    """Change the operands and attributes of an operation in place, as upstream's folders do.

    A producer that loses its last use is erased only when the rewriter visits it. Until then it counts as a user of
    its own operands, as in upstream.
    """
    builder.set_operands(op, operands)
    op.attributes = {**op.attributes, **changes}
    return IN_PLACE


# -- values ------------------------------------------------------------------------------------------------------------


def dense_of(value: Value) -> DenseElementsAttr | None:
    """Return the elements of a constant vector; None if the value is not constant."""
    constant = constant_of(value)
    return constant if isinstance(constant, DenseElementsAttr) else None


def constant(builder: Builder, values: Array, type: Type) -> Value:
    """Build a constant vector with these elements, or a splat of a single element."""
    assert isinstance(type, VectorType)
    return builder.constant(DenseElementsAttr(values, type), type)


def splat(builder: Builder, value: Any, type: Type) -> PatternResult:
    """Build a constant vector with all elements equal to `value`; None if the constant would be too large."""
    elements = dense.splat(value, type)
    return None if elements is None else [builder.constant(elements, type)]


def splat_source(value: Value) -> Value | None:
    """Return the scalar that a `vector.broadcast` repeats to produce a vector; None for other vectors."""
    source = defining_op(value, "vector.broadcast")
    return None if source is None or isinstance(source.operands[0].type, VectorType) else source.operands[0]


def repeated(value: Value) -> Value | None:
    """Return the source of a `broadcast`, or of a `shape_cast` that adds leading dimensions of size 1; else None."""
    broadcast = defining_op(value, "vector.broadcast")
    if broadcast is not None:
        return broadcast.operands[0]
    cast = defining_op(value, "vector.shape_cast")
    if cast is None:
        return None
    given, shape = shape_of(cast.operands[0].type), shape_of(value.type)
    return cast.operands[0] if shape[max(len(shape) - len(given), 0) :] == given else None


# -- types -------------------------------------------------------------------------------------------------------------


def can_broadcast(given: Type, target: VectorType) -> bool:
    """Return True if a value of the type `given` can be broadcast to the type `target`."""
    if not isinstance(given, VectorType):
        return given is target.element
    lead = len(target.shape) - len(given.shape)
    if lead < 0 or given.element is not target.element:
        return False
    old, new = (list(zip(type.shape, type.scalable, strict=True)) for type in (given, target))
    return all(a in ((1, False), b) for a, b in zip(old, new[lead:], strict=True))


def has_as_many(given: Type, other: Type) -> bool:
    """Return True if two types have the same number of elements and the same element type."""
    return prod(shape_of(given)) == prod(shape_of(other)) and element_of(given) is element_of(other)


# -- positions ---------------------------------------------------------------------------------------------------------


def position_of(op: Operation) -> Position:
    """Return the position of a `vector.extract` or `vector.insert`, as static integers and operands."""
    following = iter(op.operand_group("dynamic_position"))
    return [next(following) if index == DYNAMIC else index for index in integers(op, "static_position")]


def known_position(op: Operation) -> tuple[int, ...] | None:
    """Return the position of a `vector.extract` or `vector.insert` if it is static; None otherwise.

    A static index of -1 is poison in upstream, not a position.
    """
    position = integers(op, "static_position")
    return None if any(index < 0 for index in position) else position


def with_position(position: Position, before: Sequence[Value]) -> tuple[list[Value], dict[str, Attribute]]:
    """Return the operands and the attributes of a `vector.extract` or `vector.insert` at a position.

    The operands are `before`, then the indices of the position that are values. The attribute `static_position` has the
    other indices.
    """
    dynamic = [index for index in position if isinstance(index, Value)]
    static = [DYNAMIC if isinstance(index, Value) else index for index in position]
    return [*before, *dynamic], {"static_position": dense_array(static)}


def extract(builder: Builder, source: Value, position: Position) -> Value:
    """Extract the part of a vector at a position; return the vector itself if the position is empty."""
    vector = vector_of(source)
    if not position and vector.shape:
        return source
    operands, attributes = with_position(position, (source,))
    return builder.value(
        "vector.extract", operands, part_type(vector, range(len(position), len(vector.shape))), attributes
    )
