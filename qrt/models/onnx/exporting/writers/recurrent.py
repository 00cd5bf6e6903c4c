"""The export of `qrt.lstm` as a Scan of integers.

Each step of the arithmetic is exact in 64 bits, so that other runtimes give the program's bits. Functions of 16-bit
integers are tables of all their values.
"""

import numpy as np

from qrt.models.onnx.exporting.graph import Body
from qrt.models.onnx.exporting.group import Group
from qrt.numerics import fixed_functions
from qrt.numerics.recurrent import GATE_INTEGER_BITS, LstmParameters
from qrt.ops.core import Array
from qrt.ops.lstm import lstm_parameters
from qrt.types import TensorType

_MOST_DEPTH = 1 << 15
"""The most products of 8 bits whose sum stays within 32 bits."""
_INT8, _INT16, _INT64 = 3, 5, 7
"""ONNX's numbers of types."""
_FURTHER = {
    "cifg": "a forget gate without an input gate",
    "peepholes": "peepholes",
    "layer_norm": "layer normalization",
    "projection": "a projection",
}
"""Attributes of forms that are not exported, with their descriptions."""
_WORDS = np.arange(-(1 << 15), 1 << 15)


def lstm(group: Group) -> None:
    """Export the operation as a Scan over the steps, of MatMulInteger, arithmetic of int64, and Gather from tables."""
    op = group.op
    for name, what in _FURTHER.items():
        if group.attributes[name]:
            group.refuse(what)
    types = tuple(value.type for value in op.operands if isinstance(value.type, TensorType))
    results = tuple(value.type for value in op.results if isinstance(value.type, TensorType))
    step = _Step(group, lstm_parameters(types, results, group.attributes))
    body = step.body()
    axis = 0 if group.attributes["time_major"] else 1
    states = group.stored(13), group.stored(14)
    hidden, cell, y = group.nodes(
        "Scan", [*states, group.stored(0)], 3, body=body, num_scan_inputs=1, scan_input_axes=[axis],
        scan_output_axes=[axis],
    )  # fmt: skip
    for i, name in enumerate((y, hidden, cell)):
        group.set_stored(name, i=i)


class _Step:
    """One step of the LSTM, which is the body of the Scan. Its tensors are int64 unless otherwise noted."""

    def __init__(self, group: Group, parameters: LstmParameters) -> None:
        self.group, self.parameters = group, parameters
        self.weights = [self._weights(i) for i in range(1, 9)]
        self.biases = [self._cast(group.stored(i), _INT64) for i in range(9, 13)]
        self.logistic = self._table(fixed_functions.logistic(_WORDS, GATE_INTEGER_BITS, 16), "logistic")
        self.tanh = self._table(fixed_functions.tanh(_WORDS, GATE_INTEGER_BITS, 16), "tanh")
        of_cell = fixed_functions.tanh(_WORDS, 15 + parameters.cell_exponent, 16)
        self.tanh_of_cell = self._table(of_cell, "tanh_of_cell")
        self._numbers: dict[int, str] = {}
        group.graph.need(12)  # Max and Min of int64

    def _weights(self, i: int) -> str:
        weights = self.group.operand(i)
        if weights.array is None:
            self.group.refuse("weights that are not constant")
        if weights.array.shape[1] > _MOST_DEPTH:
            self.group.refuse(f"sums of {weights.array.shape[1]} products")
        return self.group.stored(i, (1, 0))

    def body(self) -> Body:
        """Return the graph of a step, with inputs (hidden state, cell state, step's input).

        Its outputs are the next hidden state, the next cell state, and a copy of the next hidden state, which is the
        operation's output.
        """
        group, p = self.group, self.parameters
        (batch, cells), x_shape = group.operand(14).shape, group.operand(0).shape
        names = [group.graph.tensors.fresh(f"{group.name}/step/{name}") for name in ("hidden", "cell", "x")]
        hidden, cell, x = names
        with group.graph.inner() as nodes:
            gates = [self._gate(i, x, hidden) for i in range(4)]
            enter, forget, out = (self._looked_up(self.logistic, gates[i]) for i in (0, 1, 3))
            candidate = self._looked_up(self.tanh, gates[2])
            remembered = self._saturated(self._divided(self._node("Mul", forget, self._cast(cell, _INT64)), 15), 16)
            added = self._divided(self._node("Mul", enter, candidate), 30 + p.cell_exponent)
            new = self._saturated(self._node("Add", remembered, self._saturated(added, 16)), 16)
            new = self._within(new, -p.cell_clip, p.cell_clip)
            output = self._node("Mul", out, self._looked_up(self.tanh_of_cell, new))
            output = self._node("Add", self._scaled(output, *p.cell_output), self._number(p.made_zero_point))
            given = self._cast(self._saturated(output, 8), _INT8)
            ends = [given, self._cast(new, _INT16), self._node("Identity", given)]
        ports = [("INT8", (batch, cells)), ("INT16", (batch, cells)), ("INT8", (batch, x_shape[-1]))]
        last = [*ports[:2], ports[0]]
        return Body(
            [(name, *port) for name, port in zip(names, ports, strict=True)],
            [(name, *port) for name, port in zip(ends, last, strict=True)],
            nodes,
        )

    def _gate(self, i: int, x: str, hidden: str) -> str:
        """Return the ONNX name of the pre-activation of gate ``i``, saturated to int16."""
        p, gate = self.parameters, self.parameters.gates[i]
        assert gate is not None  # only CIFG has no input gate, and it was refused
        input_sum = self._node("Add", self._product(x, p.input_zero_point, self.weights[i]), self.biases[i])
        of_x = self._saturated(self._scaled(input_sum, *gate.input), 16)
        of_hidden = self._scaled(self._product(hidden, p.hidden_zero_point, self.weights[4 + i]), *gate.recurrent)
        return self._saturated(self._node("Add", of_hidden, of_x), 16)

    # -- arithmetic -------------------------------------------------------------------------------------------------

    def _node(self, op_type: str, *inputs: str) -> str:
        return self.group.node(op_type, *inputs, is_part=True)

    def _cast(self, name: str, to: int) -> str:
        return self.group.node("Cast", name, is_part=True, to=to)

    def _number(self, value: int) -> str:
        if value not in self._numbers:
            self._numbers[value] = self.group.constant(np.array(value, np.int64), "number")
        return self._numbers[value]

    def _table(self, values: Array, hint: str) -> str:
        return self.group.constant(values.astype(np.int16), hint)

    def _looked_up(self, table: str, words: str) -> str:
        """Add nodes that look up the function values of 16-bit integers, ``words``, in a table."""
        return self._cast(self._node("Gather", table, self._node("Add", words, self._number(1 << 15))), _INT64)

    def _product(self, x: str, zero_point: int, weights: str) -> str:
        zero = self.group.constant(np.array(zero_point, np.int8), "zero_point")
        return self._cast(self._node("MatMulInteger", x, weights, zero), _INT64)

    def _within(self, x: str, low: int, high: int) -> str:
        return self._node("Min", self._node("Max", x, self._number(low)), self._number(high))

    def _saturated(self, x: str, bits: int) -> str:
        return self._within(x, -(1 << bits - 1), (1 << bits - 1) - 1)

    def _scaled(self, x: str, m0: int, shift: int) -> str:
        """Add nodes that multiply ``x`` by ``m0 / 2^31 * 2^shift``, and round as `numerics.scale_fixed_double` does."""
        x = self._saturated(x, 32)
        if shift > 0:
            x = self._saturated(self._node("Mul", x, self._number(1 << min(shift, 31))), 32)
        product = self._node("Add", self._node("Mul", x, self._number(m0)), self._number(1 << 30))
        rest = self._node("Mod", product, self._number(1 << 31))  # at least 0, so that the difference divides exactly
        high = self._node("Div", self._node("Sub", product, rest), self._number(1 << 31))
        return self._divided(self._node("Min", high, self._number((1 << 31) - 1)), max(-shift, 0))

    def _divided(self, x: str, places: int) -> str:
        """Add nodes that divide ``x`` by ``2^places`` as `numerics.divide_by_power` does, halves away from zero."""
        if not places:
            return x
        if places > 31:
            return self._node("Mul", x, self._number(0))
        moved = self._node("Add", self._node("Abs", x), self._number(1 << places - 1))
        return self._node("Mul", self._node("Sign", x), self._node("Div", moved, self._number(1 << places)))
