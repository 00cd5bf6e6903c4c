"""float_matmul by quantized weights: units and integers of the rows, exact sums over pieces of K, their chain."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.numerics import LEAST_UNIT_EXPONENT, UNIT_CARRY, round_to_format
from qrt.ops.float_matmul import PIECE, k_block, scales_along_k
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.parameters import Channels, centred
from qrt.passes.lower_qrt.site import F32, I32, I64, Array, Site, tensor_type, uniform_type
from qrt.passes.lower_qrt.window import pad_behind
from qrt.types import UniformType

_ORDERED_EQUAL, _ORDERED_LESS = 1, 4


@dataclass(frozen=True)
class _Cut:
    """How K is cut: blocks of so many pieces of this length. Zeros continue the last piece of a block."""

    depth: int
    block: int

    @property
    def length(self) -> int:
        return min(self.block, PIECE)

    @property
    def extents(self) -> tuple[int, int]:
        """The number of blocks, and of pieces of a block."""
        return self.depth // self.block, -(-self.block // self.length)

    def tensor(self, site: Site, x: Value, axis: int) -> Value:
        """`x`, whose `axis` is K. If pieces do not divide a block, the axis becomes two: blocks, and their values with
        zeros behind.
        """
        blocks, parts = self.extents
        if parts * self.length == self.block:
            return x
        sizes = site.extents(x)
        nest = Nest(site, "pieces", [*sizes[:axis], blocks, self.block, *sizes[axis + 1 :]])
        at = list(nest.loops)
        at[axis : axis + 2] = [add(multiply(at[axis], self.block), at[axis + 1])]
        (x,) = nest.finish(nest.read(x, at))
        site.stage("pieces")
        return pad_behind(site, x, axis + 1, parts * self.length - self.block)

    def at(self, block: Expression, part: Expression, i: Expression) -> list[Expression]:
        """The indices of value i of a piece, in place of the index along K."""
        inside = add(multiply(part, self.length), i)
        if self.extents[1] * self.length != self.block:
            return [block, inside]
        return [add(multiply(block, self.block), inside)]


def mixed_sums(site: Site, a: Value, w: Value, bias: Sequence[Value]) -> Value:
    """The result for weights for which `sums_integers` holds."""
    t, stored = uniform_type(w), site.storage(w)
    depth = (tensor_type(w).shape or (0,))[0] or 0
    cut = _Cut(depth, k_block(t, depth))
    *rows, _ = site.extents(a)
    column = site.extent(stored, 1)
    scaled_rows = _scaled_rows(site, a, t) if scales_along_k(t) else a
    sums, units = _piece_sums(site, scaled_rows, stored, t, cut)

    nest = Nest(site, "accumulate", [*rows, column], cut.extents)
    *row, j, block, part = nest.loops
    total = nest.emit("arith.sitofp", (nest.read(sums, [*row, j, block, part]),), F32)
    if not scales_along_k(t):
        channels = Channels.of(t, [multiply(block, cut.block), j])
        total = nest.emit("arith.mulf", (total, nest.parameter(_scales(channels), F32, channels.indices)), F32)
    operands = total, nest.read(units, [*row, block, part]), nest.running(F32, 0.0)
    (totals,) = nest.finish(nest.emit("math.fma", operands, F32))
    others = _others(site, a, scaled_rows, stored, t)

    nest = Nest(site, "accumulate", [*rows, column])
    result, other = nest.read(totals, nest.loops), nest.read(others, nest.loops)
    if bias:
        nest.stage("bias")
        result = nest.emit("arith.addf", (result, nest.read(bias[0], nest.loops[-1:])), F32)
    nest.stage("accumulate")
    none = nest.compare_floats(_ORDERED_EQUAL, other, nest.constant(0.0, F32))
    return nest.finish(nest.emit("arith.select", (none, result, nest.emit("arith.addf", (result, other), F32)), F32))[0]


def _scaled_rows(site: Site, a: Value, t: UniformType) -> Value:
    """Multiply rows by the scales along K."""
    nest = Nest(site, "scale", site.extents(a))
    channels = Channels.along(t, nest.loops[-1])
    operands = nest.read(a, nest.loops), nest.parameter(_scales(channels), F32, channels.indices)
    return nest.finish(nest.emit("arith.mulf", operands, F32))[0]


def _piece_sums(site: Site, a: Value, stored: Value, t: UniformType, cut: _Cut) -> tuple[Value, Value]:
    """The exact sums [rows, columns, blocks, pieces], and the units [rows, blocks, pieces]."""
    *rows, depth = site.extents(a)
    nest = Nest(site, "units", [*rows, depth])
    x = nest.read(a, nest.loops)
    (finite,) = nest.finish(nest.emit("arith.select", (_is_finite(nest, x), x, nest.constant(0.0, F32)), F32))
    finite = cut.tensor(site, finite, len(rows))

    nest = Nest(site, "units", [*rows, *cut.extents], [cut.length])
    *row, block, part, i = nest.loops
    x = nest.emit("math.absf", (nest.read(finite, [*row, *cut.at(block, part, i)]),), F32)
    (largest,) = nest.finish(
        nest.emit("arith.maxsi", (nest.running(I32, 0), nest.emit("arith.bitcast", (x,), I32)), I32)
    )
    units, inverses = _units(site, largest)

    nest = Nest(site, "units", [*rows, *cut.extents, cut.length])
    *row, block, part, i = nest.loops
    operands = nest.read(finite, [*row, *cut.at(block, part, i)]), nest.read(inverses, [*row, block, part])
    rounded = nest.emit("math.roundeven", (nest.emit("arith.mulf", operands, F32),), F32)
    (integers,) = nest.finish(nest.emit("arith.fptosi", (rounded,), I32))

    nest = Nest(site, "zero-point", site.extents(stored))
    (weights,) = nest.finish(centred(nest, stored, nest.loops, Channels.of(t, nest.loops), I32))
    weights = cut.tensor(site, weights, 0)

    nest = Nest(site, "accumulate", [*rows, site.extent(stored, 1), *cut.extents], [cut.length])
    *row, j, block, part, i = nest.loops
    reads = nest.read(integers, [*row, block, part, i]), nest.read(weights, [*cut.at(block, part, i), j])
    product = nest.emit("arith.muli", [nest.extend(value, I64) for value in reads], I64)
    (sums,) = nest.finish(nest.emit("arith.addi", (nest.running(I64, 0), product), I64))
    return sums, units


def _units(site: Site, largest: Value) -> tuple[Value, Value]:
    """The unit and its inverse, by the bits of the largest magnitude."""
    nest = Nest(site, "units", site.extents(largest))

    def integer(value: int) -> Value:
        return nest.constant(value, I32)

    def power(biased_exponent: Value) -> Value:
        bits = nest.emit("arith.shli", (biased_exponent, integer(23)), I32)
        return nest.emit("arith.bitcast", (bits,), F32)

    carried = nest.emit("arith.addi", (nest.read(largest, nest.loops), integer(UNIT_CARRY)), I32)
    exponent = nest.emit("arith.shrui", (carried, integer(23)), I32)
    exponent = nest.emit("arith.maxsi", (exponent, integer(LEAST_UNIT_EXPONENT)), I32)
    unit = power(nest.emit("arith.subi", (exponent, integer(149 - 127)), I32))
    inverse = power(nest.emit("arith.subi", (integer(149 + 127), exponent), I32))
    units, inverses = nest.finish(unit, inverse)
    return units, inverses


def _others(site: Site, a: Value, scaled_rows: Value, stored: Value, t: UniformType) -> Value:
    """Values that count as NaN or infinite times their weights as dcast gives them; 0 where there are none."""
    *rows, depth = site.extents(a)
    nest = Nest(site, "others", [*rows, site.extent(stored, 1)], [depth])
    *row, j, k = nest.loops
    channels = Channels.of(t, [k, j])
    x = nest.read(a, [*row, k])
    weight = nest.emit("arith.sitofp", (centred(nest, stored, [k, j], channels, I32),), F32)
    nest.stage("others")
    weight = nest.emit("arith.mulf", (weight, nest.parameter(_scales(channels), F32, channels.indices)), F32)
    sum = nest.running(F32, 0.0)
    more = nest.emit("arith.addf", (sum, nest.emit("arith.mulf", (x, weight), F32)), F32)
    finite = _is_finite(nest, nest.read(scaled_rows, [*row, k]))
    return nest.finish(nest.emit("arith.select", (finite, sum, more), F32))[0]


def _is_finite(nest: Nest, x: Value) -> Value:
    magnitude = nest.emit("math.absf", (x,), F32)
    return nest.compare_floats(_ORDERED_LESS, magnitude, nest.constant(math.inf, F32))


def _scales(channels: Channels) -> Array:
    return round_to_format(np.array(channels.type.scales).reshape(channels.shape), "f32")
