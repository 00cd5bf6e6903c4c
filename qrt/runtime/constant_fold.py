"""Passes that fold constants: `constant-fold` for a whole program, `fold-plan-constants` before planning."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from math import prod

from qrt.ir import Module, Operation, Value
from qrt.ir.constants import is_constant, replacements
from qrt.ir.core.matching import cyclic_operations
from qrt.ir.passes.options import ENTRY, OBSERVING, SATURATING, option
from qrt.ir.passes.planned import OBSERVED, planned_operations
from qrt.ir.rewriting.constant_folder import ConstantFolder
from qrt.ir.text.dense import MAX_FOLDED
from qrt.ops.core import Array
from qrt.runtime.constants import interpret_constants, plan_constants
from qrt.runtime.functions import choose
from qrt.runtime.interpreter import TABLES
from qrt.runtime.interpreter.core import ModuleCode
from qrt.runtime.values import RUN, as_tensor
from qrt.types import IntegerType, Type


@dataclass(frozen=True)
class ConstantFold:
    """Replaces operations whose operands are all constants by constants. Preserves every value.

    The interpreter computes the operations, including those with regions. A quantized value becomes an integer constant
    and a `quant.scast`. An operation is not folded if it has effects; if a result is neither a scalar nor a tensor of
    static shape, or has more elements than `max-elements`; or if its execution raises an error or takes more than
    65,536 steps.
    """

    max_elements: int = option(MAX_FOLDED, "the most elements of a result that is computed")

    def run(self, module: Module) -> None:
        def as_constant(op: Operation, arrays: Sequence[Array]) -> list[Value] | None:
            return None if op.name == "tensor.empty" else replacements(folder.arrays, op, arrays)

        evaluate = partial(interpret_constants, ModuleCode(module, TABLES, saturating=False))
        folder = ConstantFolder(evaluate, self.may_fold, as_constant)
        folder.fold_inside(module.operation, cyclic_operations(module.operation.walk()))

    def may_fold(self, op: Operation) -> bool:
        """Return True for `arith.constant` and `tensor.empty`, and for an op whose results are small enough to fold."""
        if op.operands or op.regions:
            return is_constant(op) or (bool(op.results) and all(self._is_small(value.type) for value in op.results))
        return op.name in ("arith.constant", "tensor.empty")

    def _is_small(self, type: Type) -> bool:
        tensor = as_tensor(type) if isinstance(type, RUN) else None
        if tensor is None or not tensor.has_static_shape or tensor.encoding is not None:
            return False
        is_constant = not isinstance(tensor.element, IntegerType) or tensor.element.is_signless
        return is_constant and prod(size or 0 for size in tensor.shape or ()) <= self.max_elements


@dataclass(frozen=True)
class FoldPlanConstants:
    """Replaces a function's operations whose operands are all constants, as `qrt.compile` does. Preserves every value.

    The pass folds the operations of one function and of the regions of its `scf.if` and `scf.while`. An op that has a
    kernel is computed by the kernel, with the interpreter's bits. A result may have up to 16777216 elements. A result
    whose type has dynamic dimensions becomes a constant and a `tensor.cast`, a quantized result an integer constant and
    a `quant.scast`. An operation is not folded if it has effects, takes more than 65,536 steps, has a result that
    cannot be written as a constant, or raises an error. The pass fails if the types of an op of the `qrt` dialect do
    not fit each other, if the type of a constant is not supported, or if a constant needs more memory than is
    available.

    The pass `constant-fold` differs: it folds the whole program, with callees and the regions of all loops. It uses
    only the interpreter, and folds only results of static shape.
    """

    entry: str = option("", ENTRY)
    saturating: bool = option(False, SATURATING)
    observed: bool = option(False, OBSERVING)

    def run(self, module: Module) -> None:
        self.fold(module, choose(module, self.entry or None))

    def fold(self, module: Module, function: Operation) -> dict[Operation, list[Array]]:
        """Fold a function's operations, and return the result arrays of every operation whose results are known.

        An operation whose results cannot be written as constants stays in the program, but its arrays are returned too.
        """
        evaluate = partial(plan_constants, ModuleCode(module, TABLES, self.saturating), function)
        folder = ConstantFolder(evaluate, self._may_fold, lambda op, arrays: replacements(folder.arrays, op, arrays))
        for op in planned_operations(function):
            folder.fold(op)
        known, operations = folder.arrays, planned_operations(function)
        return {op: [known[v] for v in op.results] for op in operations if op.results and op.results[0] in known}

    def _may_fold(self, op: Operation) -> bool:
        return not self.observed or all(inner.name != OBSERVED for inner in op.walk())
