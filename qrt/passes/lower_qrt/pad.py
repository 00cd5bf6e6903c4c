"""pad: a tensor.pad with the padding's value of each channel."""

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.ops.pad import channel_axis, stored_value
from qrt.passes.lower_qrt.site import Site, tensor_type
from qrt.passes.lower_qrt.window import pad_tensor


def lower_pad(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result."""
    t = tensor_type(op.operands[0]).element
    stored = site.storage(op.operands[0])
    site.stage("pad")
    padding = tuple((int(before), int(after)) for before, after in attributes["padding"])
    return pad_tensor(site, stored, padding, stored_value(t, attributes["value"]), channel_axis(t))
