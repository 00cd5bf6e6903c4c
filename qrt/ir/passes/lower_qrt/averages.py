"""Sums of the floats in pooling windows, added in the orders of `numerics.sum_in_order`.

The outer loops are the image, the window's position along each spatial axis, and the channel. `read(nest, position)`
returns the float at a spatial position of the padded input, for the image and the channel of the nest's loops.
"""

from collections.abc import Callable, Sequence
from math import prod

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, combine, floordiv, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext
from qrt.numerics import LANES

Reader = Callable[[LoopNest, Sequence[Expression]], Value]
Sizes = Sequence[int]


def sum_of_rows(
    context: LoweringContext, outer: Sequence[Extent], kernel: Sizes, strides: Sizes, dilations: Sizes, read: Reader
) -> Value:
    """Return the sum of each window, adding its elements in row-major order."""
    nest = LoopNest(context, "accumulate", outer, kernel)
    at = _inside(nest.loops[1 : 1 + len(kernel)], nest.loops[len(outer) :], strides, dilations)
    return _accumulated(nest, read(nest, at))


def sum_of_columns(
    context: LoweringContext,
    outer: Sequence[Extent],
    kernel: Sizes,
    strides: Sizes,
    dilations: Sizes,
    read: Reader,
    width: Extent,
) -> Value:
    """Return the sum of each window: each of its columns is added up first, then the sums of the columns.

    A column extends along all spatial axes except the last, whose padded size is ``width``.
    """
    last = len(kernel)
    nest = LoopNest(context, "accumulate", (*outer[:last], width, outer[-1]), kernel[:-1])
    above = _inside(nest.loops[1:last], nest.loops[len(outer) :], strides[:-1], dilations[:-1])
    columns = _accumulated(nest, read(nest, (*above, nest.loops[last])))

    nest = LoopNest(context, "accumulate", outer, kernel[-1:])
    (at,) = _inside(nest.loops[last : last + 1], nest.loops[len(outer) :], strides[-1:], dilations[-1:])
    return _accumulated(nest, nest.read(columns, (*nest.loops[:last], at, nest.loops[last + 1])))


def sum_of_lanes(context: LoweringContext, outer: Sequence[Extent], image: Sizes, read: Reader) -> Value:
    """Return the sum of each image over its spatial positions, added as LANES partial sums.

    Partial sum i adds the elements i, i + LANES, i + 2 LANES, ... of whole groups of LANES elements. Then the partial
    sums are added, and then the remaining elements. The number of positions is static.
    """
    count = prod(image)
    whole = count // LANES
    lanes = None
    if whole:
        nest = LoopNest(context, "accumulate", (*outer, LANES), (whole,))
        number = add(multiply(nest.loops[-1], LANES), nest.loops[-2])
        lanes = _accumulated(nest, read(nest, _places(number, image)))
    nest = LoopNest(context, "accumulate", outer)
    total = nest.constant(0.0, F32)
    if lanes is not None:
        parts = [nest.read(lanes, (*nest.loops, lane)) for lane in range(LANES)]
        pairs = [_sum(nest, parts[lane], parts[lane + 2]) for lane in range(2)]
        total = _sum(nest, *pairs)
    for number in range(whole * LANES, count):
        total = _sum(nest, total, read(nest, _places(number, image)))
    return nest.finish(total)[0]


def _places(number: Expression, image: Sizes) -> list[Expression]:
    """Return the spatial indices of the element with the row-major position `number` in an image."""
    indices = []
    for axis, size in enumerate(image):
        behind = prod(image[axis + 1 :])
        at = floordiv(number, behind) if behind > 1 else number
        indices.append(combine("mod", at, size) if axis else at)
    return indices


def _inside(
    windows: Sequence[Expression], elements: Sequence[Expression], strides: Sizes, dilations: Sizes
) -> list[Expression]:
    return [
        add(multiply(at, stride), multiply(element, dilation))
        for at, element, stride, dilation in zip(windows, elements, strides, dilations, strict=True)
    ]


def _accumulated(nest: LoopNest, value: Value) -> Value:
    return nest.finish(_sum(nest, nest.running(F32, 0), value))[0]


def _sum(nest: LoopNest, left: Value, right: Value) -> Value:
    return nest.value("arith.addf", (left, right), F32)
