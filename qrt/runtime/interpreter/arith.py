"""Handlers of ``arith`` on NumPy scalars and arrays."""

from typing import Any

import numpy as np

from qrt.errors import UndefinedError
from qrt.ir import Operation
from qrt.ir.constants import constant_array
from qrt.ir.dialects.arith.scalars import bind_operation
from qrt.ops.elementwise import BINDERS
from qrt.runtime.interpreter.core import Compiler, Function, Handler
from qrt.runtime.values import of_rank
from qrt.types import TensorType


def _constant(op: Operation, compiler: Compiler) -> Function:
    value = of_rank(constant_array(op), op.results[0].type)
    return lambda: value


def elementwise(op: Operation, compiler: Compiler) -> Function:
    """Return the function that computes an elementwise op of ``arith`` or ``math`` on NumPy scalars or arrays.

    The function raises UndefinedError if operands with dynamic dimensions differ in shape, which NumPy would broadcast.
    """
    function = bind_operation(op, saturating=compiler.saturating)
    tensors = {at: value.type for at, value in enumerate(op.operands) if isinstance(value.type, TensorType)}
    if len(tensors) < 2 or all(type.has_static_shape for type in tensors.values()):
        return function

    def same_sizes(*operands: Any) -> Any:
        shapes = [np.shape(operands[at]) for at in tensors]
        if any(shape != shapes[0] for shape in shapes):
            raise UndefinedError(
                f"the operands must have the same shape, got {', '.join(str(list(shape)) for shape in shapes)}"
            )
        return function(*operands)

    return same_sizes


HANDLERS: dict[str, Handler] = {
    **{name: elementwise for name in BINDERS if name.startswith("arith.")},
    "arith.constant": _constant,
}
