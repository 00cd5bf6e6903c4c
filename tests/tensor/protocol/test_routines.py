"""NumPy's own routines on storage, and plans that are kept. Hazards: a routine that writes gives None, which is a
result; what it may not write to; a list that is no list of tensors of one type; sums that begin with zero points."""

import operator
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
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
    with pytest.raises(QuantTypeError, match="the same type"):
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


# ---------------------------------------------------------------------------------------- numbers in place of tensors

NUMBERS: list[Any] = [0, 1, -2.5, 0.7, 1e9, -(10**12), float("inf")]
WITH_NUMBERS: dict[str, Any] = {
    "append": lambda x, c: np.append(x, c),
    "insert": lambda x, c: np.insert(x, 1, c, 0),
    "where": lambda x, c: np.where(MASK, x, c),
    "where, number first": lambda x, c: np.where(MASK, c, x),
    "full_like": lambda x, c: np.full_like(x, c),
}


@pytest.mark.parametrize("c", NUMBERS)
def test_a_number_stands_for_the_tensor_that_it_is_quantized_to(c: Any) -> None:
    """Its integer is found by another way for each type, and may be that of an earlier number or type."""
    for t in (T, OTHER, PACKED, T):
        q, number = drawn(t, 3, 2), qrt.quantize(float(c), t)
        for call in WITH_NUMBERS.values():
            assert call(q, c).equals(call(q, number))
        for write in WRITES.values():
            if write is not WRITES["put_along_axis"] and write is not WRITES["fill_diagonal"]:
                by_number, by_tensor = q.copy(), q.copy()
                assert write(by_number, c) is None
                write(by_tensor, number)
                assert by_number.equals(by_tensor)
        by_number, by_tensor = q.copy(), q.copy()
        by_number[1:, 0], by_tensor[1:, 0] = c, number
        assert by_number.equals(by_tensor)


def test_what_is_no_number_and_what_may_not_be_written_stay_errors() -> None:
    q = drawn(T, 3, 2)
    before = q.copy()
    calls = *WITH_NUMBERS.values(), WRITES["copyto"], WRITES["put"], lambda x, c: x.__setitem__(0, c)
    for call in calls:
        for c in ("1", None, 1j, 10**30):
            with pytest.raises((QuantTypeError, ValueError)):
                call(q, c)
    for write in (*WRITES.values(), lambda x, c: x.__setitem__(0, c)):
        if write not in (WRITES["put_along_axis"], WRITES["fill_diagonal"]):
            with pytest.raises(ValueError, match="read-only"):
                write(qrt.pack(q), 1.0)
    with pytest.raises(IndexError):
        q[5] = 1.0
    with pytest.raises(IndexError):
        np.put(q, [99], 1.0)
    assert q.equals(before)


_OPERATORS: dict[Any, str] = {
    np.equal: "eq",
    np.not_equal: "ne",
    np.less: "lt",
    np.less_equal: "le",
    np.greater: "gt",
    np.greater_equal: "ge",
}


@pytest.mark.parametrize("c", [*NUMBERS, 10**400, float("nan"), 0.75, 62.0, -65.5])
def test_numbers_are_compared_exactly_behind_one_lookup(c: Any) -> None:
    for t in (T, OTHER, UniformType("u16", "f32", 0.5, 7)):
        q = QuantTensor(np.array([t.storage_min, 0, 3, 4, 5, t.storage_max]), t)
        exact = values(q)
        for compare in _OPERATORS:
            by_python = getattr(operator, _OPERATORS[compare])
            assert compare(q, c).tolist() == [by_python(x, c) for x in exact.tolist()]
            assert compare(q, c).dtype == bool
        assert isinstance(np.less(q[0], c), np.bool_)


# ----------------------------------------------------------------------------------------- whole sorting, views, signs


def test_partitions_refuse_a_place_that_is_none() -> None:
    q = drawn(T, 3, 4)
    assert np.partition(q, 1).equals(np.sort(q))
    assert np.partition(q, -4).equals(np.sort(q))
    assert np.argpartition(q, [1, 2]).tolist() == np.argsort(q).tolist()
    for place in (4, -5, "a"):
        for partition in (np.partition, np.argpartition):
            with pytest.raises((QuantTypeError, ValueError)):
                partition(q, place)
    with pytest.raises((QuantTypeError, ValueError)):
        np.partition(q[0, 0], 0)


def test_broadcast_tensors_may_be_read_alone() -> None:
    q, row = drawn(T, 3, 2), drawn(T, 2)
    for pair in ((q, q), (q, row), (row, q)):
        for view, wanted in zip(np.broadcast_arrays(*pair), np.broadcast_arrays(*map(values, pair)), strict=True):
            assert same(view, wanted)
            assert not view.storage.flags.writeable
            with pytest.raises(ValueError, match="read-only"):
                view[...] = 1.0
    q[...] = 1.0  # the operand stays writable


@pytest.mark.parametrize(
    "t", [T, UniformType("u8", "f32", 0.5, 100), UniformType("i8", "f32", 0.5, 0, None, None, -127, 127)]
)
def test_many_negatives_are_those_of_few(t: UniformType) -> None:
    q = QuantTensor(np.resize(np.arange(t.storage_min, t.storage_max + 1), 5000), t)
    assert np.negative(q)[:300].equals(np.negative(q[:300]))
    assert same(np.negative(q[:300]), -values(q[:300]))


def test_ranges_that_wrap_in_storage_are_exact() -> None:
    q = QuantTensor(np.array([[-128, 127], [127, -128], [0, 1]]), UniformType("i8", "f32", 0.5))
    assert np.ptp(q, axis=1).storage.tolist() == [255, 255, 1]
    assert np.ptp(q).storage.tolist() == 255
    wide = QuantTensor(
        np.array([[-(2**30), 2**30 - 1]]), UniformType("i32", "f32", 0.5, 0, None, None, -(2**30), 2**30 - 1)
    )
    assert np.ptp(wide, axis=1).storage.tolist() == [2**31 - 1]
