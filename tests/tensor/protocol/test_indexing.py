"""Indexing and assignment, as NumPy's on exact rationals. Hazards: a channel at another's element, an assignment that a
copy swallows, one that changes what may not change."""

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.tensor.protocol.exact import assert_moves, exact, tensors

T = UniformType("i8", "f32", 0.5, 3)
PER_AXIS = UniformType("i8", "f32", [0.5, 1.0, 2.0], [0, 1, 2], axis=1)
BLOCKS = UniformType("i8", "f32", [[0.5, 1.0]], [[0, 1]], block_sizes={0: 2, 1: 2})
BITS = UniformType("u4", "f32", 0.5)
ALL_TYPES = pytest.mark.parametrize("t", [T, BITS, PER_AXIS, PER_AXIS.with_(storage="i4")])


@st.composite
def keys(draw: st.DrawFn, shape: tuple[int, ...]) -> tuple[Any, ...]:
    """What NumPy takes as an index, and some that it refuses."""
    key: list[Any] = []
    axis = 0
    common = draw(st.sampled_from([(), (1,), (2,), (2, 1)]))
    while axis < len(shape) and draw(st.integers(0, 9)):
        size = shape[axis]
        kind = draw(st.sampled_from(["slice", "integer", "array", "list", "mask", "none", "masks"]))
        numbers = st.integers(-size, max(size - 1, 0))
        if kind == "none":
            key.append(None)
            continue
        if kind == "slice":
            key.append(slice(draw(numbers), None, draw(st.sampled_from([1, 2, -1]))))
        elif kind == "integer":
            key.append(draw(st.integers(-size, size)))
        elif kind == "array":
            drawn = draw(st.lists(numbers, min_size=math.prod(common), max_size=math.prod(common)))
            key.append(np.array(drawn, int).reshape(common))
        elif kind == "list":
            key.append(draw(st.lists(numbers, max_size=2)))
        else:
            several = shape[axis : axis + 2] if kind == "masks" else shape[axis : axis + 1]
            key.append(
                np.array(draw(st.lists(st.booleans(), min_size=64, max_size=64)))[: math.prod(several)].reshape(several)
            )
            axis += len(several) - 1
        axis += 1
    if draw(st.booleans()):
        key.insert(draw(st.integers(0, len(key))), ...)
    return tuple(key)


@given(st.data())
def test_indexing_is_numpys(data: st.DataObject) -> None:
    q = data.draw(tensors())
    key = data.draw(keys(q.shape))
    several = any(isinstance(item, np.ndarray) and item.dtype != bool and item.ndim > 1 for item in key)
    got = assert_moves(lambda x: x[key if len(key) != 1 else key[0]], q, follows=not several)
    if got is not None and got.ndim and q.type.storage_width > 4:
        assert np.shares_memory(got._data, q._data) == np.shares_memory(q.storage[key], q._data)


@given(st.data())
def test_assigned_numbers_are_quantized_where_they_stand(data: st.DataObject) -> None:
    q = data.draw(tensors())
    q, before = q.copy(), q.copy()
    key = data.draw(keys(q.shape))
    place = np.arange(q.size).reshape(q.shape)
    try:
        size = place[key].size
    except IndexError:
        with pytest.raises(IndexError):
            q[key] = 1.0
        return
    values = np.float32(data.draw(st.lists(st.floats(-200, 200, width=32), min_size=1, max_size=1)) * size)
    given = data.draw(st.sampled_from([2.5, [-7.3], values.reshape(place[key].shape)])) if np.ndim(place[key]) else 2.5
    floats = np.zeros(q.shape, np.float32)
    floats[key] = given
    q[key] = given
    written = np.isin(place, place[key])
    wanted = np.where(written, qrt.quantize(floats, q.type).storage, before.storage)
    assert q.storage.tolist() == wanted.tolist()


@given(st.data())
def test_what_is_selected_may_be_assigned_elsewhere(data: st.DataObject) -> None:
    """A tensor of the type that a selection has: from another tensor of the same type."""
    q = data.draw(tensors())
    target, key = qrt.quantize(np.zeros(q.shape), q.type), data.draw(keys(q.shape))
    try:
        part = q[key]
    except QuantTypeError:
        return
    target[key] = part
    expected = exact(qrt.quantize(np.zeros(q.shape), q.type))
    expected[key] = exact(q)[key]
    assert exact(target).tolist() == expected.tolist()


def test_a_view_of_a_tensor_is_written_through() -> None:
    q = QuantTensor(np.zeros((2, 3), int), PER_AXIS)
    q[1][:2] = [4, 5.0]
    q.T[2] = 2.0
    q[0, 0, ...][...] = 1.5
    np.split(q, 3, axis=1)[1][0] = 7
    assert q.storage.tolist() == [[3, 8, 3], [8, 6, 3]]


@pytest.mark.parametrize(
    "part",
    [
        lambda q: q[0], lambda q: q.T, lambda q: q[..., 0, 0], lambda q: q.reshape(6), np.ravel, np.diagonal,
        lambda q: np.split(q, 2)[0], np.flip, lambda q: np.broadcast_to(q, (2, 2, 3)), lambda q: np.unstack(q)[0],
    ],
)  # fmt: skip
def test_a_part_of_packed_bits_swallows_no_assignment(part: Any) -> None:
    """It is a copy: what was written there would be lost."""
    q = QuantTensor(np.arange(6).reshape(2, 3), BITS)
    with pytest.raises(ValueError, match="assignment destination is read-only"):
        part(q)[...] = 1.0
    with pytest.raises(QuantTypeError, match="read-only"):
        qrt.relu(part(q), out=part(q))
    own = part(q).copy()
    own[...] = 1.0
    assert own.storage.ravel().tolist() == [2] * own.size
    assert q.storage.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize("t", [T, BITS])
def test_what_is_read_only_refuses(t: UniformType) -> None:
    q = QuantTensor(np.arange(6).reshape(2, 3), t)
    for kept in (qrt.pack(q), np.broadcast_to(q, (4, 2, 3)), qrt.pack(q)[0]):
        for write in (
            lambda kept: kept.__setitem__(0, 1.0), lambda kept: kept.fill(1), lambda kept: np.put(kept, [0], 1),
            lambda kept: np.copyto(kept, 0), lambda kept: np.fill_diagonal(kept, 0),
            lambda kept: np.put_along_axis(kept, np.array([0]), 1, None),
        ):  # fmt: skip
            with pytest.raises(ValueError, match="read-only"):
                write(kept)
    assert q.storage.tolist() == [[0, 1, 2], [3, 4, 5]]


def test_a_packed_tensor_keeps_what_it_was_made_of() -> None:
    """Its kernels hold other forms of the storage."""
    t = UniformType("i8", "f32", 1.0)
    x, w = QuantTensor([[1, 2]], t), QuantTensor([[3], [4]], t)
    kept = qrt.pack(w)
    first = [(x @ kept).storage.item() for _ in range(3)]
    w[...] = 0.0
    assert first == [11] * 3
    assert (x @ kept).storage.item() == 11
    assert (x @ w).storage.item() == 0


@ALL_TYPES
def test_calls_read_what_was_assigned(t: UniformType) -> None:
    """A kept call holds no values of an operand."""
    q = QuantTensor(np.ones((2, 3), int), t)
    for i in range(6):
        q[...] = float(i % 3)
        want = qrt.quantize(np.full((2, 3), float(i % 3)), t)
        assert qrt.relu(q).storage.tolist() == qrt.relu(want).storage.tolist()


def test_only_the_type_that_is_selected_is_assigned() -> None:
    q = QuantTensor(np.zeros((2, 3), int), PER_AXIS)
    q[:, 1] = QuantTensor([5, 6], UniformType("i8", "f32", 1.0, 1))
    q[1] = QuantTensor([7, 8, 9], PER_AXIS.with_(axis=0))
    assert q.storage.tolist() == [[0, 5, 0], [7, 8, 9]]
    for key, value in (
        (..., QuantTensor(0, T)),
        ((slice(None), 1), QuantTensor([5, 6], T)),
        ((slice(None), [0, 1]), q[:, [1, 0]]),
        (0, q[0][::-1]),
    ):
        with pytest.raises(QuantTypeError, match=r"the tensors must have the same type.*qrt\.requantize"):
            q[key] = value
    assert q.storage.tolist() == [[0, 5, 0], [7, 8, 9]]


@pytest.mark.parametrize(
    ("key", "value", "error", "message"),
    [
        (5, 0, IndexError, "index 5 is out of bounds for axis 0 with size 2"),
        ((0, 0, 0), 0, IndexError, "too many indices"),
        (0, [1, 2], ValueError, "does not broadcast"),
        (0, QuantTensor([1, 2], T), ValueError, "does not broadcast"),
        (0, "a", QuantTypeError, "values must be real numbers"),
        (0, 1j, QuantTypeError, "values must be real numbers"),
        (
            0,
            [[1, 2], [3]],
            QuantTypeError,
            "nested sequences of one level must have the same length to form an array, got different lengths",
        ),
        (
            0,
            [QuantTensor(1, T)],
            QuantTypeError,
            r"expected numbers, got a sequence with a QuantTensor: join tensors by np\.stack",
        ),
        (slice("a"), 0, QuantTypeError, "slice indices must be integers"),
    ],
)
def test_a_wrong_assignment_is_numpys_error(key: Any, value: Any, error: type, message: str) -> None:
    q = QuantTensor(np.zeros((2, 3), int), T)
    with pytest.raises(error, match=message) as caught:
        q[key] = value
    assert isinstance(caught.value, qrt.QuantError)
    assert q.storage.tolist() == [[0] * 3] * 2


def test_masks_write_across_channels() -> None:
    q = QuantTensor([[1, 2, 3], [4, 5, 6]], PER_AXIS)
    q[q.storage > 2] = [1.0, 2.0, 3.0, 8.0]
    assert q.storage.tolist() == [[1, 2, 2], [4, 4, 6]]
    blocks = QuantTensor(np.zeros((2, 4), int), BLOCKS)
    blocks[:, 1:3] = 3.0
    assert blocks.storage.tolist() == [[0, 6, 4, 0]] * 2


ELEMENTS = [
    UniformType("i8", "f32", 0.5, 3), UniformType("u4", "f32", 0.5), UniformType("i32", "f32", 0.1),
    UniformType("i8", "f32", [0.1, 0.2, 0.3, 0.4], axis=0), UniformType("i8", "f16", [0.5, 0.5], block_sizes={0: 2}),
]  # fmt: skip


@pytest.mark.parametrize("t", ELEMENTS, ids=str)
def test_an_element_is_a_value_and_no_view(t: UniformType) -> None:
    """Hazard: an element that changes when its tensor does, so that a swap loses one of both."""
    q = QuantTensor([1, 2, 3, 4], t)
    first, last, listed = q[0], q[np.int64(-1)], list(q)
    kept = [np.asarray(x).item() for x in (first, last, *listed)]
    if not t.is_per_axis:
        q[0], q[3] = q[3], q[0]
        assert q.storage.tolist() == [4, 2, 3, 1]
    q[...] = 0
    assert [np.asarray(x).item() for x in (first, last, *listed)] == kept
    for x in (first, last, *listed):
        assert x.shape == ()
        assert x.type.is_per_layer


def test_elements_are_shuffled_and_sorted_as_those_of_lists() -> None:
    import random

    q = QuantTensor(np.arange(20).astype(np.int8), ELEMENTS[0])
    random.Random(3).shuffle(q)  # type: ignore[arg-type]
    assert sorted(q.storage.tolist()) == list(range(20))
    assert q.storage.tolist() != list(range(20))
    assert min(q) == np.min(q)
    assert [x.item() for x in sorted(q)] == np.sort(q).tolist()


def test_rows_and_an_index_with_dots_are_views() -> None:
    q = QuantTensor([[1, 2], [3, 4]], ELEMENTS[0])
    q[0][1] = 7.0
    q[1, 0, ...][...] = 5.0
    q[1, 1:][0] = 6.0
    assert np.asarray(q).tolist() == [[-1.0, 7.0], [5.0, 6.0]]
    scalar = QuantTensor(3, ELEMENTS[0])
    element = scalar[()]
    scalar[...] = 1.0
    assert element.item() == 0.0


def test_an_array_of_integers_is_refused_as_astype_refuses_it() -> None:
    q = QuantTensor([1, 2], ELEMENTS[0])
    for dtype in (np.int8, "uint16", np.int64, bool, int):
        with pytest.raises(
            QuantTypeError, match=r"'dtype' must represent the real values, got \w+: write q\.storage for the"
        ) as raised:
            np.asarray(q, dtype=dtype)
        with pytest.raises(QuantTypeError) as by_astype:
            q.astype(dtype)
        assert str(raised.value).endswith(str(by_astype.value).partition(": ")[2])
    assert np.asarray(q, dtype=np.float64).dtype == np.float64
    assert np.array(q, dtype="float16").dtype == np.float16
