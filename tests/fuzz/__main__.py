"""Fuzzing by hand and in tests:

    python -m tests.fuzz --minutes 10 [--seed S] [--kind text ...]
    python -m tests.fuzz --cases 1000 --first 0 --seed 1 --kind eager
    python -m tests.fuzz --corpus
    python -m tests.fuzz --replay FILE --kind eager

Prints counts and findings; the status is 1 if there are any.
"""

import argparse
import sys
import time
from pathlib import Path

from tests.fuzz import seeds, worker
from tests.fuzz.campaign import Campaign
from tests.fuzz.kinds import KINDS, values


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz")
    parser.add_argument("--minutes", type=float, default=1.0, help="wall time, without that of minimizing")
    parser.add_argument("--seed", help="which cases are drawn; others each time if not given")
    parser.add_argument("--kind", action="append", choices=[*KINDS], help="all of them if not given")
    parser.add_argument("--first", type=int, default=0, help="the first case's number")
    parser.add_argument("--cases", type=int, help="so many of each kind, instead of minutes")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--minimize", type=float, default=20, metavar="SECONDS", help="spent on a finding at most")
    parser.add_argument("--output", type=Path, default=seeds.ROOT / "build/fuzz", help="where findings go")
    parser.add_argument("--values", type=int, default=1, help="compare those of one of so many models")
    parser.add_argument("--replay", type=Path, metavar="FILE", help="check one case, of one kind, and nothing else")
    parser.add_argument("--corpus", action="store_true", help="check every past finding, and nothing else")
    options = parser.parse_args()
    values.one_of = options.values
    names = options.kind or [*KINDS]
    if options.replay:
        return _replay(options.replay, names[0])
    campaign, seed = Campaign(options.processes), options.seed or str(time.time_ns())
    for name in names if options.corpus else ():
        campaign.run(KINDS[name], enumerate(seeds.corpus(name)))
    for name in names if options.cases is not None and not options.corpus else ():
        campaign.run_cases(name, range(options.first, options.first + options.cases), seed)
    if not campaign.counts:
        print(f"seed {seed}", flush=True)
        campaign.run_for(60 * options.minutes, names, seed)
    for line in campaign.report(options.output, options.minimize):
        print(line, flush=True)
    return int(bool(campaign.causes))


def _replay(path: Path, name: str) -> int:
    kind = KINDS[name]
    outcome = worker.outcome_of(kind, path.read_bytes().decode(kind.encoding, "surrogatepass"))
    print(outcome.label or f"{outcome.cause}\n{outcome.detail}")
    return int(bool(outcome.cause))


sys.exit(main())
