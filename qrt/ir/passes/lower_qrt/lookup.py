"""Lowering of lookup, lookup_interpolated, logistic and tanh to reads from tables.

lookup reads `table[q - least]` by a tensor.extract in the body of a loop. lookup_interpolated reads two neighbouring
entries and interpolates by the low bits. logistic and tanh of 16-bit values read a table of all results.
"""

from functools import partial

import qrt.numerics as numerics
from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I16, I32, I64, LoweringContext, uniform_type
from qrt.ir.passes.elementwise import INDEX
from qrt.numerics import INTERPOLATED_BITS
from qrt.ops.core import Attributes


def lower_lookup(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.lookup and return its result as storage integers. Raises QuantTypeError for an unranked operand."""
    x, (stored, table) = uniform_type(op.operands[0]), map(context.storage, op.operands)
    nest = LoopNest(context, "lookup", context.extents(stored))
    least, _ = x.default_bounds
    return nest.finish(entry_of(nest, nest.read(stored, nest.loops), table, least, x.is_signed))[0]


def entry_of(nest: LoopNest, value: Value, table: Value, least: int, is_signed: bool) -> Value:
    """Emit `table[value - least]`; `least` is the least storage value, `is_signed` the storage's signedness."""
    entry = nest.extend(value, I32, is_signed)
    if least:
        entry = nest.value("arith.subi", (entry, nest.constant(least, I32)), I32)
    return nest.gather(table, [nest.value("arith.index_cast", (entry,), INDEX)])


def lower_lookup_interpolated(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.lookup_interpolated and return its result as storage integers.

    Raises QuantTypeError for an unranked operand.
    """
    stored, table = map(context.storage, op.operands)
    nest = LoopNest(context, "lookup", context.extents(stored))
    value = interpolated(nest, table, nest.extend(nest.read(stored, nest.loops), I64))
    return nest.finish(nest.value("arith.trunci", (value,), I16))[0]


def interpolated(nest: LoopNest, table: Value, value: Value) -> Value:
    """Emit the linear interpolation, an i64, in a table of 513 i16 entries at `value`, from -2^15 to 2^15 - 1."""

    def emit(name: str, a: Value, b: Value | int) -> Value:
        return nest.value(f"arith.{name}", (a, nest.constant(b, I64) if isinstance(b, int) else b), I64)

    at = emit("addi", value, 1 << 15)
    entry = emit("shrsi", at, INTERPOLATED_BITS)
    base, following = (
        nest.extend(nest.gather(table, [nest.value("arith.index_cast", (place,), INDEX)]), I64)
        for place in (entry, emit("addi", entry, 1))
    )
    share = emit("muli", emit("subi", following, base), emit("andi", at, (1 << INTERPOLATED_BITS) - 1))
    rounded = emit("addi", share, 1 << (INTERPOLATED_BITS - 1))
    return emit("addi", base, emit("shrsi", rounded, INTERPOLATED_BITS))


def _lower_sigmoid(name: str, context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.logistic or qrt.tanh and return its result as storage integers.

    Raises QuantTypeError for an unranked operand.
    """
    stored = context.storage(op.operands[0])
    context.stage("table")
    table = context.dense(
        numerics.sigmoid_results(name, uniform_type(op.operands[0]).scale, attributes["requant"]), I16
    )
    nest = LoopNest(context, "lookup", context.extents(stored))
    return nest.finish(entry_of(nest, nest.read(stored, nest.loops), table, -(1 << 15), True))[0]


lower_logistic, lower_tanh = partial(_lower_sigmoid, "logistic"), partial(_lower_sigmoid, "tanh")
