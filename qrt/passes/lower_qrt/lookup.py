"""lookup: `table[q - least]`, a tensor.extract at an index that the body computes."""

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I32, Site, uniform_type


def lower_lookup(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    x, (stored, table) = uniform_type(op.operands[0]), map(site.storage, op.operands)
    nest = Nest(site, "lookup", site.extents(stored))
    entry = nest.extend(nest.read(stored, nest.loops), I32, x.is_signed)
    least, _ = x.default_bounds
    if least:
        entry = nest.emit("arith.subi", (entry, nest.constant(least, I32)), I32)
    entry = nest.emit("arith.index_cast", (entry,), INDEX)
    return nest.finish(nest.gather(table, [entry]))[0]
