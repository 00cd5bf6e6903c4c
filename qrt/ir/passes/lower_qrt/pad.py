"""pad: a tensor.pad with the padding's value of each channel."""

from qrt.ir import Operation, Value
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.window import pad_tensor
from qrt.ops.core import Attributes
from qrt.ops.pad import channel_axis, stored_value


def lower_pad(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result."""
    t = tensor_type(op.operands[0]).element
    stored = context.storage(op.operands[0])
    context.stage("pad")
    padding = tuple((int(before), int(after)) for before, after in attributes["padding"])
    return pad_tensor(context, stored, padding, stored_value(t, attributes["value"]), channel_axis(t))
