"""QuantTensor: packing, views that keep their channels, NumPy's protocols, and refusals at construction."""

import copy
import pickle
import re
import warnings
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from tests.ops.strategies import generators, maybe_per_axis, shapes, storage_of, uniform_types

I8 = UniformType("i8", "f32", 0.5, 3)
U4 = UniformType("u4", "f32", 0.5)
PER_AXIS = UniformType("i8", "f32", [0.5, 1.0, 2.0], [0, 1, 2], axis=1)
PER_AXIS_4 = UniformType("i4", "f32", [0.5, 1.0, 2.0], [0, 1, 2], axis=1)
BLOCKS = UniformType("i4", "f32", [[0.5], [1.0]], block_sizes={0: 2})


def drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...], **more: Any) -> QuantTensor:
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    t = data.draw(maybe_per_axis(shape[axis] if shape else 0, axis, **more))
    return QuantTensor(storage_of(t, shape, rng), t)


# ------------------------------------------------------------------------------------------------------------- storage


@pytest.mark.parametrize(
    ("storage", "values", "expected"),
    [
        ("u4", [[1, 2, 3], [15, 0, 7]], [[0x21, 0x03], [0x0F, 0x07]]),
        ("i4", [[-1, 1], [-8, 7]], [[0x1F], [0x78]]),
        ("u2", [[0, 1, 2, 3, 1]], [[0b11100100, 0b01]]),
        ("i2", [[-2, -1, 0, 1]], [[0b01001110]]),
        ("u1", [[1, 0, 1, 0, 0, 0, 0, 1, 1]], [[0b10000101, 1]]),
        ("i1", [[-1, 0, -1]], [[0b101]]),
        ("u4", 9, [9]),
        ("u3", [7, 1], [7, 1]),
        ("i12", [-2, 1], [0xFE, 0xFF, 1, 0]),
        ("u32", [2**32 - 2], [0xFE, 0xFF, 0xFF, 0xFF]),
    ],
)
def test_packed_bytes(storage: str, values: Any, expected: list[Any]) -> None:
    """Widths 1, 2, 4: low element first, each row padded to a byte; others little-endian in the next integer."""
    q = QuantTensor(values, UniformType(storage, "f32", 1.0))
    assert q.packed.tolist() == expected
    assert q.packed.dtype == np.uint8
    assert q.storage.tolist() == values
    assert q.nbytes == np.size(expected)


@given(st.data(), generators(), st.integers(0, 3).flatmap(lambda rank: shapes(rank, 18)))
def test_packing_round_trip(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """All widths, on every ISA; rows whose last byte is partly filled; empty tensors."""
    t = data.draw(uniform_types())
    values = storage_of(t, shape, rng)
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            q = QuantTensor(values, t)
            np.testing.assert_array_equal(q.storage, values)
    bits = {1: 1, 2: 2, 4: 4}.get(t.storage_width, 8 * values.itemsize)
    rows, columns = int(np.prod(shape[:-1])), shape[-1] if shape else 1
    assert q.nbytes == rows * -(-columns * bits // 8)
    assert (q.shape, q.ndim, q.size) == (shape, len(shape), values.size)
    assert q.storage.dtype == values.dtype


@pytest.mark.parametrize("t", [I8, U4])
def test_storage_is_read_only(t: UniformType) -> None:
    q = QuantTensor([[1, 2], [3, 4]], t)
    for view in (q.storage, q.packed):
        with pytest.raises(ValueError, match="read-only"):
            view[0, 0] = 9
    assert np.shares_memory(q.storage, q._data) == (t is I8)


def test_storage_is_copied_from_its_source() -> None:
    source = np.array([1, 2, 3], np.int8)
    q = QuantTensor(source, I8)
    source[:] = 0
    assert q.storage.tolist() == [1, 2, 3]


@pytest.mark.parametrize(
    "source",
    [
        np.arange(24, dtype=np.int64).reshape(4, 6)[::2, ::-1],
        np.arange(12, dtype=">i2").reshape(2, 6),
        np.asfortranarray(np.arange(12, dtype=np.uint8).reshape(2, 6)),
        np.broadcast_to(np.int8(3), (2, 6)),
        np.zeros((0, 6), np.int32),
        np.zeros((2, 0), np.uint64),
    ],
    ids=["strided", "big-endian", "fortran", "broadcast", "empty", "no columns"],
)
@pytest.mark.parametrize("t", [I8, UniformType("u5", "f32", 1.0), UniformType("i32", "f32", 1.0)])
def test_arrays_of_any_layout(source: np.ndarray, t: UniformType) -> None:
    """Storage is in C order, and begins at a cache line, where kernels read whole lines of it as they are."""
    q = QuantTensor(source, t)
    assert q.storage.tolist() == source.tolist()
    assert q.storage.flags.c_contiguous
    assert source.size == 0 or q.storage.ctypes.data % 64 == 0
    assert qrt.dcast(q).shape == source.shape
    assert qrt.clamp(q, 0.0).shape == source.shape


def test_scales_and_zero_points_have_the_shape_of_the_parameters() -> None:
    assert QuantTensor([1], I8).scales.shape == ()
    q = QuantTensor(np.zeros((2, 3), int), PER_AXIS)
    assert (q.scales.tolist(), q.zero_points.tolist()) == ([0.5, 1.0, 2.0], [0, 1, 2])
    assert QuantTensor(np.zeros((4, 5), int), BLOCKS).scales.tolist() == [[0.5], [1.0]]
    assert str(q.tensor_type) == f"tensor<2x3x{PER_AXIS}>"


@pytest.mark.parametrize(
    ("values", "t", "message"),
    [
        ([128], I8, "storage values must be in [-128, 127], the storage bounds of"),
        ([-129], I8, "storage values must be in [-128, 127], the storage bounds of"),
        ([16], U4, "storage values must be in [0, 15], the storage bounds of"),
        (
            [2],
            UniformType("i8", "f32", 1.0, storage_min=-1, storage_max=1),
            "storage values must be in [-1, 1], the storage bounds of",
        ),
        (np.uint64([2**63]), I8, "storage values must be in [-128, 127], the storage bounds of"),
        ([2**70], I8, "'storage' must be integers, got dtype object"),
        ([1.0], I8, "'storage' must be integers, got dtype float64: qrt.quantize(storage, type) quantizes floats"),
        ([True], I8, "'storage' must be integers, got dtype bool"),
        ([1j], I8, "'storage' must be integers, got dtype complex128"),
        (["1"], I8, "'storage' must be integers, got dtype <U1"),
        ([None], I8, "'storage' must be integers, got dtype object"),
        (
            [[1, 2], [3]],
            I8,
            "nested sequences of one level must have the same length to form an array, got different lengths",
        ),
        ([[1, 2]], PER_AXIS, "quantized dimension size does not match number of scales: dimension 1 has size"),
        ([1, 2, 3], PER_AXIS, "axis 1, rank 1"),
        (5, PER_AXIS, "axis 1, rank 0"),
        (np.zeros((3, 2), int), BLOCKS, "size 3 at axis 0 must be divisible by the corresponding block size 2"),
        (np.zeros((6, 2), int), BLOCKS, "dimension size 2 of scales tensor at axis 0"),
        (np.zeros(4, int), BLOCKS, "rank of scales 2 must match the rank of the tensor 1"),
        (
            [1],
            UniformType("i8", "f32", 1.0, 128),
            "the type of a tensor must have zero points in [-128, 127], the range of its storage type i8, got 128 in",
        ),
        ([1], "i8", "must be a !quant.uniform type, got 'i8'"),
        ([1], qrt.parse_type("!quant.any<i8:f32>"), "must be a !quant.uniform type"),
    ],
)
def test_refuses_storage_that_does_not_fit(values: Any, t: Any, message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        QuantTensor(values, t)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf"), 1e-60])
def test_refuses_scales_that_are_none(scale: float) -> None:
    with pytest.raises(QuantTypeError, match=r"scale .* out of expressed type range"):
        UniformType("i8", "f32", scale)


# --------------------------------------------------------------------------------------------------------------- views


@given(st.data(), generators(), st.integers(1, 3).flatmap(lambda rank: shapes(rank, 6)))
def test_indexing_commutes_with_dequantizing(
    data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    """Packed or not, per axis or not: channels follow, and integers everywhere give rank 0."""
    q = drawn(data, rng, shape)
    items: list[Any] = []
    for size in shape:
        start = data.draw(st.integers(-size - 1, size))
        item: Any = slice(start, None, data.draw(st.sampled_from([1, 2, -1])))
        items.append(data.draw(st.integers(-size, size - 1)) if size and data.draw(st.booleans()) else item)
    key = tuple(items[: data.draw(st.integers(0, len(items)))])
    try:
        view = q[key]
    except QuantTypeError as error:
        assert "at least one channel of" in str(error)  # noqa: PT017 - a slice may be empty
        return
    np.testing.assert_array_equal(np.asarray(view), np.asarray(q)[key])
    assert view.shape == np.asarray(q)[key].shape


@given(st.data(), generators(), st.integers(0, 4).flatmap(lambda rank: shapes(rank, 5)))
def test_transposing_commutes_with_dequantizing(
    data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]
) -> None:
    q = drawn(data, rng, shape)
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    np.testing.assert_array_equal(np.asarray(q.transpose(order)), np.asarray(q).transpose(order))
    np.testing.assert_array_equal(np.asarray(q.transpose(*order)), np.asarray(q).transpose(order))
    assert q.transpose(order).shape == np.asarray(q).transpose(order).shape
    assert q.equals(q.T.T)


@pytest.mark.parametrize("t", [PER_AXIS, PER_AXIS_4])
def test_reshaping_keeps_channels(t: UniformType) -> None:
    q = QuantTensor(np.arange(12).reshape(2, 3, 2) % 8, t)
    for shape in ((1, 2, 3, 2), (2, 3, 1, 2), (-1, 3, 2)):
        np.testing.assert_array_equal(np.asarray(q.reshape(shape)), np.asarray(q).reshape(shape))
        np.testing.assert_array_equal(np.asarray(q.reshape(*shape)), np.asarray(q).reshape(shape))
    assert q.reshape(1, 2, 3, 2).type.axis == 2
    with pytest.raises(QuantTypeError, match="the result must keep the channel axis of"):
        q.reshape(12)


def test_views_share_memory_unless_packed() -> None:
    q = QuantTensor(np.arange(12).reshape(2, 6), I8)
    for view in (q[1], q[:, ::2], q.T, q.reshape(3, 4), q[..., None]):
        assert np.shares_memory(view.storage, q.storage)


@pytest.mark.parametrize("t", [I8, U4])
def test_bad_views(t: UniformType) -> None:
    q = QuantTensor(np.arange(6).reshape(2, 3), t)
    for shape in ((4,), (-1, 4), (-1, -1)):
        with pytest.raises(
            QuantTypeError, match=r"reshape: the result must have as many elements as tensor<2x3x.*, got the shape \("
        ):
            q.reshape(shape)
    for wrong in (2.5, ("a",)):
        with pytest.raises(QuantTypeError, match="reshape: the shape must be"):
            q.reshape(wrong)
    for axes in ((0, 0), (0,), (0, 2), (0, -3)):
        with pytest.raises(QuantTypeError, match="must have each of the 2 axes once"):
            q.transpose(axes)
    for key in (2, -3, (0, 3)):
        with pytest.raises(IndexError):
            q[key]
    for bad in (1.5, "a", np.array([0.5]), q):
        with pytest.raises(IndexError):
            q[bad]


def test_iteration_and_len() -> None:
    q = QuantTensor([[1, 2, 3], [4, 5, 6]], PER_AXIS)
    assert len(q) == 2
    assert [row.storage.tolist() for row in q] == [[1, 2, 3], [4, 5, 6]]
    assert [row.type.axis for row in q] == [0, 0]
    with pytest.raises(TypeError, match="rank 0"):
        len(q[0, 0])


def test_rank_0() -> None:
    for t in (I8, U4):
        q = QuantTensor(5, t)
        assert (q.shape, q.size, np.asarray(q).shape) == ((), 1, ())
        assert q.reshape(1, 1).shape == (1, 1)
        assert q.equals(q.T)
        assert q[...].equals(q)
        assert pickle.loads(pickle.dumps(q)).equals(q)
        assert qrt.relu(q).shape == ()
        assert (q + q).shape == ()


# ------------------------------------------------------------------------------------------- copies, equality, printing


@given(st.data(), generators(), st.integers(0, 3).flatmap(lambda rank: shapes(rank, 5)))
def test_copies(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    q = drawn(data, rng, shape)
    q = q.transpose() if data.draw(st.booleans()) else q
    for made in (q.copy(), copy.copy(q), copy.deepcopy(q), pickle.loads(pickle.dumps(q))):
        assert made.equals(q)
        assert made.shape == q.shape
        assert not np.shares_memory(made._data, q._data)
        np.testing.assert_array_equal(np.asarray(made), np.asarray(q))


def test_a_copy_is_independent() -> None:
    q = QuantTensor([1, 2, 3], I8)
    made = q.copy()
    qrt.clamp(q, 0.0, 0.0, out=q)
    assert (q.storage.tolist(), made.storage.tolist()) == ([3, 3, 3], [1, 2, 3])


def test_equality_is_of_type_shape_and_storage() -> None:
    q = QuantTensor([1, 2], I8)
    assert q.equals(QuantTensor([1, 2], I8))
    assert not q.equals(QuantTensor([1, 3], I8))
    assert not q.equals(QuantTensor([[1, 2]], I8))
    assert not q.equals(QuantTensor([1, 2], I8.with_(scales=1.0)))
    assert not q.equals("q")
    with pytest.raises(TypeError, match="unhashable"):
        hash(q)


@pytest.mark.parametrize("expressed", ["f16", "bf16", "f64", "f8E4M3FN", "f4E2M1FN", "tf32"])
def test_repr_shows_values_and_type(expressed: str) -> None:
    q = QuantTensor([3, 4], UniformType("i8", expressed, 0.5, 3))
    assert re.fullmatch(rf"QuantTensor\(\[0(\. ?)?, 0\.5\], type=!quant\.uniform<i8:{expressed}, .*>\)", repr(q))


def test_repr_of_large_and_of_unexecutable_tensors() -> None:
    assert len(repr(QuantTensor(np.zeros(10**6, int), I8))) < 300
    text = repr(QuantTensor([3, 4], UniformType("i8", "f80", 0.5)))
    assert text.startswith("QuantTensor(storage=[3, 4], type=!quant.uniform<i8:f80,")


# ------------------------------------------------------------------------------------------------------ NumPy protocols


def test_asarray_is_the_dequantized_array() -> None:
    q = QuantTensor([[3, 4, 5]], I8)
    assert np.asarray(q).dtype == np.float32
    assert np.asarray(q).tolist() == [[0.0, 0.5, 1.0]]
    assert np.asarray(q, dtype=np.float64).dtype == np.float64
    assert np.array(q, copy=True).tolist() == [[0.0, 0.5, 1.0]]
    with pytest.raises(ValueError, match="without a copy"):
        np.asarray(q, copy=False)
    assert q.dequantize().tolist() == np.asarray(q).tolist()


def test_operators_and_ufuncs_are_the_functions() -> None:
    a, b = QuantTensor([[1, 2], [3, 4]], I8), QuantTensor([[5, 6], [7, 8]], I8)
    for operator, ufunc, function in (
        (a + b, np.add(a, b), qrt.add(a, b)),
        (a - b, np.subtract(a, b), qrt.sub(a, b)),
        (a * b, np.multiply(a, b), qrt.mul(a, b)),
        (a @ b, np.matmul(a, b), qrt.matmul(a, b)),
    ):
        assert isinstance(operator, QuantTensor)
        assert operator.equals(ufunc)
        assert operator.equals(function)


def test_ufunc_out() -> None:
    a = QuantTensor([[1, 2], [3, 4]], I8)
    out = QuantTensor(np.zeros((2, 2), int), I8)
    assert np.add(a, a, out=out) is out
    np.testing.assert_array_equal(np.asarray(out), 2 * np.asarray(a))
    with pytest.raises(
        QuantTypeError,
        match=r"'out' must be a QuantTensor, got an ndarray of shape \(2, 2\): give a tensor of the "
        r"result's type and shape, or omit out=\.\.\.",
    ):
        np.add(a, a, out=np.zeros((2, 2)))


@pytest.mark.parametrize(
    "expression",
    [
        lambda q: q + 1,
        lambda q: 1 + q,
        lambda q: q * np.ones((2, 2)),
        lambda q: np.ones((2, 2)) @ q,
        lambda q: np.exp(q),
        lambda q: np.add(q, q, where=False),
        lambda q: q / q,
    ],
)
def test_what_is_not_defined_is_a_type_error(expression: Any) -> None:
    """Never a silent detour through floats."""
    with pytest.raises(TypeError):
        expression(QuantTensor([[1, 2], [3, 4]], I8))


def test_numpy_functions() -> None:
    q = QuantTensor([[1, 2, 3], [4, 5, 6]], PER_AXIS)
    joined = np.concatenate([q, q])
    assert isinstance(joined, QuantTensor)
    assert joined.storage.tolist() == [[1, 2, 3], [4, 5, 6]] * 2
    assert np.concatenate([q, q], axis=1).type.scales == PER_AXIS.scales * 2
    out = QuantTensor(np.zeros((4, 3), int), PER_AXIS)
    assert np.concatenate([q, q], out=out) is out
    assert out.equals(joined)
    assert np.transpose(q).equals(q.T)
    assert np.reshape(q, (1, 2, 3)).equals(q.reshape(1, 2, 3))
    assert np.shape(q) == (2, 3)
    assert np.array_equal(q, q.copy())
    assert not np.array_equal(q, q[:1])
    with pytest.raises(
        QuantTypeError,
        match=r"np\.concatenate: operand 1 must be a QuantTensor, got an ndarray of "
        r"shape \(2, 3\)",
    ):
        np.concatenate([q, np.zeros((2, 3))])


def test_nothing_warns() -> None:
    """Values beyond the formats are rules, not accidents."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        f16 = UniformType("i32", "f16", 100.0)
        assert np.isinf(np.asarray(QuantTensor([2**31 - 1], f16))).all()
        assert qrt.quantize([1e300, -1e300, np.nan], I8).storage.tolist() == [127, -128, 3]
