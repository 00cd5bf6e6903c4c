"""Encoding of the values in a saved program: numbers, texts, dtypes, arrays, tuples and dicts. C code decodes them.

An encoded value has three parts: one byte for the kind of each number, text or container; 64-bit integers; and a table
of texts. An array is encoded as the offset in the file at which its bytes are stored.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.numerics import RequantParameters

Place = Callable[[memoryview], int]
"""A function that adds the bytes of an array to the file, and returns their offset."""
_NONE, _FALSE, _TRUE, _INTEGER, _FLOAT, _TEXT, _INTEGERS, _TUPLE, _DICT, _ARRAY, _DTYPE = range(11)
_MANY = 8
"""The largest number of integers in a tuple; longer tuples are encoded as an array."""
_HEAD = struct.Struct("<qqq")


def encode(value: Any, place: Place) -> bytes:
    """Encode a value as bytes. Raise TypeError for an unsupported value.

    ``place`` stores the bytes of an array in the file and returns their offset.

    >>> decode(encode({"k": (1, 2.5, None, "a")}, lambda content: 0), b"")
    {'k': (1, 2.5, None, 'a')}
    """
    return Encoder(place).bytes_of(value)


class Encoder:
    """An encoder of one value; ``place`` stores the bytes of its arrays and returns their offset."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.kinds = bytearray()
        self.integers: list[int] = []
        self.texts: dict[str, int] = {}

    def bytes_of(self, value: Any) -> bytes:
        self.add(value)
        text = "\0".join(self.texts).encode()
        head = _HEAD.pack(len(self.kinds), len(self.integers), len(text))
        padding = b"\0" * (-len(self.kinds) % 8)
        return head + bytes(self.kinds) + padding + np.array(self.integers, "<i8").tobytes() + text

    def add(self, value: Any) -> None:
        if value is None or value is True or value is False:
            self.kinds.append({None: _NONE, False: _FALSE, True: _TRUE}[value])
        elif isinstance(value, np.bool_):
            self.add(bool(value))
        elif isinstance(value, int | np.integer):
            self.append(_INTEGER, int(value))
        elif isinstance(value, float | np.floating):
            self.append(_FLOAT, *struct.unpack("<q", struct.pack("<d", value)))
        elif isinstance(value, str):
            self.append(_TEXT, self.text(value))
        elif isinstance(value, np.ndarray):
            content = np.ascontiguousarray(value)
            at = self.place(content.reshape(-1).view(np.uint8).data)
            self.append(_ARRAY, at, self.text(_name(content.dtype)), value.ndim, *value.shape)
        elif isinstance(value, np.dtype | type):
            self.append(_DTYPE, self.text(_name(np.dtype(value))))
        elif isinstance(value, list | tuple):
            self.sequence(value)
        elif isinstance(value, Mapping):
            self.fields(value)
        elif isinstance(value, RequantParameters):
            self.fields(vars(value))
        else:
            raise TypeError(f"a saved program cannot store a {type(value).__name__}")

    def sequence(self, value: Sequence[Any]) -> None:
        if all(isinstance(item, int | np.integer) and not isinstance(item, bool) for item in value):
            if len(value) > _MANY:
                self.add(np.array(value, np.int64))
            else:
                self.append(_INTEGERS, len(value), *map(int, value))
            return
        self.append(_TUPLE, len(value))
        for item in value:
            self.add(item)

    def fields(self, value: Mapping[str, Any]) -> None:
        self.append(_DICT, self.text("\1".join(value)))
        for item in value.values():
            self.add(item)

    def append(self, kind: int, *numbers: int) -> None:
        self.kinds.append(kind)
        self.integers.extend(numbers)

    def text(self, text: str) -> int:
        if "\0" in text:
            raise TypeError("a saved program cannot store text with a null character")
        return self.texts.setdefault(text, len(self.texts))


def decode(content: bytes | memoryview, memory: Any) -> Any:
    """Decode a value from bytes. Raise ValueError for invalid bytes.

    Its arrays are views of ``memory``, the mapped file.
    """
    try:
        return kernel_calls.decode(content, memory)
    except UnicodeDecodeError:
        raise ValueError("a text is not UTF-8") from None


def _name(dtype: np.dtype[Any]) -> str:
    """Return the name by which NumPy finds a dtype: the name of an `ml_dtypes` dtype, else its type string."""
    return dtype.name if dtype.kind == "V" else dtype.str
