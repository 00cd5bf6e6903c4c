"""LSTM, GRU and RNN of floats. One MatMul multiplies the inputs of all steps, then a Scan runs over the steps."""

from functools import cached_property
from typing import Any

import numpy as np

from qrt.errors import plural
from qrt.models.onnx.composed import ComposedGraph, composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32

_GATES = {"LSTM": 4, "GRU": 3, "RNN": 1}
_FUNCTIONS = {"LSTM": ("Sigmoid", "Tanh", "Tanh"), "GRU": ("Sigmoid", "Tanh"), "RNN": ("Tanh",)}
_PLAIN = {name.lower(): name for name in ("Relu", "Sigmoid", "Softplus", "Softsign", "Tanh")}
_SCALED = {"affine": (1.0, 0.0), "elu": (1.0, 0.0), "hardsigmoid": (0.2, 0.5), "leakyrelu": (0.01, 0.0),
           "scaledtanh": (1.0, 1.0), "thresholdedrelu": (1.0, 0.0)}  # fmt: skip
"""The activations with parameters, and the defaults of the parameters."""


def recurrent(node: Node) -> None:
    """Import LSTM, GRU or RNN: run the network on float32 sequences in one or two directions.

    After the last step of a sequence that is shorter than the others, its states stay the same and its results are 0.
    Activations without parameters, a clip, peepholes and coupled gates are supported. Sums are computed as in MatMul,
    and the bias is added at the end.
    """
    cell = _FloatCell(node)
    x = cell.graph.add("Transpose", node.input(0), perm=(1, 0, 2)) if cell.layout else node.input(0)
    directions = [cell.direction(x, d) for d in range(cell.directions)]
    graph = cell.graph
    steps, *last = ([states[i] for states in directions] for i in range(len(directions[0])))
    axes = graph.integers(2 if cell.layout else 1)
    parts = [graph.add("Transpose", value, perm=(1, 0, 2)) if cell.layout else value for value in steps]
    results = [
        graph.add("Concat", *(graph.add("Unsqueeze", value, axes) for value in parts), axis=2 if cell.layout else 1)
    ]
    axes = graph.integers(1 if cell.layout else 0)
    for side in last:
        parts = [graph.add("Unsqueeze", value, axes) for value in side]
        results.append(graph.add("Concat", *parts, axis=1 if cell.layout else 0))
    graph.replace(node, *results)


class Cell:
    """The activations of a recurrent node, and the graph that replaces the node. ``type`` is LSTM, GRU or RNN.

    ``directions`` is the number of directions, and ``size`` the number of hidden values.
    """

    directions: int
    size: int

    def __init__(self, node: Node, type: str) -> None:
        self.node, self.type, self.graph = node, type, composed(node)
        self.clip = node.number("clip")
        if self.clip is not None and not self.clip > 0 and type != "RNN":
            node.fail(f"attribute 'clip' must be a positive number, got {self.clip}")
        if self.clip is not None and self.clip < 0:  # the runtime's RNN is then not clipped
            self.clip = None
        self.direction_name = node.attribute("direction", "forward")
        if self.direction_name not in ("forward", "reverse", "bidirectional"):
            node.fail(f"attribute 'direction' must be forward, reverse or bidirectional, got {self.direction_name!r}")
        self.directions = 1 + (self.direction_name == "bidirectional")

    def is_backward(self, direction: int) -> bool:
        """Return True if the direction with this index runs from the last step to the first."""
        return self.direction_name == "reverse" or direction == 1

    def functions(self, direction: int) -> list[str]:
        """Return the operators of the activations of one direction. Raise UnsupportedForm if one has parameters."""
        default, node = _FUNCTIONS[self.type], self.node
        names = node.numbers("activations", str, default * self.directions)
        if len(names) != len(default) * self.directions:
            node.fail(
                f"attribute 'activations' must have {plural(len(default) * self.directions, 'name')} "
                f"({len(default)} for each direction), got {len(names)}"
            )
        unknown = [name for name in names if name.lower() not in _PLAIN]
        if unknown:
            known = "numbers" if unknown[0].lower() in _SCALED else "unknown"
            node.refuse(f"activation {unknown[0]}, which has {known}")
        return [_PLAIN[name.lower()] for name in names[direction * len(default) :][: len(default)]]


class _FloatCell(Cell):
    """The sizes and activations of an LSTM, GRU or RNN node, and the graph that replaces the node."""

    def __init__(self, node: Node) -> None:
        super().__init__(node, node.op.type)
        for i in (0, 1, 2):
            if node.type(i).element is not F32:
                node.refuse(f"of {node.dtype(i)}")
        shape, w, r = (node.shape(i) for i in range(3))
        self.layout = node.attribute("layout", 0)
        if len(shape) != 3 or len(w) != 3 or len(r) != 3 or None in (shape[2], *w, *r):
            node.refuse(f"of sequences of shape {list(shape)} and weights of {list(w)} and {list(r)}")
        steps, self.batch = (shape[1], shape[0]) if self.layout else (shape[0], shape[1])
        expected, rows, self.size = self.directions, r[1] or 0, r[2] or 0
        gates = _GATES[self.type]
        if r[0] != expected or rows != gates * self.size or w[:2] != r[:2] or w[2] != shape[2]:
            node.fail(
                f"for sequences of shape {list(shape)}, W must have the shape [{expected}, {gates} * hidden, "
                f"{shape[2]}] and R [{expected}, {gates} * hidden, hidden], got {list(w)} and {list(r)}"
            )
        lengths = node.constant(4) if node.has(4) else None
        self.is_masked = node.has(4) and (lengths is None or steps is None or bool((lengths != steps).any()))
        for direction in range(self.directions):
            self.functions(direction)

    def _part(self, i: int, direction: int, start: int = 0, end: int | None = None, axis: int = 1) -> str:
        """Add nodes that take the slice of input ``i`` for one direction, and return the result's name.

        Axis 0 of the input is the direction, which the result lacks. With ``end``, only the elements from ``start`` up
        to ``end`` are taken along ``axis``, an axis of the input.
        """
        graph = self.graph
        ends = graph.integers(direction), graph.integers(direction + 1), graph.integers(0)
        one = graph.add("Squeeze", graph.add("Slice", self.node.op.inputs[i], *ends), graph.integers(0))
        if end is None:
            return str(one)
        return str(graph.add("Slice", one, graph.integers(start), graph.integers(end), graph.integers(axis - 1)))

    def _initial_state(self, i: int, direction: int) -> str:
        """Return the name of the state before the first step of one direction: input ``i``, or zeros without it."""
        graph = self.graph
        if not self.node.has(i):
            if self.batch is not None:
                return graph.constant(np.zeros((self.batch, self.size)))
            sizes = graph.add("Concat", self._dimension(1 - self.layout), graph.integers(self.size), axis=0)
            return str(graph.add("ConstantOfShape", sizes))
        if not self.layout:
            return self._part(i, direction)
        ends = graph.integers(direction), graph.integers(direction + 1), graph.integers(1)
        return str(graph.add("Squeeze", graph.add("Slice", self.node.op.inputs[i], *ends), graph.integers(1)))

    def _dimension(self, axis: int) -> str:
        return str(self.graph.add("Shape", self.node.input(0), start=axis, end=axis + 1))

    @cached_property
    def mask(self) -> str:
        """The name of a tensor [steps, batch, 1] of bools, True for the steps within a sequence's length."""
        graph = self.graph
        count = graph.add("Squeeze", self._dimension(self.layout), graph.integers(0))
        steps = graph.add("Range", graph.constant(0, np.int64), count, graph.constant(1, np.int64))
        lengths = graph.add("Cast", self.node.input(4), to=7)
        is_inside = graph.add("Less", graph.add("Unsqueeze", steps, graph.integers(1, 2)),
                              graph.add("Unsqueeze", lengths, graph.integers(0, 2)))  # fmt: skip
        return str(is_inside)

    def direction(self, x: str, direction: int) -> list[str]:
        """Add a Scan over the steps of one direction, and return the names of its results.

        The results are the hidden states of all steps, and the states after the last step. ``x`` names the sequences.
        """
        graph, gates = self.graph, _GATES[self.type] * self.size
        weights = graph.add("Transpose", self._part(1, direction), perm=(1, 0))
        sums = graph.add("MatMul", x, weights)
        of_state = graph.add("Transpose", self._part(2, direction), perm=(1, 0))
        bias = inner = ""
        if self.node.has(3):
            bias, inner = self._part(3, direction, 0, gates), self._part(3, direction, gates, 2 * gates)
            sums = graph.add("Add", sums, bias)
            if not (self.type == "GRU" and self.node.attribute("linear_before_reset", 0)):
                sums, inner = graph.add("Add", sums, inner), ""
        body = ComposedGraph(f"{graph.prefix}/{direction}")
        states = ["h", "c"] if self.type == "LSTM" else ["h"]
        names = [f"{body.prefix}/{state}" for state in (*states, "x")]
        peepholes = self._part(7, direction) if self.type == "LSTM" and self.node.has(7) else ""
        step = getattr(Step(self, body, direction, of_state, inner, peepholes), self.type.lower())
        next_states, scanned = step(*names), [sums]
        output = next_states[0]
        if self.is_masked:
            names.append(f"{body.prefix}/mask")
            scanned.append(self.mask)
            output = body.add("Where", names[-1], output, body.constant(0))
            next_states = [
                body.add("Where", names[-1], new, old) for new, old in zip(next_states, names, strict=False)
            ]  # fmt: skip
        results = [*next_states, body.add("Identity", output)]
        first = [self._initial_state(5 + i, direction) for i in range(len(states))]
        backwards = int(self.is_backward(direction))
        graph_of_step = body.graph(tuple(names), tuple(results))
        *last, steps = graph.add("Scan", *first, *scanned, outputs=len(states) + 1, body=graph_of_step,
                                 num_scan_inputs=len(scanned), scan_input_directions=(backwards,) * len(scanned),
                                 scan_output_directions=(backwards,))  # fmt: skip
        return [steps, *last]


class Step:
    """The operators of one step of a recurrent node, which become the body of a Scan."""

    def __init__(
        self, cell: Cell, body: ComposedGraph, direction: int, r: str, inner: str = "", peepholes: str = ""
    ) -> None:
        self.cell, self.body, self.functions = cell, body, cell.functions(direction)
        self.r, self.inner, self.peepholes = r, inner, peepholes

    def sums(self, h: str, x: str) -> str:
        """Add nodes that add ``x`` and the product of ``h`` with the weights, and return the sum's name."""
        return str(self.body.add("Add", x, self.body.add("MatMul", h, self.r)))

    def _split(self, x: str, count: int) -> list[str]:
        size = self.cell.size
        if count == 1:
            return [x]
        return list(self.body.add("Split", x, self.body.integers(*(size,) * count), outputs=count, axis=-1))

    def _apply(self, i: int, x: str) -> str:
        """Apply activation ``i`` to ``x``, which is clipped first if the node has a clip."""
        if self.cell.clip is not None:
            bounds = [self.body.constant(sign * self.cell.clip) for sign in (-1, 1)]
            x = self.body.add("Clip", x, *bounds)
        return str(self.body.add(self.functions[i], x))

    def _peeped(self, x: str, state: str, i: int) -> str:
        if not self.peepholes:
            return x
        size, body = self.cell.size, self.body
        part = body.add("Slice", self.peepholes, body.integers(i * size), body.integers((i + 1) * size))
        return str(body.add("Add", x, body.add("Mul", part, state)))

    def lstm(self, h: str, c: str, x: str) -> list[str]:
        """Add the nodes of an LSTM step, and return the names of the next hidden and cell state.

        ``h`` and ``c`` are the states before the step, and ``x`` the product of the step's input with the weights. The
        gates are in the order input, output, forget, cell.
        """
        body = self.body
        i, o, f, g = self._split(self.sums(h, x), 4)
        i = self._apply(0, self._peeped(i, c, 0))
        if self.cell.node.attribute("input_forget", 0):
            f = body.add("Sub", body.constant(1), i)
        else:
            f = self._apply(0, self._peeped(f, c, 2))
        next_cell = body.add("Add", body.add("Mul", f, c), body.add("Mul", i, self._apply(1, g)))
        o = self._apply(0, self._peeped(o, next_cell, 1))
        return [body.add("Mul", o, body.add(self.functions[2], next_cell)), next_cell]

    def gru(self, h: str, x: str) -> list[str]:
        """Add the nodes of a GRU step, and return the name of the next hidden state.

        ``h`` is the state before the step, and ``x`` the product of the step's input with the weights. The gates are in
        the order update, reset, hidden.
        """
        body, size = self.body, self.cell.size
        xz, xr, xh = self._split(x, 3)
        if self.cell.node.attribute("linear_before_reset", 0):
            sums = body.add("MatMul", h, self.r)
            z, r, candidate = self._split(body.add("Add", sums, self.inner) if self.inner else sums, 3)
            z, r = self._apply(0, body.add("Add", xz, z)), self._apply(0, body.add("Add", xr, r))
            candidate = body.add("Mul", r, candidate)
        else:
            gate_weights = body.add("Slice", self.r, body.integers(0), body.integers(2 * size), body.integers(1))
            hidden_weights = body.add(
                "Slice", self.r, body.integers(2 * size), body.integers(3 * size), body.integers(1)
            )
            z, r = self._split(body.add("MatMul", h, gate_weights), 2)
            z, r = self._apply(0, body.add("Add", xz, z)), self._apply(0, body.add("Add", xr, r))
            candidate = body.add("MatMul", body.add("Mul", r, h), hidden_weights)
        new: Any = self._apply(1, body.add("Add", xh, candidate))
        updated = body.add("Mul", body.add("Sub", body.constant(1), z), new)
        return [body.add("Add", updated, body.add("Mul", z, h))]

    def rnn(self, h: str, x: str) -> list[str]:
        """Add the nodes of an RNN step, and return the name of the next hidden state.

        ``h`` is the state before the step, and ``x`` the product of the step's input with the weights.
        """
        return [self._apply(0, self.sums(h, x))]
