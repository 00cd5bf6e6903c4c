"""The import of the metadata that `qrt export` wrote into a model, which restores the operations of the program.

An entry of the metadata describes a group: the nodes that compute one operation. The entry is used only if the group's
nodes are unchanged, and no other node reads an intermediate tensor of the group. All other nodes are imported like
those of any model.
"""

import json
from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

import numpy as np

from qrt.errors import ModelError, QuantError, plural, shown
from qrt.ir import Value
from qrt.models.onnx.exporting.exported_value import Order, out_of_order
from qrt.models.onnx.exporting.neighbors import GraphNeighbors, bias_of
from qrt.models.onnx.exporting.operation_metadata import OP, PORT, VERSION, is_bias
from qrt.models.onnx.exporting.programs import inlined
from qrt.models.onnx.folding import CASTS, Fold
from qrt.models.onnx.graph import Graph
from qrt.models.onnx.model import Operator
from qrt.models.onnx.node import Node
from qrt.models.onnx.types import element_of, plain_of
from qrt.ops import family_named
from qrt.ops.core import element_dtype
from qrt.types import TensorType, Type, UniformType, parse_type

_MOST_INLINE = 1 << 16
"""The most elements of an operand that an entry itself contains, such as a table."""


@dataclass(frozen=True)
class _Tensor:
    """An operand or result in an entry of the metadata: a tensor of the graph, or the ``elements`` of a constant."""

    name: str
    order: Order | None
    type: Type | None
    elements: tuple[int, ...] | None = None

    def order_of(self, rank: int) -> Order:
        return tuple(range(rank)) if self.order is None else self.order


@dataclass(frozen=True)
class _Group:
    """An entry of the metadata whose nodes are unchanged since the export.

    ``nodes`` has the indices of its nodes, of which ``last`` is the greatest. ``then`` has the attributes of a
    `qrt.clamp` of the result, or is None.
    """

    key: str
    op: str
    attributes: Mapping[str, Any]
    operands: tuple[_Tensor, ...]
    results: tuple[_Tensor, ...]
    then: Mapping[str, Any] | None
    nodes: frozenset[int]
    last: int
    fold: Fold | None
    program: str | None = None


class Exported:
    """Importer of the groups of nodes that a graph's metadata describes.

    ``values`` has the values of imported tensors, by name and order of axes.
    """

    def __init__(self, graph: Graph, metadata: Mapping[str, str]) -> None:
        self.graph = graph
        self.metadata = metadata if metadata.get(VERSION) == "1" else {}
        self.neighbors = GraphNeighbors(graph.graph)
        self.values: dict[tuple[str, Order], Value] = {}

    def port(self, name: str, plain: Type) -> Type:
        """Return the element type of an input or output: the quantized type in the metadata, or else ``plain``."""
        text = self.metadata.get(f"{PORT}{name}")
        if text is None:
            return plain
        element = self._type(f"{PORT}{name}", text)
        if not isinstance(element, UniformType) or not element.is_storage_castable or plain_of(element) is not plain:
            self._fail(f"{PORT}{name}", f"{element.shown()} cannot be stored as {plain}")
        return element

    @cached_property
    def _by_node(self) -> dict[int, _Group]:
        groups: dict[int, _Group] = {}
        for key, text in self.metadata.items():
            if key.startswith(OP):
                group = self._group(key, text)
                if group is not None and not any(index in groups for index in group.nodes):
                    groups.update(dict.fromkeys(group.nodes, group))
        return groups

    @cached_property
    def _read_outside(self) -> frozenset[str]:
        """The names of the tensors that nodes outside of all groups read, and of the graph's outputs."""
        reads = {name for op in self.neighbors.graph.operators if op.index not in self._by_node for name in op.reads}
        return frozenset(reads | self._graph_results)

    @cached_property
    def _graph_results(self) -> frozenset[str]:
        """The names of the graph's outputs, including the outputs that have the next values of variables."""
        ports = (*self.neighbors.graph.outputs, *(state.output for state in self.graph.importer.states))
        return frozenset(port.name for port in ports)

    @property
    def nodes(self) -> Set[int]:
        """The indices of all nodes that belong to groups."""
        return self._by_node.keys()

    def takes(self, op: Operator) -> bool:
        """Return True if a node belongs to a group. If it is the group's last node, import the whole group first."""
        group = self._by_node.get(op.index) if self.metadata else None
        if group is None:
            return False
        if op.index == group.last:
            try:
                self._make(group, op)
            except QuantError as error:
                entry = f"{self.graph.file}: metadata {shown(group.key)}: "
                raise ModelError(entry + str(error).removeprefix(entry).removeprefix(f"{self.graph.file}: ")) from None
            if group.fold is not None:
                self.graph.importer.folds.append(group.fold)
        return True

    # -- reading entries --------------------------------------------------------------------------------------------

    def _group(self, key: str, text: str) -> _Group | None:
        """Parse an entry of the metadata. Return None if it does not match the graph.

        An entry does not match if its nodes have changed since the export, or if another node or a graph output uses
        one of their intermediate tensors.
        """
        try:
            entry = json.loads(text)
        except (ValueError, RecursionError):
            self._fail(key, "it must be JSON, but cannot be read as JSON")
        if not isinstance(entry, dict) or not isinstance(entry.get("op"), str):
            self._fail(key, "it must be an object with the name of an op ('op')")
        op, then = entry["op"], entry.get("then")
        if op and family_named(op) is None:
            self._fail(key, f"'op' must be the name of an op of qrt, got {shown(op)}")
        operands = tuple(self._tensor(key, tensor) for tensor in self._list(key, entry, "operands"))
        results = tuple(self._tensor(key, tensor) for tensor in self._list(key, entry, "results"))
        if any(tensor.elements is not None for tensor in results) or not results:
            self._fail(key, "'results' must be one or more tensors without elements")
        attributes = self._attributes(key, entry.get("attributes", {}))
        reads = [tensor.name for tensor in operands if tensor.elements is None]
        names = [tensor.name for tensor in results]
        nodes = self.neighbors.between(reads, names)
        if not nodes or self.neighbors.digest(reads, names) != entry.get("nodes"):
            return None
        inner = {name for node in nodes for name in node.outputs} - set(names)
        own_nodes = frozenset(node.index for node in nodes)
        if any(inner.intersection(op.reads) for op in self.neighbors.graph.operators if op.index not in own_nodes):
            return None
        if inner & self._graph_results:
            return None
        clamp = None if then is None else self._attributes(key, then)
        program = entry.get("program")
        if program is not None and not isinstance(program, str):
            self._fail(key, f"'program' must be text, got {shown(program)}")
        return _Group(
            key, op, attributes, operands, results, clamp, own_nodes, nodes[-1].index, _fold(key, nodes), program
        )

    def _list(self, key: str, entry: Mapping[str, Any], name: str) -> list[Any]:
        listed = entry.get(name)
        if not isinstance(listed, list):
            self._fail(key, f"'{name}' must be a list")
        return listed

    def _tensor(self, key: str, entry: Any) -> _Tensor:
        if not isinstance(entry, dict):
            self._fail(key, f"a tensor must be an object, got {shown(entry)}")
        order, elements, name, text = (entry.get(field) for field in ("order", "elements", "name", "type"))
        element = None if text is None else self._type(key, text)
        if elements is not None:
            if not isinstance(elements, list) or len(elements) > _MOST_INLINE or not all(map(_is_integer, elements)):
                self._fail(key, "'elements' of a tensor must be a list of integers")
            if not isinstance(element, UniformType):
                self._fail(key, "a tensor with 'elements' must have a quantized 'type'")
            return _Tensor("", None, element, tuple(elements))
        if not isinstance(name, str):
            self._fail(key, f"'name' of a tensor must be text, got {shown(name)}")
        if order is None:
            return _Tensor(name, None, element)
        axes: list[Any] = [axis for axis in order if axis is not None] if isinstance(order, list) else [None]
        if not all(map(_is_integer, axes)) or sorted(axes) != list(range(len(axes))):
            self._fail(key, f"'order' of a tensor must be a permutation of its axes, got {shown(order)}")
        return _Tensor(name, tuple(order), element)

    def _attributes(self, key: str, attributes: Any) -> dict[str, Any]:
        if not isinstance(attributes, dict):
            self._fail(key, f"'attributes' must be an object, got {shown(attributes)}")
        return {name: self._plain(key, value) for name, value in attributes.items()}

    def _plain(self, key: str, value: Any, depth: int = 0) -> Any:
        if isinstance(value, list) and depth < 2:
            return tuple(self._plain(key, element, depth + 1) for element in value)
        if not isinstance(value, str | float) and not _is_integer(value) and not isinstance(value, bool):
            self._fail(key, f"an attribute must be a number, text, or a list of these, got {shown(value)}")
        return value

    def _type(self, key: str, text: Any) -> Type:
        if not isinstance(text, str):
            self._fail(key, f"'type' of a tensor must be text, got {shown(text)}")
        try:
            return parse_type(text)
        except QuantError as error:
            self._fail(key, str(error))

    def _fail(self, key: str, message: str) -> NoReturn:
        raise ModelError(f"{self.graph.file}: metadata {shown(key)}: {message}")

    # -- making operations ------------------------------------------------------------------------------------------

    def _make(self, group: _Group, op: Operator) -> None:
        node = Node(self.graph, op)
        operands: list[Value] = []
        for i, tensor in enumerate(group.operands):
            operands.append(self._operand(node, group, tensor, i, operands))
        if group.program is not None:
            values = inlined(node, group.program, operands)
            if len(values) != len(group.results):
                count = plural(len(group.results), "result")
                self._fail(group.key, f"'program' must return {count}, got {len(values)}")
            for result, value in zip(group.results, values, strict=True):
                self._set(node, result, node.named(value, result.name))
            return
        if not group.op:
            if len(operands) != 1 or len(group.results) != 1:
                self._fail(group.key, "without an op, it must have one operand and one result")
            self._set(node, group.results[0], operands[0])
            return
        types = [self._result_type(group, result) for result in group.results]
        operation = node.make(group.op, operands, group.attributes, types)
        values = list(operation.results)
        if len(values) != len(group.results):
            count = plural(len(values), "tensor")
            self._fail(group.key, f"'results' must have {count}, the results of the op, got {len(group.results)}")
        if group.then is not None:
            values[0] = node.emit("qrt.clamp", values[:1], group.then)
        for result, value in zip(group.results, values, strict=True):
            self._set(node, result, node.named(value, result.name))

    def _operand(self, node: Node, group: _Group, tensor: _Tensor, i: int, before: Sequence[Value]) -> Value:
        if tensor.elements is not None:
            assert isinstance(tensor.type, UniformType)  # it was checked
            return self._table(node, group, tensor.elements, tensor.type)
        known = self.graph.known(tensor.name)
        if known is not None:
            rank = known.array.ndim
        elif tensor.name in self.graph.values:
            rank = self._rank(self.graph.values[tensor.name])
        else:
            rank = next((len(order) for name, order in self.values if name == tensor.name), -1)
        order = tensor.order_of(rank)
        if len(order) != rank:
            self._fail(
                group.key, f"order {list(order)} of tensor {shown(tensor.name)} must name each of its {rank} axes"
            )
        element = tensor.type or self.neighbors.implied(tensor.name, order)
        if element is None and is_bias(group.op, i):
            element = bias_of([value.type.element for value in before[:2] if isinstance(value.type, TensorType)])
        if known is not None:
            return node.dense(out_of_order(known.array, order), element or known.element)
        return self._cast(node, self._value(node, group, tensor.name, order), element)

    def _table(self, node: Node, group: _Group, elements: Sequence[int], element: UniformType) -> Value:
        least, greatest = element.default_bounds
        if not elements or min(elements) < least or max(elements) > greatest:
            self._fail(group.key, f"'elements' must be storage values of {element}, from {least} to {greatest}")
        return node.dense(np.array(elements, element_dtype(element)), element)

    def _value(self, node: Node, group: _Group, name: str, order: Order) -> Value:
        """Return the value of a tensor with its axes in the given order, transposed from another order if necessary."""
        existing = self.values.get((name, order))
        if existing is not None:
            return existing
        other, value = next(((axes, v) for (n, axes), v in self.values.items() if n == name), (None, None))
        if value is None:
            value = self.graph.values.get(name)
            if value is None:
                self._fail(group.key, f"tensor {shown(name)} must be computed before the op's last node, but is not")
            other = tuple(range(self._rank(value)))
        if other != order:
            if other is None or None in order or len(order) != len(other):
                self._fail(
                    group.key, f"order {list(order)} of tensor {shown(name)} must name each axis of {list(other or ())}"
                )
            permutation = [other[order.index(axis)] for axis in range(len(order))]
            value = node.emit("qrt.transpose", [value], {"permutation": permutation})
        self.values[name, order] = value
        return value

    def _rank(self, value: Value) -> int:
        return (value.type.rank or 0) if isinstance(value.type, TensorType) else 0

    def _cast(self, node: Node, value: Value, element: Type | None) -> Value:
        """Reinterpret a value's storage as a quantized type; without ``element``, return the storage itself."""
        kind = value.type
        assert isinstance(kind, TensorType)
        if kind.element is element:
            return value
        stored = node.as_storage(value)
        if element is None or (isinstance(stored.type, TensorType) and stored.type.element is element):
            return stored
        return node.emit("quant.scast", [stored], None, kind.with_(element=element))

    def _result_type(self, group: _Group, tensor: _Tensor) -> TensorType:
        graph = self.neighbors.graph
        port = next(
            (output for output in graph.outputs if output.name == tensor.name), graph.value_info.get(tensor.name)
        )
        if port is None or port.shape is None:
            self._fail(group.key, f"the file does not declare the shape of {shown(tensor.name)}")
        order = tensor.order_of(len(port.shape))
        if len(order) != len(port.shape):
            self._fail(
                group.key,
                f"order {list(order)} of tensor {shown(tensor.name)} must name each of its {len(port.shape)} axes",
            )
        sizes = {axis: size for axis, size in zip(order, port.shape, strict=True) if axis is not None}
        shape = tuple(size if isinstance(size := sizes[axis], int) else None for axis in range(len(sizes)))
        element = tensor.type or self.neighbors.implied(tensor.name, order) or element_of(port.dtype)
        return TensorType(shape, element)

    def _set(self, node: Node, tensor: _Tensor, value: Value) -> None:
        order = tensor.order_of(self._rank(value))
        self.values[tensor.name, order] = value
        if order == tuple(range(len(order))):
            self.graph.values[tensor.name] = value
        elif tensor.name in self._read_outside and None not in order:
            self.graph.values[tensor.name] = node.emit("qrt.transpose", [value], {"permutation": order})


def _fold(key: str, nodes: Sequence[Operator]) -> Fold | None:
    """Return the entry of a group in the report of folded operators.

    Return None if the group has no operator other than casts, or no cast.
    """
    operator = next((op for op in nodes if op.label == key.removeprefix(OP)), None)
    if operator is None or operator.type in CASTS or all(op.type not in CASTS for op in nodes):
        return None
    return Fold(operator.label, operator.type, "")


def _is_integer(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and -(1 << 63) <= value < 1 << 63
