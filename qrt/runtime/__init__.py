"""Execution of programs: planned on kernels, or interpreted operation by operation.

- `Program` (`program.py`) is the class for users. It gets the `Plan` for given input types from a `PlanSource`
  (`plan_source.py`). `ModuleSource` (`module_source.py`) plans a function of a module with `build.py` and `planner`.
  `SavedSource` (`saved/source.py`) reads plans from a file, and needs neither IR nor planner.
- `codegen` makes plans of machine code, for `qrt.compile` with ``codegen``; it needs llvmlite.
- `fusion` has the passes that run before planning, `interpreter` a reference implementation of each operation, and
  `saved` the file format of saved programs.
- Start with docs/internals/runtime.md, then `program.py`. To see why an operation is not fused, read its traits
  (`qrt/ops`) and the fusion pass that reads them.
- Imports `ir`, `ops` and the packages below them.
"""

from qrt.runtime.coverage import Coverage
from qrt.runtime.ports import Port
from qrt.runtime.program import Program

__all__ = ["Coverage", "Port", "Program"]


def __dir__() -> list[str]:
    return __all__
