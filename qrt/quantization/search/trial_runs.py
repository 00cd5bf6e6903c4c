"""The trials of a search: each assignment of widths is run once, or read from a journal (docs/reference/bits.md)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

from qrt.errors import QuantError
from qrt.quantization.comparison.measure import Error
from qrt.quantization.search.bits import Widths
from qrt.quantization.search.budget import MetricError
from qrt.quantization.search.journal import Journal

_MOST_SAID = 300


@dataclass(frozen=True)
class TrialResult:
    """What a run with these widths gave.

    Attributes
    ----------
    widths : tuple of int
        The width of each choice.
    bits : int
        What the weights take, as they were stored.
    error : Error
        The squared error at the outputs.
    same, rows : int
        How many rows of the outputs have their greatest value where the float program has it, of how many.
    metric : float or None
        The user's.
    failure : str
        Why there is no such program; empty where it ran.
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
        """The signal-to-noise ratio in decibels."""
        return float("-inf") if self.failure else self.error.snr

    def line(self, number: int, *, is_best: bool) -> dict[str, Any]:
        """What a journal keeps."""
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
        """What a journal has kept."""
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
    """All that was tried, in order, and the best of it. What a journal has is not run again."""

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
        """The best of all; of equals the first."""
        assert self._best is not None
        return self._best

    def at(self, widths: Widths) -> TrialResult:
        """The run with these widths."""
        if widths in self.tried:
            return self.tried[widths]
        line = self._kept.get(widths)
        made = self._made(widths) if line is None else TrialResult.of_line(line)
        self.tried[widths] = made
        if self._best is None or self._key(made) < self._key(self._best):
            self._best = made
        if line is None and self._journal is not None:
            self._journal.append(made.line(len(self.tried), is_best=made is self._best))
        return made

    def _made(self, widths: Widths) -> TrialResult:
        try:
            return self._run(widths, len(self.tried) + 1)
        except QuantError as error:
            if widths == self._default or isinstance(error, MetricError):
                raise
            return TrialResult(widths, 0, failure=" ".join(str(error).split())[:_MOST_SAID])
