"""gemmlowp's arithmetic, against exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from qrt import numerics

ENDS = [-(1 << 31), 1 - (1 << 31), -(1 << 30), -3, -1, 0, 1, 2, 5, 1 << 30, (1 << 31) - 1]


def half_away(x: Fraction) -> int:
    return int(abs(x) + Fraction(1, 2)) * (1 if x >= 0 else -1)


def test_products_at_the_ends() -> None:
    for a in ENDS:
        for b in ENDS:
            exact = Fraction(a * b, 1 << 31)
            is_tie = exact.denominator == 2
            wanted = -int(-exact) if is_tie and exact < 0 else half_away(exact)  # negative ties go towards zero
            assert int(numerics.doubling_high_multiply(a, b)) == min(wanted, (1 << 31) - 1), (a, b)


@pytest.mark.parametrize("exponent", [0, 1, 2, 7, 30, 31])
def test_divisions_at_the_ends(exponent: int) -> None:
    for x in ENDS:
        assert int(numerics.divide_by_power(x, exponent)) == half_away(Fraction(x, 1 << exponent)), x


def test_a_reciprocal_is_near() -> None:
    a = np.linspace(0, (1 << 31) - 1, 1000).astype(np.int64)
    exact = 2.0**31 / (1 + a / 2.0**31)
    assert np.abs(numerics.one_over_one_plus(a) - np.minimum(exact, 2**31 - 1)).max() <= 8


@pytest.mark.parametrize(("scale", "dtype"), [(0.02, np.int8), (0.7, np.uint8)])
def test_a_quotient_is_near(scale: float, dtype: type) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.integers(32, 256, 5000) * rng.choice([-1, 1], 5000), rng.integers(-255, 256, 5000)
    info = np.iinfo(dtype)
    got = numerics.quotient(a, b, 0.5, 0.25, scale, 3, info.min, info.max)
    with np.errstate(divide="ignore", invalid="ignore"):
        exact = np.clip(np.nan_to_num(2.0 * a / b / scale) + 3, info.min, info.max)
    assert np.abs(got - exact).max() <= 0.51


def test_a_quotient_by_zero_saturates() -> None:
    got = numerics.quotient([-5, 0, 7, 7], [0, 0, 0, -7], 1.0, 1.0, 1.0, 4, -128, 127)
    assert got.tolist() == [-128, 4, 127, 3]


def test_the_nearest_quotient_is_nearest_for_all_bytes() -> None:
    """Where TFLite's shift is beyond 31 places too. Expected results are exact fractions."""
    a, b = (axis.ravel() for axis in np.meshgrid(np.arange(-255, 256, 5), [-200, -1, 1, 3, 128, 255]))
    for sa, sb, so in ((0.028556445613503456, 0.025892440229654312, 0.13513070344924927), (0.5, 0.25, 1.0)):
        got = numerics.nearest_quotient(a, b, sa, sb, so, 9, -128, 127)
        real = [
            Fraction(int(x)) * Fraction(sa) / (Fraction(int(y)) * Fraction(sb) * Fraction(so)) + 9
            for x, y in zip(a, b, strict=True)
        ]
        apart = [abs(min(max(value, -128), 127) - int(code)) for value, code in zip(real, got, strict=True)]
        assert max(apart) <= Fraction(1, 2)
    assert numerics.nearest_quotient([1, -1, 3], 2, 1.0, 1.0, 1.0, 0, -128, 127).tolist() == [1, -1, 2]
    assert numerics.nearest_quotient([-5, 0, 7], 0, 1.0, 1.0, 1.0, 4, -128, 127).tolist() == [-128, 4, 127]


def test_a_dividend_near_zero_is_shifted_as_in_tflite() -> None:
    """LiteRT 2.3.0's DIV of int8: the shift is beyond 31 places."""
    scales = 0.028556445613503456, 0.025892440229654312, 0.13513070344924927
    got = numerics.quotient([52 - 50, 52 - 50, 51 - 50], [-109 - 119, -30 - 119, -91 - 119], *scales, 92, -128, 127)
    assert got.tolist() == [-128, -128, -128]


def test_a_quotient_of_a_large_multiplier_is_shifted_as_in_tflite() -> None:
    """LiteRT 2.3.0's DIV of int16: the shift is below 0 places."""
    got = numerics.quotient([32767, -32768, 16384, 16383, 8191, 5], 1, 1.0, 1.0, 2.0**-20, 0, -32768, 32767)
    assert got.tolist() == [8, -8, 5, 4, 2, 32767]


def test_a_square_is_near() -> None:
    rng = np.random.default_rng(2)
    a, b = rng.integers(-255, 256, (2, 5000))
    got = numerics.squared_difference(a, b, 0.5, 0.3, 200.0, -9, -128, 127)
    exact = np.clip((0.5 * a - 0.3 * b) ** 2 / 200.0 - 9, -128, 127)
    assert np.abs(got - exact).max() <= 0.6
