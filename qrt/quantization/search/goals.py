"""The goals of a search, one for each kind of budget. All comparisons are of integers and exact rationals."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from fractions import Fraction
from typing import Any

from qrt.errors import ModelError
from qrt.quantization.search.bits import WidthChoice, Widths
from qrt.quantization.search.budget import Budget
from qrt.quantization.search.trial_runs import TrialResult

Quality = tuple[Fraction, ...]
"""The quality of a trial: numbers that are compared in order, larger ones being better."""

_WORST = -Fraction(1 << 4096)
"""The quality of a program that does not run, lower than any sum of squares of float64."""


class Goal(ABC):
    """The order of trial programs under a budget, from best to worst; each kind of budget has a subclass."""

    def __init__(self, budget: Budget, choices: Sequence[WidthChoice], *, has_metric: bool) -> None:
        self.budget = budget
        self._choices, self._has_metric = choices, has_metric
        self.all_8 = sum(8 * choice.elements for choice in choices)
        """The number of bits of all weights if each of their elements has 8 bits."""

    @abstractmethod
    def is_reached(self, tried: TrialResult) -> bool:
        """Return True if the program of a trial is within the budget."""

    @abstractmethod
    def key(self, tried: TrialResult) -> tuple[Any, ...]:
        """Return the sort key of a trial; the best trial has the least key."""

    @abstractmethod
    def fits(self, widths: Widths) -> bool:
        """Return True if the greedy search may try these widths under the budget."""

    @abstractmethod
    def may_gain(self, state: TrialResult, widths: Widths) -> bool:
        """Return False if a run of these widths is useless, because it cannot be better than the trial ``state``."""

    # -- shared by all goals

    def bits(self, widths: Widths) -> int:
        """Return the total number of bits of all weights at these widths."""
        return sum(choice.elements * width for choice, width in zip(self._choices, widths, strict=True))

    def wider(self, widths: Widths) -> int:
        """Return the number of computed values that get more than their default width."""
        pairs = zip(self._choices, widths, strict=True)
        return sum(not choice.is_weight and width > choice.default for choice, width in pairs)

    def quality(self, tried: TrialResult) -> Quality:
        """Return the figures of a trial, in order of importance; larger ones are better.

        These are the metric, if there is one, and the negative error at the outputs.
        """
        if tried.failure:
            return (_WORST,) * len(self.nothing)
        error = (-Fraction(tried.error.nonfinite), -tried.error.noise)
        return error if tried.metric is None else (decimal(tried.metric), *error)

    @property
    def nothing(self) -> Quality:
        """The gain of a change without effect: 0 for each figure of `quality`."""
        return (Fraction(0),) * (3 if self._has_metric else 2)

    def gain(self, before: TrialResult, after: TrialResult) -> Quality:
        """Return the quality of the trial ``after`` minus that of the trial ``before``."""
        pairs = zip(self.quality(before), self.quality(after), strict=True)
        return tuple(new - old for old, new in pairs)

    def per_bit(self, gain: Quality, before: Widths, after: Widths) -> Quality:
        """Return a gain divided by the number of additional weight bits, or by 1 if the weights do not grow."""
        grown = max(self.bits(after) - self.bits(before), 1)
        return tuple(part / grown for part in gain)

    def summary(self, tried: TrialResult) -> str:
        """Return one line that compares the program of a trial with the budget."""
        name = f"{self.budget.kind}={float(self.budget.limit):g}"
        state = "is reached" if self.is_reached(tried) else "cannot be reached, and this is the nearest"
        share = f"{tried.bits / self.all_8:.4g} of the weight bytes at 8 bits" if self.all_8 else "no weights"
        same = f", {tried.same} of {tried.rows} answers the same" if tried.rows else ""
        metric = "" if tried.metric is None else f", metric {tried.metric:g}"
        return f"{name} {state}: {share}, {tried.snr:.2f} dB{same}{metric}"


class _Size(Goal):
    """The goal of the best quality while the weights have at most a given number of bits."""

    @property
    def _most(self) -> Fraction:
        return self.budget.limit * self.all_8

    def is_reached(self, tried: TrialResult) -> bool:
        return not tried.failure and tried.bits <= self._most

    def key(self, tried: TrialResult) -> tuple[Any, ...]:
        if tried.failure:
            return (1,)
        return 0, max(tried.bits - self._most, 0), *(-part for part in self.quality(tried)), tried.bits

    def fits(self, widths: Widths) -> bool:
        return self.bits(widths) <= self._most

    def may_gain(self, state: TrialResult, widths: Widths) -> bool:
        return self.fits(widths)


class _Floor(Goal):
    """A goal of sufficient quality: the best program has the fewest widened values, and then the fewest bits.

    If no program has sufficient quality, the best program is the one with the best quality.
    """

    def key(self, tried: TrialResult) -> tuple[Any, ...]:
        lost = tuple(-part for part in self.quality(tried))
        if tried.failure:
            return (2,)
        if self.is_reached(tried):
            return 0, self.wider(tried.widths), tried.bits, *lost
        return 1, -self.measure(tried), *lost, tried.bits

    @abstractmethod
    def measure(self, tried: TrialResult) -> Fraction:
        """Return the metric or, without a metric, the share of rows that keep their argmax.

        Returns 0 if the budget limits only the error.
        """

    def fits(self, widths: Widths) -> bool:
        return True

    def may_gain(self, state: TrialResult, widths: Widths) -> bool:
        if not self.is_reached(state):
            return True
        return (self.wider(widths), self.bits(widths)) <= (self.wider(state.widths), self.bits(state.widths))


class _Snr(_Floor):
    """The goal of a signal-to-noise ratio of at least a given number of decibels."""

    def is_reached(self, tried: TrialResult) -> bool:
        return not tried.failure and tried.snr >= float(self.budget.limit)

    def measure(self, tried: TrialResult) -> Fraction:
        return Fraction(0)


class _Drop(_Floor):
    """The goal that a figure drops by no more than a limit.

    The figure is the metric or, without a metric, the share of rows that keep their argmax.
    """

    def __init__(self, budget: Budget, choices: Sequence[WidthChoice], of_float: float | None) -> None:
        super().__init__(budget, choices, has_metric=of_float is not None)
        self._least = (Fraction(1) if of_float is None else decimal(of_float)) - budget.limit

    def is_reached(self, tried: TrialResult) -> bool:
        return not tried.failure and self.measure(tried) >= self._least

    def measure(self, tried: TrialResult) -> Fraction:
        if tried.metric is not None:
            return decimal(tried.metric)
        if not tried.rows:
            raise ModelError(
                "without a metric, drop= compares the index of the greatest value in each row of an output, but no "
                "output has several values in a row: give a metric"
            )
        return Fraction(tried.same, tried.rows)


def goal_of(budget: Budget, choices: Sequence[WidthChoice], of_float: float | None, *, has_metric: bool) -> Goal:
    """Return the goal of a budget. ``of_float`` is the metric of the float program; None without a metric."""
    if budget.kind == "size":
        return _Size(budget, choices, has_metric=has_metric)
    if budget.kind == "snr":
        return _Snr(budget, choices, has_metric=False)
    return _Drop(budget, choices, of_float)


def decimal(number: float) -> Fraction:
    """Return a number as the exact decimal that Python prints, so that 0.95 - 0.005 is 0.945.

    >>> decimal(0.95) - decimal(0.005) == decimal(0.945)
    True
    """
    return Fraction(repr(number))
