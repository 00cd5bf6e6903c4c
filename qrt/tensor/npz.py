"""`.npz` files, NumPy's archives of arrays, which `np.load` reads.

Member `w.npy` holds an array, `w.mlir` the text of its type. Members are not compressed, and their data begins at a
cache line, so that kernels can read the arrays directly from the mapped file.
"""

import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from math import prod
from typing import IO, Any, BinaryIO
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from qrt.errors import ModelError, QuantError, shown
from qrt.files import open_regular, reason
from qrt.ops.core import Array
from qrt.tensor.file_entries import FileEntry, MemoryLimit, require_shape

_ARRAY, _TEXT = ".npy", ".mlir"
_CACHE_LINE = 64
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_ZIP64 = 20
"""The size in bytes of the field with 64-bit sizes in the header of each member."""
_PADDING = 0xD935
"""The number of the header field for padding, by which other tools align members too."""
_ERRORS = (
    BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, OverflowError, ValueError, struct.error,
    zlib.error,
)  # fmt: skip
"""The exceptions of a damaged archive."""
_COMPRESSIONS = ZIP_STORED, ZIP_DEFLATED
"""The compressions that NumPy writes. For others `zipfile` decompresses whole blocks, however few bytes are read."""


def write(file: BinaryIO, entries: Mapping[str, FileEntry]) -> None:
    """Write the whole archive. Its bytes depend only on the entries, because members have no date."""
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, entry in entries.items():
            with archive.open(_member(archive, f"{name}{_ARRAY}"), "w", force_zip64=True) as member:
                npy.write_array(member, entry.array, allow_pickle=False)
            if entry.text is not None:
                archive.writestr(ZipInfo(f"{name}{_TEXT}"), entry.text)


def _member(archive: ZipFile, name: str) -> ZipInfo:
    """Return a new member whose array data begins at a cache line.

    Its bytes begin at a cache line, and the header of an `.npy` file, which precedes the data, fills whole cache lines.
    """
    info = ZipInfo(name)
    assert archive.fp is not None
    header = _LOCAL_HEADER.size + len(name.encode()) + _ZIP64 + 4
    padding = -(archive.fp.tell() + header) % _CACHE_LINE
    info.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
    return info


def read(path: str, *, mapped: bool, max_bytes: int | None) -> dict[str, FileEntry]:
    """Return every array, in the order of the file; if ``mapped``, as a view of the mapped file where possible."""
    with open_regular(path) as file:
        limit = MemoryLimit(path, os.fstat(file.fileno()).st_size, max_bytes)
        try:
            with ZipFile(file) as archive:
                return dict(_entries(file, archive, mapped, limit))
        except _ERRORS as error:
            raise _damaged(path, error) from None


def _damaged(path: str, error: Exception) -> ModelError:
    return ModelError(f"{path}: not an .npz archive of arrays: {reason(error)}")


def _entries(file: BinaryIO, archive: ZipFile, mapped: bool, limit: MemoryLimit) -> Iterator[tuple[str, FileEntry]]:
    members = {info.filename: info for info in archive.infolist()}
    for name, info in members.items():
        if name.endswith(_ARRAY):
            stem = name.removesuffix(_ARRAY)
            text = members.get(f"{stem}{_TEXT}")
            try:
                type_text = None if text is None else _text(archive, text, limit)
                entry = FileEntry(_array(file, archive, info, mapped, limit, aligned=type_text is not None), type_text)
            except QuantError:
                raise
            except _ERRORS as error:
                raise _damaged(f"{limit.path}: {shown(name)}", error) from None
            yield stem, entry
        elif not (name.endswith(_TEXT) and f"{name.removesuffix(_TEXT)}{_ARRAY}" in members):
            raise ModelError(f"{limit.path}: {shown(name)} must be an array (.npy), or the type of an array (.mlir)")


def _require_compression(place: str, info: ZipInfo) -> None:
    if info.compress_type not in _COMPRESSIONS:
        raise ModelError(
            f"{place} is compressed by the ZIP method {info.compress_type}, expected one that "
            "np.savez_compressed writes"
        )


def _text(archive: ZipFile, info: ZipInfo, limit: MemoryLimit) -> str:
    _require_compression(f"{limit.path}: {shown(info.filename)}", info)
    limit.take(info.filename, info.file_size)
    return archive.read(info).decode()


def _array(
    file: BinaryIO, archive: ZipFile, info: ZipInfo, mapped: bool, limit: MemoryLimit, *, aligned: bool
) -> Array:
    """Return the array of a member: a view of the mapped file if ``mapped`` and possible, else a copy in memory.

    If ``aligned``, an array whose data is not aligned in the file is copied, because kernels need aligned data.
    """
    place = f"{limit.path}: {shown(info.filename)}"
    _require_compression(place, info)
    with archive.open(info) as member:
        shape, is_fortran, dtype = _header(place, member)
        start = member.tell()
        if dtype.hasobject:
            raise ModelError(f"{place} contains pickled objects, which are not supported")
        if info.file_size - start != dtype.itemsize * prod(shape):
            raise ModelError(
                f"{place} has {info.file_size - start} bytes, expected {dtype.itemsize * prod(shape)} for its shape"
            )
        if mapped and info.compress_type == ZIP_STORED and info.file_size > start:
            offset = _data_offset(file, info) + start
            if not aligned or offset % dtype.alignment == 0:
                return np.asarray(np.memmap(file, dtype, "r", offset, shape, "F" if is_fortran else "C"))
        limit.take(info.filename, info.file_size)
        member.seek(0)
        return npy.read_array(member, allow_pickle=False)


def _header(place: str, member: IO[bytes]) -> tuple[tuple[int, ...], bool, np.dtype[Any]]:
    """Read the header of an array and return (shape, True for Fortran order, dtype)."""
    try:
        version = npy.read_magic(member)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = reader(member)
    except _ERRORS:
        raise
    except Exception as error:  # NumPy evaluates a header as a Python literal, which raises any error
        raise ModelError(f"{place}: its header has no valid shape and dtype: {reason(error)}") from None
    require_shape(place, shape)
    return shape, is_fortran, dtype


def _data_offset(file: BinaryIO, info: ZipInfo) -> int:
    """Return the offset of a member's bytes, after its local header, whose name and extra field vary in length."""
    file.seek(info.header_offset)
    *_, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return int(info.header_offset + _LOCAL_HEADER.size + name + extra)
