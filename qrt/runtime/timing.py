"""How long the steps of a program took."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from qrt.runtime.planner.slots import Coverage


class PlanTiming(NamedTuple):
    """What one step of a program took: ``share`` is its part of the seconds of all steps, ``name`` its operation,
    ``location`` where that stands in the text, and ``engine`` what runs it, as in ``Program.coverage``."""

    name: str
    seconds: float
    share: float
    location: str
    engine: str


def shares(runs: "Sequence[Sequence[tuple[Coverage, float]]]") -> list[PlanTiming]:
    """The steps with the median of their seconds in several runs."""
    medians = [(steps[0][0], float(np.median([seconds for _, seconds in steps]))) for steps in zip(*runs, strict=True)]
    total = sum(seconds for _, seconds in medians)
    return [
        PlanTiming(
            found.op,
            seconds,
            seconds / total if total else 0.0,
            found.location,
            f"{found.engine} {found.detail}".rstrip(),
        )
        for found, seconds in medians
    ]
