"""How long steps took, as LLVM's tools print it."""

import sys
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager

_LINE = f"==={'-' * 73}===\n"
Entry = tuple[str, float]
"""The name of a step, and its seconds."""


def report(entries: Iterable[Entry], total: float, digits: int = 4) -> str:
    """The table: a line for each step with its share of the total, one for what no step took, and the total."""
    steps = list(entries)
    lines = [*steps, ("Rest", max(0.0, total - sum(seconds for _, seconds in steps))), ("Total", total)]
    title = "... Execution time report ...".center(79).rstrip()
    head = f"{_LINE}{title}\n{_LINE}  Total Execution Time: {total:.{digits}f} seconds\n\n"
    rows = (
        f"  {seconds:8.{digits}f} ({100 * seconds / total if total else 0:5.1f}%)  {name}\n" for name, seconds in lines
    )
    return f"{head}  ----Wall Time----  ----Name----\n{''.join(rows)}"


class Timing:
    """Seconds per step, printed at the end where that is asked for."""

    def __init__(self, wanted: bool) -> None:
        self.wanted = wanted
        self.seconds: dict[str, float] = {}
        self.start = time.perf_counter()

    def add(self, name: str, seconds: float) -> None:
        """A step took so long, once more."""
        self.seconds[name] = self.seconds.get(name, 0.0) + seconds

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """What is done within it is a step."""
        start = time.perf_counter()
        try:
            yield
        finally:
            self.add(name, time.perf_counter() - start)

    def __enter__(self) -> "Timing":
        return self

    def __exit__(self, *_: object) -> None:
        if self.wanted:
            sys.stderr.write(report(self.seconds.items(), time.perf_counter() - self.start))
