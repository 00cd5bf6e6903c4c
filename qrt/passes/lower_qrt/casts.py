"""requantize: `q - zp` to the result's type, any two types per layer, per axis or per block."""

from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.ops.requant import max_magnitude
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.parameters import Channels, centred, requantization
from qrt.passes.lower_qrt.requantize import requantize
from qrt.passes.lower_qrt.site import Site, accumulator_type, uniform_type
from qrt.types import UniformType


def lower_requantize(site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    return requantized(site, op.operands[0], uniform_type(op.results[0]), attributes["requant"])


def requantized(site: Site, x: Value, element: UniformType, rule: str) -> Value:
    """Storage of `x` as a tensor of another quantized type."""
    source, stored = uniform_type(x), site.storage(x)
    nest = Nest(site, "requantize", site.extents(stored))
    own, to = (Channels.of(t, nest.loops) for t in (source, element))
    acc = centred(nest, stored, nest.loops, own, accumulator_type(max_magnitude(source)))
    return nest.finish(requantize(nest, acc, requantization(rule, [own], to)))[0]
