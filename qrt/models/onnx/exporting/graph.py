"""The graph of a model of ONNX while a function is written: nodes, tensors by name, constants, and the opset."""

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
"""The first with QuantizeLinear."""
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
"""The first opset in which an operator has the form that is written. Others are as old as the least opset."""


class Names:
    """Names, of which each is given once."""

    def __init__(self) -> None:
        self._given: dict[str, int] = {}

    def fresh(self, hint: str) -> str:
        """The hint, or else the hint with a number."""
        name = hint
        while name in self._given:
            self._given[hint] += 1
            name = f"{hint}_{self._given[hint]}"
        self._given[name] = 0
        return name


@dataclass
class NodeText:
    """A node as it will be written."""

    op_type: str
    name: str
    inputs: list[str]
    outputs: list[str]
    attributes: dict[str, Any] = field(default_factory=dict)


@dataclass
class Body:
    """A graph that a node holds: its inputs and outputs with their types and shapes."""

    inputs: list[tuple[str, str, tuple[int | None, ...]]]
    outputs: list[tuple[str, str, tuple[int | None, ...]]]
    nodes: list[NodeText]


class ExportGraph:
    """What a function becomes. ``opset`` is the one that is written for; ``needed`` is the least that has all forms."""

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

    def held(self, value: Value) -> ExportedValue:
        """What is known of a value."""
        found = self.values.get(value)
        if found is None:
            if not isinstance(value.type, TensorType) or value.type.shape is None:
                raise UnsupportedForm(f"a value of {value.type.shown()}")
            found = self.values[value] = ExportedValue(value.type)
        return found

    def result_hint(self, op: Operation, i: int) -> str:
        """The name that the program gives a result, or one made of the op's."""
        said = op.attributes.get(TENSOR)
        if said is not None:
            names = said.python
            name = names if isinstance(names, str) else names[i] if i < len(names) else ""
            if isinstance(name, str) and name:
                return name
        return op.name.rpartition(".")[2]

    def tensor(self, held: ExportedValue, order: Order, hint: str) -> str:
        """The tensor that holds a value in an order; one is made where there is none."""
        found = held.names.get(order)
        if found is not None:
            return found
        if held.array is not None:
            found = self.initializer(in_order(held.array, order), hint, held.data_type)
        else:
            found = self._transposed(held, order)
        held.names[order] = found
        return found

    def _transposed(self, held: ExportedValue, order: Order) -> str:
        """A tensor with its axes in another order."""
        source, name = next(((o, n) for o, n in held.names.items() if None not in o), (None, ""))
        if source is None:
            raise UnsupportedForm("a value that is not stored in a tensor")
        if None in order:
            raise UnsupportedForm("a computed operand with new axes")
        permutation = [source.index(axis) for axis in order]
        made = self.tensors.fresh(f"{name}/Transpose")
        node = self.nodes.fresh(f"{name}/Transpose")
        self.add("Transpose", node, [name], [made], {"perm": permutation})
        self.declare(made, held, order)
        self.entries.append(Entry(node, "", {}, [(name, source, held.type.element)], [(made, order, held.type)]))
        return made

    def declare(self, name: str, held: ExportedValue, order: Order) -> None:
        """Says the type of a tensor."""
        kind = held.data_type
        if kind is None:
            raise UnsupportedForm(f"elements of {held.type.element.shown()}")
        self.shapes[name] = kind, shape_in_order(held.shape, order)

    # -- constants --------------------------------------------------------------------------------------------------

    def initializer(self, array: Array, hint: str, data_type: str | None = None) -> str:
        """A tensor that the model holds. ``data_type`` is ONNX's, for types that NumPy has not."""
        name = self.tensors.fresh(hint)
        self.initializers[name] = np.ascontiguousarray(array).reshape(array.shape), data_type
        return name

    def shared(self, key: Any, array: Array, hint: str, data_type: str | None = None) -> str:
        """A constant that stands once for everything that has this key."""
        found = self._shared.get(key)
        if found is None:
            found = self._shared[key] = self.initializer(array, hint, data_type)
        return found

    # -- nodes ------------------------------------------------------------------------------------------------------

    def need(self, opset: int) -> None:
        """Says that a form needs an opset."""
        self.needed = max(self.needed, opset)

    def add(
        self,
        op_type: str,
        name: str,
        inputs: Sequence[str],
        outputs: Sequence[str],
        attributes: Mapping[str, Any] | None = None,
    ) -> None:
        """A new node at the end."""
        self.need(SINCE.get(op_type, 1))
        self.written.append(NodeText(op_type, name, list(inputs), list(outputs), dict(attributes or {})))

    @contextmanager
    def inner(self) -> Iterator[list[NodeText]]:
        """Within it new nodes go to a list of their own."""
        outer, self.written = self.written, []
        try:
            yield self.written
        finally:
            self.written = outer

    def rename_last(self, old: str, new: str) -> None:
        """Gives an output of the last nodes its name, which no other node reads yet."""
        for node in reversed(self.written):
            if old in node.outputs:
                node.outputs[node.outputs.index(old)] = new
                return
        raise AssertionError(f"{old} is not the output of a node")

    def rename(self, old: str, new: str) -> None:
        """Gives a tensor another name everywhere."""
        for node in self.written:
            node.inputs = [new if each == old else each for each in node.inputs]
            node.outputs = [new if each == old else each for each in node.outputs]
        for entry in self.entries:
            entry.operands = [each and (new if each[0] == old else each[0], *each[1:]) for each in entry.operands]
            entry.results = [(new if each[0] == old else each[0], *each[1:]) for each in entry.results]
        if old in self.shapes:
            self.shapes[new] = self.shapes.pop(old)
