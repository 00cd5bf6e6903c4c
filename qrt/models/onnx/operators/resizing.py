"""Resize and Upsample, one axis after the other.

Each element of the result is a sum of products of a few input elements and weights. The elements' positions and the
weights are computed at import.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import ceil, floor

import numpy as np

from qrt.ir import IntegerAttr, Value
from qrt.ir.core.matching import constant_of
from qrt.models.importing.unquantized import Operand, apply, as_value, number_of, select, shape_of
from qrt.models.onnx.coordinates import COORDINATES, ROUNDED, Axis
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.integer_resizing import resized_integers
from qrt.models.onnx.operators.open_resizing import OpenAxis, open_axis, resized_open
from qrt.models.onnx.operators.operands import F32, I64, Sizes, movable, run_sizes
from qrt.ops.core import Array
from qrt.types import TensorType

_TAPS = {"nearest": 1, "linear": 2, "cubic": 4}
_MOST_TAPS = 1024
"""The most elements along an axis that are added up for one result element: each needs operations of its own."""


def resize(node: Node) -> None:
    """Import Resize: resize to sizes, or by scales that are known at import, in the mode nearest, linear or cubic.

    The mode cubic and antialiasing support float32. The mode linear supports float32 and 8-bit integers. Integers are
    resized along all axes of a tensor of rank 2 or 3, or along the spatial axes of an image; the channels of an image
    with two spatial axes may come last. Their sums are truncated and have the runtime's bits. If the size of an axis is
    known only at run time, before or after resizing, the mode must be nearest, or linear of float32.

    Axes are resized one after the other, and each product and each sum is rounded. A coordinate within 1e-6 of the
    middle of two elements is a tie. Before opset 11, the nearest element is the one before the coordinate if the axis
    grows, and the one after the coordinate if the axis shrinks. As in the runtime, an axis of scale 1 is not changed.
    If no size changes, the input is returned, even if scales or a region are given.
    """
    mode = node.attribute("mode", "nearest")
    if mode not in _TAPS:
        node.fail(f"attribute 'mode' must be one of {', '.join(_TAPS)}, got {mode!r}")
    coordinates = node.attribute("coordinate_transformation_mode", "half_pixel" if node.opset >= 11 else "asymmetric")
    if coordinates not in COORDINATES:
        node.fail(
            f"attribute 'coordinate_transformation_mode' must be one of {', '.join(COORDINATES)}, got {coordinates!r}"
        )
    axes = _axes(node, coordinates) if node.opset >= 11 else _scaled(node, node.known(1, "scales"))
    _resized(node, axes, mode, coordinates)


def upsample(node: Node) -> None:
    """Import Upsample: resize by scales that are known at import, in the mode nearest or linear.

    The ``coordinate_transformation_mode`` is asymmetric.
    """
    mode = node.attribute("mode", "nearest")
    mode = "linear" if mode == "bilinear" else mode  # the name in early models
    if mode not in ("nearest", "linear"):
        node.fail(f"attribute 'mode' must be nearest or linear, got {mode!r}")
    if node.opset < 9:
        axes = _scaled(node, np.array(node.numbers("scales", float), np.float32))
    else:
        axes = _scaled(node, node.known(1, "scales"))
    _resized(node, axes, mode, "asymmetric")


def _scaled(node: Node, scales: Array) -> list[Axis | OpenAxis]:
    """Return the axes whose scale is not 1. ``scales`` has a scale for each axis of the input."""
    shape = node.shape()
    if scales.shape != (len(shape),):
        node.fail(f"scales must be a vector with a scale for each of {len(shape)} axes, got shape {scales.shape}")
    return [_axis(node, axis, size, float(scale)) for axis, (size, scale) in enumerate(zip(shape, scales, strict=True))
            if scale != 1]  # fmt: skip


def _axis(node: Node, axis: int, size: int | None, scale: float) -> Axis | OpenAxis:
    if not 0 < scale < float("inf"):
        node.fail(f"scales must be positive and finite, got {scale}")
    if size is None:
        return open_axis(node, axis, None, scale)
    result = floor(np.float32(size) * np.float32(scale))
    node.graph.check_size(node.op, TensorType((result,), F32))
    return Axis(axis, size, result, scale)


def _axes(node: Node, coordinates: str) -> list[Axis | OpenAxis]:
    """Return the axes whose scale is not 1, from the scales or the sizes that the node gives.

    ``coordinates`` is a value of ``coordinate_transformation_mode``.
    """
    rank = len(node.shape())
    named = [node.axis(axis, rank) for axis in node.ints("axes", tuple(range(rank)))]
    scales = node.known(2, "scales") if node.has(2) else np.zeros(0)
    region = node.known(1, "a region") if node.has(1) else np.zeros(0)
    if scales.size:
        if scales.shape != (len(named),):
            node.fail(f"scales must be a vector with a scale for each of {len(named)} axes, got shape {scales.shape}")
        axes = [_axis(node, axis, node.shape()[axis], float(scale))
                for axis, scale in zip(named, scales, strict=True) if scale != 1]  # fmt: skip
    else:
        axes = _sized(node, named, run_sizes(node, 3))
    if coordinates == "tf_crop_and_resize":
        if region.shape != (2 * len(named),):
            node.fail(
                f"roi must be a vector with a start and an end for each of {len(named)} axes, got shape {region.shape}"
            )
        ends = zip(region[: len(named)], region[len(named) :], strict=True)
        regions = dict(zip(named, ((float(start), float(end)) for start, end in ends), strict=True))
        axes = [axis if isinstance(axis, OpenAxis) else replace(axis, region=regions[axis.axis]) for axis in axes]
    return [axis for axis in axes if isinstance(axis, OpenAxis) or axis.scale != 1]


def _sized(node: Node, named: Sequence[int], wanted: Sizes) -> list[Axis | OpenAxis]:
    """Return the axes in ``named`` that the operator resizes, with their sizes in the result.

    ``wanted`` has the sizes of the result. If `keep_aspect_ratio_policy` is not `stretch`, the sizes follow from one
    scale for all axes instead.
    """
    policy, shape = node.attribute("keep_aspect_ratio_policy", "stretch"), [node.shape()[axis] for axis in named]
    known = [size for size in shape if size is not None]
    sizes = [size for size in wanted if isinstance(size, int)]
    if len(known) < len(shape) or len(sizes) < len(wanted):
        if policy != "stretch" or len(wanted) != len(named):
            node.refuse(f"{policy} to {len(wanted)} sizes, some of which are known only at run time")
        axes = []
        for axis, size, new in zip(named, shape, wanted, strict=True):
            if size is not None and isinstance(new, int):
                axes += _sized_axes([axis], [size], [new])
            elif not _is_own(node, axis, new):
                axes.append(open_axis(node, axis, new, None))
        return axes
    if len(sizes) != len(named) or min(sizes, default=1) < 1 or 0 in known:
        node.fail(
            f"sizes must be {len(named)} positive integers for axes of sizes {known} (none of them 0), got "
            f"{list(sizes)}"
        )
    scales = [float(np.float32(new) / np.float32(old)) for new, old in zip(sizes, known, strict=True)]
    if policy != "stretch":
        if policy not in ("not_larger", "not_smaller"):
            node.fail(
                f"attribute 'keep_aspect_ratio_policy' must be stretch, not_larger or not_smaller, got {policy!r}"
            )
        scale = min(scales) if policy == "not_larger" else max(scales)
        scales = [scale] * len(scales)
        sizes = [floor(float(np.float32(scale) * np.float32(old)) + 0.5) for old in known]
    for size in sizes:
        node.graph.check_size(node.op, TensorType((size,), F32))
    return [Axis(*fields) for fields in zip(named, known, sizes, scales, strict=True)]


def _sized_axes(named: Sequence[int], sizes: Sequence[int], wanted: Sequence[int]) -> list[Axis | OpenAxis]:
    scales = [float(np.float32(new) / np.float32(old)) for new, old in zip(wanted, sizes, strict=True)]
    return [Axis(*fields) for fields in zip(named, sizes, wanted, scales, strict=True)]


def _is_own(node: Node, axis: int, size: int | Value) -> bool:
    """Return True if ``size`` is the input's size on the same axis, which is then not resized."""
    dim = size.operation if isinstance(size, Value) else None
    if dim is None or dim.name != "tensor.dim" or dim.operands[0] is not node.value(0):
        return False
    number = constant_of(dim.operands[1])
    return isinstance(number, IntegerAttr) and number.python == axis


# -- elements and weights --------------------------------------------------------------------------------------------


def _resized(node: Node, axes: Sequence[Axis | OpenAxis], mode: str, coordinates: str) -> None:
    if all(isinstance(axis, Axis) and axis.size == axis.result for axis in axes):
        axes = ()
    is_of_bytes = mode == "linear" and node.dtype(0) in ("int8", "uint8")
    if axes and is_of_bytes:
        known = [axis for axis in axes if isinstance(axis, Axis)]
        if len(known) < len(axes):
            node.refuse(f"linear of {node.dtype(0)}, of an axis whose size is known only at run time")
        node.set_plain(0, resized_integers(node, known, coordinates), node.plain(0))
        return
    value = movable(node)
    is_moved = is_of_bytes or (mode == "nearest" and coordinates != "tf_crop_and_resize")
    if not is_moved and node.type(0).element is not F32:
        node.refuse(f"{mode} of {node.dtype(0)}, with coordinates {coordinates}")
    result: Operand = value
    outside: list[tuple[int, Array]] = []
    for axis in axes:
        if isinstance(axis, OpenAxis):
            rounding = _rounding(node, axis.scale)
            result = resized_open(node, as_value(node, result, F32), axis, mode, coordinates, rounding)
            continue
        positions, weights = _parts(node, axis, mode, coordinates)
        result = _joined(node, result, axis.axis, positions, weights)
        if coordinates == "tf_crop_and_resize":
            coordinate_values = axis.coordinates(coordinates)
            outside.append((axis.axis, (coordinate_values < 0) | (coordinate_values > axis.size - 1)))
    for number, is_outside in outside:
        result = _filled(node, result, number, is_outside)
    value = as_value(node, result, F32)
    if not axes:
        value = node.emit("qrt.reshape", [value], None, value.type)
    node.set(0, value)


def _filled(node: Node, value: Operand, axis: int, is_outside: Array) -> Operand:
    """Replace the elements whose coordinate along an axis is outside of the input by ``extrapolation_value``."""
    number = number_of(node.attribute("extrapolation_value", 0.0), F32)
    rank = len(shape_of(value))
    return select(node, is_outside.reshape([-1 if d == axis else 1 for d in range(rank)]), number, value, F32)


def _joined(node: Node, value: Operand, axis: int, positions: Array, weights: Array | None) -> Operand:
    """Return the sum over i of ``weights[i]`` times the elements of ``value`` at ``positions[i]`` along an axis.

    If ``weights`` is None, ``positions`` has a single row, and the elements at these positions are returned.
    """
    assert isinstance(value, Value)
    assert isinstance(value.type, TensorType)
    shape = [-1 if d == axis else 1 for d in range(value.type.rank or 0)]
    total: Operand | None = None
    for i, row in enumerate(positions):
        part: Operand = node.emit("qrt.gather", [value, node.dense(row, I64)], {"axis": axis})
        if weights is None:
            return part
        part = apply(node, "arith.mulf", [part, weights[i].reshape(shape)], [F32, F32], F32)
        total = part if total is None else apply(node, "arith.addf", [total, part], [F32, F32], F32)
    assert total is not None
    return total


def _parts(node: Node, axis: Axis, mode: str, coordinates: str) -> tuple[Array, Array | None]:
    """Return the positions of the input elements that are added for each result element, and their weights.

    In both arrays, element [i, j] belongs to the i-th summand of result element j. The weights are None for nearest
    elements.
    """
    if mode == "nearest":
        rounding = _rounding(node, np.asarray(axis.scale, np.float32))
        if rounding not in ROUNDED:
            node.fail(f"attribute 'nearest_mode' must be one of {', '.join(ROUNDED)}, got {rounding!r}")
        return axis.nearest(coordinates, rounding)[np.newaxis], None
    coordinate_values, last = axis.coordinates(coordinates), axis.size - 1
    widened = max(1.0, 1 / axis.scale) if node.attribute("antialias", 0) else 1.0
    half = ceil(_TAPS[mode] / 2 * widened)
    if 2 * half > _MOST_TAPS:
        node.refuse(f"with antialias of {2 * half} elements along axis {axis.axis}, more than {_MOST_TAPS}")
    node.graph.check_size(node.op, TensorType((8, 2 * half, axis.result), I64))  # bounds the arrays below
    first = np.floor(coordinate_values).astype(np.int64) - half + 1
    positions = first + np.arange(2 * half)[:, np.newaxis]
    distances = (coordinate_values.astype(np.float64) - positions) / widened
    kernel = (
        np.maximum(1 - np.abs(distances), 0)
        if mode == "linear"
        else _cubic(distances, node.attribute("cubic_coeff_a", -0.75))
    )
    inside = (positions >= 0) & (positions <= last)
    if node.attribute("exclude_outside", 0):
        kernel = np.where(inside, kernel, 0)
    if node.attribute("exclude_outside", 0) or widened > 1:
        kernel = kernel / kernel.sum(0)
    return np.clip(positions, 0, last), kernel.astype(np.float32)


def _rounding(node: Node, scale: Operand) -> str:
    if node.opset >= 11:
        return node.attribute("nearest_mode", "round_prefer_floor")
    if isinstance(scale, Value):  # without the attribute, the runtime has one rule to shrink and one to grow
        node.refuse("of an axis whose size is known only at run time")
    return "ceil" if scale < 1 else "floor"


def _cubic(x: Array, a: float) -> Array:
    x = np.abs(x)
    near = ((a + 2) * x - (a + 3)) * x * x + 1
    far = ((x - 5) * x + 8) * x * a - 4 * a
    return np.where(x <= 1, near, np.where(x < 2, far, 0))
