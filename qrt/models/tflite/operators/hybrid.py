"""Import of CONV_2D, DEPTHWISE_CONV_2D and FULLY_CONNECTED with float inputs and int8 weights ("hybrid").

At each run the input is quantized, with parameters from the range of its elements. The rule `hybrid` of a profile says
how:

- `rows` (XNNPACK): each row of the matrix product has its own scale and zero point for the whole range of int8. A row
  is a pixel of a 1x1 convolution; in all other convolutions it is an image. Values are rounded half to even before the
  zero point is added.
- `symmetric`: each row or image has a scale for the range -127 to 127, and no zero point.
- `asymmetric`: each row or image has a scale and zero point for the whole range, computed in float64.
- `images`: as `asymmetric`, but sums are multiplied by the scale of the weights and then by the scale of the image, not
  by the product of both.
- `images_in_fours`: as `images`, but the channels after the last complete group of four are multiplied by the scale of
  the image first.

For all rules except `rows`, TFLite's own kernels round half away from zero and then add the zero point. They round
complete groups of eight elements of a row or an image by adding 0.5 in float32, so that the largest float below 0.5
becomes 1. They round the elements after the last complete group without this error.

The sums are exact integers, which are then scaled in float32 and added to the bias. With constant weights, `qrt.matmul`
or a quantized convolution computes the sums, from which the contribution of the zero points is subtracted.
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
"""The numbers of the predicates `oeq`, `ogt` and `olt` of arith.cmpf."""
_DEEPEST = (1 << 17) - 1
"""The largest number of int8 products whose sum fits 32 bits."""
_LANES, _FOURS = 8, 4
"""The number of elements that TFLite's kernels round at a time, and of channels that they scale at a time."""
_HALF, _BELOW_HALF = np.float32(0.5), np.nextafter(np.float32(0.5), np.float32(0))
"""The addends for rounding half away from zero: 0.5 as in TFLite's vector code, which rounds the largest float below
0.5 to 1; and that float, which rounds exactly."""
_CHANNELS = {"CONV_2D": 0, "DEPTHWISE_CONV_2D": 3, "FULLY_CONNECTED": 0}
"""The axis of the output channels in the weights."""
_MOST_PIXELS = 1 << 24
"""The largest image for which a mask of its padding is made: dilations in a file could need unlimited memory."""


class _Parameters(NamedTuple):
    """Tensors of the quantization parameters of the input, with one element for each row or image.

    To quantize the input, its elements are multiplied by ``scale``; to dequantize the sums, they are multiplied by
    ``unit``, which is about ``1 / scale``. ``zero`` and ``shift`` are the zero point as a float and as an integer, or
    None if the rule has no zero point.
    """

    scale: Value
    unit: Value
    zero: Value | None = None
    shift: Value | None = None


def is_hybrid(node: Node, axis: int) -> bool:
    """Return True if a float input must be quantized at each run, because the weights are int8.

    Return False for float32 weights, and if the profile converts int8 weights to floats. Raise UnsupportedForm for
    other weights, and ModelError if the weights' scales are on another axis than ``axis``.
    """
    element = node.type(1).element
    if element is F32:
        return False
    if not isinstance(element, UniformType) or element.storage not in ("i4", "i8"):
        node.refuse(f"float32 with weights of {node.input(1).dtype}")
    if any(element.zero_points):
        node.refuse("float32 with weights that have a zero point")
    if element.is_per_axis and element.axis != axis:
        node.fail(f"the scales of the weights lie on axis {element.axis}, not {axis}")
    return _rule(node) != "floats"


def _rule(node: Node) -> str:
    """Return the profile's rule `hybrid` for the operator.

    The rule depends on an option of FULLY_CONNECTED, on unequal scales of the weights of CONV_2D, and on whether
    XNNPACK executes the operator: its weights and bias must be constants of the file, and its activation supported.
    XNNPACK has no convolution with int4 weights, and no FULLY_CONNECTED with int4 weights of odd depth.
    """
    name, element = node.op.name, node.element(1)
    is_int4 = element.storage == "i4"
    if is_int4 and name == "DEPTHWISE_CONV_2D":
        node.refuse("float32 with weights of int4, which LiteRT does not run")
    rule = node.rule(
        "hybrid",
        operator=name,
        is_asymmetric=bool(node.options.get("asymmetric_quantize_inputs", False)),
        has_unequal_scales=len(set(element.scales)) > 1,
        is_delegated=node.options["fused_activation_function"] != "TANH"
        and not (is_int4 and (name == "CONV_2D" or ((node.type(1).shape or ())[-1] or 0) % 2))
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
    """Import a convolution with OHWI weights, without groups. ``channels`` is the number of output channels."""
    context, x, rule = lowering_context(node), node.value(0), _rule(node)
    # XNNPACK runs a convolution from one channel to one as a depthwise convolution, which has no rows.
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
    parallel: list[Extent] = [extents[0], *window.outputs, channels]
    nest = LoopNest(context, "accumulate", parallel, [*window.kernel, depth])
    image, i, j, o, row, column, c = nest.loops
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), c])
    sums = _sums(node, context, nest, left, [o, row, column, c])
    _finish(node, context, sums, parameters, own, rule)


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Import a depthwise convolution with 1HWO weights. Each image has its own quantization parameters.

    ``channels`` is the number of output channels; output channel ``o`` reads the input channel ``o // multiplier``.
    """
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
    """Return parameters that map the range ``least`` to ``greatest`` to the whole of int8, as TFLite's kernels do.

    For an empty range (least == greatest) the scale is 1. The size of the range is computed in float32, the scale and
    the zero point in float64.
    """
    nest = LoopNest(context, "parameters", extents)
    ends = [nest.read(end, nest.loops) for end in (least, greatest)]
    low, high, apart = (nest.value("arith.extf", (x,), F64) for x in (*ends, nest.value("arith.subf", ends[::-1], F32)))

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
    unit, zero = (nest.value("arith.truncf", (x,), F32) for x in (scale, zero))
    inverse = nest.value("arith.divf", (nest.constant(1.0, F32), unit), F32)
    is_lost = nest.compare_floats(_EQUAL, unit, nest.constant(0.0, F32))
    inverse = nest.value("arith.select", (is_lost, nest.constant(0.0, F32), inverse), F32)
    return _Parameters(*nest.finish(inverse, unit, zero, shift))


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Import the product of the float ``rows`` [..., depth] and int8 weights [units, depth]."""
    context, rule = lowering_context(node), _rule(node)
    *outer, _ = context.extents(rows)
    own = range(len(outer))
    parameters = _parameters(context, rows, (len(outer),), outer, rule)
    array, element = _known_weights(node), node.element(1)
    if array is not None and depth <= _DEEPEST:
        stored = _stored(context, rows, parameters, own, rule, I8)
        sums = _exact(
            node, context, "qrt.matmul", stored, array.T, element.with_(axis=1) if element.is_per_axis else element
        )
        _finish(node, context, sums, parameters, own, rule, array.sum(1, dtype=np.int64))
        return
    centred = _stored(context, rows, parameters, own, rule, I32)
    nest = LoopNest(context, "accumulate", [*outer, units], [depth])
    *row, o, k = nest.loops
    sums = _sums(node, context, nest, nest.read(centred, [*row, k]), [o, k])
    _finish(node, context, sums, parameters, own, rule)


def _known_weights(node: Node, window: Window | None = None) -> Array | None:
    """Return the weights if they are constant, for a quantized kernel; else None.

    The result is also None if the padded image is so large that a mask of its padding would take too much memory.
    """
    sizes = (node.type(0).shape or ())[1:3] if window is not None else ()
    ends = window.padding if window is not None else ()
    pixels = prod((size or 0) + sum(pair) for size, pair in zip(sizes, ends, strict=True))
    return node.constant(1) if pixels <= _MOST_PIXELS else None


def _parameters(
    context: LoweringContext, x: Value, axes: tuple[int, ...], outer: list[Extent], rule: str
) -> _Parameters:
    """Return the quantization parameters of ``x`` by a rule `hybrid`.

    All elements along ``axes`` share one scale and zero point. ``outer`` has the sizes of the other axes, which are
    those of the parameters.
    """
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
    """Quantize the input by parameters whose tensors have the input's ``axes``.

    With element type i8 return the storage, with i32 the storage minus the zero point. With a ``window``, the input
    includes its padding, which becomes the zero point even if the scale is not finite.
    """
    nest = LoopNest(context, "quantize", context.extents(x))
    places = [nest.loops[axis] for axis in axes]

    def emit(op: str, *operands: Value) -> Value:
        return nest.value(op, operands, F32)

    zero = None if parameters.zero is None else nest.read(parameters.zero, places)
    stored = emit("arith.mulf", nest.read(x, nest.loops), nest.read(parameters.scale, places))
    padding = window.padding if window is not None else ()
    if any(map(any, padding)):
        inside = np.pad(np.ones(_unpadded(nest.parallel[1:3], padding), bool), padding)
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
    """Return the static sizes of an image without its padding."""
    return [int(size) - sum(ends) for size, ends in zip(sizes, padding, strict=True) if isinstance(size, int)]


def _rounded_away(nest: LoopNest, scaled: Value, first: int, padding: tuple[tuple[int, int], ...]) -> Value:
    """Round half away from zero as TFLite's kernels do.

    A row or an image consists of the elements of all loops from number ``first`` on. TFLite's kernels add 0.5 to
    complete groups of eight of its elements, so that the largest float below 0.5 becomes 1; they round the last
    elements exactly.
    """
    ends = (*padding, (0, 0)) if padding else ((0, 0),) * (len(nest.parallel) - first)
    sizes = _unpadded(nest.parallel[first:], ends)
    half: Value = nest.constant(_HALF, F32)
    if behind := prod(sizes) % _LANES:
        # The last elements have the last index in all outer loops, and are the end of the remaining inner loops.
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
    """Return the quantized images, as int8, with their padding."""
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
    """Return the exact sums of products of int8 values and constant weights, computed by the quantized op ``op``.

    The values already include padding. Their zero point is not subtracted.
    """
    x = node.emit("quant.scast", [stored], None, UniformType("i8", "f32", 1.0))
    attributes = {} if window is None else {"strides": window.strides, "dilations": window.dilations}
    return context.storage(node.emit(op, [x, node.dense(array, element)], attributes))


def _ends(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> tuple[Value, Value]:
    """Return the minimum and the maximum of 0 and the elements along axes."""
    least = greatest = x
    for turn, axis in enumerate(axes):
        nest, low, high = _along(context, axis - turn, least, greatest)
        low = nest.value("arith.minimumf", (nest.running(F32, 0.0), low), F32)
        high = nest.value("arith.maximumf", (nest.running(F32, 0.0), high), F32)
        least, greatest = nest.finish(low, high)
    return least, greatest


def _magnitude(context: LoweringContext, x: Value, axes: tuple[int, ...]) -> Value:
    """Return the largest absolute value along axes."""
    for turn, axis in enumerate(axes):
        nest, element, _ = _along(context, axis - turn, x, x)
        magnitude = nest.value("math.absf", (element,), F32)
        x = nest.finish(nest.value("arith.maximumf", (nest.running(F32, 0.0), magnitude), F32))[0]
    return x


def _along(context: LoweringContext, axis: int, first: Value, second: Value) -> tuple[LoopNest, Value, Value]:
    """Return a loop nest that reduces one axis of two tensors, and the element of each in the nest's body.

    The caller reduces one axis at a time, so that vectors run along the other axes. Minima and maxima have the same
    bits in any order.
    """
    extents = context.extents(first)
    nest = LoopNest(context, "range", [*extents[:axis], *extents[axis + 1 :]], [extents[axis]])
    *parallel, reduced = nest.loops
    places = [*parallel[:axis], reduced, *parallel[axis:]]
    element = nest.read(first, places)
    return nest, element, element if second is first else nest.read(second, places)


def _asymmetric(context: LoweringContext, extents: list[Extent], least: Value, greatest: Value) -> _Parameters:
    """Return parameters that map the range ``least`` to ``greatest`` to the whole of int8, as XNNPACK does."""
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
    """Return parameters that map the range ``-largest`` to ``largest`` to -127 to 127, without zero point."""
    nest = LoopNest(context, "parameters", extents)
    high, one, most = nest.read(largest, nest.loops), nest.constant(1.0, F32), nest.constant(127.0, F32)
    is_zero = nest.compare_floats(_EQUAL, high, nest.constant(0.0, F32))
    scale = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (most, high), F32)), F32)
    unit = nest.value("arith.select", (is_zero, one, nest.value("arith.divf", (high, most), F32)), F32)
    return _Parameters(*nest.finish(scale, unit))


def _sums(node: Node, context: LoweringContext, nest: LoopNest, left: Value, places: list[Expression]) -> Value:
    """Finish a loop nest that sums ``left`` times the weight at the index ``places``, and return the integer sums."""
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
    """Scale the integer sums, add the bias, apply the fused activation and set the result.

    ``axes`` are the axes of the sums along which the parameters differ. ``weights`` is given for sums from which the
    zero point was not subtracted: it has the sum of each output channel's weights, by which the zero point is
    multiplied.
    """
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
    known = node.constant(2) if value is not None else None
    if known is not None and np.isnan(known).any():
        node.refuse("a bias with NaN, which LiteRT's activations turn into a number")
    bias = nest.constant(0.0, F32) if value is None else nest.read(value, nest.loops[-1:])
    if rule == "rows":
        total = nest.value("arith.mulf", (total, own), F32)
        scaled = nest.value("math.fma", (total, weight, bias), F32)
    elif rule in ("symmetric", "asymmetric"):
        total = nest.value("arith.mulf", (total, nest.value("arith.mulf", (own, weight), F32)), F32)
        scaled = nest.value("arith.addf", (total, bias), F32)
    else:
        first, second = weight, own
        if rule == "images_in_fours" and (behind := channels % _FOURS):
            is_whole = nest.parameter(np.arange(channels) < channels - behind, I1, nest.loops[-1:])
            first, second = (
                nest.value("arith.select", (is_whole, *pair), F32) for pair in ((weight, own), (own, weight))
            )
        total = nest.value("arith.mulf", (nest.value("arith.mulf", (total, first), F32), second), F32)
        scaled = nest.value("arith.addf", (total, bias), F32)
    activation = node.options["fused_activation_function"]
    node.set(0, nest.finish(activated(node, nest, scaled, activation))[0])
