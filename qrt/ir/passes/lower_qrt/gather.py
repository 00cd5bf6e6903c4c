"""gather and gather_nd: loops over the result that read at the positions that indices hold."""

from qrt.ir import Operation, Value
from qrt.ir.core.affine import Expression
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ir.passes.elementwise import INDEX
from qrt.ops.core import Attributes
from qrt.ops.gather import gathered_axes


def lower_gather(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result."""
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
    """Storage of the result."""
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
