"""The runs of a search, which quantize a program with given widths and measure its weights, outputs and metric."""

from collections.abc import Mapping

from qrt.quantization.calibration.records import Record, RecordMethod
from qrt.quantization.comparison.measure import Noise, Reference
from qrt.quantization.search.bits import Widths, choices_of, numbered, stored_bits, widths_of, with_widths
from qrt.quantization.search.budget import Metric, measured
from qrt.quantization.search.trial_runs import TrialResult
from qrt.quantization.steps import NamedProgram, Trial, quantized
from qrt.quantization.targets.model import Target
from qrt.quantization.tuning.calibrate import Progress
from qrt.quantization.tuning.optional_passes import Wanted, corrected_and_measured
from qrt.runtime.compilation import compile


class Runner:
    """A program under search, which can be quantized with any widths and measured.

    ``choices`` are the operands and results whose widths are chosen. ``default`` has the widths that they would have
    without a search.
    """

    def __init__(
        self,
        named: NamedProgram,
        target: Target,
        records: Mapping[str, Record],
        method: RecordMethod,
        reference: Reference,
        metric: Metric | None,
        progress: Progress | None,
        passes: Wanted = (),
    ) -> None:
        self._named, self._start = named, numbered(named)
        self._target, self._records, self._method = target, records, method
        self._reference, self._metric, self._progress, self._passes = reference, metric, progress, passes
        default_widths = widths_of(quantized(self._start, target, records, method).regions)
        self.choices = choices_of(self._start, target, default_widths)
        self.default: Widths = tuple(choice.default for choice in self.choices)

    def __call__(self, widths: Widths, number: int) -> TrialResult:
        """Quantize the program with these widths and measure it.

        ``number`` is the trial's number in messages and progress.
        """
        if self._progress is not None:
            self._progress("search", number, None)
        plain = quantized(with_widths(self._start, self.choices, widths), self._target, self._records, self._method)
        trial, noise = self.corrected(plain)
        program = compile(trial.module, self._reference.function)
        noise = noise or self._reference.noise(program)
        metric = None if self._metric is None else measured(self._metric, program, f"trial {number}")
        return TrialResult(
            widths,
            stored_bits(self.choices, widths_of(plain.regions)),
            noise.error,
            sum(output.same for output in noise.outputs),
            sum(output.rows for output in noise.outputs),
            metric,
        )

    def corrected(self, trial: Trial) -> tuple[Trial, Noise | None]:
        """Run the pass `correct-bias` on a trial, if the user asked for it, before the trial is measured.

        Return the trial and its error at the outputs; the error is None if it was not measured. The order makes sure
        that the measured program is the one that the search would return.
        """
        return corrected_and_measured(trial, self._target, self._reference, self._passes)

    def of_float(self) -> float:
        """Return the metric of the float program."""
        assert self._metric is not None
        return measured(self._metric, compile(self._named.module, self._reference.function), "the float program")
