"""Training of the three networks, deterministic: less than a minute each on one core."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np

from benches.accuracy import cnn, vowels
from benches.accuracy.data import SEED, Array, Labels, Split
from examples.digits.train import Adam, shifted


@dataclass(frozen=True)
class Schedule:
    """Settings of a training. Weights shrink by ``rate * decay`` in each step: AdamW (Loshchilov & Hutter, 2019).
    They stay within ``clip`` times the root of their mean square.
    """

    epochs: int
    batch: int
    rate: float
    decay: float
    clip: float = 2.0


SCHEDULES = {
    "digits": Schedule(20, 50, 4e-3, 1.5),
    "mnist": Schedule(8, 50, 4e-3, 5.0, 1.75),
    "vowels": Schedule(40, 27, 4e-3, 0.1),
}


class Trainable(Protocol):
    """A network whose parameters are arrays by name."""

    parameters: dict[str, Array]

    def gradients(self, inputs: Array, labels: Labels) -> dict[str, Array]: ...

    def constants(self) -> dict[str, Array]: ...


def untrained(name: str, split: Split, rng: np.random.Generator) -> Trainable:
    """A network with drawn weights."""
    if name == "vowels":
        return vowels.Network(rng)
    return cnn.Network(rng, cnn.LAYERS[name], split.train.shape[1])


def trained(name: str, split: Split, schedule: Schedule | None = None, seed: int = SEED) -> dict[str, Array]:
    """The constants of a network, as float32 values: Adam on shuffled batches, the rate falling linearly to 0."""
    how = SCHEDULES[name] if schedule is None else schedule
    rng = np.random.default_rng(seed)
    network = untrained(name, split, rng)
    optimizers = {key: Adam(parameter) for key, parameter in network.parameters.items()}
    steps = len(split.train) // how.batch
    for epoch in range(how.epochs):
        order = rng.permutation(len(split.train))
        for step in range(steps):
            batch = order[step * how.batch : (step + 1) * how.batch]
            inputs = split.train[batch] if name == "vowels" else shifted(split.train[batch], rng)
            rate = how.rate * (1 - (epoch * steps + step) / (how.epochs * steps))
            for key, gradient in network.gradients(inputs, split.train_labels[batch]).items():
                if gradient.ndim > 1:
                    network.parameters[key] *= 1 - rate * how.decay
                optimizers[key].step(gradient, rate)
                if gradient.ndim > 1:
                    w = network.parameters[key]
                    bound = how.clip * np.sqrt(np.square(w).mean())
                    np.clip(w, -bound, bound, out=w)
    return network.constants()


def logits(name: str, constants: dict[str, Array], inputs: Array) -> Array:
    """The forward pass in NumPy, with the constants of a program."""
    if name == "vowels":
        return vowels.logits(constants, inputs)
    return cnn.logits(cnn.LAYERS[name], constants, inputs)
