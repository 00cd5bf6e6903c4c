"""The trials of a search; each is run once, or read from a journal (docs/reference/bits.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from qrt.errors import QuantError
from qrt.quantization.comparison.measure import Error
from qrt.quantization.search.bits import Widths
from qrt.quantization.search.budget import MetricError
from qrt.quantization.search.journal import Journal

_MOST_CHARACTERS = 300


@dataclass(frozen=True)
class TrialResult:
    """The figures of a program that was quantized with given widths and run.

    Attributes
    ----------
    widths : tuple of int
        The width of each choice.
    bits : int
        The stored bits of all weights.
    error : Error
        The squared error at the outputs.
    same, rows : int
        The number of rows of the outputs whose greatest value is at the same index as in the float program, and the
        number of all rows.
    metric : float or None
        The user's metric; None without one.
    failure : str
        The reason why the program cannot be quantized with these widths; empty if it ran.
    """

    widths: Widths
    bits: int
    error: Error = field(default_factory=Error)
    same: int = 0
    rows: int = 0
    metric: float | None = None
    failure: str = ""

    @property
    def snr(self) -> float:
        """The signal-to-noise ratio at the outputs in decibels; minus infinity for a program that did not run."""
        return float("-inf") if self.failure else self.error.snr

    def line(self, number: int, *, is_best: bool) -> dict[str, Any]:
        """Return the result as a line of a journal, for trial ``number``."""
        return {
            "trial": number,
            "widths": list(self.widths),
            "weight_bits": self.bits,
            "signal": str(self.error.signal),
            "noise": str(self.error.noise),
            "nonfinite": self.error.nonfinite,
            "same": self.same,
            "rows": self.rows,
            "metric": self.metric,
            "failure": self.failure,
            "best": is_best,
        }

    @classmethod
    def of_line(cls, line: Mapping[str, Any]) -> "TrialResult":
        """Return the result from a line of a journal."""
        error = Error(Fraction(line["signal"]), Fraction(line["noise"]), line["nonfinite"])
        return cls(
            tuple(line["widths"]),
            line["weight_bits"],
            error,
            line["same"],
            line["rows"],
            line["metric"],
            line["failure"],
        )


class Trials:
    """All trials of a search in order, and the best one. Trials in the journal are not run again."""

    def __init__(
        self,
        default: Widths,
        run: Callable[[Widths, int], TrialResult],
        key: Callable[[TrialResult], tuple[Any, ...]],
        journal: Journal | None,
    ) -> None:
        self._run, self._key, self._journal = run, key, journal
        self._default = default
        self._kept = {tuple(line["widths"]): line for line in journal.lines if "widths" in line} if journal else {}
        self.tried: dict[Widths, TrialResult] = {}
        self._best: TrialResult | None = None

    @property
    def best(self) -> TrialResult:
        """The best trial; of equal ones, the first."""
        assert self._best is not None
        return self._best

    def at(self, widths: Widths) -> TrialResult:
        """Return the result of the trial with these widths.

        A trial that ran before, or is in the journal, does not run again.
        """
        if widths in self.tried:
            return self.tried[widths]
        line = self._kept.get(widths)
        result = self._run_or_failed(widths) if line is None else TrialResult.of_line(line)
        self.tried[widths] = result
        if self._best is None or self._key(result) < self._key(self._best):
            self._best = result
        if line is None and self._journal is not None:
            self._journal.append(result.line(len(self.tried), is_best=result is self._best))
        return result

    def _run_or_failed(self, widths: Widths) -> TrialResult:
        try:
            return self._run(widths, len(self.tried) + 1)
        except QuantError as error:
            if widths == self._default or isinstance(error, MetricError):
                raise
            return TrialResult(widths, 0, failure=" ".join(str(error).split())[:_MOST_CHARACTERS])
