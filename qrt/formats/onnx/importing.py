"""The walk over a model of ONNX that makes a program of it: the graph a function, each node some operations."""

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from qrt.errors import ModelError, shown
from qrt.formats.importing import graph as importing
from qrt.formats.importing.graph import port_names, refusal
from qrt.formats.importing.node import Refused
from qrt.formats.onnx import model as description
from qrt.formats.onnx.check import place_of
from qrt.formats.onnx.model import Model, Operator, Port
from qrt.formats.onnx.node import Constant, Node, plain_of
from qrt.formats.onnx.registry import find
from qrt.formats.onnx.types import element_of
from qrt.ir import Attribute, Module, Operation, Value
from qrt.ir.core.operations import garbage_uncollected
from qrt.ops.core import Array, element_dtype
from qrt.profiles import Profile
from qrt.types import FloatType, TensorType, Type, UniformType

__all__ = ["Graph", "Importer", "import_model"]


def import_model(model: Model, profile: Profile, *, max_bytes: int = 2 << 30) -> Module:
    """The program of a model, with the rules that a profile has for its operators.

    Raises ModelError where the file is wrong, holds what is not supported (one error lists all of that), or computes a
    tensor larger than ``max_bytes``.
    """
    return Importer(model, profile, max_bytes=max_bytes).run()


class Importer:
    """A model that is imported: its module.

    ``given`` are values of inputs: an operator that must know an input at import takes it from there, and the input's
    name is in ``fixed`` then.
    """

    def __init__(
        self, model: Model, profile: Profile, *, given: Mapping[str, Array] | None = None, max_bytes: int = 2 << 30
    ) -> None:
        self.model = model
        self.profile = profile
        self.max_bytes = max_bytes
        self.module = Module()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.given = given or {}
        self.fixed: set[str] = set()

    def run(self) -> Module:
        """Makes the function ``main``."""
        with garbage_uncollected(), np.errstate(all="ignore"):  # scales far apart have infinite ratios
            Graph(self, self.model.graph).function("main")
        if self.refused:
            raise ModelError(refusal(self.model.name, self.refused))
        return self.module


class Graph(importing.Graph):
    """A graph that becomes a function. ``values`` has the values of tensors, ``constants`` those that are known."""

    def __init__(self, importer: Importer, graph: description.Graph) -> None:
        super().__init__(importer.profile, importer.model.name)
        self.importer = importer
        self.graph = graph
        self.values: dict[str, Value] = {}
        self.constants: dict[str, Constant] = {
            name: Constant(tensor.data, element_of(tensor.dtype)) for name, tensor in graph.constants.items()
        }
        self.ports = {port.name: port for port in graph.inputs}

    def function(self, name: str) -> Operation:
        """Makes the function, and in it the operations of every node."""
        for port in self.graph.inputs:
            self.values[port.name] = self.block.add_argument(self._port_type(port))
        made = self.open_function(name)
        made.attributes["arg_attrs"] = port_names([port.name for port in self.graph.inputs])
        made.attributes["res_attrs"] = port_names([port.name for port in self.graph.outputs])
        self.importer.module.body.append(made)
        for op in self.graph.operators:
            self._import(op)
        self.close_function(made, [self._result(port) for port in self.graph.outputs])
        return made

    def _port_type(self, port: Port) -> TensorType:
        place = f"{self.file}: input {shown(port.name)}"
        if port.shape is None:
            raise ModelError(f"{place}: the file does not say how many dimensions it has")
        if 0 in port.shape:
            raise ModelError(f"{place}: its shape {port.shape} has a dimension of 0")
        return TensorType(tuple(size if isinstance(size, int) else None for size in port.shape), element_of(port.dtype))

    def _result(self, port: Port) -> Value:
        """An output: of a quantized value its storage, which is what the file's type says."""
        value = self.value(port.name)
        assert isinstance(value.type, TensorType)
        if isinstance(value.type.element, UniformType) and not self.importer.refused:
            value = self._stored(value, value.type, value.type.element)
        found = value.type.element if isinstance(value.type, TensorType) else None
        if not self.importer.refused and port.dtype and found is not element_of(port.dtype):
            raise ModelError(
                f"{self.file}: output {shown(port.name)} is of {port.dtype} in the file, but computed as {value.type}"
            )
        return value

    def _stored(self, value: Value, kind: TensorType, element: UniformType) -> Value:
        signless = kind.with_(element=element.storage_type)
        stored = self.append(None, "quant.scast", [value], [signless], {}).result
        own = plain_of(element)
        if own is element.storage_type:
            return stored
        return self.append(None, "tensor.bitcast", [stored], [kind.with_(element=own)], {}).result

    def _import(self, op: Operator) -> None:
        node = Node(self, op)
        function = find(op)
        try:
            if function is None:
                node.refuse("no form of it is")
            function(node)
        except Refused as refused:
            self.importer.refused[op.name, str(refused)] += 1
            for name in filter(None, op.outputs):
                self.values[name] = Value(self._placeholder(name), None, 0)

    def _placeholder(self, name: str) -> TensorType:
        """The type of a result that is not made, so that the walk goes on."""
        said = self.graph.said.get(name)
        if said is None or said.shape is None or not said.dtype:
            return TensorType(None, FloatType("f32"))
        shape = tuple(size if isinstance(size, int) else None for size in said.shape)
        return TensorType(shape, element_of(said.dtype))

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, name: str) -> Constant | None:
        """A tensor that is constant in the file, or whose elements follow from constants."""
        found = self.constants.get(name)
        if found is None and name in self.importer.given and name in self.ports:
            self.importer.fixed.add(name)
            element = element_of(self.ports[name].dtype)
            return Constant(np.asarray(self.importer.given[name], element_dtype(element)), element)
        return found

    def type(self, name: str) -> TensorType:
        """The type of a tensor."""
        value = self.values.get(name)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        found = self.constants[name]
        return TensorType(found.array.shape, found.element)

    def value(self, name: str, op: Operator | None = None) -> Value:
        """The value of a tensor. A constant is made where an operator uses it first."""
        found = self.values.get(name)
        if found is None:
            known = self.constants[name]
            found = self.values[name] = self.constant(known.array, known.element, op)
        return found

    # -- operations -------------------------------------------------------------------------------------------------

    def append(
        self,
        op: Any,
        name: str,
        operands: Sequence[Value],
        types: Sequence[TensorType],
        attributes: dict[str, Attribute],
    ) -> Operation:
        """A new operation at the end. What it computes must not be larger than the limit."""
        for kind in types:
            self.check_size(op, kind)
        return super().append(op, name, operands, types, attributes)

    def check_size(self, op: Operator | None, kind: TensorType) -> None:
        """Raises ModelError for a tensor larger than the limit."""
        elements = math.prod(size for size in kind.shape or () if size is not None)
        if elements > self.importer.max_bytes // 8 and elements * _width(kind.element) > self.importer.max_bytes:
            place = self.file if op is None else self.place(op)
            raise ModelError(f"{place}: {kind.shown()} is larger than max_bytes, which is {self.importer.max_bytes}")

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Where an operator stands, as errors say it."""
        return place_of(self.file, op)

    def _lines(self) -> Iterable[str]:
        return [
            f"{op.name}({', '.join(name or 'none' for name in op.inputs)}) -> {', '.join(op.outputs)}"
            for op in self.graph.operators
        ]


def _width(element: Type) -> int:
    return element_dtype(element).itemsize
