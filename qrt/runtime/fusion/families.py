"""Helpers of the fusion passes, which read and build ops of op families."""

from collections.abc import Sequence
from typing import Any

from qrt.errors import QuantError
from qrt.ir import Attribute, Builder, Operation, Value
from qrt.ir.constants import known_array, write_constant
from qrt.ir.core.attributes import attribute
from qrt.ops import OpFamily, family_of
from qrt.ops.core import Array
from qrt.ops.declare import NO_TRAITS, Traits
from qrt.runtime.operations import FUSED
from qrt.types import TensorType, Type, UniformType


def traits_of(op: Operation | None) -> Traits:
    """Return the traits of an op's family; `NO_TRAITS` for an op that no family declares."""
    family = family_of(op)
    return NO_TRAITS if family is None else family.traits


def quantized(value: Value) -> UniformType | None:
    """Return the quantized element type of a value; None if it is not a quantized tensor."""
    element = value.type.element if isinstance(value.type, TensorType) else None
    return element if isinstance(element, UniformType) else None


def attributes_of(op: Operation) -> dict[str, Any]:
    """Return the attributes of a family's op as Python values. An attribute that is not given has its default."""
    family = family_of(op)
    assert family is not None  # the caller has checked a trait
    return family.read(op.attributes)


def accepts(family: OpFamily | None, operands: Sequence[Value], attributes: dict[str, Any], result: Type) -> bool:
    """Return True if a family accepts these operands and attributes for a result of the element type of ``result``."""
    types = tuple(value.type for value in operands if isinstance(value.type, TensorType))
    if family is None or not isinstance(result, TensorType) or len(types) < len(operands):
        return False
    try:
        (inferred,) = family.resolve_all(types, attributes, (result,))
    except QuantError:
        return False
    return inferred.element is result.element


def stored_constant(value: Value) -> Array | None:
    """Return the storage array of a quantized constant; None for any other value."""
    return None if quantized(value) is None else known_array(value)


def constant(builder: Builder, storage: Array, t: UniformType) -> Value:
    """Insert a quantized constant of type ``t`` with these storage integers, and return its value."""
    return write_constant(builder, storage, TensorType(storage.shape, t))[-1]


def fused(op: Operation, other: Operation, *, other_is_last: bool) -> dict[str, Attribute]:
    """Return the attributes of ``op`` after ``other`` is fused into it.

    Discardable attributes are those of the op that runs last: ``other`` if ``other_is_last``.
    """
    last = discardable(other) if other_is_last else {}
    return {**declared(op), **last, FUSED: attribute([*names_of(op), *names_of(other), other.name])}


def chained(ops: Sequence[Operation]) -> dict[str, Attribute]:
    """Return the discardable attributes of an op that replaces ``ops``.

    The attributes are those of the last op, and ``qrt.fused`` with the names of all ops.
    """
    return {**discardable(ops[-1]), FUSED: attribute([name for op in ops for name in (*names_of(op), op.name)])}


def declared(op: Operation) -> dict[str, Attribute]:
    """Return the attributes of an op that its family declares, and its discardable attributes."""
    family = family_of(op)
    defaults = {} if family is None else family.declaration.defaults
    return {name: value for name, value in op.attributes.items() if name in defaults or "." in name}


def discardable(op: Operation) -> dict[str, Attribute]:
    """Return the discardable attributes of an op (``dialect.name``), which do not change its result."""
    return {name: value for name, value in op.attributes.items() if "." in name}


def names_of(op: Operation) -> list[str]:
    """Return the names of the ops that earlier passes have fused into this op."""
    return list(op.attributes[FUSED].python) if FUSED in op.attributes else []
