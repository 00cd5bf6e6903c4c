"""Extremes, sorting, signs and sets: what NumPy makes of the values as rationals, and where a type holds no result."""

import operator
from fractions import Fraction
from math import inf, nan
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError, QuantValueError
from tests.tensor.protocol.values import NEAR, each, floats, tensors, values

T = UniformType("i8", "f32", 0.5, 3)
PER_AXIS = UniformType("i8", "f32", [0.2, 0.3], axis=1)
BLOCKS = UniformType("i8", "f32", [[0.2, 0.2], [0.3, 0.3]], block_sizes={0: 1, 1: 1})


def one_scale_along(t: UniformType, axis: Any, rank: int) -> bool:
    """Whether all elements that differ in their index along the axes alone have the same parameters."""
    axes = set(range(rank)) if axis is None else {each % rank for each in np.atleast_1d(axis)}
    pairs = np.empty(len(t.scales), object)
    pairs[:] = list(zip(t.scales, t.zero_points, strict=True))
    if t.is_per_axis:
        return t.axis not in axes or len(set(pairs)) == 1
    pairs = pairs.reshape(t.scales_shape)
    return all((pairs == pairs.take([0], d)).all() for d in axes if pairs.ndim)


def check(q: QuantTensor, function: Any, **options: Any) -> None:
    """The function gives the rationals that NumPy gives, or where types differ along the axis, an error with what to
    write."""
    if one_scale_along(q.type, options["axis"], q.ndim):
        found = function(q, **options)
        assert isinstance(found, QuantTensor)
        np.testing.assert_array_equal(values(found), function(values(q), **options))
        assert found.type.expressed_type is q.type.expressed_type
        assert found.storage.dtype == q.storage.dtype
    else:
        with pytest.raises(QuantTypeError, match=r"requantize to a per-layer type first, by qrt\.requantize"):
            function(q, **options)


@st.composite
def axes(draw: st.DrawFn, rank: int, several: bool = False) -> Any:
    one = st.integers(-rank, rank - 1) if rank else st.just(None)
    some = st.lists(st.integers(0, rank - 1), unique=True, max_size=rank).map(tuple) if rank else st.just(())
    return draw(st.one_of(st.none(), one, some) if several else st.one_of(st.none(), one))


@given(st.data())
def test_reductions(data: st.DataObject) -> None:
    q = data.draw(tensors())
    axis, keepdims = data.draw(axes(q.ndim, several=True)), data.draw(st.booleans())
    for function in (np.max, np.min, np.maximum.reduce, np.minimum.reduce):
        check(q, function, axis=axis, keepdims=keepdims)


@given(st.data())
def test_places_go_by_value(data: st.DataObject) -> None:
    """Along an axis whose scales differ too: the first of equal values."""
    q = data.draw(tensors(scales=NEAR) if data.draw(st.booleans()) else tensors())
    axis, keepdims, x = data.draw(axes(q.ndim)), data.draw(st.booleans()), values(q)
    for function in (np.argmax, np.argmin):
        found, expected = function(q, axis, keepdims=keepdims), function(x, axis, keepdims=keepdims)
        np.testing.assert_array_equal(found, expected)
    if q.ndim:
        np.testing.assert_array_equal(np.argsort(q, axis, stable=True), np.argsort(x, axis, kind="stable"))
        np.testing.assert_array_equal(np.argsort(q, axis), np.argsort(x, axis, kind="stable"))
        order = np.argsort(q, axis)
        ordered = np.take_along_axis(x.ravel() if axis is None else x, order, axis if axis is not None else 0)
        np.testing.assert_array_equal(ordered, np.sort(x, axis))
        kth = data.draw(st.integers(0, (x.size if axis is None else x.shape[axis]) - 1))
        np.testing.assert_array_equal(
            at_place(x, np.argpartition(q, kth, axis), kth, axis), at_place(x, np.argsort(x, axis), kth, axis)
        )
        np.testing.assert_array_equal(np.lexsort((q,)), np.lexsort((ranked(x),)))
        np.testing.assert_array_equal(np.lexsort(q), np.lexsort(ranked(x)))


def at_place(x: Any, order: Any, kth: int, axis: Any) -> Any:
    """The values that stand at one place of an order along the axis."""
    if axis is None:
        return x.ravel()[order[kth]]
    return np.take_along_axis(x, order, axis).take(kth, axis)


def ranked(x: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.unique(x, return_inverse=True)[1].reshape(x.shape)


@given(st.data())
def test_sorting(data: st.DataObject) -> None:
    q = data.draw(tensors().filter(lambda q: q.ndim))
    axis = data.draw(axes(q.ndim))
    check(q, np.sort, axis=axis)
    for accumulate in (np.maximum.accumulate, np.minimum.accumulate):
        check(q, accumulate, axis=axis or 0)
    if one_scale_along(q.type, axis, q.ndim):
        length = q.size if axis is None else q.shape[axis]
        kth = data.draw(st.integers(0, length - 1))
        found = values(np.partition(q, kth, axis))
        assert found.tolist() == values(np.sort(q, axis)).tolist()  # the same bits on every CPU
        np.testing.assert_array_equal(np.sort(found, axis), np.sort(values(q), axis))
        taken = kth if axis is None else (slice(None),) * (axis % q.ndim) + (kth,)
        np.testing.assert_array_equal(found[taken], np.sort(values(q), axis)[taken])


@given(st.data(), st.sampled_from(["lower", "higher", "nearest", "inverted_cdf", "closest_observation"]))
def test_quantiles_that_are_elements(data: st.DataObject, method: str) -> None:
    """Of every width: NumPy weighs two neighbours with 0 and 1."""
    q = data.draw(tensors())
    axis, keepdims = data.draw(axes(q.ndim)), data.draw(st.booleans())
    at = data.draw(st.sampled_from([0.0, 1.0, 0.5, 0.3, [0.25, 0.75], [[0.1], [0.9]]]))
    if one_scale_along(q.type, axis, q.ndim):
        found = values(np.quantile(q, at, axis, method=method, keepdims=keepdims))
        ranks, back = ranked(values(q)), np.unique(values(q))
        expected = np.quantile(ranks, at, axis, method=method, keepdims=keepdims)
        np.testing.assert_array_equal(found, back[np.asarray(expected).astype(int)])
        assert np.percentile(q, np.multiply(at, 100), axis, method=method, keepdims=keepdims).shape == found.shape
    else:
        with pytest.raises(QuantTypeError, match="requantize to a per-layer type first"):
            np.quantile(q, at, axis, method=method)


def test_quantiles_between_elements_have_a_hint() -> None:
    q = QuantTensor([1, 2, 3, 5], T)
    for call in (lambda: np.percentile(q, 50), lambda: np.quantile(q, 0.5, method="hazen")):
        with pytest.raises(QuantTypeError, match="method='lower'"):
            call()
    with pytest.raises(QuantTypeError, match=r"np\.asarray\(q\)"):
        np.median(q)
    with qrt.float_results("allow"):
        assert np.median(q) == np.percentile(q, 50) == -0.25


@given(st.data())
def test_the_greater_and_the_less_of_two(data: st.DataObject) -> None:
    q = data.draw(tensors())
    other = np.random.default_rng(q.size).integers(q.type.storage_min, q.type.storage_max, q.shape, endpoint=True)
    r = QuantTensor(other, q.type)
    for function in (np.maximum, np.minimum, np.fmax, np.fmin):
        found = function(q, r)
        assert found.type is q.type
        np.testing.assert_array_equal(values(found), function(values(q), values(r)))
    np.testing.assert_array_equal(values(np.clip(q, r, q)), np.minimum(np.maximum(values(q), values(r)), values(q)))


def test_types_follow_broadcasting() -> None:
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    row, column = QuantTensor([0, 9], PER_AXIS.with_(axis=0)), QuantTensor([[0], [9]], T)
    found = np.maximum(q, row)
    assert (found.type, found.storage.tolist()) == (PER_AXIS, [[1, 9], [3, 9]])
    assert np.maximum(column, QuantTensor([1, 2], T)).storage.tolist() == [[1, 2], [9, 9]]
    with pytest.raises(QuantTypeError, match=r"the operands must have the same type, got"):
        np.maximum(q, column)
    with pytest.raises(QuantValueError, match="do not broadcast"):
        np.minimum(q, QuantTensor([1, 2, 3], T))


@given(st.data())
def test_bounds_are_quantized(data: st.DataObject) -> None:
    """A bound is stored as `qrt.clamp` stores it; one beyond the type is an error, unless it changes nothing."""
    q = data.draw(tensors(scales=NEAR))
    x, bound = values(q), data.draw(st.one_of(st.integers(-20, 20), st.floats(-1e3, 1e3), st.sampled_from([inf, -inf])))
    everything = values(QuantTensor(np.full(q.shape, q.type.storage_max), q.type)) if q.size else x
    nothing = values(QuantTensor(np.full(q.shape, q.type.storage_min), q.type)) if q.size else x
    half = Fraction(51, 100)
    for function, clamped, beyond in (
        (np.maximum, {"min": bound}, [bound > top + half * abs(top) + 1 for top in everything.ravel()]),
        (np.minimum, {"max": bound}, [bound < low - half * abs(low) - 1 for low in nothing.ravel()]),
    ):
        try:
            found = function(q, bound)
        except QuantTypeError as error:
            assert "requantize to a wider type first" in str(error)  # noqa: PT017
            assert not (bound <= nothing).all() if function is np.maximum else not (bound >= everything).all()
        else:
            assert not any(beyond)
            assert found.equals(qrt.clamp(q, **clamped))
            assert found.equals(function(bound, q))


def test_clip() -> None:
    q = QuantTensor([-10, 3, 5, 20], T)  # -6.5, 0, 1, 8.5
    for found in (np.clip(q, 0, 1), np.clip(q, min=0.0, max=1.2), np.clip(q, 0, QuantTensor(5, T))):
        assert found.equals(QuantTensor([3, 3, 5, 5], T))
    assert np.clip(q, None, 1e9).equals(q)
    assert np.clip(q, 1, 0).equals(QuantTensor([3, 3, 3, 3], T))
    out = q.copy()
    assert np.clip(q, 0, 1, out=out) is out
    assert out.storage.tolist() == [3, 3, 5, 5]
    for low, high in ((100, 200), (None, -100), (nan, None)):
        with pytest.raises(QuantTypeError, match="is out of the range of"):
            np.clip(q, low, high)
    with pytest.raises(
        QuantTypeError,
        match=r"np.clip: expected QuantTensors and numbers, got an array: write np.clip\(np.asarray\(q\), ",
    ):
        np.clip(q, np.zeros(4), 5)
    with pytest.raises(QuantTypeError, match=r"write np.maximum\(np.asarray\(q\), x\)"):
        np.maximum(q, np.zeros(4))


def test_initial_and_where() -> None:
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    found = np.max(q, axis=0, initial=0.7)
    assert (found.type, found.storage.tolist()) == (PER_AXIS.with_(axis=0), [4, 4])  # 0.8 and 1.2: by channel
    found = np.min(q, axis=0, initial=0.3, where=[[False, True], [False, False]])
    assert found.storage.tolist() == [2, 1]
    empty = QuantTensor(np.zeros((0, 2), int), T)
    assert np.max(empty, axis=0, initial=1.0).storage.tolist() == [5, 5]
    with pytest.raises(ValueError, match="no identity"):
        np.max(empty)


@pytest.mark.parametrize("function", [np.max, np.min, np.nanmax, np.maximum.reduce, np.minimum.reduce])
def test_over_no_axis_each_element_keeps_its_scale(function: Any) -> None:
    channels = QuantTensor(np.int8([[1, 2], [3, 4]]), UniformType("i8", "f32", [0.5, 2.0], axis=1))
    blocks = QuantTensor(
        np.int8([[1, 2], [3, 4]]),
        UniformType("i8", "f32", np.array([[0.5], [2.0]]), np.zeros((2, 1), int), block_sizes={0: 1}),
    )
    for q in (channels, blocks, channels.T):
        result = function(q, axis=())
        assert result.type is q.type
        assert np.array_equal(np.asarray(result), np.asarray(q))


def test_types_without_an_axis() -> None:
    """Channels and blocks stay with what they are of; one set of parameters becomes per layer."""
    q = QuantTensor([[1, 2], [3, 4]], PER_AXIS)
    assert np.max(q, axis=0).type is PER_AXIS.with_(axis=0)
    assert np.max(q, axis=0, keepdims=True).type is PER_AXIS
    assert np.max(QuantTensor([[1, 2]], PER_AXIS.with_(scales=[0.5, 0.5])), axis=1).type is T.with_(zero_points=0)
    blocks = QuantTensor([[1, 2], [3, 4]], BLOCKS)
    found = np.max(blocks, axis=1)
    assert found.type is UniformType("i8", "f32", [0.2, 0.3], block_sizes={0: 1})
    assert found.storage.tolist() == [2, 4]
    found = np.max(blocks, axis=1, keepdims=True)
    assert found.type is UniformType("i8", "f32", [[0.2], [0.3]], block_sizes={0: 1})


# ---------------------------------------------------------------------------------------------------------------- signs


@given(st.data())
def test_signs(data: st.DataObject) -> None:
    """Each result is exact, and its type follows from the operand's."""
    q = data.draw(tensors())
    x = values(q)
    for function, expected in (
        (np.negative, -x),
        (operator.neg, -x),
        (np.abs, abs(x)),
        (abs, abs(x)),
        (np.fabs, abs(x)),
        (np.positive, x),
        (operator.pos, x),
        (np.sign, each(lambda v: (v > 0) - (v < 0), x)),
    ):
        found = function(q)
        np.testing.assert_array_equal(values(found), expected)
        assert found.type is function(QuantTensor(np.full(q.shape, q.type.storage_max), q.type)).type
        assert found.shape == q.shape
        found = QuantTensor(found.storage, found.type)  # the storage is in bounds
    assert np.negative(-q).equals(q)
    np.testing.assert_array_equal(np.signbit(q), each(lambda v: v < 0, x))


def test_types_of_signs() -> None:
    middle, whole = UniformType("i8", "f32", 0.5, storage_min=-127, storage_max=127), T.with_(zero_points=0)
    assert (-QuantTensor([1], middle)).type is np.abs(QuantTensor([1], middle)).type is middle
    assert (-QuantTensor([1], whole)).type is whole.with_(zero_points=-1)
    assert np.abs(QuantTensor([1], whole)).type is UniformType("u8", "f32", 0.5)
    assert np.abs(QuantTensor([1], UniformType("u4", "f32", 0.5))).type is UniformType("u4", "f32", 0.5)
    assert np.sign(QuantTensor([1], T)).type is UniformType("i8", "f32", 1.0, storage_min=-1, storage_max=1)
    assert (-QuantTensor([4], UniformType("u8", "f32", 0.5, 128, storage_min=3))).type is UniformType(
        "u8", "f32", 0.5, 127, storage_max=252
    )


@given(st.data())
def test_truth(data: st.DataObject) -> None:
    q, r = data.draw(tensors(scales=NEAR)), data.draw(tensors((), scales=NEAR))
    x, y = values(q).astype(bool), values(r).astype(bool)
    axis, keepdims = data.draw(axes(q.ndim)), data.draw(st.booleans())
    for function in (np.any, np.all, np.count_nonzero, np.logical_and.reduce, np.logical_xor.reduce):
        np.testing.assert_array_equal(
            function(q, axis=axis, keepdims=keepdims), function(x, axis=axis, keepdims=keepdims)
        )
    for function in (np.flatnonzero, np.argwhere, np.logical_not, *((np.nonzero,) if q.ndim else ())):
        np.testing.assert_equal(function(q), function(x))
    for function in (np.logical_and, np.logical_or, np.logical_xor):
        np.testing.assert_array_equal(function(q, r), function(x, y))
        np.testing.assert_array_equal(function(1.5, q), function(1.5, x))


def test_every_value_is_a_finite_real_number() -> None:
    q = QuantTensor([[1, 3], [4, 5]], T)
    x = np.asarray(q)
    for function in (np.isnan, np.isinf, np.isfinite, np.isposinf, np.isneginf, np.isreal, np.iscomplex):
        np.testing.assert_array_equal(function(q), function(x))
    assert np.isrealobj(q)
    assert not np.iscomplexobj(q)
    assert np.nan_to_num(q).equals(q)


# ----------------------------------------------------------------------------------------------------------------- sets


@given(st.data())
def test_unique(data: st.DataObject) -> None:
    q = data.draw(tensors())
    x, axis = values(q), data.draw(axes(q.ndim))
    if not one_scale_along(q.type, axis, q.ndim):
        with pytest.raises(QuantTypeError, match="requantize to a per-layer type first"):
            np.unique(q, axis=axis)
        return
    found, *places = np.unique(q, True, True, True, axis=axis)
    if axis is None:
        expected, *others = np.unique(x, True, True, True)
        np.testing.assert_array_equal(values(found), expected)
        np.testing.assert_equal(places, others)
        for plain in (np.unique_all, np.unique_counts, np.unique_inverse):
            for a, b in zip(plain(q), plain(x), strict=True):
                np.testing.assert_array_equal(values(a) if isinstance(a, QuantTensor) else a, b)
        np.testing.assert_array_equal(np.sort(values(np.unique_values(q))), expected)  # NumPy's are in no order
    else:
        assert np.array_equal(np.take(x, places[0], axis), values(found))
        assert np.array_equal(np.take(values(found), places[1].ravel(), axis), x)


@given(st.data())
def test_sets_of_two(data: st.DataObject) -> None:
    q = data.draw(tensors(scales=NEAR))
    r = data.draw(tensors(scales=NEAR))
    for function in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d):
        if one_scale_along(q.type, None, q.ndim) and q.size:
            other = QuantTensor(np.flip(q.storage)[..., :1] if q.ndim else q.storage, per_layer(q.type))
            np.testing.assert_array_equal(values(function(q, other)), function(values(q), values(other)))
        if q.type is not r.type and values(q).size and set(q.type.scales) != set(r.type.scales):
            with pytest.raises(
                QuantTypeError, match=r"QuantTensors of the same per-layer type, got .* and .*: requantize one, or both"
            ):
                function(q, r)
    np.testing.assert_array_equal(np.isin(q, r), each(lambda v: v in set(floats(r).ravel()), floats(q)))


def per_layer(t: UniformType) -> UniformType:
    return t.with_(scales=t.scales[0], zero_points=t.zero_points[0], axis=None, block_sizes=None)


@given(st.data(), st.sampled_from(["left", "right"]))
def test_where_a_value_stands(data: st.DataObject, side: Any) -> None:
    """By tensors of other types, arrays, and numbers on, between and beyond the values."""
    a = np.sort(
        data.draw(
            tensors((5,), widths=[3, 8, 31, 32], scales=NEAR).filter(
                lambda q: len(set(q.type.scales)) == len(set(q.type.zero_points)) == 1
            )
        )
    )
    x = floats(a).astype(float)
    v = data.draw(tensors(scales=NEAR))
    doubles = np.array([*x, *np.nextafter(x, inf), *np.nextafter(x, -inf), -inf, inf, 10.0**12])
    np.testing.assert_array_equal(np.searchsorted(a, v, side), np.searchsorted(x, np.asarray(v), side))
    np.testing.assert_array_equal(np.digitize(v, a, side == "left"), np.searchsorted(x, np.asarray(v), side))
    for number in doubles.tolist():
        assert np.searchsorted(a, number, side) == np.searchsorted(x, number, side)
    np.testing.assert_array_equal(np.searchsorted(a, doubles, side), np.searchsorted(x, doubles, side))
    assert np.searchsorted(a, nan, side) == 5


def test_edges_beyond_all_values_stay_in_order() -> None:
    q = QuantTensor([3, 4, 5], T)
    assert np.digitize(q, [-1e300, -1e200, 0.25, 1.9 * 2.0**300, 2.0**301]).tolist() == [2, 3, 3]
    assert np.digitize(q, [1e-300, 1e-299, 1.9e200, 2e300]).tolist() == [0, 2, 2]


# -------------------------------------------------------------------------------------------------------------- outputs


def test_outputs() -> None:
    q = QuantTensor([[1, 2], [3, 4]], UniformType("u4", "f32", 0.5))  # packed
    out = QuantTensor([0, 0], q.type)
    assert np.max(q, axis=0, out=out) is out
    assert out.storage.tolist() == [3, 4]
    assert np.maximum(out, 1.0, out=out) is out
    with pytest.raises(QuantTypeError, match=r"np\.max: 'out' must be a QuantTensor of the result's type"):
        np.max(q, axis=0, out=np.zeros(2))
    with pytest.raises(QuantValueError, match=r"np\.max: 'out' must have the result's shape \(\), got \(2,\)"):
        np.max(q, out=out)
    for call in (
        lambda: np.sort(q, order="x"),
        lambda: np.maximum.reduce(q, dtype=int),
        lambda: np.abs(q, where=[True]),
    ):
        with pytest.raises(QuantTypeError, match="is not supported for a QuantTensor"):
            call()


def test_the_difference_of_extremes() -> None:
    q = QuantTensor([[-128, 127], [3, 4]], T)
    found = np.ptp(q, axis=1)
    np.testing.assert_array_equal(values(found), [Fraction(255, 2), Fraction(1, 2)])
