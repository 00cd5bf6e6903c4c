"""Preparation of a program for planning: passes on a copy of it, and the arrays of its constants."""

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
    """A function ready to be planned, in a prepared copy of its program.

    ``constants`` has the arrays of the operations with known results, also of those that cannot be written as a
    constant in the text."""

    module: Module
    function: Operation
    saturating: bool
    constants: Mapping[Operation, Sequence[Array]]


def prepared(module: Module, name: str, saturating: bool, *, observed: bool = False) -> PreparedFunction:
    """Prepare the named function for planning. If it is ``observed``, each `quant.stats_ref` is kept.

    Raise ModelError if calls are nested too deeply or a constant cannot run."""
    copy = Module(module.operation.clone({}), module.upstream)
    function = copy.function(name)
    steps = preparation(copy, function, saturating, observed=observed)
    run_steps(copy, steps[:-1], verify_first=False, verify_each=False)  # the last one runs below
    constants = FoldPlanConstants(name, saturating, observed).fold(copy, function)
    return PreparedFunction(copy, function, saturating, constants)


def preparation(module: Module, function: FuncOp, saturating: bool, *, observed: bool = False) -> list[PipelineStep]:
    """Return the passes to run before a function is planned: those for the operations in the module.

    The list is empty if the interpreter runs the whole function."""
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
    """Return True if the function, or a function it calls, has an op that fusion could bind to a kernel."""
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
    """Return the function's operations that a plan can have after `quant.region` bodies are inlined."""
    operations: list[Operation] = []
    stack = list(body(function) or ())
    while stack:
        inside = [*with_regions(stack.pop())]
        operations += inside
        for op in inside:
            if op.name == "quant.region":
                stack.extend(op.regions[0].blocks[0])
    return operations
