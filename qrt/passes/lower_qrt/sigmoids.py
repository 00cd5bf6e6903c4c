"""logistic and tanh of 16-bit values: a table of all results."""

from functools import partial

import qrt.numerics as numerics
from qrt.ir import Operation, Value
from qrt.ops.core import Attributes
from qrt.passes.lower_qrt.lookup import entry_of
from qrt.passes.lower_qrt.nest import Nest
from qrt.passes.lower_qrt.site import I16, Site, uniform_type


def _lower(name: str, site: Site, op: Operation, attributes: Attributes) -> Value:
    """Storage of the result. Raises QuantTypeError for an operand without a rank."""
    stored = site.storage(op.operands[0])
    site.stage("table")
    table = site.tensor(numerics.sigmoid_results(name, uniform_type(op.operands[0]).scale, attributes["requant"]), I16)
    nest = Nest(site, "lookup", site.extents(stored))
    return nest.finish(entry_of(nest, nest.read(stored, nest.loops), table, -(1 << 15), True))[0]


lower_logistic, lower_tanh = partial(_lower, "logistic"), partial(_lower, "tanh")
