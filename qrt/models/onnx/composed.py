"""An operator as a graph of others, which stands in its place."""

from typing import Any

import numpy as np

from qrt.models.onnx.model import ABSENT, ModelGraph, ModelPort, Operator, Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.subgraphs import Subgraph
from qrt.models.onnx.types import dtype_of, element_of
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType

OPSET = 21
"""The version of the operators that are used."""


class ComposedGraph:
    """A graph that is made from the first operator to the last. Tensors are names: those that the node reads, and those
    that come from here. ``prefix`` begins the names of the graph.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.operators: list[Operator] = []
        self.constants: dict[str, Tensor] = {}
        self.count = 0

    def name(self) -> str:
        """A name that nothing has."""
        self.count += 1
        return f"{self.prefix}/{self.count}"

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """A tensor that is known."""
        held: Array = np.asarray(array, dtype)
        element = FloatType("f32") if held.dtype == np.float32 else IntegerType(8 * held.dtype.itemsize)
        made = Tensor(self.name(), dtype_of(element), held.shape, held)
        assert element_of(made.dtype) is element
        self.constants[made.name] = made
        return made.name

    def integers(self, *numbers: int) -> str:
        """Known integers, as shapes and axes are."""
        return self.constant(numbers, np.int64)

    def add(self, type: str, *inputs: str, domain: str = "", outputs: int = 1, opset: int = OPSET, **more: Any) -> Any:
        """The result of an operator; a list where it has several."""
        names = tuple(self.name() for _ in range(outputs))
        opset = 1 if domain else opset
        self.operators.append(Operator(len(self.operators), domain, type, "", inputs, names, more, opset))
        return names[0] if outputs == 1 else list(names)

    def graph(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> ModelGraph:
        """The graph."""
        ports = [tuple(ModelPort(name, "", None) for name in side) for side in (inputs, outputs)]
        return ModelGraph(self.prefix, ports[0], ports[1], tuple(self.operators), self.constants)

    def replace(self, node: Node, *results: str) -> None:
        """Makes the operations where those of a node would stand; its outputs are these tensors."""
        wanted = [name for name, output in zip(results, node.op.outputs, strict=False) if output != ABSENT]
        graph = Subgraph(node, "definition", self.graph((), tuple(wanted)))
        graph.inline()
        graph.set_results()


def composed(node: Node) -> ComposedGraph:
    """A graph that shall stand for a node. No tensor that the node reads has a name of the graph."""
    prefix = next(filter(None, node.op.outputs), node.op.type)
    while any(name.startswith(f"{prefix}/") for name in node.op.inputs):
        prefix += "_"
    return ComposedGraph(prefix)
