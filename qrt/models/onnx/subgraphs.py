"""Nested graphs, such as the bodies of loops and branches: private functions, or nodes of the enclosing graph."""

from collections.abc import Sequence

from qrt.ir import StringAttr, Value
from qrt.ir.core.functions import FuncOp
from qrt.models.onnx import model as description
from qrt.models.onnx.graph import Constant
from qrt.models.onnx.importing import FunctionGraph, Unsupported
from qrt.models.onnx.model import Operator
from qrt.models.onnx.node import Node
from qrt.types import TensorType
from qrt.types.scanner import Location


class Subgraph(FunctionGraph):
    """The graph in an attribute of a node, or another graph in its place.

    Tensors that are known in the enclosing graph are known in it.
    """

    def __init__(self, node: Node, attribute: str, graph: description.ModelGraph | None = None) -> None:
        self.holder = node.op
        self.outer = node.graph
        nested = node.required(attribute, description.ModelGraph) if graph is None else graph
        place = f"{self.outer.place(node.op)}, {attribute}"
        super().__init__(self.outer.importer, nested, place, self.outer.folding)
        self.label = f"{node.op.type.lower()}_{node.op.index}_{attribute}"
        reads = [name for name in nested.reads if name not in self.outer.lost]
        self.constants.update({name: self.outer.constants[name] for name in reads if name in self.outer.constants})
        self.captured = [name for name in reads if name not in self.constants]

    def learn(self, name: str, known: Constant) -> None:
        """Record that a tensor of the enclosing graph is constant here."""
        self.constants[name] = known
        self.captured = [other for other in self.captured if other != name]

    # -- as a function -----------------------------------------------------------------------------------------------

    def captures(self) -> list[Value]:
        """Return the captured values of the enclosing graph: in a call, they follow the operands for its inputs."""
        return [self.outer.value(name, self.holder) for name in self.captured]

    def open(self, names: Sequence[str | None], types: Sequence[TensorType]) -> list[Value]:
        """Open a private function, and return its arguments, the last of which are the captured values.

        An argument with a name is the tensor of that name in the graph.
        """
        arguments = [self.block.add_argument(kind) for kind in types]
        self.values.update({name: value for name, value in zip(names, arguments, strict=True) if name is not None})
        self.private_function = self.open_function(self.importer.module, self.importer.symbol(self.label))
        self.private_function.attributes["sym_visibility"] = StringAttr("private")
        return arguments

    def close(self, results: Sequence[Value]) -> FuncOp:
        """Close the private function and return it."""
        self.close_function(self.private_function, results)
        assert isinstance(self.private_function, FuncOp)
        return self.private_function

    # -- inlined into the enclosing graph ------------------------------------------------------------------------------

    def inline(self) -> None:
        """Import its operations in place of its node."""
        self.block = self.outer.block
        for name in self.captured:
            self.values[name] = self.outer.value(name, self.holder)
            if name in self.outer.sizes:
                self.sizes[name] = self.outer.sizes[name]
        self.walk()

    def set_results(self) -> None:
        """Set the outputs of its node, after `inline`."""
        names = [name for name in self.holder.outputs if name]
        if len(names) != len(self.graph.outputs):
            Node(self.outer, self.holder).fail(f"it has {len(names)} outputs, expected {len(self.graph.outputs)}")
        for name, port in zip(names, self.graph.outputs, strict=True):
            node = Node(self.outer, self.holder)
            i = self.holder.outputs.index(name)
            known = self.known(port.name)
            if known is not None:
                node.set_constant(i, *known)
                continue
            value = self.value(port.name)
            if port.name == name:
                self.outer.values[name] = value
            else:
                node.set(i, value)
            if port.name in self.sizes:
                self.outer.sizes[name] = self.sizes[port.name]

    def results(self) -> list[Value]:
        """Return its outputs in the file's types."""
        return [self.result(port) for port in self.graph.outputs]

    def walk(self) -> None:
        """Import every node. Raise `Unsupported` if one is refused."""
        super().walk()
        if self.importer.refused:
            raise Unsupported

    def required(self, name: str) -> Constant | None:
        """Return a tensor that must be known at import: see `Graph.required`."""
        return self.outer.required(name) if name in self.captured else self.constants.get(name)

    # -- places ------------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Return the position of an operator of this graph, or of the node that holds it."""
        return self.outer.place(op) if op is self.holder else super().place(op)

    def location(self, op: Operator) -> Location:  # type: ignore[override]  # the protocol has less
        """Return the location of an operator of this graph, or of the node that holds it."""
        return self.outer.location(op) if op is self.holder else super().location(op)
