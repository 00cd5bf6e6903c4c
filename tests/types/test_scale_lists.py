"""Lists of scales read in one pass: numbers are rounded as ``float`` rounds them, and all else is left to the parser,
which says what is wrong. Hazards: a tie of two doubles, digits beyond 64 bits, a text that is read though no list."""

import math
import random

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt._ext.scale_lists import read_scales

DIGITS = st.text("0123456789", min_size=1, max_size=30)
EXPONENT = st.one_of(st.just(""), st.builds("{}{}".format, st.sampled_from(["e", "E-", "e+"]), st.integers(0, 400)))
NUMBER = st.builds("{}.{}{}".format, DIGITS, st.one_of(st.just(""), DIGITS), EXPONENT)


@given(st.lists(NUMBER, min_size=1, max_size=40))
def test_numbers_are_those_of_float(numbers):
    scales, zero_points = read_scales("{" + ",".join(numbers) + "}")
    assert scales.tolist() == [float(number) for number in numbers]
    assert zero_points is None


@given(
    st.lists(st.floats(min_value=0, allow_infinity=False), min_size=1), st.sampled_from([".17g", ".9e", ".25f", ".16e"])
)
def test_printed_doubles_are_those_of_float(values, form):
    numbers = [text if "." in (text := format(value, form)) else "1.0" for value in values]
    assert read_scales("{" + ", ".join(numbers) + "}")[0].tolist() == [float(number) for number in numbers]


def test_the_middle_of_two_doubles_goes_to_the_even_one():
    draw = random.Random(5)
    middles = [
        ((draw.getrandbits(53) | 1 << 52) * 2 + 1 << draw.randrange(9), draw.randrange(0, 4)) for _ in range(2000)
    ]
    numbers = [f"{middle * 10**places}.{past}e-{places}" for middle, places in middles for past in ("0", "0001")]
    assert read_scales("{" + ",".join(numbers) + "}")[0].tolist() == [float(number) for number in numbers]


@pytest.mark.parametrize(
    ("text", "scales", "zero_points"),
    [
        ("{0.5}", [0.5], None),
        (" { 0.5 ,\n\t0.25:-3 }\r\n", [0.5, 0.25], [0, -3]),
        ("{{1.:007},{2.E0}}", [[1.0], [2.0]], [[7], [0]]),
        ("{{{1.5, 2.5}, {3.5, 4.5}}}", [[[1.5, 2.5], [3.5, 4.5]]], None),
        ("{0.5:0}", [0.5], None),
        ("{0x3FE0000000000000:3, 0xbfe00000000000aF, 0x1 }", [0.5, -0.5000000000000194, 5e-324], [3, 0, 0]),
    ],
)
def test_lists(text, scales, zero_points):
    found = read_scales(text)
    assert found[0].tolist() == scales
    assert (found[1] if found[1] is None else found[1].tolist()) == zero_points


@pytest.mark.parametrize(
    "text",
    [
        *("", "{}", "{", "{0.5", "{0.5}}", "{0.5},", "{0.5,}", "{,0.5}", "{0.5 0.5}", "0.5", "{0. 5}", "{0.5}0.5"),
        *("{-0.5}", "{+0.5}", "{.5}", "{1}", "{1e5}", "{0.5e}", "{0.5e+}", "{0_1.5}", "{0.5_}", "{nan}", "{inf}"),
        *("{0x1.5}", "{0x}", "{0xg}", "{0X3FF}", "{0x13FF0000000000000}", "{-0x3}", "{0.5\u0665}", "{\u0665.5}"),
        *("{0.5\u00e9}", "{\v0.5}", "{0.5\0}", "{0.5}\0"),
        *("{0.5:}", "{0.5:-}", "{0.5:+3}", "{0.5:0x3}", "{0.5:- 3}", "{0.5:3:4}", "{0.5:3.5}", "{:3}", "{0.5::3}"),
        *("{0.5:1234567890123456789}", "{0.5}//", "{0.5,//\n0.5}", "{{0.5},0.5}", "{0.5,{0.5}}", "{{0.5},{{0.5}}}"),
        *("{{0.5},{0.5,0.5}}", "{{0.5,0.5},{0.5}}", "{{{0.5}},{0.5}}", "{{{0.5}},{{0.5},{0.5}}}", "{{0.5},{}}"),
    ],
)
def test_what_is_no_plain_list_is_left_alone(text):
    assert read_scales(text) is None


def test_lists_are_nested_as_deep_as_an_array():
    assert read_scales("{" * 64 + "0.5" + "}" * 64)[0].ndim == 64
    assert read_scales("{" * 65 + "0.5" + "}" * 65) is None
    assert read_scales("{" * 100_000) is None


def test_a_number_of_a_million_digits_is_read():
    assert read_scales("{0." + "3" * 1_000_000 + "}")[0][0] == 0.3333333333333333
    assert read_scales("{1.0e" + "9" * 1_000_000 + "}")[0][0] == math.inf
    assert read_scales("{1.0e-" + "9" * 1_000_000 + "}")[0].tolist() == [0.0]
    assert read_scales("{" + "0" * 1_000_000 + ".5}")[0][0] == np.float64(0.5)
