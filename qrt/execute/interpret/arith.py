"""``arith`` on NumPy scalars and arrays."""

from qrt.execute.interpret.core import Compiler, Function, Handler
from qrt.execute.operations import constant_array
from qrt.execute.values import of_rank
from qrt.ir import Operation
from qrt.ir.scalars import bind_operation
from qrt.ops.elementwise import BINDERS


def _constant(op: Operation, compiler: Compiler) -> Function:
    value = of_rank(constant_array(op), op.results[0].type)
    return lambda: value


def elementwise(op: Operation, compiler: Compiler) -> Function:
    """Any op of ``arith`` or ``math`` that is computed element by element."""
    return bind_operation(op, saturating=compiler.saturating)


HANDLERS: dict[str, Handler] = {
    **{name: elementwise for name in BINDERS if name.startswith("arith.")},
    "arith.constant": _constant,
}
