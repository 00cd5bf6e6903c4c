"""Many cases of every kind: counted, findings grouped by cause, one of each cause minimized and written."""

import re
import time
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from tests.fuzz import worker
from tests.fuzz.kinds import KINDS, Kind
from tests.fuzz.minimize import minimized
from tests.fuzz.worker import Outcome

_BATCH = 250
"""Cases of one fork. Between batches time is asked for."""
_SLOW = 0.5
"""The part of a case's time that is worth a line."""


@dataclass
class Campaign:
    """What came of cases."""

    processes: int = 2
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    seconds: Counter[str] = field(default_factory=Counter)
    causes: dict[tuple[Kind, str], list[tuple[Outcome, str]]] = field(default_factory=lambda: defaultdict(list))
    slow: list[tuple[float, str]] = field(default_factory=list)

    def run(self, kind: Kind, given: Iterable[tuple[int, str]]) -> None:
        """These cases, each with its number."""
        cases = dict(given)
        for outcome in worker.run(kind, cases.items(), self.processes):
            self.counts[kind.name][outcome.label or "finding"] += 1
            self.seconds[kind.name] += outcome.seconds
            if outcome.cause:
                self.causes[kind, outcome.cause].append((outcome, cases[outcome.number]))
            elif outcome.seconds > _SLOW * worker.SLOWNESS * kind.seconds:
                self.slow.append((outcome.seconds, f"{kind.name} {outcome.number}"))

    def run_cases(self, name: str, numbers: range, seed: str) -> None:
        """The cases with these numbers. Not all are held at once: some kinds have large ones."""
        for first in range(0, len(numbers), _BATCH):
            self.run(KINDS[name], KINDS[name].cases(seed, numbers[first : first + _BATCH]))

    def run_for(self, seconds: float, names: Sequence[str], seed: str) -> None:
        """As many cases of each kind as take an equal part of the CPU time, until the wall time is over."""
        end, done = time.monotonic() + seconds, Counter(dict.fromkeys(names, 0))
        while time.monotonic() < end:
            name = min(names, key=lambda name: (self.seconds[name], names.index(name)))
            self.run(KINDS[name], KINDS[name].cases(seed, range(done[name], done[name] + _BATCH)))
            done[name] += _BATCH

    # -- the report --------------------------------------------------------------------------------------------------

    def report(self, folder: Path, seconds: float) -> Iterator[str]:
        """Lines that say it all. One case of each cause is minimized for at most so long, and written to the folder."""
        for name, counts in self.counts.items():
            listed = ", ".join(f"{label} {count}" for label, count in counts.most_common())
            yield f"{name:9} {counts.total():8} cases, {self.seconds[name]:7.1f} s CPU: {listed}"
        for took, what in sorted(self.slow, reverse=True)[:5]:
            yield f"slow      {took:.2f} s: {what}"
        for (kind, cause), found in sorted(self.causes.items(), key=lambda item: -len(item[1])):
            path = self._written(folder, kind, cause, *found[0], seconds)
            yield f"FINDING   {len(found):5} of {kind.name}: {cause}\n          {path}"
        found = [outcome for outcomes in self.causes.values() for outcome, _ in outcomes]
        hung = sum(outcome.cause.startswith("hang") for outcome in found)
        crashed = sum(outcome.has_died and not outcome.cause.startswith("hang") for outcome in found)
        yield f"crashed {crashed}, hung {hung}, other exceptions {len(found) - crashed - hung}"
        yield f"{sum(counts.total() for counts in self.counts.values())} cases, {len(self.causes)} findings"

    def _written(self, folder: Path, kind: Kind, cause: str, outcome: Outcome, case: str, seconds: float) -> Path:
        smallest = minimized(case, lambda text: worker.outcome_of(kind, text).cause == cause, seconds)
        stem = re.sub(r"\W+", "_", cause)[:80].strip("_")
        path = folder / kind.name / f"{stem}_{outcome.number}"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(smallest.encode(kind.encoding, "surrogatepass"))
        told = f"{cause}\ncase {outcome.number}\n{outcome.detail}\n-- as it was --\n{case}\n"
        path.with_suffix(".report").write_text(told, errors="backslashreplace")
        return path
