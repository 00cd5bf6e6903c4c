"""Sums, differences and products of one tensor's elements: exact rationals, whatever the type, or an error.

Hazards: zero points counted once too often, int32 that wraps, scales of the wrong axis, a result type that depends on
data, an average rounded twice."""

import math
from collections.abc import Callable
from fractions import Fraction
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError, QuantValueError
from qrt.numerics.sums import rounded_root
from tests.tensor.protocol.rationals import SHORT_SCALES, differs_along, magnitude, outcome, same, tensors, values

T = UniformType("i8", "f32", 0.5, 3)
Q = QuantTensor(np.int8([[1, 2, -3], [4, 5, 6]]), T)
SUMS: dict[str, Callable[..., Any]] = {"sum": np.sum, "nansum": np.nansum, "add.reduce": np.add.reduce}
RUNNING: dict[str, Callable[..., Any]] = {"cumsum": np.cumsum, "add.accumulate": np.add.accumulate}
END = 1 << 31


def exactly(call: Callable[[Any], Any], q: QuantTensor, axes: tuple[int, ...], bound: int) -> None:
    """The call gives i32 of zero point 0 with NumPy's values, or an error for one of the two reasons of the types."""
    is_refused = bound >= END or any(differs_along(q, axis) for axis in axes)
    result = outcome(lambda: call(q))
    assert isinstance(result, QuantTypeError) == is_refused, result
    if is_refused:
        return
    assert same(result, call(values(q)))
    assert (result.type.storage, set(result.type.zero_points)) == ("i32", {0})


def some_axes(data: st.DataObject, rank: int) -> Any:
    """One axis, several, or None; negative ones among them."""
    axis = st.integers(-rank, rank - 1) if rank else st.nothing()
    several = st.lists(st.integers(0, max(rank - 1, 0)), unique=True, max_size=rank).map(tuple)
    return data.draw(st.one_of(st.none(), several, axis) if rank else st.sampled_from([None, ()]))


def numbered(axis: Any, rank: int) -> tuple[int, ...]:
    if axis is None:
        return tuple(range(rank))
    return tuple(a % rank for a in ((axis,) if isinstance(axis, int) else axis))


@pytest.mark.parametrize("name", SUMS)
@settings(max_examples=20)
@given(data=st.data(), keepdims=st.booleans())
def test_sums(name: str, data: st.DataObject, keepdims: bool) -> None:
    q = data.draw(tensors())
    axis = some_axes(data, q.ndim)
    axes = numbered(axis, q.ndim)
    bound = prod(q.shape[d] for d in axes) * magnitude(q.type)
    exactly(lambda x: _summed(SUMS[name], x, axis, keepdims), q, axes, bound)


def _summed(function: Callable[..., Any], x: Any, axis: Any, keepdims: bool) -> Any:
    if isinstance(x, QuantTensor):
        return function(x, axis=axis, keepdims=keepdims)
    return np.add.reduce(x, axis=axis, keepdims=keepdims, dtype=object)  # nansum asks rationals whether they are NaNs


@pytest.mark.parametrize("name", RUNNING)
@settings(max_examples=20)
@given(data=st.data())
def test_running_sums(name: str, data: st.DataObject) -> None:
    q = data.draw(tensors().filter(lambda q: q.ndim > 0))
    axis = data.draw(st.integers(-q.ndim, q.ndim - 1))
    d = axis % q.ndim
    exactly(lambda x: RUNNING[name](x, axis=axis), q, (d,), q.shape[d] * magnitude(q.type))


@settings(max_examples=20)
@given(st.data(), st.booleans())
def test_cumulative_sum(data: st.DataObject, include_initial: bool) -> None:
    q = data.draw(tensors().filter(lambda q: q.ndim > 0))
    d = data.draw(st.integers(0, q.ndim - 1))
    bound = q.shape[d] * magnitude(q.type)
    exactly(lambda x: np.cumulative_sum(x, axis=d, include_initial=include_initial), q, (d,), bound)


@settings(max_examples=20)
@given(st.data(), st.integers(1, 4))
def test_differences(data: st.DataObject, n: int) -> None:
    q = data.draw(tensors().filter(lambda q: q.ndim > 0))
    d = data.draw(st.integers(0, q.ndim - 1))
    bound = (q.type.storage_max - q.type.storage_min) << (n - 1)
    exactly(lambda x: np.diff(x, n, d), q, (d,), bound)


@settings(max_examples=20)
@given(st.data(), st.booleans())
def test_the_range_of_values(data: st.DataObject, keepdims: bool) -> None:
    q = data.draw(tensors().filter(lambda q: q.size > 0))
    axis = some_axes(data, q.ndim)
    bound = q.type.storage_max - q.type.storage_min
    exactly(lambda x: np.ptp(x, axis, keepdims=keepdims), q, numbered(axis, q.ndim), bound)


@settings(max_examples=20)
@given(st.data(), st.integers(-3, 3))
def test_traces(data: st.DataObject, offset: int) -> None:
    q = data.draw(tensors().filter(lambda q: q.ndim > 1))
    first, second = data.draw(st.permutations(range(q.ndim)))[:2]
    bound = min(q.shape[first], q.shape[second]) * magnitude(q.type)
    exactly(lambda x: np.trace(x, offset, first, second), q, (first, second), bound)


@settings(max_examples=20)
@given(st.data())
def test_products_of_elements(data: st.DataObject) -> None:
    q = data.draw(tensors(widths=range(1, 9), scales=SHORT_SCALES))
    axis = some_axes(data, q.ndim)
    axes = numbered(axis, q.ndim)
    count = prod(q.shape[d] for d in axes)
    if count <= 4:  # of more, the scale itself is rounded
        exactly(lambda x: np.prod(x, axis), q, axes, magnitude(q.type) ** count)


@settings(max_examples=20)
@given(st.data(), st.integers(1, 4))
def test_powers(data: st.DataObject, n: int) -> None:
    q = data.draw(tensors(widths=range(1, 12), scales=SHORT_SCALES, kinds=("layer", "axis")))
    exactly(lambda x: x**n, q, (), magnitude(q.type) ** n)


@settings(max_examples=20)
@given(st.data())
def test_sums_under_a_mask(data: st.DataObject) -> None:
    q = data.draw(tensors(shape=(3, 4)))
    where = np.array(data.draw(st.lists(st.booleans(), min_size=4, max_size=4)))
    exactly(lambda x: np.sum(x, axis=0, where=where, initial=0), q, (0,), 3 * magnitude(q.type))


@settings(max_examples=20)
@given(st.data())
def test_a_sum_as_float64_is_rounded_once(data: st.DataObject) -> None:
    """Wide storage, whose sum no i32 holds and whose products with the scale float64 does not."""
    q = data.draw(tensors(widths=range(20, 33), kinds=("layer",)))
    assert float(np.sum(q, dtype=np.float64)) == float(np.add.reduce(values(q), axis=None) + Fraction(0))


@settings(max_examples=20)
@given(st.data())
def test_a_sum_in_a_type_that_is_asked_for(data: st.DataObject) -> None:
    """The rule `fixed` multiplies by 31 bits of the exact ratio: one of a power of two it rounds exactly, half up."""
    q = data.draw(tensors(scales=st.just(0.375), kinds=("layer",)))
    t = UniformType("i16", "f32", 1.5, 7)
    total = Fraction(np.add.reduce(values(q), axis=None) + Fraction(0))
    expected = min(max(math.floor(total / Fraction(1.5) + Fraction(1, 2)) + 7, -(2**15)), 2**15 - 1)
    for given_type in (t, str(t)):
        result = np.sum(q, dtype=given_type)
        assert (result.type, int(result.storage)) == (t, expected)
    out = QuantTensor(np.int16(0), t)
    assert np.sum(q, out=out) is out
    assert int(out.storage) == expected


def test_storage_whose_sum_wraps_has_an_exact_sum() -> None:
    """Zero points near the end of u32: sums of storage pass 32 bits, and what is left of them does not."""
    low = 2**32 - 5
    q = QuantTensor(
        np.uint32([[low, low + 4], [low + 1, low + 3]]), UniformType("u32", "f32", 0.5, low + 2, None, None, low)
    )
    for call in (np.sum, np.cumsum, lambda x: np.sum(x, axis=0), lambda x: np.cumsum(x, axis=1)):
        assert same(call(q), call(values(q)))
    wide = QuantTensor(np.full((64, 64), low + 3, np.uint32), q.type)
    assert int(np.sum(wide).storage) == 4096
    assert np.mean(wide) == 0.5
    assert np.mean(wide, dtype=wide.type).equals(qrt.mean(wide))


# ------------------------------------------------------------------------------------------------------------- moments


def root(value: Fraction) -> float:
    """The square root rounded once, by bisection between doubles."""
    if value == 0:
        return 0.0
    guess = math.sqrt(value) if 1e-300 < value < 1e300 else float(value) ** 0.5
    near = [guess, math.nextafter(guess, 0.0), math.nextafter(guess, math.inf)]
    for x in sorted(near):
        middle = (Fraction(x) + Fraction(math.nextafter(x, math.inf))) / 2
        if value < middle * middle:
            return x
    raise AssertionError("the root is not near")


def deviations(exact: Any, axis: Any, ddof: int) -> Any:
    mean = np.add.reduce(exact, axis=axis, keepdims=True) / Fraction(exact.size // max(prod(_kept(exact, axis)), 1))
    squares = np.add.reduce((exact - mean) ** 2, axis=axis)
    return squares / Fraction(exact.size // max(prod(_kept(exact, axis)), 1) - ddof)


def _kept(exact: Any, axis: Any) -> list[int]:
    axes = numbered(axis, exact.ndim)
    return [n for d, n in enumerate(exact.shape) if d not in axes]


@settings(max_examples=20)
@given(st.data(), st.integers(0, 2))
def test_variances_are_rounded_once(data: st.DataObject, ddof: int) -> None:
    q = data.draw(tensors().filter(lambda q: q.size > 0))
    axis = some_axes(data, q.ndim)
    axes = numbered(axis, q.ndim)
    count = prod(q.shape[d] for d in axes)
    if any(differs_along(q, d) for d in axes):
        with pytest.raises(QuantTypeError, match="has scales that differ along axis"):
            np.var(q, axis)
        return
    if count <= ddof:
        with pytest.raises(QuantValueError, match="'ddof' must be less than the number of elements"):
            np.std(q, axis, ddof=ddof)
        return
    expected = np.asarray(deviations(values(q), axis, ddof), object)
    var, std = np.var(q, axis, ddof=ddof), np.std(q, axis, ddof=ddof)
    assert (var.dtype, var.shape) == (np.float64, expected.shape)
    assert np.asarray(var).ravel().tolist() == [float(v) for v in expected.ravel()]
    assert np.asarray(std).ravel().tolist() == [root(Fraction(v)) for v in expected.ravel()]


@pytest.mark.parametrize("storage", ["i8", "u8", "i16", "u16", "i24", "i32"])
def test_moments_of_many_results(storage: str) -> None:
    """As many as are rounded at once, some of them zero, some half way between two doubles."""
    rng = np.random.default_rng(5)
    t = UniformType(storage, "f32", 0.1, 3)
    ends = rng.integers(t.storage_min, t.storage_max, (200, 4), endpoint=True)
    q = QuantTensor(np.where(rng.random((200, 4)) < 0.2, t.storage_max, ends) * (rng.random((200, 1)) < 0.9), t)
    exact = values(q)
    expected = deviations(exact, 1, 1)
    assert np.var(q, 1, ddof=1).tolist() == [float(v) for v in expected]
    assert np.std(q, 1, ddof=1).tolist() == [root(v) for v in expected]
    assert np.linalg.norm(q, axis=1).tolist() == [root(v) for v in np.add.reduce(exact**2, axis=1)]
    assert np.sum(q, axis=1, dtype=np.float64).tolist() == [float(v) for v in np.add.reduce(exact, axis=1)]
    for axis in (None, 0, (0, 1)):
        wide = QuantTensor(np.tile(q.storage, (8, 1)), t)
        means = np.asarray(np.add.reduce(values(wide), axis=axis), object)
        count = Fraction(wide.size, means.size)
        assert np.asarray(np.mean(wide, axis)).ravel().tolist() == [float(v / count) for v in means.ravel()]


@settings(max_examples=20)
@given(st.data())
def test_norms_are_rounded_once(data: st.DataObject) -> None:
    q = data.draw(tensors(kinds=("layer",)).filter(lambda q: q.ndim in (1, 2)))
    total = Fraction(np.add.reduce(values(q) ** 2, axis=None) + Fraction(0))
    assert float(np.linalg.norm(q)) == root(total)


@pytest.mark.parametrize("scale", [5e-324, 2.0**-1070, 1e-160, 1e150])
def test_a_deviation_at_the_ends_of_float64_is_rounded_once(scale: float) -> None:
    q = QuantTensor(np.int8([1, 4, -6, 9]), UniformType("i8", "f64", scale))
    variance = deviations(values(q), None, 0)
    assert float(np.var(q)) == float(Fraction(variance))
    exact = Fraction(math.isqrt(int(variance / Fraction(scale) ** 2 * 16 * 2**200)), 4 * 2**100) * Fraction(scale)
    assert float(np.std(q)) == float(exact)


def test_a_root_just_beyond_the_middle_of_two_doubles_goes_up() -> None:
    middle = 2**53 + 1
    assert [rounded_root(middle**2 + more, 1) for more in (-1, 0, 1)] == [2.0**53, 2.0**53, 2.0**53 + 2]
    assert rounded_root(middle**2 + 1, 2**2300) == 0.0
    assert rounded_root((middle**2 + 1) << 4000, 1) == math.inf


@settings(max_examples=20)
@given(st.data())
def test_a_mean_is_float64_rounded_once_or_of_a_type(data: st.DataObject) -> None:
    q = data.draw(tensors().filter(lambda q: q.size > 0))
    axis = some_axes(data, q.ndim)
    along = range(q.ndim) if axis is None else [each % q.ndim for each in np.atleast_1d(axis)] if q.ndim else ()
    if any(differs_along(q, each) for each in along):
        with pytest.raises(QuantTypeError, match="requantize first"):
            np.mean(q, axis)
        return
    exact = np.asarray(np.add.reduce(values(q), axis=axis), object)
    count = Fraction(q.size, max(exact.size, 1))
    for result in (np.mean(q, axis), q.mean(axis), np.mean(q, axis, dtype=np.float64), np.average(q, axis)):
        assert np.asarray(result).dtype == np.float64
        assert np.asarray(result).ravel().tolist() == [float(v / count) for v in exact.ravel()]
    out = np.empty(exact.shape)
    assert np.mean(q, axis, out=out) is out
    assert out.ravel().tolist() == [float(v / count) for v in exact.ravel()]
    if q.type.is_per_layer:
        mean = qrt.mean(q, axis, out_type=q.type)
        assert q.mean(axis, out_type=q.type).equals(mean)
        assert np.mean(q, axis, dtype=q.type).equals(mean)
        assert np.mean(q, axis, out=mean.copy()).equals(mean)


def test_a_quantized_mean_is_the_average_rounded_once_to_the_type() -> None:
    q = QuantTensor(np.int8([[1, 2, -3], [4, 6, 6]]), T)
    assert q.mean(axis=0).tolist() == [-0.25, 0.5, -0.75]
    assert q.mean(axis=0, out_type=T).storage.tolist() == [3, 4, 2]  # halves go up


# -------------------------------------------------------------------------------------------------------------- types


def test_the_type_of_a_sum_is_i32_of_its_scale() -> None:
    per_axis = UniformType("i8", "f32", [0.5, 0.25, 1.0], [1, 2, 3], axis=1)
    p = QuantTensor(np.zeros((2, 3), np.int8), per_axis)
    assert str(np.sum(Q).type) == "!quant.uniform<i32:f32, 5.000000e-01>"
    assert np.sum(p, axis=0).type == UniformType("i32", "f32", [0.5, 0.25, 1.0], axis=0)
    assert np.sum(p, axis=0, keepdims=True).type == UniformType("i32", "f32", [0.5, 0.25, 1.0], axis=1)
    blocks = UniformType("i4", "f32", [[0.5], [1.0]], block_sizes={0: 2, 1: 5})
    b = QuantTensor(np.zeros((4, 5), np.int8), blocks)
    assert np.sum(b, axis=1).type == UniformType("i32", "f32", [0.5, 1.0], block_sizes={0: 2})


def test_the_scale_of_a_product_is_rounded_once() -> None:
    q = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.1))
    assert np.prod(q).type.scale == (q * q).type.scale == 0.1 * 0.1
    assert (q**3).type.scale == float(Fraction(0.1) ** 3)


# -------------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: np.sum(q, axis=5), r"np\.sum: 'axis' must be in \[-2, 1\] for a tensor of rank 2, got 5"),
        (
            lambda q: np.sum(q, axis=(0, 0)),
            r"np\.sum: 'axis' must be an integer or a tuple of different axes, got \(0, 0\)",
        ),
        (
            lambda q: np.sum(q, axis=1.5),
            r"np\.sum: 'axis' must be an integer or a tuple of different axes, got 1\.5",
        ),
        (lambda q: np.sum(q, initial=5), r"np\.sum: the argument 'initial' is not supported for a QuantTensor"),
        (lambda q: np.sum(q, where=[1, 2, 3]), r"np.sum: 'where' must be bools that broadcast to shape \(2, 3\)"),
        (lambda q: np.sum(q, dtype=np.int64), "np.sum: 'dtype' must be a !quant.uniform type or np.float64"),
        (lambda q: np.sum(q, dtype="no"), "np.sum: 'dtype' must be a !quant.uniform type or np.float64, got 'no'"),
        (lambda q: np.sum(q, out=q.copy()), r"np\.sum: 'out' must have the result's shape \(\), got \(2, 3\)"),
        (
            lambda q: np.sum(q, dtype=T.with_(expressed="f64")),
            r"np\.sum: 'dtype' must have the expressed type of the result, f32, got",
        ),
        (lambda q: np.add.accumulate(q, axis=None), "np.add.accumulate: 'axis' must be given for a tensor of rank 2"),
        (lambda q: np.cumulative_sum(q), "np.cumulative_sum: 'axis' must be given for a tensor of rank 2"),
        (lambda q: np.diff(q, -1), r"np\.diff: 'n' must be an integer from 0 to 64, got -1"),
        (lambda q: np.diff(q, prepend=1.0), r"np\.diff: an operand must be a QuantTensor, got 1\.0"),
        (lambda q: np.ptp(q[:0], axis=0), r"np\.ptp: 'a' must have elements along axis 0, got shape \(0, 3\)"),
        (
            lambda q: np.trace(q, axis1=1, axis2=1),
            r"np\.trace: 'axis1' and 'axis2' must be different axes, got 1 and 1 for a tensor",
        ),
        (lambda q: np.trace(q[0]), r"np\.trace: 'axis' must be in \[-1, 0\] for a tensor of rank 1, got 1"),
        (lambda q: np.mean(q[:0]), r"np\.mean: 'a' must have elements along the axes \[0, 1\], got shape \(0, 3\)"),
        (
            lambda q: np.mean(q[:0], dtype=q.type),
            "'q' must have elements along axis 0, which is reduced, got size 0",
        ),
        (
            lambda q: np.mean(q, out=np.empty(3)),
            r"np\.mean: 'out' must be an array of shape \(\) and dtype float64, got shape \(3,\)",
        ),
        (lambda q: np.std(q, ddof=6), r"np\.std: 'ddof' must be less than the number of elements, 6, got 6"),
        (lambda q: np.std(q, ddof="1"), r"np\.std: 'ddof' must be a finite number, got '1'"),
        (lambda q: np.std(q, dtype=T), r"np\.std: 'dtype' must be float64, the dtype of the result: write"),
        (lambda q: np.prod(q, initial=2), r"np\.prod: the argument 'initial' is not supported for a QuantTensor"),
        (lambda q: np.convolve(q[0], q[0], "none"), "np.convolve"),
        (lambda q: np.sum([1.0], out=q), r"np\.sum: an operand must be a QuantTensor, got \[1\.0\]"),
    ],
)
def test_refusals_name_the_argument(call: Callable[[Any], Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        call(Q)


def test_shapes_that_do_not_fit_are_value_errors_as_of_numpy() -> None:
    with pytest.raises(ValueError, match=r"'axis' must be in \[-2, 1\] for a tensor of rank 2, got 2"):
        np.sum(Q, axis=2)
    with pytest.raises(TypeError, match=r"'axis' must be in \[-2, 1\] for a tensor of rank 2, got 2"):
        np.sum(Q, axis=2)
    for call in (lambda: Q + Q[:, :2], lambda: Q @ Q, lambda: np.matmul(np.concatenate([Q, Q]).reshape(2, 2, 3), Q)):
        with pytest.raises(
            ValueError,
            match=r"broadcast, got \[2, 3\] and \[2, 2\]|the contracted dimensions of 'a' and 'w' .* got 3 and 2",
        ):
            call()


def test_a_type_of_many_scales_makes_no_long_error() -> None:
    many = UniformType("i8", "f32", [0.5 + i for i in range(5000)], axis=0)
    with pytest.raises(QuantTypeError, match="scales that differ along axis 0") as raised:
        np.sum(QuantTensor(np.zeros(5000, np.int8), many))
    assert len(str(raised.value)) < 500


@pytest.mark.parametrize(
    "t",
    [
        UniformType("i8", "f32", [0.5, 0.25], axis=0),
        UniformType("i8", "f32", [[0.5, 1.0, 0.5], [1.0, 0.25, 1.0]], block_sizes={0: 1, 1: 1}),
    ],
    ids=["axis", "blocks"],
)
def test_what_to_write_instead_of_a_sum_over_scales_runs(t: UniformType) -> None:
    q = QuantTensor(Q.storage, t)
    for call in (np.sum, np.std, lambda x: np.cumsum(x, axis=0), lambda x: np.einsum("ij->j", x)):
        with pytest.raises(QuantTypeError, match=r"requantize first, by qrt\.requantize\(q, t\)"):
            call(q)
        call(qrt.requantize(q, T))
