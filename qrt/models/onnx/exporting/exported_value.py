"""A value of a program during export, and the ONNX tensors that contain it.

Each tensor may have the value's axes in another order: with the order ``(0, 3, 1, 2)``, axis 1 of the tensor is axis 3
of the value. None in an order is an axis of size 1 that the value lacks.
"""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ops.core import Array, storage_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType

Order = tuple[int | None, ...]
"""Axis ``i`` of the tensor is axis ``order[i]`` of the value; None is an axis of size 1 that the value lacks."""
NCHW: Order = (0, 3, 1, 2)
"""The order of ONNX's images, which programs have as NHWC."""

_FLOATS = {"f16": "FLOAT16", "bf16": "BFLOAT16", "f32": "FLOAT", "f64": "DOUBLE"}
_STORED = (4, 8, 16, 32)


class ExportedValue:
    """A value of the program during export.

    ``names`` maps orders of axes (`Order`) to the names of the tensors that contain the value in that order. ``array``
    has the elements of a constant. ``is_unsigned`` is set if the value's signless integers are those of an unsigned
    storage type.
    """

    def __init__(self, type: TensorType, array: Array | None = None, is_unsigned: bool = False) -> None:
        self.type = type
        self.array = array
        self.is_unsigned = is_unsigned
        self.names: dict[Order, str] = {}

    @property
    def rank(self) -> int:
        """The number of axes. Values without a rank cannot be exported."""
        return self.type.rank or 0

    @property
    def canonical(self) -> Order:
        """The order of a tensor that has the same axes as the value: ``(0, 1, 2, ...)``."""
        return tuple(range(self.rank))

    @property
    def shape(self) -> tuple[int | None, ...]:
        """The value's shape in the program."""
        return self.type.shape or ()

    @property
    def data_type(self) -> str | None:
        """ONNX's name of the element type, such as "INT8", or None if ONNX has no such type."""
        return data_type(self.type.element, self.is_unsigned)

    def ordered(self) -> Array:
        """Return the elements of a constant, with the axes as in the program."""
        assert self.array is not None
        return self.array


def data_type(element: Type, is_unsigned: bool = False) -> str | None:
    """Return ONNX's name of an element type, such as "INT8", or None if ONNX has no such type.

    A quantized type gives the name of its storage type. Signless integers are signed unless ``is_unsigned`` is set.
    """
    if isinstance(element, UniformType):
        if not isinstance(element.storage_type, IntegerType) or element.storage_width not in _STORED:
            return None
        return f"{'' if element.is_signed else 'U'}INT{element.storage_width}"
    if isinstance(element, FloatType):
        return _FLOATS.get(element.name)
    if isinstance(element, IntegerType):
        if element.width == 1:
            return "BOOL"
        if element.width in (*_STORED, 64):
            return f"{'U' if is_unsigned or element.signedness == 'unsigned' else ''}INT{element.width}"
        return None
    return None


def in_order(array: Array, order: Order) -> Array:
    """Transpose the elements of a value to the axes in ``order``, where None inserts an axis of size 1."""
    moved = array.transpose([axis for axis in order if axis is not None])
    return moved.reshape(shape_in_order(array.shape, order))


def shape_in_order(shape: tuple[Any, ...], order: Order) -> tuple[Any, ...]:
    """Return the shape of a tensor that has a value's axes in ``order``, from the value's shape."""
    return tuple(1 if axis is None else shape[axis] for axis in order)


def out_of_order(array: Array, order: Order) -> Array:
    """Transpose elements with the axes in ``order`` back to the axes of the value: the inverse of `in_order`."""
    axes = [axis for axis in order if axis is not None]
    squeezed = array.reshape([size for size, axis in zip(array.shape, order, strict=True) if axis is not None])
    return squeezed.transpose(np.argsort(axes)) if axes else squeezed


def place(order: Order, axis: int) -> int:
    """Return the position of a value's axis in a tensor that has the value's axes in ``order``."""
    return order.index(axis)


def is_unsigned(value: Value) -> bool:
    """Return True if a value of signless integers is cast to or from an unsigned storage type."""
    op = value.operation
    near = [user.results[0] for user in value.users if user.name == "quant.scast"]
    if op is not None and op.name == "quant.scast":
        near.append(op.operands[0])
    kinds = [getattr(neighbor.type, "element", None) for neighbor in near]
    return any(isinstance(kind, UniformType) and not kind.is_signed for kind in kinds)


def as_unsigned(array: Array, element: object) -> Array:
    """Reinterpret signless integers of the type ``element`` as unsigned integers of the same bits."""
    width = element.width if isinstance(element, IntegerType) else 8 * array.itemsize
    unsigned: Array = (array.astype(np.int64) & ((1 << width) - 1)).astype(f"u{array.itemsize}")
    return unsigned


def restored(array: Array, exported: ExportedValue) -> Array:
    """Reinterpret the elements ``array`` of a constant in the dtype of ``exported``; the bits do not change.

    ``exported`` is the result of a `quant.scast` or `tensor.bitcast` of the constant.
    """
    element = exported.type.element
    if not isinstance(element, UniformType):
        return as_unsigned(array, element) if exported.is_unsigned else array.view(np.dtype(f"i{array.itemsize}"))
    if element.is_signed:
        return array.astype(storage_dtype(element), copy=False)
    return as_unsigned(array, element.storage_type)
