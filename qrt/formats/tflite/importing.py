"""The walk over a model of TFLite that makes a program of it: each function a graph, each operator a node."""

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path

import numpy as np

from qrt.dialects.func.ops import FuncOp
from qrt.errors import ModelError, shown
from qrt.formats.importing import graph as importing
from qrt.formats.importing.graph import port_names, refusal
from qrt.formats.importing.node import Refused
from qrt.formats.tflite.model import Model, Operator, Subgraph, Tensor
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.read import read
from qrt.formats.tflite.registry import find
from qrt.formats.tflite.state import Handle, State, Variable, load
from qrt.formats.tflite.types import type_of
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.ir.core.operations import garbage_uncollected
from qrt.ops.core import Array
from qrt.profiles import Profile
from qrt.types import IntegerType, TensorType

__all__ = ["Graph", "Importer", "import_model"]


def import_model(model: Model, profile: Profile) -> Module:
    """The program of a model, with the rules that a profile has for its operators.

    Raises ModelError where the file is wrong, or holds what is not supported: one error lists all of that.
    """
    with garbage_uncollected(), np.errstate(all="ignore"):  # scales far apart have infinite ratios
        return Importer(model, profile).run()


def import_file(file: Path, profile: Profile, max_bytes: int) -> tuple[Module, str]:
    """Return the program of a file, of which there is nothing to report. Raise ModelError as `import_model` does."""
    return import_model(read(file, max_bytes=max_bytes), profile), ""


class Importer:
    """A model that is imported: its module, and the functions that are made already."""

    def __init__(self, model: Model, profile: Profile) -> None:
        self.model = model
        self.profile = profile
        self.module = Module()
        self.refused: Counter[tuple[str, str]] = Counter()
        self.private: dict[tuple[int, tuple[Handle, ...]], FuncOp] = {}
        self.initial: set[int] = set()
        self.state = State(self.module, {"main", *(each.key for each in model.signatures)})

    def run(self) -> Module:
        """Makes a function for each signature, or one called ``main``."""
        signatures = self.model.signatures
        if len(signatures) > 1:
            for each in signatures:
                self.function(each.key, each.subgraph, _by_tensor(each.inputs), _by_tensor(each.outputs))
        else:
            index = signatures[0].subgraph if signatures else 0
            inputs, outputs = (signatures[0].inputs, signatures[0].outputs) if signatures else ({}, {})
            self.function("main", index, _by_tensor(inputs), _by_tensor(outputs))
        if self.refused:
            raise ModelError(refusal(self.model.name, self.refused))
        if (unset := self.state.unset()) is not None:
            raise ModelError(f"{unset.reader}: it reads variable {shown(unset.name)}, which nothing sets")
        return self.module

    def subgraph_function(self, index: int, handles: Mapping[int, Handle]) -> FuncOp:
        """The private function that another graph calls for a subgraph; its inputs that are handles of variables are
        given, and are no arguments.
        """
        key = index, tuple(handles.values())
        if key not in self.private:
            name = self.state.symbol(f"subgraph_{index}")
            made = Graph(self, self.model.subgraphs[index], handles).function(name, {}, {}, is_private=True)
            assert isinstance(made, FuncOp)
            self.private[key] = made
        return self.private[key]

    def initialise(self, index: int) -> None:
        """Takes what a subgraph assigns as the initial values of variables."""
        if index not in self.initial:
            self.initial.add(index)
            Graph(self, self.model.subgraphs[index], is_initial=True).walk()

    def function(
        self,
        name: str,
        index: int,
        inputs: Mapping[int, str] | None = None,
        outputs: Mapping[int, str] | None = None,
    ) -> Operation:
        """A function that computes a subgraph. Its ports have the names that are given by tensor, or the tensors'."""
        return Graph(self, self.model.subgraphs[index]).function(name, inputs or {}, outputs or {}, is_private=False)


class Graph(importing.Graph):
    """A subgraph that becomes a function. ``values`` has the values of tensors, ``folded`` what is known of them,
    ``handles`` the variables that resources stand for. One that ``is_initial`` gives variables their first values.
    """

    def __init__(
        self,
        importer: Importer,
        subgraph: Subgraph,
        handles: Mapping[int, Handle] | None = None,
        is_initial: bool = False,
    ) -> None:
        super().__init__(importer.profile, importer.model.name)
        self.importer = importer
        self.model = importer.model
        self.subgraph = subgraph
        self.values: dict[int, Value] = {}
        self.folded: dict[int, Array] = {}
        self.types: dict[int, TensorType] = {}
        self.handles = dict(handles or {})
        self.is_initial = is_initial

    def function(self, name: str, inputs: Mapping[int, str], outputs: Mapping[int, str], is_private: bool) -> Operation:
        """Makes the function, and in it the operations of every operator."""
        tensors = self.subgraph.tensors
        for index in self.subgraph.inputs:
            if index not in self.handles:
                self.values[index] = self.block.add_argument(self._port_type(tensors[index]))
        made = self.open_function(self.importer.module, name)
        if is_private:
            made.attributes["sym_visibility"] = StringAttr("private")
        else:
            made.attributes["arg_attrs"] = self._port_names(self.subgraph.inputs, inputs)
            made.attributes["res_attrs"] = self._port_names(self.subgraph.outputs, outputs)
        self.walk()
        results = [self.value(tensors[index]) for index in self.subgraph.outputs if index not in self.handles]
        self.close_function(made, results)
        return made

    def _port_names(self, indices: Sequence[int], given: Mapping[int, str]) -> ArrayAttr:
        return port_names([given.get(index, self.names[index]) for index in indices])

    def _port_type(self, tensor: Tensor) -> TensorType:
        try:
            return self.type(tensor)
        except Refused as refused:
            raise ModelError(f"{self.model.name}: subgraph {self.subgraph.index}: {refused}") from None

    def walk(self) -> None:
        """Makes the operations of every operator."""
        for op in self.subgraph.operators:
            self._import(op)

    def _import(self, op: Operator) -> None:
        node = Node(self, op)
        function = find(op, [tensor for tensor in node.inputs if tensor is not None])
        try:
            if function is None:
                node.refuse(", ".join(dict.fromkeys(tensor.dtype for tensor in node.inputs if tensor is not None)))
            function(node)
        except Refused as refused:
            self.importer.refused[op.name, str(refused)] += 1
            for tensor in node.outputs:
                self.values[tensor.index] = Value(self._placeholder(tensor), None, 0)

    def _placeholder(self, tensor: Tensor) -> TensorType:
        """The type of a result that is not made, so that the walk goes on."""
        try:
            return self.declared(tensor)
        except Refused:
            return TensorType(tensor.shape, IntegerType(8))

    # -- tensors ----------------------------------------------------------------------------------------------------

    def known(self, tensor: Tensor) -> Array | None:
        """The elements of a tensor that is constant in the file, or whose value follows from constants."""
        found = self.folded.get(tensor.index)
        return tensor.data if found is None else found

    def type(self, tensor: Tensor) -> TensorType:
        """The type of a tensor: that of its value, or else the one that the file gives it."""
        value = self.values.get(tensor.index)
        if value is not None and isinstance(value.type, TensorType):
            return value.type
        return self.declared(tensor)

    def declared(self, tensor: Tensor) -> TensorType:
        """The type that the file gives a tensor. A dtype that has none is refused."""
        found = self.types.get(tensor.index)
        if found is None:
            try:
                found = self.types[tensor.index] = type_of(tensor)
            except ModelError as error:
                raise Refused(str(error)) from None
        return found

    def value(self, tensor: Tensor, op: Operator | None = None) -> Value:
        """The value of a tensor. A constant is made where an operator uses it first."""
        found = self.values.get(tensor.index)
        if found is None and tensor.is_variable and op is not None:
            return load(self, op, self.variable(tensor), self.type(tensor))
        if found is None:
            array = self.known(tensor)
            if array is None:
                where = f"{self.model.name}: subgraph {self.subgraph.index}" if op is None else self.place(op)
                raise ModelError(f"{where}: tensor {tensor.name!r} is read before it is written")
            found = self.values[tensor.index] = self.constant(array, self.type(tensor).element, op)
        return found

    def variable(self, tensor: Tensor) -> Variable:
        """The variable of an `is_variable` tensor."""
        return self.importer.state.tensor(self.subgraph.index, tensor, self.type(tensor))

    def handle(self, tensor: Tensor, op: Operator) -> Handle:
        """The variable that a resource stands for."""
        found = self.handles.get(tensor.index)
        if found is None:
            raise ModelError(f"{self.place(op)}: tensor {tensor.name!r} is no handle of a variable")
        return found

    # -- places -----------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Where an operator stands, as errors say it."""
        return f"{self.model.name}: subgraph {self.subgraph.index}, operator {op.index} {op.name}"

    def _lines(self) -> list[str]:
        return [self._line(op) for op in self.subgraph.operators]

    def _line(self, op: Operator) -> str:
        inputs = ", ".join("none" if index < 0 else self.names[index] for index in op.inputs)
        return f"{op.name}({inputs}) -> {', '.join(self.names[index] for index in op.outputs)}"

    @cached_property
    def names(self) -> list[str]:
        """The names of the tensors, each once. One that is empty or stands in the file before gets its index."""
        seen: set[str] = set()
        found = []
        for tensor in self.subgraph.tensors:
            name = tensor.name
            if not name or name in seen:
                name = f"{name}#{tensor.index}"
            seen.add(name)
            found.append(name)
        return found


def _by_tensor(names: Mapping[str, int]) -> dict[int, str]:
    return {index: name for name, index in names.items()}
