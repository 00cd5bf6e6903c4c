"""Every assignment of 4 and 8 bits to the weights of a network that fits a budget: what a search has to find."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product

import qrt
from benches.accuracy.measure import Case, Row, compared
from benches.accuracy.programs import inputs
from qrt.quantization.comparison.measure import Reference
from qrt.quantization.search.bits import numbered, stored_bits, widths_of, with_widths
from qrt.quantization.search.runner import Runner
from qrt.quantization.steps import named, quantized
from qrt.quantization.targets.registry import find
from qrt.quantization.tuning.calibrate import calibrated
from qrt.quantization.tuning.optional_passes import with_corrected_bias

WIDTHS = (4, 8)


def assignments(case: Case, most: Fraction) -> Iterator[Row]:
    """Yield the results of the assignments whose weights take at most this share of their size with 8 bits each."""
    target = find("qrt-cpu")
    program = numbered(named(case.module, target))
    seen = calibrated(program.module, case.calibration, None, skip_nonfinite=False, checkpoint=None, progress=None)
    records, reference = seen.calibration.records, Reference(program, None, seen.sample.batches())
    run = Runner(program, target, records, "mse", reference, None, None)
    weights = [number for number, choice in enumerate(run.choices) if choice.is_weight]
    whole = 8 * sum(run.choices[number].elements for number in weights)
    for chosen in product(WIDTHS, repeat=len(weights)):
        widths = list(run.default)
        for number, width in zip(weights, chosen, strict=True):
            widths[number] = width
        trial = quantized(with_widths(program, run.choices, tuple(widths)), target, records, "mse")
        if Fraction(stored_bits(run.choices, widths_of(trial.regions)), whole) <= most:
            trial = with_corrected_bias(trial, target, reference)
            logits = qrt.compile(trial.module).run(inputs(case.name, case.split.test))["logits"]
            yield compared(case, "qrt-cpu", "mse", f"auto, widths {', '.join(map(str, chosen))}", logits)
