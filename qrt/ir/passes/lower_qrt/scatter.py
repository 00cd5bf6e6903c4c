"""scatter_nd: each element of the result looks through all rows of indices for those that name it."""

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import FloatType

_EQUAL = list(INTEGER_PREDICATES).index("eq")


def lower_scatter_nd(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Its time grows with the elements of the result times the rows."""
    indices = op.operands[1]
    stored, updates = context.storage(op.operands[0]), context.storage(op.operands[2])
    element = tensor_type(stored).element
    context.stage("scatter")
    *rows, depth = context.extents(indices)
    assert isinstance(depth, int)  # the verifier has seen that it is known
    extents = context.extents(stored)
    nest = LoopNest(context, "scatter", extents, rows or [1])
    kept, row = nest.loops[: len(extents)], nest.loops[len(extents) :][: len(rows)]
    is_named = nest.constant(1, I1)
    for axis in range(depth):
        position = nest.value("arith.index_cast", (nest.read(indices, (*row, axis)),), INDEX)
        is_here = nest.compare(_EQUAL, position, nest.position(kept[axis]))
        is_named = nest.value("arith.andi", (is_named, is_here), I1)
    before, part = nest.running(element, stored), nest.read(updates, (*row, *kept[depth:]))
    if attributes["reduction"] == "add":
        part = nest.value("arith.addf" if isinstance(element, FloatType) else "arith.addi", (before, part), element)
    return nest.finish(nest.value("arith.select", (is_named, part, before), element))[0]
