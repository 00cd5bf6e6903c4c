"""depthwise_conv2d: a convolution whose groups have one input channel each."""

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.ir.core.affine import floordiv
from qrt.ir.dialects.linalg.lowering import LoweringContext, tensor_type
from qrt.ir.passes.lower_qrt.conv import CHANNEL, convolve
from qrt.ops.core import Attributes


def lower_depthwise_conv2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError where the number of filters per channel is not known."""
    w = context.storage(op.operands[1])
    height, width, channels = (context.extent(w, axis) for axis in range(3))
    inputs = (tensor_type(op.operands[0]).shape or (None,) * 4)[3]
    if not isinstance(channels, int) or inputs is None:
        raise QuantTypeError(f"the channels of {op.operands[0].type} and {op.operands[1].type} must be known")
    group = floordiv(CHANNEL, max(channels // max(inputs, 1), 1))
    return convolve(context, op, attributes, w, (height, width), 1, channels, (group, inputs))
