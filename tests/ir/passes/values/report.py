"""A whole sweep: its counts, and why it fails."""

from dataclasses import dataclass
from itertools import islice

from tests.ir.passes.values.fired import watched
from tests.ir.passes.values.programs import drawn, written
from tests.ir.passes.values.sweep import Sweep
from tests.oracle.draw_types import Draw

NEVER = {
    "quant.dcast: fold_dcast": "it changes values: only `fold-dcast-qcast` asks for it",
    "scf.if: only_value": "`to_select`, which comes first, makes a selection of every value from outside",
}
"""Folds and patterns that fire on no program that is executed, with the reason."""
_SHOWN = 10


@dataclass(frozen=True)
class Report:
    text: str
    failures: list[str]


def swept(count: int, seed: str) -> Report:
    """`count` programs: those that are written, and as many drawn ones as are left."""
    draw, sweep = Draw(f"values {seed}"), Sweep()
    programs = list(written())
    with watched() as registered:
        sweep.take(programs, draw)
        sweep.take(islice(drawn(draw), max(0, count - len(programs))), draw)
    failures = [*registered.wrong, *sweep.changed]
    every = registered.folds | registered.patterns
    failures += [
        f"{name} fires on no program that is executed" for name in sorted(every - sweep.executed - NEVER.keys())
    ]
    failures += [f"{name} does fire, against the table" for name in sorted(NEVER.keys() & sweep.executed)]
    failures += [f"{name} is in the table, and not registered" for name in sorted(NEVER.keys() - every)]
    counts = ", ".join(f"{number} {name}" for name, number in sorted(sweep.counts.items()))
    lines = [
        f"seed {seed}: {counts}",
        *(
            f"{len(some & sweep.executed)} of {len(some)} {kind} fired on programs that were executed"
            for kind, some in (("folds", registered.folds), ("patterns", registered.patterns))
        ),
        f"programs that passes changed: {_listed(sweep.passes)}",
        f"programs from: {_listed(sweep.sources)}",
        f"{len(failures)} failures",
        *failures[:_SHOWN],
    ]
    return Report("\n".join(lines), failures)


def _listed(counts) -> str:
    return ", ".join(f"{name} {number}" for name, number in counts.most_common())
