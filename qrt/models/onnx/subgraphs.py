"""Nested graphs, such as the bodies of loops and branches, imported as private functions or inlined."""

from collections.abc import Sequence

from qrt.errors import plural
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
    """A nested graph during import: the graph in an attribute of a node, or a graph that replaces the node.

    Tensors that are known at import in the enclosing graph are constants of the nested graph too. Computed tensors of
    the enclosing graph that the nested graph reads are ``captured``.
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
        """Record that a tensor of the enclosing graph is a constant in this graph, so that it is not captured."""
        self.constants[name] = known
        self.captured = [other for other in self.captured if other != name]

    # -- as a function -----------------------------------------------------------------------------------------------

    def captures(self) -> list[Value]:
        """Return the captured values of the enclosing graph. A call passes them after all other operands."""
        return [self.outer.value(name, self.holder) for name in self.captured]

    def open(self, names: Sequence[str | None], types: Sequence[TensorType]) -> list[Value]:
        """Begin a private function with arguments of the given types, and return the arguments.

        Argument ``i`` is the value of the graph's tensor ``names[i]``. None stands for an argument that is no tensor of
        the graph. The captured values must be the last arguments.
        """
        arguments = [self.block.add_argument(kind) for kind in types]
        self.values.update({name: value for name, value in zip(names, arguments, strict=True) if name is not None})
        self.private_function = self.open_function(self.importer.module, self.importer.symbol(self.label))
        self.private_function.attributes["sym_visibility"] = StringAttr("private")
        return arguments

    def close(self, results: Sequence[Value]) -> FuncOp:
        """End the private function with the given results, and return the function."""
        self.close_function(self.private_function, results)
        assert isinstance(self.private_function, FuncOp)
        return self.private_function

    # -- inlined into the enclosing graph ------------------------------------------------------------------------------

    def inline(self) -> None:
        """Import the graph's operations into the enclosing graph, in place of the node that holds this graph."""
        self.block = self.outer.block
        for name in self.captured:
            self.values[name] = self.outer.value(name, self.holder)
            if name in self.outer.sizes:
                self.sizes[name] = self.outer.sizes[name]
        self.walk()

    def set_results(self) -> None:
        """Set the outputs of the node that holds this graph to the outputs of the graph, after `inline`."""
        names = [name for name in self.holder.outputs if name]
        if len(names) != len(self.graph.outputs):
            Node(self.outer, self.holder).fail(
                f"it must have {plural(len(self.graph.outputs), 'output')}, got {len(names)}"
            )
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
        """Return the values of the graph's outputs, with the element types of the file."""
        return [self.result(port) for port in self.graph.outputs]

    def walk(self) -> None:
        """Import every node of the graph. Raise `Unsupported` if a node that was imported so far is not supported."""
        super().walk()
        if self.importer.refused:
            raise Unsupported

    def required(self, name: str) -> Constant | None:
        """Return the constant of a tensor that an operator must know at import, or None: see `Graph.required`."""
        return self.outer.required(name) if name in self.captured else super().required(name)

    # -- places ------------------------------------------------------------------------------------------------------

    def place(self, op: Operator) -> str:
        """Return the position of an operator of this graph, or of the node that contains it, for error messages."""
        return self.outer.place(op) if op is self.holder else super().place(op)

    def location(self, op: Operator) -> Location:  # type: ignore[override]  # the protocol has less
        """Return the source location of an operator of this graph, or of the node that contains the graph."""
        return self.outer.location(op) if op is self.holder else super().location(op)
