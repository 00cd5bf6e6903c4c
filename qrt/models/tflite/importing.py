"""Import of a TFLite model as a program: each subgraph becomes a function."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qrt.errors import ModelError, shown
from qrt.ir import ArrayAttr, Module, Operation, StringAttr, Value
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.operations import garbage_uncollected
from qrt.models.importing.graph import Shape, check_shapes, open_inputs_hint, port_names
from qrt.models.importing.node import UnsupportedForm
from qrt.models.profiles import Profile
from qrt.models.tflite.check import PACKED
from qrt.models.tflite.graph import Graph, ImportContext
from qrt.models.tflite.model import Model, Operator, Signature, Tensor
from qrt.models.tflite.node import Node
from qrt.models.tflite.read import read
from qrt.models.tflite.registry import find
from qrt.models.tflite.restrictions import moves_complex_numbers, require_supported_tensors
from qrt.models.tflite.state import Handle
from qrt.types import IntegerType, TensorType


def import_model(
    model: Model, profile: Profile, *, max_bytes: int = 2 << 30, shapes: Mapping[str, Sequence[int]] | None = None
) -> Module:
    """Import a model by the rules of a profile and return the program.

    ``shapes`` has shapes of inputs, by the names of the program's arguments, that replace those in the file. Raise
    ModelError if the model is invalid, if a tensor takes more than ``max_bytes``, or if all results of operators
    together do. Unsupported operators also raise a ModelError, which lists all of them.
    """
    model = with_shapes(model, shapes or {})
    with garbage_uncollected(), np.errstate(all="ignore"):  # the ratio of very different scales is infinite
        return Importer(model, profile, max_bytes).run()


def import_file(
    file: Path, profile: Profile, max_bytes: int, shapes: Mapping[str, Sequence[int]]
) -> tuple[Module, str]:
    """Import a file and return the program and an empty report. Raise ModelError as `import_model` does."""
    return import_model(read(file, max_bytes=max_bytes), profile, max_bytes=max_bytes, shapes=shapes), ""


def with_shapes(model: Model, shapes: Mapping[str, Sequence[int]]) -> Model:
    """Return a model whose inputs have the given ``shapes``, by the names of the program's arguments.

    The name of an argument is that of the input in its signature, or that of the tensor if there is no signature.
    """
    if not shapes:
        return model
    signatures = model.signatures or (Signature("main", 0, {}, {}),)
    named = {
        (signature.subgraph, index): _by_tensor(signature.inputs).get(index, tensors[index].name)
        for signature in signatures
        for tensors in [model.subgraphs[signature.subgraph].tensors]
        for index in model.subgraphs[signature.subgraph].inputs
    }
    ports = {name: model.subgraphs[graph].tensors[index].signature for (graph, index), name in named.items()}
    check_shapes(model.name, shapes, ports)
    subgraphs = list(model.subgraphs)
    for (graph, index), name in named.items():
        if name in shapes:
            shape, tensors = tuple(shapes[name]), list(subgraphs[graph].tensors)
            tensors[index] = replace(tensors[index], shape=shape, signature=shape)
            subgraphs[graph] = replace(subgraphs[graph], tensors=tuple(tensors))
    return replace(model, subgraphs=tuple(subgraphs))


class Importer(ImportContext):
    """The import of one model.

    ``private`` has the functions already created for subgraphs that operators call. ``initial`` has the subgraphs of
    CALL_ONCE that were already evaluated.
    """

    def __init__(self, model: Model, profile: Profile, max_bytes: int = 2 << 30) -> None:
        super().__init__(model, profile, max_bytes)
        self.private: dict[tuple[int, tuple[Handle, ...]], FuncOp] = {}
        self.initial: set[int] = set()

    def run(self) -> Module:
        """Import the model and return its module.

        The module has a public function for each signature, or only ``main`` if there is at most one signature.
        """
        signatures = self.model.signatures
        if len(signatures) > 1:
            for signature in signatures:
                names = _by_tensor(signature.inputs), _by_tensor(signature.outputs)
                self.function(signature.key, signature.subgraph, *names)
        else:
            index = signatures[0].subgraph if signatures else 0
            inputs, outputs = (signatures[0].inputs, signatures[0].outputs) if signatures else ({}, {})
            self.function("main", index, _by_tensor(inputs), _by_tensor(outputs))
        if self.refused:
            ports = [port for operation in self.module.functions for port in _ports(operation)]
            failure = f"{self.model.name}: cannot import the model: qrt does not support"
            raise self.refused.error(failure, open_inputs_hint(ports))
        if (unset := self.state.unset()) is not None:
            raise ModelError(
                f"{unset.reader}: it reads variable {shown(unset.name)}, to which no operator assigns a value"
            )
        return self.module

    def subgraph_function(self, index: int, handles: Mapping[int, Handle]) -> FuncOp:
        key = index, tuple(handles.values())
        if key not in self.private:
            name = self.state.symbol(f"subgraph_{index}")
            graph = _FunctionGraph(self, self.model.subgraphs[index], handles)
            function = graph.function(name, {}, {}, is_private=True)
            assert isinstance(function, FuncOp)
            self.private[key] = function
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
        """Add a public function that computes a subgraph and return it.

        ``inputs`` and ``outputs`` map tensor indices to names of arguments and results. Without an entry, an argument
        or result gets the name of its tensor.
        """
        graph = _FunctionGraph(self, self.model.subgraphs[index])
        return graph.function(name, inputs or {}, outputs or {}, is_private=False)


class _FunctionGraph(Graph):
    """A subgraph that is imported as a function."""

    def function(self, name: str, inputs: Mapping[int, str], outputs: Mapping[int, str], is_private: bool) -> Operation:
        """Add the function to the module, with the operations of all operators of the subgraph, and return it.

        ``inputs`` and ``outputs`` map tensor indices to names of arguments and results.
        """
        tensors = self.subgraph.tensors
        for index in self.subgraph.inputs:
            if index not in self.handles:
                self.values[index] = self.block.add_argument(self._port_type(tensors[index]))
        function = self.open_function(self.importer.module, name)
        if is_private:
            function.attributes["sym_visibility"] = StringAttr("private")
        else:
            function.attributes["arg_attrs"] = self._port_names(self.subgraph.inputs, inputs)
            function.attributes["res_attrs"] = self._port_names(self.subgraph.outputs, outputs)
        self.walk()
        for index in () if self.importer.refused else self.subgraph.outputs:
            self._check_port(tensors[index])
        results = [self.value(tensors[index]) for index in self.subgraph.outputs if index not in self.handles]
        self.close_function(function, results)
        return function

    def _port_names(self, indices: Sequence[int], given: Mapping[int, str]) -> ArrayAttr:
        return port_names([given.get(index, self.names[index]) for index in indices])

    def _check_port(self, tensor: Tensor) -> None:
        """Raise ModelError if an argument or a result of a function is complex, or of integers of less than 8 bits."""
        if tensor.dtype.startswith("complex") or tensor.dtype in PACKED:
            place = f"{self.model.name}: subgraph {self.subgraph.index}"
            raise ModelError(
                f"{place}: tensor {shown(tensor.name)} is of {tensor.dtype}, which only operators inside can pass on"
            )

    def _port_type(self, tensor: Tensor) -> TensorType:
        self._check_port(tensor)
        try:
            return self.type(tensor)
        except UnsupportedForm as refused:
            raise ModelError(f"{self.model.name}: subgraph {self.subgraph.index}: {refused}") from None

    def walk(self) -> None:
        """Import all operators of the subgraph, in order."""
        for op in self.subgraph.operators:
            self._import(op)

    def _import(self, op: Operator) -> None:
        node = Node(self, op)
        function = find(op, [tensor for tensor in node.inputs if tensor is not None])
        try:
            require_supported_tensors(node)
            if function is None:
                node.refuse(_reason(node))
            if moves_complex_numbers(node):
                _move_imaginary(node, function)
            function(node)
        except UnsupportedForm as refused:
            place = self.place(op).removeprefix(f"{self.model.name}: ")
            self.importer.refused.add(op.name, str(refused), place)
            for tensor in node.outputs:
                self.values[tensor.index] = self.imaginary[tensor.index] = Value(self._placeholder(tensor), None, 0)

    def _placeholder(self, tensor: Tensor) -> TensorType:
        """Return a type for the result of an unsupported operator, so that the import can find further errors."""
        try:
            return self.declared(tensor)
        except UnsupportedForm:
            return TensorType(tensor.shape, IntegerType(8))


def _reason(node: Node) -> str:
    """Return why no function imports an operator: "a custom operator", or the dtypes of its inputs."""
    if node.op.is_custom and node.op.name.startswith("Flex"):
        return "of TensorFlow, for LiteRT's Flex delegate; models of tf.lite.OpsSet.TFLITE_BUILTINS alone have none"
    if node.op.is_custom:
        return "a custom operator"
    return ", ".join(dict.fromkeys(tensor.dtype for tensor in node.inputs if tensor is not None))


def _move_imaginary(node: Node, function: Callable[[Node], None]) -> None:
    """Import a complex operator once more, with the imaginary parts of its input in place of the real parts."""
    graph, source, result = node.graph, node.input(0).index, node.outputs[0].index
    real, graph.values[source] = graph.values[source], graph.imaginary[source]
    function(node)
    graph.imaginary[result] = graph.values[result]
    graph.values[source] = real


def _ports(function: FuncOp) -> list[tuple[str, Shape | None]]:
    """Return the names and shapes of a public function's arguments, or an empty list for a private function."""
    if "arg_attrs" not in function.attributes:
        return []
    arguments = function.regions[0].blocks[0].arguments
    names = [entry["qrt.name"] for entry in function.attributes["arg_attrs"].python]
    shapes = [value.type.shape if isinstance(value.type, TensorType) else None for value in arguments]
    return list(zip(names, shapes, strict=False))


def _by_tensor(names: Mapping[str, int]) -> dict[int, str]:
    return {index: name for name, index in names.items()}
