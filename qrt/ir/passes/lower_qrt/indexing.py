"""Lowering of gather, gather_nd and scatter_nd to loops over the elements of the result.

For a gather, the loops read the operand at positions that the indices give. For a scatter, they search all indices for
the position of the result's element.
"""

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I1, LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes
from qrt.ops.elementwise import FLOAT_PREDICATES, INTEGER_PREDICATES
from qrt.ops.gather import gathered_axes
from qrt.types import FloatType


def lower_gather(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.gather and return its result (storage integers if it is quantized)."""
    x, indices = op.operands
    axis, batch = gathered_axes((tensor_type(x), tensor_type(indices)), attributes)
    stored = context.storage(x)
    context.stage("gather")
    data, chosen = context.extents(stored), context.extents(indices)
    nest = LoopNest(context, "gather", [*data[:axis], *chosen[batch:], *data[axis + 1 :]])
    rows = nest.loops[axis : axis + len(chosen) - batch]
    index = _index(nest, indices, (*nest.loops[:batch], *rows))
    return nest.finish(nest.gather(stored, [*nest.loops[:axis], index, *nest.loops[axis + len(rows) :]]))[0]


def lower_gather_nd(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.gather_nd and return its result (storage integers if it is quantized)."""
    x, indices = op.operands
    depth = (tensor_type(indices).shape or ())[-1]
    assert depth is not None  # the verifier has seen that it is known
    stored = context.storage(x)
    context.stage("gather")
    chosen = context.extents(indices)[:-1]
    nest = LoopNest(context, "gather", [*chosen, *context.extents(stored)[depth:]])
    rows, rest = nest.loops[: len(chosen)], nest.loops[len(chosen) :]
    return nest.finish(nest.gather(stored, [*(_index(nest, indices, (*rows, c)) for c in range(depth)), *rest]))[0]


def _index(nest: LoopNest, indices: Value, at: tuple[Expression, ...]) -> Value:
    return nest.value("arith.index_cast", (nest.read(indices, at),), INDEX)


_EQUAL = list(INTEGER_PREDICATES).index("eq")
_OPERATIONS = {"add": "add", "mul": "mul", "max": "gt", "min": "lt"}
"""The operation of a reduction of scatter_nd, or the predicate by which an element remains."""


def lower_scatter_nd(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.scatter_nd and return its result (storage integers if it is quantized).

    The lowered program's time is proportional to the result's size times the number of updates.
    """
    indices = op.operands[1]
    stored, updates = context.storage(op.operands[0]), context.storage(op.operands[2])
    element = tensor_type(stored).element
    context.stage("scatter")
    *rows, depth = context.extents(indices)
    assert isinstance(depth, int)  # the verifier has seen that it is known
    extents = context.extents(stored)
    nest = LoopNest(context, "scatter", extents, rows or [1])
    target, row = nest.loops[: len(extents)], nest.loops[len(extents) :][: len(rows)]
    is_named = nest.constant(1, I1)
    for axis in range(depth):
        position = nest.value("arith.index_cast", (nest.read(indices, (*row, axis)),), INDEX)
        is_here = nest.compare(_EQUAL, position, nest.position(target[axis]))
        is_named = nest.value("arith.andi", (is_named, is_here), I1)
    before, part = nest.running(element, stored), nest.read(updates, (*row, *target[depth:]))
    part = _combined(nest, attributes["reduction"], before, part)
    return nest.finish(nest.value("arith.select", (is_named, part, before), element))[0]


def _combined(nest: LoopNest, reduction: str, before: Value, update: Value) -> Value:
    """Add the operations that combine an element with an update, and return the result."""
    if reduction == "none":
        return update
    element, name = before.type, _OPERATIONS[reduction]
    is_float = isinstance(element, FloatType)
    if reduction in ("add", "mul"):
        return nest.value(f"arith.{name}{'f' if is_float else 'i'}", (before, update), element)
    if is_float:
        remains = nest.compare_floats(list(FLOAT_PREDICATES).index(f"o{name}"), before, update)
    else:
        remains = nest.compare(list(INTEGER_PREDICATES).index(f"s{name}"), before, update)
    return nest.value("arith.select", (remains, before, update), element)
