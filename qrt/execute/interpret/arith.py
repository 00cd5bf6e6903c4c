"""``arith`` on arrays."""

from collections.abc import Sequence
from typing import Any

from qrt.execute.interpret.core import Handler
from qrt.execute.operations import constant_array
from qrt.ir import Operation
from qrt.ops.core import Array


def _constant(op: Operation, operands: Sequence[Array], interpreter: Any) -> Sequence[Array]:
    return [constant_array(op)]


HANDLERS: dict[str, Handler] = {"arith.constant": _constant}
