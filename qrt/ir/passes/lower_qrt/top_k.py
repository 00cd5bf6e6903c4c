"""top_k: how many elements come before each one, then for each place of the result the one with so many."""

from collections.abc import Sequence

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, I32, I64, LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.extremes import is_beyond
from qrt.ops.core import Attributes

_EQ, _SLT = 0, 2
"""Predicates of arith.cmpi: equal, and less as signed numbers."""


def lower_top_k(context: LoweringContext, op: Operation, attributes: Attributes) -> Sequence[Value]:
    """Storage of the values, and the indices."""
    stored, element = context.storage(op.operands[0]), tensor_type(op.operands[0]).element
    *rest, size = context.extents(stored)
    nest = LoopNest(context, "order", [*rest, size], [size])
    *outer, here, other = nest.loops
    mine, its = nest.read(stored, (*outer, here)), nest.read(stored, (*outer, other))
    before, behind = (is_beyond(nest, element, False, *pair) for pair in ((its, mine), (mine, its)))
    earlier = nest.compare(_SLT, *(nest.value("arith.index_cast", (nest.position(i),), I64) for i in (other, here)))
    level = nest.value("arith.xori", (nest.value("arith.ori", (before, behind), I1), nest.constant(1, I1)), I1)
    first = nest.value("arith.ori", (before, nest.value("arith.andi", (level, earlier), I1)), I1)
    counted = nest.value("arith.extui", (first,), I32)
    (places,) = nest.finish(nest.value("arith.addi", (nest.running(I32, 0), counted), I32))

    nest = LoopNest(context, "select", [*rest, int(attributes["k"])], [size])
    *outer, wanted, other = nest.loops
    place = nest.read(places, (*outer, other))
    found = nest.compare(_EQ, place, nest.value("arith.index_cast", (nest.position(wanted),), I32))
    number = nest.value("arith.index_cast", (nest.position(other),), I32)
    chosen = [
        nest.value("arith.select", (found, value, so_far), value.type)
        for value in (nest.read(stored, (*outer, other)), number)
        for so_far in (nest.running(value.type, 0),)
    ]
    return nest.finish(*chosen)
