"""Import of CONV_2D and DEPTHWISE_CONV_2D."""

from typing import Any

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_products, hybrid
from qrt.models.tflite.operators.images import padding_of, window_of
from qrt.models.tflite.operators.products import bias_of, multiplier_facts
from qrt.ops.core import Array
from qrt.types import TensorType, UniformType

_CHANNELS = {"conv2d": 0, "depthwise_conv2d": 3}
"""The axis of the output channels in the weights."""
_LANES = 8
"""The channels that a vector of LiteRT's builtin kernels has: those behind the last whole vector have another rule."""


def conv_2d(node: Node) -> None:
    """Import CONV_2D: convolve 8-bit, int16 or float32 images with OHWI weights.

    Weights have one scale or one for each filter. Int8 and int16 images have int8 or int4 weights. Float32 images have
    float32, int8 or int4 weights. If the input has n times as many channels as a filter, the convolution has n groups.
    """
    images, weights = node.type(0), node.type(1)
    if images.rank != 4 or weights.rank != 4:
        node.fail(f"the input and the weights must have rank 4, got {images.rank} and {weights.rank}")
    depth, channels = (weights.shape or ())[3], (images.shape or ())[3]
    if depth and channels and channels % depth:
        node.fail(f"the channels of the input must be a multiple of {depth}, the depth of a filter, got {channels}")
    filters = (weights.shape or ())[0] or 0
    if depth and channels and filters % (channels // depth):
        node.fail(
            f"the number of filters must be a multiple of {channels // depth}, the number of groups of channels, got "
            f"{filters}"
        )
    if node.is_float:
        window = window_of(node, (weights.shape or ())[1:3], _dilations(node))
        if hybrid.is_hybrid(node, 0):
            hybrid.convolution(node, window, filters)
        else:
            float_products.convolution(node, window, filters, depth or 0)
        return
    x, w = node.element(0), node.element(1)
    _check_weights(node, w, 0)
    attributes = _window(node, weights.shape or ())
    if depth and channels and channels != depth:
        if w.storage == "i4":
            node.refuse("weights of int4 in groups")
        attributes["groups"] = channels // depth
    _convolve(node, "conv2d", _known_weights(node), attributes, x, w)


def depthwise_conv_2d(node: Node) -> None:
    """Import DEPTHWISE_CONV_2D: convolve each channel of 8-bit, int16 or float32 images with its own filters.

    Weights are 1HWO, with one scale or one for each filter. Int8 images have int8 or int4 weights. Float32 images have
    float32 or int8 weights.
    """
    shape = node.type(1).shape or ()
    if node.type(0).rank != 4 or len(shape) != 4 or shape[0] != 1:
        node.fail(
            "the input must have rank 4 and the weights the shape [1, height, width, channels], got rank "
            f"{node.type(0).rank} and {list(shape)}"
        )
    channels = (node.type(0).shape or ())[3]
    if channels is None or shape[3] is None or not channels or shape[3] % channels:
        node.fail(f"the number of filters must be a multiple of the channels of the input, {channels}, got {shape[3]}")
    if node.options["depth_multiplier"] * channels != shape[3]:
        node.fail(
            f"option depth_multiplier must be filters / channels = {shape[3]} / {channels}, got "
            f"{node.options['depth_multiplier']}"
        )
    if node.is_float:
        importer = hybrid if hybrid.is_hybrid(node, 3) else float_products
        importer.depthwise(node, window_of(node, shape[1:3], _dilations(node)), shape[3], shape[3] // channels)
        return
    x, w = node.element(0), node.element(1)
    if (x.storage, w.storage) == ("i16", "i4"):
        node.refuse("weights of int4 with an input of i16, which LiteRT reads as int8")
    _check_weights(node, w, 3)
    element = w.with_(axis=2) if w.is_per_axis else w
    attributes = _window(node, shape)
    _convolve(node, "depthwise_conv2d", _known_weights(node)[0], attributes, x, element)


def _known_weights(node: Node) -> Array:
    array = node.constant(1)
    if array is None:
        node.refuse("weights known only at run time")
    return array


def _check_weights(node: Node, w: UniformType, axis: int) -> None:
    if w.is_per_axis and w.axis != axis:
        node.fail(f"the quantized_dimension of the weights must be {axis}, got {w.axis}")
    if w.is_signed and any(w.zero_points):
        node.fail(f"zero points of signed weights must be 0, got {next(filter(None, w.zero_points))}")


def _convolve(node: Node, op: str, array: Array, attributes: dict[str, Any], x: UniformType, w: UniformType) -> None:
    out = node.result_element()
    if not node.has(2):
        node.fail("input 2 (the bias) is required for quantized images, but missing")
    facts, channels = multiplier_facts(node, x, w, out), (node.type(1).shape or ())[_CHANNELS[op]] or 0
    # LiteRT rounds the channels after the last whole group of eight by another rule if the weights are int4.
    whole = channels // _LANES * _LANES
    operands = [node.value(0), node.dense(array, w), bias_of(node, 2, x, w)]
    remainders = [False] * (whole > 0) + [True] * (whole < channels)
    rules = dict.fromkeys(node.rule(op, is_remainder=is_remainder, **facts) for is_remainder in remainders or [False])
    parts = [node.emit(f"qrt.{op}", operands, {**attributes, "requant": rule}, out) for rule in rules]
    result = parts[0] if len(parts) == 1 else _joined(node, parts, whole)
    node.set(0, node.activate(result, node.options["fused_activation_function"]))


def _joined(node: Node, parts: list[Value], whole: int) -> Value:
    """Join two results: the first ``whole`` channels of the first one, and the other channels of the second one."""
    assert isinstance(parts[0].type, TensorType)
    *outer, channels = parts[0].type.shape or ()
    if None in outer or channels is None:
        node.refuse("weights of int4 with images of a size known only at run time")
    slices = [
        node.emit("qrt.slice", [part], {"offsets": (0, 0, 0, first), "sizes": (*outer, size), "strides": (1, 1, 1, 1)})
        for part, first, size in zip(parts, (0, whole), (whole, channels - whole), strict=True)
    ]
    return node.emit("qrt.concat", slices, {"axis": 3}, parts[0].type.element)


def _window(node: Node, weights: tuple[int | None, ...]) -> dict[str, Any]:
    strides, dilations = (node.options["stride_h"], node.options["stride_w"]), _dilations(node)
    padding = padding_of(node, weights[1:3], strides, dilations)
    return {"strides": strides, "padding": padding, "dilations": dilations}


def _dilations(node: Node) -> tuple[int, int]:
    return node.options["dilation_h_factor"], node.options["dilation_w_factor"]
