"""Import of L2_POOL_2D and LOCAL_RESPONSE_NORMALIZATION: roots and powers of sums of neighbouring squares."""

from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import add
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32
from qrt.models.importing import windows
from qrt.models.importing.data_movement import joined, taken
from qrt.models.importing.node import lowering_context
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, require_floats, reshaped
from qrt.models.tflite.operators.images import window_of
from qrt.models.tflite.operators.operands import input_shape


def l2_pool(node: Node) -> None:
    """Import L2_POOL_2D: compute the root mean square of each window of float32 images. Padding does not count."""
    require_floats(node, 0)
    if node.type(0).rank != 4:
        node.fail(f"the input must have rank 4, got {node.type(0).rank}")
    kernel = node.options["filter_height"], node.options["filter_width"]
    if min(kernel) < 1:
        node.fail(f"filter_height and filter_width must be at least 1, got {kernel[0]} and {kernel[1]}")
    window, context = window_of(node, kernel), lowering_context(node)
    sums = windows.sums(context, _squares(node, window.padded(node, node.value(0)), None), window)
    counts = windows.counts(window, [size or 0 for size in input_shape(node)[1:3]]).astype(np.float32)
    is_inverse = node.rule("float_average") == "multiply"
    nest = LoopNest(context, "root", context.extents(sums))
    scalar = nest.read(sums, nest.loops)
    by = nest.parameter(np.float32(1) / counts if is_inverse else counts, F32, nest.loops[1:3])
    mean = nest.value("arith.mulf" if is_inverse else "arith.divf", (scalar, by), F32)
    finish(node, context, nest.finish(nest.value("math.sqrt", (mean,), F32))[0])


def _squares(node: Node, x: Value, factor: float | None) -> Value:
    context = lowering_context(node)
    nest = LoopNest(context, "squares", context.extents(x))
    scalar = nest.read(x, nest.loops)
    square = nest.value("arith.mulf", (scalar, scalar), F32)
    if factor is not None:
        square = nest.value("arith.mulf", (square, nest.constant(factor, F32)), F32)
    return nest.finish(square)[0]


def local_response(node: Node) -> None:
    """Import LOCAL_RESPONSE_NORMALIZATION: multiply each float32 value by ``(bias + alpha * s) ** -beta``.

    s is the sum of the squares of the channels of the same pixel, from ``radius`` channels before the value's channel
    to ``radius`` channels after it. In the profile ``litert-ref`` the last of these channels is left out.
    """
    require_floats(node, 0)
    shape = input_shape(node)
    radius, bias, alpha, beta = (node.options[name] for name in ("radius", "bias", "alpha", "beta"))
    if len(shape) != 4:
        node.fail(f"the input must have rank 4, got {len(shape)}")
    if radius < 0 or not all(map(np.isfinite, (bias, alpha, beta))):
        node.fail(f"it must have radius >= 0 and finite bias, alpha and beta, got {radius}, {bias}, {alpha} and {beta}")
    if None in shape:
        node.refuse("a dynamic dimension")
    node.graph.check_size(node.op, node.type(0).with_(shape=(*shape[:3], 2 * ((shape[3] or 0) + 2 * radius))))
    rule, x = node.rule("local_response_normalization"), node.value(0)
    scales = (_running_scales if rule == "running" else _scales)(node, x, radius, bias, alpha)
    context = lowering_context(node)
    nest = LoopNest(context, "normalize", context.extents(x))
    scalar, scale = nest.read(x, nest.loops), nest.read(scales, nest.loops)
    one = nest.constant(1.0, F32)
    if rule == "running" and beta in (1.0, 0.5):
        root = scale if beta == 1 else nest.value("math.sqrt", (scale,), F32)
        factor = nest.value("arith.divf", (one, root), F32)
    else:
        factor = nest.value("math.powf", (scale, nest.constant(-beta, F32)), F32)
    node.set(0, nest.finish(nest.value("arith.mulf", (scalar, factor), F32))[0])


def _scales(node: Node, x: Value, radius: int, bias: float, alpha: float) -> Value:
    """Return ``bias + alpha * s`` for each element, where s is the sum of squares of its window, added in order."""
    context = lowering_context(node)
    sums = None
    if radius:
        squares = _squares(node, _padded(node, x, radius), None)
        nest = LoopNest(context, "accumulate", context.extents(x), [2 * radius])
        *pixel, channel, term = nest.loops
        square = nest.read(squares, [*pixel, add(channel, term)])
        (sums,) = nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), square), F32))
    nest = LoopNest(context, "scale", context.extents(x))
    total = nest.constant(0.0, F32) if sums is None else nest.read(sums, nest.loops)
    product = nest.value("arith.mulf", (nest.constant(alpha, F32), total), F32)
    return nest.finish(nest.value("arith.addf", (nest.constant(bias, F32), product), F32))[0]


def _padded(node: Node, x: Value, radius: int) -> Value:
    return node.emit("qrt.pad", [x], {"padding": ((0, 0), (0, 0), (0, 0), (radius, radius))}) if radius else x


def _running_scales(node: Node, x: Value, radius: int, bias: float, alpha: float) -> Value:
    """Return ``bias + s`` for each element, where s is a running sum of ``alpha * square`` along the channels.

    The sum begins with the first ``2 * radius`` terms of the padded channels. Each channel adds the last term of its
    window, and afterwards subtracts the window's first term. One cumulative sum adds all these terms in order.
    """
    context = lowering_context(node)
    *pixels, channels = (size or 0 for size in input_shape(node))
    rows = prod(pixels)
    terms = _squares(node, _padded(node, x, radius), alpha)
    terms = reshaped(node, terms, (rows, channels + 2 * radius))
    first = taken(node, terms, 1, 0, channels)
    nest = LoopNest(context, "negative", [rows, channels])
    (negative,) = nest.finish(nest.value("arith.negf", (nest.read(first, nest.loops),), F32))
    last = reshaped(node, taken(node, terms, 1, 2 * radius, channels), (rows, channels, 1))
    pairs = joined(node, [last, reshaped(node, negative, (rows, channels, 1))], 2)
    row = [reshaped(node, pairs, (rows, 2 * channels))]
    if radius:
        row.insert(0, taken(node, terms, 1, 0, 2 * radius))
    sums = node.emit("qrt.cumsum", [joined(node, row, 1)], {"axis": 1})
    sums = reshaped(node, taken(node, sums, 1, 2 * radius, channels, 2), (*pixels, channels))
    nest = LoopNest(context, "scale", context.extents(x))
    scalar = nest.value("arith.addf", (nest.constant(bias, F32), nest.read(sums, nest.loops)), F32)
    return nest.finish(scalar)[0]
