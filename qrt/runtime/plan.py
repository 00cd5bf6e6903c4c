"""Plans of a function for concrete input types.

If every step is a kernel, a run is one call into C. Otherwise executables alternate with steps of the interpreter.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, NoReturn

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
    from qrt.runtime.planner.frame_runner import FrameRunner


class PlanMemory(NamedTuple):
    """The bytes of a run's arena, and the largest total of bytes that are live at the same time."""

    arena_bytes: int
    live_bytes: int


class Plan:
    """A function planned for input types. ``run`` may be called from many threads at once.

    ``results`` has the static type of each result, None if it is known only at run time. ``states`` has the initial
    array of each global that is read and written in place, by name. ``runner`` runs the steps: an executable if all of
    them are kernels. ``details`` are the steps and the places of values; the plan of a saved program reads them from
    the program's text when they are first needed.
    """

    def __init__(
        self,
        results: Sequence[TensorType | None],
        states: Mapping[str, Array],
        memory: PlanMemory,
        runner: "Executable | FrameRunner",
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
        """The engine that runs each step (a kernel or the interpreter), in order of the steps."""
        return [step.coverage for step in self.details.steps]

    @property
    def executable(self) -> Executable | None:
        """The executable of the whole plan; None if a step is not a kernel."""
        return self.runner if isinstance(self.runner, Executable) else None

    def text(self, name: str) -> str:
        """Return the plan of the function with this name as text, one line per step."""
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

        ``tap`` is called with each observed value. ``state`` has the arrays of globals; the run updates it."""
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
        """Return the results, and the seconds of each step; a step in a loop has the seconds of all rounds."""
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
        """Raise an error of a step of the executable with the op and its location; raise other errors unchanged."""
        if error.step is None:
            raise error
        self.details.raise_located(error.step, error)

    def state_arrays(self, state: dict[str, Array]) -> tuple[Array, ...]:
        """Return the arrays of the plan's globals from ``state``, to which missing ones are added first."""
        for name, initial in self.states.items():
            if name not in state:
                state[name] = initial.copy()
        return tuple(state[name] for name in self.states)
