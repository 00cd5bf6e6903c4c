"""qrt.numerics against oracles that share nothing with it: Python integers and fractions, rounded step by step, and
literal transcriptions of the published integer recipes."""

import decimal
import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics
from qrt.errors import QuantTypeError
from qrt.text.floats import FORMATS
from tests import rules
from tests.rules import (
    PRECISION,
    Number,
    clamp,
    dequantize,
    fixed,
    fixed_double,
    quantize,
    quantize_multiplier,
    round_half_even,
    round_integer,
    to_ieee,
)

# ------------------------------------------------------------------------------------------------------------- rounding


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
    with pytest.raises(QuantTypeError, match=f"{name} arithmetic is not executable"):
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


# ---------------------------------------------------------------------------------------------------------------- casts

BOUNDS = [(-128, 127), (0, 255), (-8, 7), (-1, 0), (0, 1), (-127, 127), (10, 20), (-(2**31), 2**31 - 1), (0, 2**32 - 1)]
INTERESTING = [0.0, -0.0, 0.5, 1.5, -2.5, 1e-40, -1e-40, 1e-45, 1e30, 3.4e38, -3.4e38, math.inf, -math.inf, math.nan]


@st.composite
def cast_arguments(draw: st.DrawFn) -> tuple[Any, ...]:
    name = draw(st.sampled_from(list(PRECISION)))
    low, high = draw(st.sampled_from(BOUNDS))
    zp = draw(st.one_of(st.sampled_from([low, high, max(min(0, high), low)]), st.integers(min(low, 0), max(high, 0))))
    dtype = np.dtype("float64") if name == "f64" else np.dtype("float32")
    s = draw(st.one_of(st.floats(2.0**-10, 2.0**6), st.sampled_from([2.0**-24, 2.0**-14, 0.1, 1 / 3, 1e4])))
    steps = draw(st.integers(-600, 600))
    x = draw(st.sampled_from([*INTERESTING, (steps + 0.5 - zp) * s, (steps - zp) * s, s / 2, draw(st.floats())]))
    with np.errstate(over="ignore"):
        x = float(numerics.round_to_format(float(dtype.type(x)), name))
    rule = (draw(st.sampled_from(numerics.ROUNDINGS)), draw(st.sampled_from(numerics.ZERO_POINTS)))
    return x, s, zp, low, high, name, *rule, draw(st.sampled_from(numerics.SCALES))


@given(cast_arguments())
@example((0.0, 1e-45, 3, -128, 127, "f32", "half_even", "before", "reciprocal"))  # 0 times an infinite reciprocal
@example((-math.inf, 1.0, 70000, -(2**31), 2**31 - 1, "f16", "half_even", "before", "divide"))  # -inf + inf
@example((0.49999997, 1.0, 0, -128, 127, "f32", "half_away", "after", "divide"))
@example((8388607.5, 1.0, 1, -(2**31), 2**31 - 1, "f32", "half_even", "before", "divide"))  # the sum rounds in f32
@example((math.nan, 1.0, -5, 0, 255, "f32", "half_even", "after", "divide"))  # a zero point outside the bounds
def test_quantize(arguments: tuple[Any, ...]) -> None:
    """Every step of qcast rounded to the expressed type, for each combination of its three attributes."""
    x, s, zp, low, high, name, rounding, order, form = arguments
    got = numerics.quantize(x, s, zp, low, high, name, rounding=rounding, zero_point_order=order, scale_form=form)
    assert got.dtype == np.int64
    assert int(got) == quantize(*arguments)


@given(st.integers(-(2**31), 2**32 - 1), st.integers(-(2**31), 2**32 - 1), st.floats(1e-7, 1e4),
       st.sampled_from(list(PRECISION)))  # fmt: skip
@example(2**24 + 1, 0, 1.0, "f32")  # the stored integer itself rounds
@example(127, -128, 300.0, "f16")
def test_dequantize(q: int, zp: int, s: float, name: str) -> None:
    expected, got = dequantize(q, s, zp, name), float(numerics.dequantize(q, s, zp, name))
    assert got == float(expected) or (math.isnan(got) and math.isnan(float(expected)))


@pytest.mark.parametrize("name", ["f8E5M2", "f8E4M3FN", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f6E3M2FN", "f4E2M1FN"])
def test_casts_of_small_formats_use_their_arithmetic(name: str) -> None:
    """All values of the format, against arithmetic that encodes and decodes bit patterns after every step."""
    form = FORMATS[name]
    values = [v for v in (form.decode(b) for b in range(1 << form.width)) if not (isinstance(v, float) and v != v)]
    finite = [v for v in values if not (isinstance(v, float) and math.isinf(v))]

    def rounded(v: Number) -> Number:
        return (
            form.decode(form.encode_float(float(v)))
            if isinstance(v, float)
            else form.decode(form.encode(abs(v), v < 0))
        )

    zp = 1
    for x in finite:
        step = rounded(Fraction(x) / Fraction(1, 2))
        total = rounded(Fraction(step) + zp) if math.isfinite(step) else float(step)
        if isinstance(total, float) and math.isnan(total):
            expected = zp
        elif isinstance(total, float) and math.isinf(total):
            expected = 127 if total > 0 else -128
        else:
            expected = min(max(round_half_even(Fraction(total)), -128), 127)
        assert int(numerics.quantize(float(x), 0.5, zp, -128, 127, name)) == expected, x


def test_casts_refuse_unknown_rules() -> None:
    arguments = (1.0, 1.0, 0, -8, 7, "f32")
    with pytest.raises(QuantTypeError, match="unknown rounding 'up'"):
        numerics.quantize(*arguments, rounding="up")
    with pytest.raises(QuantTypeError, match="unknown zero point order 'never'"):
        numerics.quantize(*arguments, zero_point_order="never")
    with pytest.raises(QuantTypeError, match="unknown scale form 'shift'"):
        numerics.quantize(*arguments, scale_form="shift")


# ---------------------------------------------------------------------------------------------------------- multipliers

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


# ------------------------------------------------------------------------------------------------------- requantization


def parameters(rule: str, zp: int, low: int, high: int, **values: Any) -> numerics.RequantParameters:
    dtypes = {"multiplier": np.int32, "shift": np.int32, "scale_f32": np.float32, "scale_f64": np.float64}
    arrays = {name: np.array([values[name]] if name in values else [], dtype) for name, dtype in dtypes.items()}
    return numerics.RequantParameters(
        rule=rule, storage="i32", storage_min=low, storage_max=high, zero_point=np.array([zp]), **arrays
    )


ACCUMULATORS = st.one_of(
    st.sampled_from([0, 1, -1, 2**31 - 1, -(2**31), 2**31, 2**40, -(2**40), 2**62, -(2**62)]),
    st.integers(-(2**31), 2**31 - 1),
    st.integers(-(2**62), 2**62),
)


@given(ACCUMULATORS, st.integers(2**30, 2**31 - 1), st.one_of(st.sampled_from([-40, -1, 0, 1, 31, 62, 63, 100]),
       st.integers(-8, 70)), st.sampled_from(BOUNDS), st.integers(-1000, 1000))  # fmt: skip
@example(-1, 2**30, 31, (-128, 127), 0)  # a negative tie goes up
@example(-3, 2**30, 31, (-128, 127), 0)
@example(2**62, 2**31 - 1, 1, (-128, 127), 0)
@example(2**62, 2**31 - 1, 62, (-(2**31), 2**31 - 1), 7)
@example(2**62, 2**31 - 1, 63, (-(2**31), 2**31 - 1), 7)  # nothing is left, though the value would be 2**30
def test_fixed(acc: int, m0: int, n: int, bounds: tuple[int, int], zp: int) -> None:
    """Negative ties, shifts of 0, 1, 31, 62 and beyond, to the left too, and accumulators of 64 bits."""
    got = numerics.requantize(np.array([acc]), parameters("fixed", zp, *bounds, multiplier=m0, shift=n))
    assert got.tolist() == [clamp(fixed(acc, m0, n) + zp, *bounds)]


def test_fixed_of_accumulators_beyond_64_bits() -> None:
    acc = np.array([2**90, -(2**90), 2**70 + 1], object)
    got = numerics.requantize(acc, parameters("fixed", 0, -(2**31), 2**31 - 1, multiplier=1, shift=62))
    assert got.tolist() == [2**28, -(2**28), 2**8]


def test_fixed_mixes_fast_and_exact_parameters() -> None:
    """One shift beyond 62 must not change its neighbours."""
    p = numerics.RequantParameters(
        "fixed", "i8", -128, 127, np.array([1, 2, 3]), np.array([2**30] * 3, np.int32),
        np.array([30, 63, -1], np.int32), np.empty(0, np.float32), np.empty(0, np.float64),
    )  # fmt: skip
    acc = np.array([[5, 5, 5], [-7, -7, -7]])
    assert numerics.requantize(acc, p, np.arange(3)).tolist() == [[6, 2, 127], [-6, 2, -128]]


@given(st.one_of(st.integers(-(2**31), 2**31 - 1), st.integers(-200, 200)),
       st.one_of(st.sampled_from([0, 2**30, 2**31 - 1]), st.integers(2**30, 2**31 - 1)), st.integers(-31, 30),
       st.sampled_from(BOUNDS), st.integers(-128, 127))  # fmt: skip
@example(-5, 2**30, -1, (-128, 127), 0)  # negative ties of either step
@example(-2, 2**30, -1, (-128, 127), 0)
@example(-12, 2**30, -2, (-128, 127), 0)
@example(2, 2**30, -1, (-128, 127), 0)
@example(-1, 2**30, 0, (-128, 127), 0)
@example(-(2**31), 2**31 - 1, 30, (-(2**31), 2**31 - 1), 0)  # the left shift saturates
def test_fixed_double_is_multiply_by_quantized_multiplier(
    acc: int, m0: int, shift: int, bounds: tuple[int, int], zp: int
) -> None:
    expected = fixed_double(acc, m0, shift)
    got = numerics.requantize(np.array([acc]), parameters("fixed_double", zp, *bounds, multiplier=m0, shift=shift))
    assert got.tolist() == [clamp(expected + zp, *bounds)]


@given(ACCUMULATORS, st.floats(2.0**-40, 2.0**40, width=32), st.sampled_from(BOUNDS), st.integers(-128, 255))
@example(2**24 + 1, 1.0, (-(2**31), 2**31 - 1), 0)  # the accumulator rounds to f32
@example(2**31, 2.0**100, (-128, 127), 0)
@example(5, 0.5, (-128, 127), 0)
@example(2**33, 1.0, (0, 2**32 - 1), 255)  # bounds of more than 24 bits
def test_float32(acc: int, scale: float, bounds: tuple[int, int], zp: int) -> None:
    """XNNPACK's rule: one rounding to f32 of the accumulator, one of the product, half-even, then integers."""
    with np.errstate(over="ignore"):
        scale = float(np.float32(scale))
    expected = rules.float32(acc, Fraction(scale), bounds, zp)
    got = numerics.requantize(np.array([acc]), parameters("float32", zp, *bounds, scale_f32=scale))
    assert got.tolist() == [expected]


@given(ACCUMULATORS, st.floats(2.0**-40, 2.0**40), st.sampled_from(BOUNDS), st.integers(-128, 255))
@example(-5, 0.5, (-128, 127), 0)
@example(2**62, 1e300, (-128, 127), 3)
@example(2**53 + 1, 1.0, (-(2**31), 2**31 - 1), 0)
def test_float64_away(acc: int, scale: float, bounds: tuple[int, int], zp: int) -> None:
    expected = rules.float64_away(acc, Fraction(scale), bounds, zp)
    got = numerics.requantize(np.array([acc]), parameters("float64_away", zp, *bounds, scale_f64=scale))
    assert got.tolist() == [expected]


# -------------------------------------------------------------------------------------------------- forming parameters


def formed(rule: str, numerator: tuple[float, ...], denominator: tuple[float, ...]) -> numerics.RequantParameters:
    return numerics.requant_parameters(rule, "i8", -128, 127, [numerator], [denominator], [3])


def test_parameters_fill_only_what_their_rule_reads() -> None:
    scales = (0.1, 0.3), (0.7,)
    for rule, names in {"fixed": ("multiplier", "shift"), "fixed_double": ("multiplier", "shift"),
                        "float32": ("scale_f32",), "float64_away": ("scale_f64",)}.items():  # fmt: skip
        p = formed(rule, *scales)
        filled = {n for n in ("multiplier", "shift", "scale_f32", "scale_f64") if getattr(p, n).size}
        assert filled == set(names)
        assert p.zero_point.tolist() == [3]


def test_fixed_parameters_are_of_the_exact_rational() -> None:
    """Not of a rounded product: 0.1 * 0.2 in doubles differs from the product of the doubles."""
    p = formed("fixed", (0.1, 0.2), (0.3,))
    exact = numerics.fixed_multiplier(Fraction(0.1) * Fraction(0.2) / Fraction(0.3))
    assert (int(p.multiplier[0]), int(p.shift[0])) == exact


def test_float32_parameters_round_every_step() -> None:
    sa, sw, so = np.float32(0.1), np.float32(0.3), np.float32(0.7)
    assert formed("float32", (0.1, 0.3), (0.7,)).scale_f32[0] == sa * sw / so
    assert formed("float32", (0.1,), (0.7, 9.0)).scale_f32[0] == sa / so / np.float32(9)


def test_float64_parameters_round_every_step() -> None:
    assert formed("float64_away", (0.1, 0.3), (0.7,)).scale_f64[0] == 0.1 * 0.3 / 0.7


@pytest.mark.parametrize(
    ("numerator", "denominator", "word"),
    [((1e30, 1e30), (1e-30,), "overflows"), ((1e-30, 1e-30), (1.0,), "underflows"), ((1.0,), (1e-60,), "overflows")],
)
def test_multipliers_outside_the_floats_are_errors(
    numerator: tuple[float, ...], denominator: tuple[float, ...], word: str
) -> None:
    """A zero or infinite multiplier would make every result the zero point or a bound, in silence."""
    with pytest.raises(QuantTypeError, match=f"{word} float32: use requant = 'fixed'"):
        formed("float32", numerator, denominator)


def test_unknown_rule() -> None:
    with pytest.raises(QuantTypeError, match="unknown requantization rule 'nearest'"):
        formed("nearest", (1.0,), (1.0,))


def test_taken_parameters_follow_the_index() -> None:
    p = numerics.requant_parameters("fixed", "i8", -128, 127, [(1.0,), (2.0,)], [(1.0,), (1.0,)], [5, 6])
    taken = p.take(np.array([[1, 0], [1, 1]]))
    assert taken.zero_point.tolist() == [6, 5, 6, 6]
    assert taken.shift.tolist() == [29, 30, 29, 29]
    assert taken.scale_f32.size == 0


# ----------------------------------------------------------------------------------------------------------------- bias


@given(st.lists(st.integers(-(2**31), 2**31 - 1), min_size=1, max_size=6), st.floats(1e-6, 1.0), st.floats(1e-3, 1.0),
       st.floats(1e-3, 1.0), st.integers(-100, 100))  # fmt: skip
def test_bias_is_rescaled_with_one_rounding(values: list[int], sb: float, sa: float, sw: float, zp: int) -> None:
    count = len(values)
    got = numerics.rescale_bias(values, [sb] * count, [zp] * count, [(sa, sw)] * count)
    m0, n = numerics.fixed_multiplier(Fraction(sb) / (Fraction(sa) * Fraction(sw)))
    expected = [v - zp if sb == sa * sw else fixed(v - zp, m0, n) for v in values]
    assert got.tolist() == expected


def test_bias_at_the_scale_of_the_accumulator_passes_unchanged() -> None:
    """`S_b` is the rounded product of the doubles, which the exact rational is not."""
    assert numerics.rescale_bias([5, -7], [0.1 * 0.3] * 2, [0, 1], [(0.1, 0.3)] * 2).tolist() == [5, -8]


def test_bias_beyond_64_bits_is_an_error() -> None:
    with pytest.raises(QuantTypeError, match="does not fit 64 bits"):
        numerics.rescale_bias([2**31 - 1], [1e30], [0], [(1.0, 1.0)])


def test_oracle_agrees_with_numpy_and_ml_dtypes() -> None:
    """The oracle above is itself right, on hardware's and ml_dtypes' conversions of floats."""
    rng = np.random.default_rng(5)
    x = (rng.standard_normal(2000) * 10.0 ** rng.integers(-9, 6, 2000)).astype(np.float32)
    for name, dtype in {"f16": np.float16, "bf16": ml_dtypes.bfloat16}.items():
        with np.errstate(over="ignore"):
            converted = x.astype(dtype).astype(np.float64)
        assert [float(to_ieee(Fraction(float(v)), name)) for v in x] == converted.tolist()


# ------------------------------------------------------------------------------------------------------------- softmax


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
