"""softmax in its table form: the largest value, the table's entries, their exact sum, and one float64 quotient each."""

import numpy as np

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.numerics import softmax_table
from qrt.ops.core import Attributes, one_axis
from qrt.passes.elementwise import INDEX
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.requantize import round_float, to_storage
from qrt.passes.lower_qrt.site import F64, I32, I64, Site, tensor_type, uniform_type


def lower_softmax(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result."""
    x, element = (uniform_type(value) for value in (op.operands[0], op.results[0]))
    axis = one_axis("softmax", (tensor_type(op.operands[0]),), attributes)
    stored = site.storage(op.operands[0])
    sizes = site.extents(stored)
    rest = (*sizes[:axis], *sizes[axis + 1 :])

    def reduced(stage: str) -> tuple[Nest, tuple[Expression, ...]]:
        """A nest that reduces the axis, and how it indexes all elements."""
        nest = Nest(site, stage, rest, sizes[axis : axis + 1])
        *others, last = nest.loops
        return nest, (*others[:axis], last, *others[axis:])

    nest, at = reduced("largest")
    value = nest.read(stored, at)
    largest = nest.running(value.type, x.storage_min)
    (maxima,) = nest.finish(nest.emit(f"arith.max{'si' if x.is_signed else 'ui'}", (largest, value), value.type))

    site.stage("table")
    table = site.tensor(softmax_table(x.scale, float(attributes["beta"])), I32)
    nest = Nest(site, "table", sizes)
    others = (*nest.loops[:axis], *nest.loops[axis + 1 :])
    pair = [nest.extend(nest.read(t, i), I32, x.is_signed) for t, i in ((maxima, others), (stored, nest.loops))]
    distance = nest.emit("arith.index_cast", (nest.emit("arith.subi", pair, I32),), INDEX)
    (entries,) = nest.finish(nest.gather(table, [distance]))

    nest, at = reduced("sum")
    term = nest.extend(nest.read(entries, at), I64)
    (sums,) = nest.finish(nest.emit("arith.addi", (nest.running(I64, 0), term), I64))

    nest = Nest(site, "quotient", sizes)
    entry = nest.emit("arith.sitofp", (nest.extend(nest.read(entries, nest.loops), I64),), F64)
    total = nest.emit("arith.sitofp", (nest.read(sums, others),), F64)
    scaled = nest.emit("arith.mulf", (total, nest.constant(element.scale, F64)), F64)
    quotient = nest.emit("arith.divf", (entry, scaled), F64)
    zero_point = np.array(element.zero_point)
    integer = round_float(nest, quotient, "math.roundeven", zero_point, (), element)
    return nest.finish(to_storage(nest, integer, zero_point, (), element))[0]
