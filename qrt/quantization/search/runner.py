"""How widths are run: the program is quantized, and its weights, its outputs and the user's metric are measured."""

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
from qrt.runtime.program import Program


class Runner:
    """A program whose widths are searched. ``choices`` are its ports, and ``default`` the widths without a search."""

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
        found = widths_of(quantized(self._start, target, records, method).regions)
        self.choices = choices_of(self._start, target, found)
        self.default: Widths = tuple(each.default for each in self.choices)

    def __call__(self, widths: Widths, number: int) -> TrialResult:
        """Runs a trial, whose number messages say."""
        if self._progress is not None:
            self._progress("search", number, None)
        plain = quantized(with_widths(self._start, self.choices, widths), self._target, self._records, self._method)
        trial, noise = self.corrected(plain)
        program = Program(trial.module, self._reference.function)
        noise = noise or self._reference.noise(program)
        metric = None if self._metric is None else measured(self._metric, program, f"trial {number}")
        return TrialResult(
            widths,
            stored_bits(self.choices, widths_of(plain.regions)),
            noise.error,
            sum(each.same for each in noise.outputs),
            sum(each.rows for each in noise.outputs),
            metric,
        )

    def corrected(self, trial: Trial) -> tuple[Trial, Noise | None]:
        """What is written of a quantized program, and its error where it was measured: a trial whose biases are not yet
        corrected would be measured as another program."""
        return corrected_and_measured(trial, self._target, self._reference, self._passes)

    def of_float(self) -> float:
        """The metric of the float program."""
        assert self._metric is not None
        return measured(self._metric, Program(self._named.module, self._reference.function), "the float program")
