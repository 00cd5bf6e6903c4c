"""Float formats against NumPy and ml_dtypes, and the spelling against what mlir-opt 22 prints."""

import math
import struct

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import ir
from qrt.numerics.float_text import FORMATS, round_to, spell, spell_double

DTYPES = {
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f32": np.float32,
    "f8E5M2": ml_dtypes.float8_e5m2,
    "f8E4M3": ml_dtypes.float8_e4m3,
    "f8E3M4": ml_dtypes.float8_e3m4,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f8E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
    "f8E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "f8E4M3B11FNUZ": ml_dtypes.float8_e4m3b11fnuz,
    "f8E8M0FNU": ml_dtypes.float8_e8m0fnu,
    "f6E3M2FN": ml_dtypes.float6_e3m2fn,
    "f6E2M3FN": ml_dtypes.float6_e2m3fn,
    "f4E2M1FN": ml_dtypes.float4_e2m1fn,
}


@pytest.mark.parametrize("name", [name for name in DTYPES if FORMATS[name].width <= 16])
def test_patterns_decode_as_the_dtype_does(name):
    form = FORMATS[name]
    unsigned = np.uint8 if form.width <= 8 else np.uint16
    patterns = np.arange(1 << form.width, dtype=unsigned)
    if form.width == 16:
        patterns = patterns[::7]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        theirs = patterns.view(DTYPES[name]).astype(np.float64)
    ours = np.array([float(form.decode(int(bits))) for bits in patterns])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.signbit(ours[~np.isnan(ours)]), np.signbit(theirs[~np.isnan(theirs)]))


@pytest.mark.parametrize("name", [n for n in FORMATS if FORMATS[n].width <= 16])
def test_numbers_encode_to_its_own_pattern(name):
    form = FORMATS[name]
    for bits in range(0, 1 << form.width, 1 if form.width <= 8 else 11):
        value = form.decode(bits)
        if not math.isnan(value):
            assert form.encode_float(float(value)) == bits


@given(st.floats(allow_nan=False, allow_infinity=False))
@pytest.mark.parametrize("name", ["f16", "f32"])
def test_rounding_is_numpys(name, value):
    with np.errstate(over="ignore"):
        expected = DTYPES[name](value)
    form = FORMATS[name]
    assert form.encode_float(value) == int(expected.view(f"u{form.width // 8}"))


@given(st.floats(min_value=-500, max_value=500))
@pytest.mark.parametrize("name", ["f8E4M3FN", "f8E5M2", "bf16"])
def test_rounding_is_ml_dtypes_where_it_rounds_once(name, value):
    value = float(np.float32(value))  # ml_dtypes goes by f32, so only an f32 is rounded once
    form = FORMATS[name]
    unsigned = np.uint8 if form.width == 8 else np.uint16
    theirs = np.array([value], np.float32).astype(DTYPES[name])
    if np.isfinite(theirs.astype(np.float32))[0]:
        assert form.encode_float(value) == int(theirs.view(unsigned)[0])


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1.0, "1.000000e+00"),
        (-0.0, "-0.000000e+00"),
        (0.7, "0.69999999999999996"),
        (1 / 3, "0.33333333333333331"),
        (0.007812345678, "0.0078123456779999999"),
        (1.23456789012345e-7, "1.23456789012345E-7"),
        (-0.998, "-0.998"),
        (1234567.0, "0x4132D68700000000"),
        (1234567890123456789.0, "1.2345678901234568E+18"),
        (3.0517578125e-05, "3.0517578125E-5"),
        (4.9e-324, "4.940660e-324"),
        (1.7976931348623157e308, "1.7976931348623157E+308"),
        (math.inf, "0x7FF0000000000000"),
    ],
)
def test_doubles_are_spelled_as_mlir_opt_22_prints_them(value, text):
    assert spell_double(value) == text


@pytest.mark.parametrize(
    ("name", "value", "text"),
    [
        ("f16", 0.1, "9.997550e-02"),
        ("bf16", 0.1, "1.000980e-01"),
        ("f32", 0.3333333333333333, "0.333333343"),
        ("f32", 1.234567e-10, "1.23456703E-10"),
        ("f32", 16777216.0, "0x4B800000"),
        ("f8E4M3FN", 0.1, "1.015630e-01"),
        ("f128", 0.1, "0.100000000000000005551115123125782702"),
        ("f80", 1.0, "1.000000e+00"),
    ],
)
def test_other_formats_are_spelled_as_mlir_opt_22_prints_them(name, value, text):
    form = FORMATS[name]
    assert spell(form.encode_float(value), form) == text


def test_zeros_keep_their_sign_whichever_was_spelled_first():
    assert [spell_double(x) for x in (0.0, -0.0, 0.0)] == ["0.000000e+00", "-0.000000e+00", "0.000000e+00"]


@given(st.floats(allow_nan=False))
def test_the_spelling_of_a_double_reads_back(value):
    text = spell_double(value)
    bits = struct.pack(">d", value)
    if text.startswith("0x"):
        assert bytes.fromhex(text[2:].zfill(16)) == bits
    else:
        assert struct.pack(">d", float(text)) == bits


@given(st.floats(min_value=1e-30, max_value=1e30), st.sampled_from(sorted(FORMATS)))
def test_rounding_twice_is_rounding_once(value, name):
    once = round_to(value, name)
    if math.isfinite(once):
        assert round_to(once, name) == once


_WIDE = [
    ("f128", 1),
    ("f128", 0x3FFF0000000000000000000000000001),
    ("f128", 0x3FFB999999999999999999999999999A),  # 0.1
    ("f128", 0xBFFF8000000000000000000000000000),  # -1.5, a double
    ("f128", 0x43FF0000000000000000000000000000),  # beyond every double
    ("f128", 0x7FFF8000000000000000000000000000),  # a NaN
    ("f128", 1 << 127),
    ("f80", 1),
    ("f80", 0x3FFF8000000000000001),
    ("f80", 0x43FF8000000000000000),
    ("f80", 0xBFFFC000000000000000),  # -1.5
    ("f80", 0x00010000000000000000),  # no leading bit: a zero of another pattern
    ("f80", 0x3FFF4000000000000000),  # no leading bit: 0.5
]


@pytest.mark.parametrize(("name", "bits"), _WIDE)
@pytest.mark.parametrize("dense", [False, True])
def test_wide_floats_keep_their_bits_in_text(name, bits, dense):
    """As upstream reads them: a decimal as a double."""
    number = f"0x{bits:0{FORMATS[name].width // 4}X}"
    literal = f"dense<[{number}, 1.0]> : tensor<2x{name}>" if dense else f"{number} : {name}"
    module = ir.parse(f"%0 = arith.constant {literal}")
    again = ir.parse(str(module))
    assert again == module
    if not dense:
        assert next(iter(again.body)).attributes["value"].bits == bits


@given(st.sampled_from(["f80", "f128"]), st.data())
def test_any_wide_float_reads_back(name, data):
    bits = data.draw(st.integers(0, (1 << FORMATS[name].width) - 1))
    text = spell(bits, FORMATS[name])
    read = int(text, 16) if text.startswith("0x") else FORMATS[name].encode_float(float(text))
    assert read == bits
