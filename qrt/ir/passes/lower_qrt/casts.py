"""requantize: `q - zp` to the result's type, any two types per layer, per axis or per block."""

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I64, Extent, LoweringContext, accumulator_type, uniform_type
from qrt.ir.passes.lower_qrt.parameters import Channels, centred, requantization
from qrt.ir.passes.lower_qrt.requantize import Requantization, finish, requantize, scale
from qrt.numerics import RULES
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude
from qrt.types import UniformType


def lower_requantize(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    return requantized(context, op.operands[0], uniform_type(op.results[0]), attributes["requant"])


def requantized(context: LoweringContext, x: Value, element: UniformType, rule: str) -> Value:
    """Storage of `x` as a tensor of another quantized type."""
    source, stored = uniform_type(x), context.storage(x)
    sizes = context.extents(stored)
    behind = RULES[rule].behind
    whole = context.in_blocks(sizes) if behind else 0
    nest = LoopNest(context, "requantize", sizes)
    own, to = (Channels.of(t, nest.loops) for t in (source, element))
    acc = centred(nest, stored, nest.loops, own, accumulator_type(max_magnitude(source)))
    r = requantization(rule, [own], to)
    if not behind:
        return nest.finish(requantize(nest, acc, r))[0]
    return nest.finish(_by_blocks(nest, acc, r, requantization(behind, [own], to), whole))[0]


def _by_blocks(nest: LoopNest, acc: Value, r: Requantization, tail: Requantization, whole: Extent) -> Value:
    """Storage of elements in whole blocks, or by `tail` of those behind them."""
    if whole == 0:
        return requantize(nest, acc, tail)
    blocks, rest = scale(nest, acc, r), scale(nest, acc, tail)
    return finish(nest, nest.value("arith.select", (nest.is_before(whole), blocks, rest), I64), r)
