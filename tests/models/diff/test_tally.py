"""How far arrays lie apart. Hazards: a NaN that hides a difference, two zeros taken for different floats, a difference
of 8-bit integers that wraps, a bound on sums that lets an infinity through, a tensor that compares nothing."""

import numpy as np
import pytest

from qrt.models.diff.tally import DifferenceTally, ulps
from qrt.models.importing.comparison_source import Bound

F = np.float32
NEXT = np.nextafter(F(1), F(2))


def test_a_difference_of_scalars():
    assert ulps(F(1).reshape(()), F(NEXT).reshape(())).tolist() == 1
    assert ulps(F(np.nan).reshape(()), F(1).reshape(())).tolist() == np.iinfo(np.int64).max


@pytest.mark.parametrize(
    ("a", "b", "apart"),
    [
        (1, NEXT, 1),
        (-1, -NEXT, 1),
        (0.0, -0.0, 0),
        (1e-45, -1e-45, 2),
        (np.inf, np.finfo(F).max, 1),
        (np.nan, np.nan, 0),
        (np.nan, 1, np.iinfo(np.int64).max),
        (np.inf, -np.inf, 2 * 0x7F800000),
    ],
)
def test_units_in_the_last_place(a, b, apart):
    assert ulps(F([a]), F([b])).tolist() == [apart]
    assert ulps(F([b]), F([a])).tolist() == [apart]


def test_ends_of_a_storage_type_do_not_wrap():
    for dtype in (np.int8, np.uint8, np.int64):
        tally = DifferenceTally()
        ends = np.iinfo(dtype)
        tally.add(np.array([ends.min, ends.max], dtype), np.array([ends.max, ends.min], dtype))
        assert tally.differ == 2
        assert tally.largest >= 255


@pytest.mark.parametrize(("is_sum", "differ"), [(True, 1), (False, 2)])
def test_what_is_left_of_a_sum_may_lie_further_apart(is_sum, differ):
    tally = DifferenceTally(Bound(is_sum=is_sum))
    tally.add(F([1.0, 1e-9, np.inf]), F([1.0, 2e-9, 5.0]))
    assert tally.differ == differ
    assert tally.is_float


def test_four_units_and_no_more():
    far = F(1) + 4 * np.spacing(F(1))
    tally = DifferenceTally()
    tally.add(F([far, np.nextafter(far, F(2))]), F([1, 1]))
    assert (tally.differ, tally.largest) == (1, 5)


def test_integers_that_are_one_apart_are_told_from_others():
    tally = DifferenceTally()
    tally.add(np.uint8([0, 255, 3, 4]), np.uint8([255, 254, 3, 6]))
    assert (tally.differ, tally.beyond, tally.largest) == (3, 2, 255)


def test_integers_differ_where_one_of_them_lies_outside_an_interval():
    tally = DifferenceTally()
    ours, theirs = np.int8([1, 1, 1, 1, 1, 1]), np.int8([1, 2, 2, 2, 0, 3])
    low, high = np.array([1, 1, 2, 1, 0, 1]), np.array([1, 2, 2, 1, 1, 3])
    tally.add(ours, theirs, interval=lambda: (low, high))
    assert (tally.differ, tally.within, tally.beyond, tally.largest) == (2, 3, 0, 2)


def test_an_interval_is_asked_where_integers_differ_alone():
    tally = DifferenceTally()
    tally.add(np.int8([1, 2]), np.int8([1, 2]), interval=lambda: pytest.fail("it was asked"))
    assert (tally.differ, tally.within) == (0, 0)


def test_floats_within_their_bound_are_counted():
    tally = DifferenceTally(Bound(ulp=1))
    tally.add(F([NEXT, 1, 1]), F([1, 1, 2]))
    assert (tally.differ, tally.within) == (1, 1)


def test_what_a_function_may_lie_apart():
    tally = DifferenceTally(Bound(relative=1e-3, absolute=1e-4))
    theirs = F([1000, 1000, 0, 0, np.inf, np.inf])
    tally.add(F([1001, 1001.2, 1e-4, 1.1e-4, 1e30, np.inf]), theirs)
    assert (tally.differ, tally.beyond) == (3, 0)


def test_shapes_may_change_between_runs():
    tally = DifferenceTally()
    for size in (0, 3, 2):
        tally.add(np.arange(size, dtype=np.int8), np.arange(size, dtype=np.int8))
    assert tally.elements == 5


def test_a_tensor_of_one_value_compares_nothing():
    tally = DifferenceTally()
    for _ in range(3):
        tally.add(np.int8([7, 7]), np.int8([7, 7]))
    assert tally.skipped == "one value over all inputs"
    tally.add(np.int8([7, 8]), np.int8([7, 8]))
    assert not tally.skipped


def test_a_tensor_that_never_changes_compares_nothing():
    tally = DifferenceTally()
    for _ in range(3):
        tally.add(np.int8([7, 8]), np.int8([7, 8]))
    assert tally.skipped == "the same over all inputs"


def test_one_run_of_several_values_counts():
    tally = DifferenceTally()
    tally.add(np.int8([7, 8]), np.int8([7, 8]))
    assert not tally.skipped


def test_a_difference_always_counts():
    tally = DifferenceTally()
    tally.add(np.int8([7, 7]), np.int8([7, 6]))
    tally.add(np.int8([7, 7]), np.int8([7, 6]))
    assert (tally.skipped, tally.differ, tally.elements) == ("", 2, 4)


@pytest.mark.parametrize("other", [np.zeros(3, np.int8), np.zeros(2, np.uint8)])
def test_another_shape_or_dtype_is_an_error(other):
    with pytest.raises(ValueError, match=r"^int8 of shape \[2\] and u?int8 of shape"):
        DifferenceTally().add(np.zeros(2, np.int8), other)


def test_an_empty_tensor_compares_nothing():
    tally = DifferenceTally()
    tally.add(np.zeros((0, 4), np.int8), np.zeros((0, 4), np.int8))
    assert tally.skipped == "empty"


def test_floats_without_an_axis_are_compared():
    """Hazard: NumPy makes a scalar of them, to which nothing can be assigned."""
    tally = DifferenceTally()
    tally.add(F(np.ones(())), F(np.full((), 3)))
    assert (tally.elements, tally.differ) == (1, 1)
    assert ulps(F(np.full((), np.nan)), F(np.full((), np.nan))).tolist() == 0
