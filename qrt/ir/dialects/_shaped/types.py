"""The types of values that constraints hold to be tensors or memrefs, and constants of tensors and vectors."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.operations import Operation, Value
from qrt.ir.text.dense import DenseElementsAttr, is_backed, splat, static_shape, storage_dtype
from qrt.types import MemRefType, TensorType, Type, VectorType

Shape = tuple[int | None, ...]


def ranked(value: Value) -> TensorType:
    """The type of a value that a constraint holds to be a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def shaped(value: Value) -> TensorType | MemRefType:
    """The type of a value that a constraint holds to be a tensor or a memref."""
    assert isinstance(value.type, TensorType | MemRefType)
    return value.type


def require_cast(operation: Operation, fits: bool) -> None:
    """Raise VerifyError unless the type of the operand may be cast to that of the result."""
    if not fits:
        given, made = operation.operands[0].type, operation.results[0].type
        raise operation.op_error(f"operand type '{given}' and result type '{made}' are cast incompatible")


def require_sizes(operation: Operation, type: TensorType | MemRefType, found: int) -> None:
    """Raise VerifyError unless there are as many sizes as a type has dynamic dimensions."""
    dynamic = (type.shape or ()).count(None)
    if dynamic != found:
        raise operation.op_error(f"incorrect number of dynamic sizes, has {found}, expected {dynamic}")


def memref_type(value: Value) -> MemRefType:
    """The type of a value that a constraint holds to be a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type


def stored(value: Attribute | None, type: Type) -> Any:
    """A number as the array of a constant of this type holds it; None where it is none, or no array does."""
    if not isinstance(type, TensorType | VectorType) or not is_backed(type.element):
        return None
    dtype = storage_dtype(type.element)
    if isinstance(value, FloatAttr):
        return np.array(value.bits, f"u{dtype.itemsize}").view(dtype)
    return np.array(value.value, dtype) if isinstance(value, IntegerAttr) else None


def constant_elements(values: Sequence[Attribute | None], type: Type) -> DenseElementsAttr | None:
    """A constant of these elements, or of one for all; None where they are not numbers that an array holds, or the
    type leaves sizes open."""
    array = [stored(value, type) for value in values]
    if not isinstance(type, TensorType | VectorType) or type.shape is None or None in type.shape:
        return None
    if any(element is None for element in array):
        return None
    if len(array) == 1:
        return splat(array[0], type)
    return DenseElementsAttr(np.array(array).reshape(static_shape(type)), type)
