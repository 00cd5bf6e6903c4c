"""The float network and its gradients: two convolutions with ReLU, a max pool and a dense layer. NHWC, weights OHWI.

Training must give the same bits on every machine, so that the program made from it can be committed and compared. What
differs between machines is the order in which BLAS adds up a matrix product. Here everything that enters a product is
rounded by `fixed_point` first, so that the sums are exact and their order irrelevant.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from numpy.typing import NDArray

Array = NDArray[np.floating]
Rounding = Callable[[Array], Array]

LONGEST_EXACT_SUM = 2**13


def fixed_point(x: Array) -> Array:
    """`x` as float64, rounded to integers of 20 bits times a power of two taken from its largest magnitude."""
    _, exponent = np.frexp(np.abs(x).max(initial=0.0))
    unit = 2.0 ** (int(exponent) - 20)
    return np.rint(x.astype(np.float64) / unit) * unit


def unrounded(x: Array) -> Array:
    """`x`: for a forward pass in ordinary floats."""
    return x


def matmul(a: Array, b: Array) -> Array:
    """`a @ b`, exact if both come from `fixed_point`: products have 40 bits, and float64 adds 2**13 of them exactly."""
    if a.shape[-1] > LONGEST_EXACT_SUM:
        raise ValueError(f"a sum of {a.shape[-1]} products may not be exact: at most {LONGEST_EXACT_SUM}")
    product: Array = a @ b
    return product


def im2col(images: Array, kernel: int, padding: int) -> Array:
    """The k x k windows of N x H x W x C images, each a row in the order of OHWI weights: N x H' x W' x (k*k*C)."""
    padded = np.pad(images, ((0, 0), (padding, padding), (padding, padding), (0, 0)))
    windows = sliding_window_view(padded, (kernel, kernel), axis=(1, 2)).transpose(0, 1, 2, 4, 5, 3)
    return windows.reshape(*windows.shape[:3], -1)


def col2im(columns: Array, shape: tuple[int, ...], kernel: int, padding: int) -> Array:
    """The transpose of `im2col`: adds every window back to where it came from in images of `shape`."""
    batch, height, width, channels = shape
    padded = np.zeros((batch, height + 2 * padding, width + 2 * padding, channels))
    rows, cols = columns.shape[1:3]
    windows = columns.reshape(batch, rows, cols, kernel, kernel, channels)
    for i in range(kernel):
        for j in range(kernel):
            padded[:, i : i + rows, j : j + cols] += windows[:, :, :, i, j]
    return padded[:, padding : padding + height, padding : padding + width]


def conv2d(images: Array, weights: Array, bias: Array, padding: int) -> Array:
    """Stride 1 convolution of N x H x W x C images with O x k x k x C weights."""
    columns = im2col(images, weights.shape[1], padding)
    flat = matmul(columns.reshape(-1, columns.shape[-1]), weights.reshape(len(weights), -1).T)
    return flat.reshape(*columns.shape[:3], -1) + bias


def conv2d_gradients(images: Array, weights: Array, padding: int, upstream: Array) -> tuple[Array, Array, Array]:
    """The loss's gradients by `images`, `weights` and bias, given `upstream`, that by the convolution's result."""
    kernel = weights.shape[1]
    columns = im2col(images, kernel, padding)
    by_result = upstream.reshape(-1, len(weights))
    by_weights = matmul(by_result.T, columns.reshape(len(by_result), -1))
    by_columns = matmul(by_result, weights.reshape(len(weights), -1))
    by_images = col2im(by_columns.reshape(columns.shape), images.shape, kernel, padding)
    return by_images, by_weights.reshape(weights.shape), by_result.sum(axis=0)


def pool_windows(images: Array) -> Array:
    """N x H x W x C as 2 x 2 windows: N x H/2 x W/2 x C x 4."""
    batch, height, width, channels = images.shape
    tiles = images.reshape(batch, height // 2, 2, width // 2, 2, channels).transpose(0, 1, 3, 5, 2, 4)
    return tiles.reshape(*tiles.shape[:4], 4)


def max_pool2d_gradient(images: Array, upstream: Array) -> Array:
    """The gradient by `images` of their 2 x 2 max pool; the first of equal maxima takes it."""
    windows = pool_windows(images)
    routed = np.zeros_like(windows)
    np.put_along_axis(routed, windows.argmax(axis=-1)[..., None], upstream[..., None], axis=-1)
    batch, height, width, channels = images.shape
    tiles = routed.reshape(batch, height // 2, width // 2, channels, 2, 2)
    return tiles.transpose(0, 1, 4, 2, 5, 3).reshape(images.shape)


def softmax(logits: Array) -> Array:
    """Row-wise softmax, rounded to 20 bits: NumPy's exp differs between CPUs in its last bit."""
    powers = np.exp(logits - logits.max(axis=1, keepdims=True))
    rounded: Array = np.rint(powers / powers.sum(axis=1, keepdims=True) * 2**20) / 2**20
    return rounded


@dataclass
class Activations:
    """What the forward pass computes, by layer; convolutions after their ReLU."""

    images: Array
    conv1: Array
    conv2: Array
    pooled: Array
    logits: Array


@dataclass
class Network:
    """The parameters: conv1 3x3 1->16 (padded), conv2 3x3 16->32, dense 288->10."""

    conv1_weights: Array
    conv1_bias: Array
    conv2_weights: Array
    conv2_bias: Array
    dense_weights: Array
    dense_bias: Array

    @classmethod
    def initial(cls, rng: np.random.Generator) -> "Network":
        """He's uniform initialisation, biases 0."""

        def weights(shape: tuple[int, ...], fan_in: int) -> Array:
            return (2 * rng.random(shape) - 1) * math.sqrt(6 / fan_in)

        return cls(
            weights((16, 3, 3, 1), 9), np.zeros(16),
            weights((32, 3, 3, 16), 144), np.zeros(32),
            weights((288, 10), 288), np.zeros(10),
        )  # fmt: skip

    def rounded(self, rounding: Rounding) -> "Network":
        """The network with every parameter rounded."""
        return Network(*map(rounding, vars(self).values()))

    def forward(self, images: Array, rounding: Rounding = fixed_point) -> Activations:
        """Every activation for N x 8 x 8 x 1 images."""
        own = self.rounded(rounding)
        conv1 = rounding(np.maximum(conv2d(rounding(images), own.conv1_weights, own.conv1_bias, 1), 0))
        conv2 = rounding(np.maximum(conv2d(conv1, own.conv2_weights, own.conv2_bias, 0), 0))
        pooled = pool_windows(conv2).max(axis=-1)
        logits = matmul(pooled.reshape(len(images), -1), own.dense_weights) + own.dense_bias
        return Activations(images, conv1, conv2, pooled, logits)

    def gradients(self, images: Array, labels: NDArray[np.integer]) -> "Network":
        """The gradient of the mean softmax cross-entropy by every parameter."""
        own, seen = self.rounded(fixed_point), self.forward(images)
        by_logits = fixed_point((softmax(seen.logits) - np.eye(10)[labels]) / len(images))
        flat = seen.pooled.reshape(len(images), -1)
        by_pooled = fixed_point(matmul(by_logits, own.dense_weights.T)).reshape(seen.pooled.shape)
        by_conv2 = max_pool2d_gradient(seen.conv2, by_pooled) * (seen.conv2 > 0)
        by_conv1, weights2, bias2 = conv2d_gradients(seen.conv1, own.conv2_weights, 0, by_conv2)
        by_conv1 = fixed_point(by_conv1 * (seen.conv1 > 0))
        _, weights1, bias1 = conv2d_gradients(fixed_point(images), own.conv1_weights, 1, by_conv1)
        return Network(weights1, bias1, weights2, bias2, matmul(flat.T, by_logits), by_logits.sum(axis=0))
