"""An ONNX graph under construction during export: its nodes, tensors, constants and opset."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qrt.ir import Operation, Value
from qrt.models.importing.graph import Refusals
from qrt.models.importing.node import TENSOR, UnsupportedForm
from qrt.models.onnx.exporting.exported_value import ExportedValue, Order, in_order, shape_in_order
from qrt.models.onnx.exporting.operation_metadata import Entry
from qrt.ops.core import Array
from qrt.types import TensorType

LEAST_OPSET = 10
"""The first opset with QuantizeLinear."""
SINCE = {
    "Add": 7,
    "And": 7,
    "ArgMax": 1,
    "AveragePool": 7,
    "Clip": 11,
    "DynamicQuantizeLinear": 11,
    "Equal": 11,
    "Gather": 1,
    "GatherND": 11,
    "Gelu": 20,
    "Greater": 9,
    "GreaterOrEqual": 12,
    "HardSwish": 14,
    "Less": 9,
    "LessOrEqual": 12,
    "Pad": 11,
    "Resize": 13,
    "Round": 11,
    "TopK": 11,
}
"""The first opset in which an operator has the exported form. Operators that are not listed are older than the least
opset."""


class Names:
    """A set of names for new nodes or tensors, each used once."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """Return an unused name and add it to the set: ``hint``, or if that is used, ``hint`` with a number."""
        name = hint
        while name in self._given:
            self._given[hint] += 1
            name = f"{hint}_{self._given[hint]}"
        self._given[name] = 0
        return name


@dataclass
class NodeText:
    """A node of an ONNX graph under construction."""

    op_type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Body:
    """A graph in an attribute of a node, such as the body of a Scan.

    An input or output is a tuple of a name, an ONNX element type such as "INT64", and a shape.
    """

    inputs: list[tuple[str, str, tuple[int | None, ...]]]
    outputs: list[tuple[str, str, tuple[int | None, ...]]]
    nodes: list[NodeText]


class ExportGraph:
    """The ONNX graph of a function during export.

    ``opset`` is the opset for which nodes are written, and ``needed`` the least opset that has all their operators.
    """

    def __init__(self, opset: int, ports: Sequence[str]) -> None:
        self.opset = opset
        self.needed = LEAST_OPSET
        self.nodes, self.tensors = Names(), Names()
        for name in ports:
            self.tensors.fresh(name)
        self.written: list[NodeText] = []
        self.initializers: dict[str, tuple[Array, str | None]] = {}
        self.entries: list[Entry] = []
        self.shapes: dict[str, tuple[str, tuple[int | None, ...]]] = {}
        self.values: dict[Value, ExportedValue] = {}
        self.refused = Refusals()
        self._shared: dict[Any, str] = {}

    # -- values -----------------------------------------------------------------------------------------------------

    def exported(self, value: Value) -> ExportedValue:
        """Return the record of a value during export: its type, the elements of a constant, and its tensors."""
        exported = self.values.get(value)
        if exported is None:
            if not isinstance(value.type, TensorType) or value.type.shape is None:
                raise UnsupportedForm(f"a value of {value.type.shown()}")
            exported = self.values[value] = ExportedValue(value.type)
        return exported

    def result_hint(self, op: Operation, i: int) -> str:
        """Return the name that the program gives the tensor of result ``i``, or else the operation's name."""
        attribute = op.attributes.get(TENSOR)
        if attribute is not None:
            names = attribute.python
            name = names if isinstance(names, str) else names[i] if i < len(names) else ""
            if isinstance(name, str) and name:
                return name
        return op.name.rpartition(".")[2]

    def tensor(self, exported: ExportedValue, order: Order, hint: str) -> str:
        """Return the name of a tensor with the value ``exported``, whose axes are in ``order``.

        If there is none, add it: as an initializer named ``hint`` for a constant, else as a Transpose.
        """
        name = exported.names.get(order)
        if name is not None:
            return name
        if exported.array is not None:
            name = self.initializer(in_order(exported.array, order), hint, exported.data_type)
        else:
            name = self._transposed(exported, order)
        exported.names[order] = name
        return name

    def _transposed(self, exported: ExportedValue, order: Order) -> str:
        """Add a Transpose of a value's tensor to the axes in ``order``, and return the name of its result."""
        source, name = next(((o, n) for o, n in exported.names.items() if None not in o), (None, ""))
        if source is None:
            raise UnsupportedForm("a value that is not stored in a tensor")
        if None in order:
            raise UnsupportedForm("a computed operand with new axes")
        permutation = [source.index(axis) for axis in order]
        transposed = self.tensors.fresh(f"{name}/Transpose")
        node = self.nodes.fresh(f"{name}/Transpose")
        self.add("Transpose", node, [name], [transposed], {"perm": permutation})
        self.declare(transposed, exported, order)
        self.entries.append(
            Entry(node, "", {}, [(name, source, exported.type.element)], [(transposed, order, exported.type)])
        )
        return transposed

    def declare(self, name: str, exported: ExportedValue, order: Order) -> None:
        """Declare the element type and the shape of the tensor ``name``, which has a value's axes in ``order``."""
        kind = exported.data_type
        if kind is None:
            raise UnsupportedForm(f"elements of {exported.type.element.shown()}")
        self.shapes[name] = kind, shape_in_order(exported.shape, order)

    # -- constants --------------------------------------------------------------------------------------------------

    def initializer(self, array: Array, hint: str, data_type: str | None = None) -> str:
        """Add an initializer and return its name. ``data_type`` is ONNX's element type, if NumPy lacks it."""
        name = self.tensors.fresh(hint)
        self.initializers[name] = np.ascontiguousarray(array).reshape(array.shape), data_type
        return name

    def shared(self, key: Any, array: Array, hint: str, data_type: str | None = None) -> str:
        """Return the name of the initializer for ``key``. The first call with the key adds it from ``array``."""
        name = self._shared.get(key)
        if name is None:
            name = self._shared[key] = self.initializer(array, hint, data_type)
        return name

    # -- nodes ------------------------------------------------------------------------------------------------------

    def need(self, opset: int) -> None:
        """Record that the graph needs at least this opset."""
        self.needed = max(self.needed, opset)

    def add(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """Append a node, and record the opset that its operator needs."""
        self.need(SINCE.get(op_type, 1))
        self.written.append(NodeText(op_type, name, list(inputs), list(outputs), dict(attributes or {})))

    @contextmanager
    def inner(self) -> Iterator[list[NodeText]]:
        """Collect the nodes of a nested graph: yield a list that receives the nodes added in the ``with`` block.

        The nodes are not added to this graph. The nested graph is an attribute of a node, such as the body of a Scan.
        """
        outer, self.written = self.written, []
        try:
            yield self.written
        finally:
            self.written = outer

    def rename_last(self, old: str, new: str) -> None:
        """Rename the output ``old`` of the node that computes it. No node may read the output yet."""
        for node in reversed(self.written):
            if old in node.outputs:
                node.outputs[node.outputs.index(old)] = new
                return
        raise AssertionError(f"{old} is not the output of a node")

    def rename(self, old: str, new: str) -> None:
        """Rename a tensor in all nodes, in the metadata and in the declarations."""
        for node in self.written:
            node.inputs = [new if name == old else name for name in node.inputs]
            node.outputs = [new if name == old else name for name in node.outputs]
        for entry in self.entries:
            entry.operands = [part and (new if part[0] == old else part[0], *part[1:]) for part in entry.operands]
            entry.results = [(new if part[0] == old else part[0], *part[1:]) for part in entry.results]
        if old in self.shapes:
            self.shapes[new] = self.shapes.pop(old)
