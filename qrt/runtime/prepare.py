"""Preparation of a function for planning: passes on a copy of its module, which also compute constant values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from qrt.ir import Module, Operation
from qrt.ir.core.functions import FuncOp
from qrt.ir.passes.inline_regions import ANNOTATED
from qrt.ir.passes.planned import body
from qrt.ir.pipeline import PASSES, run_steps
from qrt.ir.pipeline_text import PipelineStep
from qrt.ops.core import Array
from qrt.runtime.constant_fold import FoldPlanConstants
from qrt.runtime.fusion import FUSING


@dataclass(frozen=True)
class PreparedFunction:
    """A function after the passes that run before planning, in its own copy of the module.

    ``constants`` has the result arrays of each operation whose results are known before the run, including results that
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
    names = {op.name for called in _reachable(module, function) for op in called.walk()}
    steps = []
    if not names.isdisjoint(ANNOTATED):
        steps.append(_step("inline-regions", observed=observed))
    if "func.call" in names:
        steps.append(_step("inline", entry=function.sym_name, canonicalize=False, remove_unused=False))
    steps += [_step(fusing) for fusing, needed in FUSING.items() if not names.isdisjoint(needed)]
    steps.append(_step("fold-plan-constants", entry=function.sym_name, saturating=saturating, observed=observed))
    return steps


def _step(name: str, **options: Any) -> PipelineStep:
    return PipelineStep(name, PASSES[name](**options))


def _reachable(module: Module, function: Operation) -> set[Operation]:
    """Return a function and the functions that it calls, directly or through others."""
    pending, reachable = [function], {function}
    while pending:
        calls = (op for op in pending.pop().walk() if op.name == "func.call")
        callees = {module.callee(op) for op in calls} - reachable
        reachable |= callees
        pending += callees
    return reachable
