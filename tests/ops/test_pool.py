"""Pooling against plain loops over windows, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.ops.pool import AVERAGE_RULES
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import POOLS, PoolCase
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, maybe_per_axis, rules, storage_of

T = UniformType("i8", "f32", 0.5, -3)
OUT = UniformType("u8", "f32", 0.3, 9)


def channels(t: UniformType, count: int, axis: int = 3) -> UniformType:
    return t.with_(
        scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=[i % 5 for i in range(count)], axis=axis
    )


@pytest.mark.parametrize("case", POOLS, ids=lambda c: c.name)
@pytest.mark.parametrize("rule", [rule for rule in AVERAGE_RULES if rule != "dequantized_lanes"])
@pytest.mark.parametrize("per_axis", [False, True])
def test_average_leaves_padding_out(case: PoolCase, rule: str, per_axis: bool) -> None:
    count = case.shape[3]
    t, out = (channels(T, count), channels(OUT, count)) if per_axis and count else (T, OUT)
    out = t if rule == "integer" else out
    x = storage_of(t, case.shape, np.random.default_rng(1))
    got = check_kernels("avg_pool2d", [x], [tensor(case.shape, t)], out, requant=rule, **case.attributes)
    np.testing.assert_array_equal(got, naive.pool("avg_pool2d", x, t, out, rule, case.attributes))


@pytest.mark.parametrize("case", POOLS, ids=lambda c: c.name)
@pytest.mark.parametrize(
    "t", [T, UniformType("u4", "f32", 0.5), UniformType("i32", "f32", 1.0), UniformType("i16", "f32", 1.0)]
)
def test_maximum_leaves_padding_out(case: PoolCase, t: UniformType) -> None:
    """Padding must not win over values at the lower bound."""
    x = storage_of(t, case.shape, np.random.default_rng(2))
    got = check_kernels("max_pool2d", [x], [tensor(case.shape, t)], **case.attributes)
    np.testing.assert_array_equal(got, naive.pool("max_pool2d", x, t, t, "", case.attributes))
    lowest = np.full(case.shape, t.storage_min, x.dtype)
    got = check_kernels("max_pool2d", [lowest], [tensor(case.shape, t)], **case.attributes)
    assert (got == t.storage_min).all()


@given(st.data(), generators())
def test_drawn(data: st.DataObject, rng: np.random.Generator) -> None:
    kernel = data.draw(st.tuples(st.integers(1, 4), st.integers(1, 4)))
    padding = tuple((data.draw(st.integers(0, k - 1)), data.draw(st.integers(0, k - 1))) for k in kernel)
    size = tuple(max(k - sum(p), 1) + data.draw(st.integers(0, 4)) for k, p in zip(kernel, padding, strict=True))
    shape = (data.draw(st.integers(0, 2)), *size, data.draw(st.integers(1, 4)))
    t = data.draw(maybe_per_axis(shape[3], 3, scales=st.floats(1e-3, 10.0)))
    out = data.draw(maybe_per_axis(shape[3], 3, scales=st.floats(1e-3, 10.0)))
    attributes = {"kernel": kernel, "strides": data.draw(st.tuples(*[st.integers(1, 3)] * 2)), "padding": padding}
    x, types = storage_of(t, shape, rng), [tensor(shape, t)]
    rule = data.draw(rules())
    got = check_kernels("avg_pool2d", [x], types, out, requant=rule, **attributes)
    np.testing.assert_array_equal(got, naive.pool("avg_pool2d", x, t, out, rule, attributes))
    got = check_kernels("max_pool2d", [x], types, **attributes)
    np.testing.assert_array_equal(got, naive.pool("max_pool2d", x, t, t, "", attributes))


WHOLE = [(1, 1), (1, 3), (2, 2), (1, 5), (3, 5), (4, 4), (7, 7)]
"""Images of fewer elements than lanes, of a whole number of fours, and of 1 to 3 elements more."""


@pytest.mark.parametrize("image", WHOLE)
@pytest.mark.parametrize("per_axis", [False, True])
def test_lanes_of_whole_images(image: tuple[int, int], per_axis: bool) -> None:
    """Hazards: lanes that count on across rows, and what is left behind the last four."""
    t, out = (channels(T, 9), channels(OUT, 9)) if per_axis else (T.with_(scales=0.1), T.with_(scales=0.1))
    x = storage_of(t, (2, *image, 9), np.random.default_rng(3))
    attributes = {"kernel": image, "strides": (1, 1), "padding": ((0, 0), (0, 0))}
    got = check_kernels("avg_pool2d", [x], [tensor(x.shape, t)], out, requant="dequantized_lanes", **attributes)
    np.testing.assert_array_equal(got, naive.pool("avg_pool2d", x, t, out, "dequantized_lanes", attributes))


@pytest.mark.parametrize("count", [3, 8, 9, 16, 17, 25])
@pytest.mark.parametrize(
    ("t", "out"),
    [
        (T, OUT),
        (UniformType("u8", "f32", 0.1, 255), UniformType("i8", "f32", 0.05, -90, storage_min=-100, storage_max=90)),
        (UniformType("i8", "f32", 1e10, -128), UniformType("u8", "f32", 1e-6, 3)),
        (UniformType("u8", "f32", 1e-39, 7), UniformType("i8", "f32", 1e-39, 5)),
        (UniformType("i4", "f32", 0.3, 2), UniformType("u4", "f32", 0.2, 3)),
        (UniformType("i8", "f32", 0.1, -3), UniformType("i16", "f32", 0.001, -3)),
    ],
    ids=str,
)
def test_floats_of_any_number_of_channels(count: int, t: UniformType, out: UniformType) -> None:
    """Hazards: channels behind the last whole vector; windows at the border; sums far outside of the storage."""
    rng = np.random.default_rng(count)
    for kernel, size in (((2, 3), (3, 4)), ((3, 3), (3, 3))):
        x = storage_of(t, (1, *size, count), rng)
        padding = ((1, 0), (0, 1)) if kernel != size else ((0, 0), (0, 0))
        attributes = {"kernel": kernel, "strides": (2, 1), "padding": padding}
        for rule in (rule for rule in AVERAGE_RULES if rule.startswith("dequantized")):
            if rule != "dequantized_lanes" or kernel == size:
                got = check_kernels("avg_pool2d", [x], [tensor(x.shape, t)], out, requant=rule, **attributes)
                np.testing.assert_array_equal(got, naive.pool("avg_pool2d", x, t, out, rule, attributes))


@pytest.mark.parametrize(
    "attributes",
    [
        {"kernel": (2, 4)},
        {"kernel": (4, 4), "padding": ((1, 1), (0, 0)), "strides": (1, 1)},
        {"kernel": (4, 5), "padding": ((0, 0), (0, 1))},
    ],
)
def test_lanes_need_the_whole_image(attributes: dict[str, Any]) -> None:
    with pytest.raises(QuantTypeError, match="requant = 'dequantized_lanes' needs a kernel of the size of the image,"):
        infer("avg_pool2d", [tensor((1, 4, 4, 2), T)], OUT, requant="dequantized_lanes", **attributes)
    with pytest.raises(QuantTypeError, match="requant = 'dequantized_lanes' needs a kernel of the size of the image,"):
        infer("avg_pool2d", [tensor((1, None, 4, 2), T)], OUT, requant="dequantized_lanes", kernel=(4, 4))


def test_orders_of_a_sum_differ() -> None:
    """Ties that the order of a sum decides: each rule has other elements. The zero point is odd, so that joining it
    before the rounding changes halves too."""
    t = UniformType("i8", "f32", 0.1, 3)
    x = storage_of(t, (1, 6, 6, 400), np.random.default_rng(0))
    attributes = {"kernel": (6, 6), "strides": (1, 1)}
    names = [rule for rule in AVERAGE_RULES if rule.startswith("dequantized")]
    found = {
        rule: check_kernels("avg_pool2d", [x], [tensor(x.shape, t)], t, requant=rule, **attributes) for rule in names
    }
    for rule, result in found.items():
        assert all((result != other).any() for name, other in found.items() if name != rule), rule


def test_average_keeps_the_type_and_rounds_half_up() -> None:
    """`fixed` on the sum: 10 / 4 and -10 / 4 are ties."""
    t = UniformType("i8", "f32", 0.1)
    x = np.int8([[1, 2], [3, 4]]).reshape(1, 2, 2, 1)
    types = [tensor(x.shape, t)]
    assert infer("avg_pool2d", types).element == t
    assert check_kernels("avg_pool2d", [x], types).item() == 3
    assert check_kernels("avg_pool2d", [-x], types).item() == -2


def test_a_kernel_far_larger_than_the_image_needs_no_memory() -> None:
    """Parameters exist per count of elements that can occur, not per element of the kernel."""
    attributes = {"kernel": (90_000, 90_000), "strides": (1, 1), "padding": ((89_998, 0), (0, 89_998))}
    x, types = np.int8([[3, 4], [5, 7]]).reshape(1, 2, 2, 1), [tensor((1, 2, 2, 1), T)]
    from qrt.ops import FAMILIES

    family = FAMILIES["avg_pool2d"]
    complete = family.complete(attributes)
    result = family.resolve(tuple(types), complete)
    call, is_kernel = family.call(tuple(types), result, complete)
    assert is_kernel
    out = np.empty((1, 1, 1, 1), np.int8)
    call(x, out)
    assert out.item() == 5


def test_dynamic_dimensions() -> None:
    assert infer("avg_pool2d", [tensor((None, None, 4, 2), T)]).shape == (None, None, 2, 2)
    assert infer("max_pool2d", [tensor((1, 5, None, None), T)]).shape == (1, 2, None, None)


XT = tensor((1, 4, 4, 2), T)
REFUSED: list[tuple[TensorType, Any, dict[str, Any], str]] = [
    (tensor((4, 4, 2), T), None, {}, "'q' must have the layout NHWC, of rank 4, got rank 3. The operands are "
        "tensor<4x4x2x"),
    (tensor(None, T), None, {}, "'q' must have the layout NHWC, of rank 4, got an unranked tensor"),
    (tensor((1, 4, 4, 2), FloatType("f32")), None, {}, "'q' must be a tensor of !quant.uniform, got "
        "tensor<1x4x4x2xf32>"),
    (tensor((1, 4, 4, 2), channels(T, 4, 1)), None, {}, "must have a type per layer, or per axis along "
        "the channels (axis 3)"),
    (XT, None, {"kernel": (0, 2)}, "'kernel' must be two positive integers, got (0, 2)"),
    (XT, None, {"strides": (2,)}, "'strides' must be two positive integers, got (2,)"),
    (XT, None, {"padding": ((2, 0), (0, 0))}, "'padding' must be less than 'kernel', (2, 2), on each side, got ((2, "
        "0), (0, 0))"),
    (XT, None, {"padding": "SAME"}, "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got "
        "'SAME': write 'SAME'"),
    (XT, None, {"kernel": (5, 2)}, "a window of 5 elements must not be larger than the "
        "image, which has 4 elements along this axis and padding [0, 0]"),
    (tensor((1, 0, 4, 2), T), None, {"padding": ((1, 1), (0, 0))}, (
        "'q' must have a height and a width of at least 1, got [0, 4]"
    )),
    (tensor((1, 4, 4, 2), T.with_(zero_points=-129)), None, {}, "'q' must have zero points in [-128, 127], the "
        "range of its storage type i8, got -129 in"),
]  # fmt: skip


@pytest.mark.parametrize("op", ["avg_pool2d", "max_pool2d"])
@pytest.mark.parametrize(("x", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, [x], out, **attributes)
    assert str(raised.value).startswith(op)


def test_dequantized_values_stay_in_float32() -> None:
    huge = T.with_(scales=2.0**64)
    with pytest.raises(QuantTypeError, match=r"needs scales below 2\*\*64, got 1.8"):
        infer("avg_pool2d", [tensor((1, 4, 4, 2), huge)], huge, kernel=(2, 2), strides=(2, 2), requant="dequantized")


def test_refuses_results_of_other_types() -> None:
    with pytest.raises(
        QuantTypeError,
        match=r"the result must have the type of the operand",
    ):
        infer("max_pool2d", [XT], OUT)
    with pytest.raises(
        QuantTypeError, match="the operands and the result must have the same expressed type, got f16 and f32"
    ):
        infer("avg_pool2d", [XT], OUT.with_(expressed="f16"))
    with pytest.raises(QuantTypeError, match="avg_pool2d: requant = 'integer' needs a result of the type of 'q',"):
        infer("avg_pool2d", [XT], OUT, requant="integer")
    with pytest.raises(QuantTypeError, match="avg_pool2d: 'requant' must be one of"):
        infer("avg_pool2d", [XT], OUT, requant="mean")
