"""Lowering of float_matmul with quantized weights.

K is divided into pieces. In each piece, the values of a row are rounded to integers times a power of two, which is
called the piece's unit. The sum of these integers times the weights is exact; a chain of float operations multiplies
the sums by units and scales, and adds them.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I32, I64, Array, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.parameters import Channels, centred
from qrt.ir.passes.lower_qrt.window import pad_behind
from qrt.numerics import LEAST_UNIT_EXPONENT, UNIT_CARRY, round_to_format
from qrt.ops.float_matmul import PIECE, k_block, scales_along_k
from qrt.types import UniformType

_ORDERED_EQUAL, _ORDERED_LESS = 1, 4


@dataclass(frozen=True)
class _DepthSplit:
    """The division of K (`depth`) into blocks that share a weight scale, and of blocks into pieces of equal length.

    The last piece of a block is padded with zeros.
    """

    depth: int
    block: int

    @property
    def length(self) -> int:
        return min(self.block, PIECE)

    @property
    def extents(self) -> tuple[int, int]:
        """Number of blocks, and number of pieces in a block."""
        return self.depth // self.block, -(-self.block // self.length)

    def tensor(self, context: LoweringContext, x: Value, axis: int) -> Value:
        """Return tensor `x`, whose axis `axis` is K, with each block of K padded to a whole number of pieces.

        If padding is needed, this axis becomes two: the blocks, and the padded values of a block. Otherwise `x` is
        returned unchanged.
        """
        blocks, parts = self.extents
        if parts * self.length == self.block:
            return x
        sizes = context.extents(x)
        nest = LoopNest(context, "pieces", [*sizes[:axis], blocks, self.block, *sizes[axis + 1 :]])
        at = list(nest.loops)
        at[axis : axis + 2] = [add(multiply(at[axis], self.block), at[axis + 1])]
        (x,) = nest.finish(nest.read(x, at))
        context.stage("pieces")
        return pad_behind(context, x, axis + 1, parts * self.length - self.block)

    def at(self, block: Expression, part: Expression, i: Expression) -> list[Expression]:
        """Return the indices along K of value `i` of a piece in the tensor that the method `tensor` returns.

        `part` is the number of the piece in `block`. There are two indices if `tensor` splits K into two axes, else
        one.
        """
        inside = add(multiply(part, self.length), i)
        if self.extents[1] * self.length != self.block:
            return [block, inside]
        return [add(multiply(block, self.block), inside)]


def mixed_sums(context: LoweringContext, a: Value, w: Value, bias: Sequence[Value]) -> Value:
    """Emit the float32 product of float rows `a` and quantized weights `w`, plus `bias[0]` if `bias` is not empty."""
    t, stored = uniform_type(w), context.storage(w)
    depth = (tensor_type(w).shape or (0,))[0] or 0
    cut = _DepthSplit(depth, k_block(t, depth))
    *rows, _ = context.extents(a)
    column = context.extent(stored, 1)
    scaled_rows = _scaled_rows(context, a, t) if scales_along_k(t) else a
    sums, units = _piece_sums(context, scaled_rows, stored, t, cut)

    nest = LoopNest(context, "accumulate", [*rows, column], cut.extents)
    *row, j, block, part = nest.loops
    total = nest.value("arith.sitofp", (nest.read(sums, [*row, j, block, part]),), F32)
    if not scales_along_k(t):
        channels = Channels.of(t, [multiply(block, cut.block), j])
        total = nest.value("arith.mulf", (total, nest.parameter(_scales(channels), F32, channels.indices)), F32)
    operands = total, nest.read(units, [*row, block, part]), nest.running(F32, 0.0)
    (totals,) = nest.finish(nest.value("math.fma", operands, F32))
    others = _others(context, a, scaled_rows, stored, t)

    nest = LoopNest(context, "accumulate", [*rows, column])
    result, other = nest.read(totals, nest.loops), nest.read(others, nest.loops)
    if bias:
        nest.stage("bias")
        result = nest.value("arith.addf", (result, nest.read(bias[0], nest.loops[-1:])), F32)
    nest.stage("accumulate")
    none = nest.compare_floats(_ORDERED_EQUAL, other, nest.constant(0.0, F32))
    return nest.finish(nest.value("arith.select", (none, result, nest.value("arith.addf", (result, other), F32)), F32))[
        0
    ]


def _scaled_rows(context: LoweringContext, a: Value, t: UniformType) -> Value:
    """Multiply each float row by the weight scales along K, for weights that have one scale per value of K."""
    nest = LoopNest(context, "scale", context.extents(a))
    channels = Channels.along(t, nest.loops[-1])
    operands = nest.read(a, nest.loops), nest.parameter(_scales(channels), F32, channels.indices)
    return nest.finish(nest.value("arith.mulf", operands, F32))[0]


def _piece_sums(
    context: LoweringContext, a: Value, stored: Value, t: UniformType, cut: _DepthSplit
) -> tuple[Value, Value]:
    """Emit the exact integer sums [rows, columns, blocks, pieces], and the units [rows, blocks, pieces]."""
    *rows, depth = context.extents(a)
    nest = LoopNest(context, "units", [*rows, depth])
    x = nest.read(a, nest.loops)
    (finite,) = nest.finish(nest.value("arith.select", (_is_finite(nest, x), x, nest.constant(0.0, F32)), F32))
    finite = cut.tensor(context, finite, len(rows))

    nest = LoopNest(context, "units", [*rows, *cut.extents], [cut.length])
    *row, block, part, i = nest.loops
    x = nest.value("math.absf", (nest.read(finite, [*row, *cut.at(block, part, i)]),), F32)
    (largest,) = nest.finish(
        nest.value("arith.maxsi", (nest.running(I32, 0), nest.value("arith.bitcast", (x,), I32)), I32)
    )
    units, inverses = _units(context, largest)

    nest = LoopNest(context, "units", [*rows, *cut.extents, cut.length])
    *row, block, part, i = nest.loops
    operands = nest.read(finite, [*row, *cut.at(block, part, i)]), nest.read(inverses, [*row, block, part])
    rounded = nest.value("math.roundeven", (nest.value("arith.mulf", operands, F32),), F32)
    (integers,) = nest.finish(nest.value("arith.fptosi", (rounded,), I32))

    nest = LoopNest(context, "zero-point", context.extents(stored))
    (weights,) = nest.finish(centred(nest, stored, nest.loops, Channels.of(t, nest.loops), I32))
    weights = cut.tensor(context, weights, 0)

    nest = LoopNest(context, "accumulate", [*rows, context.extent(stored, 1), *cut.extents], [cut.length])
    *row, j, block, part, i = nest.loops
    reads = nest.read(integers, [*row, block, part, i]), nest.read(weights, [*cut.at(block, part, i), j])
    product = nest.value("arith.muli", [nest.extend(value, I64) for value in reads], I64)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(I64, 0), product), I64))
    return sums, units


def _units(context: LoweringContext, largest: Value) -> tuple[Value, Value]:
    """Emit the unit of each piece, and the unit's inverse, from the f32 bits of the piece's largest magnitude."""
    nest = LoopNest(context, "units", context.extents(largest))

    def integer(value: int) -> Value:
        return nest.constant(value, I32)

    def power(biased_exponent: Value) -> Value:
        bits = nest.value("arith.shli", (biased_exponent, integer(23)), I32)
        return nest.value("arith.bitcast", (bits,), F32)

    carried = nest.value("arith.addi", (nest.read(largest, nest.loops), integer(UNIT_CARRY)), I32)
    exponent = nest.value("arith.shrui", (carried, integer(23)), I32)
    exponent = nest.value("arith.maxsi", (exponent, integer(LEAST_UNIT_EXPONENT)), I32)
    unit = power(nest.value("arith.subi", (exponent, integer(149 - 127)), I32))
    inverse = power(nest.value("arith.subi", (integer(149 + 127), exponent), I32))
    units, inverses = nest.finish(unit, inverse)
    return units, inverses


def _others(context: LoweringContext, a: Value, scaled_rows: Value, stored: Value, t: UniformType) -> Value:
    """Emit, for each row and column, the sum of `x * weight` over those x that are NaN or infinite after scaling.

    The exact integer sums have 0 in place of these x, so the caller adds this sum. It is 0 without such x. The weights
    are dequantized.
    """
    *rows, depth = context.extents(a)
    nest = LoopNest(context, "others", [*rows, context.extent(stored, 1)], [depth])
    *row, j, k = nest.loops
    channels = Channels.of(t, [k, j])
    x = nest.read(a, [*row, k])
    weight = nest.value("arith.sitofp", (centred(nest, stored, [k, j], channels, I32),), F32)
    nest.stage("others")
    weight = nest.value("arith.mulf", (weight, nest.parameter(_scales(channels), F32, channels.indices)), F32)
    sum = nest.running(F32, 0.0)
    more = nest.value("arith.addf", (sum, nest.value("arith.mulf", (x, weight), F32)), F32)
    finite = _is_finite(nest, nest.read(scaled_rows, [*row, k]))
    return nest.finish(nest.value("arith.select", (finite, sum, more), F32))[0]


def _is_finite(nest: LoopNest, x: Value) -> Value:
    magnitude = nest.value("math.absf", (x,), F32)
    return nest.compare_floats(_ORDERED_LESS, magnitude, nest.constant(math.inf, F32))


def _scales(channels: Channels) -> Array:
    return round_to_format(np.array(channels.type.scales).reshape(channels.shape), "f32")
