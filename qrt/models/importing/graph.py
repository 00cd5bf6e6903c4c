"""Base class of the graphs that the TFLite and ONNX importers read, with helpers for names, shapes and errors."""

import math
from abc import abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np

from qrt.errors import ModelError, input_limit, plural, shown
from qrt.ir import ArrayAttr, Attribute, Block, Builder, DictAttr, Module, Operation, StringAttr, TypeAttr, Value
from qrt.ir.core.operations import NOWHERE, Region
from qrt.ir.rewriting.rewrite import erase_dead
from qrt.ir.text.dense import DenseElementsAttr, storage_dtype
from qrt.models.profiles import Profile
from qrt.ops.core import Array, element_dtype
from qrt.types import FloatType, FunctionType, IntegerType, TensorType, Type, UniformType
from qrt.types.scanner import Location, Source

_MOST_PLACES = 3
"""The most nodes that an error names for one unsupported form."""
Shape = Sequence[int | str | None]
"""The shape of an input: a dynamic dimension is None or its name."""


class Operator(Protocol):
    """Interface of an operator of a model file in any format."""

    @property
    def index(self) -> int:
        """The operator's index in its graph."""

    @property
    def name(self) -> str:
        """The kind of the operator, such as "Conv" or "CONV_2D"."""


class Graph:
    """A graph of a model file during import. The operations of the imported program are appended to one block."""

    def __init__(self, profile: Profile, file: str, max_bytes: int) -> None:
        self.profile = profile
        self.max_bytes = max_bytes
        self.file = file
        self.block = Block()
        self._locations: dict[int, Location] = {}

    # -- what each file format implements ---------------------------------------------------------------------------

    @abstractmethod
    def place(self, op: Any) -> str:
        """Return a description of where an operator is in the file, for error messages."""

    @abstractmethod
    def _lines(self) -> Iterable[str]:
        """Return one line of text for each operator. Each line begins with the operator's name."""

    # -- operations -------------------------------------------------------------------------------------------------

    def append(
        self,
        op: Operator | None,
        name: str,
        operands: Sequence[Value],
        types: Sequence[TensorType],
        attributes: dict[str, Attribute],
    ) -> Operation:
        """Append an operation whose location is that of the operator ``op`` of the file.

        Raise ModelError if a result takes more than the limit ``max_bytes``.
        """
        for kind in types:
            self.check_size(op, kind)
        return self.builder(op).emit(name, operands, types, attributes)

    def check_size(self, op: Operator | None, kind: TensorType) -> None:
        """Raise ModelError if a tensor of the type ``kind`` takes more than the limit ``max_bytes``."""
        elements = math.prod(size for size in kind.shape or () if size is not None)
        if elements > self.max_bytes // 8 and elements * element_dtype(kind.element).itemsize > self.max_bytes:
            place = self.file if op is None else self.place(op)
            raise ModelError(f"{place}: {kind.shown()} takes more than {input_limit(self.max_bytes)}")

    def builder(self, op: Operator | None) -> Builder:
        """Return a builder whose operations have the location of the operator ``op`` of the file."""
        return Builder(self.block, NOWHERE if op is None else self.location(op))

    def constant(self, array: Array, element: Type, op: Operator | None) -> Value:
        """Append a constant. For a quantized element type, ``array`` has the storage values.

        The array may be a view of the file.
        """
        if not isinstance(element, UniformType):
            return self._dense(array, element, op)
        stored = self._dense(bits(array), IntegerType(element.storage_width), op)
        return self.append(op, "quant.scast", [stored], [TensorType(array.shape, element)], {}).result

    def _dense(self, array: Array, element: Type, op: Operator | None) -> Value:
        kind = TensorType(array.shape, element)
        if isinstance(element, FloatType):  # a constant of floats without a NumPy dtype has their bits
            array = array.view(storage_dtype(element))
        return self.append(op, "arith.constant", (), [kind], {"value": DenseElementsAttr(array, kind)}).result

    # -- the function -----------------------------------------------------------------------------------------------

    def open_function(self, module: Module, name: str) -> Operation:
        """Append a function to a module, with the graph's block as its body. `close_function` completes it."""
        attributes: dict[str, Attribute] = {"sym_name": StringAttr(name)}
        return Builder(module).emit("func.func", attributes=attributes, regions=[Region([self.block])])

    def close_function(self, function: Operation, results: Sequence[Value]) -> None:
        """Append a return of ``results`` to the function, set its type, and erase unused operations."""
        self.append(None, "func.return", results, (), {})
        types = FunctionType([value.type for value in self.block.arguments], [value.type for value in results])
        function.attributes["function_type"] = TypeAttr(types)
        erase_dead([operation for operation in self.block if not any(value.uses for value in operation.results)])

    # -- places -----------------------------------------------------------------------------------------------------

    def location(self, op: Operator) -> Location:
        """Return the location of an operator of the file.

        It refers to the operator's line in a text that lists the graph, because a binary file has no lines.
        """
        location = self._locations.get(op.index)
        if location is None:
            source, starts = self._listing
            start = starts[op.index]
            location = OperatorLocation(source, start, start + len(op.name), self.place(op))
            self._locations[op.index] = location
        return location

    @cached_property
    def _listing(self) -> tuple[Source, list[int]]:
        """A text that lists the graph with a line for each operator, and the offset of each line in the text."""
        lines = [line.replace("\n", " ") for line in self._lines()]
        starts = list(accumulate((len(line) + 1 for line in lines), initial=0))
        return Source("\n".join(lines), self.file), starts


class OperatorLocation(Location):
    """The location of an operator in a binary file, printed as ``place``: "m.tflite: subgraph 0, operator 3 ADD"."""

    __slots__ = ("place",)

    def __init__(self, source: Source, start: int, end: int, place: str) -> None:
        super().__init__(source, start, end)
        self.place = place

    def __str__(self) -> str:
        return self.place


def port_names(names: Sequence[str], dimensions: Sequence[Sequence[str]] | None = None) -> ArrayAttr:
    """Return an attribute that names a function's arguments or results: an array with a dictionary for each.

    Each dictionary has the name as "qrt.name". A tensor may be returned twice, so a repeated name gets its position as
    a suffix: "y#1". ``dimensions`` has a list for each argument, with the name of each dimension, or "" for a dimension
    without name. The dictionary has this list as "qrt.dimensions". Dimensions with the same name must have the same
    size in a call.
    """
    unique_names: list[str] = []
    for place, name in enumerate(names):
        unique_names.append(f"{name}#{place}" if name in unique_names else name)
    entries: list[dict[str, Attribute]] = [{"qrt.name": StringAttr(name)} for name in unique_names]
    for entry, axis_names in zip(entries, dimensions or (), strict=False):
        if any(axis_names):
            entry["qrt.dimensions"] = ArrayAttr(tuple(map(StringAttr, axis_names)))
    return ArrayAttr(tuple(map(DictAttr.of, entries)))


def open_inputs_hint(ports: Iterable[tuple[str, Shape | None]]) -> str:
    """Return a line for an error message that lists dynamic dimensions and how to set them; "" if there are none.

    ``ports`` has the name and the shape of each input.
    """
    shapes = {name: shape for name, shape in ports if shape is not None}
    opened = {
        name: [axis for axis, size in enumerate(shape) if not isinstance(size, int)] for name, shape in shapes.items()
    }
    named = [
        f"input {shown(name)} (dimension {', '.join(map(str, axes))} of {len(shapes[name])})"
        for name, axes in opened.items()
        if axes
    ]
    if not named:
        return ""
    name = next(name for name, axes in opened.items() if axes)
    sizes = tuple(size if isinstance(size, int) else 1 for size in shapes[name])
    return (
        f"\ndynamic dimensions: {', '.join(named)}; to import with concrete sizes, give the shapes:"
        f" shapes={{{name!r}: {sizes}}} of qrt.load, or --input-shape {name}={'x'.join(map(str, sizes))}"
    )


def check_shapes(place: str, shapes: Mapping[str, Sequence[int]], ports: Mapping[str, Shape | None]) -> None:
    """Raise ModelError unless every key of ``shapes`` is the name of an input, and every shape has the input's rank.

    ``shapes`` are the shapes that the user gives. ``ports`` has the shapes of the inputs in the file, by name.
    """
    for name, given in shapes.items():
        if name not in ports:
            known = ", ".join(map(shown, ports)) or "none"
            raise ModelError(f"{place}: shapes: no input is named {shown(name)}; the inputs are {known}")
        own = ports[name]
        if own is not None and len(own) != len(given):
            raise ModelError(
                f"{place}: shapes: input {shown(name)} has {plural(len(own), 'dimension')}, so {len(own)} sizes "
                f"are expected, got {tuple(given)}"
            )


class Refusals:
    """The unsupported operators of a model and their places, collected to report all of them in one error.

    They are listed by form: a form is a variant of an operator with certain data types or attributes.
    """

    def __init__(self) -> None:
        self._places: dict[tuple[str, str], list[str]] = {}

    def __bool__(self) -> bool:
        return bool(self._places)

    def add(self, op: str, form: str, place: str) -> None:
        """Record that the operator ``op`` at ``place`` has an unsupported form."""
        self._places.setdefault((op, form), []).append(place)

    def error(self, failure: str, hint: str = "") -> ModelError:
        """Return a ModelError that lists each unsupported form with its places, between ``failure`` and ``hint``."""
        lines = [f"  {op} ({form}): {_listed(places)}" for (op, form), places in self._places.items()]
        return ModelError("\n".join([f"{failure} {len(lines)} of its operators:", *lines]) + hint)


def _listed(places: Sequence[str]) -> str:
    unique_places = list(dict.fromkeys(places))
    more = len(unique_places) - _MOST_PLACES
    return ", ".join(unique_places[:_MOST_PLACES]) + (f" and {more} more" if more > 0 else "")


def bits(array: Array) -> Array:
    """Reinterpret unsigned integers as signed integers, for use in a constant. Other arrays are returned unchanged."""
    return array.view(np.dtype(f"i{array.itemsize}")) if array.dtype.kind == "u" else array
