"""Sums, minima and maxima along axes, and softmax of float tensors, as loop nests."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext


def reduced(context: LoweringContext, x: Value, axes: Sequence[int], op: str, start: float) -> Value:
    """Reduce a tensor along axes with the op ``op``, element by element, starting with ``start``.

    The result does not have the reduced axes.
    """
    extents = context.extents(x)
    parallel = [axis for axis in range(len(extents)) if axis not in axes]
    nest = LoopNest(context, "accumulate", [extents[axis] for axis in parallel], [extents[axis] for axis in axes])
    loops = dict(zip((*parallel, *axes), nest.loops, strict=True))
    element = nest.read(x, [loops[axis] for axis in range(len(extents))])
    return nest.finish(nest.value(op, (nest.running(element.type, start), element), element.type))[0]


_TERMS = 16
"""The number of terms that `summed` adds one after the other."""


def summed(context: LoweringContext, x: Value, axes: Sequence[int]) -> Value:
    """Sum float32 elements along axes in an order that limits the rounding error of long sums.

    The axes are reduced one after the other, the last one first. The result does not have these axes. The sum of n
    terms along one axis is computed in two steps:

    - While n > 16, n is replaced by ``m = n // 16``. For each i below m, the new term i is the sum of the terms ``i``,
      ``i + m``, ..., ``i + 15 * m``, added in this order. The terms after the first ``16 * m`` are added to a
      remainder, which starts with 0.
    - The last 16 or fewer terms are added in order to the remainder.

    An axis whose size is known only at run time is summed in order.
    """
    for axis in sorted(axes, reverse=True):
        x = _summed_along(context, x, axis)
    return x


def _summed_along(context: LoweringContext, x: Value, axis: int) -> Value:
    count: Extent = context.extents(x)[axis]
    rest: Any = 0.0
    while isinstance(count, int) and count > _TERMS:
        blocks = count // _TERMS
        if count % _TERMS:
            rest = _sum_of_terms(context, x, axis, _TERMS * blocks, rest)
        x, count = _sums_of_terms(context, x, axis, blocks), blocks
    return _sum_of_terms(context, x, axis, 0, rest)


def _sum_of_terms(context: LoweringContext, x: Value, axis: int, first: int, start: Any) -> Value:
    """Return the sum along an axis of the elements from index ``first`` on, added in order to ``start``."""
    extents = context.extents(x)
    size = extents[axis]
    nest = LoopNest(
        context,
        "accumulate",
        [*extents[:axis], *extents[axis + 1 :]],
        [size - first if isinstance(size, int) else size],
    )
    *others, term = nest.loops
    element = nest.read(x, [*others[:axis], add(term, first), *others[axis:]])
    return nest.finish(nest.value("arith.addf", (nest.running(F32, start), element), F32))[0]


def _sums_of_terms(context: LoweringContext, x: Value, axis: int, count: int) -> Value:
    """Return ``x[i] + x[i + count] + ... + x[i + 15 * count]`` for each i below ``count``, along an axis of ``x``."""
    extents = context.extents(x)
    nest = LoopNest(context, "accumulate", [*extents[:axis], count, *extents[axis + 1 :]], [_TERMS])
    *others, term = nest.loops
    element = nest.read(x, [*others[:axis], add(multiply(term, count), others[axis]), *others[axis + 1 :]])
    return nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), element), F32))[0]


def softmax(context: LoweringContext, x: Value, axes: Sequence[int], beta: float, rule: str) -> Value:
    """Return the softmax of ``beta * x`` along axes. ``rule`` is a profile's rule for `float_softmax`.

    Rule "in_order" adds the exponentials one after the other; "divide" and "multiply" add them by `summed`. Rule
    "multiply" multiplies by the inverse of the sum; the other rules divide by the sum.
    """
    _, powers = exponentials(context, x, axes, beta)
    in_order = rule == "in_order"
    total = reduced(context, powers, axes, "arith.addf", 0.0) if in_order else summed(context, powers, axes)
    nest = LoopNest(context, "divide", context.extents(x))
    power, sums = nest.read(powers, nest.loops), nest.read(total, _remaining_loops(nest, axes))
    if rule == "multiply":
        inverse = nest.value("arith.divf", (nest.constant(1.0, F32), sums), F32)
        quotient = nest.value("arith.mulf", (power, inverse), F32)
    else:
        quotient = nest.value("arith.divf", (power, sums), F32)
    return nest.finish(quotient)[0]


def exponentials(context: LoweringContext, x: Value, axes: Sequence[int], beta: float) -> tuple[Value, Value]:
    """Return two tensors: ``m``, the maximum of ``x`` along axes, and ``exp(beta * (x - m))``.

    The first tensor does not have the reduced axes. The second has the shape of ``x``.
    """
    most = reduced(context, x, axes, "arith.maximumf", -np.inf)
    nest = LoopNest(context, "exponentials", context.extents(x))
    apart = nest.value("arith.subf", (nest.read(x, nest.loops), nest.read(most, _remaining_loops(nest, axes))), F32)
    if beta != 1:
        apart = nest.value("arith.mulf", (apart, nest.constant(beta, F32)), F32)
    return most, nest.finish(nest.value("math.exp", (apart,), F32))[0]


def _remaining_loops(nest: LoopNest, axes: Sequence[int]) -> list[Expression]:
    return [loop for axis, loop in enumerate(nest.loops) if axis not in axes]
