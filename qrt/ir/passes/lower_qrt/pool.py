"""Lowering of max_pool2d and avg_pool2d to loops over a padded input. Padding contributes nothing to a result.

An average is the sum of a window requantized by `s_in / (s_out * count)`, where `count` is the number of elements that
are not padding. Tables have the requantization parameters for each count. Zero points are subtracted in one of two
ways: the input is padded with 0 and `count * zp` is subtracted from the sum, or the input is padded with its zero point
and the loop subtracts the zero point from each element. The rule `integer` subtracts no zero point.

Rules named `dequantized...` dequantize each element in the loop and add floats, in an order that the rule determines.
"""

from collections.abc import Sequence
from dataclasses import replace
from math import prod

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import (
    F32,
    I32,
    Array,
    Extent,
    LoweringContext,
    accumulator_type,
    tensor_type,
    uniform_type,
)
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.averages import sum_of_columns, sum_of_lanes, sum_of_rows
from qrt.ir.passes.lower_qrt.parameters import Channels, requantization, without_zero_point
from qrt.ir.passes.lower_qrt.requantize import requantize
from qrt.ir.passes.lower_qrt.window import output_extent, pad, pad_tensor, window_index
from qrt.numerics import RULES
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude, max_storage
from qrt.types import IntegerType


def lower_max_pool2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.max_pool2d and return its result as storage integers.

    Padding has the least storage value, and each window has at least one element of the input, so that padding does not
    change a maximum.
    """
    t = uniform_type(op.operands[0])
    windows = _Windows(context, op, attributes, pad_value=t.storage_min)
    nest = LoopNest(context, "accumulate", windows.kept, windows.kernel)
    value = windows.read(nest)
    largest = nest.running(value.type, t.storage_min)
    return nest.finish(nest.value(f"arith.max{'si' if t.is_signed else 'ui'}", (largest, value), value.type))[0]


def lower_avg_pool2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.avg_pool2d and return its result as storage integers."""
    t = uniform_type(op.operands[0])
    taps = prod(attributes["kernel"])
    by = RULES[attributes["requant"]]
    raw = by.summand == "storage"
    bound = taps * (max_storage(t) if raw else max_magnitude(t))
    width = accumulator_type(bound)
    in_loop = (context.in_loop or by.summand == "floats") and not raw
    windows = _Windows(context, op, attributes, pad_value=np.array(t.zero_points) if in_loop else 0)
    padded = any(map(any, attributes["padding"]))
    counts = _counts(context, attributes, windows) if padded else None
    if by.summand == "floats":
        sums = windows.summed(by.order, width)
    else:
        nest = LoopNest(context, "accumulate", windows.kept, windows.kernel)
        value = nest.extend(windows.read(nest), width, t.is_signed)
        if in_loop:
            value = without_zero_point(nest, value, Channels.of(t, nest.loops[:4]))
        (sums,) = nest.finish(nest.value("arith.addi", (nest.running(width, 0), value), width))

    nest = LoopNest(context, "requantize", windows.kept)
    channels, result = (Channels.of(element, nest.loops) for element in (t, uniform_type(op.results[0])))
    acc = nest.read(sums, nest.loops)
    if counts is None:
        if not in_loop and not raw:
            acc = without_zero_point(nest, acc, channels, taps)
        r = requantization(attributes["requant"], [channels], result, np.array(taps))
        return nest.finish(requantize(nest, acc, replace(r, bound=bound)))[0]
    count, zero_points = nest.read(counts, nest.loops[1:3]), channels.zero_points()
    if zero_points.any() and not in_loop and not raw:
        nest.stage("zero-point")
        zero_point = nest.parameter(zero_points, width, channels.indices)
        term = nest.value("arith.muli", (nest.extend(count, width), zero_point), width)
        acc = nest.value("arith.subi", (acc, term), width)
    nest.stage("requantize")
    entry = nest.value("arith.index_cast", (nest.value("arith.subi", (count, nest.constant(1, I32)), I32),), INDEX)
    possible = np.arange(1, windows.largest_count + 1)
    r = requantization(attributes["requant"], [channels], result, possible, entry)
    return nest.finish(requantize(nest, acc, replace(r, bound=bound)))[0]


class _Windows:
    """The padded input of a pooling, and the sizes of the loops over its windows.

    The outer loops (`kept`) are images, rows, columns and channels of the result; the reduced loops are the rows and
    columns of a window (`kernel`).
    """

    def __init__(self, context: LoweringContext, op: Operation, attributes: Attributes, pad_value: int | Array) -> None:
        self._context, self._type = context, uniform_type(op.operands[0])
        self.stored = context.storage(op.operands[0])
        self._attributes = attributes
        self._padded = pad(context, self.stored, attributes["padding"], pad_value)
        self.kernel: tuple[int, int] = attributes["kernel"]
        rows, columns = (
            output_extent(context, op, self._padded, axis, self.kernel[axis - 1], attributes) for axis in (1, 2)
        )
        self.kept: tuple[Extent, ...] = (context.extent(self.stored, 0), rows, columns, context.extent(self.stored, 3))
        shape = tensor_type(self.stored).shape or ()
        self.largest_count = prod(k if n is None else min(k, n) for k, n in zip(self.kernel, shape[1:3], strict=True))

    def read(self, nest: LoopNest) -> Value:
        image, row, column, channel, *inside = nest.loops
        at = window_index((row, column), (inside[0], inside[1]), self._attributes)
        return nest.read(self._padded, (image, *at, channel))

    def summed(self, order: str, width: IntegerType) -> Value:
        """Return the sum of the dequantized elements of each window, added in the order "rows", "columns" or "lanes".

        Zero points are subtracted in integers of type `width`.
        """
        context, strides = self._context, self._attributes["strides"]

        def read(nest: LoopNest, at: Sequence[Expression]) -> Value:
            image, *_, channel = nest.loops[:4]
            value = nest.extend(nest.read(self._padded, (image, *at, channel)), width, self._type.is_signed)
            channels = Channels.of(self._type, nest.loops[:4])
            scales = np.array(self._type.scales, np.float32).reshape(channels.shape)
            whole = nest.value("arith.sitofp", (without_zero_point(nest, value, channels),), F32)
            return nest.value("arith.mulf", (whole, nest.parameter(scales, F32, channels.indices)), F32)

        if order == "lanes":
            return sum_of_lanes(context, self.kept, self.kernel, read)
        if order == "columns":
            columns = context.extent(self._padded, 2)
            return sum_of_columns(context, self.kept, self.kernel, strides, (1, 1), read, columns)
        return sum_of_rows(context, self.kept, self.kernel, strides, (1, 1), read)


def _counts(context: LoweringContext, attributes: Attributes, windows: _Windows) -> Value:
    """Return the number of input elements in each window, [rows, columns]; padding does not count."""
    context.stage("accumulate")
    ones = context.filled([context.extent(windows.stored, axis) for axis in (1, 2)], context.constant(1, I32))
    padded = pad_tensor(context, ones, attributes["padding"], 0)
    nest = LoopNest(context, "accumulate", windows.kept[1:3], windows.kernel)
    row, column, *inside = nest.loops
    value = nest.read(padded, window_index((row, column), (inside[0], inside[1]), attributes))
    return nest.finish(nest.value("arith.addi", (nest.running(I32, 0), value), I32))[0]
