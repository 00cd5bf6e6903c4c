"""The source of plans for a function of a module in memory."""

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from qrt.errors import ModelError, require
from qrt.ir import DenseElementsAttr, DenseResourceAttr, Module, parse
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.dialects.quant.element_types import expressed
from qrt.ir.text.dense import Blob
from qrt.ops.core import Array
from qrt.runtime.build import build
from qrt.runtime.functions import check_dimensions, check_values, choose, ports
from qrt.runtime.interpreter import Interpreter
from qrt.runtime.plan import Plan
from qrt.runtime.plan_source import PlanSource
from qrt.runtime.prepare import PreparedFunction, prepared
from qrt.runtime.values import of_rank
from qrt.types import TensorType

PICKLE_VERSION = 1
_LONG = 64
"""The largest size in bytes of a constant in the text of a saved program; larger ones are separate arrays."""
_KEY = "qrt_saved_"


class ModuleSource(PlanSource):
    """A function of a module, planned on request.

    If ``is_observed``, each `quant.stats_ref` stays in the plan, so that a run can pass its value to a ``tap``
    function.

    Raises QuantError for a module that cannot be run.
    """

    def __init__(
        self, module: Module, function: str | None = None, *, saturating: bool = False, is_observed: bool = False
    ) -> None:
        require(module, Module, "compile: 'module'", "a Module or MLIR text")
        require(function, (str, type(None)), "compile: 'function'", "a string, the name of a function")
        module.verify()
        module = expressed(module)
        module.check_channels()
        check_values(module)
        chosen = choose(module, function)
        self._module, self._function, self.saturating, self.is_observed = module, chosen, saturating, is_observed
        self.name = chosen.sym_name
        self.inputs, self.outputs = ports(chosen, "arg"), ports(chosen, "result")
        self.is_stateful = any(op.name == "ml_program.global_store" for op in module.operation.walk())

    @property
    def module(self) -> Module:
        return self._module

    @cached_property
    def _prepared(self) -> PreparedFunction:
        return prepared(self.module, self.name, self.saturating, observed=self.is_observed)

    def plan_module(self, types: Sequence[TensorType]) -> Plan:
        check_dimensions(self._function, types)
        with garbage_uncollected():
            return build(self._prepared, types)

    def text_and_constants(self) -> tuple[str, list[Array]]:
        with garbage_uncollected():
            copy = Module(self.module.operation.clone({}), self.module.upstream)
            constants: list[Array] = []
            for op in copy.operation.walk():
                for name, value in op.attributes.items():
                    if isinstance(value, DenseElementsAttr) and value.array.nbytes > _LONG and not value.is_splat:
                        constants.append(value.array)
                        op.attributes[name] = DenseResourceAttr(Blob(f"{_KEY}{len(constants) - 1}"), value.type)
            return copy.print(exact=True), constants

    def interpret(self, arrays: Sequence[Array], max_steps: int | None, state: dict[str, Array]) -> list[Array]:
        arguments = self._function.regions[0].blocks[0].arguments
        values = [of_rank(array, argument.type) for array, argument in zip(arrays, arguments, strict=True)]
        return list(map(np.asarray, self._interpreter.call(self._function, values, max_steps, state)))

    @cached_property
    def _interpreter(self) -> Interpreter:
        return Interpreter(self.module, saturating=self.saturating)

    def __reduce__(self) -> tuple[Any, ...]:
        return _rebuild, (PICKLE_VERSION, self.module.print(exact=True), self.name, self.saturating)


def module_of(text: str, constants: Sequence[Array], path: str) -> Module:
    """Parse a program's text and insert its long constants, which ``text_and_constants`` has stored separately.

    ``path`` names the text in errors. Raise ValueError if there are fewer arrays than the text needs.
    """
    with garbage_uncollected():
        module, remaining = parse(text, filename=path, upstream=24), iter(constants)
        for op in module.operation.walk():
            for name, value in op.attributes.items():
                if isinstance(value, DenseResourceAttr) and value.blob.data is None:
                    array = next(remaining, None)
                    if array is None:
                        raise ValueError("the program's text has more constants than the file")
                    op.attributes[name] = DenseElementsAttr(array, value.type)
    return module


def _rebuild(version: int, text: str, function: str, saturating: bool) -> ModuleSource:
    if version != PICKLE_VERSION:
        raise ModelError(
            f"the program was pickled in format {version}, but this version of qrt reads format {PICKLE_VERSION}"
        )
    module = parse(text, filename=f"<pickled {function}>", upstream=24)
    return ModuleSource(module, function, saturating=saturating)
