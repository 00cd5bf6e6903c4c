"""scatter_nd. Hazards: rows that name one element, of which the last one counts; sums that wrap; indices beyond an
axis; no rows at all; an operand whose memory has another shape; a NaN beside a number, zeros of either sign."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from qrt.errors import QuantTypeError, UndefinedError
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, TensorType, UniformType
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.test_movement import T

I8, I32, I64, F32 = IntegerType(8), IntegerType(32), IntegerType(64), FloatType("f32")


COMBINED: dict[str, Callable[[Any, Any], Any]] = {
    "none": lambda x, u: u,
    "add": lambda x, u: x + u,
    "mul": lambda x, u: x * u,
    "max": lambda x, u: np.where(x > u, x, u),
    "min": lambda x, u: np.where(x < u, x, u),
}


def _loops(x: np.ndarray, indices: np.ndarray, updates: np.ndarray, reduction: str) -> np.ndarray:
    made = x.copy()
    for at in np.ndindex(*indices.shape[:-1]):
        place = tuple(indices[at])
        with np.errstate(all="ignore"):
            made[place] = COMBINED[reduction](made[place], updates[at])
    return made


@pytest.mark.parametrize("reduction", COMBINED)
@pytest.mark.parametrize("rows", [(9,), (3, 4), (), (0,)])
@pytest.mark.parametrize("depth", [1, 2, 3])
def test_rows_go_in_order(reduction: str, rows: tuple[int, ...], depth: int) -> None:
    rng, shape = np.random.default_rng(depth), (3, 4, 2)
    for element, dtype in ((I8, np.int8), (I64, np.int64), (F32, np.float32)):
        x, updates = ((rng.normal(size=size) * 99).astype(dtype) for size in (shape, (*rows, *shape[depth:])))
        if element is F32:
            odd = np.float32([np.nan, 0.0, -0.0, np.inf])
            x, updates = (
                np.where(rng.random(each.shape) < 0.2, rng.choice(odd, each.shape), each) for each in (x, updates)
            )
        for index in (I32, I64):
            indices = rng.integers(0, shape[:depth], (*rows, depth)).astype(f"i{index.width // 8}")
            types = [tensor(x.shape, element), tensor(indices.shape, index), tensor(updates.shape, element)]
            got = check_kernels("scatter_nd", [x, indices, updates], types, reduction=reduction)
            np.testing.assert_array_equal(got, _loops(x, indices, updates, reduction))


def test_a_call_whose_operand_has_the_memory_of_another_shape() -> None:
    """A plan gives what was reshaped as it was."""
    family, x = FAMILIES["scatter_nd"], tensor((1, 1), F32)
    types = (x, tensor((1, 2), I32), tensor((1,), F32))
    call, is_kernel = family.call(types, x, family.complete({}))
    out = np.zeros((), np.float32)
    call(np.float32(4), np.zeros((1, 2), np.int32), np.float32([3]), out)
    assert not is_kernel
    assert out == 3


@pytest.mark.parametrize("wrong", [-1, 3])
def test_an_index_that_names_no_element(wrong: int) -> None:
    types = [tensor((3, 2), F32), tensor((1, 1), I32), tensor((1, 2), F32)]
    with pytest.raises(UndefinedError, match=rf"less than the sizes \[3\] of the indexed axes of 'x', got {wrong}$"):
        reference("scatter_nd", [np.zeros((3, 2)), np.array([[wrong]]), np.ones((1, 2))], types)


X, U = tensor((3, 2), F32), tensor((5, 2), F32)
REFUSED: list[tuple[list[TensorType], dict[str, Any], str]] = [
    ([X, tensor((5, 1), F32), U], {}, "'indices' must have elements of i32 or i64, got f32"),
    ([X, tensor(None, I32), U], {}, "'indices' must be a ranked tensor, got tensor<*xi32>"),
    ([X, tensor((5, 1), I32), tensor(None, F32)], {}, "'updates' must have the shape [5, 2], got an unranked tensor"),
    ([X, tensor((5, 1), I32), U], {"reduction": "sum"}, "must be one of none, add, mul, max, min, got 'sum'"),
    ([tensor((3, 2), T), tensor((5, 1), I32), tensor((5, 2), T)], {"reduction": "add"}, (
        "'x' must have elements of f32, f64 or integers of 8 bits or more with reduction = 'add', got"
    )),
    ([X, tensor((5, 0), I32), U], {}, "the last axis of 'indices' must have a static size from 1 to 2, the rank of "
        "'x', got tensor<5x0xi32>"),
    ([X, tensor((5, 3), I32), U], {}, "the last axis of 'indices' must have a static size from 1 to 2, the rank of "
        "'x', got tensor<5x3xi32>"),
    ([X, tensor((5, 1), I32), tensor((5, 2), I32)], {}, "'updates' must have the element type f32"),
    ([X, tensor((5, 1), I32), tensor((5,), F32)], {}, "'updates' must have the shape [5, 2], got [5]"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        infer("scatter_nd", types, **attributes)


def test_channels_stay_where_they_are() -> None:
    """Updates have the channels of what they replace, on the axis that these have there."""
    t = UniformType("i8", "f32", [0.5, 0.25, 2.0], axis=1)
    rows, updates = TensorType((4, 1), "i64"), TensorType((4, 3), t)
    family = FAMILIES["scatter_nd"]
    assert family.resolve((TensorType((2, 3), t), rows, updates), family.complete({})) == TensorType((2, 3), t)
    matrix = TensorType((4, 2, 1), "i64")
    moved = TensorType((4, 2, 3), t.with_(axis=2))
    assert family.resolve((TensorType((2, 3), t), matrix, moved), family.complete({})) == TensorType((2, 3), t)
    with pytest.raises(QuantTypeError, match=r"'updates' must have the element type .*:2, "):
        family.resolve((TensorType((2, 3), t), matrix, TensorType((4, 3, 3), t)), family.complete({}))


@pytest.mark.parametrize(
    ("t", "words"),
    [
        (
            UniformType("i8", "f32", [0.5, 0.25], axis=0),
            "'indices' cannot select along axis 0 of 'x', the channel axis of",
        ),
        (
            UniformType("i8", "f32", [[0.5], [0.25]], block_sizes={0: 1, 1: 3}),
            "'x' must have a type per layer or per axis, got the sub-channel type",
        ),
    ],
)
def test_positions_among_channels_are_refused(t: UniformType, words: str) -> None:
    family = FAMILIES["scatter_nd"]
    x = TensorType((2, 3), t)
    with pytest.raises(QuantTypeError, match=words):
        family.resolve((x, TensorType((2, 1), "i64"), x), family.complete({}))
