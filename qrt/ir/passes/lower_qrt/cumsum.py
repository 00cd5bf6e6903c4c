"""cumsum: each element of the result sums what stands before it along the axis."""

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ops.core import Attributes, one_axis
from qrt.ops.elementwise import INTEGER_PREDICATES
from qrt.types import FloatType

_PREDICATES = list(INTEGER_PREDICATES)


def lower_cumsum(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """The result, in time that grows with the square of the axis. Raises QuantTypeError where a sum begins at an end
    that is not known."""
    (x,) = op.operands
    axis = one_axis("cumsum", (tensor_type(x),), attributes)
    extents, element = context.extents(x), tensor_type(x).element
    context.stage("accumulate")
    nest = LoopNest(context, "accumulate", extents, [extents[axis]])
    *kept, step = nest.loops
    place, own = step, nest.position(kept[axis])
    if attributes["reverse"]:
        size = extents[axis]
        if not isinstance(size, int):
            raise QuantTypeError(f"the axis {axis} of {x.type} must be known, as sums begin at its end")
        place = add(multiply(step, -1), size - 1)
        own = nest.value("arith.subi", (nest.constant(size - 1, own.type), own), own.type)
    value = nest.read(x, [place if d == axis else loop for d, loop in enumerate(kept)])
    total = nest.running(element, 0)
    taken = nest.value("arith.addf" if isinstance(element, FloatType) else "arith.addi", (total, value), element)
    predicate = _PREDICATES.index("slt" if attributes["exclusive"] else "sle")
    is_before = nest.compare(predicate, nest.position(step), own)
    return nest.finish(nest.value("arith.select", (is_before, taken, total), element))[0]
