"""Scales and zero points, all at once. The oracle takes each by itself, in exact arithmetic. Hazards: an end of a
format that is let through or refused, a rounding that differs, a Python step for each of half a million scales."""

import math
import sys
from contextlib import nullcontext
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import UniformType
from qrt.errors import QuantTypeError
from qrt.numerics.float_text import FORMATS, round_to
from qrt.types import FloatType
from qrt.types.parameters import check_scale, check_scales, rounded_scales

DOUBLES = st.floats(min_value=0.0, exclude_min=True, allow_infinity=False)


def near(bound: Fraction) -> list[float]:
    """The doubles at and beside a bound, of those that doubles reach."""
    try:
        middle = float(bound)
    except OverflowError:
        return [sys.float_info.max]
    return [math.nextafter(middle, 0.0), middle, math.nextafter(middle, math.inf)]


def is_scale(scale: float, form: str) -> bool:
    return math.isfinite(scale) and scale > 0 and FORMATS[form].smallest <= Fraction(scale) <= FORMATS[form].largest


@pytest.mark.parametrize("form", FORMATS)
def test_the_ends_of_every_format(form: str) -> None:
    bounds = [*near(FORMATS[form].smallest), *near(FORMATS[form].largest), 0.0, -1.0, math.inf, math.nan, 5e-324]
    for scale in bounds:
        expected = is_scale(scale, form)
        for check in (check_scale, lambda s, kind: check_scales(np.array([1.0, s]), kind)):
            with nullcontext() if expected else pytest.raises(QuantTypeError, match="out of expressed type range"):
                check(scale, FloatType(form))


@pytest.mark.parametrize("form", FORMATS)
@given(scales=st.lists(DOUBLES, min_size=1, max_size=8))
def test_rounding_is_that_of_exact_arithmetic(form: str, scales: list[float]) -> None:
    kept = [scale for scale in scales if is_scale(scale, form)] or [1.0]
    found = rounded_scales(np.array(kept), FloatType(form))
    assert found.tolist() == [round_to(scale, form) for scale in kept]


@given(scales=st.lists(st.floats(2.0**-20, 2.0**20, width=32), min_size=1, max_size=9), data=st.data())
def test_lists_and_arrays_give_one_type(scales: list[float], data: st.DataObject) -> None:
    zeros = data.draw(st.lists(st.integers(-(1 << 63), (1 << 63) - 1), min_size=len(scales), max_size=len(scales)))
    of_lists = UniformType("i8", "f32", scales, zeros, axis=0)
    assert UniformType("i8", "f32", np.float32(scales), np.array(zeros), axis=0) is of_lists
    assert UniformType("i8", "f32", tuple(map(np.float64, scales)), zeros, axis=0) is of_lists
    assert of_lists.scales == tuple(scales)
    assert of_lists.zero_points == tuple(zeros)
    blocks = UniformType("i8", "f32", np.float32([scales]), [zeros], block_sizes={0: 4, 1: 1})
    assert UniformType("i8", "f32", [scales], [zeros], block_sizes={0: 4, 1: 1}) is blocks


@pytest.mark.parametrize("scales", [[0.5, [1.0]], [[0.5], 1.0], [[0.5], [0.5, 1.0]], [["0.5"]], [[None]], [[0.5j]]])
def test_ragged_and_other_scales_are_refused(scales: list[object]) -> None:
    with pytest.raises(
        QuantTypeError,
        match=r"on each level, got rows (of different lengths|beside numbers)|a scale must be a float",
    ):
        UniformType("i8", "f32", scales, block_sizes={0: 1, 1: 1})


def test_no_python_function_runs_for_each_scale() -> None:
    scales = np.linspace(0.5, 1.0, 4096, dtype=np.float32).reshape(16, 256)
    calls = 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += event == "call"

    sys.setprofile(count)
    try:
        UniformType("i4", "f32", scales, block_sizes={0: 32, 1: 1})
    finally:
        sys.setprofile(None)
    assert calls < 200
