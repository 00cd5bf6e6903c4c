"""Graphs that stand in others, as bodies of loops and branches: each a private function, or nodes among those around
it.
"""

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
    """The graph that an attribute of a node holds, or another one in its place. What is known of the tensors around it
    is known in it.
    """

    def __init__(self, node: Node, attribute: str, graph: description.ModelGraph | None = None) -> None:
        self.holder = node.op
        self.around = node.graph
        found = node.required(attribute, description.ModelGraph) if graph is None else graph
        place = f"{self.around.place(node.op)}, {attribute}"
        super().__init__(self.around.importer, found, place, self.around.folding)
        self.label = f"{node.op.type.lower()}_{node.op.index}_{attribute}"
        reads = [name for name in found.reads if name not in self.around.lost]
        self.constants.update({name: self.around.constants[name] for name in reads if name in self.around.constants})
        self.captured = [name for name in reads if name not in self.constants]

    def learn(self, name: str, known: Constant) -> None:
        """Says what is known of a tensor around it."""
        self.constants[name] = known
        self.captured = [each for each in self.captured if each != name]

    # -- as a function -----------------------------------------------------------------------------------------------

    def captures(self) -> list[Value]:
        """The values around it that it reads: operands of a call, behind those of its inputs."""
        return [self.around.value(name, self.holder) for name in self.captured]

    def open(self, names: Sequence[str | None], types: Sequence[TensorType]) -> list[Value]:
        """Begins a private function. Its arguments, of which the last are what it captures; those with a name are the
        graph's tensors.
        """
        arguments = [self.block.add_argument(kind) for kind in types]
        self.values.update({name: value for name, value in zip(names, arguments, strict=True) if name is not None})
        self.made = self.open_function(self.importer.module, self.importer.symbol(self.label))
        self.made.attributes["sym_visibility"] = StringAttr("private")
        return arguments

    def close(self, results: Sequence[Value]) -> FuncOp:
        """Ends the function."""
        self.close_function(self.made, results)
        assert isinstance(self.made, FuncOp)
        return self.made

    # -- among the nodes around it -----------------------------------------------------------------------------------

    def inline(self) -> None:
        """Makes its operations where those of its node would stand."""
        self.block = self.around.block
        for name in self.captured:
            self.values[name] = self.around.value(name, self.holder)
            if name in self.around.sizes:
                self.sizes[name] = self.around.sizes[name]
        self.walk()

    def set_results(self) -> None:
        """Says what the outputs of its node are, if its operations stand where the node would."""
        names = [name for name in self.holder.outputs if name]
        if len(names) != len(self.graph.outputs):
            Node(self.around, self.holder).fail(f"it has {len(names)} outputs, expected {len(self.graph.outputs)}")
        for name, port in zip(names, self.graph.outputs, strict=True):
            node = Node(self.around, self.holder)
            i = self.holder.outputs.index(name)
            known = self.known(port.name)
            if known is not None:
                node.set_constant(i, *known)
                continue
            value = self.value(port.name)
            if port.name == name:
                self.around.values[name] = value
            else:
                node.set(i, value)
            if port.name in self.sizes:
                self.around.sizes[name] = self.sizes[port.name]

    def results(self) -> list[Value]:
        """Its outputs, as plain numbers."""
        return [self.result(port) for port in self.graph.outputs]

    def walk(self) -> None:
        """Makes the operations of every node. Raises `Unsupported` where one is refused."""
        super().walk()
        if self.importer.refused:
            raise Unsupported

    def required(self, name: str) -> Constant | None:
        """What is known of a tensor, or given for the input that it is."""
        return self.around.required(name) if name in self.captured else self.constants.get(name)

    # -- places ------------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Where an operator stands: one of this graph, or the one that holds it."""
        return self.around.place(op) if op is self.holder else super().place(op)

    def location(self, op: Operator) -> Location:  # type: ignore[override]  # the protocol has less
        """The location of an operator of this graph, or of the one that holds it."""
        return self.around.location(op) if op is self.holder else super().location(op)
