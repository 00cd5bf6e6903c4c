"""The source of plans that run a function as machine code, for `qrt.compile` with ``codegen``."""

from collections.abc import Iterator, Sequence
from functools import cached_property
from time import perf_counter
from typing import Any

from qrt.errors import VerifyError
from qrt.ir import Module, parse
from qrt.ir.core.functions import FuncOp
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.passes.inline import Inline
from qrt.ir.passes.inline_regions import ANNOTATED, InlineRegions
from qrt.ir.passes.lower_qrt import LowerQrt
from qrt.ir.passes.lower_quant_ops import LowerQuantOps
from qrt.ir.pipeline import run_steps
from qrt.ir.pipeline_text import PipelineStep
from qrt.ops.core import Array
from qrt.runtime.codegen.emitter import NotEmittedError
from qrt.runtime.codegen.function import CompiledFunction
from qrt.runtime.codegen.target import cpu_name
from qrt.runtime.coverage import Coverage
from qrt.runtime.functions import check_dimensions
from qrt.runtime.interpreter.core import Tap
from qrt.runtime.module_source import ModuleSource
from qrt.runtime.plan import Plan, PlanMemory
from qrt.runtime.planner.details import PlanDetails
from qrt.runtime.planner.slots import PlanSlot, SlotView, ValueStep
from qrt.runtime.values import as_tensor
from qrt.types import TensorType


class MachineCodeSource(ModuleSource):
    """A function of a module, compiled to machine code for each set of input types.

    Ops of the dialects ``qrt`` and ``quant`` are lowered first. An op without machine code is an error. But if
    ``is_best_effort``, a function with such an op is planned as without ``codegen``.
    """

    def __init__(
        self, module: Module, function: str | None = None, *, saturating: bool = False, is_best_effort: bool = False
    ) -> None:
        super().__init__(module, function, saturating=saturating)
        self.is_best_effort = is_best_effort

    def plan_module(self, types: Sequence[TensorType]) -> Plan:
        check_dimensions(self._function, types)
        try:
            with garbage_uncollected():
                compiled = CompiledFunction(self._lowered, types, saturating=self.saturating)
        except NotEmittedError:
            if self.is_best_effort:
                return super().plan_module(types)
            raise
        return Plan(
            compiled.results,
            {},
            PlanMemory(compiled.scratch_bytes, compiled.scratch_bytes),
            _Runner(self, compiled),
            lambda: self.details(compiled, types),
        )

    @cached_property
    def _lowered(self) -> FuncOp:
        """The function in a copy of the module, without ops of ``qrt``, casts and calls."""
        copy = Module(self.module.operation.clone({}), self.module.upstream)
        _keep_called(copy, self.name)
        try:
            run_steps(copy, list(_lowering(copy)), verify_first=False, verify_each=False)
        except VerifyError as error:
            raise NotEmittedError(str(error)) from error
        return copy.function(self.name)

    def details(self, compiled: CompiledFunction, types: Sequence[TensorType]) -> PlanDetails:
        """Return the details of a plan, whose only step is the whole function."""
        slots: dict[int, PlanSlot] = {}
        views = []
        kinds = [("input", t) for t in types] + [("owned", t) for t in compiled.results]
        for number, (kind, t) in enumerate(kinds, 1):
            slots[number] = PlanSlot(kind, t)
            views.append(SlotView(number, t, t))
        inputs, results = views[: len(types)], views[len(types) :]
        coverage = Coverage(self._function.name, str(self._function.location), "machine code", cpu_name())
        return PlanDetails(slots, inputs, [ValueStep([], coverage, inputs, results)], results, [])

    def __reduce__(self) -> tuple[Any, ...]:
        text = self.module.print(exact=True)
        return _rebuild, (text, self.name, self.saturating, self.is_best_effort)


class _Runner:
    """The runner of a plan of machine code.

    A run with ``max_steps`` uses the interpreter, because machine code does not count operations.
    """

    def __init__(self, source: MachineCodeSource, compiled: CompiledFunction) -> None:
        self._source, self._compiled = source, compiled

    def run(
        self, inputs: Sequence[Array], max_steps: int | None, tap: Tap | None, state: dict[str, Array]
    ) -> list[Array]:
        if max_steps is not None:
            return self._source.interpret(inputs, max_steps, state)
        return self._compiled.run(inputs)

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None, state: dict[str, Array]
    ) -> tuple[list[Array], list[tuple[Coverage, float]]]:
        start = perf_counter()
        results = self.run(inputs, max_steps, None, state)
        seconds = perf_counter() - start
        types = [as_tensor(port.type).with_(shape=a.shape) for port, a in zip(self._source.inputs, inputs, strict=True)]
        (step,) = self._source.details(self._compiled, types).steps
        return results, [(step.coverage, seconds)]


def _keep_called(module: Module, name: str) -> None:
    """Remove all functions except the named one and those it calls, because an op in them may have no lowering."""
    called = {module.function(name)}
    pending = list(called)
    while pending:
        for op in pending.pop().walk():
            if op.name == "func.call" and (callee := module.callee(op)) not in called:
                called.add(callee)
                pending.append(callee)
    for function in module.functions:
        if function not in called:
            function.erase()


def _lowering(module: Module) -> Iterator[PipelineStep]:
    """Yield the passes that replace calls, ops of ``qrt``, and all ops of ``quant`` except `quant.scast`."""
    names = {op.name for op in module.operation.walk()}
    if not names.isdisjoint(ANNOTATED):
        yield PipelineStep("inline-regions", InlineRegions())
    if "func.call" in names:
        yield PipelineStep("inline", Inline(canonicalize=False, remove_unused=False))
    yield PipelineStep("lower-qrt", LowerQrt())
    yield PipelineStep("lower-quant-ops", LowerQuantOps())


def _rebuild(text: str, function: str, saturating: bool, is_best_effort: bool) -> MachineCodeSource:
    module = parse(text, filename=f"<pickled {function}>", upstream=24)
    return MachineCodeSource(module, function, saturating=saturating, is_best_effort=is_best_effort)
