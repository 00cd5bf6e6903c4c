"""Lowering of float_matmul with float weights, or weights that are dequantized first.

Each sum over K is computed as LANES partial sums: partial sum i is a chain of fused multiply-adds over k = i, i +
LANES, ... A binary tree adds the partial sums.
"""

import numpy as np

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, LoweringContext, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.mixed_matmul import mixed_sums
from qrt.ir.passes.lower_qrt.parameters import Channels
from qrt.ir.passes.lower_qrt.window import pad_behind
from qrt.numerics import round_to_format
from qrt.ops.core import Attributes
from qrt.ops.float_matmul import LANES, sums_integers
from qrt.types import UniformType


def lower_float_matmul(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.float_matmul and return its result. Raises QuantTypeError for a dynamic contracted dimension."""
    a, w, *bias = op.operands
    depth = (tensor_type(w).shape or (None,))[0]
    if depth is None or (tensor_type(a).shape or (None,))[-1] is None:
        raise QuantTypeError(
            f"the contracted dimension must be static, because it is padded to a multiple of {LANES}, got {a.type} "
            f"and {w.type}"
        )
    steps = -(-depth // LANES)
    if sums_integers(tensor_type(w).element):
        return mixed_sums(context, a, w, bias)
    weights = _dequantized(context, w) if isinstance(tensor_type(w).element, UniformType) else w
    *rows, _ = context.extents(a)
    column = context.extent(weights, 1)
    context.stage("accumulate")
    a, weights = (pad_behind(context, x, axis, steps * LANES - depth) for x, axis in ((a, len(rows)), (weights, 0)))

    nest = LoopNest(context, "accumulate", [*rows, column, LANES], [steps])
    *row, j, lane, step = nest.loops
    k = add(multiply(step, LANES), lane)
    operands = nest.read(a, [*row, k]), nest.read(weights, [k, j]), nest.running(F32, 0.0)
    (lanes,) = nest.finish(nest.value("math.fma", operands, F32))

    nest = LoopNest(context, "accumulate", [*rows, column])
    sums = [nest.read(lanes, [*nest.loops, number]) for number in range(LANES)]
    while len(sums) > 1:
        half = len(sums) // 2
        sums = [nest.value("arith.addf", pair, F32) for pair in zip(sums[:half], sums[half:], strict=True)]
    if bias:
        nest.stage("bias")
        sums = [nest.value("arith.addf", (sums[0], nest.read(bias[0], nest.loops[-1:])), F32)]
    return nest.finish(sums[0])[0]


def _dequantized(context: LoweringContext, w: Value) -> Value:
    t, stored = uniform_type(w), context.storage(w)
    nest = LoopNest(context, "dequantize", context.extents(stored))
    channels = Channels.of(t, nest.loops)
    value = nest.value("arith.sitofp" if t.is_signed else "arith.uitofp", (nest.read(stored, nest.loops),), F32)
    zero_points = round_to_format(channels.zero_points(), "f32")
    if zero_points.any():
        value = nest.value("arith.subf", (value, nest.parameter(zero_points, F32, channels.indices)), F32)
    scales = round_to_format(np.array(t.scales).reshape(channels.shape), "f32")
    return nest.finish(nest.value("arith.mulf", (value, nest.parameter(scales, F32, channels.indices)), F32))[0]
