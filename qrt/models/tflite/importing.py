"""The walk over a model of TFLite that makes a program of it: each function a graph, each operator a node."""

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from qrt.errors import ModelError, shown
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.operations import garbage_uncollected
from qrt.models.importing.graph import port_names
from qrt.models.importing.node import UnsupportedForm
from qrt.models.profiles import Profile
from qrt.models.tflite.graph import Graph, ImportContext
from qrt.models.tflite.model import Model, Operator, Tensor
from qrt.models.tflite.node import Node
from qrt.models.tflite.read import read
from qrt.models.tflite.registry import find
from qrt.models.tflite.state import Handle
from qrt.types import IntegerType, TensorType


def import_model(model: Model, profile: Profile) -> Module:
    """The program of a model, with the rules that a profile has for its operators.

    Raises ModelError where the file is wrong, or holds what is not supported: one error lists all of that.
    """
    with garbage_uncollected(), np.errstate(all="ignore"):  # scales far apart have infinite ratios
        return Importer(model, profile).run()


def import_file(file: Path, profile: Profile, max_bytes: int) -> tuple[Module, str]:
    """Return the program of a file, of which there is nothing to report. Raise ModelError as `import_model` does."""
    return import_model(read(file, max_bytes=max_bytes), profile), ""


class Importer(ImportContext):
    """A model that is imported: its module, and the functions that are made already."""

    def __init__(self, model: Model, profile: Profile) -> None:
        super().__init__(model, profile)
        self.private: dict[tuple[int, tuple[Handle, ...]], FuncOp] = {}
        self.initial: set[int] = set()

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
            raise self.refused.error(f"{self.model.name}: cannot import the model: qrt does not support")
        if (unset := self.state.unset()) is not None:
            raise ModelError(f"{unset.reader}: it reads variable {shown(unset.name)}, which no operator sets")
        return self.module

    def subgraph_function(self, index: int, handles: Mapping[int, Handle]) -> FuncOp:
        key = index, tuple(handles.values())
        if key not in self.private:
            name = self.state.symbol(f"subgraph_{index}")
            made = _FunctionGraph(self, self.model.subgraphs[index], handles).function(name, {}, {}, is_private=True)
            assert isinstance(made, FuncOp)
            self.private[key] = made
        return self.private[key]

    def initialise(self, index: int) -> None:
        if index not in self.initial:
            self.initial.add(index)
            _FunctionGraph(self, self.model.subgraphs[index], is_initial=True).walk()

    def function(
        self,
        name: str,
        index: int,
        inputs: Mapping[int, str] | None = None,
        outputs: Mapping[int, str] | None = None,
    ) -> Operation:
        """A function that computes a subgraph. Its ports have the names that are given by tensor, or the tensors'."""
        graph = _FunctionGraph(self, self.model.subgraphs[index])
        return graph.function(name, inputs or {}, outputs or {}, is_private=False)


class _FunctionGraph(Graph):
    """A subgraph that becomes a function, by a walk over its operators."""

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
        except UnsupportedForm as refused:
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
        except UnsupportedForm as refused:
            place = self.place(op).removeprefix(f"{self.model.name}: ")
            self.importer.refused.add(op.name, str(refused), place)
            for tensor in node.outputs:
                self.values[tensor.index] = Value(self._placeholder(tensor), None, 0)

    def _placeholder(self, tensor: Tensor) -> TensorType:
        """The type of a result that is not made, so that the walk goes on."""
        try:
            return self.declared(tensor)
        except UnsupportedForm:
            return TensorType(tensor.shape, IntegerType(8))


def _by_tensor(names: Mapping[str, int]) -> dict[int, str]:
    return {index: name for name, index in names.items()}
