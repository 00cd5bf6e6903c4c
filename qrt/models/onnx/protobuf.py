"""A decoder of protobuf messages that does not copy the file's bytes, and the fields of ONNX messages that it decodes.

`FIELDS` lists the fields by number, name and kind; other fields are skipped. A length is checked before the bytes that
it counts are read.

A message is a sequence of fields. Each field begins with a tag: the field's number times 8, plus its encoding. The
encodings are a varint (7 bits per byte, the low-order bits first), 4 or 8 bytes, and a length followed by that many
bytes, which are a text, a message, or packed numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from struct import Struct
from typing import Any

import numpy as np

from qrt.errors import ModelError, input_limit
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
"""The messages of which only one field counts: the last one in the file."""


_VARINT, _EIGHT, _LENGTH, _FOUR = 0, 1, 2, 5
_ENCODINGS = {
    "int": _VARINT,
    "uint": _VARINT,
    "float": _FOUR,
    "double": _EIGHT,
    "text": _LENGTH,
    "bytes": _LENGTH,
}
_FLOATS = {"float": Struct("<f"), "double": Struct("<d")}
_DEFAULTS: dict[str, Any] = {"int": 0, "uint": 0, "float": 0.0, "double": 0.0, "text": "", "bytes": b""}
_MESSAGE_BYTES = 400
"""The bytes that a message takes in memory, while the file may encode it in 2 bytes."""
_FIELD_BYTES = 40
_MOST_DEPTH = 100
"""The deepest nesting of messages that is read."""
_BLOCK = 1 << 16
"""The number of packed varints that are decoded at once."""


class Message:
    """A decoded message, with its fields as attributes.

    A field that the file omits has a default, such as 0. The default of a repeated field is an empty sequence.
    """

    by_tag: "dict[int, _Field]"
    numbers: frozenset[int]
    is_one_of = False

    def __getattr__(self, name: str) -> Any:
        """Raise AttributeError. The method exists so that type checkers accept the fields as attributes."""
        raise AttributeError(f"{type(self).__name__} has no field {name!r}")

    def has(self, name: str) -> bool:
        """Return True if the file has the field ``name`` of this message."""
        return name in self.__dict__

    @property
    def chosen(self) -> str | None:
        """The name of the only field that is present, or None. It is for a message that must have one of its fields."""
        return next(iter(self.__dict__), None)


@dataclass(frozen=True, slots=True)
class _Field:
    name: str
    kind: str
    is_repeated: bool
    message: type[Message] | None
    is_number: bool


def _classes() -> dict[str, type[Message]]:
    """Create a class for each message of `FIELDS`, with the default of each field as a class attribute."""
    classes: dict[str, type[Message]] = {name: type(name, (Message,), {"is_one_of": name in ONE_OF}) for name in FIELDS}
    for name, declaration in FIELDS.items():
        by_tag = {}
        for entry in filter(None, declaration.split(",")):
            number, label, kind = entry.split()
            is_repeated, kind = kind.startswith("*"), kind.removeprefix("*")
            child = classes.get(kind)
            written = _ENCODINGS.get(kind, _LENGTH)
            field = _Field(label, kind, is_repeated, child, written != _LENGTH)
            by_tag[int(number) << 3 | written] = field
            if is_repeated and written != _LENGTH:  # the numbers may be packed
                by_tag[int(number) << 3 | _LENGTH] = field
            setattr(classes[name], label, () if is_repeated else _DEFAULTS[kind] if child is None else child())
        classes[name].by_tag = by_tag
        classes[name].numbers = frozenset(tag >> 3 for tag in by_tag)
    return classes


_CLASSES = _classes()


class _MalformedField(Exception):
    """An error about a field that cannot be decoded. ``path`` has its name, then the names of the enclosing fields."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.path: list[str] = []


class _LargeModel(_MalformedField):
    """An error about a field that does not fit in memory, because the decoded messages exceed ``max_bytes``."""


def parse(data: bytes | memoryview, name: str, max_bytes: int, kind: str = "Model") -> Message:
    """Decode the bytes of a message, by default of a whole model. ``kind`` is a name in `FIELDS`.

    Raises ModelError, whose message begins with ``name``, if the bytes are damaged, or if the decoded messages take
    more than ``max_bytes`` in memory.

    >>> parse(bytes([8, 10, 58, 3, 18, 1, 71]), "m.onnx", 1 << 20).graph.name
    'G'
    """
    message = _CLASSES[kind]()
    reader = _Reader(data, max_bytes)
    try:
        reader.message(message, 0, len(data))
    except _MalformedField as wrong:
        place = "".join(f"{part}: " for part in [", ".join(reversed(wrong.path))] if part)
        reason = "" if isinstance(wrong, _LargeModel) else "not an ONNX model, or a damaged one: "
        raise ModelError(f"{name}: {reason}{place}{wrong}") from None
    return message


class _Reader:
    """A decoder of a file's bytes, whose messages may take at most ``max_bytes`` in memory."""

    def __init__(self, data: bytes | memoryview, max_bytes: int) -> None:
        self.data, self.view, self.max_bytes = data, memoryview(data), max_bytes
        self.left = max_bytes
        self.depth = 0

    def message(self, message: Message, start: int, end: int) -> None:
        """Decode the bytes from ``start`` to ``end``, and set the fields of a message."""
        self._charge(_MESSAGE_BYTES)
        self.depth += 1
        if self.depth > _MOST_DEPTH:
            raise _MalformedField(f"messages must be nested at most {_MOST_DEPTH} deep, got deeper ones")
        data, by_tag, values, position = self.data, message.by_tag, message.__dict__, start
        field: _Field | None = None
        try:
            while position < end:
                tag = data[position]
                position += 1
                if tag > 127:
                    tag, position = self._number(position - 1, end)
                field = by_tag.get(tag)
                if field is None:
                    position = self._skip(message, tag, position, end)
                    continue
                self.left -= _FIELD_BYTES
                if self.left < 0:
                    self._charge(0)
                if tag & 7 == _LENGTH:
                    begin, position = self._extent(position, end)
                    if field.is_number:
                        self._extend(values, field.name, self._numbers(field.kind, begin, position))
                        continue
                    value = self._content(message, field, begin, position)
                else:
                    value, position = self._single_number(field.kind, position, end)
                if not field.is_repeated:
                    if message.is_one_of and field.name not in values:
                        values.clear()
                    values[field.name] = value
                elif isinstance(existing := values.get(field.name), list):
                    existing.append(value)
                else:
                    self._extend(values, field.name, [value])
        except _MalformedField as wrong:
            if field is not None:
                wrong.path.append(
                    f"{field.name} {len(getattr(message, field.name))}" if field.is_repeated else field.name
                )
            raise
        self.depth -= 1

    def _content(self, message: Message, field: _Field, start: int, end: int) -> Any:
        """Decode a text, bytes or a nested message, whose bytes are from ``start`` to ``end``."""
        if field.kind == "text":
            try:
                return str(self.data[start:end], "utf-8")
            except UnicodeDecodeError as error:
                raise _MalformedField(f"it must be UTF-8 text: {error.reason}") from None
        return self.view[start:end] if field.message is None else self._nested_message(message, field, start, end)

    def _single_number(self, kind: str, position: int, end: int) -> tuple[Any, int]:
        """Decode a number, and return the number and the position after it."""
        if kind in _FLOATS:
            unpacker = _FLOATS[kind]
            self._require(position, unpacker.size, end)
            return unpacker.unpack_from(self.data, position)[0], position + unpacker.size
        if position < end and (value := self.data[position]) < 128:  # most take one byte, and a call takes longer
            return value, position + 1
        value, position = self._number(position, end)
        return value - (1 << 64) if kind == "int" and value >> 63 else value, position

    def _nested_message(self, parent: Message, field: _Field, start: int, end: int) -> Message:
        """Decode a nested message.

        If a field that is not repeated occurs twice, the two messages are merged into one.
        """
        assert field.message is not None
        existing = None if field.is_repeated else parent.__dict__.get(field.name)
        value: Message = field.message() if existing is None else existing
        self.message(value, start, end)
        return value

    def _extend(self, values: dict[str, Any], name: str, numbers: list[Any] | Array) -> None:
        """Append values to a repeated field. Packed numbers remain an array until more values follow."""
        existing = values.get(name)
        if existing is None:
            values[name] = numbers
            return
        self._charge(_FIELD_BYTES * len(numbers))
        if isinstance(existing, list):
            existing.extend(numbers)
        else:
            values[name] = [*existing.tolist(), *numbers]

    # -- values of fields -------------------------------------------------------------------------------------------

    def _number(self, position: int, end: int) -> tuple[int, int]:
        """Decode a varint, and return the number and the position after it."""
        value = shift = 0
        for place in range(position, min(position + 10, end)):
            byte = self.data[place]
            value |= (byte & 127) << shift
            if byte < 128:
                return value & ((1 << 64) - 1), place + 1
            shift += 7
        is_long = position + 10 <= end
        raise _MalformedField(
            f"the number at byte {position} {'has more than 10 bytes' if is_long else 'is cut short'}"
        )

    def _extent(self, position: int, end: int) -> tuple[int, int]:
        """Decode the length at a position. Return the start and the end of the bytes after it that have this length."""
        size = self.data[position] if position < end else 128
        if size < 128:  # most lengths take one byte, and a call takes longer
            position += 1
        else:
            size, position = self._number(position, end)
        if size > end - position:
            self._require(position, size, end)
        return position, position + size

    def _numbers(self, kind: str, start: int, end: int) -> Array:
        """Decode packed numbers of a kind such as "int" or "float" as an array."""
        content = np.frombuffer(self.view[start:end], np.uint8)
        if kind not in _FLOATS:
            numbers = _integers(content)
            return numbers.view(np.int64) if kind == "int" else numbers
        size = _FLOATS[kind].size
        if content.size % size:
            raise _MalformedField(f"a list of numbers of {size} bytes each cannot have {content.size} bytes")
        return np.frombuffer(content.tobytes(), f"<f{size}")  # a copy: they may lie at any address

    def _skip(self, message: Message, tag: int, position: int, end: int) -> int:
        """Return the position after a field that `FIELDS` does not list."""
        number, written = tag >> 3, tag & 7
        if number in message.numbers or not number:
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
            raise _MalformedField(f"{size} bytes are expected at byte {position}, but the message ends at byte {end}")

    def _charge(self, size: int) -> None:
        self.left -= size
        if self.left < 0:
            raise _LargeModel(f"the description of the model takes more memory than {input_limit(self.max_bytes)}")


def _integers(content: Array) -> Array:
    """Decode packed varints as an array of uint64."""
    ends = np.flatnonzero(content < 128) + 1
    if content.size and not (ends.size and ends[-1] == content.size):
        raise _MalformedField("its last number is cut short")
    starts = np.concatenate(([0], ends[:-1])) if ends.size else ends
    if ends.size and (ends - starts).max() > 10:
        raise _MalformedField("a number has more than 10 bytes")
    values = np.empty(ends.size, np.uint64)
    for first, last in _blocks(ends.size):
        begin = starts[first]
        places = np.arange(begin, ends[last - 1])
        shifts = 7 * (places - np.repeat(starts[first:last], ends[first:last] - starts[first:last]))
        parts = (content[places] & 127).astype(np.uint64) << shifts.astype(np.uint64)
        np.add.reduceat(parts, starts[first:last] - begin, out=values[first:last])
    return values


def _blocks(count: int) -> Iterator[tuple[int, int]]:
    for first in range(0, count, _BLOCK):
        yield first, min(first + _BLOCK, count)
