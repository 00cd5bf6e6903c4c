"""Messages of protobuf, read where they lie, and those of ONNX files, as far as they are read: their fields by number,
name and kind. No length is followed before it was checked.

A message is a sequence of fields. Each begins with a tag, its number times 8 and how it is written: as a number of 7
bits a byte, the lowest first; as 4 or 8 bytes; or as a length and so many bytes, which are a text, a message, or
several numbers. A reader skips the fields that it does not know. Bytes stay in the file's memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np

from qrt.errors import ModelError
from qrt.ops.core import Array

FIELDS = {
    "Model": """
        1 ir_version int, 2 producer_name text, 7 graph Graph, 8 opset_import *OperatorSet, 14 metadata_props *Entry,
        25 functions *Function""",
    "Graph": """
        1 node *Node, 2 name text, 5 initializer *Tensor, 11 input *Value, 12 output *Value, 13 value_info *Value,
        15 sparse_initializer *SparseTensor""",
    "Function": """
        1 name text, 4 input *text, 5 output *text, 6 attribute *text, 7 node *Node, 9 opset_import *OperatorSet,
        10 domain text, 11 attribute_proto *Attribute, 13 overload text""",
    "Node": """
        1 input *text, 2 output *text, 3 name text, 4 op_type text, 5 attribute *Attribute, 7 domain text,
        8 overload text""",
    "Attribute": """
        1 name text, 2 f float, 3 i int, 4 s text, 5 t Tensor, 6 g Graph, 7 floats *float, 8 ints *int,
        9 strings *text, 10 tensors *Tensor, 11 graphs *Graph, 20 type int, 21 ref_attr_name text""",
    "Tensor": """
        1 dims *int, 2 data_type int, 3 segment Segment, 4 float_data *float, 5 int32_data *int, 6 string_data *bytes,
        7 int64_data *int, 8 name text, 9 raw_data bytes, 10 double_data *double, 11 uint64_data *uint,
        13 external_data *Entry, 14 data_location int""",
    "Segment": "",
    "SparseTensor": "1 values Tensor",
    "Value": "1 name text, 2 type Type",
    "Type": """
        1 tensor_type TensorType, 4 sequence_type OtherType, 5 map_type OtherType, 7 opaque_type OtherType,
        8 sparse_tensor_type OtherType, 9 optional_type OtherType""",
    "TensorType": "1 elem_type int, 2 shape Shape",
    "OtherType": "",
    "Shape": "1 dim *Dimension",
    "Dimension": "1 dim_value int, 2 dim_param text",
    "OperatorSet": "1 domain text, 2 version int",
    "Entry": "1 key text, 2 value text",
}
ONE_OF = ("Type", "Dimension")
"""The messages of which one field counts: the last one that is there."""


_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_WRITTEN = {
    "int": _VARINT,
    "uint": _VARINT,
    "float": _FOUR,
    "double": _EIGHT,
    "text": _LENGTH,
    "bytes": _LENGTH,
}
_FLOATS = {"float": Struct("<f"), "double": Struct("<d")}
_DEFAULTS: dict[str, Any] = {"int": 0, "uint": 0, "float": 0.0, "double": 0.0, "text": "", "bytes": b""}
_OF_A_MESSAGE = 400
"""Bytes that a message takes in memory: the file may say one in 2 bytes."""
_OF_A_FIELD = 40
_DEEPEST = 100
"""How deep messages may stand in one another."""
_BLOCK = 1 << 16
"""Numbers of 7 bits a byte that are put together at once."""


class Message:
    """What a message of the file says. A field that it does not say has its default, which for one that may stand there
    several times is empty.
    """

    by_tag: "dict[int, _Field]"
    numbers: frozenset[int]
    is_one_of = False

    def __getattr__(self, name: str) -> Any:
        """Only says that a message has attributes beside those of its class."""
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def has(self, name: str) -> bool:
        """Whether the file says the field."""
        return name in self.__dict__

    @property
    def chosen(self) -> str | None:
        """The field that is there, of a message that has one of several."""
        return next(iter(self.__dict__), None)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    kind: str
    is_repeated: bool
    message: type[Message] | None
    is_number: bool


def _classes() -> dict[str, type[Message]]:
    """A class for each message, whose attributes are the defaults."""
    made: dict[str, type[Message]] = {name: type(name, (Message,), {"is_one_of": name in ONE_OF}) for name in FIELDS}
    for name, told in FIELDS.items():
        by_tag = {}
        for entry in filter(None, told.split(",")):
            number, label, kind = entry.split()
            is_repeated, kind = kind.startswith("*"), kind.removeprefix("*")
            child = made.get(kind)
            written = _WRITTEN.get(kind, _LENGTH)
            field = _Field(label, kind, is_repeated, child, written != _LENGTH)
            by_tag[int(number) << 3 | written] = field
            if is_repeated and written != _LENGTH:  # all of them may stand together
                by_tag[int(number) << 3 | _LENGTH] = field
            setattr(made[name], label, () if is_repeated else _DEFAULTS[kind] if child is None else child())
        made[name].by_tag = by_tag
        made[name].numbers = frozenset(tag >> 3 for tag in by_tag)
    return made


_CLASSES = _classes()


class _MalformedField(Exception):
    """What is wrong, and the fields in which it stands, the innermost first."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []


def parse(data: bytes | memoryview, name: str, max_bytes: int, kind: str = "Model") -> Message:
    """The message of a kind that bytes are: of a file a model.

    Raises ModelError for one that is damaged, and for one whose messages take more than ``max_bytes`` in memory.

    >>> parse(bytes([8, 10, 58, 3, 18, 1, 71]), "m.onnx", 1 << 20).graph.name
    'G'
    """
    made = _CLASSES[kind]()
    reader = _Reader(data, max_bytes)
    try:
        reader.message(made, 0, len(data))
    except _MalformedField as wrong:
        place = "".join(f"{part}: " for part in [", ".join(reversed(wrong.path))] if part)
        raise ModelError(f"{name}: not an ONNX model, or a damaged one: {place}{wrong}") from None
    return made


class _Reader:
    """The bytes of a file, and how much of the memory is left."""

    def __init__(self, data: bytes | memoryview, max_bytes: int) -> None:
        self.data, self.view, self.max_bytes = data, memoryview(data), max_bytes
        self.left = max_bytes
        self.depth = 0

    def message(self, made: Message, start: int, end: int) -> None:
        """Reads the fields of a message that lies from ``start`` to ``end``."""
        self._charge(_OF_A_MESSAGE)
        self.depth += 1
        if self.depth > _DEEPEST:
            raise _MalformedField(f"messages are nested more than {_DEEPEST} deep")
        data, by_tag, values, position = self.data, made.by_tag, made.__dict__, start
        field: _Field | None = None
        try:
            while position < end:
                tag = data[position]
                position += 1
                if tag > 127:
                    tag, position = self._number(position - 1, end)
                field = by_tag.get(tag)
                if field is None:
                    position = self._skipped(made, tag, position, end)
                    continue
                self.left -= _OF_A_FIELD
                if self.left < 0:
                    self._charge(0)
                if tag & 7 == _LENGTH:
                    begin, position = self._extent(position, end)
                    if field.is_number:
                        self._extend(values, field.name, self._numbers(field.kind, begin, position))
                        continue
                    value = self._content(made, field, begin, position)
                else:
                    value, position = self._alone(field.kind, position, end)
                if not field.is_repeated:
                    if made.is_one_of and field.name not in values:
                        values.clear()
                    values[field.name] = value
                elif isinstance(found := values.get(field.name), list):
                    found.append(value)
                else:
                    self._extend(values, field.name, [value])
        except _MalformedField as wrong:
            if field is not None:
                wrong.path.append(f"{field.name} {len(getattr(made, field.name))}" if field.is_repeated else field.name)
            raise
        self.depth -= 1

    def _content(self, made: Message, field: _Field, start: int, end: int) -> Any:
        """What a field with a length holds that is no number."""
        if field.kind == "text":
            try:
                return str(self.data[start:end], "utf-8")
            except UnicodeDecodeError as error:
                raise _MalformedField(f"it is not UTF-8: {error.reason}") from None
        return self.view[start:end] if field.message is None else self._of_message(made, field, start, end)

    def _alone(self, kind: str, position: int, end: int) -> tuple[Any, int]:
        """A number that stands alone, and where it ends."""
        if kind in _FLOATS:
            unpacker = _FLOATS[kind]
            self._require(position, unpacker.size, end)
            return unpacker.unpack_from(self.data, position)[0], position + unpacker.size
        if position < end and (value := self.data[position]) < 128:  # most are, and a call takes longer
            return value, position + 1
        value, position = self._number(position, end)
        return value - (1 << 64) if kind == "int" and value >> 63 else value, position

    def _of_message(self, made: Message, field: _Field, start: int, end: int) -> Message:
        """A message in a message. One that stands there twice, but only once counts, has the fields of both."""
        assert field.message is not None
        found = None if field.is_repeated else made.__dict__.get(field.name)
        value: Message = field.message() if found is None else found
        self.message(value, start, end)
        return value

    def _extend(self, values: dict[str, Any], name: str, numbers: list[Any] | Array) -> None:
        """Adds to a field that may stand there several times. Numbers that stand together are an array until there are
        others.
        """
        found = values.get(name)
        if found is None:
            values[name] = numbers
            return
        self._charge(_OF_A_FIELD * len(numbers))
        if isinstance(found, list):
            found.extend(numbers)
        else:
            values[name] = [*found.tolist(), *numbers]

    # -- what fields hold -------------------------------------------------------------------------------------------

    def _number(self, position: int, end: int) -> tuple[int, int]:
        """A number of 7 bits a byte, and where it ends."""
        value = shift = 0
        for place in range(position, min(position + 10, end)):
            byte = self.data[place]
            value |= (byte & 127) << shift
            if byte < 128:
                return value & ((1 << 64) - 1), place + 1
            shift += 7
        is_long = position + 10 <= end
        raise _MalformedField(f"the number at {position} {'has more than 10 bytes' if is_long else 'does not end'}")

    def _extent(self, position: int, end: int) -> tuple[int, int]:
        """From where to where the bytes lie whose length stands at a position."""
        size = self.data[position] if position < end else 128
        if size < 128:  # most are, and a call takes longer than all of this
            position += 1
        else:
            size, position = self._number(position, end)
        if size > end - position:
            self._require(position, size, end)
        return position, position + size

    def _numbers(self, kind: str, start: int, end: int) -> Array:
        """Numbers that stand together."""
        content = np.frombuffer(self.view[start:end], np.uint8)
        if kind not in _FLOATS:
            found = _integers(content)
            return found.view(np.int64) if kind == "int" else found
        size = _FLOATS[kind].size
        if content.size % size:
            raise _MalformedField(f"{content.size} bytes are not a multiple of the {size} bytes of a number")
        return np.frombuffer(content.tobytes(), f"<f{size}")  # a copy: they may lie at any address

    def _skipped(self, made: Message, tag: int, position: int, end: int) -> int:
        """Where a field ends that is not read."""
        number, written = tag >> 3, tag & 7
        if number in made.numbers or not number:
            raise _MalformedField(f"field {number} has the unknown wire type {written}")
        if written == _VARINT:
            return self._number(position, end)[1]
        if written == _LENGTH:
            return self._extent(position, end)[1]
        if written not in (_FOUR, _EIGHT):
            raise _MalformedField(f"field {number} has the unknown wire type {written}")
        size = 4 if written == _FOUR else 8
        self._require(position, size, end)
        return position + size

    # -- limits -----------------------------------------------------------------------------------------------------

    def _require(self, position: int, size: int, end: int) -> None:
        if size > end - position:
            raise _MalformedField(f"{size} bytes at {position} exceed the message, which ends at {end}")

    def _charge(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise _MalformedField(
                f"the description of the model takes more than max_bytes (--max-input), {self.max_bytes}"
            )


def _integers(content: Array) -> Array:
    """Numbers of 7 bits a byte that stand together, as unsigned ones of 64 bits."""
    ends = np.flatnonzero(content < 128) + 1
    if content.size and not (ends.size and ends[-1] == content.size):
        raise _MalformedField("it ends in a number")
    starts = np.concatenate(([0], ends[:-1])) if ends.size else ends
    if ends.size and (ends - starts).max() > 10:
        raise _MalformedField("a number has more than 10 bytes")
    found = np.empty(ends.size, np.uint64)
    for first, last in _blocks(ends.size):
        begin = starts[first]
        places = np.arange(begin, ends[last - 1])
        shifts = 7 * (places - np.repeat(starts[first:last], ends[first:last] - starts[first:last]))
        parts = (content[places] & 127).astype(np.uint64) << shifts.astype(np.uint64)
        np.add.reduceat(parts, starts[first:last] - begin, out=found[first:last])
    return found


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _BLOCK):
        yield first, min(first + _BLOCK, count)
