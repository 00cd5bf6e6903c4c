"""Lowering of requantize, leaky_relu and prelu, which requantize each element once.

For leaky_relu and prelu the multiplier depends on the sign of `q - zp`.
"""

from dataclasses import replace

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import (
    I64,
    Extent,
    LoweringContext,
    accumulator_type,
    broadcast,
    broadcast_indices,
    uniform_type,
)
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.parameters import Channels, centred, requantization
from qrt.ir.passes.lower_qrt.requantize import Requantization, finish, requantize, scale
from qrt.numerics import RULES
from qrt.ops.core import Attributes
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.ops.requant import max_magnitude
from qrt.ops.slopes import slope_parameters
from qrt.types import IntegerType, UniformType


def lower_requantize(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.requantize and return its result as storage integers.

    Raises QuantTypeError for an unranked operand.
    """
    return requantized(context, op.operands[0], uniform_type(op.results[0]), attributes["requant"])


def requantized(context: LoweringContext, x: Value, element: UniformType, rule: str) -> Value:
    """Emit the requantization of `x` to the quantized type `element` by a rule, and return the storage integers."""
    source, stored = uniform_type(x), context.storage(x)
    sizes = context.extents(stored)
    behind = RULES[rule].behind
    whole = context.in_blocks(sizes) if behind else 0
    nest = LoopNest(context, "requantize", sizes)
    own, to = (Channels.of(t, nest.loops) for t in (source, element))
    acc = centred(nest, stored, nest.loops, own, accumulator_type(max_magnitude(source)))
    r = replace(requantization(rule, [own], to), bound=max_magnitude(source))
    if not behind:
        return nest.finish(requantize(nest, acc, r))[0]
    return nest.finish(_by_blocks(nest, acc, r, requantization(behind, [own], to), whole))[0]


def _by_blocks(nest: LoopNest, acc: Value, r: Requantization, tail: Requantization, whole: Extent) -> Value:
    """Requantize the accumulator by `r` if it is among the first `whole` elements of the tensor, else by `tail`."""
    if whole == 0:
        return requantize(nest, acc, tail)
    blocks, rest = scale(nest, acc, r), scale(nest, acc, tail)
    return finish(nest, nest.value("arith.select", (nest.is_before(whole), blocks, rest), I64), r)


_LESS = list(INTEGER_PREDICATES).index("slt")


def lower_leaky_relu(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.leaky_relu and return its result as storage integers.

    Raises QuantTypeError for an unranked operand.
    """
    x, element = (uniform_type(value) for value in (op.operands[0], op.results[0]))
    stored = context.storage(op.operands[0])
    nest = LoopNest(context, "accumulate", context.extents(stored))
    bound = max_magnitude(x)
    width = accumulator_type(bound)
    acc = centred(nest, stored, nest.loops, Channels(x), width)
    negative = _is_negative(nest, acc, width)
    return _finish(nest, acc, negative, (x, float(attributes["alpha"]), element), attributes, bound)


def lower_prelu(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.prelu and return its result as storage integers."""
    x, alpha, element = (uniform_type(value) for value in (*op.operands, op.results[0]))
    stored = [context.storage(value) for value in op.operands]
    sizes = [context.extents(value) for value in stored]
    nest = LoopNest(context, "accumulate", broadcast(context, *sizes))
    bound = max_magnitude(x) * max(max_magnitude(alpha), 1)
    width = accumulator_type(bound)
    acc, slope = (
        centred(nest, value, broadcast_indices(own, len(nest.parallel)), Channels(t), width)
        for value, own, t in zip(stored, sizes, (x, alpha), strict=True)
    )
    nest.stage("accumulate")
    negative = _is_negative(nest, acc, width)
    acc = nest.value("arith.select", (negative, nest.value("arith.muli", (acc, slope), width), acc), width)
    return _finish(nest, acc, negative, (x, alpha.scale, element), attributes, bound)


def _is_negative(nest: LoopNest, acc: Value, width: IntegerType) -> Value:
    return nest.compare(_LESS, acc, nest.constant(0, width))


def _finish(
    nest: LoopNest,
    acc: Value,
    negative: Value,
    slope: tuple[UniformType, float, UniformType],
    attributes: Attributes,
    bound: int,
) -> Value:
    """Requantize the accumulator `acc` of a leaky_relu or prelu, which has a multiplier for negative operands.

    `negative` is true where the operand is negative. `slope` is (type of the operand, slope, type of the result); for
    prelu, whose slopes are quantized, the second item is their scale. `bound` is the largest magnitude of `acc`.
    """
    index = nest.value("arith.index_castui", (negative,), INDEX)
    r = Requantization(slope_parameters(*slope, attributes), np.arange(2), (index,), slope[2], bound)
    return nest.finish(requantize(nest, acc, r))[0]
