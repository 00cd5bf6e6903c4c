"""Lowering of matmul with sub-channel weights: each block of K is summed, then the scaled sums are added.

The tensor of the blocks' sums has the block as its last dimension. The rule `fixed` multiplies each sum by an integer
multiplier, adds the products in 128 bits (two i64 halves), and rounds once. The rule `float32` multiplies each sum by
its scale in f32, and adds the products in ascending order of the blocks.
"""

from collections.abc import Callable, Sequence

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression, add, floordiv, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, I64, Extent, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.accumulate import accumulate
from qrt.ir.passes.lower_qrt.contraction import Contraction, Indices, ProductOperand, zero_points_of
from qrt.ir.passes.lower_qrt.requantize import (
    Requantization,
    add_128,
    round_float32,
    round_shift_128,
    shift_left,
    to_storage,
)
from qrt.ops.sub_channel import BlockParameters, block_parameters
from qrt.types import UniformType


def contract_blocks(context: LoweringContext, op: Operation, rule: str) -> Value:
    """Lower a qrt.matmul with sub-channel weights by a requantization rule; return its result as storage integers.

    Raises QuantTypeError for weights of dynamic shape.
    """
    a_type, w_type, element = (uniform_type(v) for v in (op.operands[0], op.operands[1], op.results[0]))
    depth, columns = tensor_type(op.operands[1]).shape or (None, None)
    if depth is None or columns is None:
        raise QuantTypeError(f"the shape of sub-channel weights must be static, got {op.operands[1].type}")
    bias_type = uniform_type(op.operands[2]) if len(op.operands) > 2 else None
    p = block_parameters(a_type, w_type, element, rule, depth, columns, bias_type)
    a, w = context.storage(op.operands[0]), context.storage(op.operands[1])
    bias = None if bias_type is None else (context.storage(op.operands[2]), bias_type)
    rows = [context.extent(a, axis) for axis in range(len(tensor_type(a).shape or ()) - 1)]
    c = _contraction((a, a_type), (w, w_type), rows, columns, (depth, p.k_block))
    sums, correct = accumulate(context, c)
    blocks = LoopNest(context, "requantize", c.outer[:-1], c.outer[-1:])
    value = correct(blocks, blocks.read(sums, blocks.loops))
    weigh = {"float32": _weigh_float32, "fixed": _weigh_fixed}[rule]
    totals, finish = weigh(blocks, value, p)
    nest = LoopNest(context, "requantize", c.outer[:-1])
    column = nest.loops[-1:]
    r = Requantization(p.requant, np.arange(columns), column, element)
    total = [nest.read(total, nest.loops) for total in totals]
    scaled = finish(nest, total, None if bias is None else _read_bias(nest, *bias), r)
    return nest.finish(to_storage(nest, scaled, r.of(p.requant.zero_point), column, element))[0]


def _read_bias(nest: LoopNest, bias: Value, element: UniformType) -> Value:
    """Return the bias of the nest's current column minus its zero point, as i64."""
    column = nest.loops[-1:]
    nest.stage("bias")
    value = nest.extend(nest.read(bias, column), I64, element.is_signed)
    zero_points = zero_points_of(element)
    if zero_points.any():
        value = nest.value("arith.subi", (value, nest.parameter(zero_points, I64, column)), I64)
    return value


def _contraction(
    a: tuple[Value, UniformType],
    w: tuple[Value, UniformType],
    rows: Sequence[Extent],
    columns: int,
    depth: tuple[int, int],
) -> Contraction:
    """Return the contraction with outer loops over rows, columns and blocks, which sums the products of each block.

    `depth` is (K, number of values of K in a block).
    """
    blocks = depth[0] // depth[1]
    lines: tuple[Expression, ...] = tuple(("d", i) for i in range(len(rows)))
    column, block = ("d", len(rows)), ("d", len(rows) + 1)

    def along(block: Expression, reduced: Indices) -> Expression:
        return add(multiply(block, depth[1]), reduced[0])

    def left(own: Indices, reduced: Indices) -> tuple[Expression, ...]:
        return (*own[:-1], along(own[-1], reduced))

    def right(own: Indices, reduced: Indices) -> tuple[Expression, ...]:
        return along(own[1], reduced), own[0]

    (a_tensor, a_type), (w_tensor, w_type) = a, w
    per_block = max(columns // max(w_type.scales_shape[1], 1), 1)
    zero_points = np.array(w_type.zero_points, np.int64).reshape(w_type.scales_shape)
    channel = tuple(
        0 if size == 1 else e for size, e in zip(zero_points.shape, (block, floordiv(column, per_block)), strict=True)
    )
    return Contraction(
        ProductOperand(a_tensor, a_type, (*lines, block), (*rows, blocks), left, zero_points_of(a_type), ()),
        ProductOperand(w_tensor, w_type, (column, block), (columns, blocks), right, zero_points, channel),
        (*rows, columns, blocks),
        (depth[1],),
        depth[0],
    )


Finish = Callable[[LoopNest, Sequence[Value], Value | None, Requantization], Value]
"""Adds the bias of a column to its total and scales the sum to an i64, in the nest that reads both.

The output zero point is not yet added.
"""


def _weigh_float32(blocks: LoopNest, value: Value, p: BlockParameters) -> tuple[list[Value], Finish]:
    """Emit the sum over blocks of `f32(block's sum) * scale`, in ascending order of the blocks.

    Returns the sum, and the function that adds a bias to it and rounds it.
    """
    column, block = blocks.loops[-2:]
    blocks.stage("requantize")
    total = blocks.running(F32, 0)
    scale = blocks.parameter(p.scale, F32, (block, column))
    term = blocks.value("arith.mulf", (blocks.value("arith.sitofp", (value,), F32), scale), F32)

    def finish(nest: LoopNest, total: Sequence[Value], bias: Value | None, r: Requantization) -> Value:
        (acc,) = total
        if bias is not None:
            scale = nest.parameter(p.bias_scale, F32, r.indices)
            term = nest.value("arith.mulf", (nest.value("arith.sitofp", (bias,), F32), scale), F32)
            acc = nest.value("arith.addf", (acc, term), F32)
        nest.stage("requantize")
        scale = nest.parameter(p.requant.scale_f32, F32, r.indices)
        return round_float32(nest, nest.value("arith.mulf", (acc, scale), F32), r)

    return blocks.finish(blocks.value("arith.addf", (total, term), F32)), finish


def _weigh_fixed(blocks: LoopNest, value: Value, p: BlockParameters) -> tuple[list[Value], Finish]:
    """Emit the exact 128-bit sum over blocks of `block's sum * M0`, as [low, high].

    Returns the sum, and the function that adds a bias to it and shifts it by N. A column with N > 62 has the result 0.
    """
    column, block = blocks.loops[-2:]
    beyond = p.requant.shift > 62
    shift = np.where(beyond, 0, p.requant.shift).astype(np.int64)
    blocks.stage("requantize")
    total = blocks.running(I64, 0), blocks.running(I64, 0)
    multiplier = blocks.parameter(np.where(beyond, 0, p.multiplier), I64, (block, column))
    term = blocks.emit("arith.mulsi_extended", (blocks.extend(value, I64), multiplier), (I64, I64)).results

    def finish(nest: LoopNest, total: Sequence[Value], bias: Value | None, r: Requantization) -> Value:
        low, high = total
        if bias is not None:
            multiplier = nest.parameter(np.where(beyond, 0, p.bias_multiplier), I64, r.indices)
            term = nest.emit("arith.mulsi_extended", (bias, multiplier), (I64, I64)).results
            low, high = add_128(nest, (low, high), term)
        nest.stage("requantize")
        scaled = round_shift_128(nest, low, high, shift, r.indices)
        return shift_left(nest, scaled, shift, r.indices)

    return blocks.finish(*add_128(blocks, total, term)), finish
