"""Samples of images between their pixels: GridSample, RoiAlign, DeformConv, and MaxRoiPool."""

from collections.abc import Sequence
from functools import reduce
from math import prod
from typing import Any

import numpy as np

from qrt.models.onnx.composed import ComposedGraph, composed, require_floats, static_sizes
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32
from qrt.models.onnx.operators.windows import form_of
from qrt.types import TensorType

_ALPHA = -0.75
"""The parameter of cubic weights."""


class _Images:
    """Images as rows of channels, whose pixels are read at positions that the graph computes.

    ``name`` is a tensor [batch, channels, *sizes]. The positions are one tensor for each spatial axis. These tensors
    have ``rank`` axes, of which the first is the batch; their elements are floats without a fraction.
    """

    def __init__(self, graph: ComposedGraph, name: str, shape: Sequence[int], rank: int) -> None:
        self.graph = graph
        self.sizes = tuple(shape[2:])
        order = (0, *range(2, len(shape)), 1)
        rows = graph.add("Transpose", name, perm=order)
        self.rows = graph.add("Reshape", rows, graph.integers(shape[0] * prod(self.sizes), shape[1]))
        starts = np.arange(shape[0]).reshape(-1, *(1,) * (rank - 1)) * prod(self.sizes)
        self.starts = graph.constant(starts, np.int64)

    def pixel(self, positions: Sequence[str], is_zero_outside: bool) -> str:
        """Return the channels [*positions, channels] of the pixels at the positions.

        With ``is_zero_outside``, pixels outside of the image are 0. Otherwise all positions must be inside.
        """
        graph, number, inside = self.graph, self.starts, []
        for d, (position, size) in enumerate(zip(positions, self.sizes, strict=True)):
            if is_zero_outside:
                inside.append(_inside(graph, position, 0, size - 1))
                position = graph.add("Where", inside[-1], position, graph.constant(0))
            index = graph.add("Cast", position, to=7)
            index = graph.add("Mul", index, graph.constant(prod(self.sizes[d + 1 :]), np.int64))
            number = graph.add("Add", number, index)
        pixel = graph.add("Gather", self.rows, number, axis=0)
        if inside:
            is_inside = graph.add("Unsqueeze", reduce(lambda a, b: graph.add("And", a, b), inside), graph.integers(-1))
            pixel = graph.add("Where", is_inside, pixel, graph.constant(0))
        return str(pixel)


def _inside(graph: ComposedGraph, x: str, low: float, high: float) -> str:
    above = graph.add("GreaterOrEqual", x, graph.constant(low))
    return str(graph.add("And", above, graph.add("LessOrEqual", x, graph.constant(high))))


def _weighted(graph: ComposedGraph, values: Sequence[str], weights: Sequence[str]) -> str:
    """Return the sum of products of values [*positions, channels] and weights [*positions], added in order."""
    products = [
        graph.add("Mul", value, graph.add("Unsqueeze", weight, graph.integers(-1)))
        for value, weight in zip(values, weights, strict=True)
    ]
    return str(reduce(lambda a, b: graph.add("Add", a, b), products))


def _interpolated(
    graph: ComposedGraph, lines: Sequence[tuple[Sequence[str], Sequence[str]]], pixel: Any, at: tuple[str, ...] = ()
) -> str:
    """Add nodes that interpolate pixels, along the last axis first; return the result's name.

    ``lines`` has (positions, weights) for each axis. ``pixel`` returns the pixels, given one position for each axis.
    """
    if len(at) == len(lines):
        return str(pixel(at))
    positions, weights = lines[len(at)]
    return _weighted(graph, [_interpolated(graph, lines, pixel, (*at, one)) for one in positions], weights)


def _linear_line(graph: ComposedGraph, x: str) -> tuple[list[str], list[str]]:
    low = graph.add("Floor", x)
    high = graph.add("Add", low, graph.constant(1))
    return [low, high], [graph.add("Sub", high, x), graph.add("Sub", x, low)]


def _cubic_line(graph: ComposedGraph, x: str) -> tuple[list[str], list[str]]:
    first = graph.add("Sub", graph.add("Floor", x), graph.constant(1))
    positions = [first, *(graph.add("Add", first, graph.constant(i)) for i in (1, 2, 3))]
    fraction = graph.add("Sub", graph.add("Sub", x, first), graph.constant(1))
    rest = graph.add("Sub", graph.constant(1), fraction)

    def polynomial(value: str, *coefficients: float) -> str:
        result = graph.constant(coefficients[0])
        for coefficient in coefficients[1:]:
            result = graph.add("Add", graph.add("Mul", result, value), graph.constant(coefficient))
        return str(result)

    def far(distance: str) -> str:
        beyond = graph.add("Add", distance, graph.constant(1))
        return polynomial(beyond, _ALPHA, -5 * _ALPHA, 8 * _ALPHA, -4 * _ALPHA)

    def near(distance: str) -> str:
        return polynomial(distance, _ALPHA + 2, -(_ALPHA + 3), 0, 1)

    return positions, [far(fraction), near(fraction), near(rest), far(rest)]


def grid_sample(node: Node) -> None:
    """Import GridSample: sample float32 images of one, two or three axes at the positions of a grid.

    The modes are nearest, linear and cubic. Positions outside of an image give 0, the pixel at the border, or the pixel
    at the mirrored position. The shapes must be known at import.
    """
    require_floats(node, 0, 1)
    shape, grid_shape = (static_sizes(node, i, *range(len(node.shape(i)))) for i in range(2))
    axes, mode = len(shape) - 2, node.attribute("mode", "linear" if node.opset >= 20 else "bilinear").removeprefix("bi")
    padding, is_aligned = node.attribute("padding_mode", "zeros"), bool(node.attribute("align_corners", 0))
    if axes < 1 or len(grid_shape) != axes + 2 or grid_shape[-1] != axes or grid_shape[0] != shape[0]:
        node.fail(f"its grid has shape {list(grid_shape)}, which does not match images of shape {list(shape)}")
    if mode not in ("linear", "nearest", "cubic") or padding not in ("zeros", "border", "reflection"):
        node.fail(f"mode is {mode!r} and padding_mode {padding!r}, which are not valid")
    if axes > 3 or (mode == "cubic" and axes != 2):
        node.refuse(f"mode {mode} of images with {axes} axes")
    graph = composed(node)
    images = _Images(graph, node.input(0), shape, axes + 1)
    ends = [(0.0, size - 1.0) if is_aligned else (-0.5, size - 0.5) for size in images.sizes]
    at = []
    for d, size in enumerate(images.sizes):
        x = graph.add("Gather", node.input(1), graph.constant(axes - 1 - d, np.int64), axis=-1)
        x = graph.add("Add", x, graph.constant(1))
        if is_aligned:
            x = graph.add("Mul", graph.add("Div", x, graph.constant(2)), graph.constant(size - 1))
        else:
            x = graph.add("Sub", graph.add("Mul", x, graph.constant(size)), graph.constant(1))
            x = graph.add("Div", x, graph.constant(2))
        at.append(graph.add("Round", x) if mode == "nearest" else x)

    def moved_inside(positions: Sequence[str]) -> list[str]:
        if padding == "border":
            return [
                graph.add("Clip", x, graph.constant(0), graph.constant(size - 1))
                for x, size in zip(positions, images.sizes, strict=True)
            ]
        return [_mirrored(graph, x, *pair) for x, pair in zip(positions, ends, strict=True)]

    if padding == "reflection" or (padding == "border" and mode != "cubic"):
        inside = [_inside(graph, x, *pair) for x, pair in zip(at, ends, strict=True)]
        is_inside = reduce(lambda a, b: graph.add("And", a, b), inside)
        at = [graph.add("Where", is_inside, x, y) for x, y in zip(at, moved_inside(at), strict=True)]

    def pixel(positions: Sequence[str]) -> str:
        if padding == "zeros":
            return images.pixel(positions, True)
        # mirrored positions of a whole grid are whole, but those beside a position at the end may lie outside by 1
        inner = zip(moved_inside(positions), images.sizes, strict=True)
        return images.pixel([graph.add("Clip", x, graph.constant(0), graph.constant(n - 1)) for x, n in inner], False)

    if mode == "nearest":
        result = pixel(at)
    else:
        line = _linear_line if mode == "linear" else _cubic_line
        result = _interpolated(graph, [line(graph, x) for x in at], pixel)
    graph.replace(node, graph.add("Transpose", result, perm=(0, axes + 1, *range(1, axes + 1))))


def _mirrored(graph: ComposedGraph, x: str, low: float, high: float) -> str:
    """Add nodes that mirror positions at both ends of an image until they are inside; return the result's name."""
    if high <= low:
        return str(graph.add("Mul", x, graph.constant(0)))
    width = graph.constant(high - low)
    above = graph.add("Greater", x, graph.constant(high))
    outside = graph.add("Sub", graph.add("Where", above, x, graph.constant(low)),
                        graph.add("Where", above, graph.constant(high), x))  # fmt: skip
    times = graph.add("Floor", graph.add("Div", outside, width))
    rest = graph.add("Sub", outside, graph.add("Mul", times, width))
    is_odd = graph.add("Equal", graph.add("Mod", times, graph.constant(2), fmod=1), graph.constant(1))
    from_low = graph.add("Add", graph.constant(low), rest)
    from_high = graph.add("Sub", graph.constant(high), rest)
    mirrored = graph.add("Where", graph.add("Equal", above, is_odd), from_low, from_high)
    return str(graph.add("Where", _inside(graph, x, low, high), x, mirrored))


# -- regions of images -----------------------------------------------------------------------------------------------


def _regions(node: Node) -> tuple[int, int]:
    """Return the numbers of rows and columns of input 1. Each row is a region of an image."""
    if len(node.shape(1)) != 2:
        node.fail(f"its regions have shape {list(node.shape(1))}, expected a matrix")
    count, columns = static_sizes(node, 1, 0, 1)
    return count, columns


def roi_align(node: Node) -> None:
    """Import RoiAlign: average linear samples of float32 images in the bins of regions.

    In the mode ``max``, the largest weighted pixel of a bin is taken instead. The shapes must be known at import, and
    ``sampling_ratio`` must be positive.
    """
    require_floats(node, 0, 1)
    shape, (count, sides) = static_sizes(node, 0, *range(len(node.shape()))), _regions(node)
    pooled = [node.attribute(f"output_{side}", 1) for side in ("height", "width")]
    ratio, mode = node.attribute("sampling_ratio", 0), node.attribute("mode", "avg")
    transformation = "half_pixel" if node.opset >= 16 else "output_half_pixel"
    transformation = node.attribute("coordinate_transformation_mode", transformation)
    if len(shape) != 4 or sides != 4 or min(pooled) < 1 or mode not in ("avg", "max") or ratio < 0:
        node.fail(f"its input has shape {list(shape)}, its regions {sides} sides, mode {mode!r}, and sizes {pooled}")
    if transformation not in ("half_pixel", "output_half_pixel"):
        node.fail(f"coordinate_transformation_mode is {transformation!r}, which is not valid")
    if not ratio:
        node.refuse("sampling_ratio 0, by which the size of a region decides the number of samples")
    node.graph.check_size(node.op, TensorType((count, *(size * ratio for size in pooled)), F32))
    graph = composed(node)
    lines = []
    for axis in range(2):
        ends = []
        for side in (1 - axis, 3 - axis):
            end = graph.add("Gather", node.input(1), graph.integers(side), axis=1)
            end = graph.add("Mul", end, graph.constant(node.attribute("spatial_scale", 1.0)))
            ends.append(graph.add("Sub", end, graph.constant(0.5 if transformation == "half_pixel" else 0)))
        size = graph.add("Sub", ends[1], ends[0])
        if transformation != "half_pixel":
            size = graph.add("Max", size, graph.constant(1))
        size = graph.add("Div", size, graph.constant(pooled[axis]))
        samples = np.arange(pooled[axis] * ratio)
        bins = graph.add("Mul", graph.constant(samples // ratio), size)
        parts = graph.add("Mul", graph.constant(samples % ratio + 0.5), size)
        x = graph.add("Add", graph.add("Add", ends[0], bins), graph.add("Div", parts, graph.constant(ratio)))
        lines.append(_clamped_line(graph, x, shape[2 + axis]))
    images = _Images(graph, node.input(0), shape, 5)
    first = graph.add("Reshape", node.input(2), graph.integers(count, 1, 1, 1, 1))
    images.starts = graph.add("Mul", graph.add("Cast", first, to=7), graph.constant(shape[2] * shape[3], np.int64))
    grid = graph.integers(count, pooled[0], ratio, pooled[1], ratio)
    products = []
    for y, of_y in zip(*lines[0], strict=True):
        for x, of_x in zip(*lines[1], strict=True):
            places = [_split(graph, end, axis, pooled, ratio) for axis, end in enumerate((y, x))]
            weight = graph.add(
                "Mul", *(_split(graph, end, axis, pooled, ratio) for axis, end in enumerate((of_y, of_x)))
            )
            weight = graph.add("Unsqueeze", graph.add("Expand", weight, grid), graph.integers(-1))
            products.append(graph.add("Mul", weight, images.pixel(places, False)))
    combine = "Add" if mode == "avg" else "Max"
    result = reduce(lambda a, b: graph.add(combine, a, b), products)
    if mode == "avg":
        result = graph.add("ReduceSum", result, graph.integers(2, 4), keepdims=0)
        result = graph.add("Div", result, graph.constant(ratio * ratio))
    else:
        result = graph.add("ReduceMax", result, graph.integers(2, 4), keepdims=0)
    graph.replace(node, graph.add("Transpose", result, perm=(0, 3, 1, 2)))


def _clamped_line(graph: ComposedGraph, x: str, size: int) -> tuple[list[str], list[str]]:
    """Return the two pixels next to each position x, and their weights for linear interpolation.

    The weights are 0 if x lies more than 1 outside of the image.
    """
    inside = _inside(graph, x, -1, size)
    x = graph.add("Max", graph.add("Where", inside, x, graph.constant(0)), graph.constant(0))
    low = graph.add("Min", graph.add("Floor", x), graph.constant(size - 1))
    high = graph.add("Min", graph.add("Add", low, graph.constant(1)), graph.constant(size - 1))
    after = graph.add("Sub", graph.add("Min", x, graph.constant(size - 1)), low)
    before = graph.add("Sub", graph.constant(1), after)
    zero = graph.constant(0)
    return [low, high], [graph.add("Where", inside, weight, zero) for weight in (before, after)]


def _split(graph: ComposedGraph, name: str, axis: int, pooled: Sequence[int], ratio: int) -> str:
    """Reshape the tensor ``name`` [regions, samples] to [regions, bins, samples, bins, samples].

    The samples are along ``axis``, the height or the width; the bins and samples of the other axis have size 1.
    """
    sizes = (pooled[axis], ratio, 1, 1) if axis == 0 else (1, 1, pooled[axis], ratio)
    return str(graph.add("Reshape", name, graph.integers(0, *sizes)))


def max_roi_pool(node: Node) -> None:
    """Import MaxRoiPool: take the largest element of float32 images in the bins of regions.

    The shapes must be known at import.
    """
    require_floats(node, 0, 1)
    shape, regions_shape = (static_sizes(node, i, *range(len(node.shape(i)))) for i in range(2))
    pooled, scale = node.ints("pooled_shape"), node.attribute("spatial_scale", 1.0)
    if len(shape) != 4 or regions_shape[1:] != (5,) or len(pooled) != 2 or min(pooled) < 1:
        node.fail(
            "expected an input of 4 axes, regions of shape [n, 5] and two positive sizes in pooled_shape, got "
            f"{list(shape)}, {list(regions_shape)} and {list(pooled)}"
        )
    count, graph, regions = regions_shape[0], composed(node), node.input(1)
    number = graph.add("Gather", regions, graph.constant(0, np.int64), axis=1)
    result = graph.add("Gather", node.input(0), graph.add("Cast", number, to=7), axis=0)
    for axis, (size, bins) in enumerate(zip(shape[2:], pooled, strict=True)):
        first, last = (
            _half_away(graph, graph.add("Mul", graph.add("Gather", regions, graph.integers(side), axis=1),
                                        graph.constant(scale)))
            for side in (2 - axis, 4 - axis)
        )  # fmt: skip
        width = graph.add("Max", graph.add("Add", graph.add("Sub", last, first), graph.constant(1)), graph.constant(1))
        width = graph.add("Div", width, graph.constant(bins))
        ends = []
        for rounding, numbers in (("Floor", np.arange(bins)), ("Ceil", np.arange(1, bins + 1))):
            end = graph.add("Add", graph.add(rounding, graph.add("Mul", graph.constant(numbers), width)), first)
            end = graph.add("Clip", end, graph.constant(0), graph.constant(size))
            ends.append(graph.add("Unsqueeze", end, graph.integers(2)))
        places = graph.constant(np.arange(size))
        inside = graph.add("And", graph.add("GreaterOrEqual", places, ends[0]), graph.add("Less", places, ends[1]))
        inside = graph.add("Reshape", inside, graph.integers(count, 1, bins, *((size, 1) if axis == 0 else (1, size))))
        # [regions, channels, bins, height, width] first, then [regions, channels, bins of rows, bins, width]
        wide = graph.add("Unsqueeze", result, graph.integers(2 + axis))
        if axis:
            inside = graph.add("Reshape", inside, graph.integers(count, 1, 1, bins, size))
        values = graph.add("Where", inside, wide, graph.constant(-np.inf))
        result = graph.add("ReduceMax", values, graph.integers(3 + axis), keepdims=0)
    empty = graph.add("Equal", result, graph.constant(-np.inf))
    graph.replace(node, graph.add("Where", empty, graph.constant(0), result))


def _half_away(graph: ComposedGraph, x: str) -> str:
    away = graph.add("Floor", graph.add("Add", graph.add("Abs", x), graph.constant(0.5)))
    return str(graph.add("Mul", graph.add("Sign", x), away))


def deform_conv(node: Node) -> None:
    """Import DeformConv: convolve float32 images whose windows are deformed by offsets.

    The offsets may be known only at run time. The shapes must be known at import. Pixels are interpolated linearly, are
    0 outside of the image, and may be multiplied by a mask.
    """
    require_floats(node, *range(5))
    shape, weights = (static_sizes(node, i, *range(len(node.shape(i)))) for i in range(2))
    if len(shape) != 4 or len(weights) != 4:
        node.refuse(f"of shape {list(shape)} with weights of shape {list(weights)}")
    form = form_of(node, shape, weights[2:])
    groups, offset_groups = node.attribute("group", 1), node.attribute("offset_group", 1)
    batch, channels = shape[:2]
    outputs = [
        (size + sum(pads) - (kernel - 1) * dilation - 1) // stride + 1
        for size, kernel, stride, dilation, pads in zip(
            shape[2:], form.kernel, form.strides, form.dilations, form.padding, strict=True
        )
    ]
    points = prod(form.kernel)
    if min(groups, offset_groups) < 1 or channels != weights[1] * groups or channels % offset_groups:
        node.fail(f"{channels} channels do not fit {groups} groups of {weights[1]} and {offset_groups} of offsets")
    if weights[0] % groups or node.shape(2) != (batch, 2 * offset_groups * points, *outputs):
        node.fail(
            f"its offsets have shape {list(node.shape(2))}, expected {2 * offset_groups * points} channels of {outputs}"
        )
    graph, names = composed(node), node.op.inputs
    own = (batch * offset_groups, channels // offset_groups, *shape[2:])
    images = _Images(graph, graph.add("Reshape", names[0], graph.integers(*own)), own, 4)
    offsets = graph.add("Reshape", names[2], graph.integers(own[0], points, 2, *outputs))
    at = []
    for d in range(2):
        starts = np.arange(outputs[d]) * form.strides[d] - form.padding[d][0]
        points_of_axis = np.indices(form.kernel)[d].ravel() * form.dilations[d]
        starts = starts.reshape((-1, 1) if d == 0 else (1, -1))
        grid = graph.constant(points_of_axis[:, np.newaxis, np.newaxis] + starts)
        at.append(graph.add("Add", grid, graph.add("Gather", offsets, graph.constant(d, np.int64), axis=2)))
    lines = [_linear_line(graph, x) for x in at]
    samples = _interpolated(graph, lines, lambda positions: images.pixel(positions, True))
    if node.has(4):
        mask = graph.add("Reshape", names[4], graph.integers(own[0], points, *outputs, 1))
        samples = graph.add("Mul", samples, mask)
    samples = graph.add("Transpose", samples, perm=(0, 4, 1, 2, 3))
    columns = graph.add("Reshape", samples, graph.integers(batch, groups, weights[1] * points, prod(outputs)))
    matrix = graph.add("Reshape", names[1], graph.integers(1, groups, weights[0] // groups, weights[1] * points))
    result = graph.add("MatMul", matrix, columns)
    result = graph.add("Reshape", result, graph.integers(batch, weights[0], *outputs))
    if node.has(3):
        result = graph.add("Add", result, graph.add("Reshape", names[3], graph.integers(weights[0], 1, 1)))
    graph.replace(node, result)
