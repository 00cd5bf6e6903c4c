"""Tensors of an ONNX file as arrays, including external data in other files.

Files with external data must lie in the model's folder and must not be links. They are mapped into memory.
"""

import math
import mmap
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from qrt.errors import ModelError, plural, shown
from qrt.models.onnx.model import Tensor
from qrt.models.onnx.protobuf import Message
from qrt.models.onnx.types import NUMBERS, PACKED, element_of, numpy_dtype
from qrt.ops.core import Array


class External:
    """The files with a model's external data. Each is mapped once, and must not change while the model is used."""

    def __init__(self, folder: Path | None) -> None:
        self.folder = folder
        self._mapped: dict[str, Array] = {}

    def data(self, place: str, entries: Mapping[str, str], expected: int) -> Array:
        """Return ``expected`` bytes of a tensor, from the file and the offset in ``entries``.

        Raises ModelError if the file is outside of the model's folder, or too short.
        """
        location = entries.get("location", "")
        offset, length = _number(place, entries, "offset", 0), _number(place, entries, "length", expected)
        if length != expected:
            raise ModelError(f"{place}: its external data must have {expected} bytes (length), got {length}")
        content = self._file(place, location)
        if offset + length > content.size:
            raise ModelError(
                f"{place}: its external data is {length} bytes from byte {offset} of {shown(location)} on, but "
                f"that file has {content.size} bytes"
            )
        return content[offset : offset + length]

    def _file(self, place: str, location: str) -> Array:
        if location not in self._mapped:
            self._mapped[location] = _map(self._path(place, location), place, location)
        return self._mapped[location]

    def _path(self, place: str, location: str) -> Path:
        if self.folder is None:
            raise ModelError(
                f"{place}: its data is in another file, which can be read only if the model is given by its file "
                "name, not as bytes"
            )
        parts = Path(location).parts
        if not location or "\0" in location or Path(location).is_absolute() or "\\" in location or ":" in location:
            raise ModelError(
                f"{place}: its external data must be in a file of the model's folder, named by a relative path, "
                f"got {shown(location)}"
            )
        if ".." in parts or not parts:
            raise ModelError(f"{place}: its external data must be in the model's folder, got {shown(location)}")
        path = self.folder
        for part in parts:
            path = path / part
            try:
                is_link = path.is_symlink()
            except OSError as error:  # a name that is too long, or a folder that must not be read
                raise ModelError(f"{place}: its external data {shown(location)}: {error.strerror}") from None
            if is_link:
                raise ModelError(
                    f"{place}: its external data must not be behind a symbolic link, got {shown(location)}"
                )
        return path


def _map(path: Path, place: str, location: str) -> Array:
    try:
        number = os.open(path, os.O_RDONLY | os.O_NONBLOCK | getattr(os, "O_NOFOLLOW", 0))
    except OSError as error:
        raise ModelError(f"{place}: its external data {shown(location)}: {error.strerror}") from None
    try:
        status = os.fstat(number)
        if not stat.S_ISREG(status.st_mode):
            raise ModelError(f"{place}: its external data must be in a regular file, but {shown(location)} is none")
        if not status.st_size:  # an empty file cannot be mapped
            return np.empty(0, np.uint8)
        return np.frombuffer(mmap.mmap(number, 0, access=mmap.ACCESS_READ), np.uint8)
    finally:
        os.close(number)


def _number(place: str, entries: Mapping[str, str], name: str, default: int) -> int:
    text = entries.get(name)
    if text is None:
        return default
    if not text.isascii() or not text.isdigit() or len(text) > 18:
        raise ModelError(f"{place}: the {name} of its external data must be a number, got {shown(text)}")
    return int(text)


_LARGEST = 2**63 - 1
_EXTERNAL = 1
_FIELDS = {
    **dict.fromkeys(("float", "complex64"), "float_data"),
    **dict.fromkeys(("double", "complex128"), "double_data"),
    **dict.fromkeys(("uint32", "uint64"), "uint64_data"),
    "int64": "int64_data",
}
"""The field of typed data for each dtype; for all others it is `int32_data`."""
_ALL_FIELDS = ("float_data", "int32_data", "string_data", "int64_data", "double_data", "uint64_data")


def listed(numbers: Any) -> tuple[Any, ...]:
    """Return the numbers of a repeated field as a tuple, whether they were decoded as an array or as a list."""
    return tuple(numbers.tolist() if isinstance(numbers, np.ndarray) else numbers)


def tensor(place: str, message: Message, external: External, name: str | None = None) -> Tensor:
    """Convert a tensor of the file to a `Tensor`. Error messages begin with ``place``."""
    name = message.name if name is None else name
    place = f"{place}tensor {shown(name)}"
    dtype = dtype_name(place, message.data_type)
    shape = listed(message.dims)
    count = element_count(place, shape)
    if message.has("segment"):
        raise ModelError(f"{place}: tensors in segments are not supported")
    size = byte_count(dtype, count)
    if message.data_location not in (0, _EXTERNAL):
        raise ModelError(
            f"{place}: its data_location must be 0 (in the file) or 1 (external), got {message.data_location}"
        )
    if message.data_location == _EXTERNAL:
        entries = {entry.key: entry.value for entry in message.external_data}
        data = _elements(external.data(place, entries, size), dtype, count)
    elif message.has("raw_data"):
        raw = message.raw_data
        if any(len(getattr(message, field)) for field in _ALL_FIELDS):
            raise ModelError(f"{place}: it must have raw_data or typed data, but has both")
        if len(raw) != size:
            shaped = "x".join(map(str, shape)) or "1"
            raise ModelError(
                f"{place}: its raw_data must have {size} bytes for {shaped} elements of {dtype}, got {len(raw)}"
            )
        data = _elements(np.frombuffer(raw, np.uint8), dtype, count)
    else:
        data = _typed(place, message, dtype, count)
    data = data.reshape(shape)
    data.flags.writeable = False
    return Tensor(name, dtype, shape, data)


def dtype_name(place: str, number: int) -> str:
    """Return the name of the dtype with ONNX's type ``number``: "float" for 1. Raise ModelError if unsupported."""
    dtype = NUMBERS.get(number)
    if dtype is None:
        raise ModelError(f"{place}: the number {number} of its data_type is unknown: expected 1 to {max(NUMBERS)}")
    try:
        element_of(dtype)
    except ModelError as error:
        raise ModelError(f"{place}: {error}") from None
    return dtype


def element_count(place: str, shape: tuple[int, ...]) -> int:
    """Return the number of elements of a shape. Raise ModelError for a shape that no tensor can have."""
    for size in shape:
        if size < 0:
            raise ModelError(f"{place}: its shape {shape} has a negative dimension")
    if len(shape) > 64:
        raise ModelError(f"{place}: it must have at most 64 dimensions, got {len(shape)}")
    if math.prod(size or 1 for size in shape) > _LARGEST:
        raise ModelError(f"{place}: its shape {shape} has more than 2^63 - 1 elements")
    return math.prod(shape)


def byte_count(dtype: str, count: int) -> int:
    """Return the number of bytes that ``count`` elements take in a file, where elements below 8 bits are packed."""
    return -(-count * PACKED[dtype] // 8) if dtype in PACKED else count * numpy_dtype(dtype).itemsize


def _elements(data: Array, dtype: str, count: int) -> Array:
    """Convert bytes of a file to elements. The result is a view if alignment and packing allow it, else a copy."""
    if dtype in PACKED:
        return _unpacked(data, dtype, count)
    kind = numpy_dtype(dtype)
    if kind.itemsize > 1 and data.ctypes.data % kind.itemsize:
        data = np.frombuffer(data.tobytes(), np.uint8)
    return _checked_bools(data, dtype).view(kind)


def _checked_bools(data: Array, dtype: str) -> Array:
    """Replace each byte of a bool tensor that is neither 0 nor 1 by 1. Other dtypes are unchanged."""
    return (data != 0).view(np.uint8) if dtype == "bool" and data.size and data.max() > 1 else data


def _unpacked(data: Array, dtype: str, count: int) -> Array:
    """Unpack elements of 2, 4 or 6 bits. The first element has the low-order bits of the first byte."""
    bits = PACKED[dtype]
    if 8 % bits:
        rows = np.unpackbits(data, count=count * bits, bitorder="little").reshape(count, bits)
        return np.packbits(rows, axis=1, bitorder="little").reshape(count).view(numpy_dtype(dtype))
    shifts = np.arange(0, 8, bits, dtype=np.uint8)
    fields = ((data[:, np.newaxis] >> shifts) & ((1 << bits) - 1)).astype(np.uint8).reshape(-1)[:count]
    if dtype.startswith("int"):
        return ((fields ^ (1 << (bits - 1))).astype(np.int8) - np.int8(1 << (bits - 1))).astype(np.int8)
    return fields.view(numpy_dtype(dtype))


def _typed(place: str, message: Message, dtype: str, count: int) -> Array:
    """Return the elements in a message's typed field, such as ``float_data`` for "float"."""
    field = _FIELDS.get(dtype, "int32_data")
    other = next((name for name in _ALL_FIELDS if name != field and len(getattr(message, name))), None)
    if other is not None:
        raise ModelError(f"{place}: the data of a tensor of {dtype} must be in {field}, but is in {other}")
    values = getattr(message, field)
    is_packed = 8 % PACKED.get(dtype, 8) == 0 and dtype in PACKED  # floats of 6 bits have a number each
    expected = byte_count(dtype, count) if is_packed else count
    if len(values) != expected:
        raise ModelError(f"{place}: its {field} must have {plural(expected, 'number')}, got {len(values)}")
    array = np.array(values, {"float_data": np.float32, "double_data": np.float64, "int64_data": np.int64}.get(
        field, np.uint64 if field == "uint64_data" else np.int64))  # fmt: skip
    if is_packed:
        return _unpacked((array & 255).astype(np.uint8), dtype, count)
    kind = numpy_dtype(dtype)
    if dtype == "bool":
        return np.asarray(array != 0)
    if kind.kind in "iu":
        least, most = np.iinfo(kind).min, np.iinfo(kind).max
        if array.size and (int(array.min()) < least or int(array.max()) > most):
            raise ModelError(
                f"{place}: the numbers in {field} must be from {least} to {most} for {dtype}, got {array.min()} to "
                f"{array.max()}"
            )
        return array.astype(kind)
    if field != "int32_data":
        return array.astype(kind)
    return (array & ((1 << 8 * kind.itemsize) - 1)).astype(f"u{kind.itemsize}").view(kind)  # bits of small floats
