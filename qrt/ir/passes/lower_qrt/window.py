"""Sliding windows over NHWC tensors: the padded input, the number of windows, and the indices of their elements."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Attribute, Block, Builder, DenseArrayAttr, Operation, Region, Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.lowering import I64, Extent, LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes
from qrt.ops.window import Pairs, output_size
from qrt.types import TensorType


def pad(context: LoweringContext, x: Value, padding: Pairs, value: Any) -> Value:
    """Pad the height and width of `x` [N, H, W, C] with `value`, a scalar or one value per channel."""
    pairs = ((0, 0), *padding, (0, 0))
    if not any(map(any, pairs)):
        return x
    return pad_tensor(context, x, pairs, value, axis=3)


def pad_tensor(
    context: LoweringContext, x: Value, pairs: Sequence[tuple[int, int]], value: Any, axis: int | None = None
) -> Value:
    """Pad each dimension of `x` by a pair (before, after) of `pairs` with `value`.

    If `value` is an array of different values, they belong to the positions along `axis`, which is not padded.
    """
    type = tensor_type(x)
    shape = [None if d is None else d + sum(p) for d, p in zip(type.shape or (), pairs, strict=True)]
    block = Block([INDEX] * len(shape), context.location)
    body = Builder(block)
    body.loc = context.loc
    values = np.asarray(value)
    if (values == values.ravel()[0]).all():
        padding = body.constant(values.ravel()[0], type.element)
    else:
        assert axis is not None  # one value for each of its channels
        padding = body.value(
            "tensor.extract", (context.dense(values, type.element), block.arguments[axis]), type.element
        )
    body.emit("tensor.yield", (padding,))
    low, high = (DenseArrayAttr(I64, tuple(p[side] for p in pairs)) for side in (0, 1))
    attributes: dict[str, Attribute] = {"static_low": low, "static_high": high, OPERAND_SEGMENTS: segments(1, 0, 0)}
    result = TensorType(shape, type.element)
    return context.emit("tensor.pad", (x,), (result,), attributes, [Region([block])]).results[0]


def pad_behind(context: LoweringContext, x: Value, axis: int, count: int) -> Value:
    """Append `count` zeros to `x` along an axis."""
    if not count:
        return x
    pairs = [(0, count if d == axis else 0) for d in range(tensor_type(x).rank or 0)]
    return pad_tensor(context, x, pairs, 0)


def output_extent(
    context: LoweringContext, op: Operation, padded: Value, axis: int, kernel: Extent, attributes: Attributes
) -> Extent:
    """Return the number of windows along `axis` of the padded input.

    It is taken from the result's type if that is static, else computed.
    """
    declared = (tensor_type(op.results[0]).shape or (None,) * 4)[axis]
    if declared is not None:
        return declared
    stride, dilation = (attributes.get(name, (1, 1))[axis - 1] for name in ("strides", "dilations"))
    size = context.extent(padded, axis)
    known_size, known_kernel = (extent if isinstance(extent, int) else None for extent in (size, kernel))
    known = output_size(op.name, known_size, known_kernel, (0, 0), stride, dilation)
    if known is not None:
        return known
    one, reach = context.constant(1, INDEX), context.index(kernel)
    reach = context.value("arith.subi", (reach, one), INDEX)
    reach = context.value("arith.muli", (reach, context.constant(dilation, INDEX)), INDEX)
    room = context.value("arith.subi", (context.index(size), reach), INDEX)
    room = context.value("arith.subi", (room, one), INDEX)
    steps = context.value("arith.floordivsi", (room, context.constant(stride, INDEX)), INDEX)
    return context.value("arith.addi", (steps, one), INDEX)


def window_index(
    window: tuple[Expression, Expression], element: tuple[Expression, Expression], attributes: Attributes
) -> tuple[Expression, Expression]:
    """Return the (row, column) in the padded input of a window's element.

    `window` is the (row, column) of the window among all windows, `element` the (row, column) of the element in the
    window.
    """
    rows, columns = (
        add(multiply(at, stride), multiply(inside, dilation))
        for at, inside, stride, dilation in zip(
            window, element, attributes["strides"], attributes.get("dilations", (1, 1)), strict=True
        )
    )
    return rows, columns
