"""matmul with sub-channel weights: the reduction split by blocks, whose sums are weighted and added."""

from qrt.errors import QuantTypeError
from qrt.ir import Operation, Value
from qrt.passes.lower_qrt.site import Site


def contract_blocks(site: Site, op: Operation, rule: str) -> Value:
    """Raises QuantTypeError: sub-channel weights are not lowered."""
    raise QuantTypeError(f"sub-channel weights {op.operands[1].type} are not lowered")
