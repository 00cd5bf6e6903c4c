"""``quant`` on arrays: casts by the plain rules of ``numerics``."""

from collections.abc import Sequence
from typing import Any

from qrt.execute.interpret.core import Handler
from qrt.execute.interpret.qrt import run_family
from qrt.execute.values import as_tensor, storage_cast
from qrt.ir import Operation
from qrt.ops.core import Array


def _storage_cast(op: Operation, operands: Sequence[Array], interpreter: Any) -> Sequence[Array]:
    source, target = as_tensor(op.operands[0].type), as_tensor(op.results[0].type)
    return [storage_cast(operands[0], source.element, target.element)]


HANDLERS: dict[str, Handler] = {
    "quant.qcast": run_family,
    "quant.dcast": run_family,
    "quant.scast": _storage_cast,
}
