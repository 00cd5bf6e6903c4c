"""Sources of plans: what a program asks for the plan of a function for the types of its inputs."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from functools import cached_property

import numpy as np

import qrt.ir as ir
from qrt.errors import require
from qrt.ir.core.operations import garbage_uncollected
from qrt.ir.dialects.quant.element_types import expressed
from qrt.ops.core import Array
from qrt.runtime.build import build
from qrt.runtime.interpreter import Interpreter
from qrt.runtime.plan import Plan
from qrt.runtime.ports import Port, check_dimensions, check_values, choose, ports
from qrt.runtime.prepare import PreparedFunction, prepared
from qrt.runtime.values import of_rank
from qrt.types import TensorType


class PlanSource(ABC):
    """A function of a program, with its plans.

    ``saved_types`` are the input types of plans that need not be made. ``is_eager`` says that a program of static input
    types is planned when it is constructed, ``is_stateful`` that calls change globals, ``saturating`` that a float that
    an integer type cannot hold becomes the nearest integer it can.
    """

    name: str
    inputs: tuple[Port, ...]
    outputs: tuple[Port, ...]
    is_stateful: bool
    saturating: bool
    saved_types: Sequence[tuple[TensorType, ...]] = ()
    is_eager = True

    @property
    @abstractmethod
    def module(self) -> "ir.Module":
        """The program as it is written, which the interpreter runs."""

    @property
    @abstractmethod
    def prepared(self) -> "PreparedFunction":
        """A copy of the program that is ready to be planned."""

    @abstractmethod
    def plan(self, types: Sequence[TensorType]) -> Plan:
        """Return the plan for inputs of static types, for the active instruction set."""

    def interpret(self, arrays: Sequence[Array], max_steps: int | None, state: dict[str, Array]) -> list[Array]:
        """Return the results of the plain reference of every op, which goes on with the state."""
        function = choose(self.module, self.name)
        arguments = function.regions[0].blocks[0].arguments
        values = [of_rank(array, argument.type) for array, argument in zip(arrays, arguments, strict=True)]
        return list(map(np.asarray, self._interpreter.call(function, values, max_steps, state)))

    @cached_property
    def _interpreter(self) -> "Interpreter":
        return Interpreter(self.module, saturating=self.saturating)


class ModuleSource(PlanSource):
    """A function of a module, planned when a program asks.

    ``is_observed`` keeps the values that `quant.stats_ref` names, so that a run may tell them.

    Raises QuantError for a module of which no program is made.
    """

    def __init__(
        self, module: "ir.Module", function: str | None = None, *, saturating: bool = False, is_observed: bool = False
    ) -> None:
        require(module, ir.Module, "a program", "a Module")
        require(function, (str, type(None)), "the function", "a name")
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
    def module(self) -> "ir.Module":
        return self._module

    @cached_property
    def prepared(self) -> "PreparedFunction":
        return prepared(self.module, self.name, self.saturating, observed=self.is_observed)

    def plan(self, types: Sequence[TensorType]) -> Plan:
        check_dimensions(self._function, types)
        with garbage_uncollected():
            return build(self.prepared, types)
