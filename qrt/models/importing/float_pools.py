"""Pools of floats, as loop nests over padded images NHWC."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt import averages
from qrt.models.importing.windows import Window
from qrt.ops.core import Array


def largest(context: LoweringContext, x: Value, window: Window) -> Value:
    """The largest element of each window, whose padding is less than every number."""
    rank = len(window.kernel)
    nest = LoopNest(
        context, "accumulate", [context.extent(x, 0), *window.outputs, context.extent(x, rank + 1)], window.kernel
    )
    image, *at = nest.loops[: rank + 1]
    channel, *inside = nest.loops[rank + 1 :]
    element = nest.read(x, [image, *window.index(at, inside), channel])
    held = nest.running(tensor_type(x).element, -np.inf)
    return nest.finish(nest.value("arith.maximumf", (held, element), F32))[0]


def sums(context: LoweringContext, x: Value, window: Window, order: str = "rows") -> Value:
    """The sum of each window, in an order of `numerics.averages`. By lanes a window is the whole image."""
    rank = len(window.kernel)
    kept = (context.extent(x, 0), *window.outputs, context.extent(x, rank + 1))

    def read(nest: LoopNest, at: Sequence[Expression]) -> Value:
        return nest.read(x, (nest.loops[0], *at, nest.loops[rank + 1]))

    form = (context, kept, window.kernel, window.strides, window.dilations, read)
    if order == "lanes":
        return averages.sum_of_lanes(context, kept, window.kernel, read)
    return (
        averages.sum_of_columns(*form, context.extent(x, rank)) if order == "columns" else averages.sum_of_rows(*form)
    )


def counts(window: Window, sizes: Sequence[int]) -> Array:
    """How many elements of each window are no padding."""
    lines = []
    for size, kernel, stride, dilation, (before, _), count in zip(
        sizes, window.kernel, window.strides, window.dilations, window.padding, window.outputs, strict=True
    ):
        starts = [at * stride - before for at in range(count)]
        firsts = [max(0, -(start // dilation)) for start in starts]  # the first element of a window inside the image
        ends = [min(kernel, -((start - size) // dilation)) for start in starts]
        lines.append(np.array([max(0, end - first) for first, end in zip(firsts, ends, strict=True)], np.int64))
    found: Array = reduce(lambda left, right: left[..., np.newaxis] * right, lines)
    return found
