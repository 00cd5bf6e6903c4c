"""Sweeps programs: prints what was executed, and everything that a pass changed."""

import argparse
import sys

from tests.ir.passes.values.report import swept

parser = argparse.ArgumentParser(prog="python -m tests.ir.passes.values", description=__doc__)
parser.add_argument("--programs", type=int, default=2000)
parser.add_argument("--seed", default="1")
given = parser.parse_args()
result = swept(given.programs, given.seed)
print(result.text)
sys.exit(bool(result.failures))
