"""Reader of the tables of a FlatBuffers file, which checks each offset and length before use.

The accessors that flatc generates for Python check nothing: an offset may point anywhere, a length may be billions, and
a string that leaves the file is cut without an error. Importing the generated accessors of a large schema also takes
longer than reading a small model.

A table begins with the distance to its vtable, which has the offset of each field in the table. A field that is a
vector, a string or another table contains the distance to it.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from struct import Struct
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from qrt.errors import ModelError, input_limit
from qrt.models.tflite.schema import SCALARS, Field, enumeration, fields, union_table

_U16, _I32, _U32 = Struct("<H"), Struct("<i"), Struct("<I")
_UNPACKERS = {code: Struct(f"<{code}") for code in SCALARS}
_DTYPES = {code: np.dtype(f"<{name}") for code, name in SCALARS.items()}
_TABLE_MEMORY = 1 << 10
"""An upper bound of the memory of one table as Python objects, in bytes. In the file a table may take only 8 bytes."""
_REFERENCES = 4
"""The largest ratio of all bytes read to the bytes of the file. Writers share little except strings and vtables."""


class _Layout(NamedTuple):
    """Positions of the fields in all tables of one kind that share one vtable.

    ``size`` is the size of a table in bytes, and ``defaults`` has the default value of each field of the schema.
    ``plain`` lists the fields that are numbers, as (name, unpack function, offset), and ``others`` the other fields
    that are present.
    """

    size: int
    defaults: dict[str, Any]
    plain: Sequence[tuple[str, Callable[[memoryview, int], tuple[Any, ...]], int]]
    others: Sequence[tuple[Field, int]]


class Reader:
    """A reader of the tables of a FlatBuffers file.

    An error is a ModelError whose message has the path of fields from the root to the error, such as "subgraph 0,
    tensor 3".
    """

    def __init__(self, data: npt.NDArray[np.uint8], name: str, max_bytes: int) -> None:
        self.data, self.name, self.max_bytes = data, name, max_bytes
        self._bytes, self._size, self._address = data.data, data.size, data.ctypes.data
        self._path: list[str | int] = []
        self._vtables: dict[int, tuple[int, tuple[int, ...]]] = {}
        self._layouts: dict[tuple[int, str], _Layout] = {}
        self._left, self._tables_left = _REFERENCES * data.size, max_bytes // _TABLE_MEMORY

    def root(self, table: str) -> dict[str, Any]:
        """Return the fields of the file's root table, which the schema names ``table``."""
        self._require(0, 8)
        return self.table(_U32.unpack_from(self._bytes, 0)[0], table)

    def table(self, position: int, name: str) -> dict[str, Any]:
        """Return the fields, by name, of the table at a position of the file. Absent fields have their defaults.

        ``name`` is the name of the table in the schema.
        """
        self._tables_left -= 1
        if self._tables_left < 0:
            raise self.error(f"the tables up to this one take more memory than {input_limit(self.max_bytes)}")
        self._require(position, 4)
        vtable = position - _I32.unpack_from(self._bytes, position)[0]
        layout = self._layouts.get((vtable, name)) or self._layout(vtable, name)
        self._require(position, layout.size)
        self._spend(layout.size)
        values = layout.defaults.copy()
        for key, unpack_from, offset in layout.plain:
            values[key] = unpack_from(self._bytes, position + offset)[0]
        for field, offset in layout.others:
            values[field.name] = self._field(field, position + offset, values)
        return values

    def _layout(self, vtable: int, name: str) -> "_Layout":
        """Return the positions of the fields in tables ``name`` of the schema that have the vtable at ``vtable``.

        The result is cached.
        """
        size, offsets = self._vtable(vtable)
        known = fields(name)
        there = [(field, offset) for field, offset in zip(known, offsets, strict=False) if offset]
        for field, offset in there:
            if offset < 4 or offset + field.size > size:
                raise self.error(
                    f"the file is damaged: field '{field.name}' is at byte {offset} of a table of {size} bytes"
                )
        if any(offsets[len(known) :]):
            self._refuse_unknown(name)
        plain = [(f.name, _UNPACKERS[f.code].unpack_from, offset) for f, offset in there if f.is_plain]
        others = [(field, offset) for field, offset in there if not field.is_plain]
        layout = _Layout(size, {field.name: field.default for field in known}, plain, others)
        self._layouts[vtable, name] = layout
        return layout

    def _refuse_unknown(self, name: str) -> None:
        """Raise ModelError for a field that the schema does not have, in a table where it could change results."""
        if name.endswith("Options") or name == "Tensor":
            raise self.error(
                f"its table {name} has a field that qrt does not know, of a later version of the TFLite schema"
            )

    def _vtable(self, position: int) -> tuple[int, tuple[int, ...]]:
        """Decode the vtable at a position: the size of a table that has it, and the offset of each field, 0 if absent.

        Many tables share one vtable, so the result is cached.
        """
        vtable = self._vtables.get(position)
        if vtable is None:
            self._require(position, 4)
            size = _U16.unpack_from(self._bytes, position)[0]
            if size < 4 or size % 2:
                raise self.error(
                    f"the file is damaged: the vtable at byte {position} must have an even number of bytes, at "
                    f"least 4, got {size}"
                )
            self._require(position, size)
            self._spend(size)
            _, table, *offsets = Struct(f"<{size // 2}H").unpack_from(self._bytes, position)
            if table < 4:
                raise self.error(
                    f"the file is damaged: by the vtable at byte {position}, a table has {table} bytes, fewer than "
                    "the 4 that every table has"
                )
            vtable = self._vtables[position] = table, tuple(offsets)
        return vtable

    def _field(self, field: Field, position: int, before: Mapping[str, Any]) -> Any:
        """Return the value of a field that is not a number: an enumeration's name, or a vector, string or table.

        ``before`` has the numbers of the same table, among them the type code of each union.
        """
        if field.enumeration is not None:
            number = _UNPACKERS[field.code].unpack_from(self._bytes, position)[0]
            names = enumeration(field.enumeration)
            if not 0 <= number < len(names):
                listed = f"{names[0]} to {names[-1]}" if len(names) > 8 else ", ".join(names)
                raise self.error(f"field '{field.name}' must be one of {listed}, got the number {number}")
            return names[number]
        target = position + _U32.unpack_from(self._bytes, position)[0]
        self._path.append(field.name)  # stays after an error, whose message has the path
        value = self._target(field, target, before)
        self._path.pop()
        return value

    def _target(self, field: Field, position: int, before: Mapping[str, Any]) -> Any:
        if field.is_vector or field.is_string:
            return self._vector(field, position)
        table = field.table if field.union is None else union_table(field.union, before[f"{field.name}_type"])
        return None if table is None else self.table(position, table)

    def _vector(self, field: Field, position: int) -> Any:
        self._require(position, 4)
        count = _U32.unpack_from(self._bytes, position)[0]
        start, size = position + 4, count * field.item_size
        self._require(start, size)
        self._spend(size)
        if field.is_string:
            return str(self._bytes[start : start + size], "utf-8", "backslashreplace")
        if field.code:
            return self.elements(start, size, _DTYPES[field.code])
        assert field.table is not None
        return [*self._tables(field.table, start, count)]

    def elements(self, start: int, size: int, dtype: np.dtype[Any]) -> npt.NDArray[Any]:
        """Return ``size`` bytes of the file as an array of a dtype: a view if they are aligned for it, else a copy."""
        if (self._address + start) % dtype.itemsize:
            return np.frombuffer(self._bytes[start : start + size].tobytes(), dtype)
        return self.data[start : start + size].view(dtype)

    def _tables(self, name: str, start: int, count: int) -> Iterator[dict[str, Any]]:
        distances = Struct(f"<{count}I").unpack_from(self._bytes, start)
        self._path.append(0)
        for index, distance in enumerate(distances):
            self._path[-1] = index
            yield self.table(start + 4 * index + distance, name)
        self._path.pop()

    # -- errors ------------------------------------------------------------------------------------------------------

    def error(self, message: str) -> ModelError:
        """Return a ModelError with the file and the path to the table being read: "m.tflite: subgraph 0: ..."."""
        path = "".join(f" {part}" if isinstance(part, int) else f", {_SINGULAR.get(part, part)}" for part in self._path)
        return ModelError(f"{self.name}: {path.removeprefix(', ')}{': ' if path else ''}{message}")

    def _require(self, position: int, size: int) -> None:
        if position < 0 or position + size > self._size:
            raise self.error(
                f"the file is damaged or cut short: it has {self._size} bytes, but refers to {size} bytes from "
                f"byte {position} on"
            )

    def _spend(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise self.error(f"the file is damaged: its tables refer to the same bytes more than {_REFERENCES} times")


_SINGULAR = {
    "subgraphs": "subgraph", "tensors": "tensor", "operators": "operator", "buffers": "buffer",
    "signature_defs": "signature", "operator_codes": "operator code",
}  # fmt: skip
