"""Composite operators, imported as graphs of simpler operators."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.errors import shown
from qrt.ir import Value
from qrt.models.onnx.model import ABSENT, ModelGraph, ModelPort, Operator, Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.subgraphs import Subgraph
from qrt.models.onnx.types import dtype_of, element_of
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType

_F32 = FloatType("f32")
OPSET = 21
"""The opset of the operators in these graphs."""


class ComposedGraph:
    """An ONNX graph that is built operator by operator, and then imported in place of a composite operator.

    Methods take and return the names of tensors. Operators may read the tensors that the composite node reads, and
    those that were added to this graph. The names of added tensors begin with ``prefix``.
    """

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix
        self.operators: list[Operator] = []
        self.constants: dict[str, Tensor] = {}
        self.count = 0

    def name(self) -> str:
        """Return a new tensor name."""
        self.count += 1
        return f"{self.prefix}/{self.count}"

    def constant(self, array: Any, dtype: Any = np.float32) -> str:
        """Add a constant tensor, of float32 by default, and return its name."""
        values: Array = np.asarray(array, dtype)
        signedness: Any = "unsigned" if values.dtype.kind == "u" else "signless"
        is_float = values.dtype == np.float32
        element = FloatType("f32") if is_float else IntegerType(8 * values.dtype.itemsize, signedness)
        tensor = Tensor(self.name(), dtype_of(element), values.shape, values)
        assert element_of(tensor.dtype) is element
        self.constants[tensor.name] = tensor
        return tensor.name

    def integers(self, *numbers: int) -> str:
        """Add a list of int64, such as a shape or axes, as a constant tensor, and return its name."""
        return self.constant(numbers, np.int64)

    def add(
        self, type: str, *inputs: str, domain: str = "", outputs: int = 1, opset: int = OPSET, **attributes: Any
    ) -> Any:
        """Add an operator, and return the name of its result, or with several ``outputs`` the list of their names."""
        names = tuple(self.name() for _ in range(outputs))
        opset = 1 if domain else opset
        self.operators.append(Operator(len(self.operators), domain, type, "", inputs, names, attributes, opset))
        return names[0] if outputs == 1 else list(names)

    def graph(self, inputs: tuple[str, ...], outputs: tuple[str, ...]) -> ModelGraph:
        """Return the operators added so far as a graph, with the named tensors as its inputs and outputs."""
        ports = [tuple(ModelPort(name, "", None) for name in side) for side in (inputs, outputs)]
        return ModelGraph(self.prefix, ports[0], ports[1], tuple(self.operators), self.constants)

    def replace(self, node: Node, *results: str) -> None:
        """Import the graph in place of a node, with the tensors ``results`` as the node's outputs."""
        wanted = [name for name, output in zip(results, node.op.outputs, strict=False) if output != ABSENT]
        graph = Subgraph(node, "definition", self.graph((), tuple(wanted)))
        graph.inline()
        graph.set_results()

    def values(self, node: Node, *results: str) -> list[Value]:
        """Import the graph before the rest of a node's import, and return the values of the tensors ``results``."""
        graph = Subgraph(node, "definition", self.graph((), results))
        graph.inline()
        return graph.results()


def composed(node: Node) -> ComposedGraph:
    """Return an empty graph to replace a node.

    Tensors that are added to the graph get names that differ from those of all tensors that the node reads.
    """
    prefix = next(filter(None, node.op.outputs), node.op.type)
    while any(name.startswith(f"{prefix}/") for name in node.op.inputs):
        prefix += "_"
    return ComposedGraph(prefix)


# -- operands of the composite operator --------------------------------------------------------------------------------


def require_floats(node: Node, *inputs: int) -> None:
    """Raise UnsupportedForm if an input with one of the indices ``inputs`` is not of float32."""
    for i in inputs:
        if node.has(i) and node.plain(i) is not _F32:
            node.refuse(f"of {node.dtype(i)}")


def input_names(node: Node, count: int, *optional: int) -> Sequence[str]:
    """Return the names of the node's inputs. Raise ModelError if there are more than ``count``, or one is missing.

    ``optional`` has the indices of inputs that may be missing.
    """
    names = node.op.inputs
    least = count if not optional else max(set(range(count)) - set(optional)) + 1
    if not least <= len(names) <= count or not all(name or i in optional for i, name in enumerate(names)):
        node.fail(
            f"it must have {f'{least} to ' * (least < count)}{count} inputs, the required ones with names, got "
            f"{shown(list(names))}"
        )
    return names


def static_sizes(node: Node, i: int, *known: int) -> tuple[int, ...]:
    """Return the shape of input ``i``, with 0 for each size that is known only at run time.

    The sizes of the axes ``known`` must be known at import. Otherwise raise UnsupportedForm.
    """
    shape = node.shape(i)
    if any(axis >= len(shape) or shape[axis] is None for axis in known):
        node.refuse(f"input {i} of shape {list(shape)}")
    return tuple(size or 0 for size in shape)
