"""Functions that move elements, on tensors of every kind of type, beside NumPy on exact rationals. Hazards: a channel
that does not follow its elements, packed bits, storage that a routine reads in another order, no elements at all."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, QuantTypeError, UniformType
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
FLAT = {"plain", "resize", "windows"}
"""Those that may put channels of different places along one axis."""
DRAWS["plain"] = lambda draw, q: draw(st.sampled_from(PLAIN))


@pytest.mark.parametrize("name", DRAWS)
@given(data=st.data())
def test_moves_as_numpy_moves_exact_values(name: str, data: st.DataObject) -> None:
    q = data.draw(tensors())
    assert_moves(DRAWS[name](data.draw, q), q, follows=name not in FLAT)
