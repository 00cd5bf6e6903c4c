"""Arena allocation: offsets for a plan's temporaries, so that those live at the same time do not overlap.

A result that a kernel may write over its operand becomes a view of the operand.
"""

from bisect import bisect_left, insort
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from qrt._ext import kernels as kernel_calls
from qrt.runtime.planner.slots import CallStep, PlanSlot, Step, root

ALIGNMENT = 64
_MOST_SORTED = 128
"""The largest number of temporaries for which placement by size is also tried, because its time is quadratic."""


@dataclass(eq=False)
class Span:
    """A temporary: its size in bytes, and the first and last step that use it. ``offset`` is set by `allocate`."""

    nbytes: int
    first: int
    last: int
    offset: int = 0


def allocate(spans: Sequence[Span]) -> int:
    """Set the offset of each span so that the arena is small, and return the size of the arena in bytes."""
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
    """Return the most bytes that are live at the same time, a lower bound for the size of the arena."""
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
    """Return the alignment in bytes for a temporary of this size: a cache line, or less for a small temporary."""
    return ALIGNMENT if nbytes >= 16 * ALIGNMENT else 16 if nbytes >= 256 else 8


def _in_order_of_size(spans: Sequence[Span]) -> int:
    """Place spans in descending order of size, each at the lowest free offset. Return the size of the arena."""
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
    """Place spans in the order of their first steps, each in the smallest gap that fits. Return the arena's size."""
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
    """The free parts of an arena, without overlapping or adjacent gaps. All bytes from offset `top` on are free too."""

    def __init__(self) -> None:
        self.top = 0
        self.by_size: list[tuple[int, int]] = []  # (size, begin), sorted
        self.begins: dict[int, int] = {}
        self.ends: dict[int, int] = {}

    def take(self, size: int) -> int:
        """Allocate ``size`` bytes in the smallest gap that fits, and return their offset."""
        if size == 0:
            return 0
        place = bisect_left(self.by_size, (size, 0))
        if place == len(self.by_size):
            begin = self.ends.get(self.top, self.top)
            if begin < self.top:
                self._remove(begin, self.top)
            self.top = begin + size
            return begin
        gap, begin = self.by_size[place]
        self._remove(begin, begin + gap)
        if gap > size:
            self._add(begin + size, begin + gap)
        return begin

    def give(self, begin: int, end: int) -> None:
        """Free the bytes from ``begin`` to ``end``, and merge them with adjacent gaps."""
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
    """Turn each result that may overwrite an operand into a view of this operand, in ``slots``.

    Return the steps; the coverage of a step with such a result says "in place".
    """
    return [
        marked_in_place(step) if isinstance(step, CallStep) and _overwrites(slots, step, number) else step
        for number, step in enumerate(steps)
    ]


def _overwrites(slots: Mapping[int, PlanSlot], step: CallStep, number: int) -> bool:
    """Make a step's result a view of the first operand that its kernel may overwrite; return False if there is none."""
    if not step.results:
        return False
    result = slots[step.slots[-1]]
    if result.kind != "temporary" or result.nbytes == 0:
        return False
    for place in overwritable(slots, step):
        memory = slots[place[0]]
        if memory.kind == "temporary" and memory.last == number:
            result.kind, (result.base, result.offset) = "view", place
            memory.last = max(memory.last, result.last)
            return True
    return False


def overwritable(slots: Mapping[int, PlanSlot], step: CallStep) -> list[tuple[int, int]]:
    """Return the operands that the kernel may overwrite with its result.

    An operand is returned as `root` returns it: (slot that owns the operand's memory, offset in bytes).
    """
    if not isinstance(step.call, kernel_calls.KernelCall):
        return []
    *given, _ = [root(slots, slot) for slot in step.slots]
    allowed = step.call.in_place
    wrong = {place[0] for i, place in enumerate(given) if i not in allowed}
    # Operands in the same memory must be at exactly the same place.
    apart = {number for number, offset in given for other in given if other[0] == number and other[1] != offset}
    return [given[i] for i in allowed if given[i][0] not in wrong | apart]


def marked_in_place(step: CallStep) -> CallStep:
    """Return a step whose coverage says that its result overwrites an operand."""
    kernel, fused, names = step.coverage.detail.partition(" with ")
    return replace(step, coverage=step.coverage._replace(detail=f"{kernel} in place{fused}{names}"))
