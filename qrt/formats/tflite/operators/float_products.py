"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of floats.

XNNPACK begins with the bias and adds one product after the other, each fused: over the rows of a window, its columns
and the channels; of a depthwise convolution with one filter for each channel over the columns first. The reference
kernels round each product, begin with 0, go over the rows first, and add the bias at the end. Both are chains of
float32, which the nests repeat.
"""

from collections.abc import Callable

import numpy as np

from qrt.formats.importing.nests import site_of
from qrt.formats.tflite.node import Node
from qrt.formats.tflite.operators.float_nests import finish, reshaped
from qrt.formats.tflite.operators.window import Window
from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, floordiv, multiply
from qrt.ops.core import Array
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, Extent, Site
from qrt.types import UniformType

Operands = Callable[[Nest], tuple[Value, Value]]
"""Reads the two factors of a product in the body of a nest."""


def convolution(node: Node, window: Window, channels: int, depth: int) -> None:
    """Weights OHWI, in groups where they have fewer channels than the input."""
    groups = (node.type(0).shape or ())[3] or depth
    site, x, weights = site_of(node), window.padded(node), _weights(node)
    height, width = window.kernel
    kept = [site.extent(node.value(0), 0), *window.outputs, channels]
    per_group = channels // max(groups // depth, 1)

    def operands(nest: Nest) -> tuple[Value, Value]:
        image, i, j, o, row, column, c = nest.loops
        place = add(multiply(floordiv(o, per_group), depth), c) if per_group < channels else c
        return nest.read(x, [image, *window.index((i, j), (row, column)), place]), nest.read(
            weights, [o, row, column, c]
        )

    _sum(node, site, kept, [height, width, depth], operands)


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Weights 1HWO: output channel ``o`` reads the channel ``o // multiplier``."""
    site, x = site_of(node), window.padded(node)
    kept = [site.extent(node.value(0), 0), *window.outputs, channels]
    array = node.constant(1)
    weights = reshaped(node, node.value(1), (*window.kernel, channels)) if array is None else _dense(node, array[0], 2)
    columns_first = _is_fused(node) and multiplier == 1  # XNNPACK takes several filters for a convolution in groups
    height, width = window.kernel

    def operands(nest: Nest) -> tuple[Value, Value]:
        image, i, j, o, first, second = nest.loops
        row, column = (second, first) if columns_first else (first, second)
        source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
        places = [image, *window.index((i, j), (row, column)), source]
        return nest.read(x, places), nest.read(weights, [row, column, o])

    _sum(node, site, kept, [width, height] if columns_first else [height, width], operands)


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Weights [units, depth], and an input with ``depth`` as its last axis."""
    site, weights = site_of(node), _weights(node)
    *kept, _ = site.extents(rows)

    def operands(nest: Nest) -> tuple[Value, Value]:
        *row, o, k = nest.loops
        return nest.read(rows, [*row, k]), nest.read(weights, [o, k])

    _sum(node, site, [*kept, units], [depth], operands)


def _weights(node: Node) -> Value:
    """The weights as floats."""
    array = node.constant(1)
    return node.value(1) if array is None else _dense(node, array, 0)


def _dense(node: Node, array: Array, axis: int) -> Value:
    """Constant weights: the floats that stored ones stand for, whose channels lie on an axis."""
    element = node.type(1).element
    if not isinstance(element, UniformType):
        return node.dense(array, F32)
    shape = [-1 if d == axis and element.is_per_axis else 1 for d in range(array.ndim)]
    scales, zeros = (each.reshape(shape) for each in (element.scale_array, element.zero_point_array))
    return node.dense((np.float32(array) - np.float32(zeros)) * np.float32(scales), F32)


def _is_fused(node: Node) -> bool:
    return node.rule("float_products") == "bias_then_fma"


def _sum(node: Node, site: Site, kept: list[Extent], reduced: list[Extent], operands: Operands) -> None:
    """The result of a sum of products in the order of the profile's rule."""
    bias = node.value(2) if node.has(2) else None
    fused = _is_fused(node)
    start: Value | float = 0.0
    if fused and bias is not None:
        spread = Nest(site, "bias", kept)
        (start,) = spread.finish(spread.read(bias, spread.loops[-1:]))
    nest = Nest(site, "accumulate", kept, reduced)
    x, w = operands(nest)
    if fused:
        (sums,) = nest.finish(nest.emit("math.fma", (x, w, nest.running(F32, start)), F32))
    else:
        product = nest.emit("arith.mulf", (x, w), F32)
        (sums,) = nest.finish(nest.emit("arith.addf", (nest.running(F32, start), product), F32))
    finish(node, site, sums, None if fused else bias)
