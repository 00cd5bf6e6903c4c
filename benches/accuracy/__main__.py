"""Trains the three networks, quantizes them, and writes docs/accuracy.md.

    python -m benches.accuracy [--networks digits mnist vowels] [--jobs 1] [--kept]

The exit status is 1 if a threshold is missed. The trained networks are kept in build/accuracy for other runtimes.
"""

import argparse
import sys

from threadpoolctl import threadpool_limits

from benches.accuracy import page
from benches.accuracy.data import digits, keep, mnist, vowels
from benches.accuracy.measure import Case
from benches.accuracy.rows import kept_case, rows_of
from benches.accuracy.train import trained

DATA = {"digits": digits, "mnist": mnist, "vowels": vowels}


def case_of(name: str) -> Case:
    """A network, trained; its constants are kept in a file."""
    split = DATA[name]()
    with threadpool_limits(limits=1):  # products this small lose time to BLAS's threads
        constants = trained(name, split)
    keep(name, split, constants)
    return Case.of(name, split, constants)


def main(arguments: list[str] | None = None) -> int:
    """Measures and writes; returns the exit status."""
    parser = argparse.ArgumentParser(description="accuracy of quantized networks")
    parser.add_argument("--networks", nargs="*", choices=DATA, default=list(DATA), help="none: the head of the page")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes measure")
    parser.add_argument("--kept", action="store_true", help="take the networks that a run before has trained")
    options = parser.parse_args(arguments)
    page.write({})
    missed = []
    for name in options.networks:
        case = kept_case(name) if options.kept else case_of(name)
        rows = rows_of(case, options.jobs)
        page.write({name: page.section(case, rows)})
        missed += page.missed(case, rows)
    print("\n".join(missed), file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
