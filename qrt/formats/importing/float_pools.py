"""Pools of floats, as loop nests over padded images NHWC."""

from collections.abc import Sequence
from functools import reduce

import numpy as np

from qrt.formats.importing.windows import Window
from qrt.ir import Value
from qrt.ops.core import Array
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, Site, tensor_type


def largest(site: Site, x: Value, window: Window) -> Value:
    """The largest element of each window, whose padding is less than every number."""
    return _folded(site, x, window, "arith.maximumf", -np.inf)


def sums(site: Site, x: Value, window: Window) -> Value:
    """The sum of each window, one element after the other, a row after the other."""
    return _folded(site, x, window, "arith.addf", 0.0)


def _folded(site: Site, x: Value, window: Window, op: str, start: float) -> Value:
    rank = len(window.kernel)
    nest = Nest(site, "accumulate", [site.extent(x, 0), *window.outputs, site.extent(x, rank + 1)], window.kernel)
    image, *at = nest.loops[: rank + 1]
    channel, *inside = nest.loops[rank + 1 :]
    element = nest.read(x, [image, *window.index(at, inside), channel])
    return nest.finish(nest.emit(op, (nest.running(tensor_type(x).element, start), element), F32))[0]


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
