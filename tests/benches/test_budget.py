"""The time of a run of benches. Hazards: a slow peer that takes the time of all others, qrt itself dropped where it is
slow, a case that takes what the cases behind it need."""

import pytest

from benches.budget import LEAST_ROUNDS, Budget, dropped_peers


class Clock:
    """A clock that a test sets."""

    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


@pytest.mark.parametrize(
    ("first_calls", "dropped"),
    [
        ({}, set()),
        ({"qrt_fixed": 1e-3, "numpy": 49.9e-3}, set()),
        ({"qrt_fixed": 1e-3, "numpy": 50e-3}, {"numpy"}),
        ({"qrt_fixed": 1.0, "numpy": 1e-3}, set()),
        ({"qrt_fixed": 1.0, "numpy": 1e-3, "torch_x86": 0.1}, {"torch_x86"}),
        ({"qrt_fixed": 1e-3, "numpy": 0.0}, set()),
    ],
)
def test_a_peer_is_dropped_from_fifty_times_the_fastest_on(first_calls: dict[str, float], dropped: set[str]) -> None:
    assert set(dropped_peers(first_calls, "qrt_")) == dropped


def test_the_reason_has_the_ratio_and_the_fastest() -> None:
    (reason,) = dropped_peers({"qrt_fixed": 2e-3, "ort_u8": 1e-3, "numpy": 0.07}, "qrt_").values()
    assert reason == "dropped: its first calls took 70 times those of ort_u8"


def test_items_share_the_time_that_is_left() -> None:
    clock = Clock()
    budget = Budget(60, 3, clock)
    assert budget.deadline() == 120
    clock.now = 110  # the first took half of its share
    assert budget.deadline() == 135
    clock.now = 150  # the second took more
    assert budget.deadline() == 160
    clock.now = 160
    assert Budget(0, 1, clock).deadline() is None


def test_rounds_end_at_the_deadline() -> None:
    clock = Clock()
    turns = []
    for turn in Budget(60, 1, clock).rounds(105.0, 20):
        turns.append(turn)
        clock.now += 1
    assert turns == [0, 1, 2, 3, 4]
    assert list(Budget(60, 1, clock).rounds(105.0, 20)) == list(range(LEAST_ROUNDS))
    assert list(Budget(60, 1, clock).rounds(1e9, 2)) == [0, 1]
