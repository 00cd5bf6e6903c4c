"""Trains the float network on scikit-learn's handwritten digits: deterministic, a few seconds on one core."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from sklearn.datasets import load_digits  # type: ignore[import-untyped]

from examples.digits.network import Array, Network

SEED = 0
EPOCHS = 20
BATCH = 64
RATE = 4e-3


@dataclass
class Digits:
    """1797 images of 8 x 8 pixels in [0, 1] as N x 8 x 8 x 1 float32, a fifth of them held out."""

    train_images: Array
    train_labels: NDArray[np.integer]
    test_images: Array
    test_labels: NDArray[np.integer]


def load() -> Digits:
    """The images in a fixed random order, split into training and held-out parts."""
    pixels, labels = load_digits(return_X_y=True)
    order = np.random.default_rng(SEED).permutation(len(labels))
    images = (pixels[order] / 16).astype(np.float32).reshape(-1, 8, 8, 1)
    held_out = len(labels) // 5
    return Digits(images[held_out:], labels[order][held_out:], images[:held_out], labels[order][:held_out])


class Adam:
    """Adam (Kingma & Ba, 2015, algorithm 1) on one array, in place."""

    def __init__(self, parameter: Array) -> None:
        self.parameter = parameter
        self.mean = np.zeros_like(parameter)
        self.square = np.zeros_like(parameter)
        self.mean_weight = self.square_weight = 1.0

    def step(self, gradient: Array, rate: float) -> None:
        self.mean += 0.1 * (gradient - self.mean)
        self.square += 0.001 * (gradient * gradient - self.square)
        self.mean_weight *= 0.9
        self.square_weight *= 0.999
        deviation = np.sqrt(self.square / (1 - self.square_weight)) + 1e-8
        self.parameter -= rate * (self.mean / (1 - self.mean_weight)) / deviation


def shifted(images: Array, rng: np.random.Generator) -> Array:
    """The images moved together by at most one pixel each way: more variety than 1438 images have."""
    top, left = rng.integers(0, 3, 2)
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1), (0, 0)))
    return padded[:, top : top + images.shape[1], left : left + images.shape[2]]


def train(images: Array, labels: NDArray[np.integer], epochs: int = EPOCHS) -> Network:
    """A network trained on shuffled batches, the rate falling linearly to 0; its parameters end as float32 values."""
    rng = np.random.default_rng(SEED)
    network = Network.initial(rng)
    optimizers = {name: Adam(parameter) for name, parameter in vars(network).items()}
    steps = len(images) // BATCH
    for epoch in range(epochs):
        order = rng.permutation(len(images))
        for step in range(steps):
            batch = order[step * BATCH : (step + 1) * BATCH]
            gradients = network.gradients(shifted(images[batch], rng), labels[batch])
            rate = RATE * (1 - (epoch * steps + step) / (epochs * steps))
            for name, optimizer in optimizers.items():
                optimizer.step(getattr(gradients, name), rate)
    return Network(*(parameter.astype(np.float32) for parameter in vars(network).values()))


def accuracy(logits: Array, labels: NDArray[np.integer]) -> float:
    """The share of rows whose largest logit is the label's."""
    return float(np.mean(logits.argmax(axis=1) == labels))
