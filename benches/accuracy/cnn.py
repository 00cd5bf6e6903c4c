"""The convolutional networks: convolutions 3x3, with batch norm or a bias, each followed by ReLU and some by a max pool
of 2x2; then a dense layer. NHWC, weights OHWI. Sums are those of fixed-point numbers, so that their order is
irrelevant.
"""

import math
from dataclasses import dataclass

import numpy as np

from benches.accuracy.data import Array, Labels
from examples.digits.network import (
    conv2d,
    conv2d_gradients,
    fixed_point,
    matmul,
    max_pool2d_gradient,
    pool_windows,
    softmax,
)

CLASSES = 10
EPSILON = 1e-5
_FORGOTTEN = 0.05
"""How much of a mean or a variance each batch replaces."""
_IMAGES = 10
"""So many images' products of a convolution add up exactly, in float64."""


@dataclass(frozen=True)
class Layer:
    """A convolution and what follows it."""

    name: str
    channels: int
    padding: int
    is_normalized: bool
    is_pooled: bool

    def size(self, size: int) -> int:
        """The height and width of its result."""
        return (size + 2 * self.padding - 2) // (2 if self.is_pooled else 1)


Layers = tuple[Layer, ...]
LAYERS: dict[str, Layers] = {
    "digits": (Layer("conv1", 16, 1, False, False), Layer("conv2", 32, 1, False, True)),
    "mnist": (Layer("conv1", 8, 1, True, True), Layer("conv2", 16, 0, True, True)),
}


@dataclass
class _Passed:
    """Values of a layer that the forward pass computed."""

    images: Array
    relu: Array
    centred: Array
    deviation: Array


class Network:
    """`parameters` are trained, and `moments` are the running means and variances of what enters batch norm."""

    def __init__(self, rng: np.random.Generator, layers: Layers, size: int) -> None:
        """He's uniform initialisation, for images of size x size x 1."""

        def weights(shape: tuple[int, ...], fan_in: int) -> Array:
            return (2 * rng.random(shape) - 1) * math.sqrt(6 / fan_in)

        self.layers = layers
        self.parameters: dict[str, Array] = {}
        self.moments: dict[str, Array] = {}
        channels = 1
        for layer in layers:
            name, count = layer.name, layer.channels
            self.parameters[f"{name}_weights"] = weights((count, 3, 3, channels), 9 * channels)
            if layer.is_normalized:
                self.parameters |= {f"{name}_gamma": np.ones(count), f"{name}_beta": np.zeros(count)}
                self.moments |= {f"{name}_mean": np.zeros(count), f"{name}_variance": np.ones(count)}
            else:
                self.parameters[f"{name}_bias"] = np.zeros(count)
            channels, size = count, layer.size(size)
        depth = size * size * channels
        self.parameters["dense_weights"] = weights((depth, CLASSES), depth)
        self.parameters["dense_bias"] = np.zeros(CLASSES)

    def gradients(self, images: Array, labels: Labels) -> dict[str, Array]:
        """The gradient of the mean softmax cross-entropy by every parameter; the moments follow the batch."""
        own = {name: fixed_point(value) for name, value in self.parameters.items()}
        passed: list[_Passed] = []
        x = fixed_point(images)
        for layer in self.layers:
            passed.append(self._forward(layer, x, own))
            relu = passed[-1].relu
            x = fixed_point(pool_windows(relu).max(axis=-1) if layer.is_pooled else relu)
        flat = x.reshape(len(x), -1)
        logits = matmul(flat, own["dense_weights"]) + own["dense_bias"]
        by_logits = fixed_point((softmax(logits) - np.eye(CLASSES)[labels]) / len(x))
        found = {"dense_weights": matmul(flat.T, by_logits), "dense_bias": by_logits.sum(axis=0)}
        upstream = matmul(by_logits, own["dense_weights"].T).reshape(x.shape)
        for layer, seen in zip(reversed(self.layers), reversed(passed), strict=True):
            if layer.is_pooled:
                upstream = max_pool2d_gradient(seen.relu, upstream)
            upstream = self._backward(layer, seen, upstream * (seen.relu > 0), own, found)
        return found

    def _forward(self, layer: Layer, images: Array, own: dict[str, Array]) -> _Passed:
        name = layer.name
        x = conv2d(images, own[f"{name}_weights"], np.zeros(layer.channels), layer.padding)
        if not layer.is_normalized:
            return _Passed(images, np.maximum(x + own[f"{name}_bias"], 0), x, np.ones(layer.channels))
        count = x.size // layer.channels
        mean = fixed_point(x).sum(axis=(0, 1, 2)) / count
        centred = x - mean
        variance = fixed_point(centred * centred).sum(axis=(0, 1, 2)) / count
        for moment, value in (("mean", mean), ("variance", variance)):
            self.moments[f"{name}_{moment}"] += _FORGOTTEN * (value - self.moments[f"{name}_{moment}"])
        deviation = np.sqrt(variance + EPSILON)
        centred /= deviation
        result = self.parameters[f"{name}_gamma"] * centred + self.parameters[f"{name}_beta"]
        return _Passed(images, np.maximum(result, 0), centred, deviation)

    def _backward(
        self, layer: Layer, seen: _Passed, upstream: Array, own: dict[str, Array], found: dict[str, Array]
    ) -> Array:
        """Adds the gradients by a layer's parameters to ``found``, and gives that by its images."""
        name, count = layer.name, upstream.size // layer.channels
        total = fixed_point(upstream).sum(axis=(0, 1, 2))
        if layer.is_normalized:
            found[f"{name}_beta"] = total
            found[f"{name}_gamma"] = fixed_point(upstream * seen.centred).sum(axis=(0, 1, 2))
            inner = upstream - total / count - seen.centred * (found[f"{name}_gamma"] / count)
            upstream = self.parameters[f"{name}_gamma"] / seen.deviation * inner
        else:
            found[f"{name}_bias"] = total
        upstream = fixed_point(upstream)
        parts = [
            conv2d_gradients(seen.images[start:end], own[f"{name}_weights"], layer.padding, upstream[start:end])
            for start, end in ((start, start + _IMAGES) for start in range(0, len(upstream), _IMAGES))
        ]
        found[f"{name}_weights"] = sum((by_weights for _, by_weights, _ in parts), np.zeros(()))
        return np.concatenate([by_images for by_images, _, _ in parts])

    def constants(self) -> dict[str, Array]:
        """Return the constants of a program, in which batch norm is a factor and a term for each channel."""
        found = {name: value for name, value in self.parameters.items() if "gamma" not in name and "beta" not in name}
        for layer in self.layers:
            if layer.is_normalized:
                name = layer.name
                factor = self.parameters[f"{name}_gamma"] / np.sqrt(self.moments[f"{name}_variance"] + EPSILON)
                found[f"{name}_factor"] = factor
                found[f"{name}_term"] = self.parameters[f"{name}_beta"] - self.moments[f"{name}_mean"] * factor
        return {name: value.astype(np.float32) for name, value in found.items()}


def logits(layers: Layers, constants: dict[str, Array], images: Array) -> Array:
    """The forward pass with the constants of a program."""
    own = {name: value.astype(np.float64) for name, value in constants.items()}
    x = images.astype(np.float64)
    for layer in layers:
        name = layer.name
        x = conv2d(x, own[f"{name}_weights"], np.zeros(layer.channels), layer.padding)
        x = x * own[f"{name}_factor"] + own[f"{name}_term"] if layer.is_normalized else x + own[f"{name}_bias"]
        x = np.maximum(x, 0)
        x = pool_windows(x).max(axis=-1) if layer.is_pooled else x
    return matmul(x.reshape(len(x), -1), own["dense_weights"]) + own["dense_bias"]
