"""gather and gather_nd, on every kernel. Hazards: batches that go with their indices, indices beyond an axis or below
0, rows of no element, channels behind the axes that are named."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import KernelError, QuantTypeError, UndefinedError
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, TensorType, UniformType
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import generators, shapes, storage_of, uniform_types
from tests.ops.test_movement import T, channels

I32, I64 = IntegerType(32), IntegerType(64)


def indices_of(rng: np.random.Generator, limit: int, shape: tuple[int, ...], element: IntegerType) -> np.ndarray:
    return rng.integers(0, max(limit, 1), shape if limit else (0,) * len(shape), f"i{element.width // 8}")


@given(st.data(), generators(), uniform_types(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 4)))
def test_gather_drawn(data: st.DataObject, rng: np.random.Generator, t: UniformType, shape: tuple[int, ...]) -> None:
    axis = data.draw(st.integers(0, len(shape) - 1))
    batch = data.draw(st.integers(0, axis))
    rest = data.draw(st.integers(0, 2).flatmap(lambda rank: shapes(rank, 3)))
    if shape[axis] == 0:
        rest = (0, *rest)
    element = data.draw(st.sampled_from([I32, I64]))
    indices = rng.integers(0, max(shape[axis], 1), shape[:batch] + rest, f"i{element.width // 8}")
    x = storage_of(t, shape, rng)
    types = [tensor(shape, t), tensor(indices.shape, element)]
    got = check_kernels("gather", [x, indices], types, axis=axis, batch_dims=batch)
    for at in np.ndindex(*shape[:batch]):
        np.testing.assert_array_equal(got[at], np.take(x[at], indices[at], axis=axis - batch))


@given(st.data(), generators(), uniform_types(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 4)))
def test_gather_nd_drawn(data: st.DataObject, rng: np.random.Generator, t: UniformType, shape: tuple[int, ...]) -> None:
    depth = data.draw(st.integers(0, len(shape)))
    rows = data.draw(st.integers(0, 2).flatmap(lambda rank: shapes(rank, 3)))
    if 0 in shape[:depth]:
        rows = (0, *rows)
    element = data.draw(st.sampled_from([I32, I64]))
    limits = np.maximum(shape[:depth], 1).astype(int)
    indices = rng.integers(0, limits, (*rows, depth)).astype(f"i{element.width // 8}")
    x = storage_of(t, shape, rng)
    got = check_kernels("gather_nd", [x, indices], [tensor(shape, t), tensor(indices.shape, element)])
    for at in np.ndindex(*rows):
        np.testing.assert_array_equal(got[at], x[tuple(indices[at])])


def test_channels_keep_their_axis() -> None:
    t = channels(T, 3, 2)
    element = infer("gather", [tensor((2, 5, 3), t), tensor((4, 4), I32)], axis=1).element
    assert isinstance(element, UniformType)
    assert element.axis == 3
    element = infer("gather_nd", [tensor((2, 5, 3), t), tensor((4, 2), I32)]).element
    assert isinstance(element, UniformType)
    assert element.axis == 1


@pytest.mark.parametrize("wrong", [-1, 3, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("name", ["gather", "gather_nd"])
def test_an_index_that_names_no_element(name: str, wrong: int) -> None:
    x, indices = np.zeros((3, 2), np.int8), np.array([[0], [wrong]], np.int32)
    types = (tensor((3, 2), T), tensor((2, 1), I32))
    with pytest.raises(UndefinedError, match=rf"less than the sizes \[3\] of the indexed axes of 'x', got {wrong}$"):
        reference(name, [x, indices], types)
    family = FAMILIES[name]
    result = infer(name, types)
    call, is_kernel = family.call(types, result, family.complete({}))
    assert is_kernel
    with pytest.raises(KernelError, match="an index is out of bounds"):
        call(x, indices, np.zeros(tuple(n or 0 for n in result.shape or ()), np.int8))


X = tensor((2, 3), T)
REFUSED: list[tuple[str, list[TensorType], dict[str, Any], str]] = [
    ("gather", [X, tensor((2,), FloatType("f32"))], {}, "'indices' must have elements of i32 or i64, got f32"),
    ("gather", [X, tensor((2,), IntegerType(8))], {}, "'indices' must have elements of i32 or i64, got i8"),
    ("gather", [tensor(None, T), tensor((2,), I32)], {}, "'x' must be a ranked tensor, got tensor<*x"),
    ("gather", [X, tensor((2,), I32)], {"axis": 2}, "'axis' must be in [-2, 1] for rank 2, got 2"),
    (
        "gather",
        [X, tensor((2,), I32)],
        {"axis": 1, "batch_dims": 2},
        "'batch_dims' must be an integer from 0 to 1, got 2",
    ),
    (
        "gather",
        [X, tensor((), I32)],
        {"axis": 1, "batch_dims": 1},
        "'batch_dims' must be an integer from 0 to 0, got 1",
    ),
    (
        "gather",
        [X, tensor((3, 2), I32)],
        {"axis": 1, "batch_dims": 1},
        "'x' and 'indices' must have the same size along axis 0, got 2 and 3",
    ),
    (
        "gather",
        [tensor((2, 3), channels(T, 3, 1)), tensor((2,), I32)],
        {"axis": 1},
        "'indices' cannot select along axis 1 of 'x', the channel axis of",
    ),
    (
        "gather_nd",
        [X, tensor((), I32)],
        {},
        "the last axis of 'indices' must have a static size of at most 2, the rank of 'x', got tensor<i32>",
    ),
    (
        "gather_nd",
        [X, tensor((2, 3), I32)],
        {},
        "the last axis of 'indices' must have a static size of at most 2, the rank of 'x', got tensor<2x3xi32>",
    ),
    (
        "gather_nd",
        [tensor((2, 3), channels(T, 2, 0)), tensor((2, 1), I32)],
        {},
        "'indices' cannot select along axis 0 of 'x', the channel axis of",
    ),
]


@pytest.mark.parametrize(("op", "types", "attributes", "message"), REFUSED)
def test_refuses(op: str, types: list[TensorType], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, types, **attributes)
    assert str(raised.value).startswith(op)
