"""Conv, QLinearConv and ConvInteger.

In ONNX, images have the channels first. The imported operations have the channels last, between two transposes.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.models.importing import float_products
from qrt.models.importing.data_movement import joined, reshaped, taken
from qrt.models.importing.node import lowering_context
from qrt.models.importing.unquantized import Operand, apply, as_value, cast_to
from qrt.models.importing.windows import make_window
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.open_padding import pads_at_run
from qrt.models.onnx.operators.operands import float_bias
from qrt.models.onnx.operators.windows import WindowShape, channels_first, channels_last, form_of
from qrt.ops.core import Array
from qrt.types import FloatType, IntegerType, TensorType, UniformType

F32, I32 = FloatType("f32"), IntegerType(32)


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
        """True if each filter reads a single input channel."""
        return self.groups > 1 and self.depth == 1


def _shape(node: Node, weights: int) -> _Shape:
    x, w = node.shape(0), node.shape(weights)
    groups = node.attribute("group", 1)
    if len(x) != len(w):
        node.fail(f"the input and the weights must have the same rank, got {len(x)} and {len(w)}")
    form = form_of(node, x, w[2:])
    outputs, depth, channels = w[0], w[1], x[1]
    if outputs is None or depth is None:
        node.refuse("weights of a shape known only at run time")
    if channels is None:
        channels = groups * depth
    if groups < 1 or outputs % groups:
        node.fail(f"attribute 'group' must be at least 1 and divide the {outputs} filters, got {groups}")
    if channels != groups * depth:
        node.fail(
            f"the input must have {groups * depth} channels, {depth} (the depth of a filter) for each of {groups} "
            f"groups, got {channels}"
        )
    return _Shape(form, outputs, depth, groups, channels, len(x))


def conv(node: Node) -> None:
    """Import Conv: convolve float32 images with one to three spatial axes.

    Each sum begins with 0 and goes over the kernel's rows, its columns and the channels, in this order. Each product is
    added by a fused multiply-add, and the bias is added at the end.
    """
    if node.type(0).element is not F32 or node.type(1).element is not F32:
        node.refuse(f"of {node.dtype(0)} and {node.dtype(1)}")
    if len(node.shape(1)) == len(node.shape()) and pads_at_run(node, node.shape(1)[2:], 0.0):
        return
    shape = _shape(node, 1)
    form = shape.form.of_images()
    x = channels_last(node, node.value(0))
    sizes = x.type.shape if isinstance(x.type, TensorType) else None
    window = make_window(node, (sizes or ())[1:-1], form.kernel, form.strides, form.dilations, form.padding, x)
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
    """Import QLinearConv: convolve 8-bit images with one to three spatial axes.

    The weights have one scale or one for each filter.
    """
    shape = _shape(node, 3)
    out = node.uniform(node.plain(7) if node.has(7) else node.plain(0), (), 6, 7)
    x, w = node.parameters(0, 1, 2), node.parameters(3, 4, 5, axis=0)
    bias = bias_of(node, 8, x, w) if node.has(8) else None
    weights = node.constant(3)
    node.set(0, _quantized(node, shape, node.cast(0, x), node.cast(3, w) if weights is None else weights, w, bias, out))


def _quantized(
    node: Node,
    shape: _Shape,
    image: Value,
    weights: Value | Array,
    w: UniformType,
    bias: Value | None,
    out: UniformType,
    rule: str = "",
) -> Value:
    """Return the convolution of quantized images [N, C, ...] and weights [O, I, ...] of the type ``w``, plus a bias.

    Weights that are known at import are given as their integers. ``out`` is the type of the result. ``rule`` is the
    requantization rule. The default is the rule of the profile, which describes the arithmetic of a runtime.
    """
    if shape.rank > 5:
        node.refuse(f"images of {shape.rank - 2} axes")
    if shape.rank == 5:
        return _without_depth(node, shape, image, weights, w, bias, out, rule)
    assert isinstance(image.type, TensorType)
    x = image.type.element
    assert isinstance(x, UniformType)
    form = shape.form.of_images()
    attributes: dict[str, Any] = {"strides": form.strides, "padding": form.padding, "dilations": form.dilations}
    op = "depthwise_conv2d" if shape.is_depthwise else "conv2d"
    if shape.groups > 1 and not shape.is_depthwise:
        attributes["groups"] = shape.groups
    attributes["requant"] = rule or node.rule(op, **product_facts(x, w, out))
    operands = [channels_last(node, image), _quantized_weights(node, shape, weights, w)]
    if bias is not None:
        operands.append(bias)
    return channels_first(node, node.emit(f"qrt.{op}", operands, attributes, out), shape.rank)


def _quantized_weights(node: Node, shape: _Shape, weights: Value | Array, w: UniformType) -> Value:
    """Return weights of the type ``w`` transposed from OIHW to OHWI, or to HWO for a depthwise convolution."""
    if w.is_per_axis and shape.is_depthwise:
        w = w.with_(axis=2)
    if isinstance(weights, np.ndarray):
        array = _arranged(weights, shape)
        return node.dense(array[0] if shape.is_depthwise else array, w)
    stored = node.as_storage(weights)
    assert isinstance(stored.type, TensorType)
    if shape.rank == 3:
        sizes = _with_height(stored.type.shape or ())
        stored = node.emit("qrt.reshape", [stored], None, stored.type.with_(shape=sizes))
    stored = node.emit("qrt.transpose", [stored], {"permutation": [1, 2, 3, 0] if shape.is_depthwise else [0, 2, 3, 1]})
    assert isinstance(stored.type, TensorType)
    if shape.is_depthwise:
        stored = node.emit("qrt.reshape", [stored], None, stored.type.with_(shape=(stored.type.shape or ())[1:]))
    assert isinstance(stored.type, TensorType)
    return node.emit("quant.scast", [stored], None, stored.type.with_(element=w))


def _without_depth(
    node: Node,
    shape: _Shape,
    image: Value,
    weights: Value | Array,
    w: UniformType,
    bias: Value | None,
    out: UniformType,
    rule: str,
) -> Value:
    """Return the 3-D convolution of images, computed as a 2-D convolution.

    At each position along the depth, the kernel covers several slices of the 3-D image. The channels of all these
    slices become the channels of one 2-D image.
    """
    assert isinstance(image.type, TensorType)
    form, padding = shape.form, shape.form.padding
    batch, channels, depth, *plane = image.type.shape or ()
    if None in (batch, depth, *plane) or not isinstance(weights, np.ndarray):
        node.refuse("images of 3 axes, with shapes or weights known only at run time")
    if any(padding[0]):
        image = node.emit("qrt.pad", [image], {"padding": ((0, 0), (0, 0), padding[0], (0, 0), (0, 0))})
    slices, stride, dilation = form.kernel[0], form.strides[0], form.dilations[0]
    count = ((depth or 0) + sum(padding[0]) - (slices - 1) * dilation - 1) // stride + 1
    if count < 1:
        node.fail(f"a window of {slices} elements must not be larger than the image, which has {depth} along an axis")
    part = (batch, count, shape.groups, 1, shape.depth, *plane)
    parts = []
    for at in range(slices):
        one = taken(node, image, 2, at * dilation, count, stride)
        one = node.emit("qrt.transpose", [one], {"permutation": [0, 2, 1, 3, 4]})
        parts.append(reshaped(node, one, part))
    joined_parts = joined(node, parts, 3)
    flat = reshaped(node, joined_parts, ((batch or 0) * count, (channels or 0) * slices, *plane))
    flat_weights = weights.transpose(0, 2, 1, 3, 4).reshape(shape.outputs, slices * shape.depth, *form.kernel[1:])
    flat_form = WindowShape(form.kernel[1:], form.strides[1:], form.dilations[1:], padding[1:])
    images = _Shape(flat_form, shape.outputs, slices * shape.depth, shape.groups, shape.channels * slices, 4)
    result = _quantized(node, images, flat, flat_weights, w, bias, out, rule)
    assert isinstance(result.type, TensorType)
    _, filters, *plane = result.type.shape or ()
    result = reshaped(node, result, (batch, count, filters, *plane))
    return node.emit("qrt.transpose", [result], {"permutation": [0, 2, 1, 3, 4]})


# -- integers --------------------------------------------------------------------------------------------------------

_SUMS = UniformType("i32", "f32", 1.0)


def conv_integer(node: Node) -> None:
    """Import ConvInteger: convolve 8-bit integers with one to three spatial axes exactly in int32.

    Padding adds nothing to a sum. The image has one zero point. The weights have one zero point, or one for each
    filter. Zero points and weights may be known only at run time.
    """
    shape = _shape(node, 1)
    for i, sizes in ((2, (1,)), (3, (1, shape.outputs))):
        if node.has(i) and (len(node.shape(i)) > 1 or (node.shape(i) or (1,))[0] not in sizes):
            node.fail(
                "the zero points must be one number for the input, and one or a vector for the weights, got shapes "
                f"{' and '.join(str(list(node.shape(i))) for i in (2, 3) if node.has(i))}"
            )
    none: Array = np.zeros(1, np.int64)
    zeros = [node.constant(i) if node.has(i) else none for i in (2, 3)]
    x, w = (unit_scale_type(node, i, none if zero is None else zero, 0) for i, zero in enumerate(zeros))
    weights = node.constant(1)
    result: Operand = _sums(node, shape, node.cast(0, x), node.cast(1, w) if weights is None else weights, w)
    if zeros[0] is None:  # the sum of w is subtracted as often as the zero point says
        result = _less(node, result, 2, _sums_over_ones(node, shape, x, weights, w))
    if zeros[1] is None:
        ones = np.ones((shape.outputs, shape.depth, *shape.form.kernel), np.uint8)
        own: Operand = _sums(node, shape, node.cast(0, x), ones, _ONES)
        if zeros[0] is None:
            own = _less(node, own, 2, _sums_over_ones(node, shape, x, ones, _ONES))
        result = _less(node, result, 3, own)
    node.set(0, as_value(node, result, I32))


_ONES = UniformType("u8", "f32", 1.0)
"""The type of images and weights that are all 1."""


def _sums(node: Node, shape: _Shape, image: Value, weights: Value | Array, w: UniformType) -> Value:
    return node.as_storage(_quantized(node, shape, image, weights, w, None, _SUMS, "float64_away"))


def _sums_over_ones(node: Node, shape: _Shape, x: UniformType, weights: Array | None, w: UniformType) -> Operand:
    """Return the numbers by which the zero point of the image is multiplied: a tensor [1, filters, ...].

    The number for a window is the sum of the weights that are not over padding, each without the zero point of the
    weights.
    """
    sizes = node.shape()[2:]
    if None in sizes or weights is None:
        image = _image_of_ones(node, shape)
        return _sums(node, shape, image, node.cast(1, w) if weights is None else weights, w)
    points = np.array(w.zero_points, np.int64).reshape(-1, *(1,) * (weights.ndim - 1))
    totals = (weights.astype(np.int64) - points).sum(1)
    columns = zip(sizes, shape.form.kernel, shape.form.strides, shape.form.dilations, shape.form.padding, strict=True)
    for size, kernel, stride, dilation, (before, after) in columns:
        assert size is not None
        starts = np.arange(0, size + before + after - (kernel - 1) * dilation, stride) - before
        places = starts[:, np.newaxis] + np.arange(kernel) * dilation
        totals = np.tensordot(totals, ((places >= 0) & (places < size)).astype(np.int64), ([1], [1]))
    return np.asarray(totals[np.newaxis], np.int32)


def _image_of_ones(node: Node, shape: _Shape) -> Value:
    context = lowering_context(node)
    _, _, *sizes = context.extents(node.value(0))
    ones = context.filled([1, shape.channels, *sizes], context.constant(1, IntegerType(8)))
    assert isinstance(ones.type, TensorType)
    return node.emit("quant.scast", [ones], None, ones.type.with_(element=_ONES))


def _less(node: Node, sums: Operand, i: int, totals: Operand) -> Operand:
    """Return ``sums - zero_point * totals``, modulo 2^32. Input ``i`` is the zero point."""
    zero: Operand = cast_to(node, node.stored(i), IntegerType(8), I32, node.dtype(i) == "uint8", False)
    if node.shape(i) not in ((), (1,)):  # one for each filter
        assert isinstance(zero, Value)
        zero = reshaped(node, zero, (node.shape(i)[0], *(1,) * (len(node.shape()) - 2)))
    elif node.shape(i):
        assert isinstance(zero, Value)
        zero = reshaped(node, zero, ())
    less = apply(node, "arith.muli", [zero, totals], [I32, I32], I32)
    return apply(node, "arith.subi", [sums, less], [I32, I32], I32)


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
    """Return the int32 bias in input ``i`` with the scale of the sums, ``x.scale * w.scale``.

    A bias of shape [1, n] is returned with the shape [n].
    """
    if node.dtype(i) != "int32":
        node.fail(f"the bias must be int32, got {node.dtype(i)}")
    scales: Any = x.scale * w.scale if w.is_per_layer else (x.scale * w.scale_array).tolist()
    element, shape = UniformType("i32", "f32", scales, axis=None if w.is_per_layer else 0), node.shape(i)
    if len(shape) == 2 and shape[0] == 1:
        array = node.constant(i)
        if array is not None:
            return node.dense(np.ascontiguousarray(array[0]), element)
        row = reshaped(node, node.stored(i), shape[1:])
        return node.emit("quant.scast", [row], None, TensorType(shape[1:], element))
    return node.cast(i, element)
