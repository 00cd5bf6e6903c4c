"""``arith`` on arrays."""

from qrt.execute.interpret.core import Compiler, Function, Handler
from qrt.execute.operations import constant_array
from qrt.execute.values import of_rank
from qrt.ir import Operation


def _constant(op: Operation, compiler: Compiler) -> Function:
    value = of_rank(constant_array(op), op.results[0].type)
    return lambda: value


HANDLERS: dict[str, Handler] = {"arith.constant": _constant}
