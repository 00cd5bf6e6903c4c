"""The entries of a file of tensors: an array of plain integers or floats, and the text of a type.

The text describes the array as an MLIR type: `tensor<2x3x!quant.uniform<i4:f32, 5.0e-01>>` for packed bytes, or
`tensor<8xbf16>` for 16-bit patterns. An array of a dtype that NumPy has itself needs no text.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.errors import ModelError, ParseError, QuantTypeError, shown
from qrt.files import MAX_INPUT
from qrt.ops.core import Array, Shape, check_bounds, element_dtype, static_shape, storage_dtype
from qrt.tensor import QuantTensor
from qrt.tensor.arrays import as_array, require_uniform
from qrt.tensor.calls import tensor_of
from qrt.tensor.storage import is_packed, packed_shape
from qrt.types import FloatType, TensorType, Type, UniformType, check_integrity, parse_type

_OUTSIDE_NUMPY = {np.dtype(element_dtype(FloatType(name))): FloatType(name) for name in (
    "bf16", "f8E5M2", "f8E4M3", "f8E3M4", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E8M0FNU",
    "f6E3M2FN", "f6E2M3FN", "f4E2M1FN",
)}  # fmt: skip
_MOST_AXES = 64
"""The largest number of axes of a NumPy array."""


@dataclass(frozen=True, slots=True)
class FileEntry:
    """An array as it is in a file, C-contiguous and little-endian, and the text of its type, if it needs one."""

    array: Array
    text: str | None


class MemoryLimit:
    """The limit of the memory for arrays and texts read from a file; mapped memory does not count.

    Parameters
    ----------
    path : str
        The name of the file in errors.
    size : int
        The size of the file.
    max_bytes : int, optional
        The limit. If not given, ``MAX_INPUT``, or the size of the file if that is larger.
    """

    def __init__(self, path: str, size: int, max_bytes: int | None) -> None:
        self.path = path
        self.max_bytes = max(MAX_INPUT, size) if max_bytes is None else max_bytes
        self.left = self.max_bytes

    def take(self, name: str, size: int) -> None:
        """Subtract ``size`` bytes, which are about to be read, from the limit. Raise ModelError if they exceed it."""
        if size > self.left:
            raise ModelError(
                f"{self.path}: the arrays up to {shown(name)}, which takes {size} bytes, exceed the limit of "
                f"{self.max_bytes} bytes in memory: load_tensors(..., max_bytes=...) sets another limit"
            )
        self.left -= size


def require_shape(place: str, shape: tuple[Any, ...]) -> None:
    """Raise ModelError unless an array can have the shape that a file gives; ``place`` names the array."""
    if len(shape) > _MOST_AXES or any(type(size) is not int or not 0 <= size < 1 << 63 for size in shape):
        raise ModelError(f"{place} must have a shape of at most {_MOST_AXES} non-negative sizes, got {shown(shape)}")


def as_entry(name: str, value: Any) -> FileEntry:
    """Return the file entry of a tensor or an array. Raise QuantTypeError for an array of Python objects."""
    if isinstance(value, QuantTensor):
        return FileEntry(_plain(value._data), str(value.tensor_type))
    array = as_array(value)
    if array.dtype in _OUTSIDE_NUMPY:
        text = str(TensorType(array.shape, _OUTSIDE_NUMPY[array.dtype]))
        return FileEntry(_plain(array.view(f"u{array.itemsize}")), text)
    if array.dtype.kind not in "biufc":
        raise QuantTypeError(
            f"save_tensors: {shown(name)} must be a tensor or an array of numbers, got dtype {array.dtype}"
        )
    return FileEntry(_plain(array), None)


def _plain(array: Array) -> Array:
    return np.require(array, array.dtype.newbyteorder("<"), "C").reshape(array.shape)


def from_entry(name: str, entry: FileEntry) -> QuantTensor | Array:
    """Return the tensor or array of a file entry, sharing its memory.

    Raise ModelError if the text and the array do not fit together, or storage is out of bounds.
    """
    if entry.text is None:
        return entry.array
    try:
        kind = parse_type(entry.text, kind=TensorType)
        return _typed(entry.array, kind.element, static_shape(kind, "load_tensors"))
    except (ParseError, QuantTypeError) as error:
        raise ModelError(f"{shown(name)}: {error}") from None


def _typed(array: Array, element: Type, shape: Shape) -> QuantTensor | Array:
    if not isinstance(element, UniformType):
        dtype = np.dtype(element_dtype(element))
        _require(array, np.dtype(f"u{dtype.itemsize}"), shape)
        return array.view(dtype)
    check_integrity(require_uniform(element), shape)
    if is_packed(element):
        _require(array, np.dtype(np.uint8), packed_shape(shape, element.storage_width))
        _check_padding(array, element, shape)
    else:
        _require(array, storage_dtype(element), shape)
    q: QuantTensor = tensor_of(array, element, shape)
    if not (is_packed(element) and element.has_default_bounds):
        check_bounds(q.storage, element)  # other software may have written the integers
    return q


def _check_padding(array: Array, element: UniformType, shape: Shape) -> None:
    """Raise QuantTypeError unless the unused bits of each row's last byte are 0."""
    used = (shape[-1] if shape else 1) * element.storage_width % 8
    if used and array.size and np.any(array[..., -1] >> used):
        raise QuantTypeError("the padding bits after the last element of a row must be 0, got others")


def _require(array: Array, dtype: np.dtype[Any], shape: tuple[int, ...]) -> None:
    if array.dtype != dtype or array.shape != shape:
        raise QuantTypeError(
            f"expected an array of {dtype} with shape {shape} for the type, got an array of {array.dtype} with shape "
            f"{array.shape}"
        )
