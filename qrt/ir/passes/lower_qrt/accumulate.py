"""Sums of products of quantized values, the common part of matmul and the convolutions.

`acc = sum (a - za) * (w - zw)`, in i32 if `ops.accumulate` bounds its magnitude below 2^31, else in i64. There are two
strategies:

    in-loop             sum (a - za) * (w - zw)
    post-accumulation   sum a*w  -  zw * sum a  -  za * sum w  +  K * za * zw

K is the number of products in a sum. Both strategies are exact, although intermediate values may wrap: two's complement
arithmetic is exact if the final sum fits.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

import qrt.numerics as numerics
from qrt.ir import IntegerAttr, StringAttr, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, I32, I64, Array, Extent, LoweringContext, constant_storage, uniform_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.contraction import Contraction, Indices
from qrt.ir.passes.lower_qrt.corrections import Correct, constant_values, corrections, nothing_to_correct
from qrt.ir.passes.lower_qrt.dot_products import dot_products
from qrt.ir.passes.lower_qrt.requantize import Requantization, requantize, scale_fixed_exactly
from qrt.ir.passes.lower_qrt.strategy import OperandCost, costs
from qrt.ops.accumulate import accumulator_bias, bias_is_direct, largest_depth
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import UniformType

_DEEPEST = 1 << 46
"""More elements than any tensor has."""
_AT_MOST = list(INTEGER_PREDICATES).index("sle")


def accumulate(context: LoweringContext, c: Contraction) -> tuple[Value, Correct]:
    """Emit the sums and return (tensor of accumulators over the outer loops, function that corrects an accumulator).

    If the loop sums raw products (the strategy `post-accumulation`), the function adds the terms that contain zero
    points. If the loop subtracts the zero points, it returns the accumulator unchanged.
    """
    dots = dot_products(context, c)
    if dots is not None:
        return dots
    in_loop = _is_in_loop(context, c)
    correct = nothing_to_correct if in_loop else corrections(context, c)
    nest = LoopNest(context, "accumulate", c.outer, c.reduced)
    reduced = nest.loops[len(c.outer) :]
    factors = []
    for factor in (c.a, c.w):
        value = nest.read(factor.tensor, factor.index(factor.coordinates, reduced))
        value = nest.extend(value, c.width, factor.type.is_signed)
        if in_loop and factor.has_zero_point:
            nest.stage("zero-point")
            zero_point = nest.parameter(factor.zero_points, c.width, factor.channel)
            value = nest.value("arith.subi", (value, zero_point), c.width)
            nest.stage("accumulate")
        factors.append(value)
    acc = nest.running(c.width, 0)
    product = nest.value("arith.muli", factors, c.width)
    (sums,) = nest.finish(nest.value("arith.addi", (acc, product), c.width))
    return sums, correct


def _is_in_loop(context: LoweringContext, c: Contraction) -> bool:
    """Return True if the loop subtracts the zero points.

    If the cost rule decides this, the choice is recorded for a remark.
    """
    if not context.by_cost or not (c.a.has_zero_point or c.w.has_zero_point):
        return context.in_loop
    operands = [
        OperandCost(factor.extents, factor.has_zero_point, constant_values(factor, c.reduced) is not None)
        for factor in (c.a, c.w)
    ]
    choice = costs(c.outer, c.reduced, *operands)
    context.choices.append(str(choice))
    return choice.is_in_loop


# -- bias ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Bias:
    """A bias at the accumulator's scale, one value per output channel, and a bound of its magnitude."""

    tensor: Value
    signed: bool
    bound: int
    type: UniformType


def lower_bias(context: LoweringContext, value: Value, a: UniformType, w: UniformType, channels: Extent) -> Bias:
    """Emit a bias as integers at the accumulator's scale `sa * sw`, the product of the scales of `a` and `w`.

    A bias of this scale and zero point 0 is used as it is; any other bias is rescaled, with one rounding, by the
    `fixed` rule.

    Raises QuantTypeError if 64 bits do not hold every value of the bias at the accumulator's scale.
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
    largest = _largest(stored.astype(np.int64) - element.zero_points for stored in extremes)
    scaled = scale_fixed_exactly(nest, wide, multiplier, shift, channel, largest)
    return Bias(nest.finish(scaled)[0], True, bound, element)


def _bias_multipliers(element: UniformType, a: UniformType, w: UniformType, count: int) -> tuple[Array, Array]:
    """Return (M0, N) for each channel, so that `M0 / 2**N` is `sb / (sa * sw)`.

    sb, sa and sw are the channel's scales of the bias, `a` and `w`. (M0, N) is (1, 0) if sb equals `sa * sw` in
    float64.
    """
    multiplier, shift = np.ones(count, np.int64), np.zeros(count, np.int64)
    scales = np.broadcast_to(element.scales, count).tolist(), np.broadcast_to(w.scales, count).tolist()
    for i, (own, weight) in enumerate(zip(*scales, strict=True)):
        if own != a.scale * weight:
            ratio = Fraction(own) / (Fraction(a.scale) * Fraction(weight))
            multiplier[i], shift[i] = numerics.fixed_multiplier(ratio)
    return multiplier, shift


def _extremes(value: Value, element: UniformType, count: int) -> list[Array]:
    """Return one or two arrays of storage integers, such that rescaling them bounds the rescaled bias of each channel.

    They are the values of a constant bias, else the storage bounds of its type. The bounds hold because rescaling is
    monotonic.
    """
    stored = constant_storage(value)
    if stored is not None:
        return [stored]
    return [np.full(count, end, np.int64) for end in (element.storage_min, element.storage_max)]


def _largest(arrays: Iterable[Array]) -> int:
    return max((abs(int(v)) for array in arrays for v in array), default=0)


def add_bias(nest: LoopNest, acc: Value, bound: int | None, bias: Bias, channel: Indices) -> Value:
    """Emit the accumulator plus the bias: an i32 if `acc` is an i32 and the sum fits, else an i64.

    `bound` is the largest magnitude of the accumulator, or None if unknown. The bias is read at the indices `channel`.
    """
    nest.stage("bias")
    width = I32 if acc.type is I32 and bound is not None and bound + bias.bound < 1 << 31 else I64
    value = nest.read(bias.tensor, channel)
    if value.type is I64 and width is I32:
        value = nest.value("arith.trunci", (value,), I32)
    return nest.value("arith.addi", (nest.extend(acc, width), nest.extend(value, width, bias.signed)), width)


# -- the whole -------------------------------------------------------------------------------------------------------


def contract(context: LoweringContext, c: Contraction, bias: tuple[Bias, Indices] | None, r: Requantization) -> Value:
    """Emit a contraction with all its steps: sums of products, zero points, bias, and requantization to storage.

    Returns a tensor over the outer loops. `bias` is the bias with the indices at which it is read, expressions of the
    outer loops.
    """
    if c.bound is None:
        _assert_depth(context, c, None if bias is None else bias[0].type)
    sums, correct = accumulate(context, c)
    nest = LoopNest(context, "requantize", c.outer)
    acc = correct(nest, nest.read(sums, nest.loops))
    bound = c.bound
    if bias is not None:
        acc = add_bias(nest, acc, bound, *bias)
        bound = None if bound is None else bound + bias[0].bound
    if bound is not None:
        r = replace(r, bound=bound)
    return nest.finish(requantize(nest, acc, r))[0]


def _assert_depth(context: LoweringContext, c: Contraction, bias: UniformType | None) -> None:
    """Emit an assertion that a dynamic number of products is too small to overflow the accumulator.

    Nothing is emitted if even the largest possible tensor cannot overflow it. The verifier checks a static number.
    `bias` is the type of the bias.
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
