"""Values as a saved program holds them: numbers, texts, dtypes, arrays, and tuples and dicts of these. C decodes
them.

An encoded value is three streams: a byte for the kind of each value, 64-bit integers, and a table of texts. Arrays are
places in the file.
"""

import struct
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.numerics import RequantParameters

Place = Callable[[memoryview], int]
"""Puts the bytes of an array into the file, and says where."""
_NONE, _FALSE, _TRUE, _INTEGER, _FLOAT, _TEXT, _INTEGERS, _TUPLE, _DICT, _ARRAY, _DTYPE = range(11)
_MANY = 8
"""More integers than these, which are no shape, become an array."""
_HEAD = struct.Struct("<qqq")


def encode(value: Any, place: Place) -> bytes:
    """The bytes of a value, whose arrays are put elsewhere. TypeError for a value of another kind.

    >>> decode(encode({"k": (1, 2.5, None, "a")}, lambda content: 0), b"")
    {'k': (1, 2.5, None, 'a')}
    """
    return Encoder(place).bytes_of(value)


class Encoder:
    """The three streams of a value, and where its arrays go."""

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
            self.say(_INTEGER, int(value))
        elif isinstance(value, float | np.floating):
            self.say(_FLOAT, *struct.unpack("<q", struct.pack("<d", value)))
        elif isinstance(value, str):
            self.say(_TEXT, self.text(value))
        elif isinstance(value, np.ndarray):
            content = np.ascontiguousarray(value)
            at = self.place(content.reshape(-1).view(np.uint8).data)
            self.say(_ARRAY, at, self.text(_name(content.dtype)), value.ndim, *value.shape)
        elif isinstance(value, np.dtype | type):
            self.say(_DTYPE, self.text(_name(np.dtype(value))))
        elif isinstance(value, list | tuple):
            self.sequence(value)
        elif isinstance(value, Mapping):
            self.fields(value)
        elif isinstance(value, RequantParameters):
            self.fields(vars(value))
        else:
            raise TypeError(f"a saved program cannot store a {type(value).__name__}")

    def sequence(self, value: Sequence[Any]) -> None:
        if all(isinstance(each, int | np.integer) and not isinstance(each, bool) for each in value):
            if len(value) > _MANY:
                self.add(np.array(value, np.int64))
            else:
                self.say(_INTEGERS, len(value), *map(int, value))
            return
        self.say(_TUPLE, len(value))
        for each in value:
            self.add(each)

    def fields(self, value: Mapping[str, Any]) -> None:
        self.say(_DICT, self.text("\1".join(value)))
        for each in value.values():
            self.add(each)

    def say(self, kind: int, *numbers: int) -> None:
        self.kinds.append(kind)
        self.integers.extend(numbers)

    def text(self, text: str) -> int:
        if "\0" in text:
            raise TypeError("a saved program cannot store text with a null character")
        return self.texts.setdefault(text, len(self.texts))


def decode(content: bytes | memoryview, memory: Any) -> Any:
    """Return the value of encoded bytes. Its arrays are views of ``memory``. Bytes that nobody encoded are a
    ValueError."""
    try:
        return kernel_calls.decode(content, memory)
    except UnicodeDecodeError:
        raise ValueError("a text is not UTF-8") from None


def _name(dtype: np.dtype[Any]) -> str:
    """What NumPy reads a dtype from: those of `ml_dtypes` have their own names."""
    return dtype.name if dtype.kind == "V" else dtype.str
