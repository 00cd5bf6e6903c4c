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
    for size, kernel, stride, dilation, (before, after), count in zip(
        sizes, window.kernel, window.strides, window.dilations, window.padding, window.outputs, strict=True
    ):
        line = np.pad(np.ones(size, np.int64), (before, after))
        extent = (kernel - 1) * dilation + 1
        lines.append(np.array([line[at * stride : at * stride + extent : dilation].sum() for at in range(count)]))
    found: Array = reduce(lambda left, right: left[..., np.newaxis] * right, lines)
    return found
