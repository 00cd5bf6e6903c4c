"""The order of moves on drawn landscapes, in which errors of ports are vectors that add up and may cancel. Hazards: a
limit that is off by one bit; a step that lost and is kept; single-port errors that are added up; a search that sticks
where two changes at a time would gain."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from qrt.quantization.comparison.measure import Error
from qrt.quantization.search.bits import WidthChoice, Widths
from qrt.quantization.search.budget import Budget
from qrt.quantization.search.goals import Goal, goal_of
from qrt.quantization.search.trial_runs import TrialResult, Trials
from qrt.quantization.search.width_candidates import FAR, NEAR, TRIALS, TRIALS_PER_CHOICE, Search

Noise = Callable[[Widths], Fraction]


def weights(*sizes: int, widths: tuple[int, ...] = (4, 8)) -> tuple[WidthChoice, ...]:
    return tuple(WidthChoice(f"main/matmul.{i} w", ((i, 1),), widths, 8, size) for i, size in enumerate(sizes))


def values(count: int) -> tuple[WidthChoice, ...]:
    return tuple(WidthChoice(f"main/add.{i} y", ((100 + i, 2),), (8, 16), 8, 0) for i in range(count))


class Run:
    """A search in which ``noise`` says the error of widths, and perhaps ``metric`` how good they are."""

    def __init__(
        self,
        choices: tuple[WidthChoice, ...],
        noise: Noise,
        budget: str,
        metric: Callable[[Widths], float] | None = None,
    ) -> None:
        self.asked: list[Widths] = []
        self.choices = choices

        def run(widths: Widths, number: int) -> TrialResult:
            assert number == len(self.asked) + 1
            self.asked.append(widths)
            error = Error(Fraction(1), noise(widths))
            return TrialResult(widths, self.bits(widths), error, metric=None if metric is None else metric(widths))

        of_float = None if metric is None else 1.0
        self.goal: Goal = goal_of(Budget.parse(budget), choices, of_float, has_metric=metric is not None)
        trials = Trials(tuple(each.default for each in choices), run, self.goal.key, None)
        Search(choices, trials, self.goal).run()
        self.best = trials.best

    def bits(self, widths: Widths) -> int:
        return sum(each.elements * width for each, width in zip(self.choices, widths, strict=True))


def additive(*errors: dict[int, int]) -> Noise:
    return lambda widths: Fraction(sum(each[width] for each, width in zip(errors, widths, strict=True)))


def drawn(seed: int, count: int, dimensions: int, widths: tuple[int, ...]) -> tuple[tuple[WidthChoice, ...], Noise]:
    """Sizes from 8 to 512; errors that are vectors of so many dimensions, a power of two larger per bit less."""
    rng = np.random.default_rng(seed)
    choices = weights(*(int(2 ** rng.uniform(3, 9)) for _ in range(count)), widths=widths)
    sizes = 2.0 ** rng.uniform(-2, 2, count)
    errors = {(i, w): rng.normal(size=dimensions) * sizes[i] * 2.0**-w for i in range(count) for w in widths}
    base = rng.normal(size=dimensions) * 2.0**-8

    def noise(chosen: Widths) -> Fraction:
        total = sum((errors[i, w] for i, w in enumerate(chosen)), base)
        return Fraction(float((total * total).sum()))

    return choices, noise


@pytest.fixture
def greedy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leaves out the improvement, which mends what greedy steps have missed."""
    monkeypatch.setattr(Search, "_improve", lambda _: None)


@pytest.mark.parametrize("dimensions", [2, 100])
@pytest.mark.parametrize("limit", ["0.6", "0.75", "0.9"])
def test_no_assignment_that_fits_is_better_by_half_a_decibel(dimensions: int, limit: str) -> None:
    for seed in range(4):
        choices, noise = drawn(seed, 6, dimensions, (4, 8))
        run = Run(choices, noise, f"size={limit}")
        most = Fraction(limit) * sum(8 * each.elements for each in choices)
        least = min(noise(each) for each in product((4, 8), repeat=6) if run.bits(each) <= most)
        assert run.bits(run.best.widths) <= most
        assert run.best.error.noise <= least * Fraction("1.122")


@pytest.mark.parametrize("widths", [(4, 8), (4, 8, 16)])
def test_the_fewest_bits_that_reach_a_ratio(widths: tuple[int, ...]) -> None:
    for seed in range(6):
        choices, noise = drawn(seed, 5, 4, widths)
        every = {each: Error(Fraction(1), noise(each)).snr for each in product(widths, repeat=5)}
        wanted = f"{sorted(every.values())[len(every) * 3 // 4]:.6f}"
        run = Run(choices, noise, f"snr={wanted}")
        assert run.best.snr >= float(wanted)
        assert run.best.bits == min(run.bits(each) for each, snr in every.items() if snr >= float(wanted))


def test_a_limit_that_is_met_to_the_bit_is_met() -> None:
    """(8, 4) takes 0.75 of the bits of (8, 8), and 1 bit less is not enough."""
    choices = weights(10, 10)
    noise = additive({4: 100, 8: 1}, {4: 50, 8: 1})
    for limit, best in (("0.75", (8, 4)), ("0.7499999", (4, 4)), ("1", (8, 8)), ("0.9999999", (8, 4))):
        run = Run(choices, noise, f"size={limit}")
        assert run.best.widths == best
        assert run.goal.is_reached(run.best)
    out = Run(choices, noise, "size=0.4999999")
    assert (out.best.widths, out.goal.is_reached(out.best)) == ((4, 4), False)
    assert Run(choices, noise, "size=0.5").goal.is_reached(out.best)


def test_a_step_may_use_up_the_budget_to_the_bit(greedy: None) -> None:
    """Of 320 bits, 200 may be used: one of the two small weights is wide."""
    noise = additive({4: 100, 8: 1}, {4: 50, 8: 1}, {4: 60, 8: 1})
    assert Run(weights(10, 10, 20), noise, "size=0.625").best.widths == (8, 4, 4)
    assert Run(weights(10, 10, 20), noise, "size=0.6249").best.widths == (4, 4, 4)


def test_a_ratio_that_is_met_exactly_is_met() -> None:
    choices = weights(10, 10)

    def noise(widths: Widths) -> Fraction:
        return {4: Fraction(1, 1000), 8: Fraction(1, 10_000)}[widths[0]]

    exact = Run(choices, noise, "snr=30")
    assert (exact.best.widths, exact.goal.is_reached(exact.best)) == ((4, 4), True)
    assert Run(choices, noise, "snr=30.000001").best.widths == (8, 4)
    out = Run(choices, noise, "snr=40.000001")
    assert (out.best.snr, out.goal.is_reached(out.best)) == (40.0, False)


def test_the_best_gain_per_byte_comes_first() -> None:
    """The large weight gains most, the small one most per byte. There is room for either."""
    noise = additive({4: 60, 8: 0}, {4: 50, 8: 0}, {4: 10, 8: 0})
    run = Run(weights(100, 10, 50), noise, "size=0.82")
    narrowest = run.asked.index((4, 4, 4))
    assert run.asked[narrowest + 1] == (4, 8, 4)


def test_a_step_that_lost_is_undone(greedy: None) -> None:
    """From the narrowest, each wider weight makes the error larger, and two of them would make it larger yet."""
    run = Run(weights(10, 10, 10, 10), lambda widths: Fraction(1 + widths.count(8)), "size=0.9")
    assert run.best.widths == (4, 4, 4, 4)
    assert {widths.count(8) for widths in run.asked} == {4, 3, 0, 1}


def test_a_gain_that_was_measured_elsewhere_is_measured_again(greedy: None) -> None:
    """At the default widths the first weight is worth most. Where all are narrow it is worth nearly nothing, and the
    second is worth most."""
    table = {(8, 8, 8): 0, (4, 8, 8): 100, (8, 4, 8): 10, (8, 8, 4): 5, (4, 4, 4): 50, (8, 4, 4): 49, (4, 8, 4): 20}
    run = Run(weights(10, 10, 10), lambda widths: Fraction(table[widths]), "size=0.67")
    assert run.best.widths == (4, 8, 4)


def test_errors_of_single_ports_are_not_added_up() -> None:
    """Alone, the first two lose nothing when they are narrow; together they lose all. Added up, they would be narrow,
    and the third wide."""
    choices = weights(10, 10, 10)

    def noise(widths: Widths) -> Fraction:
        together = 1000 if widths[:2] == (4, 4) else 0
        return Fraction(1 + together + (5 if widths[2] == 4 else 0))

    assert Run(choices, noise, "size=0.67").best.widths in {(8, 4, 4), (4, 8, 8), (8, 4, 8)}
    assert Run(choices, noise, "size=0.84").best.error.noise == 1


def test_two_changes_at_a_time_where_one_gains_nothing() -> None:
    """The best program within the budget cannot be reached by widening one after the other: the greedy search takes the
    second, which gains most, and then nothing else fits."""
    choices = weights(30, 40, 30)
    noise = additive({4: 45, 8: 0}, {4: 65, 8: 0}, {4: 45, 8: 0})
    assert Run(choices, noise, "size=0.8").best.widths == (8, 4, 8)


def test_nothing_is_run_twice_and_the_improvement_ends() -> None:
    choices, noise = drawn(3, 12, 2, (4, 8, 16))
    run = Run(choices, noise, "size=0.8")
    assert len(run.asked) == len(set(run.asked))
    improvement = TRIALS + 12 * TRIALS_PER_CHOICE
    sensitivity, steps = 24, 24 * 24
    assert len(run.asked) < 1 + sensitivity + steps + improvement
    assert Run(choices, noise, "size=0.8").asked == run.asked
    assert NEAR < FAR


def test_values_are_wider_only_where_the_widest_weights_do_not_suffice() -> None:
    choices = (*weights(10, 20), *values(2))
    noise = additive({4: 50, 8: 10}, {4: 50, 8: 10}, {8: 20, 16: 0}, {8: 5, 16: 0})
    assert Run(choices, lambda w: noise(w) / 1000, "snr=13").best.widths == (8, 8, 8, 8)  # 45 / 1000
    assert Run(choices, lambda w: noise(w) / 1000, "snr=16").best.widths == (8, 8, 16, 8)  # 25 / 1000
    assert Run(choices, lambda w: noise(w) / 1000, "snr=17").best.widths == (8, 8, 16, 16)  # 20 / 1000
    far = Run(choices, lambda w: noise(w) / 1000, "snr=18")
    assert (far.best.widths, far.goal.is_reached(far.best)) == ((8, 8, 16, 16), False)
    size = Run(choices, noise, "size=1")
    assert all(widths[2:] == (8, 8) for widths in size.asked)


def test_weights_are_narrow_again_where_wider_values_leave_room() -> None:
    choices = (*weights(10, 20), *values(1))
    noise = additive({4: 12, 8: 10}, {4: 50, 8: 10}, {8: 100, 16: 0})
    assert Run(choices, lambda w: noise(w) / 1000, "snr=16").best.widths == (4, 8, 16)


def test_a_metric_comes_before_the_error() -> None:
    """The error says to keep the first wide, the metric the second."""
    choices = weights(10, 10)
    noise = additive({4: 90, 8: 1}, {4: 5, 8: 1})
    metric = {(8, 8): 0.9, (8, 4): 0.5, (4, 8): 0.8, (4, 4): 0.5}
    assert Run(choices, noise, "size=0.75").best.widths == (8, 4)
    assert Run(choices, noise, "size=0.75", lambda widths: metric[widths]).best.widths == (4, 8)


@pytest.mark.parametrize(("drop", "widths"), [("0.1", (8, 8)), ("0.3", (4, 8)), ("0.2999", (8, 8)), ("0.5", (4, 4))])
def test_a_drop_is_a_difference_of_decimals(drop: str, widths: Widths) -> None:
    """1 - 0.3 is 0.7, though the double nearest to 0.7 is less. At 0.09 nothing is within reach."""
    choices = weights(10, 10)
    noise = additive({4: 9, 8: 1}, {4: 5, 8: 1})
    metric = {(8, 8): 0.9, (8, 4): 0.5, (4, 8): 0.7, (4, 4): 0.5}
    assert Run(choices, noise, f"drop={drop}", lambda each: metric[each]).best.widths == widths
    out = Run(choices, noise, "drop=0.09", lambda each: metric[each])
    assert (out.best.widths, out.goal.is_reached(out.best)) == ((8, 8), False)


def test_ties_keep_what_came_first() -> None:
    choices = weights(10, 10)
    run = Run(choices, lambda widths: Fraction(1), "size=1")
    assert run.best.widths == (4, 4)  # of equal errors the fewest bits
    equal = Run(weights(10, 10, widths=(8, 16)), lambda widths: Fraction(sum(widths) == 16), "size=1.5")
    assert equal.best.widths == (16, 8)
    assert equal.asked.index((16, 8)) < equal.asked.index((8, 16))
