"""Programs: planned and run on the kernels, or interpreted op by op."""

from qrt.runtime.planner.slots import Coverage
from qrt.runtime.ports import Port
from qrt.runtime.program import (Program, compile)

__all__ = ["Coverage", "Port", "Program", "compile"]
