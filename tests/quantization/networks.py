"""Three float networks of drawn weights, with the ranges of their values decided by hand: a perceptron, a convolutional
network, and a cell of a gated recurrent unit (GRU), unrolled. `quant.stats` says the ranges, before an operation is
part of any kernel.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from tests.ops.harness import Array
from tests.quantization import float_text as ops
from tests.quantization.float_text import Tensor, Text


@dataclass(frozen=True)
class Network:
    """`kernels` is how often each kernel is needed when every operation is part of one."""

    text: str
    shapes: tuple[tuple[int, ...], ...]
    kernels: dict[str, int]

    def draw(self, seed: int) -> list[Array]:
        """Values for its arguments."""
        rng = np.random.default_rng(seed)
        return [np.clip(rng.normal(size=shape), -3, 3).astype(np.float32) for shape in self.shapes]


class Weights:
    """Draws weights so that values keep their size from layer to layer."""

    def __init__(self, text: Text, seed: int) -> None:
        self._text, self._rng = text, np.random.default_rng(seed)

    def __call__(self, *shape: int, inputs: int) -> Tensor:
        return self._text.constant((self._rng.normal(size=shape) * inputs**-0.5).astype(np.float32))

    def bias(self, size: int) -> Tensor:
        return self._text.constant((self._rng.normal(size=size) * 0.1).astype(np.float32))


def perceptron() -> Network:
    """16 -> 32 -> gelu -> 24 -> relu -> 10, then softmax; with a residual addition."""
    text, x = Text(), Tensor("%x", (4, 16))
    weights = Weights(text, 1)
    a = text.stats(x, -3, 3)
    h = text.stats(ops.matmul(text, a, weights(16, 32, inputs=16), weights.bias(32)), -4, 4)
    h = text.stats(ops.gelu(text, h), -0.18, 4)
    r = text.stats(ops.matmul(text, h, weights(32, 32, inputs=16), weights.bias(32), relu=True), 0, 3.5)
    h = text.stats(ops.add(text, h, r), -0.2, 5.5)
    y = text.stats(ops.matmul(text, h, weights(32, 10, inputs=32), weights.bias(10)), -5, 5)
    y = text.stats(ops.softmax(text, y), 0, 1)
    kernels = {"matmul": 3, "lookup": 1, "add": 1, "softmax": 1}
    return Network(text.function("main", [x], [y]), (x.shape,), kernels)


def convolutional() -> Network:
    """Two convolutions, one of them depthwise, a max pool that pads with -inf, two branches that are concatenated, an
    average pool, a mean over pixels, and logits."""
    text, x = Text(), Tensor("%x", (2, 8, 8, 3))
    weights = Weights(text, 2)
    a = text.stats(x, -3, 3)
    h = ops.conv2d(text, a, weights(3, 3, 3, 8, inputs=27), weights.bias(8), relu=True, padding=1)
    h = text.stats(h, 0, 4)
    h = text.stats(ops.max_pool2d(text, h, size=3, stride=2, padding=1), 0, 4)
    d = ops.depthwise_conv2d(text, h, weights(3, 3, 8, inputs=9), weights.bias(8), relu=True)
    d = text.stats(d, 0, 5.2)
    p = text.stats(ops.avg_pool2d(text, h, size=3, stride=1), 0, 3)
    c = text.stats(ops.concat(text, d, p, axis=3), 0, 5.2)
    h = ops.conv2d(text, c, weights(12, 1, 1, 16, inputs=16), weights.bias(12), filters="fhwc")
    h = text.stats(h, -3.5, 3.5)
    h = text.stats(ops.clamp(text, h, 0, 2), 0, 2)
    m = text.stats(ops.mean(text, h, axes=[1, 2]), 0, 2)
    y = text.stats(ops.matmul(text, m, weights(12, 10, inputs=12), weights.bias(10)), -2, 2)
    pools = {"max_pool2d": 1, "avg_pool2d": 1, "mean": 1}
    kernels = {"conv2d": 2, "depthwise_conv2d": 1, "matmul": 1, "concat": 1, "clamp": 1}
    return Network(text.function("main", [x], [y]), (x.shape,), {**kernels, **pools})


def recurrent(steps: int = 2) -> Network:
    """A GRU of 12 units over a sequence of 6 channels, unrolled; and logits of its last state. The state's range is
    one range, whatever the step."""
    text, sequence = Text(), [Tensor(f"%x{step}", (1, 6)) for step in range(steps)]
    weights = Weights(text, 3)
    inputs = [weights(6, 12, inputs=6) for _ in range(3)]
    states = [weights(12, 12, inputs=12) for _ in range(3)]
    biases = [weights.bias(12) for _ in range(4)]
    h = text.stats(text.constant(np.zeros((1, 12), np.float32)), -1, 1)
    for x in sequence:
        h = gru(text, text.stats(x, -3, 3), h, inputs, states, biases)
    y = text.stats(ops.matmul(text, h, weights(12, 5, inputs=12), weights.bias(5)), -1.5, 1.5)
    kernels = {"matmul": 6 * steps + 1, "add": 4 * steps, "lookup": 4 * steps, "mul": 3 * steps}
    return Network(text.function("main", sequence, [y]), tuple(x.shape for x in sequence), kernels)


def gru(text: Text, x: Tensor, h: Tensor, inputs: list[Tensor], states: list[Tensor], biases: list[Tensor]) -> Tensor:
    """z, r = sigmoid(x W + h U + b); n = tanh(x W + b + r * (h U + b)); (1 - z) * n + z * h."""

    def gate(number: int) -> Tensor:
        of_x = text.stats(ops.matmul(text, x, inputs[number], biases[number]), -4, 4)
        of_h = text.stats(ops.matmul(text, h, states[number]), -2, 2)
        total = text.stats(ops.add(text, of_x, of_h), -5, 5)
        return text.stats(ops.sigmoid(text, total), 0, 1)

    z, r = gate(0), gate(1)
    of_h = text.stats(ops.matmul(text, h, states[2], biases[3]), -2, 2)
    of_h = text.stats(ops.mul(text, r, of_h), -2, 2)
    of_x = text.stats(ops.matmul(text, x, inputs[2], biases[2]), -4, 4)
    n = text.stats(ops.tanh(text, text.stats(ops.add(text, of_x, of_h), -5, 5)), -1, 1)
    new = text.stats(ops.mul(text, text.stats(ops.one_minus(text, z), 0, 1), n), -1, 1)
    return text.stats(ops.add(text, new, text.stats(ops.mul(text, z, h), -1, 1)), -1, 1)


NETWORKS: dict[str, Callable[[], Network]] = {
    "perceptron": perceptron,
    "convolutional": convolutional,
    "recurrent": recurrent,
}
