"""Arenas: where the temporaries of a plan stand, so that none overlap while both live, but for a result that is written
over an operand.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qrt._ext import kernels as kernel_calls
from qrt.runtime.planner.slots import CallStep, PlanSlot, Step, root

ALIGNMENT = 64
_MOST_SORTED = 128
"""Up to so many temporaries are placed by size too, which compares each with each."""


@dataclass(eq=False)
class Span:
    """A temporary: its bytes, and the first and the last step that use it. ``offset`` is found."""

    nbytes: int
    first: int
    last: int
    offset: int = 0


def allocate(spans: Sequence[Span]) -> int:
    """Gives each an offset, and returns the bytes needed: the better of two orders."""
    by_time = _in_order_of_time(spans)
    least = live_bytes(spans)
    if by_time <= least or len(spans) > _MOST_SORTED:
        return by_time
    offsets = [span.offset for span in spans]
    by_size = _in_order_of_size(spans)
    if by_time <= by_size:
        for span, offset in zip(spans, offsets, strict=True):
            span.offset = offset
    return min(by_time, by_size)


def live_bytes(spans: Iterable[Span]) -> int:
    """The most bytes that live at once: no arena is smaller."""
    changes: dict[int, int] = {}
    for span in spans:
        changes[span.first] = changes.get(span.first, 0) + span.nbytes
        changes[span.last + 1] = changes.get(span.last + 1, 0) - span.nbytes
    most = total = 0
    for step in sorted(changes):
        total += changes[step]
        most = max(most, total)
    return most


def _alignment(nbytes: int) -> int:
    """Small ones stand closer: a cache line for each would be most of their arena."""
    return ALIGNMENT if nbytes >= 16 * ALIGNMENT else 16 if nbytes >= 256 else 8


def _in_order_of_size(spans: Sequence[Span]) -> int:
    """The largest first, each at the lowest place that is free as long as it lives."""
    placed: list[Span] = []  # by offset
    top = 0
    for span in sorted(spans, key=lambda s: (-s.nbytes, s.first)):
        span.offset = 0
        if span.nbytes == 0:
            continue
        to = _alignment(span.nbytes)
        for other in placed:
            if other.first > span.last or span.first > other.last:
                continue
            if span.offset + span.nbytes <= other.offset:
                break
            end = -(-(other.offset + other.nbytes) // to) * to
            span.offset = max(span.offset, end)
        insort(placed, span, key=lambda s: s.offset)
        top = max(top, span.offset + span.nbytes)
    return top


def _in_order_of_time(spans: Sequence[Span]) -> int:
    """In the order in which they begin to live, each in the smallest gap that holds it."""
    gaps = _FreeGaps()
    living: list[tuple[int, int, int, int]] = []  # (last step, number, begin, end), sorted
    for number, span in enumerate(sorted(spans, key=lambda s: (s.first, -s.nbytes))):
        while living and living[0][0] < span.first:
            _, _, begin, end = living.pop(0)
            gaps.give(begin, end)
        size = -(-span.nbytes // ALIGNMENT) * ALIGNMENT
        span.offset = gaps.take(size)
        insort(living, (span.last, number, span.offset, span.offset + size))
    return max((span.offset + span.nbytes for span in spans), default=0)


class _FreeGaps:
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


def overwritten(slots: Mapping[int, PlanSlot], steps: Sequence[Step]) -> list[Step]:
    """The steps, of which those that write over an operand say so. Their results become views of it."""
    return [_marked(step) if _overwrites(slots, step, number) else step for number, step in enumerate(steps)]


def _overwrites(slots: Mapping[int, PlanSlot], step: Step, number: int) -> bool:
    """Has a step write over the first operand that allows it. Returns whether there is one."""
    if not isinstance(step, CallStep) or not isinstance(step.call, kernel_calls.KernelCall) or not step.results:
        return False
    *given, written = step.slots
    result = slots[written]
    if result.kind != "temporary" or result.nbytes == 0:
        return False
    allowed = step.call.in_place
    for operand in allowed:
        place = root(slots, given[operand])
        memory = slots[place[0]]
        if memory.kind != "temporary" or memory.last != number:
            continue
        # What is read from the same memory must stand exactly where the operand does.
        read = [i for i, slot in enumerate(given) if root(slots, slot)[0] == place[0]]
        if all(i in allowed and root(slots, given[i]) == place for i in read):
            result.kind, (result.base, result.offset) = "view", place
            memory.last = max(memory.last, result.last)
            return True
    return False


def _marked(step: Step) -> Step:
    kernel, fused, names = step.coverage.detail.partition(" with ")
    return replace(step, coverage=replace(step.coverage, detail=f"{kernel} in place{fused}{names}"))
