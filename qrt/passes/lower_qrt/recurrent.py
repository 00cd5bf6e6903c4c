"""lstm and svdf: the steps one after the other. A step has the sums of each gate, and then what becomes of the cell and
of the hidden values, whose functions are tables of all 16-bit results."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt import numerics
from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import add, multiply
from qrt.numerics.fixed_functions import logistic, tanh
from qrt.ops.core import Attributes
from qrt.ops.recurrent import lstm_parameters, svdf_parameters
from qrt.passes.lower_qrt.gemmlowp import Fixed
from qrt.passes.lower_qrt.lookup import entry_of
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.requantize import clamp
from qrt.passes.lower_qrt.site import I8, I16, I64, Extent, Site, tensor_type
from qrt.passes.lower_qrt.transpose_conv import static_slice

_WORD = -(1 << 15), (1 << 15) - 1


def _saturate(nest: Nest, x: Value) -> Value:
    return clamp(nest, x, *_WORD)


def _scaled(nest: Nest, x: Value, multiplier: tuple[int, int]) -> Value:
    fixed = Fixed(nest)
    return fixed.scale(fixed.saturate(x), *multiplier)


def _products(site: Site, x: Value, w: Value, batch: Extent, rows: Extent, zero_point: int, *, is_step: bool) -> Value:
    """Sums of `(x - zero point) * w` along the last axes: [batch, rows] of i64. x may have an axis of one step inside,
    or before the batch."""
    depth = site.extent(w, 1)
    nest = Nest(site, "accumulate", (batch, rows), (depth,))
    b, row, k = nest.loops
    shape = tensor_type(x).shape or ()
    at = (b, k) if len(shape) == 2 else (0, b, k) if is_step else (b, 0, k)
    value = nest.extend(nest.read(x, at), I64)
    value = nest.emit("arith.subi", (value, nest.constant(zero_point, I64)), I64)
    term = nest.emit("arith.muli", (value, nest.extend(nest.read(w, (row, k)), I64)), I64)
    return nest.finish(nest.emit("arith.addi", (nest.running(I64, 0), term), I64))[0]


@dataclass
class _Lstm:
    """The parts of an lstm that its steps share."""

    site: Site
    stored: Sequence[Value]
    p: numerics.LstmParameters
    time_major: bool

    def __post_init__(self) -> None:
        self.batch, self.cells = self.site.extent(self.stored[14], 0), self.site.extent(self.stored[14], 1)
        words = np.arange(_WORD[0], _WORD[1] + 1, dtype=np.int64)
        bits = numerics.GATE_INTEGER_BITS
        self.site.stage("table")
        results = logistic(words, bits, 16), tanh(words, bits, 16), tanh(words, 15 + self.p.cell_exponent, 16)
        self.logistic, self.tanh, self.cell_tanh = (self.site.tensor(table, I16) for table in results)

    def gate(self, number: int, x: Value, hidden: Value) -> Value:
        """The 16-bit sums of a gate."""
        w, r, bias = (self.stored[first + number] for first in (1, 5, 9))
        sums = [
            _products(self.site, a, b, self.batch, self.cells, zero_point, is_step=self.time_major)
            for a, b, zero_point in ((x, w, self.p.input_zero_point), (hidden, r, self.p.hidden_zero_point))
        ]
        nest = Nest(self.site, "gate", (self.batch, self.cells))
        of_x, of_hidden = (nest.read(each, nest.loops) for each in sums)
        total = nest.emit("arith.addi", (of_x, nest.extend(nest.read(bias, nest.loops[1:]), I64)), I64)
        first = _saturate(nest, _scaled(nest, total, self.p.input[number]))
        then = _scaled(nest, of_hidden, self.p.recurrent[number])
        gate = _saturate(nest, nest.emit("arith.addi", (first, then), I64))
        return nest.finish(nest.emit("arith.trunci", (gate,), I16))[0]

    def step(self, x: Value, hidden: Value, cell: Value) -> list[Value]:
        """(hidden, cell) after a step."""
        gates = [self.gate(number, x, hidden) for number in range(4)]
        nest = Nest(self.site, "cell", (self.batch, self.cells))
        fixed = Fixed(nest)

        def function(table: Value, value: Value) -> Value:
            return nest.extend(entry_of(nest, value, table, _WORD[0], True), I64)

        sums = [nest.read(gate, nest.loops) for gate in gates]
        enter, forget, out = (function(self.logistic, sums[number]) for number in (0, 1, 3))
        product = fixed.emit("muli", forget, nest.extend(nest.read(cell, nest.loops), I64))
        kept = _saturate(nest, fixed.divide(product, 15))
        product = fixed.emit("muli", enter, function(self.tanh, sums[2]))
        added = _saturate(nest, fixed.divide(product, 30 + self.p.cell_exponent))
        value = _saturate(nest, fixed.add(kept, added))
        value = clamp(nest, value, -self.p.cell_clip, self.p.cell_clip)
        after = nest.emit("arith.trunci", (value,), I16)
        activated = function(self.cell_tanh, after)
        made = _scaled(nest, fixed.emit("muli", out, activated), self.p.result)
        made = clamp(nest, fixed.add(made, self.p.result_zero_point), -128, 127)
        return nest.finish(nest.emit("arith.trunci", (made,), I8), after)


def lower_lstm(site: Site, op: Operation, attributes: Attributes) -> list[Value]:
    """Storage of the results. Raises QuantTypeError where the number of steps is not known."""
    types = tuple(map(tensor_type, op.operands))
    p = lstm_parameters(types, tuple(map(tensor_type, op.results)), attributes)
    axis = 0 if attributes["time_major"] else 1
    steps = (types[0].shape or ())[axis]
    if steps is None:
        raise QuantTypeError(f"the number of steps of {types[0]} must be known")
    stored = [site.storage(value) for value in op.operands]
    x, hidden, cell = stored[0], stored[13], stored[14]
    lstm = _Lstm(site, stored, p, bool(attributes["time_major"]))
    sizes = list(site.extents(x))
    sizes[axis] = 1
    y = site.empty([*(steps if i == axis else size for i, size in enumerate(sizes[:2])), lstm.cells], I8)
    for step in range(steps):
        offsets = [step if i == axis else 0 for i in range(3)]
        site.stage("step")
        part = static_slice(site, "tensor.extract_slice", (x,), offsets, sizes, (1, 1, 1))
        hidden, cell = lstm.step(part, hidden, cell)
        nest = Nest(site, "step", (*sizes[:2], lstm.cells))
        at = (nest.loops[1 - axis], nest.loops[2])
        (line,) = nest.finish(nest.read(hidden, at))
        y = static_slice(site, "tensor.insert_slice", (line, y), offsets, (*sizes[:2], lstm.cells), (1, 1, 1))
    return [y, hidden, cell]


def lower_svdf(site: Site, op: Operation, attributes: Attributes) -> list[Value]:
    """Storage of the results."""
    types = tuple(map(tensor_type, op.operands))
    p, rank = svdf_parameters(types, tuple(map(tensor_type, op.results))), int(attributes["rank"])
    x, feature, time, state, *bias = (site.storage(value) for value in op.operands)
    batch = site.extent(x, 0)
    filters, memory = types[2].shape or ()
    assert filters is not None  # the family needs both
    assert memory is not None
    found = _products(site, x, feature, batch, filters, p.input_zero_point, is_step=False)
    nest = Nest(site, "feature", (batch, filters))
    newest = _saturate(nest, _scaled(nest, nest.read(found, nest.loops), p.feature))
    (newest,) = nest.finish(nest.emit("arith.trunci", (newest,), I16))
    after = state
    site.stage("state")
    if filters * memory > 1:  # each filter's last place gets the first of the next one, until the newest stands there
        sizes = batch, filters * memory - 1
        moved = static_slice(site, "tensor.extract_slice", (state,), (0, 1), sizes, (1, 1))
        after = static_slice(site, "tensor.insert_slice", (moved, state), (0, 0), sizes, (1, 1))
    places = (0, memory - 1), (batch, filters), (1, memory)
    after = static_slice(site, "tensor.insert_slice", (newest, after), *places)
    nest = Nest(site, "accumulate", (batch, filters // rank), (rank, memory))
    b, unit, r, moment = nest.loops
    row = add(multiply(unit, rank), r)
    place = add(multiply(row, memory), moment)
    pair = [nest.extend(nest.read(tensor, at), I64) for tensor, at in ((after, (b, place)), (time, (row, moment)))]
    term = nest.emit("arith.muli", pair, I64)
    (sums,) = nest.finish(nest.emit("arith.addi", (nest.running(I64, 0), term), I64))
    nest = Nest(site, "requantize", (batch, filters // rank))
    total = nest.read(sums, nest.loops)
    if bias:
        total = nest.emit("arith.addi", (total, nest.extend(nest.read(bias[0], nest.loops[1:]), I64)), I64)
    made = Fixed(nest).add(_scaled(nest, total, p.result), p.result_zero_point)
    (y,) = nest.finish(nest.emit("arith.trunci", (clamp(nest, made, -128, 127),), I8))
    return [y, after]
