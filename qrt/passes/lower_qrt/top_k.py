"""top_k: how many elements come before each one, then for each place of the result the one with so many."""

from collections.abc import Sequence

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.passes.lower_qrt.extremes import is_beyond
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I1, I32, I64, Site, tensor_type

_EQ, _SLT = 0, 2
"""Predicates of arith.cmpi: equal, and less as signed numbers."""


def lower_top_k(site: Site, op: Operation, attributes: Attributes) -> Sequence[Value]:
    """Storage of the values, and the indices."""
    stored, element = site.storage(op.operands[0]), tensor_type(op.operands[0]).element
    *rest, size = site.extents(stored)
    nest = Nest(site, "order", [*rest, size], [size])
    *outer, here, other = nest.loops
    mine, its = nest.read(stored, (*outer, here)), nest.read(stored, (*outer, other))
    before, behind = (is_beyond(nest, element, False, *pair) for pair in ((its, mine), (mine, its)))
    earlier = nest.compare(_SLT, *(nest.emit("arith.index_cast", (nest.position(i),), I64) for i in (other, here)))
    level = nest.emit("arith.xori", (nest.emit("arith.ori", (before, behind), I1), nest.constant(1, I1)), I1)
    first = nest.emit("arith.ori", (before, nest.emit("arith.andi", (level, earlier), I1)), I1)
    counted = nest.emit("arith.extui", (first,), I32)
    (places,) = nest.finish(nest.emit("arith.addi", (nest.running(I32, 0), counted), I32))

    nest = Nest(site, "select", [*rest, int(attributes["k"])], [size])
    *outer, wanted, other = nest.loops
    place = nest.read(places, (*outer, other))
    found = nest.compare(_EQ, place, nest.emit("arith.index_cast", (nest.position(wanted),), I32))
    number = nest.emit("arith.index_cast", (nest.position(other),), I32)
    chosen = [
        nest.emit("arith.select", (found, value, so_far), value.type)
        for value in (nest.read(stored, (*outer, other)), number)
        for so_far in (nest.running(value.type, 0),)
    ]
    return nest.finish(*chosen)
