"""Rounding against oracles that share nothing with `qrt.numerics`: Python integers and fractions, rounded step by
step, and literal transcriptions of the published integer recipes."""

import math
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics
from qrt.errors import QuantTypeError
from qrt.numerics.float_text import FORMATS
from tests.rules import (
    round_integer,
    to_ieee,
)


def values_of(name: str) -> list[float]:
    """Doubles that are hard to round to a format: its values, the midpoints between them, and a hair to either side."""
    form = FORMATS[name]
    exponents = [form.min_exponent - form.precision, form.min_exponent - form.precision + 1, form.min_exponent]
    exponents += [-1, 0, 1, form.max_exponent - 1, form.max_exponent, form.max_exponent + 1]
    significands = [Fraction(n, 8) for n in range(8, 17)]
    top = Fraction(2) - Fraction(1, 1 << (form.precision - 1))  # the largest significand, and midway to the next
    significands += [top, top + Fraction(1, 1 << form.precision), 1 + Fraction(3, 1 << form.precision)]
    values = [float(s * Fraction(2) ** e) for e in exponents for s in significands if abs(e) < 1000]
    hairs = [math.nextafter(v, direction) for v in values for direction in (0.0, math.inf)]
    everything = [*values, *hairs, 5e-324, 1e308, 0.0]
    return [*everything, *(-v for v in everything)]


@pytest.mark.parametrize("name", [n for n, f in FORMATS.items() if f.precision <= 53 and f.has_zero])
def test_round_to_format_agrees_with_bit_patterns(name: str) -> None:
    """The scalar encoder rounds fractions; overflow, subnormals, formats without infinities or negative zero."""
    form = FORMATS[name]
    values = [*values_of(name), math.inf, -math.inf]
    rounded = numerics.round_to_format(values, name)
    for x, y in zip(values, rounded.tolist(), strict=True):
        if math.isinf(x) and form.special == "none":
            assert abs(y) == form.largest
            continue
        expected = float(form.decode(form.encode_float(x)))
        assert math.isnan(y) if math.isnan(expected) else (y == expected), (name, x)
        assert math.isnan(y) or math.copysign(1, y) == math.copysign(1, expected), (name, x)
    assert math.isnan(numerics.round_to_format(math.nan, name))


@given(st.floats(allow_nan=False), st.sampled_from(["f16", "bf16", "f32"]))
@example(1 + 2.0**-8 + 2.0**-40, "bf16")  # through float32 this rounds to a tie first
@example(65519.999, "f16")
@example(65520.0, "f16")
@example(2.0**-149 * 0.5, "f32")
def test_round_to_ieee_formats_agrees_with_fractions(x: float, name: str) -> None:
    expected = to_ieee(x if math.isinf(x) else Fraction(x), name)
    assert numerics.round_to_format(x, name) == float(expected)


@pytest.mark.parametrize("name", ["f80", "f128", "f8E8M0FNU"])
def test_formats_without_arithmetic_are_refused(name: str) -> None:
    with pytest.raises(QuantTypeError, match=f"arithmetic of type {name} is not supported"):
        numerics.round_to_format(1.0, name)


@pytest.mark.parametrize(
    ("x", "half_even", "half_away", "toward_zero"),
    [
        (0.5, 0, 1, 0),
        (-0.5, 0, -1, 0),
        (1.5, 2, 2, 1),
        (2.5, 2, 3, 2),
        (-2.5, -2, -3, -2),
        (0.49999999999999994, 0, 0, 0),  # floor(x + 0.5) is 1
        (-0.49999999999999994, 0, 0, 0),
        (2251799813685249.5, 2251799813685250, 2251799813685250, 2251799813685249),
        (9007199254740993.0, 9007199254740992, 9007199254740992, 9007199254740992),
        (1e300, int(1e300), int(1e300), int(1e300)),
    ],
)
def test_round_integral(x: float, half_even: int, half_away: int, toward_zero: int) -> None:
    assert numerics.round_integral(x, "half_even") == half_even
    assert numerics.round_integral(x, "half_away") == half_away
    assert numerics.round_integral(x, "toward_zero") == toward_zero


@given(st.floats(allow_nan=False, allow_infinity=False), st.sampled_from(numerics.ROUNDINGS))
def test_round_integral_agrees_with_fractions(x: float, rounding: str) -> None:
    assert int(numerics.round_integral(x, rounding)) == round_integer(Fraction(x), rounding)


@pytest.mark.parametrize("rounding", numerics.ROUNDINGS)
def test_round_integral_keeps_what_is_no_number(rounding: str) -> None:
    rounded = numerics.round_integral([math.inf, -math.inf, math.nan], rounding)
    assert rounded[:2].tolist() == [math.inf, -math.inf]
    assert math.isnan(rounded[2])


def test_oracle_agrees_with_numpy_and_ml_dtypes() -> None:
    """The oracle above is itself right, on hardware's and ml_dtypes' conversions of floats."""
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 6, 2000)).astype(np.float32)
    for name, dtype in {"f16": np.float16, "bf16": ml_dtypes.bfloat16}.items():
        with np.errstate(over="ignore"):
            converted = x.astype(dtype).astype(np.float64)
        assert [float(to_ieee(Fraction(float(v)), name)) for v in x] == converted.tolist()
