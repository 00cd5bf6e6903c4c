"""The source of plans, from which a program gets the plan of its function for given input types."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

from qrt.ops.core import Array
from qrt.runtime.plan import Plan
from qrt.runtime.ports import Port
from qrt.types import TensorType

if TYPE_CHECKING:
    import qrt.ir as ir


class PlanSource(ABC):
    """A function of a program that can be planned for given input types.

    ``saved_types`` are the input types of plans that were saved. ``is_eager`` is True if a program of static input
    types is planned when it is constructed, ``is_stateful`` if calls change globals, and ``saturating`` if a float
    outside an integer type's range converts to the nearest integer of the type.
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
        """The program before preparation, as the interpreter runs it."""

    def plan(self, types: Sequence[TensorType]) -> Plan:
        """Return the plan for inputs of static types, for the active instruction set."""
        return self.plan_module(types)

    @abstractmethod
    def plan_module(self, types: Sequence[TensorType]) -> Plan:
        """Return a new plan of the module's function for inputs of static types, for the active instruction set."""

    @abstractmethod
    def text_and_constants(self) -> tuple[str, list[Array]]:
        """Return the module's text without its long constants, and these constants in order."""

    @abstractmethod
    def interpret(self, arrays: Sequence[Array], max_steps: int | None, state: dict[str, Array]) -> list[Array]:
        """Return the results of the interpreter, which reads and updates ``state``."""
