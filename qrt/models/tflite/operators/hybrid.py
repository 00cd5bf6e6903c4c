"""Import of convolutions and matrix products with float inputs and int8 weights ("hybrid").

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
from math import prod

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, floordiv, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I1, I8, I32, Array, Extent, LoweringContext, tensor_type
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import hybrid_blocks
from qrt.models.tflite.operators.float_nests import activated, float_bias
from qrt.models.tflite.operators.products import adjoint, has_packed_kernel
from qrt.models.tflite.operators.run_time_quantization import Parameters, parameters_of, stored_integers
from qrt.types import TensorType, UniformType

_DEEPEST = (1 << 17) - 1
"""The largest number of int8 products whose sum fits 32 bits."""
_FOURS = 4
"""The number of channels that TFLite's kernels scale at a time."""
_MOST_PIXELS = 1 << 24
"""The largest image for which a mask of its padding is made: dilations in a file could need unlimited memory."""


def is_hybrid(node: Node, axis: int) -> bool:
    """Return True if a float input must be quantized at each run, because the weights are integers of at most 8 bits.

    Return False for float32 weights, or if the profile converts the weights to floats. Raise UnsupportedForm for other
    weights, and ModelError if the scales of the weights are on another axis than ``axis``.
    """
    element = node.type(1).element
    if element is F32:
        return False
    if not isinstance(element, UniformType) or element.storage not in ("i2", "i4", "i8"):
        node.refuse(f"float32 with weights of {node.input(1).dtype}")
    if node.input(1).blocks is not None:
        node.refuse(f"float32 with sparse weights of {node.input(1).dtype}, which LiteRT reads as dense ones")
    if element.is_sub_channel:
        return hybrid_blocks.is_hybrid(node)
    if any(element.zero_points):
        node.refuse("float32 with weights that have a zero point")
    if element.is_per_axis and element.axis != axis:
        node.fail(f"the quantized_dimension of the weights must be {axis}, got {element.axis}")
    return _rule(node) != "floats"


def _rule(node: Node) -> str:
    """Return the profile's rule `hybrid` for the operator.

    The rule depends on the following:

    - the option asymmetric_quantize_inputs of FULLY_CONNECTED and BATCH_MATMUL;
    - whether a CONV_2D has groups, and whether the scales of its weights differ;
    - whether XNNPACK executes the operator. It does so if the weights and the bias are constants of the file, and if it
      supports the activation. It has no convolution with int4 weights, and not every FULLY_CONNECTED with int4 or int2
      weights.
    """
    name, element = node.op.name, node.element(1)
    is_int4 = element.storage == "i4"
    if is_int4 and name == "DEPTHWISE_CONV_2D":
        node.refuse("float32 with weights of int4, which LiteRT does not run")
    is_delegated = (
        node.options.get("fused_activation_function") != "TANH"
        and not (is_int4 and name == "CONV_2D")
        and (name != "FULLY_CONNECTED" or has_packed_kernel(element, *(size or 0 for size in node.type(1).shape or ())))
        and all(node.input(i).is_constant for i in (1, 2) if node.has(i))
    )
    has_groups = name == "CONV_2D" and (node.type(0).shape or ())[3] != (node.type(1).shape or ())[3]
    rule = node.rule(
        "hybrid",
        operator=name,
        is_asymmetric=bool(node.options.get("asymmetric_quantize_inputs", False)),
        has_unequal_scales=len(set(element.scales)) > 1,
        has_groups=has_groups,
        is_delegated=is_delegated,
    )
    if rule == "zeros":
        node.refuse("float32 with int8 matrices known only at run time, whose products LiteRT computes as 0")
    if rule == "floats":
        return rule
    channels = (node.type(1).shape or ())[3 if name == "DEPTHWISE_CONV_2D" else 0]
    is_by_channel = name == "DEPTHWISE_CONV_2D" or (has_groups and rule != "rows")
    if is_by_channel and element.is_per_layer and channels != 1:
        node.refuse("float32 with int8 weights of one scale, where LiteRT expects one for each channel")
    if rule == "asymmetric" and name != "DEPTHWISE_CONV_2D" and node.constant(1) is None:
        node.refuse(
            "float32 with int8 weights known only at run time, whose sums LiteRT computes in its first run only"
        )
    return rule


def convolution(node: Node, window: Window, channels: int) -> None:
    """Import a convolution with OHWI weights, perhaps in groups. ``channels`` is the number of output channels."""
    context, x, rule = lowering_context(node), node.value(0), _rule(node)
    depth = (node.type(1).shape or ())[3] or 1
    groups = ((node.type(0).shape or ())[3] or depth) // depth
    # XNNPACK runs a convolution from one channel to one as a depthwise convolution, which has no rows.
    is_depthwise = channels == 1 and depth == 1
    by_pixel = (
        rule == "rows"
        and groups == 1
        and not is_depthwise
        and window.kernel == window.strides == (1, 1)
        and not any(map(any, window.padding))
    )
    axes, own = ((3,), (0, 1, 2)) if by_pixel else ((1, 2, 3), (0,))
    extents = context.extents(x)
    parameters = parameters_of(context, x, axes, [extents[axis] for axis in own], rule)
    array = _known_weights(node, window)
    if array is not None and array[:1].size <= _DEEPEST:
        stored = _image(node, context, window, parameters, own, rule)
        sums = _exact(node, context, "qrt.conv2d", stored, array, node.element(1), window, groups)
        _finish(node, context, sums, parameters, own, rule, array.sum((1, 2, 3), dtype=np.int64))
        return
    centred = window.padded(node, stored_integers(context, x, parameters, own, rule, I32))
    parallel: list[Extent] = [extents[0], *window.outputs, channels]
    nest = LoopNest(context, "accumulate", parallel, [*window.kernel, depth])
    image, i, j, o, row, column, c = nest.loops
    channel = add(multiply(floordiv(o, max(channels // groups, 1)), depth), c) if groups > 1 else c
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), channel])
    sums = _sums(node, context, nest, left, [o, row, column, c])
    _finish(node, context, sums, parameters, own, rule)


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Import a depthwise convolution with 1HWO weights. Each image has its own quantization parameters.

    ``channels`` is the number of output channels; output channel ``o`` reads the input channel ``o // multiplier``.
    """
    context, x = lowering_context(node), node.value(0)
    rule = _rule(node)
    extents = context.extents(x)
    parameters = parameters_of(context, x, (1, 2, 3), list(extents[:1]), rule)
    array = _known_weights(node, window)
    if array is not None and array[..., :1].size <= _DEEPEST:
        element = node.element(1)
        stored = _image(node, context, window, parameters, (0,), rule)
        element = element.with_(axis=2) if element.is_per_axis else element
        sums = _exact(node, context, "qrt.depthwise_conv2d", stored, array[0], element, window)
        _finish(node, context, sums, parameters, (0,), rule, array.sum((0, 1, 2), dtype=np.int64))
        return
    centred = window.padded(node, stored_integers(context, x, parameters, (0,), rule, I32))
    nest = LoopNest(context, "accumulate", [extents[0], *window.outputs, channels], window.kernel)
    image, i, j, o, row, column = nest.loops
    source: Expression = floordiv(o, multiplier) if multiplier > 1 else o
    left = nest.read(centred, [image, *window.index((i, j), (row, column)), source])
    _finish(node, context, _sums(node, context, nest, left, [0, row, column, o]), parameters, (0,), rule)


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Import the product of the float ``rows`` [..., depth] and int8 weights [units, depth]."""
    if node.element(1).is_sub_channel:
        hybrid_blocks.matrix_product(node, rows, units, depth)
        return
    context, rule = lowering_context(node), _rule(node)
    *outer, _ = context.extents(rows)
    own = range(len(outer))
    parameters = parameters_of(context, rows, (len(outer),), outer, rule)
    array, element = _known_weights(node), node.element(1)
    if array is not None and depth <= _DEEPEST:
        stored = stored_integers(context, rows, parameters, own, rule, I8)
        sums = _exact(
            node, context, "qrt.matmul", stored, array.T, element.with_(axis=1) if element.is_per_axis else element
        )
        _finish(node, context, sums, parameters, own, rule, array.sum(1, dtype=np.int64))
        return
    centred = stored_integers(context, rows, parameters, own, rule, I32)
    nest = LoopNest(context, "accumulate", [*outer, units], [depth])
    *row, o, k = nest.loops
    sums = _sums(node, context, nest, nest.read(centred, [*row, k]), [o, k])
    _finish(node, context, sums, parameters, own, rule)


def batch_matmul(node: Node) -> None:
    """Import the product of float32 and int8 matrices. ``adj_x`` and ``adj_y`` transpose an operand."""
    context, rule = lowering_context(node), _rule(node)
    x = adjoint(node, 0) if node.options["adj_x"] else node.value(0)
    y_adjoint, own_shape = bool(node.options["adj_y"]), tensor_type(x).shape or ()
    terms, depth = own_shape[-1], (node.type(1).shape or ())[-1 if y_adjoint else -2] or 0
    if terms not in (None, depth):
        node.fail(f"matrices of {terms} columns and of {depth} rows have no product")
    batches = own_shape[:-2], (node.type(1).shape or ())[:-2]
    if rule != "rows" and any(sum(size != 1 for size in sizes) > 1 for sizes in batches):
        node.refuse(
            "float32 with int8 matrices in batches of several axes, which LiteRT's reference kernels scale wrongly"
        )
    batch, x_axes, y_axes = _batches(node, *batches)
    extents, shape = context.extents(x), node.type(1).shape or ()
    parameters = parameters_of(context, x, (len(extents) - 1,), list(extents[:-1]), rule)
    own, own_axes = range(len(extents) - 1), [*x_axes, len(batch)]
    array = node.constant(1)
    if array is not None and depth <= _DEEPEST:
        array = array.swapaxes(-1, -2) if y_adjoint else array
        stored = stored_integers(context, x, parameters, own, rule, I8)
        sums = _exact(node, context, "qrt.matmul", stored, array, UniformType("i8", "f32", 1.0))
        _finish(node, context, sums, parameters, own_axes, rule, array.sum(-2, keepdims=True, dtype=np.int64))
        return
    centred = stored_integers(context, x, parameters, own, rule, I32)
    sizes = [extents[-2], shape[-2 if y_adjoint else -1] or 0]
    nest = LoopNest(context, "accumulate", [*(size or 0 for size in batch), *sizes], [depth])
    *outer, row, column, k = nest.loops
    left, right = ([0 if axis is None else outer[axis] for axis in axes] for axes in (x_axes, y_axes))
    places = [*right, column, k] if y_adjoint else [*right, k, column]
    sums = _sums(node, context, nest, nest.read(centred, [*left, row, k]), places)
    _finish(node, context, sums, parameters, own_axes, rule)


Axes = list[int | None]
"""For each axis of an operand the axis of the result, or None for an axis of size 1 that is repeated."""


def _batches(node: Node, x: tuple[int | None, ...], y: tuple[int | None, ...]) -> tuple[list[int | None], Axes, Axes]:
    """Return the shape to which ``x`` and ``y`` broadcast, and how the axes of ``x`` and of ``y`` map to its axes.

    The last two results are lists with an entry for each axis: the corresponding axis of the broadcast shape, or None
    for an axis of size 1 that is broadcast.
    """
    rank = max(len(x), len(y))
    padded = [(*(1,) * (rank - len(shape)), *shape) for shape in (x, y)]
    batch: list[int | None] = []
    for pair in zip(*padded, strict=True):
        if None in pair and 1 not in pair and pair[0] != pair[1]:
            node.refuse("float32 with int8 matrices in batches of a number known only at run time")
        if None not in pair and 1 not in pair and pair[0] != pair[1]:
            node.fail(f"the batch dimensions of its inputs must broadcast, got {list(x)} and {list(y)}")
        batch.append(pair[1] if pair[0] == 1 else pair[0])
    axes = [[at if size == batch[at] else None for at, size in enumerate(shape, rank - len(shape))] for shape in (x, y)]
    return batch, axes[0], axes[1]


def _known_weights(node: Node, window: Window | None = None) -> Array | None:
    """Return the weights if they are constant, for a quantized kernel; else None.

    The result is also None if the padded image is so large that a mask of its padding would take too much memory.
    """
    sizes = (node.type(0).shape or ())[1:3] if window is not None else ()
    ends = window.padding if window is not None else ()
    pixels = prod((size or 0) + sum(pair) for size, pair in zip(sizes, ends, strict=True))
    return node.constant(1) if pixels <= _MOST_PIXELS else None


def _image(
    node: Node, context: LoweringContext, window: Window, parameters: Parameters, axes: Sequence[int], rule: str
) -> Value:
    """Return the quantized images, as int8, with their padding."""
    return stored_integers(context, window.padded(node, node.value(0)), parameters, axes, rule, I8, window)


def _exact(
    node: Node,
    context: LoweringContext,
    op: str,
    stored: Value,
    array: Array,
    element: UniformType,
    window: Window | None = None,
    groups: int = 1,
) -> Value:
    """Return the exact sums of products of int8 values and constant weights, computed by the quantized op ``op``.

    The values already include padding. Their zero point is not subtracted.
    """
    x = node.emit("quant.scast", [stored], None, UniformType("i8", "f32", 1.0))
    attributes: dict[str, object] = {}
    if window is not None:
        attributes = {"strides": window.strides, "dilations": window.dilations}
    if groups > 1:
        attributes["groups"] = groups
    return context.storage(node.emit(op, [x, node.dense(array, element)], attributes))


def _sums(node: Node, context: LoweringContext, nest: LoopNest, left: Value, places: list[Expression]) -> Value:
    """Finish a loop nest that sums ``left`` times the weight at the index ``places``, and return the integer sums."""
    stored = context.storage(node.value(1))
    product = nest.value("arith.muli", (left, nest.extend(nest.read(stored, places), I32)), I32)
    return nest.finish(nest.value("arith.addi", (nest.running(I32, 0), product), I32))[0]


def _finish(
    node: Node,
    context: LoweringContext,
    sums: Value,
    parameters: Parameters,
    axes: Iterable[int | None],
    rule: str,
    weights: Array | None = None,
) -> None:
    """Scale the integer sums, add the bias, apply the fused activation and set the result.

    ``axes`` has an entry for each axis of the parameters: the corresponding axis of the sums, or None for an axis of
    size 1. If the zero point was not subtracted from the sums, ``weights`` has the sum of each output channel's
    weights, by which the zero point is multiplied. The axes of ``weights`` are the last axes of the sums.
    """
    scales = node.element(1).scale_array.astype(np.float32).reshape(-1)
    nest = LoopNest(context, "scale", context.extents(sums))
    rows: list[Expression] = [0 if axis is None else nest.loops[axis] for axis in axes]
    total = nest.read(sums, nest.loops)
    if weights is not None and parameters.shift is not None:
        zero, times = nest.read(parameters.shift, rows), nest.parameter(weights, I32, nest.loops[-weights.ndim :])
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
        channels = outputs or 0
        if rule == "images_in_fours" and (behind := channels % _FOURS):
            is_whole = nest.parameter(np.arange(channels) < channels - behind, I1, nest.loops[-1:])
            first, second = (
                nest.value("arith.select", (is_whole, *pair), F32) for pair in ((weight, own), (own, weight))
            )
        total = nest.value("arith.mulf", (nest.value("arith.mulf", (total, first), F32), second), F32)
        scaled = nest.value("arith.addf", (total, bias), F32)
    activation = node.options.get("fused_activation_function", "NONE")
    node.set(0, nest.finish(activated(node, nest, scaled, activation))[0])
