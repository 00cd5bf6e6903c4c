"""Import of UNIDIRECTIONAL_SEQUENCE_LSTM and UNIDIRECTIONAL_SEQUENCE_RNN on floats, with a loop over the time steps.

A step computes gates from weighted sums of the step's inputs and of the hidden values of the step before. The hidden
values and the cells after the last step are stored in variables of the program. Of int8 weights, every step quantizes
what it multiplies by them: each row of the step's inputs, hidden values, and projected values.
"""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from qrt.ir import Attribute, Block, DenseArrayAttr, Region, Value
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I32, LoweringContext
from qrt.models.importing.float_products import total
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import activated, require_floats
from qrt.models.tflite.operators.operands import input_shape
from qrt.models.tflite.operators.run_time_quantization import parameters_of, stored_integers
from qrt.numerics import GATES
from qrt.types import IndexType, IntegerType, TensorType, UniformType

_INDEX, _I64, _OPEN = IndexType(), IntegerType(64), -(1 << 63)
_INPUT, _FORGET, _CELL, _OUTPUT = range(4)
_WEIGHTS, _RECURRENT, _PEEPHOLES, _BIASES, _NORMS = 1, 5, 9, 12, 20
_PROJECTION, _PROJECTION_BIAS, _HIDDEN_STATE, _CELL_STATE = 16, 17, 18, 19
_LEAST_VARIANCE = 1e-8
"""The value that replaces a variance of 0."""
_LESS = 4
"""The number of the predicate `olt` of arith.cmpf."""
Step = Callable[[LoweringContext, Value, Sequence[Value]], list[Value]]
"""Appends one step for the given inputs and state, and returns the new state; its first value is the step's result."""


def lstm(node: Node) -> None:
    """Import UNIDIRECTIONAL_SEQUENCE_LSTM: run an LSTM on float32 inputs, with float32 or int8 weights.

    CIFG, peepholes, projection and layer normalization are supported.
    """
    cells = input_shape(node, _CELL_STATE)[-1:]
    gates = range(_FORGET if not node.has(_WEIGHTS) else _INPUT, _OUTPUT + 1)
    for number in range(_OUTPUT + 1):
        if (number in gates) != node.has(_RECURRENT + number) or (number in gates) != node.has(_BIASES + number):
            node.fail(f"the {GATES[number]} gate must have all of its weights and biases or none, but has only some")
    _check(node, _Lstm.operands(node, gates), cells)
    _run(node, _Lstm(node, gates).step, (_HIDDEN_STATE, _CELL_STATE))


def rnn(node: Node) -> None:
    """Import UNIDIRECTIONAL_SEQUENCE_RNN: run an RNN on float32 inputs, with float32 or int8 weights.

    Each step computes ``activation(bias + W x + R h)`` from its inputs x and the hidden values h of the step before.
    """
    inputs, hidden = input_shape(node)[-1:], input_shape(node, 4)[-1:]
    _check(node, {1: (*hidden, *inputs), 2: (*hidden, *hidden), 3: hidden}, hidden)
    _require_one_dtype(node, 1, 2)
    require_floats(node, 0, 3, 4)
    weights, bias = [_matrix(node, i) for i in (1, 2)], node.value(3)

    def step(context: LoweringContext, x: Value, before: Sequence[Value]) -> list[Value]:
        sums = [_products(context, a, w) for a, w in ((x, weights[0]), (before[0], weights[1]))]
        nest = LoopNest(context, "gate", context.extents(sums[0]))
        scalar = nest.read(bias, nest.loops[1:])
        for rows in sums:
            scalar = nest.value("arith.addf", (scalar, nest.read(rows, nest.loops)), F32)
        return nest.finish(activated(node, nest, scalar, node.options["fused_activation_function"]))

    _run(node, step, (4,))


# -- sequences -------------------------------------------------------------------------------------------------------


def _check(node: Node, shapes: dict[int, tuple[int | None, ...]], cells: tuple[int | None, ...]) -> None:
    """Raise UnsupportedForm for dynamic sizes, and ModelError if the shape of an input is not that in ``shapes``.

    ``shapes`` has the expected shapes by input number, and ``cells`` is (number of cells,).
    """
    if len(input_shape(node)) != 3 or None in (*input_shape(node), *cells):
        node.refuse(f"inputs {node.type(0).shown()}")
    for i, wanted in shapes.items():
        if node.has(i) and input_shape(node, i) != wanted:
            node.fail(f"input {i} must have the shape {list(wanted)}, got {list(input_shape(node, i))}")


def _run(node: Node, step: Step, states: tuple[int, ...]) -> None:
    """Import all steps of a recurrent operator, set its result, and store its state after the last step.

    ``step`` appends one step. ``states`` are the numbers of the inputs that are the operator's state.
    """
    x, is_first = node.value(0), bool(node.options["time_major"])
    if not is_first:
        x = node.emit("qrt.transpose", [x], {"permutation": (1, 0, 2)})
    assert isinstance(x.type, TensorType)
    steps, batch, depth = (size or 0 for size in x.type.shape or ())
    for i in states:
        if not node.input(i).is_variable or input_shape(node, i)[:-1] != (batch,) or len(input_shape(node, i)) != 2:
            node.fail(f"input {i} (a state) must be a variable of rank 2 with {batch} rows, got {node.type(i).shown()}")
    before = [node.value(i) for i in states]
    if steps == 1:
        row = node.emit("qrt.reshape", [x], None, TensorType((batch, depth), F32))
        after = step(lowering_context(node), row, before)
        y = after[0]
    else:
        y, *after = _loop(node, x, step, before)
    shape = (steps, batch, (input_shape(node, states[0]))[1])
    y = node.emit("qrt.reshape", [y], None, TensorType(shape, F32))
    node.set(0, y if is_first else node.emit("qrt.transpose", [y], {"permutation": (1, 0, 2)}))
    for i, value in zip(states, after, strict=True):
        node.graph.store(node.op, node.graph.variable(node.input(i)), value)


def _loop(node: Node, x: Value, step: Step, before: Sequence[Value]) -> list[Value]:
    """Append an `scf.for` over the steps of ``x`` [steps, batch, inputs], with the initial state ``before``.

    Return the results of all steps [steps, batch, cells], followed by the final state.
    """
    context = lowering_context(node)
    steps, batch, depth = (size or 0 for size in shape_of_value(x))
    cells = shape_of_value(before[0])[1]
    y = context.value("tensor.empty", (), TensorType((steps, batch, cells), F32))
    types = [y.type, *(value.type for value in before)]
    block = Block([_INDEX, *types])
    counter, results, *state = block.arguments
    inside = LoweringContext(block, context.location)
    row = _slice(inside, "tensor.extract_slice", (x,), counter, (batch, depth), TensorType((batch, depth), F32))
    after = step(inside, row, state)
    results = _slice(inside, "tensor.insert_slice", (after[0], results), counter, (batch, cells or 0), results.type)
    inside.emit("scf.yield", [results, *after])
    ends = [context.constant(n, _INDEX) for n in (0, steps, 1)]
    return list(context.emit("scf.for", [*ends, y, *before], types, {}, [Region([block])]).results)


def shape_of_value(value: Value) -> tuple[int | None, ...]:
    """Return the shape of a tensor value."""
    assert isinstance(value.type, TensorType)
    return value.type.shape or ()


def _slice(
    context: LoweringContext, name: str, tensors: tuple[Value, ...], at: Value, sizes: tuple[int, int], type: object
) -> Value:
    """Append a `tensor.extract_slice` or `tensor.insert_slice` (``name``) of the step with index ``at``.

    ``sizes`` is the shape of one step, and ``type`` the type of the result.
    """
    attributes: dict[str, Attribute] = {
        "static_offsets": DenseArrayAttr(_I64, (_OPEN, 0, 0)),
        "static_sizes": DenseArrayAttr(_I64, (1, *sizes)),
        "static_strides": DenseArrayAttr(_I64, (1, 1, 1)),
        OPERAND_SEGMENTS: segments(*[1] * len(tensors), 1, 0, 0),
    }
    assert isinstance(type, TensorType)
    return context.value(name, (*tensors, at), type, attributes)


# -- weights ---------------------------------------------------------------------------------------------------------


class _Matrix(NamedTuple):
    """Weights [units, depth]: floats, or int8 with a ``scale`` and the rule by which their operand is quantized."""

    value: Value
    scale: float | None = None
    rule: str = ""


def _matrix(node: Node, i: int) -> _Matrix:
    """Return the weights of input ``i``. Raise UnsupportedForm if they are not float32 or symmetric int8."""
    element = node.type(i).element
    if element is F32:
        return _Matrix(node.value(i))
    if not isinstance(element, UniformType) or element.storage != "i8" or not element.is_per_layer:
        node.refuse(f"float32 with weights of {node.input(i).dtype}, or of several scales")
    if element.zero_point:
        node.refuse("float32 with weights that have a zero point")
    is_asymmetric = bool(node.options.get("asymmetric_quantize_inputs", False))
    rule = node.rule("hybrid", operator=node.op.name, is_asymmetric=is_asymmetric)
    if rule == "floats":
        return _Matrix(node.emit("quant.dcast", [node.value(i)], None, F32))
    array = node.constant(i)
    if array is None:
        node.refuse("float32 with int8 weights known only at run time")
    return _Matrix(node.dense(array, element.storage_type), element.scale, rule)


def _vector(node: Node, i: int) -> Value:
    """Return an input as float32: int8 peepholes are dequantized."""
    if node.type(i).element is F32 or not _PEEPHOLES <= i < _BIASES:
        require_floats(node, i)
        return node.value(i)
    return node.emit("quant.dcast", [node.value(i)], None, F32)


def _require_one_dtype(node: Node, *operands: int) -> None:
    """Raise UnsupportedForm if the inputs with these numbers have several dtypes."""
    dtypes = {node.input(i).dtype for i in operands if node.has(i)}
    if len(dtypes) > 1:
        node.refuse(f"weights of {' and '.join(sorted(dtypes))}")


def _products(context: LoweringContext, x: Value, w: _Matrix) -> Value:
    """Return the product of ``x`` [batch, depth] and weights ``w`` [units, depth].

    Products of floats are summed by fused multiply-adds, those of integers exactly.
    """
    parallel, reduced = [context.extent(x, 0), context.extent(w.value, 0)], [context.extent(w.value, 1)]
    if w.scale is None:

        def operands(nest: LoopNest) -> tuple[Value, Value]:
            row, unit, k = nest.loops
            return nest.read(x, (row, k)), nest.read(w.value, (unit, k))

        return total(context, parallel, reduced, operands, "bias_then_fma", None)
    parameters = parameters_of(context, x, (1,), parallel[:1], w.rule)
    centred = stored_integers(context, x, parameters, (0,), w.rule, I32)
    nest = LoopNest(context, "accumulate", parallel, reduced)
    row, unit, k = nest.loops
    factors = nest.read(centred, (row, k)), nest.extend(nest.read(w.value, (unit, k)), I32)
    product = nest.value("arith.muli", factors, I32)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(I32, 0), product), I32))
    nest = LoopNest(context, "scale", parallel)
    scale = nest.value("arith.mulf", (nest.read(parameters.unit, nest.loops[:1]), nest.constant(w.scale, F32)), F32)
    number = nest.value("arith.sitofp", (nest.read(sums, nest.loops),), F32)
    return nest.finish(nest.value("arith.mulf", (number, scale), F32))[0]


# -- lstm ------------------------------------------------------------------------------------------------------------


class _Lstm:
    """A float LSTM during import, with its weights (``matrices``) and its biases, peepholes and norms (``vectors``).

    Both are by input number.
    """

    def __init__(self, node: Node, gates: range) -> None:
        self.node, self.gates = node, gates
        given = {i: shape for i, shape in self.operands(node, gates).items() if node.has(i)}
        _require_one_dtype(node, *(i for i in given if len(given[i]) == 2 or _PEEPHOLES <= i < _BIASES))
        require_floats(node, 0, _HIDDEN_STATE, _CELL_STATE)
        self.matrices = {i: _matrix(node, i) for i, shape in given.items() if len(shape) == 2}
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
            _products(context, rows, self.matrices[first + number])
            for rows, first in ((x, _WEIGHTS), (hidden, _RECURRENT))
        ]
        norm, peephole = self.vectors.get(_NORMS + number), None
        if number != _CELL:
            peephole = self.vectors.get(_PEEPHOLES + (2 if number == _OUTPUT else number))
        nest = LoopNest(context, "gate", context.extents(cell))
        last, bias = nest.loops[1:], self.vectors[_BIASES + number]
        scalar = nest.constant(0.0, F32) if norm is not None else nest.read(bias, last)
        for products in sums:
            scalar = nest.value("arith.addf", (scalar, nest.read(products, nest.loops)), F32)
        if peephole is not None:
            product = nest.value("arith.mulf", (nest.read(peephole, last), nest.read(cell, nest.loops)), F32)
            scalar = nest.value("arith.addf", (scalar, product), F32)
        if norm is not None:
            centred, inverse = _normalized(context, nest.finish(scalar)[0])
            nest = LoopNest(context, "gate", context.extents(cell))
            scalar = nest.value("arith.mulf", (nest.read(centred, nest.loops), nest.read(inverse, nest.loops[:1])), F32)
            scalar = nest.value("arith.mulf", (scalar, nest.read(norm, nest.loops[1:])), F32)
            scalar = nest.value("arith.addf", (scalar, nest.read(bias, nest.loops[1:])), F32)
        return nest.finish(self._activated(nest, scalar) if number == _CELL else _logistic(nest, scalar))[0]

    def _projected(self, context: LoweringContext, value: Value) -> Value:
        if _PROJECTION not in self.matrices:
            return value
        projected = _products(context, value, self.matrices[_PROJECTION])
        nest = LoopNest(context, "projection", context.extents(projected))
        scalar = nest.read(projected, nest.loops)
        if _PROJECTION_BIAS in self.vectors:
            bias = nest.read(self.vectors[_PROJECTION_BIAS], nest.loops[1:])
            scalar = nest.value("arith.addf", (bias, scalar), F32)
        return nest.finish(self._clipped(nest, scalar, "proj_clip"))[0]


def _logistic(nest: LoopNest, x: Value) -> Value:
    """Append the sigmoid of a scalar, computed from exp(-abs(x)), which cannot overflow."""
    one = nest.constant(1.0, F32)
    power = nest.value("math.exp", (nest.value("arith.negf", (nest.value("math.absf", (x,), F32),), F32),), F32)
    quotient = nest.value("arith.divf", (one, nest.value("arith.addf", (one, power), F32)), F32)
    is_negative = nest.compare_floats(_LESS, x, nest.constant(0.0, F32))
    return nest.value("arith.select", (is_negative, nest.value("arith.mulf", (power, quotient), F32), quotient), F32)


def _normalized(context: LoweringContext, x: Value) -> tuple[Value, Value]:
    """Return ``x - mean(x)`` and ``1 / standard_deviation(x)`` of each row of ``x`` [batch, cells]."""
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
        is_zero = nest.compare_floats(1, quotient, nest.constant(0.0, F32))
        quotient = nest.value("arith.select", (is_zero, nest.constant(_LEAST_VARIANCE, F32), quotient), F32)
        root = nest.value("math.sqrt", (quotient,), F32)
        return nest.finish(nest.value("arith.divf", (nest.constant(1.0, F32), root), F32))[0]

    middle = mean(None, "mean")
    nest = LoopNest(context, "centre", (batch, cells))
    apart = nest.value("arith.subf", (nest.read(x, nest.loops), nest.read(middle, nest.loops[:1])), F32)
    (centred,) = nest.finish(apart)
    return centred, mean(centred, "variance")
