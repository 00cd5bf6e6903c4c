"""Observers keep exactly what they saw, whatever the order, the split and the dtype."""

import pickle
import tracemalloc
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from qrt.errors import QuantTypeError
from qrt.quantization.calibration.observers import ExactSums, Summary, float_bits

DTYPES = [np.float16, np.float32, np.float64, ml_dtypes.bfloat16, ml_dtypes.float8_e4m3fn]
floats = st.sampled_from([16, 32, 64]).flatmap(
    lambda width: arrays.arrays(
        f"f{width // 8}",
        st.integers(0, 40),
        elements=st.floats(width=width, allow_nan=False, allow_infinity=False),  # type: ignore[arg-type]
    )
)


def seen(kind: Any, parts: list[Any]) -> Any:
    observer = kind()
    for part in parts:
        observer.update(part)
    return observer


@pytest.mark.parametrize("kind", [Summary, ExactSums])
@given(values=floats, seed=st.integers(0, 1 << 30), shards=st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_any_split_and_order_has_one_digest(kind: Any, values: Any, seed: int, shards: int) -> None:
    whole = seen(kind, [values])
    rng = np.random.default_rng(seed)
    parts = np.array_split(rng.permutation(values), shards)
    merged = kind()
    for part in parts:
        merged.merge(seen(kind, np.array_split(part, 2)))
    assert merged.digest() == whole.digest()
    if values.size:
        more = seen(kind, [values, values[:1]])
        assert more.digest() != whole.digest()


@given(values=floats)
@settings(max_examples=30, deadline=None)
def test_a_summary_is_that_of_plain_loops(values: Any) -> None:
    """Each bin holds the values from its bits to the next bin's, as float64 tells them apart; 0 and -0 are one."""
    record = seen(Summary, [values]).record()
    numbers = [float(x) for x in values]
    if record is None:
        assert not numbers
        return
    assert (record.count, record.low, record.high) == (len(numbers), min(numbers), max(numbers))
    expected: dict[int, int] = {}
    starts = np.arange(0x7F80, dtype=np.uint32) << np.uint32(16)
    edges = starts.view(np.float32).astype(np.float64)
    for x in numbers:
        place = int(np.searchsorted(edges, abs(x), side="right")) - 1
        bits = place | (0x8000 if x <= -(2.0**-149) else 0)  # those nearer to 0 are cut to 0
        expected[bits] = expected.get(bits, 0) + 1
    assert record.histogram == expected


@pytest.mark.parametrize("dtype", DTYPES)
def test_narrow_floats_are_their_f32(dtype: Any) -> None:
    """Subnormals and the largest values of f16 are values of f32: a dtype alone changes no record."""
    values = np.array([-0.0, 0.0, 1.5, -448.0, np.finfo(np.float16).smallest_subnormal, 3e-3], np.float64).astype(dtype)
    assert seen(Summary, [values]).digest() == seen(Summary, [values.astype(np.float32)]).digest()
    assert seen(ExactSums, [values]).squares == sum(Fraction(float(x)) ** 2 for x in values)


def test_double_values_are_cut_toward_0() -> None:
    """Rounded to nearest, a value just below a bin would be counted in the next, or as infinite."""
    below = np.nextafter(np.float64([2, -2]), 0)
    assert [hex(b) for b in float_bits(below)] == ["0x3fffffff", "0xbfffffff"]
    largest = np.float64([1e300, np.finfo(np.float32).max])
    assert seen(Summary, [largest]).record().histogram == {0x7F7F: 2}


def test_zeros_of_both_signs_are_one_value() -> None:
    """Which of them NumPy takes for the least depends on their order."""
    one, other = np.float32([0.0, -0.0, -1e-45]), np.float32([-0.0, -1e-45, 0.0])
    record = seen(Summary, [one]).record()
    assert repr(record) == repr(seen(Summary, [other]).record())
    assert record.histogram == {0: 2, 0x8000: 1}
    assert str(seen(Summary, [np.float32([-0.0])]).record().low) == "0.0"


@pytest.mark.parametrize("kind", [Summary, ExactSums])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_what_is_not_finite_is_refused_or_counted(kind: Any, bad: float) -> None:
    values = np.float32([[1, 2], [bad, 4]])
    observer = seen(kind, [np.float32([7])])
    before = observer.digest()
    with pytest.raises(QuantTypeError, match=r"observed must be finite, got .*(nan|inf)"):
        observer.update(values)
    assert observer.digest() == before  # a refused array leaves nothing behind
    observer.update(values, skip_nonfinite=True)
    assert (observer.count, observer.nonfinite) == (4, 1)
    clean = seen(kind, [np.float32([7, 1, 2, 4])])
    assert observer.digest() != clean.digest()
    clean.nonfinite = 1
    assert observer.digest() == clean.digest()
    clean.merge(observer)
    assert clean.nonfinite == 2


@given(values=floats)
@settings(max_examples=25, deadline=None)
def test_moments_are_exact(values: Any) -> None:
    moments = seen(ExactSums, [values])
    exact = [Fraction(float(x)) for x in values]
    assert (moments.total, moments.squares) == (sum(exact), sum(x * x for x in exact))


def test_integers_are_refused() -> None:
    with pytest.raises(QuantTypeError, match="the values to observe must be floats, got dtype int32"):
        Summary().update(np.int32([1]))


def test_values_that_are_not_contiguous_are_read_in_place() -> None:
    values = np.arange(24, dtype=">f4").reshape(2, 3, 4)
    assert seen(Summary, [values.T[::2]]).digest() == seen(Summary, [np.float32(values.T[::2])]).digest()


def test_memory_does_not_grow_with_the_data() -> None:
    """A summary has one size, and the arrays of an update are not longer than a part."""
    values = np.zeros(1 << 21, np.float32)
    summary = Summary()
    tracemalloc.start()
    for _ in range(3):
        summary.update(values)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 2 << 20


def test_a_summary_is_pickled_as_its_record() -> None:
    summary = seen(Summary, [np.float32([1, -2, 0])])
    summary.update(np.float32([np.inf]), skip_nonfinite=True)
    data = pickle.dumps(summary)
    assert len(data) < 1000
    assert pickle.loads(data).digest() == summary.digest()
    empty = pickle.loads(pickle.dumps(Summary()))
    empty.merge(summary)
    assert empty.digest() == summary.digest()
