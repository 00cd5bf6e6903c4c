"""Lowering of maximum and minimum to one `arith` op, and of div and squared_difference to reads from a table.

The table has an entry for each pair of 8-bit operands. Quotients of wider operands are computed.
"""

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import (
    I32,
    LoweringContext,
    broadcast,
    broadcast_indices,
    tensor_type,
    uniform_type,
)
from qrt.ir.passes.elementwise import INDEX
from qrt.ir.passes.lower_qrt.quotients import emit_quotient
from qrt.ops.core import Attributes
from qrt.ops.pairwise import is_tabulated, table_of_pairs
from qrt.types import IntegerType


def lower_maximum(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.maximum and return the larger values as storage integers."""
    return _extreme(context, op, "max")


def lower_minimum(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.minimum and return the smaller values as storage integers."""
    return _extreme(context, op, "min")


def lower_div(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.div and return the quotients as storage integers."""
    a, b = map(uniform_type, op.operands)
    if is_tabulated(a, b):
        return _from_table(context, op, attributes)
    nest, values = _read(context, op, "quotient")
    return nest.finish(emit_quotient(nest, values, (a, b, uniform_type(op.results[0])), attributes["requant"]))[0]


def lower_squared_difference(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.squared_difference and return its result as storage integers."""
    return _from_table(context, op, attributes)


def _read(context: LoweringContext, op: Operation, stage: str) -> tuple[LoopNest, list[Value]]:
    """Return a loop nest over the result, and in its body the stored element of each (broadcast) operand."""
    stored = [context.storage(value) for value in op.operands]
    sizes = [context.extents(value) for value in stored]
    nest = LoopNest(context, stage, broadcast(context, *sizes))
    at = [broadcast_indices(own, len(nest.parallel)) for own in sizes]
    return nest, [nest.read(value, indices) for value, indices in zip(stored, at, strict=True)]


def _extreme(context: LoweringContext, op: Operation, name: str) -> Value:
    t = uniform_type(op.operands[0])
    nest, values = _read(context, op, name)
    assert isinstance(t.storage_type, IntegerType)  # programs with other storage do not run
    return nest.finish(nest.value(f"arith.{name}{'si' if t.is_signed else 'ui'}", values, t.storage_type))[0]


def _from_table(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    types, element = tuple(map(tensor_type, op.operands)), uniform_type(op.results[0])
    context.stage("table")
    name = op.name.removeprefix("qrt.")
    values = table_of_pairs(name, types, tensor_type(op.results[0]), attributes)
    table = context.dense(values, element.storage_type)
    nest, operands = _read(context, op, "lookup")
    indices = []
    for value, operand in zip(operands, op.operands, strict=True):
        byte = nest.extend(value, I32, uniform_type(operand).is_signed)
        byte = nest.value("arith.andi", (byte, nest.constant(255, I32)), I32)
        indices.append(nest.value("arith.index_cast", (byte,), INDEX))
    return nest.finish(nest.gather(table, indices))[0]
