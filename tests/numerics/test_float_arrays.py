"""Floats spelled all at once: the oracle is ``spell_in``, which has fractions. Hazards: a digit cut wrongly at the end
of 128 bits, a middle between two values of a format, the ends of a format, a fast path that nobody takes."""

import itertools
import math
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.numerics import float_arrays
from qrt.numerics.float_arrays import nearest, spell_all
from qrt.numerics.float_text import FORMATS, round_to, spell_in

VECTORIZED = [name for name, form in FORMATS.items() if form.precision <= 53]
BITS = st.integers(1, 0x7FEFFFFFFFFFFFFF)
"""All positive finite doubles, subnormal ones among them."""


def held(values, name):
    """The values of a format beside these."""
    form = FORMATS[name]
    if form.precision > 53:
        return values
    least, greatest = float(form.smallest), float(form.largest)
    return [round_to(min(max(value, least), greatest), name) for value in values]


def compare(values, name):
    """Enough of them to be spelled together."""
    values = held(values, name)
    found = spell_all(np.resize(np.array(values), max(len(values), 17)), name)[: len(values)]
    assert found == [spell_in(value, name) for value in values]


def hostile(name):
    form = FORMATS[name]
    ends = [float(form.smallest), float(form.largest), float(form.smallest) * 3, 2.0**-1022, sys.float_info.max]
    tens = [float(f"1e{power}") for power in range(-323, 309, 5)] + [10.0**power for power in range(-25, 26)]
    fives = [float(5**power) for power in range(1, 60, 4)] + [float(3 * 10**power) for power in range(15, 40, 3)]
    binary = [math.ldexp(1 + 2.0**-place, power) for place in (1, 7, 23, 52) for power in range(-149, 130, 23)]
    # Decimals of 7 digits that end in 5, of 6 digits in the middle of two floats, integers whose bits are printed.
    decimal = [float(f"{digits}e{power}") for digits in (1234565, 999999.5, 8388609.5) for power in range(-20, 12, 3)]
    whole = [
        1048577.0,
        1234567.0,
        12345678.0,
        16777217.0,
        123456789.0,
        2.0**53 - 1,
        1e15 + 1,
        1e17,
        123456789012345680.0,
    ]
    values = [*ends, *tens, *fives, *binary, *decimal, *whole]
    return [beside for value in values for beside in (math.nextafter(value, 0), value)]


@pytest.mark.parametrize("name", VECTORIZED)
def test_hostile_values_of_every_format(name):
    compare(sorted(set(held(hostile(name), name))), name)


@given(st.sampled_from(VECTORIZED), st.lists(BITS, min_size=1, max_size=20))
def test_values_of_every_format(name, bits):
    compare(np.array(bits, np.uint64).view(np.float64).tolist(), name)


@given(st.lists(BITS, min_size=1, max_size=30))
def test_all_doubles(bits):
    compare(np.array(bits, np.uint64).view(np.float64).tolist(), "f64")


@given(st.sampled_from(["f64", "f32", "bf16"]), st.lists(st.tuples(st.integers(1, 10**7), st.integers(-45, 38))))
def test_short_decimals(name, decimals):
    """Numbers of at most six digits are printed with an exponent, if they read back."""
    compare([1.0, *(float(f"{digits}e{power}") for digits, power in decimals)], name)


@pytest.mark.parametrize("name", ["f80", "f128"])
def test_wider_formats_are_spelled_one_by_one(name):
    compare([0.1, 1 / 3, 5e-324, sys.float_info.max], name)


@pytest.mark.parametrize("name", ["f64", "f32", "f16", "f8E4M3FN", "f8E8M0FNU"])
def test_hardly_a_value_is_spelled_alone(name, monkeypatch):
    form = FORMATS[name]
    logarithms = math.log(float(form.smallest)), math.log(float(form.largest))
    values = np.array(held(np.exp(np.random.default_rng(7).uniform(*logarithms, 4000)).tolist(), name))
    alone = []
    monkeypatch.setattr(float_arrays, "spell_in", lambda value, name: alone.append(value) or spell_in(value, name))
    spell_all(values, name)
    ends = float(form.smallest), float(form.largest)
    assert len([value for value in alone if value not in ends]) <= 40


@given(st.sampled_from(VECTORIZED), st.lists(BITS, min_size=1, max_size=9))
def test_rounding_is_that_of_fractions(name, bits):
    form = FORMATS[name]
    values = np.array(bits, np.uint64).view(np.float64).clip(float(form.smallest), float(form.largest))
    assert nearest(values, form)[0].tolist() == [round_to(value, name) for value in values.tolist()]


@pytest.mark.parametrize("name", ["f16", "bf16", "f8E5M2", "f8E8M0FNU"])
def test_the_middle_of_two_values_is_known(name):
    form = FORMATS[name]
    patterns = itertools.pairwise(range(1, 1 << min(form.width - 2, 8)))
    pairs = [(float(form.decode(low)), float(form.decode(high))) for low, high in patterns]
    middles = np.array([(low + high) / 2 for low, high in pairs])
    assert nearest(middles, form)[1].all()
    assert not nearest(np.nextafter(middles, 0), form)[1].any()


@given(st.integers(1 << 52, (1 << 53) - 1), st.integers(1 << 127, (1 << 128) - 1), st.integers(119, 180), st.booleans())
def test_products_are_cut_as_exact_integers_are(significand, factor, shift, ends_in_zeros):
    """No double is known that lies so near an integer that 128 bits do not tell; the check stands for all others."""
    product = significand * factor
    if ends_in_zeros:  # the least factor whose product is a multiple, or as little more as it can be
        factor = min(max(-(-((product >> shift) << shift) // significand), 1 << 127), (1 << 128) - 1)
        product = significand * factor
    columns = (np.array([value], np.uint64) for value in (significand, factor >> 64, factor & ((1 << 64) - 1)))
    floor, zeros = float_arrays._product(*columns, np.array([shift]))
    cut = product & ((1 << shift) - 1)
    if product >> shift < 1 << 62:
        assert floor[0] == product >> shift
    assert zeros[0] or cut >> min(shift, 128) or cut >= 1 << 64
    assert zeros[0] == (cut & ((1 << min(shift, 128)) - 1) < 1 << 64)
