"""Preparation of a function for planning: passes on a copy of its module, which also compute constant values."""

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
    """A function after the passes that run before planning, in its own copy of the module.

    ``constants`` has the result arrays of each operation whose results are known before the run, also of results that
    cannot be written as constants in the module.
    """

    module: Module
    function: Operation
    saturating: bool
    constants: Mapping[Operation, Sequence[Array]]


def prepared(module: Module, name: str, saturating: bool, *, observed: bool = False) -> PreparedFunction:
    """Return the named function, prepared for planning in a copy of the module.

    If ``observed``, each `quant.stats_ref` is kept as an operation. Raise ModelError if calls are nested too deeply, or
    for a constant that the runtime does not support.
    """
    copy = Module(module.operation.clone({}), module.upstream)
    function = copy.function(name)
    steps = preparation(copy, function, saturating, observed=observed)
    run_steps(copy, steps[:-1], verify_first=False, verify_each=False)  # the last one runs below
    constants = FoldPlanConstants(name, saturating, observed).fold(copy, function)
    return PreparedFunction(copy, function, saturating, constants)


def preparation(module: Module, function: FuncOp, saturating: bool, *, observed: bool = False) -> list[PipelineStep]:
    """Return the passes to run before ``function`` is planned, chosen by the operations that occur in the module.

    The list is empty if the interpreter runs the whole function.
    """
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
    """Return True if the function, or a function that it calls, has an op that the fusion passes may change."""
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
    """Return the operations that a plan of the function may have: those of its body and of planned regions."""
    operations: list[Operation] = []
    stack = list(body(function) or ())
    while stack:
        inside = [*with_regions(stack.pop())]
        operations += inside
        for op in inside:
            if op.name == "quant.region":
                stack.extend(op.regions[0].blocks[0])
    return operations
