"""CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED of float inputs with int8 weights: the input is quantized by its own
range at each run.

The rules, which the rows `hybrid` of a profile name:

- `rows`, XNNPACK's: each row that it multiplies, of a 1x1 convolution each pixel and of any other each image, has the
  whole range of int8 with a zero point, which is added to what was rounded to even.
- `symmetric`: each row or image has the range -127 to 127 without a zero point.
- `asymmetric`: each row or image has the whole range with a zero point, in float64.
- `images`: `asymmetric`, but sums are multiplied by the scale of the weights and then by that of the image, not by the
  product of both.
- `images_in_fours`: `images`, but the channels behind the last four are multiplied by the scale of the image first.

TFLite's own kernels, which have all rules but the first, round halves away from zero and then add the zero point. They
round eight elements of a row or an image at a time by adding 0.5 in float32, which makes 1 of the float before 0.5, and
the elements behind the last eight one by one.

The sums are exact integers; a float scale and the bias follow. Where weights are constant, the sums are those of
`qrt.matmul` or a convolution of bytes, less what the zero points add to them.
"""

from collections.abc import Iterable, Sequence
from functools import reduce
from math import prod
from typing import NamedTuple

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, floordiv
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, F64, I1, I8, I32, Array, Extent, LoweringContext
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import activated, float_bias
from qrt.types import IntegerType, TensorType, UniformType

_EQUAL, _GREATER, _LESS = 1, 2, 4
"""The predicates `oeq`, `ogt` and `olt` of arith.cmpf."""
_DEEPEST = (1 << 17) - 1
"""The number of products of int8 up to which 32 bits hold a sum."""
_LANES, _FOURS = 8, 4
"""How many elements TFLite's kernels round at a time, and how many channels of a depthwise convolution they scale."""
_HALF, _BELOW_HALF = np.float32(0.5), np.nextafter(np.float32(0.5), np.float32(0))
"""Adding the first rounds as vectors do, adding the second rounds halves, and them alone, away from zero."""
_CHANNELS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}
"""The axis of the weights along which the outputs lie."""
_MOST_PIXELS = 1 << 24
"""The size up to which an image has a map of its padding. A file may say dilations of which no memory holds one."""


class _Parameters(NamedTuple):
    """How the elements of a range become integers: what they are multiplied by and its inverse, and the zero point as a
    float and as an integer, without which it is 0."""

    scale: Value
    unit: Value
    zero: Value | None = None
    shift: Value | None = None


def is_hybrid(node: Node, axis: int) -> bool:
    """Tell whether the input is quantized for weights of int8, whose scales are those of an axis. Refuses weights that
    are neither these nor floats."""
    element = node.type(1).element
    if element is F32:
        return False
    if not isinstance(element, UniformType) or element.storage != "i8":
        node.refuse(f"float32 with weights of {node.input(1).dtype}")
    if any(element.zero_points):
        node.refuse("float32 with weights that have a zero point")
    if element.is_per_axis and element.axis != axis:
        node.fail(f"the scales of the weights lie on axis {element.axis}, not {axis}")
    return _rule(node) != "floats"


def _rule(node: Node) -> str:
    """Find the rule of the operator. It depends on an option of FULLY_CONNECTED, for CONV_2D on whether the channels of
    the weights have unequal scales, and on whether XNNPACK takes the operator: its weights and its bias stand in the
    file, and it knows the activation."""
    name, element = node.op.name, node.element(1)
    rule = node.rule(
        "hybrid",
        operator=name,
        is_asymmetric=bool(node.options.get("asymmetric_quantize_inputs", False)),
        has_unequal_scales=len(set(element.scales)) > 1,
        is_delegated=node.options["fused_activation_function"] != "TANH"
        and all(node.input(i).is_constant for i in (1, 2) if node.has(i)),
    )
    if rule == "floats":
        return rule
    if name == "DEPTHWISE_CONV_2D" and element.is_per_layer and (node.type(1).shape or ())[3] != 1:
        node.refuse("float32 with int8 weights of one scale, where LiteRT expects one for each channel")
    if rule == "asymmetric" and name != "DEPTHWISE_CONV_2D" and node.constant(1) is None:
        node.refuse(
            "float32 with int8 weights known only at run time, whose sums LiteRT computes in its first run only"
        )
    return rule


def convolution(node: Node, window: Window, channels: int) -> None:
    """Weights OHWI, of as many channels as the input."""
    context, x, rule = lowering_context(node), node.value(0), _rule(node)
    # XNNPACK takes one channel to one channel for a depthwise convolution, which has no rows.
    is_depthwise = channels == 1 and (node.type(1).shape or ())[3] == 1
    by_pixel = (
        rule == "rows"
        and not is_depthwise
        and window.kernel == window.strides == (1, 1)
        and not any(map(any, window.padding))
    )
    axes, own = ((3,), (0, 1, 2)) if by_pixel else ((1, 2, 3), (0,))
    extents = context.extents(x)
    parameters = _parameters(context, x, axes, [extents[axis] for axis in own], rule)
    array, depth = _known_weights(node, window), extents[3]
    if array is not None and array[:1].size <= _DEEPEST:
        stored = _image(node, context, window, parameters, own, rule)
        sums = _exact(node, context, "qrt.conv2d", stored, array, node.element(1), window)
        _finish(node, context, sums, parameters, own, rule, array.sum((1, 2, 3), dtype=np.int64))
        return
    centred = window.padded(node, _stored(context, x, parameters, own, rule, I32))
    kept: list[Extent] = [extents[0], *window.outputs, channels]
    nest = LoopNest(context, "accumulate", kept, [*window.kernel, depth])
    image, i, j, o, row, column, c = nest.loops
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), c])
    sums = _sums(node, context, nest, left, [o, row, column, c])
    _finish(node, context, sums, parameters, own, rule)


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Weights 1HWO: output channel ``o`` reads the channel ``o // multiplier``. Each image has one range."""
    context, x = lowering_context(node), node.value(0)
    rule = _rule(node)
    extents = context.extents(x)
    parameters = _parameters(context, x, (1, 2, 3), list(extents[:1]), rule)
    array = _known_weights(node, window)
    if array is not None and array[..., :1].size <= _DEEPEST:
        element = node.element(1)
        stored = _image(node, context, window, parameters, (0,), rule)
        element = element.with_(axis=2) if element.is_per_axis else element
        sums = _exact(node, context, "qrt.depthwise_conv2d", stored, array[0], element, window)
        _finish(node, context, sums, parameters, (0,), rule, array.sum((0, 1, 2), dtype=np.int64))
        return
    centred = window.padded(node, _stored(context, x, parameters, (0,), rule, I32))
    nest = LoopNest(context, "accumulate", [extents[0], *window.outputs, channels], window.kernel)
    image, i, j, o, row, column = nest.loops
    source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), source])
    _finish(node, context, _sums(node, context, nest, left, [0, row, column, o]), parameters, (0,), rule)


def _whole_range(context: LoweringContext, extents: list[Extent], least: Value, greatest: Value) -> _Parameters:
    """The whole range of int8; a unit of 1 where there is no range. TFLite's kernels form the range in float32 and what
    follows in float64."""
    nest = LoopNest(context, "parameters", extents)
    ends = [nest.read(each, nest.loops) for each in (least, greatest)]
    low, high, apart = (
        nest.value("arith.extf", (each,), F64) for each in (*ends, nest.value("arith.subf", ends[::-1], F32))
    )

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F64)

    def number(value: float) -> Value:
        return nest.constant(value, F64)

    is_empty = nest.compare_floats(_EQUAL, low, high)
    span = emit("arith.select", is_empty, number(255.0), apart)
    scale = emit("arith.divf", span, number(255.0))
    below, above = emit("arith.divf", low, scale), emit("arith.divf", high, scale)
    errors = [
        emit("arith.addf", number(abs(end)), emit("math.absf", quotient))
        for end, quotient in ((-128.0, below), (127.0, above))
    ]
    from_least, from_greatest = emit("arith.subf", number(-128.0), below), emit("arith.subf", number(127.0), above)
    zero = emit("arith.select", nest.compare_floats(_LESS, *errors), from_least, from_greatest)
    zero = emit("arith.minimumf", emit("arith.maximumf", zero, number(-128.0)), number(127.0))
    zero = emit("arith.select", is_empty, number(0.0), emit("math.round", zero))
    shift = nest.value("arith.fptosi", (zero,), I32)
    unit, zero = (nest.value("arith.truncf", (each,), F32) for each in (scale, zero))
    inverse = nest.value("arith.divf", (nest.constant(1.0, F32), unit), F32)
    is_lost = nest.compare_floats(_EQUAL, unit, nest.constant(0.0, F32))
    inverse = nest.value("arith.select", (is_lost, nest.constant(0.0, F32), inverse), F32)
    return _Parameters(*nest.finish(inverse, unit, zero, shift))


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Weights [units, depth], and an input with ``depth`` as its last axis."""
    context, rule = lowering_context(node), _rule(node)
    *kept, _ = context.extents(rows)
    own = range(len(kept))
    parameters = _parameters(context, rows, (len(kept),), kept, rule)
    array, element = _known_weights(node), node.element(1)
    if array is not None and depth <= _DEEPEST:
        stored = _stored(context, rows, parameters, own, rule, I8)
        sums = _exact(
            node, context, "qrt.matmul", stored, array.T, element.with_(axis=1) if element.is_per_axis else element
        )
        _finish(node, context, sums, parameters, own, rule, array.sum(1, dtype=np.int64))
        return
    centred = _stored(context, rows, parameters, own, rule, I32)
    nest = LoopNest(context, "accumulate", [*kept, units], [depth])
    *row, o, k = nest.loops
    sums = _sums(node, context, nest, nest.read(centred, [*row, k]), [o, k])
    _finish(node, context, sums, parameters, own, rule)


def _known_weights(node: Node, window: Window | None = None) -> Array | None:
    """The weights where a kernel takes them: known ones, for a window whose image has a map."""
    sizes = (node.type(0).shape or ())[1:3] if window is not None else ()
    ends = window.padding if window is not None else ()
    pixels = prod((size or 0) + sum(each) for size, each in zip(sizes, ends, strict=True))
    return node.constant(1) if pixels <= _MOST_PIXELS else None


def _parameters(
    context: LoweringContext, x: Value, axes: tuple[int, ...], outer: list[Extent], rule: str
) -> _Parameters:
    """Of one range for all elements along ``axes``; the others are ``outer``."""
    if rule == "rows":
        return _asymmetric(context, outer, *_ends(context, x, axes))
    if rule != "symmetric":
        return _whole_range(context, outer, *_ends(context, x, axes))
    return _symmetric(context, outer, _magnitude(context, x, axes))


def _stored(
    context: LoweringContext,
    x: Value,
    parameters: _Parameters,
    axes: Sequence[int],
    rule: str,
    element: IntegerType,
    window: Window | None = None,
) -> Value:
    """Make integers whose parameters have these axes: bytes as they are, others less their zero point. The input has
    the padding of a ``window``, which is 0 whatever its scale."""
    nest = LoopNest(context, "quantize", context.extents(x))
    places = [nest.loops[axis] for axis in axes]

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F32)

    zero = None if parameters.zero is None else nest.read(parameters.zero, places)
    stored = emit("arith.mulf", nest.read(x, nest.loops), nest.read(parameters.scale, places))
    padding = window.padding if window is not None else ()
    if any(map(any, padding)):
        inside = np.pad(np.ones(_unpadded(nest.kept[1:3], padding), bool), padding)
        is_inside = nest.read(context.dense(inside, I1), nest.loops[1:3])
        stored = emit("arith.select", is_inside, stored, nest.constant(0.0, F32))
    stored = emit("math.roundeven", stored) if rule == "rows" else _rounded_away(nest, stored, len(axes), padding)
    stored = stored if zero is None else emit("arith.addf", stored, zero)
    stored = emit("arith.maximumf", stored, nest.constant(-127.0 if rule == "symmetric" else -128.0, F32))
    stored = emit("arith.minimumf", stored, nest.constant(127.0, F32))
    if element is I32 and zero is not None:
        stored = emit("arith.subf", stored, zero)
    stored = nest.value("arith.fptosi", (stored,), I32)
    return nest.finish(nest.value("arith.trunci", (stored,), I8) if element is I8 else stored)[0]


def _unpadded(sizes: Sequence[Extent], padding: Iterable[tuple[int, int]]) -> list[int]:
    """Give the sizes of an image without its padding: the file says all of them."""
    return [int(size) - sum(ends) for size, ends in zip(sizes, padding, strict=True) if isinstance(size, int)]


def _rounded_away(nest: LoopNest, scaled: Value, first: int, padding: tuple[tuple[int, int], ...]) -> Value:
    """Round as TFLite's kernels do, which take all loops from ``first`` on as one run of elements."""
    ends = (*padding, (0, 0)) if padding else ((0, 0),) * (len(nest.kept) - first)
    sizes = _unpadded(nest.kept[first:], ends)
    half: Value = nest.constant(_HALF, F32)
    if behind := prod(sizes) % _LANES:
        # The last elements stand at the end of all loops but the innermost, which together hold them.
        whole = next(axis for axis in reversed(range(len(sizes))) if prod(sizes[axis:]) >= behind)
        tables = [np.arange(size) == size - 1 for size in sizes[:whole]]
        tables.append((np.arange(prod(sizes[whole:])) >= prod(sizes[whole:]) - behind).reshape(sizes[whole:]))
        flags_along = []
        for axis, table in enumerate(tables):
            stop = axis + table.ndim
            flags = np.pad(table, ends[axis:stop])
            flags_along.append(nest.parameter(flags, I1, nest.loops[first + axis : first + stop]))
        is_behind = reduce(lambda a, b: nest.value("arith.andi", (a, b), I1), flags_along)
        half = nest.value("arith.select", (is_behind, nest.constant(_BELOW_HALF, F32), half), F32)
    is_negative = nest.compare_floats(_LESS, scaled, nest.constant(0.0, F32))
    half = nest.value("arith.select", (is_negative, nest.value("arith.negf", (half,), F32), half), F32)
    return nest.value("math.trunc", (nest.value("arith.addf", (scaled, half), F32),), F32)


def _image(
    node: Node, context: LoweringContext, window: Window, parameters: _Parameters, axes: Sequence[int], rule: str
) -> Value:
    """Make the bytes of images with their padding."""
    return _stored(context, window.padded(node, node.value(0)), parameters, axes, rule, I8, window)


def _exact(
    node: Node,
    context: LoweringContext,
    op: str,
    stored: Value,
    array: Array,
    element: UniformType,
    window: Window | None = None,
) -> Value:
    """The sums of products of bytes by constant weights. The window has no padding left."""
    x = node.emit("quant.scast", [stored], None, UniformType("i8", "f32", 1.0))
    attributes = {} if window is None else {"strides": window.strides, "dilations": window.dilations}
    return context.storage(node.emit(op, [x, node.dense(array, element)], attributes))


def _ends(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """The least and the greatest element along axes, 0 counted in."""
    least = greatest = x
    for turn, axis in enumerate(axes):
        nest, low, high = _along(context, axis - turn, least, greatest)
        low = nest.value("arith.minimumf", (nest.running(F32, 0.0), low), F32)
        high = nest.value("arith.maximumf", (nest.running(F32, 0.0), high), F32)
        least, greatest = nest.finish(low, high)
    return least, greatest


def _magnitude(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> Value:
    """The greatest magnitude along axes."""
    for turn, axis in enumerate(axes):
        nest, element, _ = _along(context, axis - turn, x, x)
        magnitude = nest.value("math.absf", (element,), F32)
        x = nest.finish(nest.value("arith.maximumf", (nest.running(F32, 0.0), magnitude), F32))[0]
    return x


def _along(context: LoweringContext, axis: int, first: Value, second: Value) -> tuple[LoopNest, Value, Value]:
    """A nest that reduces an axis of two tensors, and their elements. One axis is reduced at a time: ends have the same
    bits in any order, and the axes that are kept are the lanes of vectors."""
    extents = context.extents(first)
    nest = LoopNest(context, "range", [*extents[:axis], *extents[axis + 1 :]], [extents[axis]])
    *kept, reduced = nest.loops
    places = [*kept[:axis], reduced, *kept[axis:]]
    element = nest.read(first, places)
    return nest, element, element if second is first else nest.read(second, places)


def _asymmetric(context: LoweringContext, extents: list[Extent], least: Value, greatest: Value) -> _Parameters:
    """The whole range of int8."""
    nest = LoopNest(context, "parameters", extents)
    low, high = nest.read(least, nest.loops), nest.read(greatest, nest.loops)

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F32)

    def number(value: float) -> Value:
        return nest.constant(value, F32)

    one = number(1.0)
    quotient = emit("arith.divf", number(255.0), emit("arith.subf", high, low))
    scale = emit("arith.select", nest.compare_floats(_EQUAL, low, high), one, quotient)
    below, above = emit("arith.mulf", low, scale), emit("arith.mulf", high, scale)
    errors = emit("arith.addf", emit("arith.addf", number(-128.0), below), emit("arith.addf", number(127.0), above))
    from_least, from_greatest = emit("arith.subf", number(-128.0), below), emit("arith.subf", number(127.0), above)
    zero = emit("arith.select", nest.compare_floats(_GREATER, errors, number(0.0)), from_least, from_greatest)
    zero = emit("arith.minimumf", emit("arith.maximumf", zero, number(-128.0)), number(127.0))
    zero = emit("math.roundeven", zero)
    unit, shift = emit("arith.divf", one, scale), nest.value("arith.fptosi", (zero,), I32)
    return _Parameters(*nest.finish(scale, unit, zero, shift))


def _symmetric(context: LoweringContext, extents: list[Extent], largest: Value) -> _Parameters:
    """The integers from -127 to 127."""
    nest = LoopNest(context, "parameters", extents)
    high, one, most = nest.read(largest, nest.loops), nest.constant(1.0, F32), nest.constant(127.0, F32)
    is_zero = nest.compare_floats(_EQUAL, high, nest.constant(0.0, F32))
    scale = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (most, high), F32)), F32)
    unit = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (high, most), F32)), F32)
    return _Parameters(*nest.finish(scale, unit))


def _sums(node: Node, context: LoweringContext, nest: LoopNest, left: Value, places: list[Expression]) -> Value:
    """The sums of ``left`` times the weights at ``places``, by a nest."""
    stored = context.storage(node.value(1))
    product = nest.value("arith.muli", (left, nest.extend(nest.read(stored, places), I32)), I32)
    return nest.finish(nest.value("arith.addi", (nest.running(I32, 0), product), I32))[0]


def _finish(
    node: Node,
    context: LoweringContext,
    sums: Value,
    parameters: _Parameters,
    axes: Iterable[int],
    rule: str,
    weights: Array | None = None,
) -> None:
    """The result of sums whose parameters have these axes. ``weights``, the sum of those of each output, says how many
    times a zero point is in a sum of bytes."""
    scales = node.element(1).scale_array.astype(np.float32).reshape(-1)
    nest = LoopNest(context, "scale", context.extents(sums))
    channels = (node.type(1).shape or ())[_CHANNELS[node.op.name]] or 0
    rows = [nest.loops[axis] for axis in axes]
    total = nest.read(sums, nest.loops)
    if weights is not None and parameters.shift is not None:
        zero, times = nest.read(parameters.shift, rows), nest.parameter(weights, I32, nest.loops[-1:])
        total = nest.value("arith.subi", (total, nest.value("arith.muli", (zero, times), I32)), I32)
    total = nest.value("arith.sitofp", (total,), F32)
    own, weight = nest.read(parameters.unit, rows), nest.parameter(scales, F32, nest.loops[-1:])
    outputs = (sums.type.shape or ())[-1] if isinstance(sums.type, TensorType) else None
    value = float_bias(node, 2, outputs or 0)
    bias = nest.constant(0.0, F32) if value is None else nest.read(value, nest.loops[-1:])
    if rule == "rows":
        total = nest.value("arith.mulf", (total, own), F32)
        made = nest.value("math.fma", (total, weight, bias), F32)
    elif rule in ("symmetric", "asymmetric"):
        total = nest.value("arith.mulf", (total, nest.value("arith.mulf", (own, weight), F32)), F32)
        made = nest.value("arith.addf", (total, bias), F32)
    else:
        first, second = weight, own
        if rule == "images_in_fours" and (behind := channels % _FOURS):
            is_whole = nest.parameter(np.arange(channels) < channels - behind, I1, nest.loops[-1:])
            first, second = (
                nest.value("arith.select", (is_whole, *pair), F32) for pair in ((weight, own), (own, weight))
            )
        total = nest.value("arith.mulf", (nest.value("arith.mulf", (total, first), F32), second), F32)
        made = nest.value("arith.addf", (total, bias), F32)
    activation = node.options["fused_activation_function"]
    node.set(0, nest.finish(activated(node, nest, made, activation))[0])
