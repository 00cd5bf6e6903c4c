"""Programs that tell values while they run, and go on with others where they are told so."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from qrt.dialects.quant.annotations import IDENTITIES
from qrt.execute.interpret.core import Tap
from qrt.execute.observe import ObservedProgram
from qrt.execute.plan_source import ModuleSource
from qrt.execute.prepare import Prepared, prepared
from qrt.execute.program import Program
from qrt.ir import Builder, Module, Operation, StringAttr, UnitAttr, Value
from qrt.ir.core.matching import acyclic_operations
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.core.rewrite import replace
from qrt.ops.core import Array
from qrt.passes.dce import DeadCodeElimination
from qrt.passes.inline import Inline
from qrt.passes.planned import OBSERVED, REPLACED

_NAME = "statsKey"


def flattened(module: Module, name: str) -> Module:
    """A copy without annotations, with the bodies of functions in place of calls in the function of that name, and
    without what nothing reads."""
    with garbage_uncollected():
        copy = Module(module.operation.clone({}), module.upstream)
        for op in [op for op in acyclic_operations(copy.operation) if op.name in IDENTITIES]:
            replace(op, op.operands)
        Inline(entry=name, canonicalize=False, remove_unused=False).run(copy)
        DeadCodeElimination().run(copy)
    return copy


class _TappedSource(ModuleSource):
    """A function whose values are told by names."""

    def __init__(self, module: Module, function: str, taps: Mapping[Value, str]) -> None:
        self._taps = taps
        super().__init__(module, function, is_observed=True)

    @cached_property
    def prepared(self) -> Prepared:
        for value, name in self._taps.items():
            attributes = {_NAME: StringAttr(name), REPLACED: UnitAttr()}
            tap = Builder.after(value).emit(OBSERVED, (value,), (value.type,), attributes)
            value.replace_all_uses(tap.results[0])
            tap.set_operand(0, value)
        return prepared(self.module, self.name, self.saturating, observed=True)


class TappedProgram(ObservedProgram):
    """A program that tells values by names. It takes the module, which is changed.

    >>> import numpy as np
    >>> from qrt import ir
    >>> module = ir.parse("func.func @f(%x: tensor<1xf32>) -> tensor<1xf32> { return %x : tensor<1xf32> }")
    >>> argument = module.functions[0].regions[0].blocks[0].arguments[0]
    >>> TappedProgram(module, "f", {argument: "x"}).run_tapped({"arg0": np.float32([1])}, lambda op, value: value + 1)
    [array([2.], dtype=float32)]
    """

    def __init__(self, module: Module, function: str, taps: Mapping[Value, str]) -> None:
        Program.__init__(self, _TappedSource(module, function, taps))

    def run_tapped(self, inputs: Mapping[str, Any], tap: Tap) -> list[Any]:
        """The results of a run. ``tap`` is given each value with an op, of which ``name_of`` is the name. The run goes
        on with what it returns, if that is not None. Quantized values are given as they are stored."""
        return self.run_checked(self.checked(inputs), tap)

    def run_checked(self, arrays: Sequence[Array], tap: Tap) -> list[Any]:
        """As ``run_tapped``, on checked inputs."""
        return self._run(arrays, tap=tap)


def name_of(tap: Operation) -> str:
    """The name of the value that a tap tells."""
    return str(tap.attributes[_NAME].python)
