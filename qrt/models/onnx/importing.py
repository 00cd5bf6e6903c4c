"""The import of an ONNX model as a program: the graph becomes a function, and each node one or more operations."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from qrt.errors import ModelError, shown
from qrt.ir import Module, Operation, Value
from qrt.ir.core.operations import garbage_uncollected
from qrt.models.importing import variables
from qrt.models.importing.graph import check_shapes, open_inputs_hint, port_names
from qrt.models.importing.node import UnsupportedForm
from qrt.models.onnx import model as description
from qrt.models.onnx.exported import Exported
from qrt.models.onnx.exporting.operation_metadata import State
from qrt.models.onnx.folding import Fold, Folding, Group, fold_report
from qrt.models.onnx.graph import Constant, Graph, ImportContext
from qrt.models.onnx.model import Model, ModelPort, Operator
from qrt.models.onnx.node import Node, clamped
from qrt.models.onnx.operators.operands import quantized_element
from qrt.models.onnx.read import read
from qrt.models.onnx.registry import OPERATORS, WIDENED
from qrt.models.onnx.types import HALF_FLOATS, dtype_of, element_of, plain_of, signless
from qrt.models.profiles import Profile
from qrt.types import TensorType, UniformType


def import_model(model: Model, profile: Profile, *, max_bytes: int = 2 << 30) -> Module:
    """Import a model as a program, with the arithmetic that a profile defines for its operators.

    Raises ModelError if the file is invalid, if a tensor takes more than ``max_bytes``, or if all constants computed at
    import together do. Unsupported forms of operators also raise a ModelError, which lists all of them.
    """
    return Importer(model, profile, max_bytes=max_bytes).run()


_CASTS = ("Cast", "CastLike", "QuantizeLinear", "DequantizeLinear", "BitCast")
_IN_BLOCKS = (
    "images in blocks of channels, which ONNX Runtime lays out for one CPU; save the optimized model with the level "
    "ORT_ENABLE_EXTENDED"
)
_MOVES = frozenset(
    {
        "Concat", "ConstantOfShape", "DepthToSpace", "Dropout", "Expand", "Flatten", "Gather", "GatherElements",
        "GatherND", "Identity", "Pad", "Reshape", "Shape", "Size", "Slice", "SpaceToDepth", "Split", "Squeeze", "Tile",
        "Transpose", "Unsqueeze",
    }
)  # fmt: skip
"""Operators that move elements without changing them."""


class Unsupported(Exception):
    """An error that ends the import of a nested graph. The unsupported node that causes it is recorded before."""


def import_file(
    file: Path, profile: Profile, max_bytes: int, shapes: Mapping[str, Sequence[int]]
) -> tuple[Module, str]:
    """Import a file, and return the program and the report of its folded operators.

    ``shapes`` has shapes of inputs by name. Raises ModelError if the file is invalid. Unsupported forms of operators
    also raise a ModelError, which lists all of them.
    """
    model = with_shapes(read(file, max_bytes=max_bytes), shapes)
    importer = Importer(model, profile, max_bytes=max_bytes)
    return importer.run(), fold_report(importer.folds)


def with_shapes(model: Model, shapes: Mapping[str, Sequence[int]]) -> Model:
    """Return a model whose inputs have the shapes that ``shapes`` gives by name.

    A named dimension, such as "batch", gets the given size in all inputs. Raises ModelError if a shape contradicts the
    file or another given shape.
    """
    if not shapes:
        return model
    inputs = model.graph.inputs
    check_shapes(model.name, shapes, {port.name: port.shape for port in inputs})
    sizes: dict[str, int] = {}
    for port in inputs:
        for axis, (own, given) in enumerate(zip(port.shape or (), shapes.get(port.name, ()), strict=False)):
            wanted = sizes.setdefault(own, given) if isinstance(own, str) else own
            if wanted not in (None, given):
                place = f"{model.name}: shapes: dimension {axis} of input {shown(port.name)}"
                raise ModelError(f"{place} must be {wanted}{f' ({own})' if isinstance(own, str) else ''}, got {given}")

    def resized(port: ModelPort) -> ModelPort:
        if port.name in shapes:
            return replace(port, shape=tuple(shapes[port.name]))
        if port.shape is None:
            return port
        return replace(port, shape=tuple(sizes.get(n, n) if isinstance(n, str) else n for n in port.shape))

    return replace(model, graph=replace(model.graph, inputs=tuple(map(resized, inputs))))


class Importer(ImportContext):
    """The import of a model, beginning with its main graph."""

    def run(self) -> Module:
        """Import the main graph as the function ``main``, and return the module."""
        with garbage_uncollected(), np.errstate(all="ignore"):  # scales far apart have infinite ratios
            self.main = FunctionGraph(self, self.model.graph)
            self.main.function("main")
        if self.refused:
            hint = open_inputs_hint((port.name, port.shape) for port in self.model.graph.inputs)
            raise self.refused.error(f"{self.model.name}: cannot import the model: qrt does not support", hint)
        return self.module


class FunctionGraph(Graph):
    """A graph whose nodes are imported one after the other into a function."""

    def __init__(
        self,
        importer: ImportContext,
        graph: description.ModelGraph,
        place: str | None = None,
        folding: Folding | None = None,
    ) -> None:
        super().__init__(importer, graph, place, folding)
        self.exported = Exported(self, importer.model.metadata if graph is importer.model.graph else {})

    def function(self, name: str) -> Operation:
        """Create the function ``name``, import every node into it, and return it."""
        for port in self.graph.inputs:
            self.values[port.name] = self.block.add_argument(self._port_type(port))
        function = self.open_function(self.importer.module, name)
        dimensions = [
            [size if isinstance(size, str) else "" for size in port.shape or ()] for port in self.graph.inputs
        ]
        function.attributes["arg_attrs"] = port_names([port.name for port in self.graph.inputs], dimensions)
        function.attributes["res_attrs"] = port_names([port.name for port in self.graph.outputs])
        states = self.importer.states if self.graph is self.importer.model.graph else ()
        for state in states:
            self._load(state)
        self.walk()
        if not self.importer.refused:
            results = [self.result(port) for port in self.graph.outputs]
            for state in states:
                variables.store(self, None, state.symbol, self._signless(self.result(state.output)))
            self.close_function(function, results)
        return function

    def _load(self, state: State) -> None:
        """Declare the variable that an input represents. The input's value in the program is a load of the variable."""
        initial = state.initial
        element = element_of(initial.dtype)
        variable_type = TensorType(initial.shape, signless(element))
        symbol = self.importer.symbol(state.symbol)
        if symbol != state.symbol:
            raise ModelError(
                f"{self.file}: the name of a variable must be the name of an MLIR symbol, which no function has, "
                f"got {shown(state.symbol)}"
            )
        variable = variables.declare(self.importer.module, symbol, variable_type)
        variables.initialise(variable, initial.data, variable_type)
        value = variables.load(self, None, symbol, variable_type)
        if variable_type.element is not element:
            value = self.append(None, "tensor.bitcast", [value], [variable_type.with_(element=element)], {}).result
        self.values[initial.name] = value

    def _signless(self, value: Value) -> Value:
        kind = value.type
        assert isinstance(kind, TensorType)
        element = signless(kind.element)
        if kind.element is element:
            return value
        return self.append(None, "tensor.bitcast", [value], [kind.with_(element=element)], {}).result

    def _port_type(self, port: ModelPort) -> TensorType:
        place = f"{self.file}: input {shown(port.name)}"
        if port.shape is None:
            raise ModelError(f"{place}: the file must declare the number of its dimensions, but does not")
        if 0 in port.shape:
            raise ModelError(f"{place}: every dimension of an input must be at least 1, got shape {port.shape}")
        shape = tuple(size if isinstance(size, int) else None for size in port.shape)
        return TensorType(shape, self.exported.port(port.name, element_of(port.dtype)))

    def result(self, port: ModelPort) -> Value:
        """Return the value of an output with the element type of the file.

        For a quantized value this is the storage, unless the metadata of an exported model gives the output a quantized
        type.
        """
        value = self.value(port.name)
        assert isinstance(value.type, TensorType)
        if port.dtype and value.type.element is self.exported.port(port.name, element_of(port.dtype)):
            return value
        value = self.plain(value)
        element = value.type.element if isinstance(value.type, TensorType) else None
        if port.dtype and element is not element_of(port.dtype):
            raise ModelError(
                f"{self.file}: the file declares output {shown(port.name)} with elements of {port.dtype}, but its "
                f"nodes compute {value.type}"
            )
        return value

    def walk(self) -> None:
        """Import every node of the graph. The nodes of a group that is folded become one operation."""
        self.constants.update(
            {name: Constant(tensor.data, element_of(tensor.dtype)) for name, tensor in self.folding.constants.items()}
        )
        apart = self._overlapping_nodes()
        for op in self.graph.operators:
            if self.exported.takes(op):
                continue
            group = self.folding.groups.get(op.index)
            if group is not None and op.index not in apart:
                self._import_group(group)
            elif op.index not in self.folding.inside or op.index in apart:
                self._import(op)
                if op.index in self.folding.reasons:
                    self._record(op, self.folding.reasons[op.index])

    def _overlapping_nodes(self) -> set[int]:
        """Return the indices of the nodes of all groups that are not folded because of the file's metadata.

        In an exported model, the metadata may name the operation of the program that a node computes. A group with such
        a node is not folded.
        """
        groups = [{part.index for part in group.parts} for group in self.folding.groups.values()]
        return {index for group in groups if group & self.exported.nodes for index in group}

    def _record(self, op: Operator, reason: str) -> None:
        self.importer.folds.append(Fold(op.label or op.outputs[0], op.type, reason))

    def _import_group(self, group: Group) -> None:
        """Import a group as one operation on quantized tensors, or node by node if that operation is not supported."""
        reason = ""
        try:
            self._fold(group)
            if self.graph is self.importer.model.graph:
                self.importer.groups.append(group)
        except (UnsupportedForm, ModelError) as error:
            reason = str(error).removeprefix(f"{self.place(group.folded)}: ")
            for part in group.parts:
                self._import(part)
        self._record(group.parts[0], reason)

    def _fold(self, group: Group) -> None:
        if not self.lost.isdisjoint(group.folded.inputs):
            raise UnsupportedForm("an operator before it is not supported")
        op = group.folded
        (output,) = op.outputs
        if group.within is not None:
            name = f"{output}#unclamped"
            while name in self.folding.makers or name in self.folding.uses:  # a tensor of the file may have the name
                name += "_"
            op = replace(op, outputs=(name,))
        node, function = Node(self, op), OPERATORS.get(op.key)
        if function is None:
            raise UnsupportedForm(f"the operator {op.name} is not supported")
        node.check_flags()
        function(node)
        last = Node(self, group.parts[-1])
        if last.op.key == "QuantizeLinear":
            self._require_storage(last, op.outputs[0])
        if group.within is not None:
            value = self.value(op.outputs[0], op)
            assert isinstance(value.type, TensorType)
            if not isinstance(value.type.element, UniformType):
                element = last.uniform(value.type.element, (), 1, 2)
                value = last.emit("quant.scast", [last.as_storage(value)], None, value.type.with_(element=element))
            last.set(0, clamped(last, value, *group.within))

    def _require_storage(self, quantize: Node, name: str) -> None:
        """Raise UnsupportedForm if the tensor ``name`` does not have the output type of the QuantizeLinear."""
        wanted, element = quantized_element(quantize), plain_of(self.type(name).element)
        if element is not wanted:
            raise UnsupportedForm(f"its result would have the type {dtype_of(element)}, not {dtype_of(wanted)}")

    def _import(self, op: Operator) -> None:
        """Import a node, or skip it if it reads a result of an unsupported node."""
        node = Node(self, op)
        if not op.outputs:
            node.fail("it must have at least one output, but has none")
        function = OPERATORS.get(op.key)
        try:
            if function is None:
                node.refuse(_IN_BLOCKS if op.domain == "com.microsoft.nchwc" else "unknown operator")
            if self.lost.isdisjoint(op.reads):
                node.check_flags()
                if self._is_widened(op):
                    WIDENED["float32"](node)
                else:
                    function(node)
                self._check_outputs(node)
                return
        except Unsupported:
            pass
        except UnsupportedForm as refused:
            self.importer.refused.add(op.name, str(refused), self.place(op).removeprefix(f"{self.file}: "))
        self.lost.update(filter(None, op.outputs))

    def _is_widened(self, op: Operator) -> bool:
        """Return True if the runtime computes a node with inputs of 16-bit floats in float32.

        Casts, QLinear operators and nodes with nested graphs are not computed in float32. An operator that only moves
        elements is computed in float32 if an input was already computed in float32.
        """
        if op.type in _CASTS or op.type.startswith("QLinear") or next(op.graphs, None) is not None:
            return False
        names = [name for name in op.inputs if name in self.values or name in self.constants]
        if not any(self.type(name).element in HALF_FLOATS for name in names):
            return False
        return op.type not in _MOVES or any(name in self.wide for name in names)

    def _check_outputs(self, node: Node) -> None:
        for i, name in enumerate(node.op.outputs):
            if name and name not in self.values and name not in self.constants:
                node.refuse(f"with output {i}")
