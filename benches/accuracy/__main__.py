"""Trains the three networks, quantizes them, and writes docs/accuracy.md.

    python -m benches.accuracy [--networks digits mnist vowels]

The exit status is 1 if a threshold is missed. The trained networks are kept in build/accuracy for other runtimes.
"""

import argparse
import sys
import time
from fractions import Fraction

from threadpoolctl import threadpool_limits

from benches.accuracy import page
from benches.accuracy.assignments import assignments
from benches.accuracy.data import digits, keep, mnist, vowels
from benches.accuracy.measure import BUDGET, Case, Row, measured
from benches.accuracy.train import trained
from qrt.calibrate.records import RECORD_METHODS
from qrt.workflow.gains import OPTIONAL_PASSES

DATA = {"digits": digits, "mnist": mnist, "vowels": vowels}
TARGETS = ("qrt-cpu", "int4-weights")


def case_of(name: str) -> Case:
    """A network, trained; its constants are kept in a file."""
    split = DATA[name]()
    with threadpool_limits(limits=1):  # products this small lose time to BLAS's threads
        constants = trained(name, split)
    keep(name, split, constants)
    return Case.of(name, split, constants)


def rows_of(case: Case) -> list[Row]:
    """Each method with the passes that gain, and with the default method each pass alone, and none."""
    rows = []
    for target in TARGETS:
        rows += [measured(case, target, method) for method in RECORD_METHODS]
        rows += [measured(case, target, passes=passes) for passes in ((), *((name,) for name in OPTIONAL_PASSES))]
    if case.name == "digits":
        rows.append(measured(case, "qrt-cpu", budget=BUDGET))
        rows += assignments(case, Fraction(BUDGET.partition("=")[2]))
    return rows


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description="accuracy of quantized networks")
    parser.add_argument("--networks", nargs="+", choices=DATA, default=list(DATA))
    missed = []
    for name in parser.parse_args(arguments).networks:
        start = time.process_time()
        case = case_of(name)
        rows = rows_of(case)
        page.write(name, page.section(case, rows))
        missed += page.missed(case, rows)
        print(f"{name}: {time.process_time() - start:.0f} s of CPU time", flush=True)
    print("\n".join(missed), file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
