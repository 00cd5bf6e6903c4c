"""requantize: `q - zp` to the result's type, any two types per layer, per axis or per block."""

from dataclasses import replace

from qrt.dialects.linalg.loop_nest import LoopNest
from qrt.dialects.linalg.lowering import I64, Extent, LoweringContext, accumulator_type, uniform_type
from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude
from qrt.passes.lower_qrt.parameters import Channels, centred, requantization
from qrt.passes.lower_qrt.requantize import Requantization, finish, requantize, scale
from qrt.types import UniformType


def lower_requantize(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    return requantized(context, op.operands[0], uniform_type(op.results[0]), attributes["requant"])


def requantized(context: LoweringContext, x: Value, element: UniformType, rule: str) -> Value:
    """Storage of `x` as a tensor of another quantized type."""
    source, stored = uniform_type(x), context.storage(x)
    sizes = context.extents(stored)
    whole = context.in_blocks(sizes) if rule == "half_up_twice_16" else 0
    nest = LoopNest(context, "requantize", sizes)
    own, to = (Channels.of(t, nest.loops) for t in (source, element))
    acc = centred(nest, stored, nest.loops, own, accumulator_type(max_magnitude(source)))
    if rule != "half_up_twice_16":
        return nest.finish(requantize(nest, acc, requantization(rule, [own], to)))[0]
    return nest.finish(_by_blocks(nest, acc, requantization("half_up_twice", [own], to), whole))[0]


def _by_blocks(nest: LoopNest, acc: Value, r: Requantization, whole: Extent) -> Value:
    """`half_up_twice` of elements in whole blocks, `fixed_double` of those behind them."""
    tail = replace(r, parameters=replace(r.parameters, rule="fixed_double"))
    if whole == 0:
        return requantize(nest, acc, tail)
    blocks, rest = scale(nest, acc, r), scale(nest, acc, tail)
    return finish(nest, nest.value("arith.select", (nest.is_before(whole), blocks, rest), I64), r)
