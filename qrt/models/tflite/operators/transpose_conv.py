"""Import of TRANSPOSE_CONV on quantized images."""

from typing import Any

from qrt.ir import Value
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.products import bias_of, multiplier_facts
from qrt.types import UniformType

_SHAPE, _WEIGHTS, _IMAGES, _BIAS = range(4)
_Shape = tuple[int | None, ...]


def transpose_conv(node: Node) -> None:
    """Import TRANSPOSE_CONV: apply a transposed convolution to 8-bit images, or to int16 images with int8 weights.

    Weights are OHWI, with one scale or one for each filter; the bias is optional. The result has the shape in input 0
    if it is known at import, else the shape in the file.
    """
    x, w, out = node.element(_IMAGES), node.element(_WEIGHTS), node.result_element()
    images, weights = node.type(_IMAGES), node.type(_WEIGHTS)
    if images.rank != 4 or weights.rank != 4:
        node.fail(f"the input and the weights must have rank 4, got {images.rank} and {weights.rank}")
    if w.is_per_axis and w.axis != 0:
        node.fail(f"the quantized_dimension of the weights must be 0, got {w.axis}")
    if w.is_signed and any(w.zero_points):
        node.fail(f"zero points of signed weights must be 0, got {next(filter(None, w.zero_points))}")
    window = window_of(node)
    strides = zip((weights.shape or ())[1:3], window["strides"], strict=True)
    is_short = node.options["padding"] == "SAME" and any(k is not None and k < stride for k, stride in strides)
    requant = node.rule("transpose_conv2d", **multiplier_facts(node, x, w, out, _BIAS), is_short=is_short)
    pieces = _pieces(requant, (weights.shape or ())[0] or 0)
    parts = [_emit(node, channels, {**window, "requant": rule}) for rule, channels in pieces]
    value = parts[0] if len(parts) == 1 else node.emit("qrt.concat", parts, {"axis": 3}, out)
    node.set(0, node.activate(value, node.options.get("fused_activation_function", "NONE")))


def _pieces(rule: str, channels: int) -> list[tuple[str, slice]]:
    """Return (rounding rule, slice of channels) pairs that cover all channels of the result.

    For `half_up_twice_8`, whole blocks of 8 channels are rounded by the rule of LiteRT's vector code, and the channels
    after the last whole block by the rule of its scalar code. Any other rule applies to all channels.
    """
    if rule != "half_up_twice_8":
        return [(rule, slice(None))]
    whole = channels - channels % 8
    pieces = [("half_up_twice", slice(0, whole)), ("fixed_double", slice(whole, channels))]
    return [(piece_rule, piece) for piece_rule, piece in pieces if piece.start < piece.stop]


def _emit(node: Node, channels: slice, attributes: dict[str, Any]) -> Value:
    """Append the transposed convolution that computes the given slice of the result's channels."""
    x, w, out = node.element(_IMAGES), node.element(_WEIGHTS), node.result_element()
    if channels == slice(None):
        operands = [node.value(_IMAGES), node.value(_WEIGHTS)]
    else:
        array = node.constant(_WEIGHTS)
        if array is None:
            node.refuse("weights known only at run time")
        w = _channels_of(w, channels)
        operands = [node.value(_IMAGES), node.dense(array[channels], w)]
    if node.has(_BIAS):
        operands.append(bias_of(node, _BIAS, x, w, channels))
    return node.emit("qrt.transpose_conv2d", operands, attributes, out)


def _channels_of(w: UniformType, channels: slice) -> UniformType:
    return w if w.is_per_layer else w.with_(scales=w.scales[channels], zero_points=w.zero_points[channels])


def window_of(node: Node) -> dict[str, Any]:
    """Return the attributes strides, padding and output_padding of the transposed convolution.

    The size of the result determines how many elements are cropped from its ends or added at its ends.
    """
    known = node.constant(_SHAPE)
    size = tuple(map(int, known.ravel())) if known is not None else node.result_type().shape or ()
    images, weights = (node.type(number).shape or () for number in (_IMAGES, _WEIGHTS))
    strides = node.options["stride_h"], node.options["stride_w"]
    return window_between(node, size, images, weights, strides, is_same=node.options["padding"] == "SAME")


def window_between(
    node: Node, size: _Shape, images: _Shape, weights: _Shape, strides: tuple[int, ...], *, is_same: bool
) -> dict[str, Any]:
    """Return the attributes of a transposed convolution whose result has the shape ``size``.

    ``images`` and ``weights`` are the shapes of the operands. The weights begin with the axis of filters and end with
    that of channels. ``is_same`` selects the padding SAME instead of VALID.
    """
    rank = len(images)
    if len(size) != rank or any(n is not None and n < min(axis, 1) for axis, n in enumerate(size)):
        node.fail(f"the shape of the result must be a batch and {rank - 1} positive sizes, got {list(size)}")
    if min(strides) < 1:
        node.fail(f"strides {list(strides)} must be positive")
    sides, beyond = [], []
    for n, kernel, result, stride in zip(images[1:-1], weights[1:-1], size[1:-1], strides, strict=True):
        if n is None or kernel is None or result is None:
            node.refuse("a size known only at run time")
        windows = -(-result // stride) if is_same else (result - kernel) // stride + 1
        before = max((windows - 1) * stride + kernel - result, 0) // 2
        behind = (n - 1) * stride + kernel - before - result
        sides.append((before, max(behind, 0)))
        beyond.append(max(-behind, 0))
    return {"strides": strides, "padding": tuple(sides), "output_padding": tuple(beyond)}
