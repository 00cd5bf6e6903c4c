"""``math`` on NumPy scalars and arrays."""

from qrt.execute.interpret.arith import elementwise
from qrt.execute.interpret.core import Handler
from qrt.ops.elementwise import BINDERS

HANDLERS: dict[str, Handler] = {name: elementwise for name in BINDERS if name.startswith("math.")}
