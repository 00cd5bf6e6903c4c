"""The search for bit widths under a budget (docs/reference/bits.md).

Errors of ports do not add up: in a recurrent program they may cancel. What was measured for one port at a time decides
the order in which moves are tried, and nothing else. A move is kept if a run of the whole program says that it gains.
"""

import hashlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from fractions import Fraction
from os import PathLike

from qrt.calibrate.records import Record, RecordMethod, write_records
from qrt.calibrate.targets.model import Target
from qrt.errors import QuantTypeError
from qrt.execute.program import Program
from qrt.workflow.bits import Choice, Widths, choices_of, numbered, stored_bits, widths_of, with_widths
from qrt.workflow.budget import Budget, Metric, measured, name_of
from qrt.workflow.goals import Goal, goal_of
from qrt.workflow.journal import Journal, opened
from qrt.workflow.measure import Reference
from qrt.workflow.trial import Named, Trial, quantized
from qrt.workflow.tried import Runner, Trials, Tried

TRIALS = 32
TRIALS_PER_CHOICE = 8
"""The improvement at the end makes at most TRIALS, and so many more for each choice."""

Move = tuple[tuple[int, int], ...]
"""Numbers of choices, each with its new width."""


@dataclass(frozen=True, eq=False)
class Searched:
    """What a search has found.

    Attributes
    ----------
    named : Named
        The program with the widths, as ``!quant.any`` at its ports.
    trial : Trial
        The same, quantized.
    reached : bool
        Whether it is within the budget. If not, it is the nearest that was found.
    said : str
        One line that says what was reached.
    choices : tuple of Choice
        The ports whose width was searched.
    best : Tried
        The widths and figures of the program.
    trials : tuple of Tried
        All that were run, in order.
    """

    named: Named
    trial: Trial
    reached: bool
    said: str
    choices: tuple[Choice, ...]
    best: Tried
    trials: tuple[Tried, ...]


def searched(
    named: Named,
    target: Target,
    records: Mapping[str, Record],
    method: RecordMethod,
    reference: Reference,
    budget: str | Budget,
    metric: Metric | None = None,
    journal: str | PathLike[str] | None = None,
) -> Searched:
    """Chooses bit widths under a budget. The program is not changed.

    Parameters
    ----------
    named : Named
        The float program in regions.
    target : Target
        The device, which offers widths.
    records : mapping of str to Record
        The records of its values.
    method : str
        How ranges are chosen.
    reference : Reference
        Its outputs over a sample.
    budget : str or Budget
        ``size=0.6``, ``snr=33`` or ``drop=0.005``.
    metric : callable, optional
        The user's: of a compiled program, larger for better. It goes with ``size`` and ``drop``.
    journal : str or path, optional
        A file of trials, which is made or continued.

    Returns
    -------
    Searched
        The best program that was found.

    Raises
    ------
    QuantTypeError
        If the budget is none.
    ModelError
        If the metric raises or returns no finite number, or the journal is of another search.
    """
    wanted = budget if isinstance(budget, Budget) else Budget.parse(budget)
    if metric is not None and wanted.kind == "snr":
        raise QuantTypeError("budget snr= is measured at the outputs: give size= or drop= with a metric")
    start = numbered(named)
    choices = choices_of(start, target, widths_of(quantized(start, target, records, method).regions))

    def made(widths: Widths) -> tuple[Trial, int]:
        trial = quantized(with_widths(start, choices, widths), target, records, method)
        return trial, stored_bits(choices, widths_of(trial.regions))

    def of_user(program: Program, number: int) -> float:
        assert metric is not None
        return measured(metric, program, f"trial {number}" if number else "the float program")

    run = Runner(made, reference.noise, None if metric is None else of_user, reference.function)
    with ExitStack() as stack:
        kept = None
        if journal is not None:
            subject = _subject(named, target, records, method, reference, wanted, metric)
            kept = stack.enter_context(opened(journal, subject))
        of_float = None
        if metric is not None and wanted.kind == "drop":
            of_float = _of_float(kept, lambda: of_user(Program(named.module, reference.function), 0))
        goal = goal_of(wanted, choices, of_float, has_metric=metric is not None)
        trials = Trials(choices, run, goal.key, kept)
        Search(choices, trials, goal).run()
    best = trials.best
    chosen = with_widths(named, choices, best.widths)
    trial = quantized(chosen, target, records, method)
    every = tuple(trials.tried.values())
    return Searched(chosen, trial, goal.is_reached(best), goal.said(best), choices, best, every)


def _of_float(journal: Journal | None, measure: Callable[[], float]) -> float:
    """The metric of the float program, which a journal may have."""
    kept = next((line["of_float"] for line in journal.lines if "of_float" in line), None) if journal else None
    if kept is not None:
        return float(kept)
    value = measure()
    if journal is not None:
        journal.append({"of_float": value})
    return value


class Search:
    """Tries widths until nothing more is gained."""

    def __init__(self, choices: Sequence[Choice], trials: Trials, goal: Goal) -> None:
        self._choices, self._trials, self._goal = choices, trials, goal
        self._is_floor = goal.budget.kind != "size"
        self._gains: dict[tuple[int, int, int], tuple[Fraction, ...]] = {}

    def run(self) -> None:
        """Makes the trials."""
        weights = [number for number, each in enumerate(self._choices) if each.is_weight]
        values = [number for number, each in enumerate(self._choices) if not each.is_weight]
        default = tuple(each.default for each in self._choices)
        self._measure(default, weights)
        self._widen(self._with(default, weights, 0), weights)
        if self._is_floor and not self._goal.is_reached(self._trials.best):
            widest = self._with(default, weights, -1)
            self._trials.at(widest)
            if not self._goal.is_reached(self._trials.best):
                self._widen(widest, values)
                self._trials.at(self._with(widest, values, -1))
        self._improve()

    def _with(self, widths: Widths, numbers: Sequence[int], which: int) -> Widths:
        """Widths in which choices have their least (0) or greatest (-1)."""
        return tuple(
            each.widths[which] if number in numbers else width
            for number, (each, width) in enumerate(zip(self._choices, widths, strict=True))
        )

    # -- sensitivity ---------------------------------------------------------------------------------------------------

    def _measure(self, default: Widths, numbers: Sequence[int]) -> None:
        """Tries each other width of one choice at a time."""
        self._trials.at(default)
        for number in numbers:
            for width in self._choices[number].widths:
                self._trials.at(moved(default, ((number, width),)))
            for one in self._choices[number].widths:
                for other in self._choices[number].widths:
                    before, after = (self._trials.at(moved(default, ((number, width),))) for width in (one, other))
                    self._keep_gain(before, after, number)

    def _keep_gain(self, before: Tried, after: Tried, number: int) -> tuple[Fraction, ...]:
        gain = self._goal.gain(before, after)
        self._gains[number, before.widths[number], after.widths[number]] = gain
        return gain

    # -- greedy --------------------------------------------------------------------------------------------------------

    def _widen(self, start: Widths, numbers: Sequence[int]) -> Tried:
        """Takes the best gain per byte, again and again, until the budget is reached or used up, or nothing gains."""
        state = self._trials.at(start)
        while not (self._is_floor and self._goal.is_reached(state)):
            step = self._best_step(state, numbers)
            if step is None:
                break
            state = step
        return state

    def _best_step(self, state: Tried, numbers: Sequence[int]) -> Tried | None:
        """The run of the wider port that gains most per byte; None where each that fits would lose.

        Gains of earlier states say which port is tried first. A port whose gain in this state is above what all others
        had last is taken without trying those.
        """
        moves = [
            (number, width)
            for number in numbers
            for width in self._choices[number].widths
            if width > state.widths[number] and self._goal.fits(moved(state.widths, ((number, width),)))
        ]
        run: dict[tuple[int, int], Tried] = {}

        def latest(move: tuple[int, int]) -> tuple[bool, tuple[Fraction, ...]]:
            gain = self._gains.get((move[0], state.widths[move[0]], move[1]))
            return gain is None, self._goal.per_bit(gain or (), state.widths, moved(state.widths, (move,)))

        while moves:
            move = max(moves, key=latest)
            if move in run:
                return run[move] if self._goal.gain(state, run[move]) > self._goal.nothing else None
            run[move] = self._trials.at(moved(state.widths, (move,)))
            self._keep_gain(state, run[move], move[0])
        return None

    # -- improvement ---------------------------------------------------------------------------------------------------

    def _improve(self) -> None:
        """From the best so far, changes one width or two at a time, as long as that is better."""
        left = TRIALS + TRIALS_PER_CHOICE * len(self._choices)
        state = self._trials.best
        while left > 0:
            for widths in self._neighbours(state):
                is_new = widths not in self._trials.tried
                left -= is_new
                tried = self._trials.at(widths)
                if self._goal.key(tried) < self._goal.key(state):
                    state = tried
                    break
                if left <= 0:
                    return
            else:
                return

    def _neighbours(self, state: Tried) -> Iterator[Widths]:
        """Widths that differ from a state in one choice or two, and may be better; the most promising first."""
        singles = [
            (number, width)
            for number, each in enumerate(self._choices)
            for width in each.widths
            if width != state.widths[number] and (each.is_weight or width < state.widths[number])
        ]
        pairs = [(one, other) for i, one in enumerate(singles) for other in singles[i + 1 :] if one[0] != other[0]]
        every: list[Move] = [*((each,) for each in singles), *pairs]
        found = [
            (self._promise(state, move), widths)
            for move in every
            if self._goal.may_gain(state, widths := moved(state.widths, move))
        ]
        found.sort(key=lambda each: each[0], reverse=True)
        return (widths for _, widths in found)

    def _promise(self, state: Tried, move: Move) -> tuple[Fraction, ...]:
        """The sum of what the changes gained when they were measured last."""
        total = self._goal.nothing
        for number, width in move:
            gain = self._gains.get((number, state.widths[number], width), self._goal.nothing)
            total = tuple(a + b for a, b in zip(total, gain, strict=True))
        return total


def moved(widths: Widths, move: Move) -> Widths:
    """Widths after a move.

    >>> moved((8, 8, 4), ((1, 4), (2, 8)))
    (8, 4, 8)
    """
    changed = dict(move)
    return tuple(changed.get(number, width) for number, width in enumerate(widths))


def _subject(
    named: Named,
    target: Target,
    records: Mapping[str, Record],
    method: RecordMethod,
    reference: Reference,
    budget: Budget,
    metric: Metric | None,
) -> dict[str, str]:
    """What a journal is about, as texts and digests."""
    data = hashlib.sha256(write_records(records).encode())
    for batch in reference.batches:
        for name, array in sorted(batch.items()):
            data.update(f"{name} {array.dtype} {array.shape} ".encode())
            data.update(array.tobytes())
    return {
        "program": hashlib.sha256(str(named.module).encode()).hexdigest(),
        "function": reference.function,
        "data": data.hexdigest(),
        "target": f"{target.name} {hashlib.sha256(_target_text(target).encode()).hexdigest()[:16]}",
        "method": method,
        "budget": f"{budget.kind}={budget.limit}",
        "metric": "none" if metric is None else name_of(metric),
    }


def _target_text(target: Target) -> str:
    """All that a target says; a function by its name."""
    parts: list[object] = [target.coarser_bias]
    for kernel in target.kernels:
        constraint = name_of(kernel.constraint) if callable(kernel.constraint) else kernel.constraint
        parts.append((kernel.name, kernel.inputs, kernel.outputs, constraint, kernel.constrained, kernel.multiplier))
        parts.append(sorted(kernel.default.items()))
    return repr(parts)
