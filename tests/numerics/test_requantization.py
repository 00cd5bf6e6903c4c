"""Requantization against oracles that share nothing with `qrt.numerics`: Python integers and fractions, rounded step by
step, and literal transcriptions of the published integer recipes."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics
from qrt.errors import QuantTypeError
from tests import rules
from tests.numerics.test_casts import BOUNDS
from tests.rules import (
    clamp,
    fixed,
    fixed_double,
)


def parameters(rule: str, zp: int, low: int, high: int, **values: Any) -> numerics.RequantParameters:
    dtypes = {
        "multiplier": np.int32, "shift": np.int32, "scale_f32": np.float32, "scale_f64": np.float64,
        "offset_f32": np.float32,
    }  # fmt: skip
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


@given(ACCUMULATORS, st.integers(2**30, 2**31 - 1), st.integers(-31, 30), st.sampled_from(BOUNDS),
       st.integers(-128, 127))  # fmt: skip
@example(-6, 2**30, -1, (-128, 127), 0)  # a negative tie of the second rounding goes up
@example(-5, 2**30, -1, (-128, 127), 0)
@example(2**31 - 1, 2**31 - 1, -1, (-(2**31), 2**31 - 1), 0)
@example(-(2**31), 2**31 - 1, -31, (-(2**31), 2**31 - 1), 0)
def test_half_up_twice(acc: int, m0: int, shift: int, bounds: tuple[int, int], zp: int) -> None:
    p = parameters("half_up_twice", zp, *bounds, multiplier=m0, shift=shift)
    expected = clamp(rules.half_up_twice(acc, m0, shift) + zp, *bounds)
    assert numerics.requantize(np.array([acc]), p).tolist() == [expected]


@given(st.integers(-(2**47), 2**47 - 1), st.floats(2.0**-31, 2.0**7), st.sampled_from(BOUNDS))
@example(-3, 0.5, (-128, 127))  # a negative tie
@example(2**40 + 1, 2.0**-20 * (1 - 2.0**-17), (-(2**31), 2**31 - 1))  # the multiplier of 15 bits is capped
def test_reduced16(acc: int, multiplier: float, bounds: tuple[int, int]) -> None:
    """The 15 bits of the multiplier may stand anywhere in M0, as long as N says so."""
    p = numerics.requant_parameters("reduced16", "i32", *bounds, [(multiplier,)], [(1.0,)], [0])
    expected = clamp(rules.reduced16(acc, *rules.quantize_multiplier(multiplier)), *bounds)
    assert numerics.requantize(np.array([acc]), p).tolist() == [expected]


@given(ACCUMULATORS, st.integers(1, 2**22), st.sampled_from(BOUNDS))
@example(-5, 2, (-128, 127))  # ties to both sides
@example(5, 2, (-128, 127))
def test_integer(acc: int, count: int, bounds: tuple[int, int]) -> None:
    got = numerics.requantize(np.array([acc]), parameters("integer", 0, *bounds, multiplier=count))
    assert got.tolist() == [rules.integer(acc, count, bounds)]


SOME_SCALES = st.floats(2.0**-10, 2.0**3, width=32)


@given(st.integers(-(2**31), 2**31 - 1), SOME_SCALES, SOME_SCALES, st.integers(-128, 127), st.integers(-128, 127),
       st.integers(1, 2**20), st.booleans())  # fmt: skip
def test_raw(raw: int, source: float, to: float, zx: int, zo: int, count: int, divides: bool) -> None:
    rule = "raw_mean" if divides else "raw_sum"
    p = numerics.requant_parameters(rule, "i8", -128, 127, [(source,)], [(to,)], [zo], [count], [zx])
    expected = rules.raw_mean(raw, (source, zx), (to, zo), count, (-128, 127), divides)
    assert numerics.requantize(np.array([raw]), p).tolist() == [expected]


@pytest.mark.parametrize("count", [1, 2, 3, 7, 8, 63, 64, 65, 2**20 + 1, 2**33])
@pytest.mark.parametrize("ratio", [1.0, 0.3, 2.0**-29, 2.0**-31, 7.0])
def test_a_count_divides_a_multiplier(ratio: float, count: int) -> None:
    """As many places as the count has are gained, but not past a shift of -31."""
    p = numerics.requant_parameters("fixed_double", "i8", -128, 127, [(ratio,)], [(1.0,)], [0], [count])
    expected = rules.divided_multiplier(*rules.quantize_multiplier(ratio), count)
    assert (int(p.multiplier[0]), int(p.shift[0])) == expected


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
                        "half_up_twice": ("multiplier", "shift"), "fixed_double_f32": ("multiplier", "shift"),
                        "half_up_twice_f32_product": ("multiplier", "shift"),
                        "fixed_double_f32_product": ("multiplier", "shift"),
                        "reduced16": ("multiplier", "shift"), "float32": ("scale_f32",),
                        "float64_away": ("scale_f64",)}.items():  # fmt: skip
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


def test_fixed_double_f32_differs_in_its_multiplier_alone() -> None:
    ratio = np.float32(np.float32(0.1) * np.float32(0.3)) / np.float32(0.7)
    p = formed("fixed_double_f32", (0.1, 0.3), (0.7,))
    assert (p.rule, int(p.multiplier[0]), int(p.shift[0])) == ("fixed_double", *numerics.double_multiplier(ratio))
    assert p.multiplier[0] != formed("fixed_double", (0.1, 0.3), (0.7,)).multiplier[0]


def test_a_product_is_rounded_before_it_is_divided() -> None:
    product = float(np.float32(0.1) * np.float32(0.3))
    for rule in ("half_up_twice", "fixed_double"):
        p = formed(f"{rule}_f32_product", (0.1, 0.3), (0.7,))
        assert (p.rule, int(p.multiplier[0])) == (rule, numerics.double_multiplier(product / 0.7)[0])
        assert p.multiplier[0] != formed(rule, (0.1, 0.3), (0.7,)).multiplier[0]


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
    with pytest.raises(QuantTypeError, match="overflows 64 bits"):
        numerics.rescale_bias([2**31 - 1], [1e30], [0], [(1.0, 1.0)])
