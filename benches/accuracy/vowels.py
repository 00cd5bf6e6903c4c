"""The network for the Japanese vowels: a gated recurrent unit (GRU) of 64 units, and a dense layer on its last state.
Sums are those of fixed-point numbers, so that their order is irrelevant.
"""

from dataclasses import dataclass

import numpy as np

from benches.accuracy.data import Array, Labels
from examples.digits.network import fixed_point, matmul, softmax

CHANNELS = 12
UNITS = 64
CLASSES = 9
GATES = ("update", "reset", "new")


@dataclass
class Step:
    """Values of a step: its state before, its gates, and the state's part of the new values."""

    state: Array
    update: Array
    reset: Array
    new: Array
    of_state: Array


class Network:
    """z, r = sigmoid(x W + b + h U); n = tanh(x W + b + r * (h U + c)); the next h is (1 - z) * n + z * h."""

    def __init__(self, rng: np.random.Generator) -> None:
        """Uniform, within 1 / sqrt(units), as PyTorch begins."""

        def drawn(*shape: int) -> Array:
            return (2 * rng.random(shape) - 1) * UNITS**-0.5

        self.parameters: dict[str, Array] = {}
        for gate in GATES:
            self.parameters[f"{gate}_weights"] = drawn(CHANNELS, UNITS)
            self.parameters[f"{gate}_recurrent"] = drawn(UNITS, UNITS)
            self.parameters[f"{gate}_bias"] = np.zeros(UNITS)
        self.parameters["new_recurrent_bias"] = np.zeros(UNITS)
        self.parameters["dense_weights"] = drawn(UNITS, CLASSES)
        self.parameters["dense_bias"] = np.zeros(CLASSES)

    def gradients(self, series: Array, labels: Labels) -> dict[str, Array]:
        """The gradient of the mean softmax cross-entropy by every parameter."""
        own = {name: fixed_point(value) for name, value in self.parameters.items()}
        series = fixed_point(series)
        steps: list[Step] = []
        state = np.zeros((len(series), UNITS))
        for x in series.swapaxes(0, 1):
            steps.append(_step(own, x, state))
            last = steps[-1]
            state = fixed_point(last.new + last.update * (state - last.new))
        by_logits = matmul(state, own["dense_weights"]) + own["dense_bias"]
        by_logits = fixed_point((softmax(by_logits) - np.eye(CLASSES)[labels]) / len(series))
        found = {name: np.zeros_like(value) for name, value in own.items()}
        found["dense_weights"] = matmul(state.T, by_logits)
        found["dense_bias"] = by_logits.sum(axis=0)
        by_state = matmul(by_logits, own["dense_weights"].T)
        for x, step in zip(series.swapaxes(0, 1)[::-1], reversed(steps), strict=True):
            by_state = _step_gradients(own, x, step, by_state, found)
        return found

    def constants(self) -> dict[str, Array]:
        """Return the constants of a program."""
        return {name: value.astype(np.float32) for name, value in self.parameters.items()}


def sigmoid(x: Array) -> Array:
    """Rounded to 20 bits: NumPy's exp differs between CPUs in its last bit."""
    rounded: Array = np.rint(2**20 / (1 + np.exp(-x))) / 2**20
    return rounded


def _step(own: dict[str, Array], x: Array, state: Array) -> Step:
    of_x = {gate: matmul(x, own[f"{gate}_weights"]) + own[f"{gate}_bias"] for gate in GATES}
    of_state = {gate: matmul(state, own[f"{gate}_recurrent"]) for gate in GATES}
    update, reset = (sigmoid(of_x[gate] + of_state[gate]) for gate in GATES[:2])
    inner = of_state["new"] + own["new_recurrent_bias"]
    new = np.rint(np.tanh(of_x["new"] + reset * inner) * 2**20) / 2**20
    return Step(state, update, reset, new, inner)


def _step_gradients(own: dict[str, Array], x: Array, step: Step, upstream: Array, found: dict[str, Array]) -> Array:
    """Adds those by the parameters to ``found``, and gives that by the state before."""
    by_new = upstream * (1 - step.update) * (1 - step.new * step.new)
    by_sum = {
        "update": upstream * (step.state - step.new) * step.update * (1 - step.update),
        "reset": by_new * step.of_state * step.reset * (1 - step.reset),
        "new": by_new,
    }
    by_inner = {**by_sum, "new": by_new * step.reset}
    by_state = upstream * step.update
    for gate in GATES:
        outer, inner = fixed_point(by_sum[gate]), fixed_point(by_inner[gate])
        found[f"{gate}_weights"] += matmul(x.T, outer)
        found[f"{gate}_bias"] += outer.sum(axis=0)
        found[f"{gate}_recurrent"] += matmul(step.state.T, inner)
        by_state += matmul(inner, own[f"{gate}_recurrent"].T)
        if gate == "new":
            found["new_recurrent_bias"] += inner.sum(axis=0)
    return by_state


def logits(constants: dict[str, Array], series: Array) -> Array:
    """The forward pass with the constants of a program."""
    own = {name: value.astype(np.float64) for name, value in constants.items()}
    state = np.zeros((len(series), UNITS))
    for x in series.astype(np.float64).swapaxes(0, 1):
        step = _step(own, x, state)
        state = (1 - step.update) * step.new + step.update * state
    return matmul(state, own["dense_weights"]) + own["dense_bias"]
