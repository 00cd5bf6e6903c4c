"""Gather and scatter of tensors whose sizes are known only at run time.

All positions are converted to positions in a flat tensor.
"""

from functools import reduce
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.importing.node import index
from qrt.models.importing.unquantized import BOOL, apply, as_value, number_of
from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.arithmetic import form
from qrt.models.onnx.operators.operands import in_shape
from qrt.models.onnx.types import signless
from qrt.ops.scatter import REDUCTIONS, is_number
from qrt.types import IntegerType

_OF_BOOLS = {"add": "max", "mul": "min", "max": "max", "min": "min"}
"""The reductions of numbers from 0 to 1 that are the reductions of bools."""
_OUTSIDE = -(2**62)
"""A position that is out of range in any tensor, so that the run raises an error."""


def has_open_sizes(node: Node) -> bool:
    """Return True if one of the node's tensors has a size that is known only at run time."""
    return any(None in node.shape(i) for i in range(len(node.op.inputs)) if node.has(i))


def check_types(node: Node) -> None:
    """Raise ModelError unless the updates of a scatter have the type of the data."""
    if node.plain(0) is not node.plain(2):
        node.fail(f"the updates must have the type of the input, {node.dtype(0)}, got {node.dtype(2)}")


def has_scatter_nd(node: Node) -> bool:
    """Return True if `qrt.scatter_nd` supports the node's reduction for its element type."""
    reduction, element = node.attribute("reduction", "none"), signless(node.plain(0))
    return reduction == "none" or (reduction in REDUCTIONS and is_number(element))


def combines_bools(node: Node) -> bool:
    """Return True if a scatter combines bools."""
    return node.plain(0) is BOOL and node.attribute("reduction", "none") in _OF_BOOLS


def scatter_bools(node: Node) -> None:
    """Import a scatter that combines bools as one that takes extremes of uint8."""
    check_types(node)
    graph = composed(node)
    x, updates = (graph.add("Cast", node.input(i), to=2) for i in (0, 2))
    axis: dict[str, Any] = {"axis": node.attribute("axis", 0)} if node.op.type != "ScatterND" else {}
    reduction = _OF_BOOLS[node.attribute("reduction", "none")]
    combined = graph.add(node.op.type, x, node.input(1), updates, reduction=reduction, **axis)
    graph.replace(node, graph.add("Cast", combined, to=9))


def scattered(node: Node, x: Value, rows: Value, updates: Value) -> Value:
    """Add a `qrt.scatter_nd` with the node's reduction, and return its result.

    It compares signed integers: for extremes of unsigned ones, the highest bit is inverted before and after it.
    """
    reduction, element = node.attribute("reduction", "none"), signless(node.plain(0))
    inverts = reduction in ("max", "min") and form(node.plain(0)) == 1

    def inverted(value: Value) -> Value:
        if not inverts:
            return value
        assert isinstance(element, IntegerType)
        highest = number_of(-(2 ** (element.width - 1)), element)
        return as_value(node, apply(node, "arith.xori", [value, highest], [element] * 2, element), element)

    operands = [inverted(x), rows, inverted(updates)]
    return inverted(node.emit("qrt.scatter_nd", operands, {"reduction": reduction}))


class _Positions:
    """The graph that computes positions in the flat data (input 0) from the indices (input 1) of a node."""

    def __init__(self, node: Node) -> None:
        self.node, self.graph = node, composed(node)
        if node.dtype(1) not in ("int32", "int64"):
            node.refuse(f"indices of {node.dtype(1)}")
        self.indices = self.graph.add("Cast", node.input(1), to=7)
        self.shape = self.graph.add("Shape", node.input(0))

    def size(self, axis: int, of: int = 0) -> str:
        """Add nodes that compute the size of an axis of input number ``of`` as an int64, and return the name."""
        graph = self.graph
        shape = self.shape if of == 0 else graph.add("Shape", self.node.input(of))
        return str(graph.add("Gather", shape, graph.constant(axis, np.int64)))

    def stride(self, axis: int, end: int) -> str:
        """Add nodes that multiply the sizes of the data's axes after ``axis`` and before ``end``; return the name."""
        one = self.graph.constant(1, np.int64)
        return reduce(lambda a, b: str(self.graph.add("Mul", a, b)), map(self.size, range(axis + 1, end)), one)

    def counted(self, size: str, axis: int, rank: int) -> str:
        """Add nodes that list 0, 1... below ``size`` along ``axis`` of a tensor with ``rank`` axes; return the name."""
        graph = self.graph
        numbers = graph.add("Range", graph.constant(0, np.int64), size, graph.constant(1, np.int64))
        return str(graph.add("Reshape", numbers, graph.integers(*(-1 if d == axis else 1 for d in range(rank)))))

    def wrapped(self, positions: str, size: str) -> str:
        """Add nodes that convert positions counted from the end to positions counted from 0, and return the name."""
        graph, zero = self.graph, self.graph.constant(0, np.int64)
        moved = graph.add("Where", graph.add("Less", positions, zero), graph.add("Add", positions, size), positions)
        is_inside = graph.add("And", graph.add("LessOrEqual", zero, moved), graph.add("Less", moved, size))
        return str(graph.add("Where", is_inside, moved, graph.constant(_OUTSIDE, np.int64)))

    def sum(self, terms: list[str]) -> str:
        """Add nodes that sum the terms, and return the name. If a term is out of range, the sum is out of range too."""
        return reduce(lambda a, b: str(self.graph.add("Add", a, b)), terms)

    def elements(self) -> str:
        """Add nodes that compute the flat position of the element that each index selects along the node's axis.

        Return the result's name.
        """
        node, graph = self.node, self.graph
        rank = len(node.shape())
        axis = node.axis(node.attribute("axis", 0), rank)
        if len(node.shape(1)) != rank:
            node.fail(f"the indices must have the {rank} axes of the input, got shape {list(node.shape(1))}")
        terms = []
        for d in range(rank):
            position = self.wrapped(self.indices, self.size(d)) if d == axis else self.counted(self.size(d, 1), d, rank)
            if d != axis:  # there may be fewer positions than elements, but not more
                position = self.wrapped(position, self.size(d))
            terms.append(graph.add("Mul", position, self.stride(d, rank)))
        return self.sum(terms)

    def rows(self, batch: int) -> tuple[str, int]:
        """Add nodes that compute the flat position of the element or slice that each row of the indices selects.

        The positions count over the leading axes of the data: ``batch`` batch axes, and one axis for each column of the
        indices. Return the result's name and the number of these axes.
        """
        node, graph, shape = self.node, self.graph, self.node.shape(1)
        count = shape[-1] if shape else 0
        if count is None:
            node.refuse("rows of indices of a length known only at run time")
        if not 0 <= batch < len(shape) or not count > 0 or batch + count > len(node.shape()):
            node.fail(
                f"for an input of shape {list(node.shape())} and batch_dims = {batch}, indices must have more than "
                f"{batch} axes and a last dimension of at most the other axes, got shape {list(shape)}"
            )
        end, terms = batch + count, []
        for d in range(end):
            if d < batch:
                position = self.counted(self.size(d, 1), d, len(shape) - 1)
            else:
                position = graph.add("Gather", self.indices, graph.constant(d - batch, np.int64), axis=len(shape) - 1)
            terms.append(graph.add("Mul", self.wrapped(position, self.size(d)), self.stride(d, end)))
        return self.sum(terms), end


def gather_elements(node: Node) -> None:
    """Import GatherElements as a gather of flat positions."""
    positions = _Positions(node)
    graph, flat = positions.graph, positions.elements()
    data = graph.add("Reshape", node.input(0), graph.integers(-1))
    graph.replace(node, graph.add("Gather", data, flat, axis=0))


def gather_nd(node: Node) -> None:
    """Import GatherND as a gather of flat positions in the leading axes."""
    positions = _Positions(node)
    batch = node.attribute("batch_dims", 0)
    flat, end = positions.rows(batch)
    _check_batch(node, batch)
    graph = positions.graph
    graph.replace(node, graph.add("Gather", _with_flat_axes(positions, end), flat, axis=0))


def _check_batch(node: Node, batch: int) -> None:
    """Raise ModelError if the known sizes of the batch differ between the data and the indices."""
    pairs = zip(node.shape()[:batch], node.shape(1)[:batch], strict=True)
    if any(None not in pair and pair[0] != pair[1] for pair in pairs):
        node.fail(f"the {batch} first sizes must be equal, got {list(node.shape())} and {list(node.shape(1))}")


def _with_flat_axes(positions: _Positions, end: int) -> str:
    """Add nodes that reshape the data so that the axes before ``end`` become one axis, and return the result's name."""
    graph, rank = positions.graph, len(positions.node.shape())
    rest = graph.add("Slice", positions.shape, graph.integers(end), graph.integers(rank))
    shape = graph.add("Concat", graph.integers(-1), rest, axis=0) if end < rank else graph.integers(-1)
    return str(graph.add("Reshape", positions.node.input(0), shape))


def scatter_elements(node: Node) -> None:
    """Import ScatterElements as a scatter to flat positions."""
    positions = _Positions(node)
    _check_form(node)
    if len(node.shape(2)) != len(node.shape(1)):
        node.fail(f"the indices and the updates must have the same shape, got {list(node.shape(1))} and "
                  f"{list(node.shape(2))}")  # fmt: skip
    _scatter(positions, positions.elements(), len(node.shape()), is_flat=True)


def scatter_nd(node: Node) -> None:
    """Import ScatterND as a scatter to flat positions in the leading axes."""
    positions = _Positions(node)
    _check_form(node)
    flat, end = positions.rows(0)
    if len(node.shape(2)) != len(node.shape(1)) - 1 + len(node.shape()) - end:
        node.fail(f"its updates have shape {list(node.shape(2))} for indices of {list(node.shape(1))}")
    _scatter(positions, flat, end, is_flat=False)


def _check_form(node: Node) -> None:
    check_types(node)
    if not has_scatter_nd(node):
        node.refuse(f"reduction {node.attribute('reduction', 'none')!r} of {node.dtype(0)} with a dynamic dimension")


def _scatter(positions: _Positions, flat: str, end: int, is_flat: bool) -> None:
    """Scatter the updates (input 2) to positions ``flat``, which count over the axes of the data before ``end``.

    With ``is_flat``, each update is one element. Otherwise each is a slice along the axes of the data from ``end`` on.
    """
    node, graph = positions.node, positions.graph
    data = _with_flat_axes(positions, end)
    column = graph.add("Reshape", flat, graph.integers(-1, 1))
    shape = graph.integers(-1)
    if not is_flat:
        shape = graph.add("Concat", shape, graph.add("Slice", graph.add("Shape", data), graph.integers(1),
                                                     graph.integers(len(node.shape()))), axis=0)  # fmt: skip
    updates = graph.add("Reshape", node.input(2), shape)
    result = scattered(node, *map(node.as_storage, graph.values(node, data, column, updates)))
    sizes = tuple(
        node.emit("tensor.dim", [node.value(0), index(node, axis)]) if size is None else size
        for axis, size in enumerate(node.shape())
    )
    node.set_plain(0, in_shape(node, result, sizes), node.plain(0))
