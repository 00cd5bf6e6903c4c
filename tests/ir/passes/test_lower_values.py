"""What lower-quant-ops emits computes what docs/numerics.md says, for every value. Hazards: bounds that the expressed
type cannot hold, zero points outside of the storage type, NaN, infinities, ties, conversions that are undefined."""

import itertools
import math

import numpy as np
import pytest

from qrt import ir
from qrt.errors import VerifyError
from qrt.ir import run_passes
from qrt.numerics import ROUNDINGS, SCALES, ZERO_POINTS, dequantize, quantize
from qrt.types import FloatType, UniformType
from tests.ir.passes.arithmetic import call

STORAGE = ("i8", "u8", "i4", "u4", "i16", "u16", "i32", "u32", "i1", "u1")
BOUNDS = {"i8": (-127, 127), "u8": (3, 200), "i32": (-5, 2147483646), "u32": (1, 4294967294)}
FLOATS = ("f32", "f16", "bf16", "f64", "f8E5M2", "f8E4M3FN", "f8E4M3FNUZ")
ZEROS = (0, 3, -7, 127, 200, 65504, 2147483647, -(1 << 40))
SCALE_VALUES = (0.5, 0.1, 3.0)
RULES = list(itertools.product(ROUNDINGS, ZERO_POINTS, SCALES))


def types(expressed):
    rng = np.random.default_rng(len(expressed))
    for storage, zero_point in itertools.product(STORAGE, ZEROS):
        low, high = BOUNDS.get(storage, (None, None)) if rng.random() < 0.5 else (None, None)
        scale = drawn_scale(rng, FloatType(expressed))
        if rng.random() < 0.5:
            continue  # half of all pairs, drawn anew for each format
        yield UniformType(storage, expressed, scale, zero_point, storage_min=low, storage_max=high)


def drawn_scale(rng, form):
    """A usual one, or of all that the expressed type allows: its ends, any exponent, powers of two or not."""
    if rng.random() < 0.4:
        return float(rng.choice(SCALE_VALUES))
    exponent = rng.uniform(math.log2(form.smallest), math.log2(form.largest / 2))
    any_scale = 2.0 ** (exponent if rng.random() < 0.7 else math.ceil(exponent))
    return float(rng.choice([form.smallest, form.largest, any_scale, any_scale, any_scale]))


def inputs(t):
    """Ties, the ends of the storage type, NaN, infinities, and bit patterns drawn at random."""
    rng = np.random.default_rng(t.storage_width)
    form = t.expressed_type.format
    steps = [t.storage_min - 1, t.storage_min, t.storage_max, t.storage_max + 1, t.zero_point, 0, 1, 2, -1]
    near = [(step - t.zero_point + half) * t.scale for step in steps for half in (0, 0.5, -0.5)]
    patterns = rng.integers(0, 1 << min(t.expressed_type.width, 62), 12).tolist()
    wanted = [form.encode_float(x) for x in [*near, np.nan, np.inf, -np.inf, -0.0]] + patterns
    return [float(form.decode(int(bits))) for bits in wanted]


def lowered(text, pipeline="lower-quant-ops"):
    return run_passes(ir.parse(text), pipeline).function("f")


def unsigned(value, t):
    """The integer a storage type reads in the low bits of another."""
    value &= (1 << t.storage_width) - 1
    return value - (1 << t.storage_width) if t.is_signed and value >> (t.storage_width - 1) else value


@pytest.mark.parametrize("expressed", FLOATS)
def test_qcast_of_scalars(expressed):
    checked = 0
    for t, (rounding, zero_point, scale) in zip(types(expressed), itertools.cycle(RULES)):
        attributes = f'{{rounding = "{rounding}", zero_point = "{zero_point}", scale = "{scale}"}}'
        cast = f"quant.qcast %x {attributes} : {expressed} to {t}"
        text = f"func.func @f(%x: {expressed}) -> {t} {{ %0 = {cast} return %0 : {t} }}"
        try:
            function = lowered(text)
        except VerifyError as refused:
            message = str(refused)
            assert "has no integer in" in message or "need more than 64 bits" in message
            continue
        for x in inputs(t):
            expected = quantize(
                x, t.scale, t.zero_point, t.storage_min, t.storage_max, expressed,
                rounding=rounding, zero_point_order=zero_point, scale_form=scale,
            )  # fmt: skip
            (found,) = call(function, x)
            assert unsigned(int(found), t) == int(expected), (text, x)
            checked += 1
    assert checked > 700


@pytest.mark.parametrize("expressed", FLOATS)
def test_dcast_of_scalars(expressed):
    for t in types(expressed):
        cast = f"quant.dcast %x : {t} to {expressed}"
        function = lowered(f"func.func @f(%x: {t}) -> {expressed} {{ %0 = {cast} return %0 : {expressed} }}")
        for q in {t.storage_min, t.storage_max, t.storage_min + 1, max(t.storage_min, 0)}:
            (found,) = call(function, q)
            expected = float(dequantize(q, t.scale, t.zero_point, expressed))
            np.testing.assert_equal(found, expected)


CHANNELS = [
    UniformType("i8", "f32", [0.5, 0.1, 2.0], [3, -128, 0], axis=1),
    UniformType("u8", "f16", [0.5, 0.1, 2.0], [200, 300, -4], axis=1, storage_min=5),
    UniformType("i4", "bf16", [[0.5, 1.5, 2.0], [0.25, 3.0, 1.0]], [[1, 2, 3], [4, 5, -6]], block_sizes={0: 2, 1: 1}),
]


@pytest.mark.parametrize("t", CHANNELS, ids=str)
@pytest.mark.parametrize(("rounding", "zero_point", "scale"), RULES)
def test_qcast_and_dcast_of_channels(t, rounding, zero_point, scale):
    expressed = t.expressed_type.name
    source, result = f"tensor<4x3x{expressed}>", f"tensor<4x3x{t}>"
    attributes = f'{{rounding = "{rounding}", zero_point = "{zero_point}", scale = "{scale}"}}'
    both = lowered(
        f"func.func @f(%x: {source}) -> ({result}, {source}) {{ %0 = quant.qcast %x {attributes} : {source} to {result}"
        f" %1 = quant.dcast %0 : {result} to {source} return %0, %1 : {result}, {source} }}"
    )
    rows = [0, 0, 1, 1] if t.is_sub_channel else [0] * 4
    scales = np.array(t.scales).reshape(-1, 3)[rows]
    zeros = np.array(t.zero_points).reshape(-1, 3)[rows]
    form = t.expressed_type.format
    x = np.array([[0.25, -0.75, np.nan], [1e4, -np.inf, 3.0], [-1e9, 12.5, 0.0], [np.inf, 0.05, -5.0]])
    x = np.vectorize(lambda value: float(form.decode(form.encode_float(value))))(x)
    stored, back = call(both, x.astype(object))
    expected = quantize(
        x, scales, zeros, t.storage_min, t.storage_max, expressed,
        rounding=rounding, zero_point_order=zero_point, scale_form=scale,
    )  # fmt: skip
    assert [unsigned(int(value), t) for value in stored.ravel()] == expected.ravel().tolist()
    np.testing.assert_equal(back.astype(float), dequantize(expected, scales, zeros, expressed))


def test_an_op_says_more_than_an_option():
    t = UniformType("i8", "f32", 1.0)
    cast = f'quant.qcast %x {{rounding = "half_away"}} : f32 to {t}'
    text = f"func.func @f(%x: f32) -> {t} {{ %0 = {cast} return %0 : {t} }}"
    function = lowered(text, "lower-quant-ops{rounding=toward_zero saturating=false}")
    assert call(function, 2.5) == [3]
    assert call(function, 1e9) == [127]  # what upstream leaves undefined is another rule's business


def test_formats_that_cannot_hold_their_own_rounded_values_are_refused():
    t = UniformType("i8", FloatType("f8E3M4"), 1.0)
    text = f"func.func @f(%x: f8E3M4) -> {t} {{ %0 = quant.qcast %x : f8E3M4 to {t} return %0 : {t} }}"
    with pytest.raises(
        VerifyError, match="rounding to integers needs a float type with zero whose largest value is an integer"
    ):
        lowered(text)
