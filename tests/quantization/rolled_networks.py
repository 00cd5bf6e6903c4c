"""Recurrent networks as `scf.for` loops over a sequence: a gated recurrent unit, and a long short-term memory.

The loop takes the input of each step from a tensor and puts the new state into another one.
"""

from collections.abc import Callable

import numpy as np

from tests.ops.harness import Array
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text, tensor_type
from tests.quantization.networks import Weights, gru

STEPS, CHANNELS, UNITS = 5, 6, 8
Cell = Callable[[Tensor, list[Tensor]], list[Tensor]]
"""Writes one step: from an input and the states to the new states, of which the first is the step's output."""


def gru_network() -> str:
    """The outputs of a GRU for each step, and its last state."""
    text = Text()
    weights = Weights(text, 4)
    inputs = [weights(CHANNELS, UNITS, inputs=CHANNELS) for _ in range(3)]
    states = [weights(UNITS, UNITS, inputs=UNITS) for _ in range(3)]
    biases = [weights.bias(UNITS) for _ in range(4)]
    return _rolled(text, lambda x, state: [gru(text, x, state[0], inputs, states, biases)], count=1)


def lstm_network() -> str:
    """The outputs of an LSTM for each step, its last output and its last cell state."""
    text = Text()
    weights = Weights(text, 5)
    parts = [
        (weights(CHANNELS, UNITS, inputs=CHANNELS), weights(UNITS, UNITS, inputs=UNITS), weights.bias(UNITS))
        for _ in range(4)
    ]
    return _rolled(text, lambda x, state: lstm(text, x, *state, parts), count=2)


def lstm(text: Text, x: Tensor, h: Tensor, c: Tensor, parts: list[tuple[Tensor, Tensor, Tensor]]) -> list[Tensor]:
    """i, f, o = sigmoid(x W + h U + b); g = tanh(x W + h U + b); c' = f * c + i * g; h' = o * tanh(c')."""
    gates = []
    for w, u, bias in parts:
        of_x = text.stats(ops.matmul(text, x, w, bias), -4, 4)
        of_h = text.stats(ops.matmul(text, h, u), -2, 2)
        gates.append(text.stats(ops.add(text, of_x, of_h), -5, 5))
    i, f, o = (text.stats(ops.sigmoid(text, gate), 0, 1) for gate in gates[:3])
    g = text.stats(ops.tanh(text, gates[3]), -1, 1)
    of_c = text.stats(ops.mul(text, f, c), -3, 3)
    of_g = text.stats(ops.mul(text, i, g), -1, 1)
    cell = text.stats(ops.add(text, of_c, of_g), -3, 3)
    output = text.stats(ops.mul(text, o, text.stats(ops.tanh(text, cell), -1, 1)), -1, 1)
    return [output, cell]


def _rolled(text: Text, cell: Cell, count: int) -> str:
    """A function of the number of steps, a sequence and first states; it returns the outputs and the last states."""
    sequence = Tensor("%x", (STEPS, CHANNELS))
    first = [Tensor(f"%h{number}", (1, UNITS)) for number in range(count)]
    outputs = text.filled(0, (STEPS, UNITS))
    zero, one = text.fresh(), text.fresh()
    text.line(f"{zero} = arith.constant 0 : index")
    text.line(f"{one} = arith.constant 1 : index")
    carried = [Tensor(text.fresh(), t.shape) for t in (outputs, *first)]
    given = ", ".join(f"{a.name} = {b.name}" for a, b in zip(carried, (outputs, *first), strict=True))
    types = ", ".join(t.type for t in carried)
    result, step = text.fresh(), text.fresh()
    text.line(f"{result}:{count + 1} = scf.for {step} = {zero} to %n step {one} iter_args({given}) -> ({types}) {{")
    with text.indented():
        places = f"[{step}, 0] [1, {{}}] [1, 1]"
        whole = f"{sequence.name}{places.format(CHANNELS)} : {sequence.type} to {tensor_type((1, CHANNELS))}"
        x = text.stats(text.op(f"tensor.extract_slice {whole}", (1, CHANNELS)), -3, 3)
        states = cell(x, carried[1:])
        target = f"into {carried[0].name}{places.format(UNITS)}"
        written = text.op(
            f"tensor.insert_slice {states[0].name} {target} : {states[0].type} into {outputs.type}", outputs.shape
        )
        text.line(f"scf.yield {', '.join(t.name for t in (written, *states))} : {types}")
    text.line("}")
    results = [Tensor(f"{result}#{number}", t.shape) for number, t in enumerate(carried)]
    return text.function("main", [sequence, *first], results).replace("%x: ", "%n: index, %x: ", 1)


def draw(network: str, seed: int) -> list[Array]:
    """The arguments of a network but for the number of steps."""
    rng = np.random.default_rng(seed)
    sequence = np.clip(rng.normal(size=(STEPS, CHANNELS)), -3, 3)
    states = [rng.uniform(-1, 1, (1, UNITS)) for _ in range(2 if network == "lstm" else 1)]
    return [array.astype(np.float32) for array in (sequence, *states)]


ROLLED: dict[str, Callable[[], str]] = {"gru": gru_network, "lstm": lstm_network}
