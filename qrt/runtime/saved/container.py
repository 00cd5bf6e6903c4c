"""The container of a saved program: a header, arrays and an index in one file."""

import os
import struct
from mmap import ACCESS_READ, mmap
from typing import Any, BinaryIO

from qrt._ext import kernels as kernel_calls
from qrt._version import __version__
from qrt.errors import FileError, ModelError
from qrt.files import reason, require_regular, write_files
from qrt.runtime.saved.values import decode

FORMAT = 4
"""The format number, to be increased when the file, the arguments of a bind_* function or packed weights change."""
MAGIC = b"\x93qrt\r\n\x1a\n"
ORDER = 0x01020304
_HEADER = struct.Struct("=8sIIQ24sQQQQ")  # byte order and format determine how the rest is read
SIZE = 128
"""The bytes of the header, which ends with the checksum of its own fields."""
_ALIGNMENT = 64


class Arrays:
    """The byte strings (arrays) to be written to a file, each only once."""

    def __init__(self) -> None:
        self.parts: list[bytes | memoryview] = []
        self.size = SIZE
        self.places: dict[bytes, int] = {}

    def place(self, content: bytes | memoryview) -> int:
        """Add bytes to the file unless it has them already, and return their offset in the file."""
        key = bytes(content)
        if key not in self.places:
            padding = -self.size % _ALIGNMENT
            self.parts += [b"\0" * padding, content]
            self.places[key] = self.size + padding
            self.size += padding + len(content)
        return self.places[key]


def write(path: str, content: bytes, arrays: Arrays) -> None:
    """Write a saved program: the header, the arrays, and the encoded index ``content``.

    An existing file is replaced once the new one is complete. Raise FileError if the file cannot be written.
    """
    begin = arrays.place(content)
    body = b"".join([*arrays.parts])
    fields = (MAGIC, ORDER, FORMAT, kernel_calls.layout(), __version__.encode()[:24])
    head = _HEADER.pack(*fields, SIZE + len(body), begin, len(content), kernel_calls.checksum(body)).ljust(
        SIZE - 8, b"\0"
    )
    head += struct.pack("=Q", kernel_calls.checksum(head))

    def save(file: BinaryIO) -> None:
        file.write(head)
        file.write(body)

    write_files([(path, save)])


def read(path: str) -> tuple[mmap, Any]:
    """Map a saved program and return (the map, the decoded index).

    Raise FileError if the file cannot be read, and ModelError if it is damaged or was not saved by this build of qrt.
    """
    memory = _mapped(path)
    view = memoryview(memory)
    if len(memory) < SIZE or view[:8] != MAGIC:
        raise ModelError(f"{path}: the file is not a saved program (Program.save writes them), or is cut short")
    _, order, form, layout, version, size, begin, count, checksum = _HEADER.unpack_from(memory)
    if order != ORDER:
        raise ModelError(f"{path}: the file was saved on a machine with another byte order, or is damaged: {_AGAIN}")
    (own,) = struct.unpack_from("=Q", memory, SIZE - 8)
    if own != kernel_calls.checksum(view[: SIZE - 8]):
        raise ModelError(f"{path}: the file is damaged: the checksum of its header differs")
    if form != FORMAT or layout != kernel_calls.layout() or version.rstrip(b"\0") != __version__.encode()[:24]:
        saved_version = version.rstrip(b"\0").decode(errors="replace")
        raise ModelError(
            f"{path}: the file was saved by another build of qrt ({saved_version}, format {form}): {_AGAIN}"
        )
    if size != len(memory):
        raise ModelError(f"{path}: the file is damaged: it has {len(memory)} bytes, but {size} bytes were saved")
    if checksum != kernel_calls.checksum(view[SIZE:]):
        raise ModelError(f"{path}: the file is damaged: the checksum of its content differs")
    if not SIZE <= begin <= begin + count <= size:
        raise ModelError(f"{path}: the file is damaged: its index is missing")
    return memory, decode(view[begin : begin + count], memory)


_AGAIN = "save it again from the text of its program"


def _mapped(path: str) -> mmap:
    """Map a file read-only. Raise ModelError if it is not a regular file."""
    try:
        require_regular(path, os.stat(path).st_mode)
        with open(path, "rb") as file:
            if os.fstat(file.fileno()).st_size == 0:
                raise ModelError(f"{path}: the file is empty, and not a saved program (Program.save writes them)")
            return mmap(file.fileno(), 0, access=ACCESS_READ)
    except (OSError, ValueError) as error:
        if isinstance(error, ModelError):
            raise
        raise FileError(f"{path}: {reason(error)}") from None
