"""reduce_max, reduce_min, argmax, argmin, on every kernel. Hazards: the first of equals, NaNs, zeros of either sign,
elements that all lie at the end of the range, axes that do not lie side by side."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.ops.core import element_dtype
from qrt.types import FloatType, IntegerType, TensorType, Type
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, shapes, storage_of, uniform_types
from tests.ops.test_movement import T, blocked, channels

ELEMENTS = [*map(IntegerType, (1, 8, 16, 32, 64)), *map(FloatType, ("f16", "bf16", "f32", "f64"))]
I32 = IntegerType(32)


@given(st.data(), generators(), uniform_types(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 5)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, t: Any, shape: tuple[int, ...]) -> None:
    """Against NumPy, which also takes the first of equals; few different values make many of them."""
    shape = tuple(max(n, 1) for n in shape)
    x = storage_of(t, shape, rng)
    if data.draw(st.booleans()):
        x = rng.choice(x.ravel()[:2], shape)
    axes = tuple(sorted(data.draw(st.sets(st.integers(0, len(shape) - 1)))))
    keepdims, axis = data.draw(st.booleans()), data.draw(st.integers(-len(shape), len(shape) - 1))
    declared = data.draw(st.sampled_from([None, I32]))
    for end, reduce, arg in (("max", np.max, np.argmax), ("min", np.min, np.argmin)):
        got = check_kernels(f"reduce_{end}", [x], [tensor(shape, t)], axes=axes, keepdims=keepdims)
        np.testing.assert_array_equal(got, reduce(x, axis=axes, keepdims=keepdims))
        got = check_kernels(f"arg{end}", [x], [tensor(shape, t)], declared, axis=axis)
        np.testing.assert_array_equal(got, arg(x, axis=axis))


@pytest.mark.parametrize("element", ELEMENTS, ids=str)
def test_elements_of_any_type(element: Type) -> None:
    dtype = element_dtype(element)
    x = np.random.default_rng(3).integers(0, 2 if dtype.kind == "b" else 100, (3, 4, 5)).astype(dtype)
    types = [tensor(x.shape, element)]
    np.testing.assert_array_equal(check_kernels("reduce_max", [x], types, axes=(0, 2)), x.max(axis=(0, 2)))
    np.testing.assert_array_equal(check_kernels("reduce_min", [x], types), x.min())
    np.testing.assert_array_equal(check_kernels("argmax", [x], types, axis=1), x.argmax(axis=1))


@pytest.mark.parametrize("form", ["f16", "f32", "f64"])
def test_a_nan_is_beyond_all(form: str) -> None:
    """The first one wins; a zero of the other sign equals the one before."""
    x = np.array([[1, np.nan, np.inf, np.nan], [-np.inf, -1, -0.0, 0.0], [0.0, -0.0, 0.0, -0.0]]).astype(
        element_dtype(FloatType(form))
    )
    types = [tensor(x.shape, FloatType(form))]
    assert check_kernels("argmax", [x], types).tolist() == [1, 2, 0]
    assert check_kernels("argmin", [x], types).tolist() == [1, 0, 0]
    assert np.signbit(check_kernels("reduce_max", [x[1:]], [tensor((2, 4), FloatType(form))], axes=(1,))).tolist() == [
        True,
        False,
    ]


X = tensor((2, 3), T)
REFUSED: list[tuple[str, TensorType, Any, dict[str, Any], str]] = [
    ("reduce_max", tensor(None, T), None, {}, "the first operand must be a ranked tensor, got tensor<*x"),
    (
        "reduce_max",
        X,
        None,
        {"axes": (0, 0)},
        "'axes' must be a tuple of different integers in [-2, 1] for rank 2, got (0, 0)",
    ),
    (
        "reduce_max",
        X,
        None,
        {"axes": (2,)},
        "'axes' must be a tuple of different integers in [-2, 1] for rank 2, got (2,)",
    ),
    ("reduce_max", X, None, {"keepdims": 1}, "'keepdims' must be true or false, got 1"),
    (
        "reduce_min",
        tensor((2, 0), T),
        None,
        {"axes": (1,)},
        "'x' must have elements along axis 1, which is reduced, got size 0",
    ),
    ("reduce_max", X, T.with_(scales=1.0), {}, "the result must have the type of the operand"),
    (
        "reduce_max",
        tensor((2, 3), channels(T, 3, 1)),
        None,
        {"axes": (1,)},
        "values along axis 1 of 'x' cannot be compared, because the channels of",
    ),
    (
        "reduce_max",
        tensor((2, 4), blocked((2, 4), {1: 2})),
        None,
        {},
        "'x' must have a type per layer or per axis, got the sub-channel type",
    ),
    ("argmax", X, None, {"axis": 2}, "'axis' must be in [-2, 1] for rank 2, got 2"),
    ("argmin", tensor((2, 0), T), None, {}, "'x' must have elements along axis 1, which is reduced, got size 0"),
    ("argmax", X, FloatType("f32"), {}, "the result must have elements of i64 or i32, got f32"),
    (
        "argmax",
        tensor((2, 1 << 31), T),
        I32,
        {},
        "the result must have elements of i64 for an axis of 2147483648 elements, got i32",
    ),
]


@pytest.mark.parametrize(("op", "x", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, [x], out, **attributes)
    assert str(raised.value).startswith(op)


def test_channels_follow_their_axis() -> None:
    element = infer("reduce_max", [tensor((2, 5, 3), channels(T, 3, 2))], axes=(0,)).element
    assert element == channels(T, 3, 1)
