"""Lowering of conv2d and depthwise_conv2d to a contraction over the windows of an input padded with its zero point."""

from collections.abc import Sequence
from math import prod

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression, add, floordiv, multiply
from qrt.ir.dialects.linalg.lowering import Extent, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.accumulate import contract, lower_bias
from qrt.ir.passes.lower_qrt.contraction import Contraction, ProductOperand, zero_points_of
from qrt.ir.passes.lower_qrt.parameters import Channels, requantization
from qrt.ir.passes.lower_qrt.window import output_extent, pad, window_index
from qrt.ops.core import Attributes

_IMAGE, _ROW, _COLUMN, CHANNEL = (("d", i) for i in range(4))


def lower_conv2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.conv2d and return its result as storage integers.

    Raises QuantTypeError if there are several groups and the number of channels is dynamic.
    """
    w = context.storage(op.operands[1])
    channels, height, width, depth = (context.extent(w, axis) for axis in range(4))
    groups = attributes["groups"]
    if groups == 1:
        return convolve(context, op, attributes, w, (height, width, depth), 0, channels, (0, 1))
    if not isinstance(channels, int) or not isinstance(depth, int):
        raise QuantTypeError(
            f"with groups = {groups}, the first and last dimension of the weights (output channels, input channels "
            "of a "
            f"group) must be static, got {op.operands[1].type}"
        )
    group = floordiv(CHANNEL, max(channels // groups, 1))
    return convolve(context, op, attributes, w, (height, width, depth), depth, channels, (group, groups))


def convolve(
    context: LoweringContext,
    op: Operation,
    attributes: Attributes,
    w: Value,
    reduced: tuple[Extent, ...],
    step: int,
    channels: Extent,
    groups: tuple[Expression, Extent],
) -> Value:
    """Emit a convolution with the filters `w` over the padded input, and return its result as storage integers.

    `reduced` are the sizes of a window: height, width and, unless the convolution is depthwise, input channels.
    `channels` is the number of output channels. `groups` is (group of an output channel, number of groups); the input
    channels of a group begin at `group * step`.
    """
    x_type, w_type, element = (uniform_type(v) for v in (op.operands[0], op.operands[1], op.results[0]))
    stored = context.storage(op.operands[0])
    context.stage("accumulate")
    x = pad(context, stored, attributes["padding"], x_type.zero_point)
    outer = (
        context.extent(x, 0),
        *(output_extent(context, op, x, axis, reduced[axis - 1], attributes) for axis in (1, 2)),
        channels,
    )

    def window(own: Sequence[Expression], inner: Sequence[Expression]) -> tuple[Expression, ...]:
        image, row, column, group = own
        rows, columns = window_index((row, column), (inner[0], inner[1]), attributes)
        return image, rows, columns, add(multiply(group, step), inner[2] if len(inner) > 2 else 0)

    def filters(own: Sequence[Expression], inner: Sequence[Expression]) -> tuple[Expression, ...]:
        return (*own, *inner) if len(inner) > 2 else (*inner, *own)

    a = ProductOperand(
        x, x_type, (_IMAGE, _ROW, _COLUMN, groups[0]), (*outer[:3], groups[1]), window, zero_points_of(x_type), ()
    )
    f = ProductOperand(w, w_type, (CHANNEL,), (channels,), filters, zero_points_of(w_type), (CHANNEL,))
    known = [size for size in reduced if isinstance(size, int)]
    taps = prod(known) if len(known) == len(reduced) else None
    x_scale, w_scales, scales = (Channels.along(t, CHANNEL) for t in (x_type, w_type, element))
    r = requantization(attributes["requant"], [x_scale, w_scales], scales)
    bias = None
    if len(op.operands) > 2:
        bias = (lower_bias(context, op.operands[2], x_type, w_type, channels), (CHANNEL,))
    return contract(context, Contraction(a, f, outer, reduced, taps), bias, r)


def lower_depthwise_conv2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.depthwise_conv2d and return its result as storage integers.

    Raises QuantTypeError for a dynamic number of input channels or filters.
    """
    w = context.storage(op.operands[1])
    height, width, channels = (context.extent(w, axis) for axis in range(3))
    inputs = (tensor_type(op.operands[0]).shape or (None,) * 4)[3]
    if not isinstance(channels, int) or inputs is None:
        raise QuantTypeError(
            "the number of channels (the last dimension) of the input and the weights must be static, got "
            f"{op.operands[0].type} and {op.operands[1].type}"
        )
    group = floordiv(CHANNEL, max(channels // max(inputs, 1), 1))
    return convolve(context, op, attributes, w, (height, width), 1, channels, (group, inputs))
