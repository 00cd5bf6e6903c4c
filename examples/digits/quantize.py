"""Chooses a quantized type for every value of the network, and its integer weights and biases."""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import qrt
from examples.digits.network import Array, Network


def round_up(scale: float, digits: int = 3) -> float:
    """The next decimal of `digits` significant digits: a scale that covers its range and reads well. 0 gives 1.0.

    >>> round_up(1 / 255)
    0.00393
    """
    if scale == 0:
        return 1.0
    places = digits - 1 - math.floor(math.log10(scale))
    return float(f"{math.ceil(round(scale * 10.0**places, 6))}e{-places}")


def activation_type(values: Array) -> qrt.UniformType:
    """An asymmetric i8 type covering the values seen in calibration, and 0.

    0 is a storage value exactly: padding and ReLU need it. For values that are never negative it is the least one.
    """
    low, high = min(float(values.min()), 0.0), max(float(values.max()), 0.0)
    scale = round_up((high - low) / 255)
    return qrt.UniformType("i8", "f32", scales=scale, zero_points=round(-128 - low / scale))


def weights_type(weights: Array, axis: int) -> qrt.UniformType:
    """A symmetric i8 type, with one scale for each index of `axis`, the output channel."""
    others = tuple(i for i in range(weights.ndim) if i != axis)
    scales = [round_up(float(largest) / 127) for largest in np.abs(weights).max(axis=others)]
    return qrt.UniformType("i8", "f32", scales=scales, axis=axis, storage_min=-127, storage_max=127)


def bias_type(inputs: qrt.UniformType, weights: qrt.UniformType) -> qrt.UniformType:
    """The accumulator's own type: i32 at the input's scale times the weights', so that it is added as it is."""
    return qrt.UniformType("i32", "f32", scales=[inputs.scale * scale for scale in weights.scales], axis=0)


@dataclass(frozen=True)
class Constant:
    """Storage integers and the type that reads them."""

    storage: NDArray[np.integer]
    type: qrt.UniformType

    @classmethod
    def quantized(cls, values: Array, element: qrt.UniformType) -> "Constant":
        return cls(qrt.quantize(values, element).storage, element)


@dataclass(frozen=True)
class QuantizedNetwork:
    """The types of the activations, and the constants; `conv2` is also the type of what is pooled from it."""

    images: qrt.UniformType
    conv1: qrt.UniformType
    conv2: qrt.UniformType
    logits: qrt.UniformType
    conv1_weights: Constant
    conv1_bias: Constant
    conv2_weights: Constant
    conv2_bias: Constant
    dense_weights: Constant
    dense_bias: Constant


def quantize(network: Network, images: Array) -> QuantizedNetwork:
    """Calibrates the activations on `images`; convolution weights (OHWI) get a scale per O, dense ones per column."""
    seen = network.forward(images)
    input_type, conv1, conv2 = activation_type(images), activation_type(seen.conv1), activation_type(seen.conv2)
    conv1_weights = weights_type(network.conv1_weights, axis=0)
    conv2_weights = weights_type(network.conv2_weights, axis=0)
    dense_weights = weights_type(network.dense_weights, axis=1)
    return QuantizedNetwork(
        images=input_type,
        conv1=conv1,
        conv2=conv2,
        logits=activation_type(seen.logits),
        conv1_weights=Constant.quantized(network.conv1_weights, conv1_weights),
        conv1_bias=Constant.quantized(network.conv1_bias, bias_type(input_type, conv1_weights)),
        conv2_weights=Constant.quantized(network.conv2_weights, conv2_weights),
        conv2_bias=Constant.quantized(network.conv2_bias, bias_type(conv1, conv2_weights)),
        dense_weights=Constant.quantized(network.dense_weights, dense_weights),
        dense_bias=Constant.quantized(network.dense_bias, bias_type(conv2, dense_weights)),
    )
