"""Pooling operators: the largest element or the average of each window."""

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import Extent
from qrt.ir.passes.lower_qrt.averages import sum_of_lanes
from qrt.models.importing import windows
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window, make_window
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.convolution import unit_scale_type
from qrt.models.onnx.operators.open_padding import pads_at_run
from qrt.models.onnx.operators.operands import F32, require
from qrt.models.onnx.operators.reductions import divided, number_tensor
from qrt.models.onnx.operators.windows import WindowShape, channels_first, channels_last, form_of
from qrt.types import FloatType, TensorType, UniformType


def window_of(node: Node, form: WindowShape, image: Value) -> tuple[Window, Window]:
    """Return two windows: one with the file's padding, and one with the padding that ``ceil_mode`` adds at the ends.

    ``image`` has the channels last. Without ``ceil_mode`` the two windows are the same.
    """
    sizes = spatial_sizes(image)
    given = make_window(node, sizes, form.kernel, form.strides, form.dilations, form.padding, image)
    if not node.attribute("ceil_mode", 0):
        return given, given
    padding = []
    for size, extent, stride, dilation, (before, after) in zip(
        sizes, form.kernel, form.strides, form.dilations, form.padding, strict=True
    ):
        if size is None and stride > 1:
            padding.append((before, after + stride - 1))  # enough for the last window, whatever the size is
            continue
        room = (size or 0) + before + after - (extent - 1) * dilation - 1
        count = -(-room // stride) + 1
        if (count - 1) * stride >= (size or 0) + before:  # the last window begins in the padding
            count -= 1
        more = 0 if size is None else max((count - 1) * stride - room, 0)
        padding.append((before, after + more))
    window = make_window(node, sizes, form.kernel, form.strides, form.dilations, tuple(padding), image)
    outputs = list(window.outputs)
    for axis, (size, stride, (before, _)) in enumerate(zip(sizes, form.strides, form.padding, strict=True)):
        if size is None and stride > 1:
            outputs[axis] = _ceiled(node, outputs[axis], lowering_context(node).extent(image, axis + 1), stride, before)
    return given, replace(window, outputs=tuple(outputs))


def _ceiled(node: Node, count: Extent, size: Extent, stride: int, before: int) -> Value:
    """Return the number of windows with ``ceil_mode``: ``count``, or one less if the last one begins in the padding."""
    context = lowering_context(node)
    last = node.emit("arith.subi", [context.index(count), context.index(1)])
    first = node.emit("arith.muli", [last, context.index(stride)])
    end = node.emit("arith.addi", [context.index(size), context.index(before)])
    is_beyond = node.emit("arith.cmpi", [first, end], {"predicate": "sge"})
    return node.emit("arith.select", [is_beyond, last, context.index(count)])


def max_pool(node: Node) -> None:
    """Import MaxPool: take the largest element of each window, of float32, int8 or uint8."""
    if node.returns(1):
        node.refuse("with the positions of the largest")
    if node.type(0).element is F32 and pads_at_run(node, None, -np.inf):
        return
    rank, form = len(node.shape()), form_of(node, node.shape(), None).of_images()
    if node.type(0).element is F32:
        x = channels_last(node, node.value(0))
        window = window_of(node, form, x)[1]
        result = windows.largest(lowering_context(node), window.padded(node, x, -np.inf), window)
        node.set(0, channels_first(node, result, rank))
        return
    element = node.type(0).element
    is_open_ceil = None in node.shape()[2:] and node.attribute("ceil_mode", 0)
    if is_open_ceil or rank > 4 or any(dilation != 1 for dilation in form.dilations):
        _set_largest_integers(node, form)
        return
    quantized = (
        element
        if isinstance(element, UniformType) and element.is_per_layer
        else unit_scale_type(node, 0, np.zeros(1), 0)
    )
    x = channels_last(node, node.cast(0, quantized))
    window = window_of(node, form, x)[1]
    attributes: dict[str, Any] = {"kernel": window.kernel, "strides": window.strides, "padding": window.padding}
    result = channels_first(node, node.emit("qrt.max_pool2d", [x], attributes), rank)
    if quantized is element:
        node.set(0, result)
    else:
        node.set_plain(0, node.as_storage(result), node.plain(0))


def _set_largest_integers(node: Node, form: WindowShape) -> None:
    """Set the output to the largest integer of each window, for dilated windows and images of three axes."""
    require(node, 0, "int8", "uint8")
    element, is_signed = node.type(0).element, node.dtype(0) == "int8"
    x, least = channels_last(node, node.stored(0)), -128 if is_signed else 0
    window = window_of(node, form, x)[1]
    op = "arith.maxsi" if is_signed else "arith.maxui"
    result = windows.largest(lowering_context(node), window.padded(node, x, least), window, op, least)
    result = channels_first(node, result, len(node.shape()))
    if not isinstance(element, UniformType):
        node.set_plain(0, result, node.plain(0))
        return
    assert isinstance(result.type, TensorType)
    node.set(0, node.emit("quant.scast", [result], None, result.type.with_(element=element)))


def spatial_sizes(x: Value) -> tuple[int | None, ...]:
    """Return the sizes of images with the channels last, without the batch and the channels."""
    assert isinstance(x.type, TensorType)
    return (x.type.shape or ())[1:-1]


_MOST_KERNEL, _MOST_WIDTH = 32, 2045
"""The largest kernel and the widest padded image for which the runtime's kernel adds columns first."""


def order_of_sums(node: Node, opset: int, form: WindowShape, sizes: Sequence[int | None]) -> str:
    """Return the order in which the runtime adds the floats of a window: "rows", "columns" or "lanes".

    "lanes" means four partial sums. The order depends on the opset and the window; `numerics.sums.sum_in_order` defines
    it. ``sizes`` are those of the image without padding.
    """
    counts_beyond = node.attribute("ceil_mode", 0) and node.attribute("count_include_pad", 0)
    if opset >= 19 or counts_beyond:
        return "rows"
    if tuple(sizes) == form.kernel and not any(map(any, form.padding)) and all(step == 1 for step in form.strides):
        return "lanes"
    width = (sizes[-1] or 0) + sum(form.padding[-1])
    is_small = max(form.kernel) <= _MOST_KERNEL and form.strides[-1] <= 2 and width <= _MOST_WIDTH
    return "columns" if len(form.kernel) > 1 and is_small else "rows"


def average_pool(node: Node) -> None:
    """Import AveragePool: divide the sum of each float32 window by its number of elements.

    The number includes padding if ``count_include_pad`` is set. Elements are added in the runtime's order. Since opset
    19, this is row by row. Before opset 19, it may also be column by column for small kernels, or in four partial sums
    ("lanes") if the window is the whole image; `order_of_sums` selects the order.
    """
    _require_floats(node)
    if node.attribute("count_include_pad", 0) and pads_at_run(node, None, 0.0):
        return
    rank, window_shape = len(node.shape()), form_of(node, node.shape(), None)
    form, order = window_shape.of_images(), order_of_sums(node, node.opset, window_shape, node.shape()[2:])
    x, context = channels_last(node, node.value(0)), lowering_context(node)
    given, window = window_of(node, form, x)
    total = windows.sums(context, window.padded(node, x), window, order)
    nest = LoopNest(context, "divide", context.extents(total))
    if None in spatial_sizes(x):
        by = _open_counts(node, nest, given, window, x)
    else:
        counts = _counts(node, given, window, [size or 0 for size in spatial_sizes(x)]).astype(np.float32)
        by = nest.parameter(counts, F32, nest.loops[1:-1])
    (result,) = nest.finish(nest.value("arith.divf", (nest.read(total, nest.loops), by), F32))
    node.set(0, channels_first(node, result, rank))


def _open_counts(node: Node, nest: LoopNest, given: Window, window: Window, x: Value) -> Value:
    """Return the number by which a window's sum is divided, for images ``x`` whose size is known only at run time."""
    if node.attribute("count_include_pad", 0) and given is not window:
        node.refuse("with padding that counts and ceil_mode, for images whose size is known only at run time")
    if not any(map(any, window.padding)) or node.attribute("count_include_pad", 0):
        return nest.constant(math.prod(window.kernel), F32)
    context = nest.context
    ones = context.filled([1, *context.extents(x)[1:-1], 1], context.constant(1.0, F32))
    counts = windows.sums(context, window.padded(node, ones), window)
    return nest.read(counts, [0, *nest.loops[1:-1], 0])


def _counts(node: Node, given: Window, window: Window, sizes: list[int]) -> Any:
    """Return the number of elements by which the sum of each window is divided.

    With ``count_include_pad``, this number includes the file's padding, which ``given`` has. It never includes the
    padding that ``ceil_mode`` adds, which only ``window`` has.
    """
    if not node.attribute("count_include_pad", 0):
        return windows.counts(window, sizes)
    padded = [size + sum(pair) for size, pair in zip(sizes, given.padding, strict=True)]
    rest = tuple((0, after - own) for (_, after), (_, own) in zip(window.padding, given.padding, strict=True))
    return windows.counts(Window(window.kernel, window.strides, window.dilations, rest, window.outputs), padded)


def global_pool(node: Node) -> None:
    """Import GlobalAveragePool or GlobalMaxPool: compute the average or the largest element of each float32 channel.

    All axes after the channels are reduced to size 1. For an average, the elements are added in four partial sums, or
    in float64 if their number is known only at run time. The sum is divided by their number.
    """
    _require_floats(node)
    x, shape, context = node.value(0), node.shape(), lowering_context(node)
    if len(shape) < 2:
        node.fail(f"the input must have a batch and channels, got shape {list(shape)}")
    axes = tuple(range(2, len(shape)))
    if node.op.type == "GlobalMaxPool":
        result = reduced(context, x, axes, "arith.maximumf", -np.inf)
    else:
        sizes = tuple(size for size in shape[2:] if size is not None)
        if len(sizes) < len(axes):
            node.set(0, _open_mean(node, x, axes))
            return
        flat = node.emit("qrt.reshape", [x], None, TensorType((*shape[:2], math.prod(sizes)), F32))
        outer = context.extents(flat)[:2]
        sums = sum_of_lanes(
            context, outer, (math.prod(sizes),), lambda nest, at: nest.read(flat, (*nest.loops[:2], *at))
        )
        result = divided(node, context, sums, sizes)
    node.set(0, node.emit("qrt.reshape", [result], None, TensorType((*shape[:2], *(1 for _ in axes)), F32)))


def _open_mean(node: Node, x: Value, axes: tuple[int, ...]) -> Value:
    """Return the mean over axes whose sizes are known only at run time. The axes remain with size 1."""
    context, wide = lowering_context(node), FloatType("f64")
    extents = context.extents(x)
    outer = [extent for axis, extent in enumerate(extents) if axis not in axes]
    nest = LoopNest(context, "accumulate", outer, [extents[axis] for axis in axes])
    element = nest.value("arith.extf", (nest.read(x, nest.loops),), wide)
    (sums,) = nest.finish(nest.value("arith.addf", (nest.running(wide, 0.0), element), wide))
    count = number_tensor(node, context.count([extents[axis] for axis in axes]), wide)
    ones = (1,) * len(axes)
    nest = LoopNest(context, "divide", (*outer, *ones))
    mean = nest.value("arith.divf", (nest.read(sums, nest.loops[:2]), nest.read(count, [])), wide)
    return nest.finish(nest.value("arith.truncf", (mean,), F32))[0]


def _require_floats(node: Node) -> None:
    if node.type(0).element is not F32:
        node.refuse(f"of {node.dtype(0)}")
