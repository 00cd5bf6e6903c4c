"""Comparisons: those of the values that ``np.asarray`` gives, exact, against arrays and numbers of every kind.

Hazards: a number that the floats of a type do not hold; storage whose values are equal, because the floats do not hold
their difference; an integer that no float64 holds; scales that differ along an axis; a NaN.
"""

import operator
from decimal import Decimal
from fractions import Fraction
from math import inf, nan
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError, QuantValueError
from tests.tensor.protocol.values import NEAR, SCALES, each, floats, tensors

OPERATORS = {
    operator.eq: np.equal,
    operator.ne: np.not_equal,
    operator.lt: np.less,
    operator.le: np.less_equal,
    operator.gt: np.greater,
    operator.ge: np.greater_equal,
}
T = UniformType("i8", "f32", 0.5)
EXPRESSED = ("f32", "f64", "f16", "bf16")


def check(q: Any, r: Any, x: Any, y: Any) -> None:
    """Each operator and its ufunc, both ways round, say of the tensors or numbers what Python says of floats."""
    for python, ufunc in OPERATORS.items():
        expected = each(python, x, y)
        for found in (python(q, r), ufunc(q, r)):
            assert found.dtype == bool
            np.testing.assert_array_equal(found, expected)
        np.testing.assert_array_equal(python(r, q), each(python, y, x))


@given(st.data())
def test_tensors_of_any_two_types(data: st.DataObject) -> None:
    more: dict[str, Any] = data.draw(st.sampled_from([{"scales": SCALES}, {"scales": NEAR, "expressed": EXPRESSED}]))
    q = data.draw(tensors(**more))
    shape = data.draw(st.sampled_from([q.shape, q.shape[1:], tuple(1 for _ in q.shape)]))
    r = data.draw(tensors(shape, **more))
    check(q, r, floats(q), floats(r))


def test_a_value_is_the_float_that_stands_for_it() -> None:
    """Hazard: the product of the double scale, which is another number than that of the float32."""
    q = QuantTensor([3, 10], UniformType("i8", "f32", 0.1))
    assert (q == 1.0).tolist() == (q.dequantize() == 1.0).tolist() == [False, True]
    assert 1.0 in q
    assert 0.3 not in q
    assert float(q.dequantize()[0]) in q
    a, b = (QuantTensor([n], UniformType("i8", "f32", scale)) for n, scale in ((3, 0.2), (2, 0.3)))
    assert (a == b).tolist() == (np.asarray(a) == np.asarray(b)).tolist()


@pytest.mark.parametrize(("storage", "expressed"), [("i32", "f32"), ("u16", "f16"), ("u8", "bf16"), ("i16", "bf16")])
def test_storage_whose_values_are_equal(storage: str, expressed: str) -> None:
    """The floats do not hold every difference: neighbours have one value, and are equal."""
    t = UniformType(storage, expressed, 0.1, 3)
    integers = np.unique(np.linspace(t.storage_min, t.storage_max, 500).astype(np.int64))
    integers = np.unique(np.clip([integers - 1, integers, integers + 1], t.storage_min, t.storage_max))
    q = QuantTensor(integers, t)
    x = floats(q)
    assert len(set(x)) < x.size
    check(q, q.copy(), x, x)
    check(q, q[::-1], x, x[::-1])
    for number in (x[0], x[x.size // 2], x[-1], np.nextafter(float(x[7]), inf), 0, 1):
        for python in OPERATORS.values():
            np.testing.assert_array_equal(python(q, number), python(x, number).astype(bool))
    for side in ("left", "right"):
        np.testing.assert_array_equal(np.searchsorted(q, q[::3], side), np.searchsorted(x, x[::3], side))
        for number in (*map(float, x[::100]), nan):
            assert np.searchsorted(q, number, side) == np.searchsorted(x.astype(float), number, side)
    np.testing.assert_array_equal(np.isin(q, q[::5]), np.isin(x, x[::5]))
    assert np.array_equal(np.sort(q), q)  # within a type, the order of the storage refines that of the values


def test_values_that_are_no_numbers() -> None:
    """The integers and the zero point are infinite in the format, and their difference is a NaN."""
    t = UniformType("i32", "f16", 1.0, 70_000)
    q = QuantTensor([0, 70_000, 1 << 30], t)
    x = np.asarray(q).astype(np.float64)
    assert np.isnan(x[1:]).all()
    for number in (0.0, -inf, 5):
        for ufunc in OPERATORS.values():
            np.testing.assert_array_equal(ufunc(q, number), ufunc(x, number))
    assert not np.array_equal(q, q)
    assert np.array_equal(q, q, equal_nan=True)


NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70),
    st.integers(-20, 20),
    st.floats(),
    st.fractions(),
    st.booleans(),
    st.floats(width=32).map(np.float32),
    st.floats(width=16).map(np.float16),
    st.floats().map(np.float64),
    st.floats().map(np.longdouble),
    st.integers(-128, 127).map(np.int8),
    st.integers(0, 2**64 - 1).map(np.uint64),
    st.sampled_from([inf, -inf, nan, 0.0, -0.0, 5e-324, Fraction(1, 3), 10**400, -(10**400), Fraction(1, 10**400)]),
)


def plain(number: Any) -> Any:
    """A number as Python compares it exactly with a Fraction."""
    if isinstance(number, np.longdouble):
        return Fraction(*number.as_integer_ratio()) if np.isfinite(number) else float(number)
    return number.item() if isinstance(number, np.generic) else number


@given(st.one_of(tensors(), tensors(scales=NEAR, expressed=EXPRESSED)), NUMBERS, st.data())
def test_real_numbers_of_any_kind(q: QuantTensor, number: Any, data: st.DataObject) -> None:
    x = floats(q)
    if x.size and data.draw(st.booleans()):  # one of the values, or close to it
        number = Fraction(x.ravel()[data.draw(st.integers(0, x.size - 1))])
        number = data.draw(st.sampled_from([number, number + Fraction(1, 10**30), number * (1 - Fraction(1, 2**80))]))
    for python, ufunc in OPERATORS.items():
        expected = each(lambda v, python=python: python(v, plain(number)), x)
        np.testing.assert_array_equal(python(q, number), expected)
        np.testing.assert_array_equal(ufunc(q, number), expected)


@given(st.one_of(tensors(), tensors(scales=NEAR, expressed=EXPRESSED)), st.data())
def test_arrays_of_numbers(q: QuantTensor, data: st.DataObject) -> None:
    """Doubles next to values, subnormal and infinite ones, 64-bit integers that no double holds."""
    x, rng = floats(q), np.random.default_rng(data.draw(st.integers(0, 2**32 - 1)))
    kind = data.draw(st.sampled_from(["near", "f8", "f4", "f2", "g", "i8", "u8", "i1", "?", "bf16", "object"]))
    if kind == "near":
        with np.errstate(over="ignore"):
            nearest = x.astype(np.float64)
            array = np.nextafter(nearest, rng.choice([-inf, inf, 0.0], x.shape))
            array = np.where(rng.random(x.shape) < 0.3, nearest, array)
    elif kind in ("f8", "f4", "f2"):
        array = rng.integers(0, 256, (*x.shape, np.dtype(kind).itemsize), np.uint8).view(kind)[..., 0]
    elif kind == "bf16":
        array = rng.normal(size=x.shape).astype(ml_dtypes.bfloat16)
    elif kind == "g":
        array = x.astype(np.longdouble) * (1 + np.longdouble(2.0**-60))
    elif kind == "object":
        array = np.array([*x.ravel(), None], object)[:-1].reshape(x.shape)
    else:
        array = rng.integers(0, 256, (*x.shape, np.dtype(kind).itemsize), np.uint8).view(kind)[..., 0]
        array = rng.random(x.shape) < 0.5 if kind == "?" else array
    y = np.empty(x.shape, object)
    for index, item in np.ndenumerate(array):
        y[index] = plain(item) if array.dtype != ml_dtypes.bfloat16 else float(item)
    for python, ufunc in OPERATORS.items():
        np.testing.assert_array_equal(python(q, array), each(python, x, y))
        np.testing.assert_array_equal(ufunc(array, q), each(python, y, x))


@given(st.data())
def test_whole_arrays(data: st.DataObject) -> None:
    q = data.draw(tensors(scales=NEAR))
    r = data.draw(tensors(data.draw(st.sampled_from([q.shape, (*q.shape, 1), q.shape[1:]])), scales=NEAR))
    r = q.copy() if data.draw(st.booleans()) else r
    x, y = floats(q), floats(r)
    assert np.array_equal(q, r) is np.array_equal(x, y)
    assert np.array_equiv(q, r) is np.array_equiv(x, y)
    assert np.array_equal(q, q.copy())


@given(st.data())
def test_isclose_is_that_of_the_values(data: st.DataObject) -> None:
    """Tolerances that are an element's distance, and those that miss it by one step of float64."""
    more: dict[str, Any] = data.draw(st.sampled_from([{"scales": SCALES}, {"scales": NEAR, "expressed": EXPRESSED}]))
    q = data.draw(tensors(**more))
    r = data.draw(tensors(q.shape, **more))
    x, y = floats(q).astype(float), floats(r).astype(float)
    rtol, atol = data.draw(st.sampled_from([(0, 0), (1e-5, 1e-8), (0.5, 0.0), (Fraction(1, 3), 0), (0.0, inf)]))
    with np.errstate(all="ignore"):
        if x.size and data.draw(st.booleans()):
            atol = abs(x.ravel()[0] - y.ravel()[0])
            atol = atol if data.draw(st.booleans()) else np.nextafter(atol, 0.0)
        expected = np.isclose(x, y, float(rtol), atol)
        np.testing.assert_array_equal(np.isclose(q, r, rtol, atol), expected)
        assert np.allclose(q, r, rtol, atol) is bool(expected.all())


@pytest.mark.parametrize("rtol", [0, 0.5, -0.5])
@pytest.mark.parametrize("atol", [0, 0.25, -0.25, 40.0])
def test_isclose_of_every_pair_of_bytes(rtol: float, atol: float) -> None:
    t, u = UniformType("i8", "f32", 0.5, 3), UniformType("u8", "f32", 0.75, 100)
    q = QuantTensor(np.arange(-128, 128).astype(np.int8)[:, None], t)
    r = QuantTensor(np.arange(256).astype(np.uint8), u)
    x, y = np.asarray(q, np.float64), np.asarray(r, np.float64)
    np.testing.assert_array_equal(np.isclose(q, r, rtol, atol), np.isclose(x, y, rtol, atol))


def test_isclose_to_what_is_no_finite_number() -> None:
    q = QuantTensor([1, 2, 3], T)
    assert np.isclose(q, [nan, inf, 1.5]).tolist() == [False, False, True]
    assert np.isclose([nan, -inf, 1.5], q, atol=1e300).tolist() == [False, False, True]
    with pytest.warns(RuntimeWarning, match="atol: inf"):  # as of NumPy's arrays
        np.isclose(1.5, q, atol=inf)
    with pytest.raises(QuantTypeError, match="expected real numbers, got"):
        np.isclose(q, ["a", "b", "c"])


@pytest.mark.parametrize(
    ("other", "expected"),
    [(None, [False, False]), ("q", [False, False]), (1.0 + 0j, [False, True]), (Decimal("0.5"), [True, False])],
)
def test_what_is_no_real_number_is_unequal(other: Any, expected: list[bool]) -> None:
    """As in NumPy's arrays: an array of answers, not one. There is no order."""
    q = QuantTensor([1, 2], T)
    assert (q == other).tolist() == expected
    assert (q != other).tolist() == [not each for each in expected]
    if not isinstance(other, Decimal):
        with pytest.raises(QuantTypeError, match="expected tensors and real numbers to compare"):
            q < other  # noqa: B015


def test_a_decimal_that_is_a_nan_has_no_order() -> None:
    q = QuantTensor([1, 2], T)
    assert (q == Decimal("NaN")).tolist() == [False, False]
    with pytest.raises(QuantTypeError, match="expected tensors and real numbers to compare"):
        q < Decimal("NaN")  # noqa: B015


@pytest.mark.parametrize("other", [QuantTensor([1, 2, 3], T), QuantTensor([1, 2, 3], T.with_(scales=0.25)), np.ones(3)])
def test_shapes_that_do_not_broadcast(other: Any) -> None:
    for python in OPERATORS:
        with pytest.raises(QuantValueError, match="do not broadcast"):
            python(QuantTensor([1, 2], T), other)
    with pytest.raises(ValueError, match="do not broadcast"):
        np.isclose(QuantTensor([1, 2], T), other)


def test_outputs_and_masks() -> None:
    q = QuantTensor([1, 2, 3], T)
    out = np.array([True, True, True])
    assert np.less(q, 1.5, out=out, where=[True, False, True]) is out
    assert out.tolist() == [True, True, False]
    assert np.equal(q, 1, out=out) is out
    assert out.tolist() == [False, True, False]
    with pytest.raises(QuantValueError, match=r"does not broadcast to shape \(2,\)"):
        np.less(q, 1, out=np.empty(2, bool))


def test_a_comparison_of_many_has_no_truth() -> None:
    with pytest.raises(ValueError, match="ambiguous"):
        bool(QuantTensor([1, 2], T) == QuantTensor([1, 2], T))


def test_equals_is_of_type_shape_and_storage() -> None:
    q = QuantTensor([1, 2], T)
    assert q.equals(q.copy())
    for other in (QuantTensor([[1, 2]], T), QuantTensor([2, 4], T.with_(scales=0.25)), np.asarray(q), None):
        assert not q.equals(other)
    assert np.array_equal(q, QuantTensor([2, 4], T.with_(scales=0.25)))


@pytest.mark.parametrize("storage", ["i8", "u16", "i32"])
def test_doubles_next_to_values_and_between_them(storage: str) -> None:
    """Of a type with many scales: each has a threshold of its own."""
    scales = [0.1, 0.3, 1 / 3, 0.7]
    q = QuantTensor(np.arange(100, 112).reshape(3, 4), UniformType(storage, "f32", scales, [99, 101, 104, 109], axis=1))
    x = floats(q)
    for value in x.ravel():
        for number in (value, np.nextafter(value, inf), np.nextafter(value, -inf), value + 0.07, value - 0.07):
            for python in OPERATORS:
                expected = each(lambda v, python=python, number=number: python(v, Fraction(float(number))), x)
                np.testing.assert_array_equal(python(q, number), expected)


def test_integers_that_no_double_holds() -> None:
    q = QuantTensor([1 << 24, 1 << 24, 1 << 24], UniformType("i32", "f32", 2.0**30))
    assert (q == np.array([(1 << 54) - 1, 1 << 54, (1 << 54) + 1])).tolist() == [False, True, False]
    assert (q < np.array([(1 << 54) - 1, 1 << 54, (1 << 54) + 1], np.uint64)).tolist() == [False, False, True]
