"""DynamicQuantizeLSTM: an LSTM of float32 with 8-bit weights, computed for one direction after the other."""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.composed import ComposedGraph, static_sizes
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.recurrent_floats import Cell, Step
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, UniformType

F32 = FloatType("f32")
_DIRECTIONS = {"forward": (False,), "reverse": (True,), "bidirectional": (False, True)}
"""For each direction, one flag for each pass over the sequence: True reads it backwards."""
_ACTIVATIONS = ("sigmoid", "tanh", "tanh")


def dynamic_quantize_lstm(node: Node) -> None:
    """Import DynamicQuantizeLSTM: compute an LSTM of float32 sequences with 8-bit weights known at import.

    The weights have one scale for each direction, or one for each column. Sequences of several lengths, activations
    without parameters, a clip, peepholes and coupled gates are supported if the shapes are known at import. Hidden
    values behind the end of a sequence are 0.
    """
    directions = _DIRECTIONS.get(node.attribute("direction", "forward"))
    if directions is None:
        node.fail(
            f"attribute 'direction' must be forward, reverse or bidirectional, got {node.op.attributes['direction']!r}"
        )
    if len(node.shape()) != 3:
        node.fail(f"the input must have the shape [steps, batch, inputs], got rank {len(node.shape())}")
    if not _is_default(node, len(directions)):
        _QuantizedCell(node).replace()
        return
    bias = node.known(3, "a bias") if node.has(3) else None
    results = [_direction(node, number, reverse, bias) for number, reverse in enumerate(directions)]
    steps, batch, _ = node.shape()
    cells = results[0][1].type.shape[-1]  # type: ignore[attr-defined]
    for i, axis in ((0, 1), (1, 0), (2, 0)):
        shape = (steps, 1, batch, cells) if i == 0 else (1, batch, cells)
        opened = {"open_axes": [0, 1]} if (i, steps, batch) == (0, None, None) else None
        parts = [node.emit("qrt.reshape", [result[i]], opened, TensorType(shape, F32)) for result in results]
        if node.returns(i):
            node.set(i, joined(node, parts, axis))


def _is_default(node: Node, directions: int) -> bool:
    """Return True if `qrt.dynamic_lstm` can compute each direction of the node.

    It supports the default activations only, no clip, peepholes or coupled gates, and no shorter sequences.
    """
    lengths = node.constant(4) if node.has(4) else None
    is_full = not node.has(4) or (lengths is not None and bool((lengths == node.shape()[0]).all()))
    names = tuple(name.lower() for name in node.numbers("activations", str, _ACTIVATIONS * directions))
    is_plain = not (node.has_attribute("clip") or node.attribute("input_forget", 0) or node.has(7))
    return is_full and is_plain and names == _ACTIVATIONS * directions


def _direction(node: Node, number: int, reverse: bool, bias: Array | None) -> tuple[Value, ...]:
    """Compute one direction, and return the outputs of all steps, the last hidden state and the last cell state.

    ``number`` is the direction's index, and ``reverse`` is true if its steps run backwards.
    """
    w, r = _weights(node, number, 1, 8), _weights(node, number, 2, 10)
    columns = w.type.shape[-1]  # type: ignore[attr-defined]
    total = np.zeros(columns, np.float32)
    if bias is not None:
        if bias.ndim != 2 or bias.shape[1] != 2 * columns or number >= len(bias):
            node.fail(f"the bias must have 2 numbers for each of {columns} columns, got shape {list(bias.shape)}")
        total = np.add(*np.split(np.asarray(bias[number], np.float32), 2))
    states = [_state(node, number, i, columns // 4) for i in (5, 6)]
    operands = [node.value(0), w, r, node.dense(total, F32), *states]
    return node.emit_all("qrt.dynamic_lstm", operands, {"reverse": reverse}, None)


def _weights(node: Node, number: int, i: int, scale: int) -> Value:
    """Return the weights of direction ``number`` in input ``i`` as a value [depth, 4 * cells].

    ``scale`` is the index of the input with their scales; the next input has their zero points.
    """
    array, scales, points = _checked_weights(node, number, i, scale)
    storage = "u8" if array.dtype == np.uint8 else "i8"
    if scales.size == 1:
        element = UniformType(storage, "f32", float(scales[0]), int(points[0]))
    else:
        element = UniformType(storage, "f32", scales.tolist(), points.tolist(), axis=1)
    return node.dense(array, element)


def _checked_weights(node: Node, number: int, i: int, scale: int) -> tuple[Array, Array, Array]:
    """Return the weights of direction ``number`` in input ``i`` [depth, 4 * cells], their scales and zero points.

    ``scale`` is the index of the input with their scales; the next input has their zero points.
    """
    array, plain = node.known(i, "weights"), node.plain(i)
    scales, zeros = np.asarray(node.known(scale, "a scale")), None
    if node.has(scale + 1):
        zeros = np.asarray(node.known(scale + 1, "a zero point"))
    if not isinstance(plain, IntegerType) or plain.width != 8:
        node.refuse(f"weights of {node.dtype(i)}")
    if array.ndim != 3 or array.shape[2] % 4 or number >= len(array):
        node.fail(f"weights (input {i}) must have the shape [directions, depth, 4 * cells], got {list(array.shape)}")
    if len(scales) != len(array) or (zeros is not None and zeros.shape != scales.shape):
        node.fail(
            "scales and zero points must have the same shape, with a row for each direction of the weights of shape "
            f"{list(array.shape)}, got scales of shape {list(scales.shape)}"
        )
    direction_scales = np.asarray(scales[number], np.float64).reshape(-1)
    points = np.zeros(direction_scales.size, np.int64) if zeros is None else zeros[number].astype(np.int64).reshape(-1)
    if (
        direction_scales.size not in (1, array.shape[2])
        or not ((direction_scales > 0) & (direction_scales < np.inf)).all()
    ):
        node.fail("the scales of the weights must be positive and finite, one for each direction or for each column")
    return np.ascontiguousarray(array[number]), direction_scales, points


def _state(node: Node, number: int, i: int, cells: int) -> Value:
    """Return the initial state of direction ``number`` as a value [batch, cells]: input ``i``, or zeros without it."""
    batch = node.shape()[1]
    if node.has(i):
        value = taken(node, node.value(i), 0, number, 1)
        return node.emit("qrt.reshape", [value], None, TensorType((batch, cells), F32))
    context = lowering_context(node)
    return context.filled((context.extent(node.value(0), 1), cells), context.constant(0.0, F32))


# -- lengths, and other activations ----------------------------------------------------------------------------------


class _QuantizedCell(Cell):
    """A DynamicQuantizeLSTM that `qrt.dynamic_lstm` does not support, and the graph that replaces it.

    The hidden values of all sequences are quantized together in each step, so all sequences must begin at step 0. For
    the backward direction, each sequence is therefore reversed within its length.
    """

    def __init__(self, node: Node) -> None:
        super().__init__(node, "LSTM")
        self.functions(0)
        if None in node.shape():
            node.refuse(
                "with lengths, a clip, peepholes, coupled gates or other activations, of sequences of shape "
                f"{list(node.shape())}"
            )
        self.steps, self.batch, _ = static_sizes(node, 0, 0, 1, 2)
        self.size = _checked_weights(node, 0, 2, 10)[0].shape[1] // 4
        lengths = np.full(self.batch, self.steps, np.int32)
        given = self.graph.add("Cast", node.input(4), to=7) if node.has(4) else self.graph.constant(lengths, np.int64)
        self.lengths = str(self.graph.add("Reshape", given, self.graph.integers(1, self.batch, 1)))

    def replace(self) -> None:
        """Build the graph and import it in place of the node."""
        graph, x = self.graph, self._inputs()
        results = [self._direction(x, number) for number in range(self.directions)]
        parts = [
            [graph.add("Unsqueeze", part, graph.integers(axis)) for part in side]
            for side, axis in zip(zip(*results, strict=True), (1, 0, 0), strict=True)
        ]
        joined = [graph.add("Concat", *side, axis=axis) for side, axis in zip(parts, (1, 0, 0), strict=True)]
        graph.replace(self.node, *joined)

    def _steps_before(self, ends: str) -> str:
        """Add nodes that compute bools [step, batch, 1], true for steps before ``ends``, and return the name."""
        graph = self.graph
        return str(graph.add("Less", graph.constant(np.arange(self.steps).reshape(-1, 1, 1), np.int64), ends))

    def _inputs(self) -> str:
        """Add nodes that set the inputs to 0 after the end of the longest sequence, and return the result's name."""
        graph = self.graph
        longest = graph.add("ReduceMax", self.lengths, keepdims=1)
        return str(graph.add("Where", self._steps_before(longest), self.node.input(0), graph.constant(0)))

    def _reversed(self, name: str) -> str:
        """Add nodes that reverse each sequence of the tensor ``name`` [step, batch, ...]; return the result's name."""
        graph = self.graph
        steps = graph.constant(np.arange(self.steps).reshape(-1, 1, 1), np.int64)
        backwards = graph.add("Sub", graph.add("Sub", self.lengths, graph.integers(1)), steps)
        steps = graph.add("Where", self._steps_before(self.lengths), backwards, steps)
        rows = graph.add("Mul", steps, graph.integers(self.batch))
        rows = graph.add("Add", rows, graph.constant(np.arange(self.batch).reshape(1, -1, 1), np.int64))
        lines = graph.add("Reshape", name, graph.integers(self.steps * self.batch, -1))
        lines = graph.add("Gather", lines, graph.add("Reshape", rows, graph.integers(-1)), axis=0)
        return str(graph.add("Reshape", lines, graph.integers(self.steps, self.batch, -1)))

    def _row(self, i: int, number: int) -> str:
        return str(self.graph.add("Gather", self.node.input(i), self.graph.constant(number, np.int64), axis=0))

    def _direction(self, x: str, number: int) -> list[str]:
        """Add a Scan over the steps of one direction.

        Return the names of the hidden values of all steps, the last hidden values and the last cell state.
        """
        graph, is_backward = self.graph, self.is_backward(number)
        sums = _product(graph, x, _checked_weights(self.node, number, 1, 8))
        bias = graph.constant(np.zeros(4 * self.size))
        if self.node.has(3):
            halves = graph.add("Split", self._row(3, number), graph.integers(*(4 * self.size,) * 2), outputs=2, axis=0)
            bias = graph.add("Add", *halves)
        state = graph.constant(np.zeros((self.batch, self.size)))
        hidden, cell = (self._row(i, number) if self.node.has(i) else state for i in (5, 6))
        body = ComposedGraph(f"{graph.prefix}/{number}")
        h, last, c, x_name, is_inside = (f"{body.prefix}/{name}" for name in ("h", "last", "c", "x", "inside"))
        peepholes = self._row(7, number) if self.node.has(7) else ""
        step = _QuantizedStep(self, body, number, _checked_weights(self.node, number, 2, 10), bias, peepholes)
        new_h, new_c = step.lstm(h, c, x_name)
        new_h = body.add("Where", is_inside, new_h, body.constant(0))
        states = [new_h, *(body.add("Where", is_inside, new, old) for new, old in ((new_h, last), (new_c, c)))]
        results = (*states, body.add("Identity", new_h))
        sums = self._reversed(sums) if is_backward else sums
        more: dict[str, Any] = {"body": body.graph((h, last, c, x_name, is_inside), results), "num_scan_inputs": 2}
        _, last, c, steps = graph.add("Scan", hidden, state, cell, sums, self._steps_before(self.lengths), outputs=4,
                                      **more)  # fmt: skip
        is_empty = graph.add("Equal", graph.add("Squeeze", self.lengths, graph.integers(0)), graph.integers(0))
        c = graph.add("Where", is_empty, graph.constant(0), c)
        return [self._reversed(steps) if is_backward else steps, last, c]


class _QuantizedStep(Step):
    """The operators of one step of the LSTM, which quantize the hidden values of the step before."""

    def __init__(
        self,
        cell: _QuantizedCell,
        body: ComposedGraph,
        direction: int,
        weights: tuple[Array, Array, Array],
        bias: str,
        peepholes: str,
    ) -> None:
        super().__init__(cell, body, direction, "", "", peepholes)
        self.weights, self.bias = weights, bias

    def sums(self, h: str, x: str) -> str:
        """Add nodes that add ``x``, the product of ``h`` and the weights, and the bias; return the sum's name."""
        product = _product(self.body, h, self.weights)
        return str(self.body.add("Add", self.body.add("Add", x, product), self.bias))


def _product(graph: ComposedGraph, x: str, weights: tuple[Array, Array, Array]) -> str:
    """Quantize ``x`` at run time with a single scale, multiply it by 8-bit weights, and return the product's name."""
    array, scales, points = weights
    names = graph.constant(array, array.dtype), graph.constant(scales), graph.constant(points, array.dtype)
    return str(graph.add("DynamicQuantizeMatMul", x, *names, domain="com.microsoft"))
