"""NumPy's own routines on storage, and plans that are kept. Hazards: a routine that writes gives None, which is a
result; what it may not write to; a list that is no list of tensors of one type; sums that begin with zero points."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, QuantTypeError, UniformType
from tests.tensor.protocol.rationals import same, values

T, OTHER = UniformType("i8", "f32", 0.5, 3), UniformType("i8", "f32", 0.25, 3)
PACKED, CHANNELS = UniformType("i4", "f32", 0.5, 3), UniformType("i8", "f32", [0.5, 2.0], [3, -5], axis=1)


def drawn(t: UniformType, *shape: int) -> QuantTensor:
    storage = np.random.default_rng(len(shape)).integers(t.storage_min, t.storage_max + 1, shape)
    return QuantTensor(storage, t)


MASK, PLACES = np.array([[True, False], [False, True], [True, True]]), np.array([[0], [2]])
WRITES: dict[str, Any] = {
    "copyto": lambda x, y: np.copyto(x, y),
    "put": lambda x, y: np.put(x, [4, 0, -1], y),
    "put of a mode": lambda x, y: np.put(x, np.array([7, -9]), y, mode="wrap"),
    "putmask": lambda x, y: np.putmask(x, MASK, y),
    "place": lambda x, y: np.place(x, MASK, y),
    "put_along_axis": lambda x, y: np.put_along_axis(x, PLACES, y[:2, :1], 0),
    "fill_diagonal": lambda x, y: np.fill_diagonal(x, y[0]),
}


@pytest.mark.parametrize("name", WRITES)
def test_what_writes_gives_none_and_writes_once(name: str) -> None:
    write = WRITES[name]
    for t in (T, PACKED, T):
        q, r = drawn(t, 3, 2), drawn(t, 3, 2)[::-1]
        wanted = values(q)
        write(wanted, values(r))
        assert write(q, r) is None
        assert same(q, wanted)


@pytest.mark.parametrize("name", WRITES)
def test_tensors_of_another_type_and_read_only_ones_are_not_written(name: str) -> None:
    write = WRITES[name]
    q = drawn(T, 3, 2)
    before = q.copy()
    with pytest.raises(QuantTypeError, match="one type"):
        write(q, drawn(OTHER, 3, 2))
    with pytest.raises(ValueError, match="read-only"):
        write(np.broadcast_to(q, (3, 2)), drawn(T, 3, 2))
    with pytest.raises(ValueError, match="read-only"):
        write(qrt.pack(q), drawn(T, 3, 2))
    assert q.equals(before)


def test_the_extremes_of_a_mask_are_taken_as_numpy_takes_them() -> None:
    q = drawn(T, 3, 2)
    x = values(q)
    for mask in (MASK, MASK.ravel()[:4], np.ones(6), [True, False, True]):
        assert same(np.extract(mask, q), np.extract(mask, x))
    for mask in ([True, False], np.array([True, False, True]), []):
        assert same(np.compress(mask, q, 0), np.compress(mask, x, 0))
    with pytest.raises(IndexError):
        np.compress([True, False, True], q, 1)
    with pytest.raises(IndexError):
        np.extract(np.ones(7, bool), q)


def test_blocks_are_nested_lists_of_tensors_of_one_type() -> None:
    q, r = drawn(T, 3, 2), drawn(T, 3, 2)
    x, y = values(q), values(r)
    for nested in (lambda a, b: [[a, b], [b, a]], lambda a, b: [a, b], lambda a, b: [[[a]], [[b]]], lambda a, b: a):
        assert same(np.block(nested(q, r)), np.block(nested(x, y)))
    assert same(np.block([[q[0, 0]], [q[0, 1]]]), np.block([[x[0, 0]], [x[0, 1]]]))
    wide = np.block([[drawn(CHANNELS, 3, 2)], [drawn(CHANNELS, 3, 2)]])
    assert wide.shape == (6, 2)
    wrong: list[Any] = [[[q], r], [q, drawn(OTHER, 3, 2)], [[q], []], [q, 1.0], [[q], (r,)], [[q, r], [q]]]
    for each in wrong:
        with pytest.raises(QuantTypeError):
            np.block(each)


@pytest.mark.parametrize("axis", [None, -1, 0, 2])
def test_sorting_along_an_axis_that_there_is_not(axis: Any) -> None:
    q = drawn(T, 3, 2)
    if axis == 2:
        for sort in (np.sort, np.argsort):
            with pytest.raises(np.exceptions.AxisError):
                sort(q, axis)
        return
    assert np.array_equal(np.argsort(q, axis), np.argsort(q.storage, axis, kind="stable"))
    found = np.sort(q, axis)
    assert np.array_equal(found.storage, np.sort(q.storage, axis))
    found[...] = 0  # new memory
    with pytest.raises(ValueError, match="axis"):
        np.sort(q[0, 0])


@pytest.mark.parametrize("count", [1, 7, 4095, 4096, 65537])
def test_a_row_by_a_column(count: int) -> None:
    """Many elements are multiplied one by one: also where axes of size 1 are kept, and results are as few."""
    for t, u in ((T, T), (T, UniformType("u8", "f32", 0.5, 200))):
        a, b = drawn(t, count), drawn(u, count)
        wanted = int(((a.storage.astype(int) - 3) * (b.storage.astype(int) - u.zero_points[0])).sum())
        for found in (np.vdot(a, b), np.dot(a, b), np.inner(a, b[None]), np.dot(a[None], b[:, None])):
            assert found.storage.ravel().tolist() == [wanted]
        assert np.dot(a[None], b[:, None]).shape == (1, 1)
        assert np.einsum("ij,kj->ik", a[None], b[None]).shape == (1, 1)
        assert np.vecdot(a[None], b[None]).shape == (1,)
        assert np.vecdot(a, b).shape == ()


@pytest.mark.parametrize("count", [2048, 2049])
def test_many_elements_are_computed_and_few_looked_up(count: int) -> None:
    """The type of the result is one."""
    for t in (T, UniformType("u8", "f32", 0.5, 255), UniformType("i5", "bf16", 0.5, -16), PACKED, CHANNELS):
        q = drawn(t, count, 2)
        x = q.storage.astype(int) - np.array(t.zero_points)
        for function in (np.square, np.negative):
            found = function(q)
            assert found.type is function(q[:3]).type
            assert np.array_equal(found.storage - np.array(found.type.zero_points), function(x))


@pytest.mark.parametrize("storage", ["u32", "i32"])
def test_a_sum_of_zero_points_may_wrap(storage: str) -> None:
    """In int32, where both the storage and the zero points are far from 0 and the values are not."""
    end = (1 << 32) - 1 if storage == "u32" else -(1 << 31) + 90
    t = UniformType(storage, "f32", 0.5, end - 6, storage_min=end - 90, storage_max=end)
    for shape in ((5,), (4, 3), (0, 2)):
        q = drawn(t, *shape)
        for axis in (None, 0, -1):
            for keepdims in (False, True):
                wanted = (q.storage.astype(int) - (end - 6)).sum(axis, keepdims=keepdims)
                assert np.sum(q, axis, keepdims=keepdims).storage.tolist() == wanted.tolist()


def test_triangles_of_one_shape_are_told_apart() -> None:
    for t in (T, OTHER, PACKED):
        for shape in ((3, 4), (2, 4, 3), (0, 3), (1, 1)):
            q = drawn(t, *shape)
            for k in (0, -1, 2, np.int8(1)):
                assert same(np.tril(q, k), np.tril(values(q), k))
                assert same(np.triu(q, k), np.triu(values(q), k))


@pytest.mark.parametrize(
    "text", ["~q", "q & q", "1 & q", "q | 1", "1 | q", "q ^ q", "1 ^ q", "q << 1", "1 << q", "q >> 1", "1 >> q"]
)
def test_operators_of_integers_say_that_storage_has_these(text: str) -> None:
    """Python's own words would name no way out."""
    with pytest.raises(QuantTypeError, match=r"write np\.\w+\((1, )?q\.storage"):
        eval(text, {"q": drawn(T, 2)})
