"""``qrt`` on arrays: every op family by its reference."""

from collections.abc import Sequence
from typing import Any

from qrt.execute.interpret.core import Handler
from qrt.execute.operations import family_call
from qrt.execute.values import as_tensor
from qrt.ir import Operation
from qrt.ops import FAMILIES
from qrt.ops.core import Array, element_dtype
from qrt.types import TensorType


def run_family(op: Operation, operands: Sequence[Array], interpreter: Any) -> Sequence[Array]:
    types = [TensorType(a.shape, as_tensor(v.type).element) for a, v in zip(operands, op.operands, strict=True)]
    family, attributes, result = family_call(op, types)
    values = family.reference(operands, tuple(types), result, attributes)
    return [values.astype(element_dtype(result.element))]


HANDLERS: dict[str, Handler] = {f"qrt.{name}": run_family for name in FAMILIES}
