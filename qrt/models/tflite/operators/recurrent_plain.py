"""Import of LSTM and RNN operators on floats.

A step computes gates from weighted sums of the step's inputs and of the hidden values of the step before. The hidden
values and the cells after the last step are stored in variables of the program.
"""

import copy
from collections.abc import Callable, Sequence

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext
from qrt.models.importing.data_movement import joined
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import recurrent_basic
from qrt.models.tflite.operators.float_nests import activated, require_floats, sigmoid
from qrt.models.tflite.operators.operands import input_shape
from qrt.models.tflite.operators.recurrent_steps import Step, all_steps, check_shapes
from qrt.models.tflite.operators.recurrent_weights import matrix, products, require_one_dtype
from qrt.numerics import GATES

_INPUT, _FORGET, _CELL, _OUTPUT = range(4)
_WEIGHTS, _RECURRENT, _PEEPHOLES, _BIASES, _NORMS = 1, 5, 9, 12, 20
_PROJECTION, _PROJECTION_BIAS, _HIDDEN_STATE, _CELL_STATE = 16, 17, 18, 19
_EPSILON = 1e-8
"""The value that LiteRT adds to each variance before the root."""


def lstm(node: Node) -> None:
    """Import UNIDIRECTIONAL_SEQUENCE_LSTM or LSTM: run an LSTM on float32 inputs, with float32 or int8 weights.

    CIFG, peepholes, projection and layer normalization are supported. LSTM computes one step. With the option
    kernel_type BASIC it has 5 inputs, all float32, and 4 results; its activation must be TANH and its clips 0.
    """
    if recurrent_basic.is_basic(node):
        recurrent_basic.basic_step(node)
        return
    require_full_kernel(node)
    node.set(0, all_steps(node, _lstm_step(node), (_HIDDEN_STATE, _CELL_STATE)))


def require_full_kernel(node: Node) -> None:
    """Raise UnsupportedForm if the option kernel_type is BASIC, and ModelError unless there is one result."""
    if recurrent_basic.is_basic(node):
        node.refuse(f"the kernel BASIC of {node.input(0).dtype}")
    if len(node.outputs) != 1:
        node.fail(f"it must have 1 result, got {len(node.outputs)}")


def _lstm_step(node: Node) -> Step:
    cells = input_shape(node, _CELL_STATE)[-1:]
    gates = range(_FORGET if not node.has(_WEIGHTS) else _INPUT, _OUTPUT + 1)
    for number in range(_OUTPUT + 1):
        if (number in gates) != node.has(_RECURRENT + number) or (number in gates) != node.has(_BIASES + number):
            node.fail(f"the {GATES[number]} gate must have all of its weights and biases or none, but has only some")
    check_shapes(node, _Lstm.operands(node, gates), cells)
    if node.options["fused_activation_function"] == "NONE":
        node.refuse("without an activation, for which LiteRT multiplies the output gate by memory that nothing wrote")
    return _Lstm(node, gates).step


def rnn(node: Node) -> None:
    """Import UNIDIRECTIONAL_SEQUENCE_RNN or RNN: run an RNN on float32 inputs, with float32 or int8 weights.

    Each step computes ``activation(bias + W x + R h)`` from its inputs x and the hidden values h of the step before.
    RNN computes one step.
    """
    node.set(0, all_steps(node, _rnn_step(node), (4,)))


def _rnn_step(node: Node) -> Step:
    inputs, hidden = input_shape(node)[-1:], input_shape(node, 4)[-1:]
    check_shapes(node, {1: (*hidden, *inputs), 2: (*hidden, *hidden), 3: hidden}, hidden)
    require_one_dtype(node, 1, 2)
    require_floats(node, 0, 3, 4)
    weights, bias = [matrix(node, i) for i in (1, 2)], node.value(3)

    def step(context: LoweringContext, x: Value, before: Sequence[Value]) -> list[Value]:
        sums = [products(context, a, w) for a, w in ((x, weights[0]), (before[0], weights[1]))]
        nest = LoopNest(context, "gate", context.extents(sums[0]))
        scalar = nest.read(bias, nest.loops[1:])
        for rows in sums:
            scalar = nest.value("arith.addf", (scalar, nest.read(rows, nest.loops)), F32)
        return nest.finish(activated(node, nest, scalar, node.options["fused_activation_function"]))

    return step


# -- both directions -------------------------------------------------------------------------------------------------


def bidirectional_lstm(node: Node) -> None:
    """Import BIDIRECTIONAL_SEQUENCE_LSTM: run an LSTM forwards and another one backwards.

    CIFG, peepholes and projection are supported. The LSTM that runs backwards may have inputs of its own. The option
    merge_outputs joins both results.
    """
    if any(node.has(i) for i in range(40, 48)):
        node.refuse("weights for the auxiliary inputs")
    if node.options["merge_outputs"] and not node.options["time_major"]:
        node.refuse("merge_outputs without time_major, with which LiteRT writes one result over the other")
    ways = [[0, *range(1, 18), 35, 36], [39 if node.has(39) else 0, *range(18, 35), 37, 38]]
    _both(node, [_directed(node, way) for way in ways], _lstm_step, (_HIDDEN_STATE, _CELL_STATE))


def bidirectional_rnn(node: Node) -> None:
    """Import BIDIRECTIONAL_SEQUENCE_RNN: run an RNN forwards and another one backwards.

    The RNN that runs backwards may have inputs of its own. The option merge_outputs joins both results.
    """
    if node.has(10) or node.has(11):
        node.refuse("weights for the auxiliary inputs")
    is_first, shape = bool(node.options["time_major"]), input_shape(node)
    if is_first and not node.options["merge_outputs"]:
        node.refuse("time_major without merge_outputs, of which LiteRT exchanges the sizes of the second result")
    if node.has(9) and not is_first:
        node.refuse("auxiliary inputs without time_major, which LiteRT ignores")
    if is_first and shape[:1] != (1,) and not all(node.type(i).element is F32 for i in (1, 5)):
        node.refuse("int8 weights with time_major, which LiteRT applies to the sequence once for each step")
    ways = [[0, 1, 2, 3, 4], [9 if node.has(9) else 0, 5, 6, 7, 8]]
    _both(node, [_directed(node, way) for way in ways], _rnn_step, (4,))


def _directed(node: Node, numbers: Sequence[int]) -> Node:
    """Return a copy of the node with only the given inputs, in the order of the unidirectional operator."""
    directed = copy.copy(node)
    directed.inputs = [node.inputs[i] if node.has(i) else None for i in numbers]
    return directed


def _both(node: Node, directed: Sequence[Node], step: Callable[[Node], Step], states: tuple[int, ...]) -> None:
    """Set the results of the forward and the backward direction. ``step`` returns the step function of a direction."""
    if [input_shape(other)[:2] for other in directed] != [input_shape(node)[:2]] * 2:
        node.fail(
            f"the auxiliary inputs must have the batch and steps of the inputs, {list(input_shape(node)[:2])}, got "
            f"{list(input_shape(directed[1])[:2])}"
        )
    merges = bool(node.options["merge_outputs"])
    if len(node.outputs) != 2 - merges:
        node.fail(f"it must have {2 - merges} results, got {len(node.outputs)}")
    values = [all_steps(other, step(other), states, bool(way)) for way, other in enumerate(directed)]
    if merges:
        values = [joined(node, values, 2)]
    for i, value in enumerate(values):
        node.set(i, value)


# -- lstm ------------------------------------------------------------------------------------------------------------


class _Lstm:
    """A float LSTM during import.

    ``matrices`` has its weights, and ``vectors`` its biases, peepholes and norms, by input number.
    """

    def __init__(self, node: Node, gates: range) -> None:
        self.node, self.gates = node, gates
        given = {i: shape for i, shape in self.operands(node, gates).items() if node.has(i)}
        require_one_dtype(node, *(i for i in given if len(given[i]) == 2 or _PEEPHOLES <= i < _BIASES))
        require_floats(node, 0, _HIDDEN_STATE, _CELL_STATE)
        self.matrices = {i: matrix(node, i) for i, shape in given.items() if len(shape) == 2}
        self.vectors = {i: _vector(node, i) for i, shape in given.items() if len(shape) == 1}

    @staticmethod
    def operands(node: Node, gates: range) -> dict[int, tuple[int | None, ...]]:
        """Return the shapes that weights and biases of the given gates must have, by input number."""
        inputs, hidden = input_shape(node)[-1:], input_shape(node, _HIDDEN_STATE)[-1:]
        cells = input_shape(node, _CELL_STATE)[-1:]
        if not (inputs and hidden and cells):
            node.fail("the input and the states must have at least one axis, but one is a scalar")
        shapes: dict[int, tuple[int | None, ...]] = {_PROJECTION: (*hidden, *cells), _PROJECTION_BIAS: hidden}
        for number in gates:
            shapes |= {_WEIGHTS + number: (*cells, *inputs), _RECURRENT + number: (*cells, *hidden)}
            shapes |= {_BIASES + number: cells, _NORMS + number: cells}
        shapes |= {_PEEPHOLES + place: cells for place in range(3)}
        if not node.has(_PROJECTION) and hidden != cells:
            node.fail(
                f"without a projection, the output state must have the size of the cell state, {cells[0]}, got "
                f"{hidden[0]}"
            )
        return shapes

    def step(self, context: LoweringContext, x: Value, before: Sequence[Value]) -> list[Value]:
        """Append one step on the inputs ``x``. ``before`` is [hidden values, cell]; return both after the step."""
        hidden, cell = before
        enter, forget, candidate = (
            self._gate(context, number, x, hidden, cell) if number in self.gates else None
            for number in (_INPUT, _FORGET, _CELL)
        )
        assert forget is not None
        assert candidate is not None
        nest = LoopNest(context, "cell", context.extents(cell))
        scalar, new = nest.read(forget, nest.loops), nest.read(candidate, nest.loops)
        remembered = nest.value("arith.mulf", (scalar, nest.read(cell, nest.loops)), F32)
        one = nest.constant(1.0, F32)
        share = nest.value("arith.subf", (one, scalar), F32) if enter is None else nest.read(enter, nest.loops)
        updated = nest.value("arith.addf", (remembered, nest.value("arith.mulf", (share, new), F32)), F32)
        (after,) = nest.finish(self._clipped(nest, updated, "cell_clip"))
        out = self._gate(context, _OUTPUT, x, hidden, after)
        nest = LoopNest(context, "hidden", context.extents(cell))
        activated_cell = self._activated(nest, nest.read(after, nest.loops))
        (value,) = nest.finish(nest.value("arith.mulf", (nest.read(out, nest.loops), activated_cell), F32))
        return [self._projected(context, value), after]

    def _activated(self, nest: LoopNest, scalar: Value) -> Value:
        return activated(self.node, nest, scalar, self.node.options["fused_activation_function"])

    def _clipped(self, nest: LoopNest, scalar: Value, option: str) -> Value:
        clip = float(self.node.options[option])
        if not 0 <= clip < np.inf:
            self.node.fail(f"option {option} must be at least 0 and finite, got {clip}")
        if not clip:
            return scalar
        scalar = nest.value("arith.maximumf", (scalar, nest.constant(-clip, F32)), F32)
        return nest.value("arith.minimumf", (scalar, nest.constant(clip, F32)), F32)

    def _gate(self, context: LoweringContext, number: int, x: Value, hidden: Value, cell: Value) -> Value:
        """Append ``activation(W x + R h + p * c + b)``, the gate with this number, and return its value.

        ``W``, ``R``, ``p`` and ``b`` are the gate's weights, recurrent weights, peephole and bias; ``h`` is ``hidden``,
        and ``c`` is ``cell``. With layer normalization, the sum without the bias is normalized first.
        """
        sums = [
            products(context, factor, self.matrices[first + number])
            for factor, first in ((x, _WEIGHTS), (hidden, _RECURRENT))
        ]
        norm, peephole = self.vectors.get(_NORMS + number), None
        if number != _CELL:
            peephole = self.vectors.get(_PEEPHOLES + (2 if number == _OUTPUT else number))
        nest = LoopNest(context, "gate", context.extents(cell))
        last, bias = nest.loops[1:], self.vectors[_BIASES + number]
        scalar = nest.constant(0.0, F32) if norm is not None else nest.read(bias, last)
        for rows in sums:
            scalar = nest.value("arith.addf", (scalar, nest.read(rows, nest.loops)), F32)
        if peephole is not None:
            product = nest.value("arith.mulf", (nest.read(peephole, last), nest.read(cell, nest.loops)), F32)
            scalar = nest.value("arith.addf", (scalar, product), F32)
        if norm is not None:
            centred, inverse = _normalized(context, nest.finish(scalar)[0])
            nest = LoopNest(context, "gate", context.extents(cell))
            scalar = nest.value("arith.mulf", (nest.read(centred, nest.loops), nest.read(inverse, nest.loops[:1])), F32)
            scalar = nest.value("arith.mulf", (scalar, nest.read(norm, nest.loops[1:])), F32)
            scalar = nest.value("arith.addf", (scalar, nest.read(bias, nest.loops[1:])), F32)
        return nest.finish(self._activated(nest, scalar) if number == _CELL else sigmoid(nest, scalar))[0]

    def _projected(self, context: LoweringContext, value: Value) -> Value:
        if _PROJECTION not in self.matrices:
            return value
        projected = products(context, value, self.matrices[_PROJECTION])
        nest = LoopNest(context, "projection", context.extents(projected))
        scalar = nest.read(projected, nest.loops)
        if _PROJECTION_BIAS in self.vectors:
            bias = nest.read(self.vectors[_PROJECTION_BIAS], nest.loops[1:])
            scalar = nest.value("arith.addf", (bias, scalar), F32)
        return nest.finish(self._clipped(nest, scalar, "proj_clip"))[0]


def _normalized(context: LoweringContext, x: Value) -> tuple[Value, Value]:
    """Return ``x - mean(x)`` and ``1 / sqrt(variance(x) + 1e-8)`` of each row of ``x`` [batch, cells]."""
    batch, cells = context.extents(x)
    assert isinstance(cells, int)

    def mean(square: Value | None, stage: str) -> Value:
        nest = LoopNest(context, "accumulate", [batch], [cells])
        scalar = nest.read(x if square is None else square, nest.loops)
        term = scalar if square is None else nest.value("arith.mulf", (scalar, scalar), F32)
        (sums,) = nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), term), F32))
        nest = LoopNest(context, stage, [batch])
        quotient = nest.value("arith.divf", (nest.read(sums, nest.loops), nest.constant(float(cells), F32)), F32)
        if square is None:
            return nest.finish(quotient)[0]
        quotient = nest.value("arith.addf", (quotient, nest.constant(_EPSILON, F32)), F32)
        root = nest.value("math.sqrt", (quotient,), F32)
        return nest.finish(nest.value("arith.divf", (nest.constant(1.0, F32), root), F32))[0]

    middle = mean(None, "mean")
    nest = LoopNest(context, "centre", (batch, cells))
    apart = nest.value("arith.subf", (nest.read(x, nest.loops), nest.read(middle, nest.loops[:1])), F32)
    (centred,) = nest.finish(apart)
    return centred, mean(centred, "variance")


def _vector(node: Node, i: int) -> Value:
    """Return an input as float32: int8 peepholes are dequantized."""
    if node.type(i).element is F32 or not _PEEPHOLES <= i < _BIASES:
        require_floats(node, i)
        return node.value(i)
    return node.emit("quant.dcast", [node.value(i)], None, F32)
