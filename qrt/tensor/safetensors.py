"""`.safetensors` files: a header of JSON, with the texts of types in its metadata, then the bytes of each array.

The package `safetensors` writes files and checks them. qrt reads the arrays' offsets from the header itself, so that it
can use the arrays in the mapped file.
"""

import json
import os
from collections.abc import Mapping
from typing import Any, BinaryIO

import numpy as np

from qrt.errors import ModelError, QuantTypeError, shown
from qrt.extras import extra
from qrt.files import open_regular, reason
from qrt.ops.core import Array
from qrt.tensor.file_entries import FileEntry, MemoryLimit, require_shape
from qrt.types import FloatType, TensorType

_TYPE = "qrt.type."
_DTYPES = {
    "F64": "f8", "F32": "f4", "F16": "f2", "I64": "i8", "I32": "i4", "I16": "i2", "I8": "i1", "U64": "u8", "U32": "u4",
    "U16": "u2", "U8": "u1", "BOOL": "?", "C64": "c8",
}  # fmt: skip
_FLOATS = {"BF16": "bf16", "F8_E5M2": "f8E5M2", "F8_E4M3": "f8E4M3FN"}
"""Formats outside NumPy that other software writes, by their MLIR names."""


def write(file: BinaryIO, entries: Mapping[str, FileEntry]) -> None:
    """Write the whole file."""
    save = extra("safetensors.numpy", "safetensors").save
    for name, entry in entries.items():
        if entry.array.dtype.str[1:] not in {np.dtype(code).str[1:] for code in _DTYPES.values()}:
            raise QuantTypeError(
                f"save_tensors: {shown(name)} has the dtype {entry.array.dtype}, which a .safetensors file cannot store"
            )
    texts = {f"{_TYPE}{name}": entry.text for name, entry in entries.items() if entry.text is not None}
    file.write(save({name: entry.array for name, entry in entries.items()}, texts))


def read(path: str, *, mapped: bool, max_bytes: int | None) -> dict[str, FileEntry]:
    """Return every array, in the order of the file's bytes. If ``mapped``, arrays are views of the mapped file."""
    library = extra("safetensors", "safetensors")
    with open_regular(path) as file:
        try:
            with library.safe_open(path, framework="numpy"):  # raises unless the header is sound and the file is whole
                pass
        except library.SafetensorError as error:
            raise ModelError(f"{path}: not a .safetensors file: {error}") from None
        length = int.from_bytes(file.read(8), "little")
        header = json.loads(file.read(length))
        size = os.fstat(file.fileno()).st_size
        limit = MemoryLimit(path, size, max_bytes)
        if mapped:
            memory = np.asarray(np.memmap(file, np.uint8, "r"))
        else:
            limit.take("the whole file", size)
            file.seek(0)
            memory = np.fromfile(file, np.uint8)
    texts = header.pop("__metadata__", {})
    data = memory[8 + length :]
    placed = sorted(header.items(), key=lambda item: item[1]["data_offsets"][0])
    return {name: _entry(path, name, description, data, texts.get(f"{_TYPE}{name}")) for name, description in placed}


def _entry(path: str, name: str, description: Mapping[str, Any], data: Array, text: str | None) -> FileEntry:
    code, shape = description["dtype"], tuple(description["shape"])
    require_shape(f"{path}: {shown(name)}", shape)
    if code in _FLOATS:
        text = str(TensorType(shape, FloatType(_FLOATS[code])))
        dtype = np.dtype("u2" if code == "BF16" else "u1")
    elif code in _DTYPES:
        dtype = np.dtype(_DTYPES[code])
    else:
        raise ModelError(f"{path}: {shown(name)} has the dtype {code}, which is not supported")
    start, end = description["data_offsets"]
    piece = data[start:end]
    if dtype.itemsize > 1 and piece.ctypes.data % dtype.itemsize:
        piece = piece.copy()  # a file may place an array anywhere; kernels want it aligned
    try:
        return FileEntry(piece.view(dtype).reshape(shape), text)
    except ValueError as error:  # sizes whose product no array has, beside one of 0
        raise ModelError(f"{path}: {shown(name)} has the shape {shown(shape)}: {reason(error)}") from None
