"""Conv, QLinearConv and ConvInteger.

In ONNX, images have the channels first. The imported operations have the channels last, between two transposes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.importing import float_products
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import make_window
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import float_bias
from qrt.models.onnx.operators.windows import WindowShape, channels_first, channels_last, form_of
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, UniformType

F32 = FloatType("f32")


@dataclass(frozen=True)
class _Shape:
    """The sizes of a convolution, as its operands' shapes give them.

    ``outputs`` is the number of filters, ``depth`` the number of input channels of a filter, ``channels`` the number of
    channels of the image, and ``rank`` the number of axes of the image.
    """

    form: WindowShape
    outputs: int
    depth: int
    groups: int
    channels: int
    rank: int

    @property
    def is_depthwise(self) -> bool:
        """True if each input channel is a group of its own."""
        return self.groups > 1 and self.depth == 1


def _shape(node: Node, weights: int) -> _Shape:
    x, w = node.shape(0), node.shape(weights)
    groups = node.attribute("group", 1)
    if len(x) != len(w):
        node.fail(f"the input and the weights must have one rank, got {len(x)} and {len(w)}")
    form = form_of(node, x, w[2:])
    outputs, depth, channels = w[0], w[1], x[1]
    if outputs is None or depth is None:
        node.refuse("weights of a shape known only at run time")
    if channels is None:
        channels = groups * depth
    if groups < 1 or channels != groups * depth or outputs % groups:
        node.fail(
            f"attribute 'group' must be channels / depth of a filter = {channels} / {depth}, and divide the "
            f"{outputs} filters, got {groups}"
        )
    return _Shape(form, outputs, depth, groups, channels, len(x))


def conv(node: Node) -> None:
    """Convolve float32 images with one to three spatial axes.

    Each sum begins with 0 and goes over the kernel's rows, its columns and the channels, in this order. Each product is
    added by a fused multiply-add, and the bias is added at the end.
    """
    if node.type(0).element is not F32 or node.type(1).element is not F32:
        node.refuse(f"of {node.dtype(0)} and {node.dtype(1)}")
    shape = _shape(node, 1)
    form = shape.form.of_images()
    x = channels_last(node, node.value(0))
    sizes = x.type.shape if isinstance(x.type, TensorType) else None
    window = make_window(node, (sizes or ())[1:-1], form.kernel, form.strides, form.dilations, form.padding)
    w = _float_weights(node, shape)
    context, order = lowering_context(node), node.rule("float_products")
    padded, bias = window.padded(node, x), float_bias(node, 2, shape.outputs)
    if shape.is_depthwise:
        per = shape.outputs // shape.channels
        result = float_products.depthwise(context, padded, w, window, shape.outputs, per, order, bias)
    else:
        result = float_products.convolution(
            context, padded, w, window, shape.outputs, shape.depth, shape.groups, order, bias
        )
    node.set(0, channels_first(node, result, shape.rank))


def _float_weights(node: Node, shape: _Shape) -> Value:
    """Return the weights of a Conv transposed from OIHW to OHWI, or to 1HWO for a depthwise convolution."""
    array = node.constant(1)
    if array is not None:
        return node.dense(_arranged(array, shape), F32)
    value = node.value(1)
    if shape.rank == 3:
        value = node.emit("qrt.reshape", [value], None, TensorType(_with_height(node.shape(1)), F32))
    rank = max(shape.rank, 4)
    order = [1, *range(2, rank), 0] if shape.is_depthwise else [0, *range(2, rank), 1]
    return node.emit("qrt.transpose", [value], {"permutation": order})


def _with_height(shape: Sequence[Any]) -> tuple[Any, ...]:
    return (*shape[:2], 1, *shape[2:])


def _arranged(array: Array, shape: _Shape) -> Array:
    """Transpose constant weights from OIHW to OHWI, or to 1HWO for a depthwise convolution."""
    if shape.rank == 3:
        array = array[:, :, np.newaxis]
    order = (1, *range(2, array.ndim), 0) if shape.is_depthwise else (0, *range(2, array.ndim), 1)
    return np.ascontiguousarray(array.transpose(order))


def qlinear_conv(node: Node) -> None:
    """Convolve 8-bit images with one or two spatial axes.

    The weights must be known at import, and have one scale or one for each filter.
    """
    shape = _shape(node, 3)
    out = node.uniform(node.plain(7) if node.has(7) else node.plain(0), (), 6, 7)
    node.set(0, quantized_convolution(node, shape, node.parameters(0, 1, 2), node.parameters(3, 4, 5, axis=0), out))


def quantized_convolution(
    node: Node,
    shape: _Shape,
    x: UniformType,
    w: UniformType,
    out: UniformType,
    inputs: tuple[int, int, int] = (0, 3, 8),
    rule: str = "",
) -> Value:
    """Return the convolution of an image and weights of the types ``x`` and ``w``, plus an optional bias.

    ``out`` is the type of the result. ``inputs`` are the indices of the node's image, weights and bias. ``rule`` is the
    requantization rule, by default that of the profile.
    """
    image, weights, bias = inputs
    if shape.rank > 4:
        node.refuse(f"images of {shape.rank - 2} axes")
    array = _arranged(node.known(weights, "weights"), shape)
    form = shape.form.of_images()
    attributes: dict[str, Any] = {"strides": form.strides, "padding": form.padding, "dilations": form.dilations}
    if shape.is_depthwise:
        op, array = "depthwise_conv2d", array[0]
        w = w.with_(axis=2) if w.is_per_axis else w
    else:
        op = "conv2d"
        if shape.groups > 1:
            attributes["groups"] = shape.groups
    attributes["requant"] = rule or node.rule(op, **product_facts(x, w, out))
    operands = [channels_last(node, node.cast(image, x)), node.dense(array, w)]
    if node.has(bias):
        operands.append(bias_of(node, bias, x, w))
    return channels_first(node, node.emit(f"qrt.{op}", operands, attributes, out), shape.rank)


def conv_integer(node: Node) -> None:
    """Convolve 8-bit integers exactly in int32. The weights and zero points must be known at import.

    Padding adds nothing to a sum.
    """
    shape = _shape(node, 1)
    zeros = [node.known(i, "a zero point") if node.has(i) else np.zeros(1, np.int64) for i in (2, 3)]
    if zeros[0].size != 1 or zeros[1].size not in (1, shape.outputs):
        node.fail(
            "the zero points must be one number for the input, and one or a vector for the weights, got shapes "
            f"{zeros[0].shape} and {zeros[1].shape}"
        )
    x, w = unit_scale_type(node, 0, zeros[0], 0), unit_scale_type(node, 1, zeros[1], 0)
    sums = quantized_convolution(node, shape, x, w, UniformType("i32", "f32", 1.0), (0, 1, 8), "float64_away")
    node.set(0, node.as_storage(sums))


def unit_scale_type(node: Node, i: int, zero_points: Array, axis: int) -> UniformType:
    """Return a quantized type for the storage of 8-bit input ``i``, with scale 1.

    ``zero_points`` has one zero point for the whole input, or one for each index along ``axis``.
    """
    element = node.plain(i)
    if not isinstance(element, IntegerType) or element.width != 8:
        node.refuse(f"of {node.dtype(i)}")
    storage, points = "u8" if element.signedness == "unsigned" else "i8", [int(zero) for zero in zero_points.ravel()]
    if len(points) == 1:
        return UniformType(storage, "f32", 1.0, points[0])
    return UniformType(storage, "f32", [1.0] * len(points), points, axis)


def product_facts(x: UniformType, w: UniformType, out: UniformType) -> dict[str, Any]:
    """Return the properties of a product by which a profile selects a requantization rule.

    These are the storage types, and the largest multiplier ``x.scale * w.scale / out.scale``, computed in float32 as in
    the runtime.
    """
    largest = np.float32(np.float32(x.scale) * np.float32(w.scale_array.max())) / np.float32(out.scale)
    return {"storage": out.storage, "source": x.storage, "weights": w.storage, "multiplier": float(largest)}


def bias_of(node: Node, i: int, x: UniformType, w: UniformType) -> Value:
    """Return the int32 bias in input ``i`` with the scale of the sums, ``x.scale * w.scale``."""
    if node.dtype(i) != "int32":
        node.fail(f"the bias must be int32, got {node.dtype(i)}")
    scales: Any = x.scale * w.scale if w.is_per_layer else (x.scale * w.scale_array).tolist()
    return node.cast(i, UniformType("i32", "f32", scales, axis=None if w.is_per_layer else 0))
