"""The constants of a plan, computed before it is made."""

from dataclasses import dataclass
from functools import partial

from qrt.ir import Module, Operation
from qrt.ir.constants import replacements
from qrt.ir.passes.options import ENTRY, OBSERVING, SATURATING, option
from qrt.ir.passes.planned import OBSERVED, planned_operations
from qrt.ir.rewriting.constant_folder import ConstantFolder
from qrt.ops.core import Array
from qrt.runtime.constants import plan_constants
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import ModuleCode
from qrt.runtime.ports import choose


@dataclass(frozen=True)
class FoldPlanConstants:
    """Computes operations of the plan of a function that read constants only, as `qrt.compile` does. Preserves every
    value.

    `constant-fold` differs: it works on the whole program, regions of loops and callees included, computes everything
    in the interpreter, and only results of static shape. This pass works on the operations that are planned: those of
    one function, and of its `scf.if` and `scf.while`. Ops that have kernels are computed by these, with the same bits.
    A result may have up to 16777216 elements, and a shape that its type leaves open: it becomes a constant and a
    `tensor.cast`. A quantized one becomes an integer constant and a `quant.scast`. What stays: an operation with
    effects; one that takes more than 65,536 steps; one with a result that no constant writes; one whose execution is an
    error. An op of `qrt` whose types do not fit each other is an error at once, and so is a constant that does not run.
    """

    entry: str = option("", ENTRY)
    saturating: bool = option(False, SATURATING)
    observed: bool = option(False, OBSERVING)

    def run(self, module: Module) -> None:
        self.fold(module, choose(module, self.entry or None))

    def fold(self, module: Module, function: Operation) -> dict[Operation, list[Array]]:
        """Fold the operations of a function. Return the arrays of those that are constants now, and of those whose
        results are known, though no constant writes them."""
        evaluate = partial(plan_constants, ModuleCode(module, TABLES, self.saturating), function)
        folder = ConstantFolder(evaluate, self._may_fold, lambda op, arrays: replacements(folder.arrays, op, arrays))
        for op in planned_operations(function):
            folder.fold(op)
        known, operations = folder.arrays, planned_operations(function)
        return {op: [known[v] for v in op.results] for op in operations if op.results and op.results[0] in known}

    def _may_fold(self, op: Operation) -> bool:
        return not self.observed or all(inner.name != OBSERVED for inner in op.walk())
