"""clamp: the bounds, quantized by the default cast rule, on storage."""

import numpy as np

from qrt.ir import Operation, Value
from qrt.ops.clamp import stored_bounds
from qrt.ops.core import Attributes
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.parameters import Channels
from qrt.passes.lower_qrt.site import Site, uniform_type


def lower_clamp(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    t, stored = uniform_type(op.operands[0]), site.storage(op.operands[0])
    nest = Nest(site, "clamp", site.extents(stored))
    channels = Channels.of(t, nest.loops)
    value = nest.read(stored, nest.loops)
    suffix = "si" if t.is_signed else "ui"
    for name, bounds in zip(("max", "min"), stored_bounds(t, attributes), strict=True):
        bound = nest.parameter(np.reshape(bounds, channels.shape), value.type, channels.indices)
        value = nest.emit(f"arith.{name}{suffix}", (value, bound), value.type)
    return nest.finish(value)[0]
