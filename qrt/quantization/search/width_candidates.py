"""The order in which a search tries widths (docs/reference/bits.md).

A *move* changes several widths. Moves are tried in the order of the errors of their single changes. These errors are
only a guide, because errors do not add up; in a recurrent program they may even cancel. Therefore a move is taken only
if a run of the whole program improves.
"""

from collections.abc import Sequence
from fractions import Fraction
from itertools import combinations
from math import comb

from qrt.quantization.search.bits import WidthChoice, Widths
from qrt.quantization.search.goals import Goal
from qrt.quantization.search.trial_runs import TrialResult, Trials

TRIALS, TRIALS_PER_CHOICE = 64, 8
"""The final improvement makes at most TRIALS trials, plus TRIALS_PER_CHOICE for each weight."""
NEAR, FAR = 2, 5
"""The number of choices to change at once: NEAR while that improves, then one more at a time up to FAR."""
WAYS = 20_000
"""The most combinations of changes to consider; the improvement takes the most promising changes within this limit."""

Move = tuple[tuple[int, int], ...]
"""Changes of widths: the number of each choice, with its new width."""


class Search:
    """A search that tries widths until no change improves the program."""

    def __init__(self, choices: Sequence[WidthChoice], trials: Trials, goal: Goal) -> None:
        self._choices, self._trials, self._goal = choices, trials, goal
        self._is_floor = goal.budget.kind != "size"
        self._gains: dict[tuple[int, int, int], tuple[Fraction, ...]] = {}

    def run(self) -> None:
        """Run the trials: first single changes, then greedy widening, then combined changes."""
        weights = [number for number, choice in enumerate(self._choices) if choice.is_weight]
        values = [number for number, choice in enumerate(self._choices) if not choice.is_weight]
        default = tuple(choice.default for choice in self._choices)
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
        """Return ``widths`` with the least (``which`` 0) or the greatest (-1) width for each choice in ``numbers``."""
        return tuple(
            choice.widths[which] if number in numbers else width
            for number, (choice, width) in enumerate(zip(self._choices, widths, strict=True))
        )

    # -- sensitivity ---------------------------------------------------------------------------------------------------

    def _measure(self, default: Widths, numbers: Sequence[int]) -> None:
        """Try each other width of one choice at a time, starting from ``default``, and record the gains."""
        self._trials.at(default)
        for number in numbers:
            for width in self._choices[number].widths:
                self._trials.at(moved(default, ((number, width),)))
            for one, other in combinations(self._choices[number].widths, 2):
                before, after = (self._trials.at(moved(default, ((number, width),))) for width in (one, other))
                self._keep_gain(before, after, number)

    def _keep_gain(self, before: TrialResult, after: TrialResult, number: int) -> None:
        """Record the gain of changing the width of choice ``number``; the reverse change gets the negative gain."""
        one, other, gain = before.widths[number], after.widths[number], self._goal.gain(before, after)
        self._gains[number, one, other] = gain
        self._gains[number, other, one] = tuple(-part for part in gain)

    # -- greedy --------------------------------------------------------------------------------------------------------

    def _widen(self, start: Widths, numbers: Sequence[int]) -> TrialResult:
        """Widen one choice at a time, always the choice with the best gain per bit.

        Widening ends when the budget is reached, or when no wider width both fits the budget and improves the program.
        """
        state = self._trials.at(start)
        while not (self._is_floor and self._goal.is_reached(state)):
            step = self._best_step(state, numbers)
            if step is None:
                break
            state = step
        return state

    def _best_step(self, state: TrialResult, numbers: Sequence[int]) -> TrialResult | None:
        """Return the trial that widens one choice of ``state`` with the best gain per bit; None if none improves it.

        The choice with the best known gain, from earlier states, is tried first. If its gain is still better than the
        known gains of all other choices, these are not tried.
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
        """Change up to NEAR widths together until the program no longer improves; then change more, up to FAR."""
        open_weights = sum(choice.is_weight and len(choice.widths) > 1 for choice in self._choices)
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
        """Return widths that differ from ``state`` in at most ``most`` choices, in order of expected gain."""
        changes = [
            (number, width)
            for number, choice in enumerate(self._choices)
            for width in choice.widths
            if width != state.widths[number] and (choice.is_weight or width < state.widths[number])
        ]
        candidates = []
        for count in range(1, most + 1):
            for move in combinations(self._likely(state, changes, count), count):
                widths = moved(state.widths, move)
                if len(dict(move)) == count and self._goal.may_gain(state, widths):
                    candidates.append((self._promise(state, move), widths))
        candidates.sort(key=lambda choice: choice[0], reverse=True)
        return [widths for _, widths in candidates]

    def _likely(self, state: TrialResult, changes: list[tuple[int, int]], count: int) -> list[tuple[int, int]]:
        """Return the changes with the best expected gains: half of them to a greater width, half to a smaller one.

        Only so many are returned that at most WAYS combinations of ``count`` changes exist.
        """
        if comb(len(changes), count) <= WAYS:
            return changes
        most = next(size for size in range(WAYS) if comb(2 * size + 2, count) > WAYS)
        ordered = sorted(changes, key=lambda change: self._promise(state, (change,)), reverse=True)
        wider = [change for change in ordered if change[1] > state.widths[change[0]]]
        narrower = [change for change in ordered if change[1] < state.widths[change[0]]]
        return [*wider[:most], *narrower[:most]]

    def _promise(self, state: TrialResult, move: Move) -> tuple[Fraction, ...]:
        """Return the expected gain of a move: the sum of the gains that its changes had when they were last tried."""
        total = self._goal.nothing
        for number, width in move:
            gain = self._gains.get((number, state.widths[number], width), self._goal.nothing)
            total = tuple(a + b for a, b in zip(total, gain, strict=True))
        return total


def moved(widths: Widths, move: Move) -> Widths:
    """Return widths after a move, which is a tuple of pairs (number of the choice, new width).

    >>> moved((8, 8, 4), ((1, 4), (2, 8)))
    (8, 4, 8)
    """
    changed = dict(move)
    return tuple(changed.get(number, width) for number, width in enumerate(widths))
