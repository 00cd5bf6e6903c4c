"""scatter_nd: each element of the result looks through all rows of indices for those that name it."""

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I1, Site, tensor_type
from qrt.types import FloatType

_EQUAL = list(INTEGER_PREDICATES).index("eq")


def lower_scatter_nd(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Its time grows with the elements of the result times the rows."""
    indices = op.operands[1]
    stored, updates = site.storage(op.operands[0]), site.storage(op.operands[2])
    element = tensor_type(stored).element
    site.stage("scatter")
    *rows, depth = site.extents(indices)
    assert isinstance(depth, int)  # the verifier has seen that it is known
    extents = site.extents(stored)
    nest = Nest(site, "scatter", extents, rows or [1])
    kept, row = nest.loops[: len(extents)], nest.loops[len(extents) :][: len(rows)]
    is_named = nest.constant(1, I1)
    for axis in range(depth):
        position = nest.emit("arith.index_cast", (nest.read(indices, (*row, axis)),), INDEX)
        is_here = nest.compare(_EQUAL, position, nest.position(kept[axis]))
        is_named = nest.emit("arith.andi", (is_named, is_here), I1)
    before, part = nest.running(element, stored), nest.read(updates, (*row, *kept[depth:]))
    if attributes["reduction"] == "add":
        part = nest.emit("arith.addf" if isinstance(element, FloatType) else "arith.addi", (before, part), element)
    return nest.finish(nest.emit("arith.select", (is_named, part, before), element))[0]
