"""The runner of plans with interpreter steps: executables alternate with these steps over one frame of values."""

import threading
from collections.abc import Callable, Iterator, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from qrt._ext import kernels as kernel_calls
from qrt.errors import KernelError
from qrt.ops.core import Array
from qrt.runtime.coverage import Coverage
from qrt.runtime.interpreter.buffers import memref_argument
from qrt.runtime.interpreter.core import Frame, Run, Tap, raise_located
from qrt.runtime.interpreter.core import Step as FrameStep
from qrt.runtime.planner.arena import ALIGNMENT
from qrt.runtime.planner.details import PlanDetails
from qrt.runtime.planner.executable import segment_executable
from qrt.runtime.planner.slots import (
    CallStep,
    PlanSlot,
    SlotView,
    Step,
    ValueStep,
    layout,
    root,
    viewed_array,
)
from qrt.types import MemRefType


class FrameRunner:
    """A thread-safe runner of plans in which kernels alternate with steps of the interpreter.

    Both read and write slots of one frame (a list of values): kernels use arrays, the interpreter any value.
    """

    def __init__(self, details: PlanDetails, arena_bytes: int) -> None:
        self._details, self._arena_bytes = details, arena_bytes
        self._returned = [self._returned_place(place) for place in details.results]
        self._setup = self._frame_setup()
        self._steps = [step for segment in self._segments() for step in segment.frame_steps()]
        self._free: list[Frame] = []
        self._lock = threading.Lock()

    def run(
        self, inputs: Sequence[Array], max_steps: int | None, tap: Tap | None, state: dict[str, Array]
    ) -> list[Array]:
        """Run on arrays of the planned shapes, and return fresh result arrays."""
        return self._run(self._steps, inputs, Run(max_steps, tap, state))

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None, state: dict[str, Array]
    ) -> tuple[list[Array], list[tuple[Coverage, float]]]:
        """Run, and return the results and the seconds of each step; all iterations of a step in a loop are included."""
        seconds = np.zeros(len(self._details.steps))
        steps = [step for segment in self._segments() for step in segment.timed_steps(seconds)]
        results = self._run(steps, inputs, Run(max_steps, state=state))
        coverage = (step.coverage for step in self._details.steps)
        return results, list(zip(coverage, seconds.tolist(), strict=True))

    def _segments(self) -> Iterator["_KernelSegment | _ValueSegment"]:
        first = 0
        for steps in self._details.segments:
            calls = [step for step in steps if isinstance(step, CallStep)]
            kernels = [step for step in calls if isinstance(step.call, kernel_calls.KernelCall)]
            yield _KernelSegment(kernels, first) if len(kernels) == len(steps) else _ValueSegment(steps, first)
            first += len(steps)

    def _run(self, steps: Sequence[FrameStep], inputs: Sequence[Array], execution: Run) -> list[Array]:
        with self._lock:
            workspace = self._free.pop() if self._free else None
        if workspace is None:
            workspace = self._workspace()
        frame = workspace.copy()
        frame[0] = execution
        for place, array in zip(self._details.inputs, inputs, strict=True):
            frame[place.slot] = array
        for set_up in self._setup:
            set_up(frame)
        with np.errstate(all="ignore"):
            for step in steps:
                step(frame)
        results = [_result(frame[slot], shape, is_own) for slot, shape, is_own in self._returned]
        with self._lock:
            self._free.append(workspace)
        return results

    def _frame_setup(self) -> list[FrameStep]:
        """Return functions that set the slots whose arrays differ from run to run, such as inputs that are memrefs."""
        slots = self._details.slots
        setup: list[FrameStep] = []
        for number, place in enumerate(self._details.inputs):
            if isinstance(place.declared, MemRefType):
                setup.append(_take_memref(number, place, place.declared))
        by_kind: dict[str, Callable[[int, PlanSlot], FrameStep]] = {"owned": _allocate, "state": _take_global}
        setup += [by_kind[slot.kind](number, slot) for number, slot in slots.items() if slot.kind in by_kind]
        setup += [_take_view(n, s) for n, s in self._views() if slots[root(slots, n)[0]].kind != "temporary"]
        return setup

    def _views(self) -> list[tuple[int, PlanSlot]]:
        """Return the slots that are views, ordered so that a view follows the slot that it views."""
        slots = self._details.slots

        def depth(number: int) -> int:
            slot = slots[number]
            return 1 + depth(slot.base) if slot.kind == "view" else 0

        return sorted(((n, s) for n, s in slots.items() if s.kind == "view"), key=lambda view: depth(view[0]))

    def _returned_place(self, place: SlotView) -> tuple[int, tuple[int, ...] | None, bool]:
        """Return (slot of a result, its shape, True if the array may be returned to the caller without a copy)."""
        is_own = isinstance(place.declared, MemRefType) or self._details.slots[place.slot].kind == "owned"
        return place.slot, None if place.type is None else place.shape, is_own

    def _workspace(self) -> Frame:
        """Return a new frame with its own arena; the slots of temporaries have views of the arena."""
        slots, frame = self._details.slots, self._details.frame.copy()
        raw = np.empty(self._arena_bytes + ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % ALIGNMENT
        for index, slot in slots.items():
            if slot.kind == "temporary":
                at = start + slot.offset
                shape, dtype = layout(slot)
                frame[index] = raw[at : at + slot.nbytes].view(dtype).reshape(shape)
        for index, slot in self._views():
            if slots[root(slots, index)[0]].kind == "temporary":
                frame[index] = viewed_array(frame[slot.base], slot)
        return frame


class _KernelSegment:
    """Consecutive kernels, run by one executable on arrays of the frame."""

    def __init__(self, steps: Sequence[CallStep], first: int) -> None:
        self._steps, self._first = steps, first
        self._executable, self._slots = segment_executable(steps, first)

    def frame_steps(self) -> list[FrameStep]:
        return [lambda frame: self._run(frame, None)]

    def timed_steps(self, seconds: Array) -> list[FrameStep]:
        own = seconds[self._first : self._first + len(self._steps)]
        return [lambda frame: self._run(frame, own)]

    def _run(self, frame: Frame, seconds: Array | None) -> None:
        """Run the kernels, and count them against ``max_steps``, the limit of steps of a run.

        If ``seconds`` is given, the time of each kernel is added to it.
        """
        execution = frame[0]
        most_rounds, max_steps = (None if limit == np.inf else limit for limit in (execution.rounds, execution.steps))
        try:
            left = self._executable.run_over([frame[slot] for slot in self._slots], most_rounds, max_steps, seconds)
        except KernelError as error:
            if error.step is None:
                raise
            raise_located(self._steps[error.step].operation, error)
        if left is not None:
            execution.steps = left


class _ValueSegment:
    """Consecutive steps that are not kernels."""

    def __init__(self, steps: Sequence[Step], first: int) -> None:
        self._steps, self._first = steps, first

    def frame_steps(self) -> list[FrameStep]:
        return [action for step in self._steps for action in _actions(step)]

    def timed_steps(self, seconds: Array) -> list[FrameStep]:
        return [_timed(_actions(step), seconds, number) for number, step in enumerate(self._steps, self._first)]


def _actions(step: Step) -> list[FrameStep]:
    return step.runs if isinstance(step, ValueStep) else [step]


def _timed(actions: Sequence[FrameStep], seconds: Array, number: int) -> FrameStep:
    def run(frame: Frame) -> None:
        start = perf_counter()
        for action in actions:
            action(frame)
        seconds[number] += perf_counter() - start

    return run


def _allocate(number: int, slot: PlanSlot) -> FrameStep:
    shape, dtype = layout(slot)

    def fill(frame: Frame) -> None:
        frame[number] = np.empty(shape, dtype)

    return fill


def _take_global(number: int, slot: PlanSlot) -> FrameStep:
    def fill(frame: Frame) -> None:
        frame[number] = frame[0].state[slot.name]

    return fill


def _take_view(number: int, slot: PlanSlot) -> FrameStep:
    def fill(frame: Frame) -> None:
        frame[number] = viewed_array(frame[slot.base], slot)

    return fill


def _take_memref(number: int, place: SlotView, declared: MemRefType) -> FrameStep:
    def fill(frame: Frame) -> None:
        frame[place.slot] = memref_argument(frame[place.slot], declared, number)

    return fill


def _result(value: Any, shape: tuple[int, ...] | None, is_own: bool) -> Array:
    array: Array = np.asarray(value)
    if shape is not None:
        array = array.reshape(shape)
    return array if is_own else array.copy()
