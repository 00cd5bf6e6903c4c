"""Casts against oracles that share nothing with `qrt.numerics`: Python integers and fractions, rounded step by
step, and literal transcriptions of the published integer recipes."""

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from qrt import numerics
from qrt.errors import QuantTypeError
from qrt.numerics.float_text import FORMATS
from tests.rules import (
    PRECISION,
    Number,
    dequantize,
    quantize,
    round_half_even,
)

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
