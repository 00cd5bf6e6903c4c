"""Fake quantization. Hazards: a zero point rounded to even or from the end with the larger error; a range of one sign
that is widened, where training moved it; 4 bits in storage of 8; a plan that rounds otherwise than the interpreter."""

import math

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import qrt
from qrt import ir
from qrt.errors import ModelError, VerifyError
from qrt.ir import run_passes
from qrt.ir.dialects.quant.fake_quant import FAKE_QUANT, PER_AXIS, fake_quant_type
from qrt.numerics.ranges import fake_quant_parameters

TEXT = """func.func @f(%x: {type}) -> {type} {{
  %0 = "{name}"(%x) {{{attributes}}} : ({type}) -> {type}
  return %0 : {type}
}}"""


def layer(low, high, bits=8, *flags, type="tensor<?xf32>"):
    said = "".join(f", {flag} = true" for flag in flags)
    attributes = f"min = {low} : f32, max = {high} : f32, num_bits = {bits} : i64{said}"
    return TEXT.format(name=FAKE_QUANT, attributes=attributes, type=type)


def by_axis(low, high, axis=1, bits=8, type="tensor<2x3xf32>"):
    lows, highs = (", ".join(f"{end} : f32" for end in ends) for ends in (low, high))
    attributes = f"min = [{lows}], max = [{highs}], axis = {axis} : i64, num_bits = {bits} : i64"
    return TEXT.format(name=PER_AXIS, attributes=attributes, type=type)


def type_of(text):
    return fake_quant_type(ir.parse(text).functions[0].regions[0].blocks[0].first)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (layer(-1.0, 1.0), "u8:f32, 0.007843137254901961:128"),  # the quotient 127.5 is rounded away from 0
        (layer(-1.0, 1.0, 8, "is_signed"), "i8:f32, 0.007843137254901961:-1"),  # and so is -0.5
        (layer(-1.0, 1.0, 8, "is_signed", "narrow_range"), "i8<-127:127>:f32, 0.007874015748031496"),
        (layer(-1.0, 1.0, 4, "narrow_range"), "u4<1:15>:f32, 0.14285714285714285:8"),
        (layer(0.5, 1.0), "u8:f32, 0.0019607843137254902"),  # moved to 0 and 0.5
        (layer(-1.0, -0.5), "u8:f32, 0.0019607843137254902:255"),
        (layer(5.0, 5.0), "u8:f32, 1.000000e+00"),
        (layer(0.0, 0.0, 8, "is_signed"), "i8:f32, 1.000000e+00:-128"),
        (layer(-3.0, 1.0, 16, "is_signed"), "i16:f32, 6.103608758678569E-5:16383"),
        (layer(0.0, "1.0e-30"), None),  # below 2^-52, which upstream took for 0
        (
            by_axis([-1.0, 0.0, 0.5], [1.0, 0.0, 1.0]),
            "u8:f32:1, {0.007843137254901961:128,1.000000e+00,0.0019607843137254902}",
        ),
    ],
)
def test_types(text, expected):
    ir.parse(text).verify()
    found = type_of(text)
    if expected is None:
        assert found.scale == float(np.float32(1e-30)) / 255
    else:
        assert found is qrt.parse_type(f"!quant.uniform<{expected}>")


def c_parameters(low, high, least, greatest):
    """What upstream wrote in C, of doubles."""
    scale = (high - low) / (float(greatest) - float(least))
    from_low, from_high = least - low / scale, greatest - high / scale
    error_of_low, error_of_high = abs(least) + abs(low / scale), abs(greatest) + abs(high / scale)
    zero = from_low if error_of_low < error_of_high else from_high
    if zero < least:
        return scale, least
    if zero > greatest:
        return scale, greatest
    return scale, int(math.copysign(math.floor(abs(zero)) + (abs(zero) - math.floor(abs(zero)) >= 0.5), zero))


FLOATS = st.floats(width=32, allow_nan=False, allow_infinity=False)


@example(-1.5377893447875977, 1.5377893447875977, 8, False, False)  # the other end gives 127, and with it 128
@example(-1.2212969064712524, 1.2212969064712524, 8, False, False)
@given(FLOATS, FLOATS, st.integers(2, 16), st.booleans(), st.booleans())
def test_parameters_are_those_of_the_c_code(one, other, bits, is_signed, narrow):
    low, high = sorted((one, other))
    least = (-1 << (bits - 1) if is_signed else 0) + narrow
    greatest = (1 << (bits - is_signed)) - 1
    scales, zeros = fake_quant_parameters(np.float64([low]), np.float64([high]), least, greatest)
    expected = (1.0, least) if low == high else c_parameters(low, high, least, greatest)
    assert (scales[0], zeros[0]) == expected
    assert least <= zeros[0] <= greatest


@pytest.mark.parametrize("isa", qrt.kernels.available())
def test_interpreted_and_planned_alike(isa):
    x = np.float32([[-3, -1, -0.996], [np.nan, 0.5, np.inf], [-np.inf, 0.0039215689, -0.0]]).ravel()
    text = layer(-1.0, 1.0, 8, "is_signed")
    element = type_of(text)
    with qrt.kernels.use(isa):
        program = qrt.compile(text)
        planned, interpreted = program(x), program.run({"arg0": x}, interpret=True)["result0"]
        np.testing.assert_array_equal(planned.view(np.uint32), interpreted.view(np.uint32))
        np.testing.assert_array_equal(planned, qrt.quantize(x, element).dequantize())
    np.testing.assert_array_equal(planned, program(planned))  # rounding twice is rounding once


def test_each_channel_has_its_range():
    program = qrt.compile(by_axis([-1.0, 0.0, 0.5], [1.0, 0.0, 1.0]))
    x = np.float32([[-2, 0.4, 2], [2, -0.4, -1]])
    found = program(x)
    np.testing.assert_array_equal(found, program.run({"arg0": x}, interpret=True)["result0"])
    np.testing.assert_allclose(found, [[-128 * 2 / 255, 0, 0.5], [127 * 2 / 255, 0, 0]], rtol=1e-6)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (layer(1.0, -1.0), "must be finite, with min <= max, got min = 1 and max = -1"),
        (layer("0x7FC00000", 1.0), "must be finite, with min <= max, got min = nan and max = 1"),
        (layer(0.0, "0x7F800000"), "must be finite, with min <= max, got min = 0 and max = inf"),
        (layer(0.0, 1.0, 1), "attribute 'num_bits' must be in .2, 16., got 1"),
        (layer(0.0, 1.0, 17), "attribute 'num_bits' must be in .2, 16., got 17"),
        (layer(0.0, "1.0e-44"), "scale"),
        (layer(0.0, 1.0, type="tensor<2xf64>"), "must be tensor of 32-bit float values, but got 'tensor<2xf64>'"),
        (
            layer(0.0, 1.0).replace("1.0 : f32", "1.0 : f64"),
            "'max' failed to satisfy constraint: 32-bit float attribute",
        ),
        (layer(0.0, 1.0).replace("min =", "low ="), "has no attribute 'low'"),
        (layer(0.0, 1.0).replace("min = 0.0 : f32, ", ""), "requires attribute 'min'"),
        (layer(0.0, 1.0).replace(", num_bits = 8 : i64", ""), "requires attribute 'num_bits'"),
        (by_axis([0.0], [1.0]).replace(", axis = 1 : i64", ""), "requires attribute 'axis'"),
        (by_axis([0.0], [1.0]), "dimension 1 has size 3, the type has 1 scales"),
        (by_axis([0.0, 0.0, 0.0], [1.0, 1.0]), "must have the same number of values, got 3 and 2"),
        (by_axis([], []), "must have at least one value, got none"),
        (
            by_axis([0.0, 0.0, 0.0], [1.0, 1.0, 1.0], axis=2),
            "attribute 'axis' must be at least 0 and less than the rank of",
        ),
        (
            by_axis([0.0], [1.0], axis=0, type="tensor<*xf32>"),
            "attribute 'axis' must be at least 0 and less than the rank of",
        ),
    ],
)
def test_refused(text, message):
    with pytest.raises((VerifyError, ModelError), match=message):
        ir.parse(text).verify()


def test_no_other_pass_takes_it_away():
    """It is no identity: `canonicalize` and `cse` keep the rounding."""
    text = layer(-1.0, 1.0)
    assert str(run_passes(ir.parse(text), "canonicalize,cse")) == str(ir.parse(text))
