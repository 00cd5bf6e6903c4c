"""CONV_2D and DEPTHWISE_CONV_2D."""

from typing import Any

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.products import bias_of, multiplier_facts
from qrt.formats.tflite.registry import operator
from qrt.types import UniformType


@operator("CONV_2D")
def conv_2d(node: Node) -> None:
    """Weights are OHWI, and their channels lie on axis 0; the input may have a multiple of their channels."""
    x, w = node.element(0), node.element(1)
    images, weights = node.type(0), node.type(1)
    if images.rank != 4 or weights.rank != 4:
        node.fail(f"the input and the weights have rank 4, not {images.rank} and {weights.rank}")
    _check_weights(node, w, 0)
    attributes = _window(node, weights.shape or ())
    depth, channels = (weights.shape or ())[3], (images.shape or ())[3]
    if depth and channels and channels != depth:
        if channels % depth:
            node.fail(f"{channels} channels are no multiple of the {depth} of a filter")
        attributes["groups"] = channels // depth
    _convolve(node, "conv2d", node.value(1), attributes, x, w)


@operator("DEPTHWISE_CONV_2D")
def depthwise_conv_2d(node: Node) -> None:
    """Weights are 1HWO, and their channels lie on axis 3."""
    x, w = node.element(0), node.element(1)
    shape = node.type(1).shape or ()
    if node.type(0).rank != 4 or len(shape) != 4 or shape[0] != 1:
        node.fail(f"the input has rank 4 and the weights are [1, height, width, channels], not {list(shape)}")
    channels, multiplier = (node.type(0).shape or ())[3], node.options["depth_multiplier"]
    if channels is not None and channels * multiplier != shape[3]:
        node.fail(f"a depth multiplier of {multiplier} makes no {shape[3]} channels of {channels}")
    _check_weights(node, w, 3)
    element = w.with_(axis=2) if w.is_per_axis else w
    array = node.constant(1)
    if array is None:
        node.refuse("weights that only the run knows")
    attributes = _window(node, shape)
    _convolve(node, "depthwise_conv2d", node.dense(array[0], element), attributes, x, element)


def _check_weights(node: Node, w: UniformType, axis: int) -> None:
    if w.is_per_axis and w.axis != axis:
        node.fail(f"the scales of the weights lie on axis {w.axis}, not {axis}")
    if w.is_signed and any(w.zero_points):
        node.fail("signed weights of a convolution have a zero point other than 0")


def _convolve(node: Node, op: str, weights: Any, attributes: dict[str, Any], x: UniformType, w: UniformType) -> None:
    out = node.result_element()
    if not node.has(2):
        node.fail("the bias is missing")
    bias = bias_of(node, 2, x, w)
    attributes["requant"] = node.rule(op, **multiplier_facts(node, x, w, out))
    made = node.emit(f"qrt.{op}", [node.value(0), weights, bias], attributes, out)
    node.set(0, node.activate(made, node.options["fused_activation_function"]))


def _window(node: Node, weights: tuple[int | None, ...]) -> dict[str, Any]:
    """Strides, padding and dilations. Height and width are the axes 1 and 2 of the input and of the weights."""
    options = node.options
    strides = options["stride_h"], options["stride_w"]
    dilations = options["dilation_h_factor"], options["dilation_w_factor"]
    padding = padding_of(node, weights[1:3], strides, dilations)
    return {"strides": strides, "padding": padding, "dilations": dilations}


def padding_of(
    node: Node, kernel: tuple[int | None, ...], strides: tuple[int, int], dilations: tuple[int, int] = (1, 1)
) -> tuple[tuple[int, int], ...]:
    """(before, after) for height and width. SAME puts the odd element behind."""
    if min(*strides, *dilations) < 1:
        node.fail(f"strides {list(strides)} and dilations {list(dilations)} must be positive")
    if node.options["padding"] == "VALID":
        return ((0, 0), (0, 0))
    found = []
    for size, window, stride, dilation in zip((node.type(0).shape or ())[1:3], kernel, strides, dilations, strict=True):
        if size is None or window is None:
            node.refuse("SAME padding of a size that only the run knows")
        total = max((-(-size // stride) - 1) * stride + (window - 1) * dilation + 1 - size, 0)
        found.append((total // 2, total - total // 2))
    return tuple(found)
