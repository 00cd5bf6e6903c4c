"""``arith`` on NumPy scalars and arrays."""

from typing import Any

from qrt.execute.interpret.core import Compiler, Function, Handler
from qrt.execute.operations import constant_array
from qrt.execute.values import as_tensor, of_rank
from qrt.ir import Operation
from qrt.ir.attributes import Attribute, OpaqueAttr
from qrt.ops.elementwise import BINDERS, bind


def _constant(op: Operation, compiler: Compiler) -> Function:
    value = of_rank(constant_array(op), op.results[0].type)
    return lambda: value


def elementwise(op: Operation, compiler: Compiler) -> Function:
    """Any op of ``arith`` or ``math`` that is computed element by element."""
    operands = [as_tensor(value.type).element for value in op.operands]
    results = [as_tensor(value.type).element for value in op.results]
    attributes = {name: _plain(value) for name, value in op.attributes.items()}
    return bind(op.name, operands, results, attributes, saturating=compiler.saturating)


def _plain(value: Attribute) -> Any:
    """Flags as they are spelled between the brackets."""
    return value.text.partition("<")[2].removesuffix(">") if isinstance(value, OpaqueAttr) else value.python


HANDLERS: dict[str, Handler] = {
    **{name: elementwise for name in BINDERS if name.startswith("arith.")},
    "arith.constant": _constant,
}
