"""Lowering of `qrt.clamp` to a clamp of storage integers.

The bounds are floats in the op's attributes; they are quantized as casts quantize by default.
"""

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext, uniform_type
from qrt.ir.passes.lower_qrt.parameters import Channels
from qrt.ops.clamp import stored_bounds
from qrt.ops.core import Attributes


def lower_clamp(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.clamp and return its result as storage integers. Raises QuantTypeError for an unranked operand."""
    t, stored = uniform_type(op.operands[0]), context.storage(op.operands[0])
    nest = LoopNest(context, "clamp", context.extents(stored))
    channels = Channels.of(t, nest.loops)
    value = nest.read(stored, nest.loops)
    suffix = "si" if t.is_signed else "ui"
    for name, bounds in zip(("max", "min"), stored_bounds(t, attributes), strict=True):
        bound = nest.parameter(np.reshape(bounds, channels.shape), value.type, channels.indices)
        value = nest.value(f"arith.{name}{suffix}", (value, bound), value.type)
    return nest.finish(value)[0]
