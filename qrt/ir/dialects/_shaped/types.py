"""Helpers for verifiers and folders: types of values whose constraint has been checked, and constants from elements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.core.operations import Operation, Value
from qrt.ir.text.dense import DenseElementsAttr, is_backed, splat, static_shape, storage_dtype
from qrt.types import MemRefType, TensorType, Type, VectorType

Shape = tuple[int | None, ...]


def ranked(value: Value) -> TensorType:
    """Return the type of a value that a constraint has checked to be a ranked tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def shaped(value: Value) -> TensorType | MemRefType:
    """Return the type of a value that a constraint has checked to be a tensor or memref."""
    assert isinstance(value.type, TensorType | MemRefType)
    return value.type


def require_cast(operation: Operation, fits: bool) -> None:
    """Raise VerifyError, with the operand type and the result type of the cast, unless `fits` is true."""
    if not fits:
        given, result_type = operation.operands[0].type, operation.results[0].type
        raise operation.op_error(f"operand type '{given}' and result type '{result_type}' are cast incompatible")


def require_sizes(operation: Operation, type: TensorType | MemRefType, count: int) -> None:
    """Raise VerifyError unless an op has one size operand for each dynamic dimension of `type`.

    `count` is the number of size operands.
    """
    dynamic = (type.shape or ()).count(None)
    if dynamic != count:
        raise operation.op_error(f"incorrect number of dynamic sizes, has {count}, expected {dynamic}")


def memref_type(value: Value) -> MemRefType:
    """Return the type of a value that a constraint has checked to be a memref."""
    assert isinstance(value.type, MemRefType)
    return value.type


def stored(value: Attribute | None, type: Type) -> Any:
    """Convert an integer or float attribute to an element of the array that stores constants of `type`.

    Return None for any other attribute, and for element types without a NumPy dtype.
    """
    if not isinstance(type, TensorType | VectorType) or not is_backed(type.element):
        return None
    dtype = storage_dtype(type.element)
    if isinstance(value, FloatAttr):
        return np.array(value.bits, f"u{dtype.itemsize}").view(dtype)
    return np.array(value.value, dtype) if isinstance(value, IntegerAttr) else None


def constant_elements(values: Sequence[Attribute | None], type: Type) -> DenseElementsAttr | None:
    """Return a constant of `type` with these elements; a single element gives a splat.

    Return None if `stored` cannot convert an element, or if the type has dynamic sizes.
    """
    array = [stored(value, type) for value in values]
    if not isinstance(type, TensorType | VectorType) or type.shape is None or None in type.shape:
        return None
    if any(element is None for element in array):
        return None
    if len(array) == 1:
        return splat(array[0], type)
    return DenseElementsAttr(np.array(array).reshape(static_shape(type)), type)
