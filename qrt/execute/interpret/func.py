"""``func``: calls. A function's body and ``func.return`` are the interpreter's own."""

from collections.abc import Sequence
from typing import Any

from qrt.execute.interpret.core import Handler
from qrt.ir import Operation
from qrt.ops.core import Array


def _call(op: Operation, operands: Sequence[Array], interpreter: Any) -> Sequence[Array]:
    results: Sequence[Array] = interpreter.call(interpreter.callee(op), operands)
    return results


HANDLERS: dict[str, Handler] = {"func.call": _call}
