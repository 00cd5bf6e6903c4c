"""Prepares a copy of a program for planning: a pipeline of passes, and the arrays with which constants run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import Module, Operation
from qrt.ir.core.functions import FuncOp
from qrt.ir.dialects.quant import FAKE_QUANTS
from qrt.ir.passes.inline_regions import ANNOTATED
from qrt.ir.passes.planned import body, with_regions
from qrt.ir.pipeline import PASSES, run_steps
from qrt.ir.pipeline_text import PipelineStep
from qrt.ops import family_of
from qrt.ops.core import Array
from qrt.runtime.constant_fold import FoldPlanConstants
from qrt.runtime.fusion import FUSING


@dataclass(frozen=True)
class PreparedFunction:
    """A function that is ready to be planned, of a copy of its program, with the arrays of its constants: of what an
    `arith.constant` and casts say, and of what no text says."""

    module: Module
    function: Operation
    saturating: bool
    constants: Mapping[Operation, Sequence[Array]]


def prepared(module: Module, name: str, saturating: bool, *, observed: bool = False) -> PreparedFunction:
    """Prepare the function of that name. Raise ModelError for calls that are nested too deeply and constants that do
    not run. If it is ``observed``, each `quant.stats_ref` stays."""
    copy = Module(module.operation.clone({}), module.upstream)
    function = copy.function(name)
    steps = preparation(copy, function, saturating, observed=observed)
    run_steps(copy, steps[:-1], verify_first=False, verify_each=False)  # the last one gives the arrays
    constants = FoldPlanConstants(name, saturating, observed).fold(copy, function)
    return PreparedFunction(copy, function, saturating, constants)


def preparation(module: Module, function: FuncOp, saturating: bool, *, observed: bool = False) -> list[PipelineStep]:
    """Return the passes that run before a function of the module is planned, those that its operations need.
    None run before the interpreter runs it as a whole."""
    if body(function) is None:
        return []
    names = {op.name for op in module.operation.walk()}
    steps = []
    if not names.isdisjoint(ANNOTATED):
        steps.append(_step("inline-regions", observed=observed))
    if "func.call" in names:
        steps.append(_step("inline", entry=function.sym_name, canonicalize=False, remove_unused=False))
    if _has_kernels(module, function):
        steps += [_step(fusing) for fusing, needed in FUSING.items() if not names.isdisjoint(needed)]
    steps.append(_step("fold-plan-constants", entry=function.sym_name, saturating=saturating, observed=observed))
    return steps


def _step(name: str, **options: Any) -> PipelineStep:
    return PipelineStep(name, PASSES[name](**options))


def _has_kernels(module: Module, function: Operation) -> bool:
    """Return True where the plan of a function may have ops of families: the interpreter has no steps to fuse."""
    pending = [function]
    seen = {function}
    while pending:
        for op in _operations(pending.pop()):
            if family_of(op) is not None or op.name in FAKE_QUANTS:
                return True
            if op.name == "func.call" and (callee := module.callee(op)) not in seen:
                seen.add(callee)
                pending.append(callee)
    return False


def _operations(function: Operation) -> list[Operation]:
    """Return the operations that a plan may have once regions are inlined."""
    operations: list[Operation] = []
    stack = list(body(function) or ())
    while stack:
        inside = [*with_regions(stack.pop())]
        operations += inside
        for op in inside:
            if op.name == "quant.region":
                stack.extend(op.regions[0].blocks[0])
    return operations
