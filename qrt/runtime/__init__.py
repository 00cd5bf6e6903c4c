"""How a program runs: it is planned on kernels, or interpreted operation by operation.

- `Program` (`program.py`) is what users hold; a `PlanSource` (`plan_source.py`) gives it a `Plan` for the types of its
  inputs. `build.py` makes the plan of a prepared function, with the parts in `planner`.
- `fusion` has the passes that run before planning, `interpreter` the meaning of each operation, `saved` the files.
- Start with docs/internals/runtime.md, then `program.py`. Why an operation is not fused stands in its traits
  (`qrt/ops`) and in the pass that reads them.
- Imports `ir`, `ops` and what lies below.
"""

from qrt.runtime.planner.slots import Coverage
from qrt.runtime.ports import Port
from qrt.runtime.program import Program, compile

__all__ = ["Coverage", "Port", "Program", "compile"]


def __dir__() -> list[str]:
    return __all__
