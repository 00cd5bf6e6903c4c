"""Constants of tensors and vectors, from those of their elements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir.core.attributes import Attribute, FloatAttr, IntegerAttr
from qrt.ir.text.dense import DenseElementsAttr, is_backed, splat, static_shape, storage_dtype
from qrt.types import TensorType, Type, VectorType


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
