"""logistic and tanh of 16-bit values: a table of all results."""

from functools import partial

import qrt.numerics as numerics
from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import I16, LoweringContext, uniform_type
from qrt.ir.passes.lower_qrt.lookup import entry_of
from qrt.ops.core import Attributes


def _lower(name: str, context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    stored = context.storage(op.operands[0])
    context.stage("table")
    table = context.dense(
        numerics.sigmoid_results(name, uniform_type(op.operands[0]).scale, attributes["requant"]), I16
    )
    nest = LoopNest(context, "lookup", context.extents(stored))
    return nest.finish(entry_of(nest, nest.read(stored, nest.loops), table, -(1 << 15), True))[0]


lower_logistic, lower_tanh = partial(_lower, "logistic"), partial(_lower, "tanh")
