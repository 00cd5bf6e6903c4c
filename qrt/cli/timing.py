"""Table of execution times of steps, in the format of LLVM's tools."""

import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

_LINE = f"==={'-' * 73}===\n"


@dataclass
class TimedEntry:
    """A line of the table: the name of a step, its seconds, and its nesting depth."""

    name: str
    seconds: float
    depth: int = 0


def report(entries: Iterable[TimedEntry], total: float, digits: int = 4) -> str:
    """Return the table of times: a line for each step, one for the time outside all steps, and one for the total.

    Each line has the seconds and their share of `total`, which is in seconds. `digits` is the number of decimals.
    """
    steps = list(entries)
    rest = total - sum(entry.seconds for entry in steps if entry.depth == 0)
    title = "... Execution time report ...".center(79).rstrip()
    head = f"{_LINE}{title}\n{_LINE}  Total Execution Time: {total:.{digits}f} seconds\n\n"
    rows = [
        f"  {entry.seconds:8.{digits}f} ({100 * entry.seconds / total if total else 0:5.1f}%)  "
        f"{'  ' * entry.depth}{entry.name}\n"
        for entry in (*steps, TimedEntry("Rest", max(0.0, rest)), TimedEntry("Total", total))
    ]
    return f"{head}  ----Wall Time----  ----Name----\n{''.join(rows)}"


class Timing:
    """A context manager that collects the times of steps and, if `wanted` is True, prints their table at the end."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.entries: list[TimedEntry] = []
        self._open: list[tuple[str, TimedEntry]] = []  # what the last step is nested in
        self._start = time.perf_counter()

    def add(self, name: str, seconds: float, anchors: Sequence[str] = ()) -> None:
        """Record the seconds of a step; `anchors` are the op names in which it is nested, outermost first."""
        while self._open and [anchor for anchor, _ in self._open] != list(anchors[: len(self._open)]):
            self._open.pop()
        for depth in range(len(self._open), len(anchors)):
            self._open.append((anchors[depth], TimedEntry(f"'{anchors[depth]}' Pipeline", 0.0, depth)))
            self.entries.append(self._open[-1][1])
        for _, entry in self._open:
            entry.seconds += seconds
        self.entries.append(TimedEntry(name, seconds, len(anchors)))

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """Measure the `with` block, and record it as the step `name`."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)

    def __enter__(self) -> "Timing":
        return self

    def __exit__(self, *_: object) -> None:
        if self.wanted:
            sys.stderr.write(report(self.entries, time.perf_counter() - self._start))
