"""Exact sums of floats: the oracle adds rationals. Hazards: an order that shows, an exponent or a half that is lost."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.numerics import sums
from qrt.numerics.sums import exact_sum, exact_sums, nearest_float, require_finite, square_sum

FINITE = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(FINITE, max_size=30), st.integers(1, 40))
def test_a_sum_is_that_of_rationals(values: list[float], part: int) -> None:
    """Parts of another size, too: 2^20 values are too many to draw."""
    before, sums._PART = sums._PART, part
    try:
        assert exact_sum(np.array(values, np.float64)) == sum(map(Fraction, values))
    finally:
        sums._PART = before


@given(st.lists(st.tuples(FINITE, FINITE, FINITE), min_size=1, max_size=8), st.integers(1, 9))
def test_columns_are_summed_apart(rows: list[tuple[float, ...]], part: int) -> None:
    """Hazard: a bin of one column that is counted in another."""
    before, sums._PART = sums._PART, part
    try:
        assert exact_sums(np.array(rows)) == [sum(map(Fraction, column)) for column in zip(*rows, strict=True)]
    finally:
        sums._PART = before


def test_the_largest_part_is_summed_exactly() -> None:
    """Each half of a significand is 2^27 - 1 at most; a sum of so many is exact in float64."""
    values = np.full(sums._PART, np.nextafter(2.0, 1.0))
    assert exact_sum(values) == sums._PART * Fraction(float(values[0]))


@given(st.fractions())
def test_a_rational_is_rounded_once(x: Fraction) -> None:
    assert Fraction(nearest_float(x)) == Fraction(float(x))
    huge = Fraction(10) ** 400
    assert (nearest_float(huge), nearest_float(-huge)) == (float("inf"), float("-inf"))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ([[1.0, 2.0], [np.nan, np.inf]], r"x must be finite, got nan at \[1, 0\]"),
        ([1.0, -np.inf], r"x must be finite, got -inf at \[1\]"),
        (np.nan, r"x must be finite, got nan$"),
    ],
)
def test_the_first_that_is_not_finite_is_named(values: object, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        require_finite(np.array(values), "x")


@given(st.lists(FINITE, max_size=20), st.integers(0, 20))
def test_squares_of_any_magnitude_are_summed_and_parts_add_up(values: list[float], at: int) -> None:
    """The squares of 1e200 and 1e-200 are no numbers of float64; a scale of the whole would change parts."""
    array = np.array(values, np.float64)
    total = square_sum(array)
    expected = sum((Fraction(v) ** 2 for v in values), Fraction(0))
    assert abs(total - expected) <= expected / 2**53
    assert square_sum(array[:at]) + square_sum(array[at:]) == total
