"""Types from data: plain loops over lists and rationals are the oracle. Hazards: a sum whose order decides, a tie that
takes the narrower range, values of another scale, a NaN that is taken for a number."""

import math
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from qrt import UniformType
from qrt.errors import QuantTypeError
from qrt.tensor import choose
from qrt.tensor.choose import Layout, choose_type, integer_storage
from qrt.types import FloatType

F32 = FloatType("f32")
VALUES = st.one_of(
    st.floats(-8.0, 8.0, width=32),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from([0.0, -0.0, 1.0, 2.0**-149]),
)
SYMMETRIES = st.booleans()


@st.composite
def cases(draw: st.DrawFn) -> tuple[np.ndarray, Layout]:
    """Values with the layout of their scales."""
    shape = tuple(draw(st.lists(st.integers(1, 3), max_size=3)))
    axis = draw(st.sampled_from([None, *range(len(shape))]))
    groups = [None] if axis is None else [None, *(n for n in range(1, shape[axis] + 1) if shape[axis] % n == 0)]
    return draw(arrays(np.float32, shape, elements=VALUES)), Layout(shape, axis, draw(st.sampled_from(groups)))


def members(x: np.ndarray, layout: Layout) -> dict[tuple[int, ...], list[float]]:
    """The values of each scale, by its place among the scales."""
    found: dict[tuple[int, ...], list[float]] = {}
    for index in np.ndindex(x.shape):
        place = index if layout.group_size else index[layout.axis : layout.axis + 1] if layout.axis is not None else ()
        if layout.group_size:
            place = tuple(i // layout.group_size if d == layout.axis else i for d, i in enumerate(index))
        found.setdefault(place, []).append(float(x[index]))
    return found


def range_of(values: list[float], method: str, percentile: float, symmetric: bool, bits: int) -> tuple[float, float]:
    low, high = min(0.0, *values), max(0.0, *values)
    if method == "mse":
        factors = [k / 64 for k in range(64, 0, -1)]
        return min(
            ((low * f, high * f) for f in factors), key=lambda ends: squared_error(values, ends, symmetric, bits)
        )
    if method == "percentile":
        outside = math.floor(len(values) * (100 - Fraction(str(percentile))) / 100)
        if outside and symmetric:
            end = sorted(map(abs, values))[len(values) - 1 - outside]
            ends = -end, end
        elif outside:
            ranked = sorted(values)
            ends = min(ranked[outside // 2], 0.0), max(ranked[len(values) - 1 - outside // 2], 0.0)
        return ends if outside and any(ends) else (low, high)
    return low, high


def squared_error(values: list[float], ends: tuple[float, float], symmetric: bool, bits: int) -> int:
    """As docs/numerics.md says it, of integers of 2^-31 of the least power of two above all magnitudes."""
    t = UniformType.for_range(*ends, f"i{bits}", symmetric=symmetric)
    unit = Fraction(2) ** (math.frexp(max(map(abs, values)))[1] - 31)
    total = 0
    for x in values:
        stored = min(max(round(x / t.scale), t.storage_min - t.zero_point), t.storage_max - t.zero_point)
        error = x / float(unit) - stored * (t.scale / float(unit)) if 0 < float(unit) < math.inf else 0.0
        total += round(error) ** 2
    return total


OPTIONS = (cases(), st.sampled_from([2, 3, 4, 8, 16]), SYMMETRIES)
PERCENTILES = st.sampled_from([99.99, 90.0, 50.0, 66.6, 100.0, 0.1])


@pytest.mark.parametrize("method", ["minmax", "percentile"])
@given(*OPTIONS, PERCENTILES)
def test_each_scale_covers_the_range_of_its_values(
    method: choose.Method, case: tuple[np.ndarray, Layout], bits: int, symmetric: bool, percentile: float
) -> None:
    check(method, case, bits, symmetric, percentile)


@settings(max_examples=settings.default.max_examples // 4)  # type: ignore[union-attr]  # each makes 64 types
@given(*OPTIONS)
def test_each_scale_makes_the_least_error(case: tuple[np.ndarray, Layout], bits: int, symmetric: bool) -> None:
    check("mse", case, bits, symmetric, 100.0)


def check(
    method: choose.Method, case: tuple[np.ndarray, Layout], bits: int, symmetric: bool, percentile: float
) -> None:
    """A type against the loops above."""
    x, layout = case
    t = choose_type(x, integer_storage(bits, F32, symmetric=symmetric, narrow=False), layout, method, percentile)
    assert (t.axis is not None) == (layout.axis is not None and layout.group_size is None)
    scales, zeros = (np.array(each).reshape(t.scales_shape) for each in (t.scales, t.zero_points))
    groups = members(x, layout)
    assert set(groups) == set(np.ndindex(t.scales_shape))
    for place, values in groups.items():
        low, high = range_of(values, method, percentile, symmetric, bits)
        expected = UniformType.for_range(low, high, f"i{bits}", symmetric=symmetric)
        assert (scales[place], zeros[place]) == (expected.scale, expected.zero_point)


@pytest.mark.parametrize("method", choose.METHODS)
@pytest.mark.parametrize("symmetric", [True, False])
def test_order_and_layout_in_memory_change_nothing(method: choose.Method, symmetric: bool) -> None:
    """More values than are taken at a time, of sizes such that float sums would differ."""
    rng = np.random.default_rng(5)
    x = (rng.normal(size=(2, 3 * choose._BATCH)) * np.exp(4 * rng.normal(size=(2, 1)))).astype(np.float32)
    storage = integer_storage(4, F32, symmetric=symmetric, narrow=False)
    t = choose_type(x, storage, Layout(x.shape, 0), method, 99.5)
    assert choose_type(rng.permuted(x, axis=1), storage, Layout(x.shape, 0), method, 99.5) is t
    assert choose_type(np.asfortranarray(x), storage, Layout(x.shape, 0), method, 99.5) is t
    assert choose_type(x.T[::-1], storage, Layout(x.T.shape, 1), method, 99.5) is t.with_(axis=1)
    rows = [choose_type(row, storage, Layout(row.shape), method, 99.5) for row in x]
    assert [row.scale for row in rows] == list(t.scales)


def test_a_tie_takes_the_wider_range() -> None:
    """Both values are stored as 1: with scale 1 one is off by 1/64, with 63/64 the other."""
    storage = integer_storage(2, F32, symmetric=True, narrow=False)
    assert choose_type(np.float32([1.0, 63 / 64]), storage, Layout((2,)), "mse").scale == 1.0
    assert choose_type(np.float32([1.0, 62 / 64]), storage, Layout((2,)), "mse").scale == 63 / 64


def test_a_percentile_is_divided_between_the_ends_or_of_magnitudes() -> None:
    x = np.arange(-4.0, 6.0)  # of ten, 80 % leave out two
    one_sided, symmetric = (
        choose_type(x, integer_storage(8, F32, symmetric=flag, narrow=False), Layout(x.shape), "percentile", 80.0)
        for flag in (False, True)
    )
    assert one_sided is UniformType.for_range(-3.0, 4.0, "i8")
    assert symmetric is UniformType.for_range(-4.0, 4.0, "i8", symmetric=True)


def test_an_outlier_is_left_out_where_that_lessens_the_error() -> None:
    x = np.append(np.linspace(-1, 1, 999, dtype=np.float32), np.float32(6))  # of 1000, 99.9 % leave out one
    storage = integer_storage(4, F32, symmetric=True, narrow=False)
    scales = {m: choose_type(x, storage, Layout(x.shape), m, 99.9).scale for m in choose.METHODS}
    assert 6 / 7 <= scales["minmax"] < 6.01 / 7
    assert scales["mse"] < scales["minmax"] / 2
    assert 1 / 7 <= scales["percentile"] < 1.01 / 7


@pytest.mark.parametrize("method", choose.METHODS)
@pytest.mark.parametrize(
    ("values", "symmetric", "scale", "zero_point"),
    [
        ([], True, 1.0, 0),
        ([0.0, -0.0], True, 1.0, 0),
        ([0.0, -0.0], False, 1.0, 0),
        ([12.7, 12.7], True, 0.1, 0),
        ([2.55], False, 0.01, -128),
        ([-2.55] * 3, False, 0.01, 127),
        ([2.0**-149], True, 2.0**-149, 0),
        ([-(2.0**-148), 2.0**-149], False, 2.0**-149, 0),
    ],
)
def test_edges(method: choose.Method, values: list[float], symmetric: bool, scale: float, zero_point: int) -> None:
    """No value, only zeros, a constant, which ranges from it to 0, and a range below the least scale."""
    x = np.float32(values)
    t = choose_type(x, integer_storage(8, F32, symmetric=symmetric, narrow=False), Layout(x.shape), method)
    assert t.scale == pytest.approx(scale, rel=1e-6)
    if zero_point or symmetric or not x.any():
        assert t.zero_point == zero_point


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn])
@pytest.mark.parametrize("method", choose.METHODS)
def test_every_dtype_gives_the_type_of_its_values(dtype: Any, method: choose.Method) -> None:
    x = np.linspace(-3, 5, 40).astype(dtype).reshape(8, 5)
    storage = integer_storage(4, F32, symmetric=False, narrow=True)
    expected = choose_type(x.astype(np.float64), storage, Layout(x.shape, 1), method, 80.0)
    assert choose_type(x, storage, Layout(x.shape, 1), method, 80.0) is expected


def test_the_first_value_that_is_no_number_is_named() -> None:
    x = np.zeros((2, 3), np.float32)
    x[1, 1:] = np.inf, np.nan
    with pytest.raises(QuantTypeError, match=r"values from which a type is chosen must be finite, got inf at \[1, 1\]"):
        choose_type(x, integer_storage(8, F32, symmetric=True, narrow=False), Layout(x.shape))
