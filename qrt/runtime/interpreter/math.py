"""Handlers of ``math`` on NumPy scalars and arrays."""

from qrt.ops.elementwise import BINDERS
from qrt.runtime.interpreter.arith import elementwise
from qrt.runtime.interpreter.core import Handler

HANDLERS: dict[str, Handler] = {name: elementwise for name in BINDERS if name.startswith("math.")}
