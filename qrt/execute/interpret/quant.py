"""``quant`` on arrays: casts by the plain rules of ``numerics``."""

from typing import Any

import numpy as np

from qrt.execute.interpret.core import Compiler, Function, Handler
from qrt.execute.interpret.qrt import bind_family
from qrt.execute.values import as_tensor, of_rank, storage_cast
from qrt.ir import Operation


def _storage_cast(op: Operation, compiler: Compiler) -> Function:
    declared = op.results[0].type
    source, target = as_tensor(op.operands[0].type).element, as_tensor(declared).element

    def run(operand: Any) -> Any:
        return of_rank(storage_cast(np.asarray(operand), source, target), declared)

    return run


HANDLERS: dict[str, Handler] = {
    **dict.fromkeys(("quant.qcast", "quant.dcast", "quant.cast", "quant.conv2d", "quant.matmul"), bind_family),
    "quant.scast": _storage_cast,
}
