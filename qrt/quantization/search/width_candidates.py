"""Which widths a search tries, and in which order (docs/reference/bits.md).

Errors of ports do not add up: in a recurrent program they may cancel. What was measured for one port at a time decides
the order in which moves are tried, and nothing else. A move is kept if a run of the whole program says that it gains.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

from qrt.quantization.search.bits import WidthChoice, Widths
from qrt.quantization.search.goals import Goal
from qrt.quantization.search.trial_runs import TrialResult, Trials

TRIALS, TRIALS_PER_CHOICE = 64, 8
"""The improvement at the end makes at most TRIALS, and so many more for each weight."""
NEAR, FAR = 2, 5
"""How many choices it changes at a time: NEAR while that is better, then more, up to FAR."""
WAYS = 20_000
"""Of all changes, the improvement takes the most promising: as many as can be made in so many ways."""

Move = tuple[tuple[int, int], ...]
"""Numbers of choices, each with its new width."""


class Search:
    """Tries widths until nothing more is gained."""

    def __init__(self, choices: Sequence[WidthChoice], trials: Trials, goal: Goal) -> None:
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
            for one, other in combinations(self._choices[number].widths, 2):
                before, after = (self._trials.at(moved(default, ((number, width),))) for width in (one, other))
                self._keep_gain(before, after, number)

    def _keep_gain(self, before: TrialResult, after: TrialResult, number: int) -> None:
        """Remembers what a change of one width has gained, and that the reverse would lose it."""
        one, other, gain = before.widths[number], after.widths[number], self._goal.gain(before, after)
        self._gains[number, one, other] = gain
        self._gains[number, other, one] = tuple(-each for each in gain)

    # -- greedy --------------------------------------------------------------------------------------------------------

    def _widen(self, start: Widths, numbers: Sequence[int]) -> TrialResult:
        """Takes the best gain per byte, again and again, until the budget is reached or used up, or nothing gains."""
        state = self._trials.at(start)
        while not (self._is_floor and self._goal.is_reached(state)):
            step = self._best_step(state, numbers)
            if step is None:
                break
            state = step
        return state

    def _best_step(self, state: TrialResult, numbers: Sequence[int]) -> TrialResult | None:
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
        run: dict[tuple[int, int], TrialResult] = {}

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
        """From the best so far, changes one choice or two as long as that is better; then more at a time."""
        open_weights = sum(each.is_weight and len(each.widths) > 1 for each in self._choices)
        left = TRIALS + TRIALS_PER_CHOICE * open_weights
        state, most = self._trials.best, NEAR
        while left > 0 and most <= FAR:
            most += 1
            for widths in self._near(state, most - 1):
                left -= widths not in self._trials.tried
                tried = self._trials.at(widths)
                if self._goal.key(tried) < self._goal.key(state):
                    state, most = tried, NEAR
                    break
                if left <= 0:
                    break

    def _near(self, state: TrialResult, most: int) -> list[Widths]:
        """Widths that differ from a state in so many choices at most, and may be better: the most promising first."""
        changes = [
            (number, width)
            for number, each in enumerate(self._choices)
            for width in each.widths
            if width != state.widths[number] and (each.is_weight or width < state.widths[number])
        ]
        found = []
        for count in range(1, most + 1):
            for move in combinations(self._likely(state, changes, count), count):
                widths = moved(state.widths, move)
                if len(dict(move)) == count and self._goal.may_gain(state, widths):
                    found.append((self._promise(state, move), widths))
        found.sort(key=lambda each: each[0], reverse=True)
        return [widths for _, widths in found]

    def _likely(self, state: TrialResult, changes: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        """The most promising changes, as many of wider ports as of narrower ones, that can be made in at most WAYS."""
        if comb(len(changes), count) <= WAYS:
            return changes
        most = next(size for size in range(WAYS) if comb(2 * size + 2, count) > WAYS)
        ordered = sorted(changes, key=lambda change: self._promise(state, (change,)), reverse=True)
        wider = [change for change in ordered if change[1] > state.widths[change[0]]]
        narrower = [change for change in ordered if change[1] < state.widths[change[0]]]
        return [*wider[:most], *narrower[:most]]

    def _promise(self, state: TrialResult, move: Move) -> tuple[Fraction, ...]:
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
