"""Functions that move elements, on tensors of every kind of type, beside NumPy on exact rationals. Hazards: a channel
that does not follow its elements, packed bits, storage that a routine reads in another order, no elements at all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.tensor.protocol.exact import Call, assert_moves, tensors

Draw = Callable[[Any, QuantTensor], Call]


def axis_of(draw: Any, q: QuantTensor) -> int:
    """One beyond the axes on each side, too."""
    return draw(st.integers(-q.ndim - 1, q.ndim))


def position(draw: Any, q: QuantTensor, axis: int) -> int:
    size = q.shape[axis] if -q.ndim <= axis < q.ndim else 1
    return draw(st.integers(-size - 1, size))


def positions(draw: Any, size: int, most: int = 4) -> list[int]:
    return draw(st.lists(st.integers(-size, max(size - 1, 0)), max_size=most))


def some_axis(draw: Any, q: QuantTensor) -> tuple[int, int]:
    """An axis, and its size."""
    axis = draw(st.integers(-q.ndim, q.ndim - 1)) if q.ndim else 0
    return axis, q.shape[axis] if q.ndim else 1


def draw_take(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    indices = np.array(positions(draw, size), int)
    mode = draw(st.sampled_from(["raise", "wrap", "clip"]))
    if draw(st.booleans()) and not indices.size % 2:
        indices = indices.reshape(2, -1)
    return lambda x: np.take(x, indices, axis, mode=mode)


def draw_repeat(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    repeats = draw(st.one_of(st.integers(0, 3), st.lists(st.integers(0, 2), min_size=size, max_size=size)))
    return lambda x: np.repeat(x, repeats, axis)


def draw_delete(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    what = draw(st.sampled_from([slice(0, 1), slice(None, None, 2), positions(draw, size), 0, -1]))
    return lambda x: np.delete(x, what, axis)


def draw_compress(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    condition = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    return lambda x: np.compress(condition, x, axis)


def draw_roll(draw: Any, q: QuantTensor) -> Call:
    axes = draw(st.one_of(st.none(), st.just(axis_of(draw, q)), st.just((0, -1))))
    shift = draw(st.sampled_from([0, 1, -2, 7])) if not isinstance(axes, tuple) else draw(st.sampled_from([(1, 2), 1]))
    return lambda x: np.roll(x, shift, axes)


def draw_tile(draw: Any, q: QuantTensor) -> Call:
    reps = draw(st.lists(st.integers(0, 2), max_size=4))
    return lambda x: np.tile(x, reps)


def draw_along(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    shape = [draw(st.sampled_from([1, n])) for n in q.shape]
    if shape:
        shape[axis] = draw(st.integers(0, 3)) if size else 0
    indices = np.random.default_rng(draw(st.integers(0, 9))).integers(0, max(size, 1), shape)
    return lambda x: np.take_along_axis(x, indices, axis)


def draw_broadcast(draw: Any, q: QuantTensor) -> Call:
    shape = draw(st.lists(st.integers(0, 2), max_size=2)) + [n if n != 1 else draw(st.integers(0, 3)) for n in q.shape]
    return lambda x: np.broadcast_to(x, shape)


def draw_split(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    where = draw(st.one_of(st.integers(1, 4), st.lists(st.integers(-size - 1, size + 1), max_size=2)))
    routine = draw(st.sampled_from([np.split, np.array_split]))
    return lambda x: routine(x, where, axis)


def draw_pad(draw: Any, q: QuantTensor) -> Call:
    mode = draw(st.sampled_from(["edge", "reflect", "symmetric", "wrap"]))
    widths = [(draw(st.integers(0, 2)), draw(st.integers(0, 5))) for _ in q.shape] or 0
    return lambda x: np.pad(x, widths, mode)


def draw_reshape(draw: Any, q: QuantTensor) -> Call:
    shapes = [q.shape[::-1], (1, *q.shape), (-1,), (q.size, 1), (*q.shape[:1], -1), (3, 5)]
    shape, order = draw(st.sampled_from(shapes)), draw(st.sampled_from(["C", "F"]))
    return lambda x: np.reshape(x, shape, order)


def draw_resize(draw: Any, q: QuantTensor) -> Call:
    shape = draw(st.one_of(st.integers(0, 9), st.lists(st.integers(0, 3), max_size=3).map(tuple)))
    return (lambda x: np.resize(x, shape)) if q.size else (lambda x: np.ravel(x))


def draw_diagonal(draw: Any, q: QuantTensor) -> Call:
    offset, first, second = draw(st.integers(-4, 4)), axis_of(draw, q), axis_of(draw, q)
    return draw(
        st.sampled_from(
            [lambda x: np.diagonal(x, offset, first, second), lambda x: np.linalg.diagonal(x, offset=offset)]
        )
    )


def draw_windows(draw: Any, q: QuantTensor) -> Call:
    axis, size = some_axis(draw, q)
    window = draw(st.integers(1, size + 1))
    return lambda x: np.lib.stride_tricks.sliding_window_view(x, window, axis)


def draw_axes(draw: Any, q: QuantTensor) -> Call:
    a, b, k = axis_of(draw, q), axis_of(draw, q), draw(st.integers(-1, 4))
    order = draw(st.permutations(range(q.ndim)))
    ones = draw(st.sampled_from([None, a, (), (a, b)]))
    some = draw(st.sampled_from([None, a, (a, b)]))
    calls: list[Call] = [
        lambda x: np.swapaxes(x, a, b), lambda x: np.moveaxis(x, a, b), lambda x: np.moveaxis(x, [0, -1], [b, a]),
        lambda x: np.rollaxis(x, a, b), lambda x: np.expand_dims(x, a), lambda x: np.expand_dims(x, (a, b)),
        lambda x: np.squeeze(x, ones), lambda x: np.flip(x, some), lambda x: np.rot90(x, k, (a, b)),
        lambda x: np.transpose(x, order), lambda x: np.permute_dims(x, order), lambda x: np.unstack(x, axis=a),
    ]  # fmt: skip
    return draw(st.sampled_from(calls))


PLAIN = [
    np.ravel, np.fliplr, np.flipud, np.matrix_transpose, np.linalg.matrix_transpose, np.atleast_1d, np.atleast_2d,
    np.atleast_3d, np.copy, np.real, np.fft.fftshift, np.fft.ifftshift, np.transpose, lambda x: np.roll(x, 2),
    lambda x: np.repeat(x, 2), lambda x: np.take(x, [0, -1]), lambda x: np.delete(x, 0), lambda x: np.hsplit(x, 2),
    lambda x: np.vsplit(x, 2), lambda x: np.dsplit(x, 2), lambda x: np.broadcast_arrays(x, np.ones((2, 1, 1)))[0],
    lambda x: np.meshgrid(x)[0], lambda x: np.extract(np.arange(x.size) % 2, x), lambda x: x.flatten(),
    lambda x: x.flatten("F"), lambda x: x.T, lambda x: x.mT, lambda x: np.nan_to_num(x, copy=False),
]  # fmt: skip
DRAWS: dict[str, Draw] = {
    name.removeprefix("draw_"): value for name, value in list(globals().items()) if name.startswith("draw_")
}
FLAT = {"plain", "reshape", "resize", "windows"}
"""Those that may put channels of different places along one axis."""
DRAWS["plain"] = lambda draw, q: draw(st.sampled_from(PLAIN))


@settings(max_examples=3 * settings().max_examples)
@given(st.data(), st.sampled_from(sorted(DRAWS)))
def test_moves_as_numpy_moves_exact_values(data: st.DataObject, name: str) -> None:
    q = data.draw(tensors())
    assert_moves(DRAWS[name](data.draw, q), q, follows=name not in FLAT)


# --------------------------------------------------------------------------------------------------------------- types

PER_AXIS = UniformType("i8", "f32", [0.5, 1.0], [0, 1], axis=0)
ONE = UniformType("i8", "f32", [0.5], axis=0)
LAYER = UniformType("i8", "f32", 0.5)


@pytest.mark.parametrize(
    ("call", "axis"),
    [
        (np.transpose, 1),
        (np.squeeze, None),
        (lambda q: np.expand_dims(q, 0), 1),
        (lambda q: np.take(q, [0], 0), 0),
        (lambda q: np.take(q, [[0]], 0), 1),
        (lambda q: np.take(q, 0, 0), None),
        (lambda q: np.broadcast_to(q, (3, 1)), 0),
        (lambda q: np.broadcast_to(q, (3, 1, 1)), 1),
        (lambda q: np.tile(q, (2, 1, 1)), 1),
        (lambda q: np.tile(q, (2, 1)), 0),
        (lambda q: np.ravel(q), 0),
        (lambda q: np.diagonal(q), 0),
        (lambda q: np.unstack(q)[0], None),
        (lambda q: np.unstack(q, axis=1)[0], 0),
        (lambda q: np.stack([q, q]), 1),
        (lambda q: np.stack([q, q], 1), 0),
        (lambda q: np.concatenate([q, q]), 0),
        (lambda q: np.meshgrid(q[:, 0], q[:, 0])[0], 1),
        (lambda q: np.where([[True], [False]], q, q), 0),
    ],
)
def test_one_channel_stands_where_its_axis_does(call: Call, axis: int | None) -> None:
    """Sizes of 1 say nothing about the axis: the rule does."""
    assert call(QuantTensor([[5]], ONE)).type.axis == axis


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            np.ravel,
            r"np\.ravel would mix the different scales of axis 0 of tensor<2x2x.* qrt\.requantize to a type per layer",
        ),
        (lambda q: np.roll(q, 1), r"np\.roll without axis would mix the different scales of axis 0 of tensor<2x2x"),
        (
            lambda q: np.take_along_axis(q, np.zeros((2, 2), int), 0),
            r"np\.take_along_axis: the index would mix the different scales along axis 0 of",
        ),
        (
            lambda q: np.take(q, [[0, 1], [1, 0]], 0),
            "the index would mix the different scales along axis 0 of",
        ),
        (lambda q: np.resize(q, 3), r"np\.ravel would mix"),
        (
            lambda q: np.lib.stride_tricks.sliding_window_view(q, 2, 0),
            r"np\.lib\.stride_tricks\.sliding_window_view: the index would mix the different scales along axis 0 of",
        ),
        (lambda q: np.delete(q, [0, 1], 0), r"np\.delete: the index must select at least one channel of"),
        (
            lambda q: np.diag(q[0:2, 0]),
            r"np\.diag: 'v' must have a per-layer type, because the zeros off the diagonal have no scale of their "
            r"own, got",
        ),
        (lambda q: np.pad(q, 1), r"np\.pad: quantized dimension size does not match number of scales"),
        (lambda q: np.insert(q, 0, 0.0, 0), r"np\.insert: elements inserted along axis 0 .* would have no scale"),
        (lambda q: np.append(q, [[1.0, 2.0]], 0), r"np\.append: quantized dimension size does not match"),
        (
            lambda q: np.stack([q, q.T]),
            r"np\.stack: the tensors must have the same type, got",
        ),
        (lambda q: np.where(True, q, QuantTensor([[1, 2]], LAYER)), r"np\.where: the tensors must have the same"),
        (
            lambda q: np.stack([q, np.ones((2, 2))]),
            r"np\.stack: operand 1 must be a QuantTensor, got an ndarray of "
            r"shape \(2, 2\)",
        ),
        (
            lambda q: np.stack([q, q], dtype=np.int8),
            r"np\.stack: 'dtype' is not supported for QuantTensors: qrt\.concat takes out_type",
        ),
        (lambda q: np.take(q, [0], 0, q), r"np\.take: 'out' must be a QuantTensor of the result's type"),
        (
            lambda q: np.choose(q, [1, 2]),
            r"np\.choose: 'a', which selects a tensor for each element, must be integers, got",
        ),
        (lambda q: np.flip(q, "a"), r"np\.flip: "),
    ],
)
def test_what_would_mix_scales_says_what_to_write(call: Call, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message) as caught:
        call(QuantTensor([[1, 2], [3, 4]], PER_AXIS))
    assert len(str(caught.value)) < 1000


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 2])
def test_a_diagonal_takes_the_channels_that_it_passes(axis: int, offset: int) -> None:
    shape = (3, 4, 3)
    t = UniformType("i8", "f32", 0.5 + np.arange(shape[axis]), axis=axis)
    q = QuantTensor(np.arange(36).reshape(shape), t)
    assert_moves(lambda x: np.diagonal(x, offset), q, follows=True)
    assert_moves(lambda x: np.diagonal(x, offset, 2, 1), q, follows=True)


def test_channels_of_lines_that_are_tiled_no_times_stay() -> None:
    q = QuantTensor([[1, 2, 3], [4, 5, 6]], PER_AXIS)
    assert (np.tile(q, (1, 0)).type, np.tile(q, (1, 0)).shape) == (PER_AXIS, (2, 0))
    assert np.tile(q, (2, 0)).type.scales == (0.5, 1.0) * 2


def test_errors_stay_short_for_many_channels() -> None:
    t = UniformType("i8", "f32", np.linspace(1, 2, 500), axis=0)
    q = QuantTensor(np.zeros((500, 2), int), t)
    for call in (np.ravel, lambda q: np.stack([q, q.T]), lambda q: q[500], lambda q: np.take(q, 0, out=q)):
        with pytest.raises(qrt.QuantError) as caught:
            call(q)
        assert len(str(caught.value)) < 1000


def test_numpys_errors_are_of_numpys_classes() -> None:
    q = QuantTensor([1, 2, 3], LAYER)
    for call, kind in (
        (lambda: np.take(q, 5), IndexError),
        (lambda: np.swapaxes(q, 0, 1), np.exceptions.AxisError),
        (lambda: np.split(q, 2), ValueError),
        (lambda: np.broadcast_to(q, (2, 2)), ValueError),
        (lambda: q.reshape(2, 2), ValueError),
        (lambda: q.transpose(1), ValueError),
        (lambda: q[3], IndexError),
        (lambda: q.repeat([1, 2]), ValueError),
    ):
        with pytest.raises(kind) as caught:
            call()
        assert isinstance(caught.value, QuantTypeError)


@pytest.mark.parametrize("t", [LAYER, LAYER.with_(storage="u4")])
def test_views_where_numpy_makes_them(t: UniformType) -> None:
    q = QuantTensor(np.arange(6).reshape(2, 3), t)
    for view in (
        lambda q: np.swapaxes(q, 0, 1), np.ravel, np.flip, np.diagonal, np.squeeze, np.atleast_3d, np.rot90,
        lambda q: np.broadcast_to(q, (2, 2, 3)), lambda q: np.split(q, 3, 1)[2], lambda q: np.expand_dims(q, 0),
        lambda q: np.reshape(q, 6), lambda q: np.lib.stride_tricks.sliding_window_view(q, 2, 1),
    ):  # fmt: skip
        assert np.shares_memory(view(q), q) == (t is LAYER)
    for copied in (np.copy(q), q.flatten(), np.take(q, [0, 1], 0), np.roll(q, 1), q[[0, 1]], q.reshape(6, copy=True)):
        assert not np.shares_memory(copied, q)
        copied[...] = 1.0
    with pytest.raises(ValueError, match="without a copy"):
        q.T.reshape(6, copy=False)


def test_a_channel_that_is_squeezed_out_stays_a_view() -> None:
    """Also where no axis is left, and an index of integers would copy the element."""
    q = QuantTensor(np.int8([[4]]), UniformType("i8", "f32", [0.5], axis=0))
    view = np.squeeze(q)
    assert view.type.is_per_layer
    view[...] = 1.0
    assert q.storage.tolist() == [[2]]


@pytest.mark.parametrize("name", ["layer", "channels"])
def test_the_operand_may_be_given_by_name(name: str) -> None:
    t = {"layer": UniformType("i8", "f32", 0.5), "channels": UniformType("i8", "f32", [0.5, 1.0], axis=1)}[name]
    q = QuantTensor(np.int8([[1, 2], [3, 4]]), t)
    assert np.flip(m=q, axis=1).equals(np.flip(q, 1))
    assert np.tile(A=q, reps=(2, 1)).equals(np.tile(q, (2, 1)))
    assert np.roll(a=q, shift=1, axis=0).equals(np.roll(q, 1, 0))


@pytest.mark.parametrize("count", [0, 0.0, False, -1])
def test_parts_of_no_count_are_refused(count: Any) -> None:
    q = QuantTensor(np.int8([1, 2]), UniformType("i8", "f32", 0.5))
    for split in (np.split, np.array_split):
        with pytest.raises(QuantTypeError):
            split(q, count)
