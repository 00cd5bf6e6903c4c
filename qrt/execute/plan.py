"""Plans: a function for concrete input shapes, as steps over one frame of values. Where every step is a kernel, a run
is one call of C. Else maximal runs of kernels are, and the interpreter's steps stand between them; both read and write
slots of one frame: an array for a kernel, any value for an op of the interpreter.
"""

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from time import perf_counter
from typing import Any, NoReturn

import numpy as np

from qrt import kernels
from qrt._seam import _core
from qrt.errors import KernelError
from qrt.execute.interpret.buffers import given
from qrt.execute.interpret.core import Frame, Run, Tap, raise_located
from qrt.execute.interpret.core import Step as FrameStep
from qrt.execute.planning.arena import ALIGNMENT, Span, allocate, live_bytes
from qrt.execute.planning.routine import routine_of
from qrt.execute.planning.slots import CallStep, Coverage, Place, Slot, Step, ValueStep, is_kernel, layout, root, seen
from qrt.ops.core import Array
from qrt.types import MemRefType


class Plan:
    """One function planned for one set of input types. ``run`` may be called from many threads at once. The frame has
    the constants in their slots, and of each global the initial array."""

    def __init__(
        self,
        slots: Mapping[int, Slot],
        inputs: Sequence[Place],
        steps: Sequence[Step],
        results: Sequence[Place],
        frame: Frame,
    ) -> None:
        self.slots, self.inputs, self.results = slots, inputs, results
        self.steps = steps
        self.coverage = [step.coverage for step in steps]
        self.isa = kernels.active()
        self.arena_bytes, self.live_bytes = _arranged(slots)
        self.states = {slot.name: frame[number] for number, slot in slots.items() if slot.kind == "state"}
        """The initial arrays of the globals that are read and written where they stand, by name."""
        self.segments = _segments(steps)
        self.routine = routine_of(steps, slots, frame, inputs, results, self.arena_bytes)
        self._frame = frame
        self._taken = [place.slot for place in inputs]
        self._returned = [self._made_own(place) for place in results]
        self._setup = self._frame_setup()
        self._compiled: list[FrameStep] | None = None
        self._free: list[Frame] = []
        self._lock = threading.Lock()

    def run(
        self,
        inputs: Sequence[Array],
        max_steps: int | None = None,
        tap: Tap | None = None,
        state: dict[str, Array] | None = None,
    ) -> list[Array]:
        """Runs on arrays of the planned shapes and returns fresh result arrays. ``tap`` is told the observed values.
        The arrays of ``state`` are those of globals before and after."""
        if self.routine is not None:
            try:
                return self.routine.run(tuple(inputs), self.state_arrays({} if state is None else state), max_steps)
            except KernelError as error:
                self.raise_located(error)
        if self._compiled is None:
            self._compiled = [
                run
                for calls, segment in self._kernel_segments()
                for run in ([calls.run] if calls is not None else _runs(segment))
            ]
        return self._run(self._compiled, inputs, Run(max_steps, tap, state))

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None = None, state: dict[str, Array] | None = None
    ) -> tuple[list[Array], list[tuple[Coverage, float]]]:
        """The results, and the seconds of each step; of one in a loop, those of all rounds."""
        seconds: list[float] = []

        def timed(step: Step) -> FrameStep:
            runs = step.runs if isinstance(step, ValueStep) else [step]

            def run(frame: Frame) -> None:
                start = perf_counter()
                for action in runs:
                    action(frame)
                seconds.append(perf_counter() - start)

            return run

        runs: list[FrameStep] = []
        for calls, segment in self._kernel_segments():
            runs.extend([calls.timed(seconds)] if calls is not None else map(timed, segment))
        results = self._run(runs, inputs, Run(max_steps, state=state))
        return results, list(zip(self.coverage, seconds, strict=True))

    def _kernel_segments(self) -> Iterator[tuple["_Kernels | None", Sequence[Step]]]:
        """Each segment, with its steps as one call of C where they are kernels."""
        first = 0
        for segment in self.segments:
            calls = [step for step in segment if isinstance(step, CallStep)]
            bound = [step.call for step in calls if is_kernel(step.call)]
            yield (_Kernels(calls, bound, first) if len(bound) == len(segment) else None), segment
            first += len(segment)

    def raise_located(self, error: KernelError) -> NoReturn:
        """Raises the error of a step of the routine with the op and its position, any other as it is."""
        step = self.steps[error.step] if error.step is not None and error.step < len(self.steps) else None
        if not isinstance(step, CallStep):  # the copy of a result; or a saved program's text is of another program
            raise error
        raise_located(step.operation, error)

    def state_arrays(self, state: dict[str, Array]) -> tuple[Array, ...]:
        """The arrays of the plan's globals, which begin with their initial values."""
        for name, initial in self.states.items():
            if name not in state:
                state[name] = initial.copy()
        return tuple(state[name] for name in self.states)

    def _run(self, runs: Sequence[FrameStep], inputs: Sequence[Array], execution: Run) -> list[Array]:
        with self._lock:
            workspace = self._free.pop() if self._free else None
        if workspace is None:
            workspace = self._workspace()
        frame = workspace.copy()
        frame[0] = execution
        for index, array in zip(self._taken, inputs, strict=True):
            frame[index] = array
        if self.states:
            self.state_arrays(execution.state)
        for set_up in self._setup:
            set_up(frame)
        with np.errstate(all="ignore"):
            for run in runs:
                run(frame)
        results = [_result(frame[slot], shape, is_own) for slot, shape, is_own in self._returned]
        with self._lock:
            self._free.append(workspace)
        return results

    def _frame_setup(self) -> list[Callable[[Frame], None]]:
        """What fills the slots whose arrays differ from run to run."""
        made: list[Callable[[Frame], None]] = []

        def fresh(number: int, slot: Slot) -> None:
            shape, dtype = layout(slot)

            def fill(frame: Frame) -> None:
                frame[number] = np.empty(shape, dtype)

            made.append(fill)

        def global_array(number: int, slot: Slot) -> None:
            def fill(frame: Frame) -> None:
                frame[number] = frame[0].state[slot.name]

            made.append(fill)

        def view(number: int, slot: Slot) -> None:
            def fill(frame: Frame) -> None:
                frame[number] = seen(frame[slot.base], slot)

            made.append(fill)

        def memref(number: int, place: Place, declared: MemRefType) -> None:
            def fill(frame: Frame) -> None:
                frame[place.slot] = given(frame[place.slot], declared, number)

            made.append(fill)

        for number, place in enumerate(self.inputs):
            if isinstance(place.declared, MemRefType):
                memref(number, place, place.declared)
        by_kind = {"owned": fresh, "state": global_array}
        for number, slot in self.slots.items():
            if slot.kind in by_kind:
                by_kind[slot.kind](number, slot)
        for number, slot in self._views():
            if self.slots[root(self.slots, number)[0]].kind != "temporary":
                view(number, slot)
        return made

    def _views(self) -> list[tuple[int, Slot]]:
        """Views, each behind those that it sees."""

        def depth(number: int) -> int:
            slot = self.slots[number]
            return 1 + depth(slot.base) if slot.kind == "view" else 0

        return sorted(((n, s) for n, s in self.slots.items() if s.kind == "view"), key=lambda each: depth(each[0]))

    def _made_own(self, place: Place) -> tuple[int, tuple[int, ...] | None, bool]:
        """The slot of a result, the shape that it has under this name, and whether the caller owns its memory, as it
        always does with a memref.
        """
        is_own = isinstance(place.declared, MemRefType) or self.slots[place.slot].kind == "owned"
        return place.slot, None if place.type is None else place.shape, is_own

    def _workspace(self) -> Frame:
        """The frame with an arena of its own, of which the temporaries are views."""
        frame = self._frame.copy()
        raw = np.empty(self.arena_bytes + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        for index, slot in self.slots.items():
            if slot.kind == "temporary":
                at = start + slot.offset
                shape, dtype = layout(slot)
                frame[index] = raw[at : at + slot.nbytes].view(dtype).reshape(shape)
        for index, slot in self._views():
            if self.slots[root(self.slots, index)[0]].kind == "temporary":
                frame[index] = seen(frame[slot.base], slot)
        return frame


def _result(value: Any, shape: tuple[int, ...] | None, is_own: bool) -> Array:
    array: Array = np.asarray(value)
    if shape is not None:
        array = array.reshape(shape)
    return array if is_own else array.copy()


def _arranged(slots: Mapping[int, Slot]) -> tuple[int, int]:
    """Gives every temporary its place in the arena. Returns the bytes of the arena, and the most that live at once."""
    temporaries = [slot for slot in slots.values() if slot.kind == "temporary"]
    spans = [Span(slot.nbytes, slot.first, slot.last) for slot in temporaries]
    nbytes = allocate(spans)
    for slot, span in zip(temporaries, spans, strict=True):
        slot.offset = span.offset
    return nbytes, live_bytes(spans)


def _segments(steps: Sequence[Step]) -> list[list[Step]]:
    """Maximal runs of steps of one kind: kernels, which are one call into C, and all others."""
    segments: list[list[Step]] = []
    kinds = [isinstance(step, CallStep) and is_kernel(step.call) for step in steps]
    for number, step in enumerate(steps):
        if number and kinds[number] == kinds[number - 1]:
            segments[-1].append(step)
        else:
            segments.append([step])
    return segments


def _runs(segment: Sequence[Step]) -> list[FrameStep]:
    """The functions to call for a segment that is no call of C, in order."""
    return [run for step in segment for run in (step.runs if isinstance(step, ValueStep) else [step])]


class _Kernels:
    """Steps that are one call of C, the first of them number ``first`` of the plan."""

    def __init__(self, steps: Sequence[CallStep], calls: Sequence[_core.Call], first: int) -> None:
        self.steps = steps
        self.used = list(dict.fromkeys(slot for step in steps for slot in step.slots))
        number = {slot: index for index, slot in enumerate(self.used)}
        self.plan = _core.Plan(calls, [[number[slot] for slot in step.slots] for step in steps], len(self.used), first)

    def run(self, frame: Frame) -> None:
        self._execute(frame, self.plan.run)

    def timed(self, seconds: list[float]) -> FrameStep:
        """A step that adds the seconds of each of these."""

        def run_timed(*arguments: Any) -> int | None:
            found, left = self.plan.run_timed(*arguments)
            seconds.extend(found)
            return left

        return lambda frame: self._execute(frame, run_timed)

    def _execute(self, frame: Frame, run: Callable[..., int | None]) -> None:
        """Runs within the limits of an execution, and takes its steps from them."""
        execution = frame[0]
        most_rounds, max_steps = (None if limit == np.inf else limit for limit in (execution.rounds, execution.steps))
        try:
            left = run([frame[slot] for slot in self.used], most_rounds, max_steps)
        except KernelError as error:
            if error.step is None:
                raise
            raise_located(self.steps[error.step].operation, error)
        if left is not None:
            execution.steps = left
