"""Import of pools, SUM, MEAN, SOFTMAX, LOG_SOFTMAX and L2_NORMALIZATION on floats."""

from collections.abc import Sequence
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core import affine
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext, tensor_type
from qrt.models.importing import float_reductions, windows
from qrt.models.importing.float_reductions import reduced, summed
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, require_floats, reshaped


def max_pool(node: Node, window: Window) -> None:
    """Import a float maximum pool. The images are padded with -inf."""
    context, x = lowering_context(node), window.padded(node, node.value(0), -np.inf)
    finish(node, context, windows.largest(context, x, window))


def average_pool(node: Node, window: Window) -> None:
    """Import a float average pool: the sum of each window divided by the number of elements that are not padding."""
    context, x = lowering_context(node), window.padded(node, node.value(0))
    has_gaps = any(stride > size for stride, size in zip(window.strides, window.kernel, strict=True))
    is_delegated = node.rule("float_average_pool", has_gaps=has_gaps) == "nines"
    parallel: list[Extent] = [context.extent(x, 0), *window.outputs, context.extent(x, 3)]
    sums = _nines(context, x, window, parallel) if is_delegated else windows.sums(context, x, window)
    counts = windows.counts(window, [size or 0 for size in (node.type(0).shape or ())[1:3]]).astype(np.float32)
    nest = LoopNest(context, "divide", parallel)
    scalar = nest.read(sums, nest.loops)
    by = nest.parameter(np.float32(1) / counts if is_delegated else counts, F32, nest.loops[1:3])
    (value,) = nest.finish(nest.value("arith.mulf" if is_delegated else "arith.divf", (scalar, by), F32))
    finish(node, context, value)


def _nines(context: LoweringContext, x: Value, window: Window, parallel: list[Extent]) -> Value:
    """Return the sums of windows in XNNPACK's order of additions.

    The elements of a window, in column-major order, are split into groups of nine. Each group is summed as a tree, and
    its sum is added to the sum of the groups before.
    """
    height, width = window.kernel
    taps = [(row, column) for column in range(width) for row in range(height)]
    sums: Value | None = None
    for first in range(0, len(taps), 9):
        nest = LoopNest(
            context, "accumulate", parallel, [1]
        )  # one extra loop of one iteration, because an index that is only `i` means a whole axis
        image, i, j, channel, turn = nest.loops
        top, left = window.index((i, j), (turn, turn))
        nine = [
            nest.read(x, [image, affine.add(top, row), affine.add(left, column), channel])
            for row, column in taps[first : first + 9]
        ]
        nine += [nest.constant(0.0, F32)] * (9 - len(nine))

        def add(*terms: Value, nest: LoopNest = nest) -> Value:
            return nest.value("arith.addf", terms, F32)

        outer, inner = add(add(nine[0], nine[1]), nine[8]), add(add(nine[2], nine[3]), add(nine[4], nine[5]))
        scalar = add(inner, add(outer, add(nine[6], nine[7])))
        if sums is not None:
            scalar = add(nest.read(sums, nest.loops[:4]), scalar)
        (sums,) = nest.finish(scalar)
    assert sums is not None  # a window has elements
    return sums


def reduce(node: Node, axes: tuple[int, ...]) -> None:
    """Import a float SUM or MEAN over axes.

    By the rule "in_order", elements are added one after the other. By the rule "by_runs" (XNNPACK), each run of
    adjacent axes is reduced separately, the last run first. A MEAN divides after the first of these reductions; the
    divisor is the number of elements along all ``axes``. If a run includes the last axis, XNNPACK's order of additions
    depends on the CPU, and the program adds in the order of the function `summed`.
    """
    context, x = lowering_context(node), node.value(0)
    extents = context.extents(x)
    by_runs = node.rule("float_sum") == "by_runs"
    runs = _runs(axes) if by_runs else [axes]
    last = max((axis for axis, size in enumerate(extents) if size != 1), default=0)
    value = x
    for number, run in enumerate(runs):
        value = (
            summed(context, value, run) if by_runs and last in run else reduced(context, value, run, "arith.addf", 0.0)
        )
        if number == 0 and node.op.name == "MEAN":
            value = _divided(node, context, value, [extents[axis] for axis in axes])
    shape = tuple(size for d, size in enumerate(node.type(0).shape or ()) if d not in axes)
    if node.options["keep_dims"]:
        shape = tuple(1 if d in axes else size for d, size in enumerate(node.type(0).shape or ()))
    node.set(0, value if tensor_type(value).shape == shape else reshaped(node, value, shape))


def _runs(axes: Sequence[int]) -> list[tuple[int, ...]]:
    """Return the runs of neighbouring axes, the last run first.

    >>> _runs((0, 1, 3))
    [(3,), (0, 1)]
    """
    runs: list[tuple[int, ...]] = []
    for axis in sorted(axes, reverse=True):
        if runs and runs[-1][0] == axis + 1:
            runs[-1] = (axis, *runs[-1])
        else:
            runs.append((axis,))
    return runs or [()]


def _divided(node: Node, context: LoweringContext, sums: Value, extents: list[Extent]) -> Value:
    sizes = [size for size in extents if isinstance(size, int)]
    if len(sizes) < len(extents):
        node.refuse("a mean over elements whose number is known only at run time")
    nest = LoopNest(context, "divide", context.extents(sums))
    scalar, count = nest.read(sums, nest.loops), np.float32(prod(sizes))
    if node.rule("float_average") == "multiply":
        return nest.finish(nest.value("arith.mulf", (scalar, nest.constant(np.float32(1) / count, F32)), F32))[0]
    return nest.finish(nest.value("arith.divf", (scalar, nest.constant(count, F32)), F32))[0]


def _last_axis(node: Node) -> int:
    rank = node.type(0).rank
    if not rank:
        node.fail("the input must have at least one axis, got a scalar")
    return rank - 1


def softmax(node: Node) -> None:
    """Import SOFTMAX: compute the softmax of float32 values along the last axis."""
    require_floats(node, 0)
    last, beta, rule = (_last_axis(node),), float(node.options["beta"]), node.rule("float_softmax")
    node.set(0, float_reductions.softmax(lowering_context(node), node.value(0), last, beta, rule))


def log_softmax(node: Node) -> None:
    """Import LOG_SOFTMAX: compute x - max(x) - log(sum(exp(x - max(x)))) of float32 values along the last axis."""
    require_floats(node, 0)
    context, x, last = lowering_context(node), node.value(0), (_last_axis(node),)
    largest, powers = float_reductions.exponentials(context, x, last, 1)
    in_order = node.rule("float_softmax") == "in_order"
    total = reduced(context, powers, last, "arith.addf", 0.0) if in_order else summed(context, powers, last)
    nest = LoopNest(context, "subtract", context.extents(x))
    apart = nest.value("arith.subf", (nest.read(x, nest.loops), nest.read(largest, nest.loops[:-1])), F32)
    logarithm = nest.value("math.log", (nest.read(total, nest.loops[:-1]),), F32)
    node.set(0, nest.finish(nest.value("arith.subf", (apart, logarithm), F32))[0])


_LEAST_NORM = 1e-6
"""The lower bound of a norm, which avoids a division by 0."""


def l2_normalization(node: Node) -> None:
    """Import L2_NORMALIZATION: divide float32 values by the root of the sum of their squares along the last axis."""
    if node.options["fused_activation_function"] != "NONE":
        node.refuse(f"fused {node.options['fused_activation_function']}")
    context, x, last = lowering_context(node), node.value(0), _last_axis(node)
    extents = context.extents(x)
    nest = LoopNest(context, "accumulate", extents[:last], extents[last:])
    element = nest.read(x, nest.loops)
    square = nest.value("arith.mulf", (element, element), F32)
    (sums,) = nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), square), F32))
    nest = LoopNest(context, "divide", context.extents(x))
    norm = nest.value("math.sqrt", (nest.read(sums, nest.loops[:-1]),), F32)
    norm = nest.value("arith.maximumf", (norm, nest.constant(_LEAST_NORM, F32)), F32)
    node.set(0, nest.finish(nest.value("arith.divf", (nest.read(x, nest.loops), norm), F32))[0])
