"""Programs: planned and run on the kernels, or interpreted op by op."""

from qrt.execute.planning.slots import Coverage
from qrt.execute.ports import Port
from qrt.execute.program import Program, compile

__all__ = ["Coverage", "Port", "Program", "compile"]
