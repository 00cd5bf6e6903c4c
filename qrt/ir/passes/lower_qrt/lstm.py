"""Lowering of lstm, step by step.

A step computes the pre-activations of each gate, then the cell and the hidden values. Logistic and tanh are read from
tables with an entry for each 16-bit value.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

import qrt.numerics as numerics
from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I8, I16, I64, LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.gemmlowp import Fixed
from qrt.ir.passes.lower_qrt.lookup import entry_of
from qrt.ir.passes.lower_qrt.recurrent import INT16_RANGE, products, saturated, scaled
from qrt.ir.passes.lower_qrt.requantize import clamp
from qrt.ir.passes.lower_qrt.transpose_conv import static_slice
from qrt.numerics.fixed_functions import logistic, tanh
from qrt.ops.core import Attributes
from qrt.ops.lstm import lstm_parameters, operand_names

_LESS = 2
"""The predicate `slt` of arith.cmpi."""


@dataclass
class _Lstm:
    """The parts of a lowered lstm that all steps share: operands by name, parameters, tables of logistic and tanh."""

    context: LoweringContext
    stored: Mapping[str, Value]
    p: numerics.LstmParameters
    time_major: bool

    def __post_init__(self) -> None:
        self.batch, self.cells = self.context.extents(self.stored["cell"])
        self.values = self.context.extent(self.stored["hidden"], 1)
        words = np.arange(INT16_RANGE[0], INT16_RANGE[1] + 1, dtype=np.int64)
        bits = numerics.GATE_INTEGER_BITS
        self.context.stage("table")
        results = logistic(words, bits, 16), tanh(words, bits, 16), tanh(words, 15 + self.p.cell_exponent, 16)
        self.logistic, self.tanh, self.cell_tanh = (self.context.dense(table, I16) for table in results)

    def gate(self, number: int, x: Value, hidden: Value, cell: Value) -> Value:
        """Emit the 16-bit pre-activations [batch, cells] of gate `number` of `numerics.GATES`."""
        gate, name = self.p.gates[number], numerics.GATES[number]
        assert gate is not None
        sums = [
            products(self.context, a, self.stored[w], self.batch, self.cells, zero_point, is_step=self.time_major)
            for a, w, zero_point in (
                (x, f"w_{name}", self.p.input_zero_point),
                (hidden, f"r_{name}", self.p.hidden_zero_point),
            )
        ]
        whole = 0 if gate.peephole is None else self.context.in_blocks((self.cells,))
        nest = LoopNest(self.context, "gate", (self.batch, self.cells))
        of_x, of_hidden = (nest.read(part, nest.loops) for part in sums)
        if gate.norm is None:
            bias = nest.extend(nest.read(self.stored[f"b_{name}"], nest.loops[1:]), I64)
            of_x = nest.value("arith.addi", (of_x, bias), I64)
        total = saturated(nest, scaled(nest, of_x, gate.input))
        total = saturated(nest, nest.value("arith.addi", (total, scaled(nest, of_hidden, gate.recurrent)), I64))
        if gate.peephole is not None:
            weight = nest.extend(nest.read(self.stored[f"p_{name}"], nest.loops[1:]), I64)
            fixed, limit = Fixed(nest), nest.constant(whole, INDEX) if isinstance(whole, int) else whole
            product = fixed.saturate(fixed.emit("muli", weight, nest.extend(nest.read(cell, nest.loops), I64)))
            is_whole = nest.compare(_LESS, nest.position(nest.loops[1]), limit)
            by_blocks = fixed.scale_half_up(product, *gate.peephole)
            product = fixed.select(is_whole, by_blocks, fixed.scale(product, *gate.peephole))
            total = saturated(nest, fixed.add(total, product))
        (narrow,) = nest.finish(nest.value("arith.trunci", (total,), I16))
        return narrow if gate.norm is None else self.normalized(narrow, name, gate)

    def normalized(self, sums: Value, name: str, gate: numerics.LstmGate) -> Value:
        """Emit the layer normalization of each row of `sums`, the pre-activations of the gate called `name`."""
        assert gate.norm is not None
        assert isinstance(self.cells, int)  # the family's weights have known sizes
        nest = LoopNest(self.context, "accumulate", (self.batch,), (self.cells,))
        value = nest.extend(nest.read(sums, nest.loops), I64)
        total = nest.value("arith.addi", (nest.running(I64, 0), value), I64)
        (total,) = nest.finish(total)
        nest = LoopNest(self.context, "accumulate", (self.batch,), (self.cells,))
        value = nest.extend(nest.read(sums, nest.loops), I64)
        square = nest.value("arith.muli", (value, value), I64)
        (squares,) = nest.finish(nest.value("arith.addi", (nest.running(I64, 0), square), I64))
        bits = numerics.NORM_BITS
        nest = LoopNest(self.context, "variance", (self.batch,))
        fixed = Fixed(nest)
        mean = fixed.emit("divsi", fixed.left(nest.read(total, nest.loops), bits), max(self.cells, 1))
        share = fixed.emit("muli", nest.read(squares, nest.loops), (1 << 2 * bits) // max(self.cells, 1))
        variance = fixed.right(fixed.subtract(share, fixed.emit("muli", mean, mean)), 2 * bits)
        is_small = nest.compare(_LESS, variance, fixed.value(1))
        mean, root, right = nest.finish(
            mean, *fixed.inverse_root(fixed.select(is_small, gate.least_variance, variance))
        )
        nest = LoopNest(self.context, "normalize", (self.batch, self.cells))
        fixed, (row, last) = Fixed(nest), (nest.loops[:1], nest.loops[1:])
        apart = fixed.left(nest.extend(nest.read(sums, nest.loops), I64), bits)
        apart = fixed.subtract(apart, nest.read(mean, row))
        apart = fixed.divide(fixed.multiply(apart, nest.read(root, row)), nest.read(right, row))
        weighted = fixed.emit("muli", apart, nest.extend(nest.read(self.stored[f"n_{name}"], last), I64))
        weighted = fixed.add(weighted, nest.extend(nest.read(self.stored[f"b_{name}"], last), I64))
        is_positive = nest.compare(_LESS, fixed.value(0), weighted)
        half = fixed.select(is_positive, 1 << (bits - 1), -(1 << (bits - 1)))
        value = scaled(nest, fixed.emit("divsi", fixed.add(weighted, half), 1 << bits), gate.norm)
        return nest.finish(nest.value("arith.trunci", (saturated(nest, value),), I16))[0]

    def step(self, x: Value, hidden: Value, cell: Value) -> tuple[Value, Value]:
        """Emit one step and return (hidden values, cell values) after it."""
        gates = [None if gate is None else self.gate(i, x, hidden, cell) for i, gate in enumerate(self.p.gates[:3])]
        nest = LoopNest(self.context, "cell", (self.batch, self.cells))
        fixed = Fixed(nest)

        def function(nest: LoopNest, table: Value, sums: Value) -> Value:
            return nest.extend(entry_of(nest, nest.read(sums, nest.loops), table, INT16_RANGE[0], True), I64)

        assert gates[1] is not None
        assert gates[2] is not None
        forget = function(nest, self.logistic, gates[1])
        enter = fixed.subtract(INT16_RANGE[1], forget) if gates[0] is None else function(nest, self.logistic, gates[0])
        product = fixed.emit("muli", forget, nest.extend(nest.read(cell, nest.loops), I64))
        retained = saturated(nest, fixed.divide(product, 15))
        product = fixed.emit("muli", enter, function(nest, self.tanh, gates[2]))
        added = saturated(nest, fixed.divide(product, 30 + self.p.cell_exponent))
        value = clamp(nest, saturated(nest, fixed.add(retained, added)), -self.p.cell_clip, self.p.cell_clip)
        (after,) = nest.finish(nest.value("arith.trunci", (value,), I16))
        out = self.gate(3, x, hidden, after)  # its peephole sees the new cell
        nest = LoopNest(self.context, "hidden", (self.batch, self.cells))
        fixed = Fixed(nest)
        product = fixed.emit("muli", function(nest, self.logistic, out), function(nest, self.cell_tanh, after))
        output = fixed.add(scaled(nest, product, self.p.cell_output), self.p.made_zero_point)
        (output,) = nest.finish(nest.value("arith.trunci", (clamp(nest, output, -128, 127),), I8))
        return self.projected(output), after

    def projected(self, output: Value) -> Value:
        if self.p.projection is None:
            return output
        weights, bias = self.stored["projection"], self.stored.get("projection_bias")
        sums = products(self.context, output, weights, self.batch, self.values, self.p.made_zero_point, is_step=False)
        nest = LoopNest(self.context, "projection", (self.batch, self.values))
        total, fixed = nest.read(sums, nest.loops), Fixed(nest)
        if bias is not None:
            total = fixed.add(total, nest.extend(nest.read(bias, nest.loops[1:]), I64))
        value = clamp(nest, fixed.add(scaled(nest, total, self.p.projection), self.p.result_zero_point), -128, 127)
        value = clamp(nest, value, -self.p.projection_clip, self.p.projection_clip)
        return nest.finish(nest.value("arith.trunci", (value,), I8))[0]


def lower_lstm(context: LoweringContext, op: Operation, attributes: Attributes) -> list[Value]:
    """Lower a qrt.lstm and return its results as storage integers: [all hidden values, last hidden values, cell].

    Raises QuantTypeError for a dynamic number of steps.
    """
    types = tuple(map(tensor_type, op.operands))
    p = lstm_parameters(types, tuple(map(tensor_type, op.results)), attributes)
    axis = 0 if attributes["time_major"] else 1
    steps = (types[0].shape or ())[axis]
    if steps is None:
        raise QuantTypeError(f"the number of steps (dimension {axis} of 'x') must be static, got {types[0]}")
    stored = dict(zip(operand_names(attributes, len(types)), map(context.storage, op.operands), strict=True))
    x, hidden, cell = stored["x"], stored["hidden"], stored["cell"]
    lstm = _Lstm(context, stored, p, bool(attributes["time_major"]))
    if attributes["layer_norm"] and not isinstance(lstm.cells, int):
        raise QuantTypeError(
            f"with layer_norm, the number of cells (the last dimension of 'cell') must be static, got {types[-1]}"
        )
    sizes = list(context.extents(x))
    sizes[axis] = 1
    y = context.empty([*(steps if i == axis else size for i, size in enumerate(sizes[:2])), lstm.values], I8)
    for step in range(steps):
        offsets = [step if i == axis else 0 for i in range(3)]
        context.stage("step")
        part = static_slice(context, "tensor.extract_slice", (x,), offsets, sizes, (1, 1, 1))
        hidden, cell = lstm.step(part, hidden, cell)
        nest = LoopNest(context, "step", (*sizes[:2], lstm.values))
        at = (nest.loops[1 - axis], nest.loops[2])
        (line,) = nest.finish(nest.read(hidden, at))
        y = static_slice(context, "tensor.insert_slice", (line, y), offsets, (*sizes[:2], lstm.values), (1, 1, 1))
    return [y, hidden, cell]
