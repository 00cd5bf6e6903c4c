"""Lowering of svdf. The lowering of lstm also uses its functions for sums of products and for scaling to 16 bits."""

from qrt.ir import Operation, Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I8, I16, I64, Extent, LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.gemmlowp import Fixed
from qrt.ir.passes.lower_qrt.requantize import clamp
from qrt.ir.passes.lower_qrt.transpose_conv import static_slice
from qrt.ops.core import Attributes
from qrt.ops.recurrent import svdf_parameters

INT16_RANGE = -(1 << 15), (1 << 15) - 1
"""The least and the greatest signed 16-bit integer."""


def saturated(nest: LoopNest, x: Value) -> Value:
    """Clamp `x`, an i64, to the range of 16 bits."""
    return clamp(nest, x, *INT16_RANGE)


def scaled(nest: LoopNest, x: Value, multiplier: tuple[int, int]) -> Value:
    """Emit `x * M0 * 2**(shift - 31)`, where `multiplier` is (M0, shift). `x` is saturated to 32 bits first."""
    fixed = Fixed(nest)
    return fixed.scale(fixed.saturate(x), *multiplier)


def products(
    context: LoweringContext, x: Value, w: Value, batch: Extent, rows: Extent, zero_point: int, *, is_step: bool
) -> Value:
    """Emit the sums of `(x - zero_point) * w` over the last axis of `x` and of `w` [rows, depth]: an i64 [batch, rows].

    `x` is [batch, depth], or has the step as an extra axis of size 1: the first axis if `is_step`, else the second.
    """
    depth = context.extent(w, 1)
    nest = LoopNest(context, "accumulate", (batch, rows), (depth,))
    b, row, k = nest.loops
    shape = tensor_type(x).shape or ()
    at = (b, k) if len(shape) == 2 else (0, b, k) if is_step else (b, 0, k)
    value = nest.extend(nest.read(x, at), I64)
    value = nest.value("arith.subi", (value, nest.constant(zero_point, I64)), I64)
    term = nest.value("arith.muli", (value, nest.extend(nest.read(w, (row, k)), I64)), I64)
    return nest.finish(nest.value("arith.addi", (nest.running(I64, 0), term), I64))[0]


def lower_svdf(context: LoweringContext, op: Operation, attributes: Attributes) -> list[Value]:
    """Lower a qrt.svdf and return its results as storage integers: [result, new state]."""
    types = tuple(map(tensor_type, op.operands))
    p, rank = svdf_parameters(types, tuple(map(tensor_type, op.results))), int(attributes["rank"])
    x, feature, time, state, *bias = (context.storage(value) for value in op.operands)
    batch = context.extent(x, 0)
    filters, memory = types[2].shape or ()
    assert filters is not None  # the family needs both
    assert memory is not None
    features = products(context, x, feature, batch, filters, p.input_zero_point, is_step=False)
    nest = LoopNest(context, "feature", (batch, filters))
    newest = saturated(nest, scaled(nest, nest.read(features, nest.loops), p.feature))
    (newest,) = nest.finish(nest.value("arith.trunci", (newest,), I16))
    after = state
    context.stage("state")
    if filters * memory > 1:  # each filter's last place gets the first of the next one, until the newest stands there
        sizes = batch, filters * memory - 1
        moved = static_slice(context, "tensor.extract_slice", (state,), (0, 1), sizes, (1, 1))
        after = static_slice(context, "tensor.insert_slice", (moved, state), (0, 0), sizes, (1, 1))
    places = (0, memory - 1), (batch, filters), (1, memory)
    after = static_slice(context, "tensor.insert_slice", (newest, after), *places)
    nest = LoopNest(context, "accumulate", (batch, filters // rank), (rank, memory))
    b, unit, r, moment = nest.loops
    row = add(multiply(unit, rank), r)
    place = add(multiply(row, memory), moment)
    pair = [nest.extend(nest.read(tensor, at), I64) for tensor, at in ((after, (b, place)), (time, (row, moment)))]
    term = nest.value("arith.muli", pair, I64)
    (sums,) = nest.finish(nest.value("arith.addi", (nest.running(I64, 0), term), I64))
    nest = LoopNest(context, "requantize", (batch, filters // rank))
    total = nest.read(sums, nest.loops)
    if bias:
        total = nest.value("arith.addi", (total, nest.extend(nest.read(bias[0], nest.loops[1:]), I64)), I64)
    output = Fixed(nest).add(scaled(nest, total, p.result), p.result_zero_point)
    (y,) = nest.finish(nest.value("arith.trunci", (clamp(nest, output, -128, 127),), I8))
    return [y, after]
