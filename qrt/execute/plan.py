"""Plans: a function for concrete input shapes as steps over slots, and the buffers behind the slots.

Maximal runs of kernel steps are one call into C; what the interpreter runs stands between them, over one frame.
"""

import threading
from bisect import bisect_left, insort
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from math import prod
from typing import Any, TypeGuard

import numpy as np

from qrt import kernels
from qrt._seam import _core
from qrt.errors import QuantError
from qrt.execute.interpret.core import Frame, Run, raise_located
from qrt.ir import Operation
from qrt.ops.core import Array, BoundCall, element_dtype, static_shape
from qrt.types import TensorType

_ALIGNMENT = 64

Segment = Callable[[list[Any], Frame], None]
"""Steps that run together: reads and writes buffers, or the frame of the interpreter."""


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
    """What one buffer is: an ``input`` or a ``constant``; a ``temporary`` in the arena or an array ``owned`` by one
    run, both of ``type``; a ``value`` that an interpreted step puts there."""

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
class CallStep:
    """A call on slots, the last of which it writes."""

    operation: Operation
    call: BoundCall
    slots: tuple[int, ...]
    coverage: Coverage

    def __call__(self, buffers: list[Any], frame: Frame) -> None:
        try:
            self.call(*(buffers[slot] for slot in self.slots))
        except QuantError as error:
            raise_located(self.operation, error)


@dataclass(frozen=True)
class ValueStep:
    """Anything else: a segment of its own."""

    run: Segment
    coverage: Coverage

    def __call__(self, buffers: list[Any], frame: Frame) -> None:
        self.run(buffers, frame)


Step = CallStep | ValueStep


@dataclass(frozen=True)
class Result:
    """A value of the function's ``return``: the slot, and how it is made an array of the caller's own."""

    slot: int
    shape: tuple[int, ...] | None
    """None where only the run knows it."""
    is_shared: bool
    """Whether the caller gets the array in the slot itself: a memref."""


class Plan:
    """One function planned for one set of input types. ``run`` may be called from many threads at once."""

    def __init__(
        self,
        slots: list[Slot],
        constants: dict[int, Array],
        steps: Sequence[Step],
        results: Sequence[Result],
        template: Frame,
    ) -> None:
        self._slots, self._constants, self._results, self._template = slots, constants, results, template
        self.coverage = [step.coverage for step in steps]
        self.isa = kernels.active()
        self.arena_bytes = _allocate(slots)
        self._segments = _segments(steps, len(slots))
        self._free: list[dict[int, Array]] = []
        self._lock = threading.Lock()

    def run(self, inputs: Sequence[Array], max_steps: int | None = None) -> list[Array]:
        """Runs on arrays of the planned shapes and returns fresh result arrays."""
        with self._lock:
            temporaries = self._free.pop() if self._free else None
        if temporaries is None:
            temporaries = self._workspace()
        given = iter(inputs)
        buffers = [self._buffer(i, slot, given, temporaries) for i, slot in enumerate(self._slots)]
        frame = self._template.copy()
        frame[0] = Run(max_steps)
        with np.errstate(all="ignore"):
            for segment in self._segments:
                segment(buffers, frame)
        results = [self._result(result, buffers) for result in self._results]
        with self._lock:
            self._free.append(temporaries)
        return results

    def _buffer(self, index: int, slot: Slot, inputs: Iterator[Array], temporaries: Mapping[int, Array]) -> Any:
        if slot.kind == "input":
            return next(inputs)
        if slot.kind == "constant":
            return self._constants[index]
        if slot.kind == "value":
            return None
        return temporaries[index] if slot.kind == "temporary" else empty(slot.static_type)

    def _result(self, result: Result, buffers: Sequence[Any]) -> Array:
        array: Array = np.asarray(buffers[result.slot])
        if result.is_shared:
            return array
        if result.shape is not None:
            array = array.reshape(result.shape)
        return array if self._slots[result.slot].kind == "owned" else array.copy()

    def _workspace(self) -> dict[int, Array]:
        """One arena and the temporaries' views of it."""
        raw = np.empty(self.arena_bytes + _ALIGNMENT, np.uint8)
        start = -raw.ctypes.data % _ALIGNMENT
        views = {}
        for index, slot in enumerate(self._slots):
            if slot.kind == "temporary":
                at = start + slot.offset
                view = raw[at : at + slot.nbytes].view(element_dtype(slot.static_type.element))
                views[index] = view.reshape(static_shape(slot.static_type, "plan"))
        return views


def empty(t: TensorType) -> Array:
    """An array of a static type, not filled."""
    return np.empty(static_shape(t, "plan"), element_dtype(t.element))


def is_kernel(call: BoundCall) -> TypeGuard[_core.Call]:
    """Whether a call is one entry of C, which a run of them can hold."""
    return isinstance(call, _core.Call)


def _segments(steps: Sequence[Step], slot_count: int) -> list[Segment]:
    """Maximal runs of kernel steps as one C plan each; every other step by itself."""
    segments: list[Segment] = []
    run: list[CallStep] = []

    def flush() -> None:
        if run:
            calls = [step.call for step in run if is_kernel(step.call)]
            segments.append(_kernel_segment(_core.Plan(calls, [step.slots for step in run], slot_count)))
            run.clear()

    for step in steps:
        if isinstance(step, CallStep) and is_kernel(step.call):
            run.append(step)
            continue
        flush()
        segments.append(step)
    flush()
    return segments


def _kernel_segment(plan: _core.Plan) -> Segment:
    return lambda buffers, frame: plan.run(buffers)


def _allocate(slots: Sequence[Slot]) -> int:
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
    """The bytes of an arena that nobody has, as maximal gaps; behind `top` there are as many as are asked for."""

    def __init__(self) -> None:
        self.top = 0
        self.by_size: list[tuple[int, int]] = []  # (size, begin), sorted
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def take(self, size: int) -> int:
        """Where so many bytes are free; they no longer are."""
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
        """Bytes that are free again, one gap with those beside them."""
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
