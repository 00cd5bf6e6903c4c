"""Sums of products of quantized values, the common part of matmul and the convolutions.

`acc = sum (a - za) * (w - zw)`, in i32 or i64 by the bound of `ops.accumulate`. Two's complement makes either strategy
exact: if 32-bit storage or a sum before its correction wraps, later steps undo it.

    in-loop             sum (a - za) * (w - zw)
    post-accumulation   sum a*w  -  zw * sum a  -  za * sum w  +  K * za * zw
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

import qrt.numerics as numerics
from qrt.ir import IntegerAttr, StringAttr, Value
from qrt.ir.core.affine import Expression, evaluate
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, I32, I64, Array, Extent, LoweringContext, constant_storage, uniform_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.requantize import Requantization, requantize, scale_fixed_exactly
from qrt.ir.text.dense import MAX_FOLDED
from qrt.ops.accumulate import accumulator_bias, accumulator_bound, bias_is_direct, largest_depth
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import IntegerType, UniformType

Indices = Sequence[Expression]

_DEEPEST = 1 << 46
"""No tensor has so many values."""
_AT_MOST = list(INTEGER_PREDICATES).index("sle")


@dataclass(frozen=True)
class ProductOperand:
    """One operand of the products: its storage, and the indices at which the loops read it.

    `index(coordinates, reduced)` returns the indices, given the operand's own coordinates, which are expressions of the
    outer loops with their extents, and the reduced loops. `zero_points` are read at `channel`, expressions of the outer
    loops.
    """

    tensor: Value
    type: UniformType
    coordinates: tuple[Expression, ...]
    extents: tuple[Extent, ...]
    index: Callable[[Indices, Indices], tuple[Expression, ...]]
    zero_points: Array
    channel: tuple[Expression, ...]

    @property
    def has_zero_point(self) -> bool:
        return bool(self.zero_points.any())


@dataclass(frozen=True)
class Contraction:
    """`sum over the reduced loops of (a - za) * (w - zw)` for each point of the outer loops.

    `depth` is the number of products of a whole result (with sub-channel weights, of all blocks), None if unknown.
    """

    a: ProductOperand
    w: ProductOperand
    outer: tuple[Extent, ...]
    reduced: tuple[Extent, ...]
    depth: int | None

    @property
    def bound(self) -> int | None:
        return accumulator_bound(self.a.type, self.w.type, self.depth)

    @property
    def width(self) -> IntegerType:
        return I32 if self.bound is not None and self.bound < 1 << 31 else I64


Correct = Callable[[LoopNest, Value], Value]
"""Given the nest that reads an accumulator, corrects it for the zero points."""


def accumulate(context: LoweringContext, c: Contraction) -> tuple[Value, Correct]:
    """Return (tensor of accumulators over the outer loops, function that corrects an accumulator for the zero
    points).
    """
    correct = _nothing_to_correct if context.in_loop else _corrections(context, c)
    nest = LoopNest(context, "accumulate", c.outer, c.reduced)
    reduced = nest.loops[len(c.outer) :]
    factors = []
    for factor in (c.a, c.w):
        value = nest.read(factor.tensor, factor.index(factor.coordinates, reduced))
        value = nest.extend(value, c.width, factor.type.is_signed)
        if context.in_loop and factor.has_zero_point:
            nest.stage("zero-point")
            zero_point = nest.parameter(factor.zero_points, c.width, factor.channel)
            value = nest.value("arith.subi", (value, zero_point), c.width)
            nest.stage("accumulate")
        factors.append(value)
    acc = nest.running(c.width, 0)
    product = nest.value("arith.muli", factors, c.width)
    (sums,) = nest.finish(nest.value("arith.addi", (acc, product), c.width))
    return sums, correct


def _nothing_to_correct(nest: LoopNest, acc: Value) -> Value:
    return acc


def _corrections(context: LoweringContext, c: Contraction) -> Correct:
    """Emit the sums that zero points require, and return a function that corrects an accumulator by them.

    Terms whose zero point is 0 are omitted.
    """
    width = c.width
    sum_a = _sums(context, c.a, c.reduced, width) if c.w.has_zero_point else None
    sum_w = _sums(context, c.w, c.reduced, width) if c.a.has_zero_point else None
    both = c.a.has_zero_point and c.w.has_zero_point
    depth = _depth(context, c.reduced, width) if both else None

    def correct(nest: LoopNest, acc: Value) -> Value:
        nest.stage("zero-point")
        zero_points = {id(f): nest.parameter(f.zero_points, width, f.channel) for f in (c.a, c.w) if f.has_zero_point}
        for sums, of, other in ((sum_a, c.a, c.w), (sum_w, c.w, c.a)):
            if sums is not None:
                term = nest.value("arith.muli", (nest.read(sums, of.coordinates), zero_points[id(other)]), width)
                acc = nest.value("arith.subi", (acc, term), width)
        if depth is not None:
            count = nest.constant(depth, width) if isinstance(depth, int) else nest.read(depth, ())
            term = nest.value("arith.muli", (count, zero_points[id(c.a)]), width)
            term = nest.value("arith.muli", (term, zero_points[id(c.w)]), width)
            acc = nest.value("arith.addi", (acc, term), width)
        return acc

    return correct


def _depth(context: LoweringContext, reduced: Sequence[Extent], width: IntegerType) -> int | Value:
    """Return the number of products of one sum; a tensor of it if it is dynamic."""
    context.stage("zero-point")
    count = context.count(reduced)
    return count if isinstance(count, int) else context.filled((), context.value("arith.index_cast", (count,), width))


def _sums(context: LoweringContext, factor: ProductOperand, reduced: Sequence[Extent], width: IntegerType) -> Value:
    """Return the sums of an operand over the reduced loops, one for each of its own coordinates.

    The sums of a constant are a constant.
    """
    known = _constant_sums(factor, reduced)
    if known is not None:
        context.stage("zero-point")
        return context.dense(known, width)
    nest = LoopNest(context, "zero-point", factor.extents, reduced)
    own, inner = nest.loops[: len(factor.extents)], nest.loops[len(factor.extents) :]
    value = nest.extend(nest.read(factor.tensor, factor.index(own, inner)), width, factor.type.is_signed)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(width, 0), value), width))
    return sums


def _constant_sums(factor: ProductOperand, reduced: Sequence[Extent]) -> Array | None:
    source = factor.tensor.operation
    cast = source is not None and source.name == "quant.scast"
    values = constant_storage(source.operands[0]) if source is not None and cast else None
    extents = [extent for extent in (*factor.extents, *reduced) if isinstance(extent, int)]
    is_known = len(extents) == len(factor.extents) + len(reduced)
    if values is None or values.size > MAX_FOLDED or not is_known:
        return None
    loops = np.ogrid[tuple(map(slice, extents))]
    own, inner = loops[: len(factor.extents)], loops[len(factor.extents) :]
    names = [("d", i) for i in range(len(loops))]
    indices = factor.index(names[: len(own)], names[len(own) :])
    read = values[tuple(evaluate(index, loops) for index in indices)]
    return np.asarray(read.sum(axis=tuple(range(len(own), len(own) + len(inner)))))


# -- bias ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """A bias at the accumulator's scale, one value per channel, and the largest magnitude it can have."""

    tensor: Value
    signed: bool
    bound: int
    type: UniformType


def lower_bias(context: LoweringContext, value: Value, a: UniformType, w: UniformType, channels: Extent) -> Bias:
    """Return a bias at the accumulator's scale.

    A bias of scale `sa * sw` and zero point 0 is unchanged; another is rescaled once, by the `fixed` rule.

    Raises QuantTypeError where 64 bits do not hold a value of its type at the accumulator's scale.
    """
    element = uniform_type(value)
    count = max(len(element.scales), len(w.scales))
    extremes = _extremes(value, element, count)
    bound = _largest(accumulator_bias(stored, element, a, w) for stored in extremes)
    stored = context.storage(value)
    if bias_is_direct(element, a, w):
        return Bias(stored, element.is_signed, bound, element)
    zero_points = np.broadcast_to(np.array(element.zero_points, np.int64), count)
    multiplier, shift = _bias_multipliers(element, a, w, count)
    nest = LoopNest(context, "bias", (channels,))
    channel = nest.loops if count > 1 else ()
    wide = nest.extend(nest.read(stored, nest.loops), I64, element.is_signed)
    if zero_points.any():
        wide = nest.value("arith.subi", (wide, nest.parameter(zero_points, I64, channel)), I64)
    if _largest(stored.astype(np.int64) - element.zero_points for stored in extremes) < 1 << 31:
        wide = nest.value("arith.trunci", (wide,), I32)  # whose product has 64 bits
    scaled = scale_fixed_exactly(nest, wide, multiplier, shift, channel)
    return Bias(nest.finish(scaled)[0], True, bound, element)


def _bias_multipliers(element: UniformType, a: UniformType, w: UniformType, count: int) -> tuple[Array, Array]:
    """Return (M0, N) of each channel's `S_b / (sa * sw)`; (1, 0) where the two are equal as doubles."""
    multiplier, shift = np.ones(count, np.int64), np.zeros(count, np.int64)
    scales = np.broadcast_to(element.scales, count).tolist(), np.broadcast_to(w.scales, count).tolist()
    for i, (own, weight) in enumerate(zip(*scales, strict=True)):
        if own != a.scale * weight:
            ratio = Fraction(own) / (Fraction(a.scale) * Fraction(weight))
            multiplier[i], shift[i] = numerics.fixed_multiplier(ratio)
    return multiplier, shift


def _extremes(value: Value, element: UniformType, count: int) -> list[Array]:
    """Return vectors of storage that bound a bias in each channel: its values if they are constant, else the bounds of
    its type. Rescaling is monotonic, so rescaled bounds are bounds.
    """
    stored = constant_storage(value)
    if stored is not None:
        return [stored]
    return [np.full(count, end, np.int64) for end in (element.storage_min, element.storage_max)]


def _largest(arrays: Iterable[Array]) -> int:
    return max((abs(int(v)) for array in arrays for v in array), default=0)


def add_bias(nest: LoopNest, acc: Value, bound: int | None, bias: Bias, channel: Indices) -> Value:
    """Add a bias: in i32 if the sum fits that, else in i64."""
    nest.stage("bias")
    width = I32 if acc.type is I32 and bound is not None and bound + bias.bound < 1 << 31 else I64
    value = nest.read(bias.tensor, channel)
    if value.type is I64 and width is I32:
        value = nest.value("arith.trunci", (value,), I32)
    return nest.value("arith.addi", (nest.extend(acc, width), nest.extend(value, width, bias.signed)), width)


# -- the whole -------------------------------------------------------------------------------------------------------


def contract(context: LoweringContext, c: Contraction, bias: tuple[Bias, Indices] | None, r: Requantization) -> Value:
    """Emit a whole contraction: accumulate, correct, add the bias, requantize to storage over the outer loops."""
    if c.bound is None:
        _assert_depth(context, c, None if bias is None else bias[0].type)
    sums, correct = accumulate(context, c)
    nest = LoopNest(context, "requantize", c.outer)
    acc = correct(nest, nest.read(sums, nest.loops))
    if bias is not None:
        acc = add_bias(nest, acc, c.bound, *bias)
    return nest.finish(requantize(nest, acc, r))[0]


def _assert_depth(context: LoweringContext, c: Contraction, bias: UniformType | None) -> None:
    """Emit an assertion that a dynamic depth is not too large, if it could be.

    A static depth is checked with the types.
    """
    most = largest_depth(c.a.type, c.w.type, bias)
    if most >= _DEEPEST:
        return
    context.stage("accumulate")
    count = context.index(context.count(c.reduced))
    bound = context.constant(most, INDEX)
    fits = context.value("arith.cmpi", (count, bound), I1, {"predicate": IntegerAttr(_AT_MOST, I64)})
    message = StringAttr(
        f"the accumulator may overflow: a sum must have at most {most} products; requantize the operands to fewer bits"
    )
    context.emit("cf.assert", (fits,), (), {"msg": message})


def zero_points_of(t: UniformType) -> Array:
    """Return the zero points of a type per layer or per axis; a single one if all are equal."""
    points = np.array(t.zero_points, np.int64)
    return points[:1].reshape(()) if (points == points[0]).all() else points
