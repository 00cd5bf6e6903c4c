"""The engine that runs each step of a plan, and the measured times of the steps."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np


class Coverage(NamedTuple):
    """The engine that runs one op of the program.

    ``engine`` is one of:

    - ``kernel``: a kernel in C; ``detail`` has its name and instruction set;
    - ``control``: a jump between kernels; ``detail`` names the target step, counted from 0;
    - ``reference``: the op family's implementation in NumPy;
    - ``interpreter``: the interpreter; for a loop or a branch, ``detail`` has the reason;
    - ``machine code``: the whole function as machine code of LLVM for the CPU that ``detail`` names;
    - ``tap``: a call of the function that observes a `quant.stats_ref`.
    """

    op: str
    location: str
    engine: str
    detail: str = ""


class PlanTiming(NamedTuple):
    """The measured time of one step of a program.

    ``name`` is the step's operation, ``share`` its fraction of the seconds of all steps, ``location`` the operation's
    position in the text, and ``engine`` the kernel or interpreter that runs it, as in ``Program.coverage``."""

    name: str
    seconds: float
    share: float
    location: str
    engine: str


def shares(runs: Sequence[Sequence[tuple[Coverage, float]]]) -> list[PlanTiming]:
    """Return the timing of each step over several runs: its median seconds, and its share of the sum of all medians."""
    medians = [(steps[0][0], float(np.median([seconds for _, seconds in steps]))) for steps in zip(*runs, strict=True)]
    total = sum(seconds for _, seconds in medians)
    return [
        PlanTiming(
            coverage.op,
            seconds,
            seconds / total if total else 0.0,
            coverage.location,
            f"{coverage.engine} {coverage.detail}".rstrip(),
        )
        for coverage, seconds in medians
    ]
