"""A graph of a file that becomes a function: its operations, their places, its constants and the names of its ports."""

from abc import abstractmethod
from collections.abc import Iterable, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from qrt.errors import ModelError, plural
from qrt.ir import ArrayAttr, Attribute, Block, Builder, DictAttr, Module, Operation, StringAttr, TypeAttr, Value
from qrt.ir.core.operations import NOWHERE, Region
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.ir.text.dense import DenseElementsAttr, storage_dtype
from qrt.models.profiles import Profile
from qrt.ops.core import Array
from qrt.types import FloatType, FunctionType, IntegerType, TensorType, Type, UniformType
from qrt.types.scanner import Location, Source

_MOST_PLACES = 3
"""The most nodes that an error names for one unsupported form."""


class Operator(Protocol):
    """What every file says of an operator: its place among the graph's, and what it is called."""

    @property
    def index(self) -> int:
        """Where it stands in the graph."""

    @property
    def name(self) -> str:
        """What operators of this kind are called."""


class Graph:
    """A graph whose operations are made one after the other, at the end of one block."""

    def __init__(self, profile: Profile, file: str) -> None:
        self.profile = profile
        self.file = file
        self.block = Block()
        self._locations: dict[int, Location] = {}

    # -- what a file's format knows ---------------------------------------------------------------------------------

    @abstractmethod
    def place(self, op: Any) -> str:
        """Where an operator stands, as errors say it."""

    @abstractmethod
    def _lines(self) -> Iterable[str]:
        """A line for each operator, which begins with its name."""

    # -- operations -------------------------------------------------------------------------------------------------

    def append(
        self,
        op: Operator | None,
        name: str,
        operands: Sequence[Value],
        types: Sequence[TensorType],
        attributes: dict[str, Attribute],
    ) -> Operation:
        """Make an operation at the end, where an operator of the file stands."""
        return self.builder(op).emit(name, operands, types, attributes)

    def builder(self, op: Operator | None) -> Builder:
        """Return a builder at the end, whose operations stand where an operator of the file stands."""
        return Builder(self.block, NOWHERE if op is None else self.location(op))

    def constant(self, array: Array, element: Type, op: Operator | None) -> Value:
        """A constant. Of a quantized type the array is the storage; it may be a view of the file."""
        if not isinstance(element, UniformType):
            return self._dense(array, element, op)
        stored = self._dense(bits(array), IntegerType(element.storage_width), op)
        return self.append(op, "quant.scast", [stored], [TensorType(array.shape, element)], {}).result

    def _dense(self, array: Array, element: Type, op: Operator | None) -> Value:
        kind = TensorType(array.shape, element)
        if isinstance(element, FloatType):  # of floats that NumPy lacks a constant holds the bits
            array = array.view(storage_dtype(element))
        return self.append(op, "arith.constant", (), [kind], {"value": DenseElementsAttr(array, kind)}).result

    # -- the function -----------------------------------------------------------------------------------------------

    def open_function(self, module: Module, name: str) -> Operation:
        """Make a function at the end of a module, whose body is the block. `close_function` says what it takes and
        returns."""
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        return Builder(module).emit("func.func", attributes=attributes, regions=[Region([self.block])])

    def close_function(self, function: Operation, results: Sequence[Value]) -> None:
        """Returns the results; the function gets its type, and loses what nothing reads."""
        self.append(None, "func.return", results, (), {})
        types = FunctionType([value.type for value in self.block.arguments], [value.type for value in results])
        function.attributes["function_type"] = TypeAttr(types)
        erase_dead([operation for operation in self.block if not any(value.uses for value in operation.results)])

    # -- places -----------------------------------------------------------------------------------------------------

    def location(self, op: Operator) -> Location:
        """The location of an operator: its line in a listing of the graph."""
        found = self._locations.get(op.index)
        if found is None:
            source, starts = self._listing
            start = starts[op.index]
            found = OperatorLocation(source, start, start + len(op.name), self.place(op))
            self._locations[op.index] = found
        return found

    @cached_property
    def _listing(self) -> tuple[Source, list[int]]:
        """A line for each operator, and where each begins."""
        lines = [line.replace("\n", " ") for line in self._lines()]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return Source("\n".join(lines), self.file), starts


class OperatorLocation(Location):
    """The place of an operator in a file that is no text."""

    __slots__ = ("place",)

    def __init__(self, source: Source, start: int, end: int, place: str) -> None:
        super().__init__(source, start, end)
        self.place = place

    def __str__(self) -> str:
        return self.place


def port_names(names: Sequence[str], dimensions: Sequence[Sequence[str]] | None = None) -> ArrayAttr:
    """The names of a function's arguments or results, each once: a tensor may be two results. ``dimensions`` are those
    of open dimensions, empty where one has none; dimensions of one name have one size at a call."""
    found: list[str] = []
    for place, name in enumerate(names):
        found.append(f"{name}#{place}" if name in found else name)
    entries: list[dict[str, Attribute]] = [{"qrt.name": StringAttr(name)} for name in found]
    for entry, each in zip(entries, dimensions or (), strict=False):
        if any(each):
            entry["qrt.dimensions"] = ArrayAttr(tuple(map(StringAttr, each)))
    return ArrayAttr(tuple(map(DictAttr.of, entries)))


class Refusals:
    """The unsupported forms of operators that an import or an export found, and the places of each."""

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, op: str, form: str, place: str) -> None:
        """Add an operator with a form that is not supported, and the name of its node."""
        self._places.setdefault((op, form), []).append(place)

    def error(self, failure: str) -> ModelError:
        """Return the error that lists each form with the nodes that have it."""
        lines = [f"  {op} ({form}): {_listed(places)}" for (op, form), places in self._places.items()]
        return ModelError("\n".join([f"{failure} {plural(len(lines), 'form')} of operators:", *lines]))


def _listed(places: Sequence[str]) -> str:
    first = list(dict.fromkeys(places))[:_MOST_PLACES]
    more = len(places) - len(first)
    return ", ".join(first) + (f" and {more} more" if more else "")


def bits(array: Array) -> Array:
    """Unsigned integers as the signed ones of the same bits, which constants hold; everything else as it is."""
    return array.view(np.dtype(f"i{array.itemsize}")) if array.dtype.kind == "u" else array
