"""Multipliers against oracles that share nothing with `qrt.numerics`: Python integers and fractions, rounded step by
step, and literal transcriptions of the published integer recipes."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics
from qrt.errors import QuantTypeError
from tests.rules import (
    fixed_multiplier,
    quantize_multiplier,
    round_half_even,
)

POSITIVE = st.floats(min_value=5e-324, max_value=1.7e308, exclude_min=False)


@given(POSITIVE, POSITIVE, POSITIVE)
@example(1.0, 1.0, 1.0)
@example(math.nextafter(1.0, 0.0), 1.0, 1.0)  # M0 rounds up to 2**31 and is renormalised
@example(5e-324, 5e-324, 1.7e308)
@example(1.7e308, 1.7e308, 5e-324)
def test_fixed_multiplier_is_the_nearest(sa: float, sw: float, so: float) -> None:
    """M0 has 31 bits and M0 / 2**N is within half a unit of its last place, for any positive scales."""
    multiplier = Fraction(sa) * Fraction(sw) / Fraction(so)
    m0, shift = numerics.fixed_multiplier(multiplier)
    assert 2**30 <= m0 < 2**31
    assert abs(multiplier * Fraction(2) ** shift - m0) <= Fraction(1, 2)


@given(st.integers(-2000, 2000))
def test_fixed_multiplier_of_a_power_of_two_is_exact(exponent: int) -> None:
    assert numerics.fixed_multiplier(Fraction(2) ** exponent) == (2**30, 30 - exponent)


@given(st.integers(2**30, 2**31 - 1))
def test_fixed_multiplier_ties_go_to_even(m0: int) -> None:
    expected = m0 if m0 % 2 == 0 else m0 + 1
    got = numerics.fixed_multiplier(Fraction(2 * m0 + 1, 2))
    assert got == ((expected, 0) if expected < 2**31 else (2**30, -1))


@pytest.mark.parametrize("value", [0, -1])
def test_fixed_multiplier_is_positive(value: int) -> None:
    with pytest.raises(QuantTypeError, match="multiplier must be positive"):
        numerics.fixed_multiplier(Fraction(value))


@given(st.lists(st.fractions(Fraction(1, 10**6), 10**6), min_size=1, max_size=5))
def test_shared_multipliers_have_the_shift_of_the_largest(multipliers: list[Fraction]) -> None:
    m0, shift = numerics.shared_fixed_multipliers(multipliers)
    assert shift == numerics.fixed_multiplier(max(multipliers))[1]
    assert all(abs(m * Fraction(2) ** shift - i) <= Fraction(1, 2) for m, i in zip(multipliers, m0, strict=True))


@given(st.floats(1e-9, 2.0**29))
@example(2.0**-32)
@example(0.5 + 2.0**-32)  # a tie of M0, away from zero
@example(math.nextafter(2.0**-32, 0.0))  # rounds up into the range that is kept
@example(2.0**-33)
@example(math.nextafter(1.0, 0.0))
def test_double_multiplier_is_quantize_multiplier(multiplier: float) -> None:
    assert numerics.double_multiplier(multiplier) == quantize_multiplier(multiplier)


def test_double_multiplier_has_an_upper_end() -> None:
    assert numerics.double_multiplier(2.0**30 - 1) == ((2**30 - 1) * 2, 30)
    with pytest.raises(QuantTypeError, match="below 2\\*\\*30"):
        numerics.double_multiplier(2.0**30)


@given(st.floats(1e-6, 1e6), st.floats(1e-6, 1e6))
def test_add_multiplier_has_20_fractional_bits(a: float, out: float) -> None:
    assert numerics.add_multiplier(a, out) == round_half_even(Fraction(a) / Fraction(out) * 2**20)


# ------------------------------------------------------------------------------------------------------------ in arrays

SCALE = st.one_of(
    st.floats(5e-324, 1e308), st.floats(2.0**-13, 1.0, width=32), st.integers(-60, 60).map(lambda n: 2.0**n)
)


@given(st.lists(st.tuples(SCALE, SCALE, SCALE), min_size=1, max_size=8))
@example([(2.0**31 + 1, 2.0**-31, 2.0), (5e-324, 5e-324, 1e308), (2.0**32 - 1, 2.0**-40, 1.0)])  # a tie, the ends
def test_fixed_multipliers_of_many_are_those_of_each(rows: list[tuple[float, float, float]]) -> None:
    """The float64 estimate must never decide what it does not know: ties and carries, scales near the least double."""
    above, below = np.array([row[:2] for row in rows]), np.array([row[2:] for row in rows])
    m0, shift = numerics.fixed_multipliers(above, below)
    ratios = [Fraction(a) * Fraction(b) / Fraction(c) for a, b, c in rows]
    assert list(zip(m0.tolist(), shift.tolist(), strict=True)) == [fixed_multiplier(ratio) for ratio in ratios]


@given(st.lists(st.floats(1e-300, 2.0**29), min_size=1, max_size=8))
def test_double_multipliers_of_many_are_those_of_each(multipliers: list[float]) -> None:
    m0, shift = numerics.double_multipliers(np.array(multipliers))
    assert list(zip(m0.tolist(), shift.tolist(), strict=True)) == list(map(quantize_multiplier, multipliers))


def test_an_error_names_the_first_row_that_leaves_its_float() -> None:
    with pytest.raises(QuantTypeError, match=r"the scale product 1e-30 \* 1e-30 / 2.0 underflows float32"):
        numerics.rounded_ratios(np.array([[1.0, 1.0], [1e-30, 1e-30]]), np.array([[1.0], [2.0]]), np.float32)


@pytest.mark.parametrize("multiplier", [np.inf, np.nan])
def test_a_multiplier_that_is_not_finite_is_refused(multiplier: float) -> None:
    """A product of scales that leaves float32 would be cast to an integer, which C does not define."""
    with pytest.raises(QuantTypeError, match="below 2\\*\\*30, got one that is not finite"):
        numerics.double_multiplier(multiplier)
