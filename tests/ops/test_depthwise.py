"""depthwise_conv2d against plain loops and against conv2d of as many groups, every kernel against the reference, every
refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from qrt.cli.bench import DepthwiseCase
from qrt.errors import QuantTypeError
from qrt.numerics import REQUANT_RULES
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import DEPTHWISE
from tests.ops import naive
from tests.ops.draws import Drawn, convolutions
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import (
    fitted,
    spread_of_product,
    storage_of,
)

OP = "depthwise_conv2d"
X = UniformType("u8", "f32", 0.5, 100)
W = UniformType("i8", "f32", 0.25, storage_min=-127)
OUT = UniformType("i8", "f32", 4.0, -7)
WIDE_OUT = UniformType("i32", "f32", 0.01, -7)  # shows every bit of the accumulator
I32 = UniformType("i32", "f32", 0.125)
CONSTANTS = [(), (1,), (2,), (1, 2)]


def channels(t: UniformType, count: int, axis: int = 2) -> UniformType:
    return t.with_(
        scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=[i % 4 - 2 for i in range(count)], axis=axis
    )


@pytest.mark.parametrize("case", DEPTHWISE, ids=lambda c: c.name)
@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_table_of_shapes(case: DepthwiseCase, rule: str, out: UniformType) -> None:
    """Strides, dilations, uneven padding, multipliers; weights, bias and result per axis."""
    rng = np.random.default_rng(1)
    count = case.out_channels
    tw, tb = channels(W, count), channels(I32, count, 0)
    x, w = storage_of(X, case.x_shape, rng), storage_of(tw, case.w_shape, rng)
    b = rng.integers(-9999, 9999, count).astype(np.int32)
    types = tensor(case.x_shape, X), tensor(case.w_shape, tw), tensor((count,), tb)
    spread = spread_of_product((x, X), (w, tw), depth=case.kernel[0] * case.kernel[1])
    to = channels(fitted(out, spread) if out is OUT else out, count, 3)
    got = check_kernels(OP, [x, w, b], types, to, constants=CONSTANTS, requant=rule, **case.attributes)
    np.testing.assert_array_equal(got, naive.depthwise_conv2d(x, w, X, tw, to, rule, case.attributes, (b, tb)))


@pytest.mark.parametrize("case", DEPTHWISE, ids=lambda c: c.name)
def test_it_is_conv2d_of_as_many_groups(case: DepthwiseCase) -> None:
    """The same sums through the GEMM: weights [KH, KW, C * M] are [C * M, KH, KW, 1] transposed."""
    rng = np.random.default_rng(2)
    x, w = storage_of(X, case.x_shape, rng), storage_of(W, case.w_shape, rng)
    ohwi = np.ascontiguousarray(w.transpose(2, 0, 1)[..., None])
    types = tensor(x.shape, X), tensor(ohwi.shape, W)
    expected, _ = reference("conv2d", [x, ohwi], types, WIDE_OUT, groups=case.groups, **case.attributes)
    got = check_kernels(OP, [x, w], [tensor(x.shape, X), tensor(w.shape, W)], WIDE_OUT, **case.attributes)
    np.testing.assert_array_equal(got, expected)


@given(convolutions(depthwise=True))
def test_drawn(drawn: Drawn) -> None:
    """Any widths, bounds, zero points and rules on drawn windows: kernels equal the reference, and that the loops."""
    try:
        infer(OP, drawn.types, drawn.out, **drawn.attributes)
        reference(OP, drawn.arrays, drawn.types, drawn.out, **drawn.attributes)
    except QuantTypeError as error:
        assert re.search("64 bits|needs a multiplier below", str(error))  # noqa: PT017 - some biases and multipliers
        return
    got = check_kernels(OP, drawn.arrays, drawn.types, drawn.out, constants=drawn.constants, **drawn.attributes)
    if got.size < 60:
        (x, w), (tx, tw, *bias_types) = drawn.arrays[:2], drawn.elements()
        bias = (drawn.arrays[2], bias_types[0]) if bias_types else None
        rule = drawn.attributes["requant"]
        expected = naive.depthwise_conv2d(x, w, tx, tw, drawn.out, rule, drawn.attributes, bias)
        np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("bias", [2**31 - 1 - 9 * 255 * 255, 2**31 - 9 * 255 * 255, 2**31 - 1, -(2**31)])
@pytest.mark.parametrize("sign", [1, -1])
def test_sums_at_the_ends_of_32_bits(bias: int, sign: int) -> None:
    """The largest products of 8 bits, zero points at the ends: the bias decides whether 32 bits hold the sum."""
    tx, tw = UniformType("u8", "f32", 1.0, 0), UniformType("u8", "f32", 1.0, 0 if sign > 0 else 255)
    x = np.full((1, 4, 4, 19), 255, np.uint8)
    w = np.full((3, 3, 19), 255 if sign > 0 else 0, np.uint8)
    b = np.full(19, bias, np.int32)
    types = tensor(x.shape, tx), tensor(w.shape, tw), tensor(b.shape, I32.with_(scales=1.0))
    out = UniformType("i32", "f32", 4.0)
    got = check_kernels(OP, [x, w, b], types, out, constants=CONSTANTS)
    assert (got == ((bias + sign * 9 * 255 * 255) * 2**30 + 2**31) // 2**32).all()


def test_a_bias_is_rescaled_once() -> None:
    """S_b of three times sa * sw, and a zero point: not added as it is, constant or given."""
    x, w, b = np.uint8([[[[103]]]]), np.int8([[[8]]]), np.int32([11])
    tb = I32.with_(scales=0.375, zero_points=1)
    types = tensor(x.shape, X), tensor(w.shape, W), tensor(b.shape, tb)
    got = check_kernels(OP, [x, w, b], types, UniformType("i32", "f32", 0.125), constants=CONSTANTS)
    assert got.item() == 3 * 8 + (11 - 1) * 3


def test_no_channels() -> None:
    types = tensor((1, 2, 2, 0), X), tensor((1, 1, 0), W)
    got = check_kernels(OP, [np.zeros((1, 2, 2, 0), np.uint8), np.zeros((1, 1, 0), np.int8)], types, OUT)
    assert got.shape == (1, 2, 2, 0)


def test_result_without_out_type_is_exact() -> None:
    tw = channels(W, 4)
    types = tensor((1, 3, 3, 2), X), tensor((2, 2, 4), tw)
    element = infer(OP, types).element
    assert isinstance(element, UniformType)
    assert (element.storage, element.axis, element.scales) == ("i32", 3, tuple(0.5 * s for s in tw.scales))
    rng = np.random.default_rng(8)
    x, w = storage_of(X, (1, 3, 3, 2), rng), storage_of(tw, (2, 2, 4), rng)
    got = check_kernels(OP, [x, w], types)
    assert got[0, 0, 0, 3] == ((x[0, :2, :2, 1].astype(int) - 100) * (w[..., 3].astype(int) - 1)).sum()


def test_dynamic_dimensions() -> None:
    assert infer(OP, [tensor((None, None, 5, 2), X), tensor((2, 2, 4), W)], OUT).shape == (None, None, 4, 4)
    assert infer(OP, [tensor((1, 4, 5, None), X), tensor((2, None, 3), W)], OUT).shape == (1, 3, None, 3)


BY_CHANNEL = UniformType("u8", "f32", [0.5, 0.25], axis=3)
XT, WT = tensor((1, 4, 4, 2), X), tensor((2, 2, 4), W)
REFUSED: list[tuple[list[TensorType], Any, dict[str, Any], str]] = [
    ([XT], OUT, {}, "depthwise_conv2d: expected 2 to 3 operands (x, w, bias), got 1"),
    ([tensor((4, 4, 2), X), WT], OUT, {}, "'x' must have the layout NHWC, of rank 4, got rank 3"),
    ([XT, tensor((4, 2, 2, 1), W)], OUT, {}, "'w' must have the layout [height, width, channels], of rank 3, got "
        "rank 4. The operands are tensor<1x4x4x2x"),
    ([tensor(None, X), WT], OUT, {}, "'x' must have the layout NHWC, of rank 4, got an unranked tensor"),
    ([tensor((1, 4, 4, 2), FloatType("f32")), WT], OUT, {}, "'x' must be a tensor of !quant.uniform, got "
        "tensor<1x4x4x2xf32>"),
    ([tensor((1, 4, 4, 2), BY_CHANNEL), WT], OUT, {}, "'x' must have a per-layer type, because sums run over height "
        "and width, got"),
    ([XT, tensor((2, 2, 4), channels(W, 2, 1))], OUT, {}, "'w' must have a type per layer, or per axis along the "
        "output channels (axis 2), got"),
    ([XT, tensor((2, 2, 3), W)], OUT, {}, "the number of output channels of 'w' must be a multiple of the 2 "
        "channels of 'x', got 3"),
    ([tensor((1, 4, 4, 0), X), WT], OUT, {}, "the number of output channels of 'w' must be a multiple of the 0 "
        "channels of 'x', got 4"),
    ([XT, WT], OUT, {"groups": 2}, "depthwise_conv2d: no attribute is named 'groups'"),
    ([XT, WT], OUT, {"strides": (1, 0)}, "'strides' must be two positive integers, got (1, 0)"),
    ([XT, WT], OUT, {"dilations": (1, 1.5)}, "'dilations' must be two positive integers, got (1, 1.5)"),
    ([XT, WT], OUT, {"padding": ((0, 0), (0, -1))}, "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, "
        "right)), got ((0, 0), (0, -1))"),
    ([XT, WT], OUT, {"dilations": (4, 1)}, "a window of 5 elements must not be larger than the "
        "image, which has 4 elements along this axis and padding [0, 0]"),
    ([XT, tensor((0, 2, 4), W)], OUT, {}, "must be at least 1, got 0"),
    ([XT, WT, tensor((2,), I32)], OUT, {}, "'bias' must be a vector with one value for each of the 4 output "
        "channels, got tensor<2x"),
    ([XT, WT, tensor((4,), I32)], None, {}, "no exact result type exists for sums with a bias: give out_type, as in "
        "qrt.depthwise_conv2d(x, w, bias, out_type=t)"),
    ([XT, WT], channels(OUT, 4, 2), {}, "the result must have a type per layer, or per axis along the channels "
        "(axis 3), got"),
    ([XT, WT], OUT, {"requant": "exact"}, "'requant' must be one of fixed"),
    ([XT, WT], OUT.with_(expressed="bf16"), {}, "the same expressed type, got bf16 and f32"),
    ([XT, tensor((None, 2, 4), W)], None, {}, "no exact i32 result type exists, because the number of products in a "
        "sum is dynamic: give out_type, as in qrt.depthwise_conv2d(x, w, out_type=t)"),
    ([XT, tensor((2, 2, 4), channels(W, 3))], OUT, {}, "'w' cannot have the type tensor<2x2x4x"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "out", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(OP, types, out, **attributes)
    assert str(raised.value).startswith(OP)
