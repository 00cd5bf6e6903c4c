"""Plans: a function for concrete input shapes, as steps over one frame of values. Maximal runs of kernel steps are one
call into C, and the interpreter's steps stand between them. Both read and write slots of one frame: an array for a
kernel, any value for an op of the interpreter.
"""

import threading
from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod
from operator import itemgetter
from time import perf_counter
from typing import Any, TypeGuard

import numpy as np

from qrt import kernels
from qrt._seam import _core
from qrt.errors import QuantError
from qrt.execute.interpret.core import Frame, Run, Tap, raise_located
from qrt.execute.interpret.core import Step as FrameStep
from qrt.ir import Operation
from qrt.ops.core import Array, BoundCall, element_dtype, static_shape
from qrt.types import MemRefType, TensorType, Type

_ALIGNMENT = 64


@dataclass(frozen=True)
class Coverage:
    """Where one op of the program runs: ``kernel`` (``detail`` names the entry and its ISA), ``reference``,
    ``interpreter``, ``constant`` or ``alias``."""

    op: str
    location: str
    engine: str
    detail: str = ""


@dataclass
class Slot:
    """The content of one slot of the frame: an ``input`` or a ``constant``; a ``temporary`` in the arena or an array
    ``owned`` by one run, both of ``type``; a ``value`` in the interpreter's form; an ``array`` that is made of such a
    value.
    """

    kind: str
    type: TensorType | None
    first: int = 0
    last: int = 0
    offset: int = 0

    @property
    def static_type(self) -> TensorType:
        assert self.type is not None  # buffers are made for known types
        return self.type

    @property
    def nbytes(self) -> int:
        return prod(static_shape(self.static_type, "plan")) * element_dtype(self.static_type.element).itemsize


@dataclass(frozen=True)
class Place:
    """A value of the program: its slot, and the static type under which this name sees it; None where only the run
    knows its shape, or where it is no tensor. ``declared`` is its type in the program."""

    slot: int
    type: TensorType | None
    declared: Type

    @property
    def shape(self) -> tuple[int, ...]:
        assert self.type is not None  # as for Slot.static_type
        return static_shape(self.type, "plan")


@dataclass(frozen=True)
class CallStep:
    """A call on arrays, of which it writes the last, one for each result. ``operands`` are those of the op, packed ones
    too.
    """

    operation: Operation
    call: BoundCall
    slots: tuple[int, ...]
    coverage: Coverage
    operands: Sequence[Place]
    results: Sequence[Place]

    def __call__(self, frame: Frame) -> None:
        try:
            self.call(*(frame[slot] for slot in self.slots))
        except QuantError as error:
            raise_located(self.operation, error)


@dataclass(frozen=True)
class ValueStep:
    """An op by the interpreter: what it does with the frame."""

    runs: list[FrameStep]
    coverage: Coverage
    operands: Sequence[Place]
    results: Sequence[Place]


Step = CallStep | ValueStep


class Plan:
    """One function planned for one set of input types. ``run`` may be called from many threads at once. The frame has
    the constants in their slots."""

    def __init__(
        self,
        slots: Mapping[int, Slot],
        inputs: Sequence[Place],
        steps: Sequence[Step],
        results: Sequence[Place],
        frame: Frame,
    ) -> None:
        self.slots, self.inputs, self.results = slots, inputs, results
        self.coverage = [step.coverage for step in steps]
        self.isa = kernels.active()
        self.arena_bytes = _allocate(slots.values())
        self._owned = [(index, *_layout(slot)) for index, slot in slots.items() if slot.kind == "owned"]
        self.segments = _segments(steps)
        self._frame = frame
        self._taken = [place.slot for place in inputs]
        self._returned = [self._made_own(place) for place in results]
        self._runs = [run for segment in self.segments for run in _runs(segment)]
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
        return self._run(self._runs, inputs, Run(max_steps, tap, state))

    def run_timed(
        self, inputs: Sequence[Array], max_steps: int | None = None, state: dict[str, Array] | None = None
    ) -> tuple[list[Array], list[tuple[Coverage, float]]]:
        """The results, and the seconds of each step, which is then a call by itself."""
        seconds: list[tuple[Coverage, float]] = []

        def timed(step: Step) -> FrameStep:
            runs = step.runs if isinstance(step, ValueStep) else [step]

            def run(frame: Frame) -> None:
                start = perf_counter()
                for action in runs:
                    action(frame)
                seconds.append((step.coverage, perf_counter() - start))

            return run

        runs = [timed(step) for segment in self.segments for step in segment]
        return self._run(runs, inputs, Run(max_steps, state=state)), seconds

    def _run(self, runs: Sequence[FrameStep], inputs: Sequence[Array], execution: Run) -> list[Array]:
        with self._lock:
            workspace = self._free.pop() if self._free else None
        if workspace is None:
            workspace = self._workspace()
        frame = workspace.copy()
        frame[0] = execution
        for index, array in zip(self._taken, inputs, strict=True):
            frame[index] = array
        for index, shape, dtype in self._owned:
            frame[index] = np.empty(shape, dtype)
        with np.errstate(all="ignore"):
            for run in runs:
                run(frame)
        results = [_result(frame[slot], shape, is_own) for slot, shape, is_own in self._returned]
        with self._lock:
            self._free.append(workspace)
        return results

    def _made_own(self, place: Place) -> tuple[int, tuple[int, ...] | None, bool]:
        """The slot of a result, the shape that it has under this name, and whether the caller owns its memory, as it
        always does with a memref.
        """
        is_own = isinstance(place.declared, MemRefType) or self.slots[place.slot].kind == "owned"
        return place.slot, None if place.type is None else place.shape, is_own

    def _workspace(self) -> Frame:
        """The frame with an arena of its own, of which the temporaries are views."""
        frame = self._frame.copy()
        raw = np.empty(self.arena_bytes + _ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT
        for index, slot in self.slots.items():
            if slot.kind == "temporary":
                at = start + slot.offset
                shape, dtype = _layout(slot)
                frame[index] = raw[at : at + slot.nbytes].view(dtype).reshape(shape)
        return frame


def _result(value: Any, shape: tuple[int, ...] | None, is_own: bool) -> Array:
    array: Array = np.asarray(value)
    if shape is not None:
        array = array.reshape(shape)
    return array if is_own else array.copy()


def _layout(slot: Slot) -> tuple[tuple[int, ...], np.dtype[Any]]:
    return static_shape(slot.static_type, "plan"), element_dtype(slot.static_type.element)


def empty(t: TensorType) -> Array:
    """An array of a static type, not filled."""
    return np.empty(static_shape(t, "plan"), element_dtype(t.element))


def is_kernel(call: BoundCall) -> TypeGuard[_core.Call]:
    """Whether a call is one entry of C, which a run of them can hold."""
    return isinstance(call, _core.Call)


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
    """The functions to call for a segment, in order."""
    calls = [step for step in segment if isinstance(step, CallStep)]
    kernels = [step.call for step in calls if is_kernel(step.call)]
    if len(kernels) < len(segment):
        return [run for step in segment for run in (step.runs if isinstance(step, ValueStep) else [step])]
    used = list(dict.fromkeys(slot for step in calls for slot in step.slots))
    number = {slot: index for index, slot in enumerate(used)}
    plan = _core.Plan(kernels, [[number[slot] for slot in step.slots] for step in calls], len(used))
    buffers = itemgetter(*used)
    return [lambda frame: plan.run(buffers(frame))]


def _allocate(slots: Iterable[Slot]) -> int:
    """Gives every temporary an offset so that none overlap while both live: in the order in which they begin to, the
    smallest gap that holds it. Returns the bytes needed."""
    gaps = _Gaps()
    living: list[tuple[int, int, int, int]] = []  # (last step, number, begin, end), the first to end before the others
    temporaries = [slot for slot in slots if slot.kind == "temporary"]
    for number, slot in enumerate(sorted(temporaries, key=lambda s: (s.first, -s.nbytes))):
        while living and living[0][0] < slot.first:
            _, _, begin, end = heappop(living)
            gaps.give(begin, end)
        size = -(-slot.nbytes // _ALIGNMENT) * _ALIGNMENT
        slot.offset = gaps.take(size)
        heappush(living, (slot.last, number, slot.offset, slot.offset + size))
    return max((slot.offset + slot.nbytes for slot in temporaries), default=0)


class _Gaps:
    """The free bytes of an arena, as maximal gaps. Behind `top` there are as many as needed."""

    def __init__(self) -> None:
        self.top = 0
        self.by_size: list[tuple[int, int]] = []  # (size, begin), sorted
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def take(self, size: int) -> int:
        """Takes so many bytes, and returns where they begin."""
        if size == 0:
            return 0
        place = bisect_left(self.by_size, (size, 0))
        if place == len(self.by_size):
            begin = self.ends.get(self.top, self.top)
            if begin < self.top:
                self._remove(begin, self.top)
            self.top = begin + size
            return begin
        found, begin = self.by_size[place]
        self._remove(begin, begin + found)
        if found > size:
            self._add(begin + size, begin + found)
        return begin

    def give(self, begin: int, end: int) -> None:
        """Frees bytes, and joins them with the gaps beside them."""
        if begin == end:
            return
        before, behind = self.ends.get(begin), self.begins.get(end)
        if before is not None:
            self._remove(before, begin)
            begin = before
        if behind is not None:
            self._remove(end, behind)
            end = behind
        self._add(begin, end)

    def _add(self, begin: int, end: int) -> None:
        self.begins[begin], self.ends[end] = end, begin
        insort(self.by_size, (end - begin, begin))

    def _remove(self, begin: int, end: int) -> None:
        del self.begins[begin], self.ends[end]
        del self.by_size[bisect_left(self.by_size, (end - begin, begin))]
