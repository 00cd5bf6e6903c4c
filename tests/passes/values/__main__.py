"""Sweeps programs and prints what was found."""

import argparse
import sys
from itertools import islice

from tests.oracle.draw_types import Draw
from tests.passes.values.fired import watched
from tests.passes.values.programs import drawn, written
from tests.passes.values.sweep import Sweep

parser = argparse.ArgumentParser(prog="python -m tests.passes.values", description=__doc__)
parser.add_argument("--programs", type=int, default=2000)
parser.add_argument("--seed", default="1")
parser.add_argument("--kind", default="")
given = parser.parse_args()

draw = Draw(f"values {given.seed}")
sweep = Sweep()
import time

start = time.process_time()
with watched() as registered:
    w = [p for p in written() if given.kind in p.source]
    print(len(w), time.process_time() - start)
    sweep.take(w, draw)
    print("after written", time.process_time() - start)
    sweep.take(islice(drawn(draw), max(0, given.programs - len(w))), draw)
print(time.process_time() - start)
print(sweep.counts, sweep.passes, sweep.kinds)
for group in (registered.folds, registered.patterns):
    print(len(group & sweep.executed), "of", len(group))
    for each in sorted(group - sweep.executed): print("   never", each, sweep.where.get(each, [])[:3])
print(*sweep.lost.most_common(80), sep="\n")
print('WRONG', len(registered.wrong), *registered.wrong[:20], sep='\n')
print(len(sweep.changed))
for each in sweep.changed[:40]:
    print("=" * 100)
    print(each)
sys.exit(bool(sweep.changed))
