"""`.npz`, NumPy's archive of arrays: `np.load` reads it. Member `w.npy` holds an array, `w.mlir` the text of its type.

Members are not compressed, and their data begins at a cache line, so that they are used where they lie in the file.
"""

import struct
import zlib
from collections.abc import Iterator, Mapping
from typing import BinaryIO
from zipfile import ZIP_STORED, BadZipFile, ZipFile, ZipInfo

import numpy as np
from numpy.lib import format as npy

from qrt.errors import ModelError, shown
from qrt.formats.entries import Entry
from qrt.ops.core import Array

_ARRAY, _TEXT = ".npy", ".mlir"
_CACHE_LINE = 64
_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_ZIP64 = 20
"""Bytes of the field that says a size of 64 bits, which each member has."""
_PADDING = 0xD935
"""The field of a member's header that holds nothing, by the name under which other tools that align write it."""
_ERRORS = BadZipFile, KeyError, NotImplementedError, RuntimeError, EOFError, struct.error, zlib.error, UnicodeError


def write(file: BinaryIO, entries: Mapping[str, Entry]) -> None:
    """The whole archive. It depends on the entries alone: members carry no date."""
    with ZipFile(file, "w", ZIP_STORED) as archive:
        for name, entry in entries.items():
            with archive.open(_member(archive, f"{name}{_ARRAY}"), "w", force_zip64=True) as member:
                npy.write_array(member, entry.array, allow_pickle=False)
            if entry.text is not None:
                archive.writestr(ZipInfo(f"{name}{_TEXT}"), entry.text)


def _member(archive: ZipFile, name: str) -> ZipInfo:
    """A member that begins at a cache line; the header of an `.npy` file is a multiple of it."""
    info = ZipInfo(name)
    assert archive.fp is not None
    header = _LOCAL_HEADER.size + len(name.encode()) + _ZIP64 + 4
    padding = -(archive.fp.tell() + header) % _CACHE_LINE
    info.extra = struct.pack("<HH", _PADDING, padding) + bytes(padding)
    return info


def read(path: str, mapped: bool) -> dict[str, Entry]:
    """Every array, in the order of the file; in the file's memory where it is mapped and not compressed."""
    try:
        with ZipFile(path) as archive:
            return dict(_entries(path, archive, mapped))
    except (ValueError, *_ERRORS) as error:
        raise ModelError(f"{path}: it is no archive of arrays: {error}") from None


def _entries(path: str, archive: ZipFile, mapped: bool) -> Iterator[tuple[str, Entry]]:
    members = {info.filename: info for info in archive.infolist()}
    for name, info in members.items():
        if name.endswith(_ARRAY):
            stem = name.removesuffix(_ARRAY)
            text = archive.read(f"{stem}{_TEXT}").decode() if f"{stem}{_TEXT}" in members else None
            yield stem, Entry(_array(path, archive, info, mapped), text)
        elif not (name.endswith(_TEXT) and f"{name.removesuffix(_TEXT)}{_ARRAY}" in members):
            raise ModelError(f"{path}: {shown(name)} is no array, nor the type of one")


def _array(path: str, archive: ZipFile, info: ZipInfo, mapped: bool) -> Array:
    with archive.open(info) as member:
        version = npy.read_magic(member)
        reader = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
        shape, is_fortran, dtype = reader(member)
        start = member.tell()
        if dtype.hasobject:
            raise ModelError(f"{path}: {shown(info.filename)} holds pickled objects, which are not read")
        if info.file_size - start != dtype.itemsize * int(np.prod(shape, dtype=object)):
            raise ModelError(f"{path}: {shown(info.filename)} does not have the bytes of its shape")
        if mapped and info.compress_type == ZIP_STORED and info.file_size > start:
            place = _data_offset(path, info) + start
            return np.asarray(np.memmap(path, dtype, "r", place, shape, "F" if is_fortran else "C"))
        member.seek(0)
        return npy.read_array(member, allow_pickle=False)


def _data_offset(path: str, info: ZipInfo) -> int:
    """Where a member's bytes begin: its own header says how long its name and its other fields are."""
    with open(path, "rb") as file:
        file.seek(info.header_offset)
        *_, name, extra = _LOCAL_HEADER.unpack(file.read(_LOCAL_HEADER.size))
    return int(info.header_offset + _LOCAL_HEADER.size + name + extra)
