"""`math`: rounding to an integral float, and what else lowered code needs of one float operand."""

from qrt.ir.define import Definition
from qrt.ir.dialects.arith import elementwise
from qrt.ir.dialects.syntax import is_float


def _op(name: str) -> Definition:
    return elementwise(f"math.{name}", 1, is_float, "floating-point-like", "fastmath", set())


OPS = [_op(name) for name in ("roundeven", "round", "trunc", "floor", "ceil", "absf")]
