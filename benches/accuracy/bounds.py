"""The choice of the bound of mnist's weights: networks are trained on 3,000 of the training images and compared on the
other 1,000. The held-out images are not used.

    python -m benches.accuracy.bounds [--bounds 2 1.75 1.5 1.25]

Each network has a distance to the nearer threshold of its two targets. The bound with the greatest distance is chosen.
"""

import argparse
import sys
from dataclasses import replace

from threadpoolctl import threadpool_limits

from benches.accuracy.data import Split, mnist
from benches.accuracy.measure import Case, measured
from benches.accuracy.page import THRESHOLDS
from benches.accuracy.train import SCHEDULES, trained

BOUNDS = (2.0, 1.75, 1.5, 1.25)
VALIDATED = 1000


def validation(split: Split) -> Split:
    """The training data of a split, of which the first images take the place of those that are held out."""
    return Split(
        split.train[VALIDATED:], split.train_labels[VALIDATED:], split.train[:VALIDATED], split.train_labels[:VALIDATED]
    )


def main(arguments: list[str] | None = None) -> int:
    """Prints a line for each bound."""
    parser = argparse.ArgumentParser(description="the bound of mnist's weights, on validation data")
    parser.add_argument("--bounds", nargs="+", type=float, default=BOUNDS)
    split = validation(mnist())
    for bound in parser.parse_args(arguments).bounds:
        with threadpool_limits(limits=1):
            constants = trained("mnist", split, replace(SCHEDULES["mnist"], clip=bound))
        case = Case.of("mnist", split, constants)
        rows = [measured(case, target) for target, kind in THRESHOLDS if kind == "cnn"]
        found = ", ".join(f"{row.target} {row.snr:.2f} dB" for row in rows)
        print(f"{bound:g}: {case.right} right, {found}", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
