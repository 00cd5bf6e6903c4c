"""Reader of the options of custom operators: a FlexBuffers map from names to numbers and bools.

A buffer ends with three parts: the root, one byte with the root's kind and the width of its elements, and one byte with
the root's width. An element of a map is a number, or the distance back to a value that is stored earlier in the buffer.
"""

import struct

from qrt.errors import ModelError

_INT, _UINT, _FLOAT, _INDIRECT, _MAP, _BOOL = 1, 2, 3, (6, 7, 8), 9, 26
_CODES = {_INT: "bhiq", _UINT: "BHIQ", _BOOL: "BHIQ", _FLOAT: "?efd"}
Number = int | float | bool


def read_map(content: bytes, place: str) -> dict[str, Number]:
    """Return the numbers and bools of a FlexBuffers map by name. Values of other kinds are left out.

    Raise a ModelError that begins with ``place`` if the content is not a map.
    """
    try:
        return _Reader(content).numbers()
    except (struct.error, IndexError, ValueError, OverflowError):
        raise ModelError(f"{place}: its custom options must be a FlexBuffers map, but cannot be read as one") from None


class _Reader:
    def __init__(self, content: bytes) -> None:
        self.content = content

    def unsigned(self, at: int, width: int) -> int:
        number = self.scalar(_UINT, at, width)
        assert isinstance(number, int)
        return number

    def scalar(self, kind: int, at: int, width: int) -> Number:
        if at < 0 or width not in (1, 2, 4, 8) or (kind == _FLOAT and width == 1):
            raise ValueError
        (number,) = struct.unpack_from(f"<{_CODES[kind][width.bit_length() - 1]}", self.content, at)
        return bool(number) if kind == _BOOL else number

    def numbers(self) -> dict[str, Number]:
        packed, width = self.content[-2:]
        if packed >> 2 != _MAP:
            raise ValueError
        root = len(self.content) - 2 - width
        values = root - self.unsigned(root, width)
        width = 1 << (packed & 3)
        keys = values - 3 * width - self.unsigned(values - 3 * width, width)
        key_width, count = self.unsigned(values - 2 * width, width), self.unsigned(values - width, width)
        if count > len(self.content):
            raise ValueError
        entries = {}
        for i in range(count):
            at = keys + i * key_width
            value = self.value(self.content[values + count * width + i], values + i * width, width)
            if value is not None:
                entries[self.key(at - self.unsigned(at, key_width))] = value
        return entries

    def key(self, at: int) -> str:
        if at < 0:
            raise ValueError
        return self.content[at : self.content.index(0, at)].decode()

    def value(self, packed: int, at: int, width: int) -> Number | None:
        kind = packed >> 2
        if kind in _INDIRECT:
            return self.scalar(kind - _INDIRECT[0] + _INT, at - self.unsigned(at, width), 1 << (packed & 3))
        return self.scalar(kind, at, width) if kind in _CODES else None
