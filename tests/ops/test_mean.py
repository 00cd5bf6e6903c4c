"""mean against plain loops, every kernel against the reference, every refusal."""

import re
from math import prod
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.errors import QuantTypeError
from qrt.ops.mean import MEAN_RULES, SUM_RULES
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import MEANS, MeanCase
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, maybe_per_axis, rules, shapes, storage_of

T = UniformType("i8", "f32", 0.5, -3)
OUT = UniformType("u8", "f32", 0.3, 9)


def channels(t: UniformType, count: int, axis: int) -> UniformType:
    return t.with_(
        scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=[i % 5 for i in range(count)], axis=axis
    )


@pytest.mark.parametrize("case", MEANS, ids=lambda c: c.name)
@pytest.mark.parametrize("rule", MEAN_RULES)
@pytest.mark.parametrize("keepdims", [False, True])
def test_table_of_shapes(case: MeanCase, rule: str, keepdims: bool) -> None:
    x = storage_of(T, case.shape, np.random.default_rng(1))
    attributes = {"axes": case.axes, "keepdims": keepdims, "requant": rule}
    got = check_kernels("mean", [x], [tensor(case.shape, T)], OUT, **attributes)
    np.testing.assert_array_equal(got, naive.mean(x, T, OUT, rule, case.axes, keepdims))


@given(st.data(), generators(), st.integers(1, 4).flatmap(lambda rank: shapes(rank, 6)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Any axes, operand and result per layer or with channels along axes of their own."""
    axes = tuple(data.draw(st.sets(st.integers(0, len(shape) - 1))))
    count = prod(shape[d] for d in axes)
    kept = [d for d in range(len(shape)) if d not in axes]
    if count == 0:
        return
    keepdims = data.draw(st.booleans())
    t, out = (data.draw(maybe_per_axis(0, 0, scales=st.floats(1e-3, 10.0))) for _ in range(2))
    if kept:
        own, to = data.draw(st.sampled_from(kept)), data.draw(st.sampled_from(kept))
        t = data.draw(maybe_per_axis(shape[own], own, scales=st.floats(1e-3, 10.0)))
        place = to if keepdims else kept.index(to)
        out = data.draw(maybe_per_axis(shape[to], place, scales=st.floats(1e-3, 10.0)))
    rule = data.draw(rules() | st.just("float32_divisor_first"))
    x = storage_of(t, shape, rng)
    got = check_kernels("mean", [x], [tensor(shape, t)], out, axes=axes, keepdims=keepdims, requant=rule)
    np.testing.assert_array_equal(got, naive.mean(x, t, out, rule, axes, keepdims))


def test_the_type_follows_its_channels_and_rounds_half_up() -> None:
    """`fixed` on the sum: 10 / 4 and -10 / 4 are ties."""
    t = UniformType("i8", "f32", [0.1, 0.2], axis=2)
    x = np.stack([np.int8([[1, 2], [3, 4]]), -np.int8([[1, 2], [3, 4]])], axis=2)
    result = infer("mean", [tensor(x.shape, t)], axes=(0, 1))
    assert result == tensor((2,), t.with_(axis=0))
    assert infer("mean", [tensor(x.shape, t)], axes=(-2,)) == tensor((2, 2), t.with_(axis=1))
    assert infer("mean", [tensor(x.shape, t)], axes=(1,), keepdims=True) == tensor((2, 1, 2), t)
    assert check_kernels("mean", [x], [tensor(x.shape, t)], axes=(0, 1)).tolist() == [3, -2]


def test_channels_of_operand_and_result_on_different_axes() -> None:
    t, out = channels(T, 3, 1), channels(OUT, 2, 0)
    x = storage_of(t, (2, 3, 4), np.random.default_rng(4))
    got = check_kernels("mean", [x], [tensor(x.shape, t)], out, axes=(2,))
    np.testing.assert_array_equal(got, naive.mean(x, t, out, "fixed", (2,)))


@pytest.mark.parametrize("value", [-(2**31), 2**31 - 1])
def test_sums_far_beyond_32_bits(value: int) -> None:
    t = UniformType("i32", "f32", 1.0, value ^ -1)
    x = np.full((7, 999), value, np.int32)
    got = check_kernels("mean", [x], [tensor(x.shape, t)], UniformType("i32", "f32", 4.0), axes=None)
    assert got.item() == (2 * value + 1 + 2) // 4


def test_dynamic_dimensions() -> None:
    assert infer("mean", [tensor((None, 5, None, 2), T)], axes=(1, 2)).shape == (None, 2)
    assert infer("mean", [tensor((None, 5), T)], keepdims=True).shape == (1, 1)


def test_function() -> None:
    q = qrt.QuantTensor(np.int8([[1, 2, 3], [4, 5, 9]]), UniformType("i8", "f32", 0.5))
    assert qrt.mean(q).storage.tolist() == 4
    assert qrt.mean(q, -1, keepdims=True).storage.tolist() == [[2], [6]]
    assert qrt.mean(q, [0, 1], out_type=UniformType("i8", "f32", 0.25)).storage.tolist() == 8


XT = tensor((1, 4, 4, 2), T)
REFUSED: list[tuple[TensorType, Any, dict[str, Any], str]] = [
    (tensor(None, T), None, {}, "the first operand must be a ranked tensor, got tensor<*x"),
    (tensor((4,), FloatType("f32")), None, {}, "'q' must be a tensor of !quant.uniform, got tensor<4xf32>"),
    (XT, None, {"axes": (4,)}, (
        "'axes' must be a tuple of different integers in [-4, 3] for rank 4, got (4,). The operands are tensor<1x4x4x2x"
    )),
    (XT, None, {"axes": (1, -3)}, "'axes' must be a tuple of different integers in [-4, 3] for rank 4, got (1, -3)"),
    (XT, None, {"axes": (1.0,)}, "'axes' must be a tuple of different integers in [-4, 3] for rank 4, got (1.0,)"),
    (XT, None, {"axes": 1}, "'axes' must be a tuple of different integers in [-4, 3] for rank 4, got 1"),
    (XT, None, {"keepdims": 1}, "'keepdims' must be true or false, got 1"),
    (tensor((1, 4, 4, 2), channels(T, 2, 3)), None, {}, "'q' must have a type per layer, or per axis along an axis "
        "other than those summed over, [0, 1, 2, 3], got"),
    (tensor((3, 0), T), None, {"axes": (1,)}, "'q' must have elements along axis 1, which is reduced, got size 0"),
    (XT, channels(OUT, 4, 1), {"axes": (1,), "keepdims": True}, "or per axis along an axis that is not summed over"),
    (XT, OUT.with_(expressed="f16"), {}, "the same expressed type, got f16 and f32"),
    (XT, None, {"requant": "mean"}, "'requant' must be one of"),
    (tensor((2**31,), UniformType("i32", "f32", 1.0)), None, {}, ", which overflows 64 bits:"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "out", "attributes", "message"), REFUSED)
def test_refuses(x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("mean", [x], out, **attributes)
    assert str(raised.value).startswith("mean")


@pytest.mark.parametrize("rule", SUM_RULES)
def test_a_sum_does_not_divide(rule: str) -> None:
    rng = np.random.default_rng(3)
    for number, (shape, axes) in enumerate([((3, 8), (1,)), ((2, 3, 4), (0, 2)), ((8,), ()), ((2, 4), (0, 1))]):
        x, t = storage_of(T, shape, rng), tensor(shape, T)
        attributes = {"axes": axes, "keepdims": bool(number % 2), "requant": rule}
        to = OUT.with_(scales=OUT.scale * prod(shape[axis] for axis in axes))
        got = check_lowered("sum", [x], [t], to, options=[OPTIONS[number]], **attributes)
        np.testing.assert_array_equal(got, naive.mean(x, T, to, rule, axes, bool(number % 2), divides=False))


def test_rules_of_the_other_family_are_refused() -> None:
    for op, rule in (("mean", "raw_sum"), ("sum", "raw_mean")):
        with pytest.raises(QuantTypeError, match=f"{op}: 'requant' must be one of fixed, .*, got {rule!r}"):
            infer(op, [XT], OUT, requant=rule)


def test_a_sum_of_a_channel_is_refused() -> None:
    with pytest.raises(
        QuantTypeError,
        match=r"sum: 'q' must have a type per layer, or per axis along an axis other than those summed over, \[0\], "
        r"got",
    ):
        infer("sum", [tensor((3, 2), channels(T, 3, 0))], OUT, axes=(0,))
