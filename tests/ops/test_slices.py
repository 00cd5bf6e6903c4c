"""slice and tile, on every kernel. Hazards: elements taken backwards, the last of a stride that does not divide, empty
slices at the very end, the parameters of channels that are taken or repeated."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.ops.core import parameters_of
from qrt.types import FloatType, IntegerType, TensorType, Type, UniformType
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import generators, maybe_per_axis, shapes, storage_of
from tests.ops.test_movement import T, blocked, channels

F32 = FloatType("f32")


def scales_of(t: Type, shape: tuple[int, ...]) -> np.ndarray:
    assert isinstance(t, UniformType)
    return np.broadcast_to(parameters_of(t, shape)[0], shape)


@given(st.data(), generators(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 6)))
def test_slice_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """As NumPy slices, values and scales alike."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    t = data.draw(maybe_per_axis(shape[axis], axis))
    x, steps = storage_of(t, shape, rng), []
    for n in shape:
        stride = data.draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
        first = data.draw(st.integers(0, n - 1)) if n else 0
        most = len(range(first, n if stride > 0 else -1, stride)) if n else 0
        steps.append((first, data.draw(st.one_of(st.just(most), st.integers(0, most))), stride))
    keys = tuple(np.arange(size) * stride + first for first, size, stride in steps)
    offsets, sizes, strides = zip(*steps, strict=True)
    given = {"offsets": offsets, "sizes": sizes, "strides": strides}
    got = check_kernels("slice", [x], [tensor(shape, t)], **given)
    np.testing.assert_array_equal(got, x[np.ix_(*keys)])
    element = infer("slice", [tensor(shape, t)], **given).element
    if got.size:
        np.testing.assert_array_equal(scales_of(element, got.shape), scales_of(t, shape)[np.ix_(*keys)])


@pytest.mark.parametrize(
    ("step", "key"),
    [
        ((0, -1, 1), slice(None)),
        ((2, -1, 1), slice(2, None)),
        ((7, -1, 1), slice(7, None)),
        ((1, -1, 3), slice(1, None, 3)),
        ((6, -1, -1), slice(None, None, -1)),
        ((5, -1, -2), slice(5, None, -2)),
        ((0, -1, -4), slice(0, None, -4)),
    ],
)
def test_a_size_of_minus_1_takes_all(step: tuple[int, int, int], key: slice) -> None:
    x = storage_of(T, (7,), np.random.default_rng(1))
    given = dict(zip(("offsets", "sizes", "strides"), ((n,) for n in step), strict=True))
    np.testing.assert_array_equal(check_kernels("slice", [x], [tensor((7,), T)], **given), x[key])


def test_sizes_that_are_not_known_stay_open() -> None:
    x = tensor((None, 4), T)
    assert infer("slice", [x], offsets=(0, 1), sizes=(-1, 2)).shape == (None, 2)
    assert infer("slice", [x], offsets=(3, 0), sizes=(2, -1), strides=(2, 3)).shape == (2, 2)


@given(st.data(), generators(), st.integers(0, 3).flatmap(lambda rank: shapes(rank, 4)))
def test_tile_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    t = data.draw(maybe_per_axis(shape[axis] if shape else 0, axis))
    multiples = tuple(data.draw(st.integers(0, 3)) for _ in shape)
    x = storage_of(t, shape, rng)
    got = check_kernels("tile", [x], [tensor(shape, t)], multiples=multiples)
    np.testing.assert_array_equal(got, np.tile(x, multiples))
    element = infer("tile", [tensor(shape, t)], multiples=multiples).element
    if got.size:
        np.testing.assert_array_equal(scales_of(element, got.shape), np.tile(scales_of(t, shape), multiples))


@pytest.mark.parametrize("element", [IntegerType(1), IntegerType(64), F32, FloatType("f16")], ids=str)
def test_elements_of_any_type(element: Type) -> None:
    x = np.array([[1, 0, 1], [0, 0, 1]]).astype({"i1": bool, "i64": np.int64, "f32": np.float32, "f16": np.float16}[
        str(element)])  # fmt: skip
    types = [tensor((2, 3), element)]
    given = {"offsets": (0, 2), "sizes": (2, 3), "strides": (1, -1)}
    np.testing.assert_array_equal(check_kernels("slice", [x], types, **given), x[:, ::-1])
    np.testing.assert_array_equal(check_kernels("tile", [x], types, multiples=(2, 2)), np.tile(x, (2, 2)))


X = tensor((2, 3), T)
REFUSED: list[tuple[str, TensorType, Any, dict[str, Any], str]] = [
    ("slice", tensor(None, T), None, {}, "'x' must be a ranked tensor, got tensor<*x"),
    ("slice", X, None, {"offsets": (0,)}, "'offsets' must have 2 integers, one for each axis, got (0,)"),
    ("slice", X, None, {"sizes": (1, 1.5)}, "'sizes' must have 2 integers, one for each axis, got (1, 1.5)"),
    ("slice", X, None, {"strides": (1, 0)}, "'strides' must not be 0 along an axis, got 0 along axis 1"),
    ("slice", X, None, {"sizes": (1, -2)}, "'sizes' must be -1 or more, got -2 along axis 1"),
    (
        "slice",
        X,
        None,
        {"sizes": (1, 4)},
        "the slice must be within axis 1, of size 3, got elements 0 to 3",
    ),
    (
        "slice",
        X,
        None,
        {"offsets": (0, -1), "sizes": (1, 1)},
        "the slice must be within axis 1, of size 3, got elements -1 to -1",
    ),
    (
        "slice",
        X,
        None,
        {"offsets": (0, 1), "sizes": (1, 3), "strides": (1, -1)},
        "the slice must be within axis 1, of size 3, got elements 1 to -1",
    ),
    (
        "slice",
        tensor((None, 3), T),
        None,
        {"strides": (-1, 1)},
        "'x' must have a static size along axis 0 for the stride -1, got tensor<?x3x",
    ),
    ("slice", X, T.with_(scales=1.0), {}, "the result must have the type of the operand"),
    (
        "slice",
        tensor((2, 4), blocked((2, 4), {1: 2})),
        None,
        {},
        "'x' must have a type per layer or per axis, got the sub-channel type",
    ),
    ("tile", X, None, {}, "'multiples' must have 2 integers, one for each axis, got None"),
    ("tile", X, None, {"multiples": (1, -1)}, "'multiples' must be non-negative integers, got (1, -1)"),
    (
        "tile",
        tensor((None, 3), channels(T, 3, 1)),
        None,
        {"multiples": (1, 1 << 32)},
        "the result must have at most 16777216 channels with scales of their own, got 12884901888: requantize to a "
        "per-layer type first",
    ),
]


@pytest.mark.parametrize(("op", "x", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, [x], out, **attributes)
    assert str(raised.value).startswith(op)


def test_no_channel_leaves_one_type() -> None:
    t = channels(T, 3, 1)
    assert infer("slice", [tensor((2, 3), t)], sizes=(2, 0)).element == T.with_(zero_points=0)


@pytest.mark.parametrize(
    ("attributes", "first"),
    [
        ({"offsets": (1, 0, 0), "sizes": (1, -1, -1)}, 12),
        ({"offsets": (0, 0, 0), "sizes": (2, 3, 4)}, 0),
        ({"offsets": (1, 1, 0), "sizes": (1, 2, 4)}, 16),
        ({"offsets": (1, 2, 1), "sizes": (1, 1, 2)}, 21),
        ({"offsets": (1, 2, 3), "sizes": (1, 1, 1), "strides": (-1, 2, -1)}, 23),
        ({"offsets": (0, 0, 0), "sizes": (2, 2, 4)}, None),
        ({"offsets": (0, 0, 0), "sizes": (1, 1, 2), "strides": (1, 1, 2)}, None),
        ({"offsets": (0, 0, 3), "sizes": (1, 1, 2), "strides": (1, 1, -1)}, None),
        ({"offsets": (0, 0, 0), "sizes": (0, 3, 4)}, None),
    ],
)
def test_what_lies_side_by_side_is_a_view(attributes: dict[str, Any], first: int | None) -> None:
    family, x = FAMILIES["slice"], tensor((2, 3, 4), T)
    result = infer("slice", [x], **attributes)
    assert family.view_offset((x,), result, family.complete(attributes)) == first
    if first is not None:
        whole = np.arange(24, dtype=np.int8)
        expected, _ = reference("slice", [whole.reshape(2, 3, 4)], [x], **attributes)
        np.testing.assert_array_equal(whole[first : first + expected.size], expected.ravel())
