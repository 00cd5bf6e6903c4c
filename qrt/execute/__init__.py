"""Programs: planned and run on the kernels, or interpreted op by op."""

from qrt.execute.plan import Coverage
from qrt.execute.program import Port, Program, compile

__all__ = ["Coverage", "Port", "Program", "compile"]
