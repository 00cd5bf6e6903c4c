"""Softmax against oracles that share nothing with `qrt.numerics`: Python integers and fractions, rounded step by
step, and literal transcriptions of the published integer recipes."""

import decimal
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics


def exponential(x: Fraction, bits: int) -> int:
    """exp(-x) * 2**bits to the nearest integer, by libmpdec to 120 digits."""
    with decimal.localcontext(prec=120):
        value = (-decimal.Decimal(x.numerator) / x.denominator).exp() * 2**bits
        return int(value.to_integral_value(decimal.ROUND_HALF_EVEN))


@given(st.fractions(0, 25, max_denominator=10**6) | st.floats(0, 25).map(Fraction), st.sampled_from([3, 15, 30, 52]))
@example(Fraction(0), 30)
@example(Fraction(5e-324), 30)  # rounds to 1
@example(Fraction(30), 30)
@example(Fraction(math.log(2)), 30)  # as near to one half as a double comes
@example(Fraction(31 * math.log(2)), 30)  # as near to half of the last bit
@example(Fraction(31 * math.log(2)) + Fraction(1, 2**49), 30)
def test_exponentials_are_correctly_rounded(x: Fraction, bits: int) -> None:
    assert numerics.negative_exponential(x, bits) == exponential(x, bits)


@pytest.mark.parametrize("x", [Fraction(10**30), Fraction(1, 10**300), Fraction(math.pi)])
def test_exponentials_of_any_size_end(x: Fraction) -> None:
    assert numerics.negative_exponential(x, 30) == exponential(min(x, Fraction(1000)), 30)


def test_softmax_tables_multiply_the_doubles_exactly() -> None:
    """Not their rounded product, and shared by all who ask: nobody may change it."""
    table = numerics.softmax_table(0.1, 3.0)
    assert (table.dtype, table.shape, table[0]) == (np.int32, (256,), 2**30)
    assert table.tolist() == [exponential(Fraction(0.1) * 3 * d, 30) for d in range(256)]
    with pytest.raises(ValueError, match="read-only"):
        table[0] = 1


def test_softmax_rounds_ties_to_even() -> None:
    """Four equal values: 0.25 over 0.5, 0.1 and 1/6 of it."""
    q, table = np.full((1, 4), 9, np.int8), numerics.softmax_table(1.0, 1.0)
    assert numerics.softmax(q, 1, table, 0.5, 0, -128, 127).tolist() == [[0] * 4]  # 0.5
    assert numerics.softmax(q, 1, table, 2.0**-3 / 3 * 4, 0, -128, 127).tolist() == [[2] * 4]  # 1.5
    assert numerics.softmax(q, 1, table, 0.1, -3, -128, 127).tolist() == [[-1] * 4]  # 2.5 - 3
    assert numerics.softmax(q, 1, table, 2.0**-10, -128, -128, 127).tolist() == [[127] * 4]
