"""pad against plain loops, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.types import FloatType, IntegerType, TensorType, UniformType
from tests.cases import PADS, PadCase
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, maybe_per_axis, shapes, storage_of

T = UniformType("i8", "f32", 0.5, -3)


def channels(t: UniformType, count: int, axis: int) -> UniformType:
    return t.with_(
        scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=[i % 5 for i in range(count)], axis=axis
    )


@pytest.mark.parametrize("case", PADS, ids=lambda c: c.name)
@pytest.mark.parametrize("value", [None, 0.0, -7.3, 1e9])
@pytest.mark.parametrize("storage", ["i8", "u4", "i16", "u32"])
def test_table_of_shapes(case: PadCase, value: float | None, storage: str) -> None:
    t = UniformType(storage, "f32", 0.5, 5)
    x = storage_of(t, case.shape, np.random.default_rng(1))
    got = check_kernels("pad", [x], [tensor(case.shape, t)], padding=case.padding, value=value)
    np.testing.assert_array_equal(got, naive.pad(x, t, case.padding, value))


@given(st.data(), generators(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 5)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Channels on any axis that is not padded, zero points outside the bounds, values that saturate."""
    axis = data.draw(st.integers(0, len(shape) - 1))
    t = data.draw(maybe_per_axis(shape[axis], axis))
    sides = st.tuples(st.integers(0, 3), st.integers(0, 3))
    padding = tuple((0, 0) if d == t.axis else data.draw(sides) for d in range(len(shape)))
    value = data.draw(st.none() | st.floats(-1e6, 1e6, width=32) | st.sampled_from([np.inf, -np.inf, -0.0]))
    x = storage_of(t, shape, rng)
    got = check_kernels("pad", [x], [tensor(shape, t)], padding=padding, value=value)
    np.testing.assert_array_equal(got, naive.pad(x, t, padding, value))


def test_each_channel_has_its_own_zero_and_its_own_value() -> None:
    t = UniformType("i8", "f32", [0.5, 1.0, 2.0], [0, 7, -128], axis=1, storage_min=-127)
    x = np.int8([[1, 2, 3]])
    types, padding = [tensor(x.shape, t)], ((1, 0), (0, 0))
    assert check_kernels("pad", [x], types, padding=padding).tolist() == [[0, 7, -127], [1, 2, 3]]
    assert check_kernels("pad", [x], types, padding=padding, value=2.0).tolist() == [[4, 9, -127], [1, 2, 3]]


def test_every_shape_has_a_kernel() -> None:
    family = FAMILIES["pad"]
    for case in PADS:
        types, attributes = (tensor(case.shape, T),), family.complete({"padding": case.padding})
        assert family.call(types, family.resolve(types, attributes), attributes)[1]


def test_dynamic_dimensions() -> None:
    assert infer("pad", [tensor((None, 3), T)], padding=((1, 1), (0, 2))) == tensor((None, 5), T)


def test_function() -> None:
    q = qrt.QuantTensor(np.uint8([[1, 2]]), UniformType("u4", "f32", 0.5, 3))
    out = qrt.pad(q, [[1, 0], (0, 1)])
    assert out.storage.tolist() == [[3, 3, 3], [1, 2, 3]]
    assert qrt.pad(q, [(1, 0), (0, 1)], 100.0, out=out) is out
    assert out.storage.tolist() == [[15, 15, 15], [1, 2, 15]]
    with pytest.raises(
        QuantTypeError,
        match=r"pad: 'padding' must be 2 pairs \(before, after\) of non-negative "
        r"integers, one for each axis, got \(1, 2\)",
    ):
        qrt.pad(q, [1, 2])  # type: ignore[list-item]


XT = tensor((2, 4), T)
NONE = ((0, 0), (0, 0))
SUB_CHANNEL = UniformType("i8", "f32", [[0.5], [1.0]], block_sizes={0: 1, 1: 4})
REFUSED: list[tuple[TensorType, Any, dict[str, Any], str]] = [
    (tensor(None, T), None, {"padding": NONE}, "'q' must be a ranked tensor, got tensor<*x"),
    (tensor((2, 4), FloatType("f32")), T, {"padding": NONE}, "the result must have the element type f32"),
    (tensor((2, 4), IntegerType(8)), None, {"padding": NONE, "value": 128}, (
        "'value' must be an integer in [-128, 127], the range of i8, got 128"
    )),
    (tensor((2, 4), IntegerType(8)), None, {"padding": NONE, "value": 0.5}, (
        "'value' must be an integer in [-128, 127], the range of i8, got 0.5"
    )),
    (tensor((2, 4), IntegerType(1)), None, {"padding": NONE, "value": 2}, (
        "'value' must be an integer in [0, 1], the range of i1, got 2"
    )),
    (XT, None, {}, "'padding' must be 2 pairs (before, after) of non-negative integers, one for each axis, got "
        "None. The operands are tensor<2x4x"),
    (XT, None, {"padding": ((0, 0),)}, (
        "'padding' must be 2 pairs (before, after) of non-negative integers, one for each axis, got ((0, 0),)"
    )),
    (XT, None, {"padding": ((0, 0), (0, -1))}, "'padding' must be 2 pairs (before, after) of non-negative integers, "
        "one for each axis, got ((0, 0), (0, -1))"),
    (XT, None, {"padding": ((0, 0), (0, 0, 0))}, "'padding' must be 2 pairs (before, after) of non-negative "
        "integers, one for each axis, got ((0, 0), (0, 0, 0))"),
    (XT, None, {"padding": ((0, 0), (0, 1.5))}, "'padding' must be 2 pairs (before, after) of non-negative "
        "integers, one for each axis, got ((0, 0), (0, 1.5))"),
    (XT, None, {"padding": ((0, 0), (0, 0), 1)}, "'padding' must be 2 pairs (before, after) of non-negative "
        "integers, one for each axis, got ((0, 0), (0, 0), 1)"),
    (XT, None, {"padding": NONE, "value": np.nan}, "'value' must be a real number or None, got nan"),
    (XT, None, {"padding": NONE, "value": "0"}, "'value' must be a real number, got '0'"),
    (tensor((2, 4), channels(T, 4, 1)), None, {"padding": ((0, 0), (0, 1))}, "'padding' must be (0, 0) along axis "
        "1, the channel axis of"),
    (tensor((2, 4), SUB_CHANNEL), None, {"padding": NONE}, "'q' must have a type per layer or per axis, got the "
        "sub-channel type"),
    (XT, T.with_(scales=1.0), {"padding": NONE}, "the result must have the type of the operand"),
    (tensor((2, 4), T.with_(zero_points=-129)), None, {"padding": NONE}, "'q' must have zero points in [-128, 127], "
        "the range of its storage type i8, got -129 in"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "out", "attributes", "message"), REFUSED)
def test_refuses(x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("pad", [x], out, **attributes)
    assert str(raised.value).startswith("pad")
