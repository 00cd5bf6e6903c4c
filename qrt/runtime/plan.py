"""Plans: the steps of a function for concrete input types.

If every step is a kernel, a run of the plan is one call into C. Otherwise groups of consecutive kernels alternate with
steps of the interpreter. Each group is one call into C.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn, Protocol

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import Executable
from qrt.errors import KernelError
from qrt.ops.core import Array, element_dtype, static_shape
from qrt.types import TensorType

if TYPE_CHECKING:  # a saved program runs without interpreter and planner
    from qrt.runtime.coverage import Coverage
    from qrt.runtime.interpreter.core import Tap
    from qrt.runtime.planner.details import PlanDetails


class PlanMemory(NamedTuple):
    """The size of a run's arena in bytes, and the most bytes of temporaries that are live at the same time."""

    arena_bytes: int
    live_bytes: int


class Runner(Protocol):
    """A runner of a plan whose steps are not all kernels. Both methods may be called from several threads at once."""

    def run(
        self, inputs: Sequence[Array], max_steps: int | None, tap: "Tap | None", state: dict[str, Array]
    ) -> list[Array]:
        """Run on arrays of the planned shapes, and return fresh result arrays."""

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None, state: dict[str, Array]
    ) -> "tuple[list[Array], list[tuple[Coverage, float]]]":
        """Run, and return the results and the seconds of each step."""


class Plan:
    """A function planned for concrete input types. ``run`` may be called from many threads at once.

    ``results`` has the static type of each result, or None if its shape is known only at run time. ``states`` has the
    initial array, by name, of each global that kernels read and write in place. ``runner`` runs the steps; it is an
    `Executable` if all steps are kernels. ``details`` has the steps and the slots of values. For a saved plan, details
    are made when they are first needed: the program's text is planned again.
    """

    def __init__(
        self,
        results: Sequence[TensorType | None],
        states: Mapping[str, Array],
        memory: PlanMemory,
        runner: Executable | Runner,
        load_details: "Callable[[], PlanDetails]",
    ) -> None:
        self.isa = kernels.active()
        self.results, self.states, self.memory, self.runner = results, states, memory, runner
        self._load_details = load_details

    @cached_property
    def details(self) -> "PlanDetails":
        return self._load_details()

    @property
    def coverage(self) -> "list[Coverage]":
        """The engine of each step (a kernel or the interpreter), in the order of the steps."""
        return [step.coverage for step in self.details.steps]

    @property
    def executable(self) -> Executable | None:
        """The executable of the whole plan; None if a step is not a kernel."""
        return self.runner if isinstance(self.runner, Executable) else None

    def text(self, name: str) -> str:
        """Return the plan as text, one line per step; ``name`` is the name of the function."""
        memory = f"arena of {self.memory.arena_bytes} bytes for {self.memory.live_bytes} at once"
        return "\n".join([f"@{name} for {self.isa}, {memory}", *self.details.lines()])

    def run(
        self,
        inputs: Sequence[Array],
        max_steps: int | None = None,
        tap: "Tap | None" = None,
        state: dict[str, Array] | None = None,
    ) -> list[Array]:
        """Run on arrays of the planned shapes, and return fresh result arrays.

        ``tap`` is called with each `quant.stats_ref` op and its value. ``max_steps`` limits the operations in loops and
        in the interpreter. ``state`` has the arrays of globals, which the run updates.
        """
        state = {} if state is None else state
        states = self.state_arrays(state)
        if not isinstance(self.runner, Executable):
            return self.runner.run(inputs, max_steps, tap, state)
        try:
            return self.runner.run(tuple(inputs), states, max_steps)
        except KernelError as error:
            self.raise_located(error)

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None = None, state: dict[str, Array] | None = None
    ) -> "tuple[list[Array], list[tuple[Coverage, float]]]":
        """Run, and return the results and the seconds of each step; all iterations of a step in a loop are included."""
        state = {} if state is None else state
        states = self.state_arrays(state)
        if not isinstance(self.runner, Executable):
            return self.runner.run_timed(inputs, max_steps, state)
        outputs = [np.empty(static_shape(t, "plan"), element_dtype(t.element)) for t in self.results if t is not None]
        seconds = np.zeros(len(self.runner.calls))  # after the steps come copies of results to their outputs
        try:
            self.runner.run_over([*inputs, *outputs, *states], self.runner.most_rounds, max_steps, seconds)
        except KernelError as error:
            self.raise_located(error)
        return outputs, list(zip(self.coverage, seconds.tolist(), strict=False))

    def raise_located(self, error: KernelError) -> NoReturn:
        """Raise a kernel's error with the location of its op. An error that names no step is raised unchanged."""
        if error.step is None:
            raise error
        self.details.raise_located(error.step, error)

    def state_arrays(self, state: dict[str, Array]) -> tuple[Array, ...]:
        """Return the arrays of the plan's globals; a global missing in ``state`` is added with its initial value."""
        for name, initial in self.states.items():
            if name not in state:
                state[name] = initial.copy()
        return tuple(state[name] for name in self.states)
