"""The interface by which a program gets the plan of its function for given input types."""

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

    ``saved_types`` has the input types of each plan in a saved file. ``is_eager`` is True if a program with static
    input types is planned when it is constructed, ``is_stateful`` if the function changes globals, and ``saturating``
    if a float outside an integer type's range converts to the nearest integer of the type.
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
        """The module before the passes that prepare it for planning; the interpreter runs this module."""

    def plan(self, types: Sequence[TensorType]) -> Plan:
        """Return the plan for static input types on the active instruction set: a saved one, or a new one."""
        return self.plan_module(types)

    @abstractmethod
    def plan_module(self, types: Sequence[TensorType]) -> Plan:
        """Plan the module's function for static input types on the active instruction set."""

    @abstractmethod
    def text_and_constants(self) -> tuple[str, list[Array]]:
        """Return the module's text with names in place of long constants, and these constants in the text's order."""

    @abstractmethod
    def interpret(self, arrays: Sequence[Array], max_steps: int | None, state: dict[str, Array]) -> list[Array]:
        """Run the function in the interpreter and return its results; the run updates the globals in ``state``."""
