"""conv2d against plain loops over windows, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from qrt.cli.bench import ConvCase
from qrt.errors import QuantTypeError
from qrt.numerics import REQUANT_RULES
from qrt.ops.window import resolve_padding
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import CONVS
from tests.ops import naive
from tests.ops.draws import Drawn, convolutions
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import (
    fitted,
    spread_of_product,
    storage_of,
)

X = UniformType("u8", "f32", 0.5, 100)
W = UniformType("i8", "f32", 0.25, storage_min=-127)
OUT = UniformType("i8", "f32", 4.0, -7)
WIDE_OUT = UniformType("i32", "f32", 0.01, -7)  # shows every bit of the accumulator
I32 = UniformType("i32", "f32", 0.125)
SMALL = CONVS


def channels(t: UniformType, count: int, axis: int = 0) -> UniformType:
    return t.with_(
        scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=[i % 4 - 2 for i in range(count)], axis=axis
    )


@pytest.mark.parametrize("case", SMALL, ids=lambda c: c.name)
@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_table_of_shapes(case: ConvCase, rule: str, out: UniformType) -> None:
    """Strides, dilations, uneven padding, groups; weights, bias and result per axis."""
    rng = np.random.default_rng(1)
    count = case.out_channels
    tw, tb = channels(W, count), channels(I32, count)
    x, w = storage_of(X, case.x_shape, rng), storage_of(tw, case.w_shape, rng)
    b = rng.integers(-9999, 9999, count).astype(np.int32)
    types = tensor(case.x_shape, X), tensor(case.w_shape, tw), tensor((count,), tb)
    spread = spread_of_product((x, X), (w, tw), depth=w[0].size)
    to = channels(fitted(out, spread) if out is OUT else out, count, 3)
    got = check_kernels(
        "conv2d", [x, w, b], types, to, constants=[(), (1,), (2,), (1, 2)], requant=rule, **case.attributes
    )
    np.testing.assert_array_equal(got, naive.conv2d(x, w, X, tw, to, rule, case.attributes, (b, tb)))


@pytest.mark.parametrize("padding", ["SAME", "VALID"])
@pytest.mark.parametrize(
    ("size", "kernel", "stride", "dilation"), [(5, 3, 2, 1), (6, 3, 2, 1), (7, 2, 1, 3), (4, 1, 3, 1)]
)
def test_named_padding(padding: str, size: int, kernel: int, stride: int, dilation: int) -> None:
    """TensorFlow's SAME gives ceil(size / stride) windows, the odd element of padding at the end."""
    pads = resolve_padding("conv2d", padding, (size, size), (kernel, kernel), (stride, stride), (dilation, dilation))
    result = infer("conv2d", [tensor((1, size, size, 2), X), tensor((3, kernel, kernel, 2), W)], OUT, padding=pads,
                   strides=(stride, stride), dilations=(dilation, dilation))  # fmt: skip
    windows = -(-size // stride) if padding == "SAME" else (size - (kernel - 1) * dilation - 1) // stride + 1
    assert result.shape == (1, windows, windows, 3)
    assert 0 <= pads[0][1] - pads[0][0] <= 1


@given(convolutions(depthwise=False))
def test_drawn(drawn: Drawn) -> None:
    """Any widths, bounds, zero points and rules on drawn windows: kernels equal the reference, and that the loops."""
    try:
        infer("conv2d", drawn.types, drawn.out, **drawn.attributes)
        reference("conv2d", drawn.arrays, drawn.types, drawn.out, **drawn.attributes)
    except QuantTypeError as error:
        assert "64 bits" in str(error)  # noqa: PT017 - some biases are refused
        return
    got = check_kernels("conv2d", drawn.arrays, drawn.types, drawn.out, constants=drawn.constants, **drawn.attributes)
    if got.size < 60:
        (x, w), (tx, tw, *bias_types) = drawn.arrays[:2], drawn.elements()
        bias = (drawn.arrays[2], bias_types[0]) if bias_types else None
        rule = drawn.attributes["requant"]
        expected = naive.conv2d(x, w, tx, tw, drawn.out, rule, drawn.attributes, bias)
        np.testing.assert_array_equal(got, expected)


def test_no_channels_sum_to_nothing() -> None:
    types = tensor((1, 2, 2, 0), X), tensor((3, 1, 1, 0), W), tensor((3,), I32)
    b = np.int32([8, -16, 320])
    got = check_kernels(
        "conv2d", [np.zeros((1, 2, 2, 0), np.uint8), np.zeros((3, 1, 1, 0), np.int8), b], types, OUT,
        constants=[(), (1, 2)],
    )  # fmt: skip
    assert got[0, 1, 1].tolist() == [-7, -7, 3]


def test_result_without_out_type_is_exact() -> None:
    tw = channels(W, 3)
    types = tensor((1, 3, 3, 2), X), tensor((3, 2, 2, 2), tw)
    element = infer("conv2d", types).element
    assert isinstance(element, UniformType)
    assert (element.storage, element.axis, element.scales) == ("i32", 3, tuple(0.5 * s for s in tw.scales))
    rng = np.random.default_rng(8)
    x, w = storage_of(X, (1, 3, 3, 2), rng), storage_of(tw, (3, 2, 2, 2), rng)
    got = check_kernels("conv2d", [x, w], types)
    first = (x[0, :2, :2].astype(int) - 100) * (w[1].astype(int) - tw.zero_points[1])
    assert got[0, 0, 0, 1] == first.sum()


def test_dynamic_dimensions() -> None:
    types = tensor((None, None, 5, 2), X), tensor((3, 2, 2, 2), W)
    assert infer("conv2d", types, OUT).shape == (None, None, 4, 3)
    types = tensor((1, 4, 5, 2), X), tensor((None, 2, None, 2), W)
    assert infer("conv2d", types, OUT).shape == (1, 3, None, None)


BY_CHANNEL = UniformType("u8", "f32", [0.5, 0.25], axis=3)
XT, WT = tensor((1, 4, 4, 2), X), tensor((3, 2, 2, 2), W)
REFUSED: list[tuple[list[TensorType], Any, dict[str, Any], str]] = [
    ([XT], OUT, {}, "conv2d: expected 2 to 3 operands (x, w, bias), got 1"),
    ([tensor((4, 4, 2), X), WT], OUT, {}, "'x' must have the layout NHWC, of rank 4, got rank 3. The operands are "
        "tensor<4x4x2x"),
    ([XT, tensor((3, 8), W)], OUT, {}, "'w' must have the layout OHWI, of rank 4, got rank 2"),
    ([tensor(None, X), WT], OUT, {}, "'x' must have the layout NHWC, of rank 4, got an unranked tensor"),
    ([tensor((1, 4, 4, 2), FloatType("f32")), WT], OUT, {}, "'x' must be a tensor of !quant.uniform, got "
        "tensor<1x4x4x2xf32>"),
    ([tensor((1, 4, 4, 2), BY_CHANNEL), WT], OUT, {}, "'x' must have a per-layer type, because sums run over "
        "height, width and channels, got"),
    ([XT, tensor((3, 2, 2, 2), channels(W, 2, 3))], OUT, {}, "'w' must have a type per layer, or per axis along the "
        "output channels (axis 0), got"),
    ([XT, WT], OUT, {"groups": 2}, "'groups' must be a positive integer that divides the 3 output channels, got 2"),
    ([XT, WT], OUT, {"groups": 0}, "'groups' must be a positive integer that divides the 3 output channels, got 0"),
    ([XT, WT], OUT, {"groups": "2"}, "'groups' must be a positive integer that divides the 3 output channels, got "
        "'2'"),
    ([XT, WT], OUT, {"groups": 3}, "'x' must have 6 channels, because 'w' has 2 for each of 3 groups, got 2. The "
        "channels are the last axis of 'x' and of 'w'"),
    ([XT, WT], OUT, {"strides": (1, 0)}, "'strides' must be two positive integers, got (1, 0)"),
    ([XT, WT], OUT, {"strides": 2}, "'strides' must be two positive integers, got 2"),
    ([XT, WT], OUT, {"dilations": (1, 1.5)}, "'dilations' must be two positive integers, got (1, 1.5)"),
    ([XT, WT], OUT, {"padding": ((0, 0), (0, -1))}, "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, "
        "right)), got ((0, 0), (0, -1))"),
    ([XT, WT], OUT, {"padding": ((0, 0), (0, 0.5))}, "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, "
        "right)), got ((0, 0), (0, 0.5))"),
    ([XT, WT], OUT, {"padding": 1}, "'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got 1"),
    ([XT, WT], OUT, {"dilations": (4, 1)}, "a window of 5 elements must not be larger than the "
        "image, which has 4 elements along this axis and padding [0, 0]"),
    ([XT, tensor((3, 0, 2, 2), W)], OUT, {}, "must be at least 1, got 0"),
    ([XT, WT, tensor((2,), I32)], OUT, {}, "'bias' must be a vector with one value for each of the 3 output "
        "channels, got tensor<2x"),
    ([XT, WT, tensor((3,), I32)], None, {}, "no exact result type exists for sums with a bias: give out_type, as in "
        "qrt.conv2d(x, w, bias, out_type=t)"),
    ([XT, WT], channels(OUT, 3, 2), {}, "the result must have a type per layer, or per axis along the channels "
        "(axis 3), got"),
    ([XT, WT], OUT, {"requant": "exact"}, "'requant' must be one of fixed"),
    ([XT, WT], OUT.with_(expressed="bf16"), {}, "must have the same expressed type, got bf16 and f32"),
    ([XT, WT], FloatType("f32"), {}, "the result must be a tensor of !quant.uniform"),
    ([XT, tensor((3, None, 2, 2), W)], None, {}, "no exact i32 result type exists, because the number of products "
        "in a sum is dynamic: give out_type, as in qrt.conv2d(x, w, out_type=t)"),
    ([XT, tensor((3, 2, 2, 2), channels(W, 4))], OUT, {}, "'w' cannot have the type tensor<3x2x2x2x"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "out", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("conv2d", types, out, **attributes)
    assert str(raised.value).startswith("conv2d")
