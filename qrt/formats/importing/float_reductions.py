"""Sums and extremes along axes, and softmax, as loop nests."""

from collections.abc import Sequence

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import F32, Site


def reduced(site: Site, x: Value, axes: Sequence[int], op: str, start: float) -> Value:
    """Elements along axes together, one after the other; the axes are left out."""
    extents = site.extents(x)
    kept = [axis for axis in range(len(extents)) if axis not in axes]
    nest = Nest(site, "accumulate", [extents[axis] for axis in kept], [extents[axis] for axis in axes])
    loops = dict(zip((*kept, *axes), nest.loops, strict=True))
    element = nest.read(x, [loops[axis] for axis in range(len(extents))])
    return nest.finish(nest.emit(op, (nest.running(element.type, start), element), element.type))[0]


def softmax(site: Site, x: Value, axes: Sequence[int], beta: float, is_inverse: bool) -> Value:
    """Exponentials of the distances from the largest along axes, divided by their sum in order; or multiplied by its
    inverse.
    """
    _, powers = exponentials(site, x, axes, beta)
    total = reduced(site, powers, axes, "arith.addf", 0.0)
    nest = Nest(site, "divide", site.extents(x))
    power, sums = nest.read(powers, nest.loops), nest.read(total, _kept(nest, axes))
    if is_inverse:
        inverse = nest.emit("arith.divf", (nest.constant(1.0, F32), sums), F32)
        made = nest.emit("arith.mulf", (power, inverse), F32)
    else:
        made = nest.emit("arith.divf", (power, sums), F32)
    return nest.finish(made)[0]


def exponentials(site: Site, x: Value, axes: Sequence[int], beta: float) -> tuple[Value, Value]:
    """The largest elements along axes, and exponentials of the distances from them."""
    most = reduced(site, x, axes, "arith.maximumf", -np.inf)
    nest = Nest(site, "exponentials", site.extents(x))
    apart = nest.emit("arith.subf", (nest.read(x, nest.loops), nest.read(most, _kept(nest, axes))), F32)
    if beta != 1:
        apart = nest.emit("arith.mulf", (apart, nest.constant(beta, F32)), F32)
    return most, nest.finish(nest.emit("math.exp", (apart,), F32))[0]


def _kept(nest: Nest, axes: Sequence[int]) -> list[Expression]:
    return [loop for axis, loop in enumerate(nest.loops) if axis not in axes]
