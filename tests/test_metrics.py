"""`qrt.metrics`: the oracle computes with rationals of the rounded differences and products. Hazards: a sum that
depends on the order, an overflow in a square, a logarithm of the platform, shapes that broadcast."""

import math
import sys
from collections.abc import Callable
from decimal import Context
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import qrt
from qrt import metrics
from qrt.errors import QuantTypeError

SHAPES = st.sampled_from([(), (1,), (7,), (2, 3)])
T = qrt.UniformType("i8", "f32", 0.5, 3)


def pairs(elements: st.SearchStrategy[float]) -> st.SearchStrategy[tuple[np.ndarray, np.ndarray]]:
    return SHAPES.flatmap(lambda shape: st.tuples(*[arrays(np.float64, shape, elements=elements)] * 2))


ORDINARY = pairs(st.floats(-1e3, 1e3, width=32).map(lambda x: 0.0 if abs(x) < 1e-3 else x))
ANY = pairs(st.floats(allow_nan=False, allow_infinity=False))


def square_sum(values: np.ndarray) -> Fraction:
    return sum((Fraction(x * x) for x in values.ravel().tolist()), Fraction(0))


def decibels(ratio: Fraction) -> float:
    """Rounded to float64 where `snr` is: the ratio, its logarithm, the product by 10."""
    context = Context(prec=60)
    return 10 * float(context.log10(context.create_decimal(float(ratio))))


@given(ORDINARY)
def test_they_are_what_their_formulas_say(pair: tuple[np.ndarray, np.ndarray]) -> None:
    r, a = pair
    errors = r - a
    assert metrics.mse(r, a) == float(square_sum(errors) / r.size)
    assert metrics.max_error(r, a) == max(map(abs, errors.ravel().tolist()))
    if errors.any() and r.any():
        assert metrics.snr(r, a) == decibels(square_sum(r) / square_sum(errors))
    if r.any() and a.any():
        product = sum(Fraction(x * y) for x, y in zip(r.ravel().tolist(), a.ravel().tolist(), strict=True))
        exact = math.copysign(math.sqrt(product**2 / (square_sum(r) * square_sum(a))), product)
        assert metrics.cosine(r, a) == min(max(exact, -1.0), 1.0)


@given(ANY)
def test_order_changes_nothing_and_nothing_overflows(pair: tuple[np.ndarray, np.ndarray]) -> None:
    r, a = (values.reshape(-1) for values in pair)
    order = np.argsort(np.sin(np.arange(r.size) * 7.0))
    for name in ("snr", "mse", "cosine", "max_error"):
        value = getattr(metrics, name)(r, a)
        assert not math.isnan(value)
        assert value == getattr(metrics, name)(r[order], a[order])
    assert -1 <= metrics.cosine(r, a) <= 1
    assert metrics.cosine(r, r) == 1
    assert metrics.mse(r, r) == metrics.max_error(r, r) == 0
    assert metrics.snr(r, r) == math.inf


def test_large_and_small_values_keep_their_ratio() -> None:
    r, a = np.array([3.0, -4.0]), np.array([3.0, -4.5])
    for scale in (2.0**-1070, 2.0**-600, 2.0**600, 2.0**1021):
        assert metrics.snr(r * scale, a * scale) == metrics.snr(r, a) == 20.0
        assert metrics.cosine(r * scale, a * scale) == metrics.cosine(r, a)
    assert metrics.snr([1e308], [-1e308]) == 10 * math.log10(0.25)
    assert metrics.mse([2.0**-537], [0.0]) == 2.0**-1074


def test_edges() -> None:
    zeros, ones = np.zeros(3), np.ones(3)
    assert metrics.snr(zeros, ones) == -math.inf
    assert metrics.snr(zeros, zeros) == math.inf
    assert (metrics.cosine(zeros, zeros), metrics.cosine(zeros, ones), metrics.cosine(ones, -ones)) == (1.0, 0.0, -1.0)


def test_tensors_count_as_their_values() -> None:
    x = np.float32([[0.2, 1.0], [-1.6, 4.0]])
    q = qrt.quantize(x, T)
    for name in ("snr", "mse", "cosine", "max_error"):
        assert getattr(metrics, name)(x, q) == getattr(metrics, name)(x.astype(np.float64), q.dequantize())


@pytest.mark.parametrize("width", [1, 3, 4, 8, 16])
def test_saturation_counts_both_bounds(width: int) -> None:
    t = qrt.UniformType(f"u{width}", "f32", 0.5)
    most = 2**width - 1
    stored = np.array([[0, most, most], [most // 2, most // 2, 0]])
    assert metrics.saturation(qrt.QuantTensor(stored, t)) == (1.0 if width == 1 else 4 / 6)
    if width > 1:
        narrow = t.with_(storage_min=1, storage_max=most)
        assert metrics.saturation(qrt.QuantTensor(np.maximum(stored, 1), narrow)) == (1.0 if most == 3 else 4 / 6)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: metrics.mse([1.0], [[1.0]]),
            r"mse: 'reference' and 'approximation' must have the same shape, got \(1,\) and \(1, 1\)",
        ),
        (
            lambda: metrics.snr([1.0, 2.0], 1.0),
            r"snr: 'reference' and 'approximation' must have the same shape, got \(2,\) and \(\)",
        ),
        (
            lambda: metrics.cosine([], []),
            r"cosine: 'reference' and 'approximation' must have elements, got shape "
            r"\(0,\)",
        ),
        (lambda: metrics.mse([1.0, math.nan], [1.0, 1.0]), r"mse: 'reference' must be finite, got nan at \[1\]"),
        (lambda: metrics.max_error(1.0, math.inf), "max_error: 'approximation' must be finite, got inf$"),
        (lambda: metrics.mse([1j], [1.0]), "mse: 'reference' must be real numbers, got dtype complex128"),
        (lambda: metrics.mse(["a"], [1.0]), "mse: 'reference' must be real numbers, got dtype <U1"),
        (
            lambda: metrics.mse([[1.0], [1.0, 2.0]], [1.0]),
            "nested sequences of one level must have the same length to form an array, got different lengths",
        ),
        (lambda: metrics.saturation([1.0]), r"saturation: 'q' must be a QuantTensor, got \[1\.0\]"),
        (
            lambda: metrics.saturation(qrt.QuantTensor(np.int8([]), T)),
            r"saturation: 'q' must have elements, got shape \(0,\)",
        ),
    ],
)
def test_what_has_no_metric_is_refused(call: Callable[[], object], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        call()


def test_a_million_values_cost_no_step_of_python_each() -> None:
    values, calls = np.linspace(-1, 1, 10**5, dtype=np.float32), 0

    def count(frame: object, event: str, argument: object) -> None:
        nonlocal calls
        calls += 1

    sys.setprofile(count)
    try:
        metrics.cosine(values, values)
    finally:
        sys.setprofile(None)
    assert calls < 5000
