"""matmul and the convolutions lowered: the interpreter and a planned program on the lowered IR give the bits of the
kernels and of the reference, in either form and with either strategy for zero points."""

from typing import Any

import numpy as np
import pytest

from qrt.cli.bench import ConvCase, DepthwiseCase
from qrt.types import UniformType
from tests.cases import CONVS, DEPTHWISE
from tests.ir.passes.lower_qrt.harness import OPTIONS, check_lowered, lowered, program, run
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import storage_of

I8 = UniformType("i8", "f32", 0.5, 3)
U8 = UniformType("u8", "f32", 0.25, 128)
OUT = UniformType("i8", "f32", 30.0, -5)
WIDE_OUT = UniformType("i32", "f32", 0.01, -5)  # shows every bit of the accumulator
I32 = UniformType("i32", "f32", 0.125)


def per_axis(t: UniformType, count: int, axis: int) -> UniformType:
    scales = [t.scale * (1 + i / 4) for i in range(count)]
    return t.with_(scales=scales, zero_points=[t.zero_point - i % 3 for i in range(count)], axis=axis)


SHAPES = [
    ((4,), (4,)), ((4,), (4, 3)), ((2, 4), (4,)), ((2, 3, 4), (4, 5)), ((4,), (2, 4, 3)), ((2, 3, 4), (4,)),
    ((5, 1, 3, 4), (2, 4, 3)), ((1, 3, 4), (6, 4, 2)), ((2, 0), (0, 3)), ((0, 3), (3, 2)), ((0, 3, 4), (0, 4, 5)),
]  # fmt: skip


@pytest.mark.parametrize(("a_shape", "w_shape"), SHAPES)
def test_shapes(a_shape: tuple[int, ...], w_shape: tuple[int, ...]) -> None:
    """Vectors, broadcast batches, K = 0 and results without elements."""
    rng = np.random.default_rng(len(a_shape))
    arrays = storage_of(I8, a_shape, rng), storage_of(U8, w_shape, rng)
    check_lowered("matmul", arrays, [tensor(a_shape, I8), tensor(w_shape, U8)], WIDE_OUT)


@pytest.mark.parametrize(
    ("a_shape", "a_axis", "w_shape", "w_axis", "out_axis"),
    [
        ((3, 4), 0, (4, 5), 1, None),
        ((3, 4), 0, (4, 5), 1, 0),
        ((4,), None, (4, 5), 1, 0),
        ((2, 3, 4), 0, (4, 5), 1, None),
        ((2, 3, 4), 1, (2, 4, 5), 0, 0),
        ((1, 3, 4), None, (2, 4, 5), 0, None),
        ((5, 2, 3, 4), 1, (2, 4, 6), 0, 0),
        ((2, 4, 3), 1, (3,), None, None),
    ],
)
def test_axes(
    a_shape: tuple[int, ...], a_axis: int | None, w_shape: tuple[int, ...], w_axis: int | None, out_axis: int | None
) -> None:
    """Parameters along rows, columns and batches: each read at its own loop."""
    shape = np.matmul(np.zeros(a_shape), np.zeros(w_shape)).shape
    ta = I8 if a_axis is None else per_axis(I8, a_shape[a_axis], a_axis)
    tw = U8 if w_axis is None else per_axis(U8, w_shape[w_axis], w_axis)
    to = WIDE_OUT if out_axis is None else per_axis(WIDE_OUT, shape[out_axis], out_axis)
    rng = np.random.default_rng(2)
    arrays = storage_of(ta, a_shape, rng), storage_of(tw, w_shape, rng)
    check_lowered("matmul", arrays, [tensor(a_shape, ta), tensor(w_shape, tw)], to, options=OPTIONS[::3])


@pytest.mark.parametrize(
    "bias",
    [
        I32,  # the accumulator's scale, so it is added as it is
        UniformType("i32", "f32", 0.125, 7),
        UniformType("i16", "f32", [0.1, 3.0, 0.125], [0, -4, 5], axis=0),
        UniformType("u8", "f32", 0.125),
    ],
)
@pytest.mark.parametrize("rule", ["fixed", "fixed_double"])
@pytest.mark.parametrize("end", ["storage_min", "storage_max"])
def test_bias(bias: UniformType, rule: str, end: str) -> None:
    """Direct and rescaled, at the ends of its type: past 32 bits with a constant or a bias given at each run."""
    rng = np.random.default_rng(3)
    arrays = storage_of(I8, (2, 4), rng), storage_of(U8, (4, 3), rng), np.full(3, getattr(bias, end))
    types = tensor((2, 4), I8), tensor((4, 3), U8), tensor((3,), bias)
    typed = [*arrays[:2], arrays[2].astype(storage_of(bias, (1,), rng).dtype)]
    check_lowered("matmul", typed, types, WIDE_OUT, [(), (1, 2)], OPTIONS[:1], requant=rule)


@pytest.mark.parametrize(
    "bias",
    [
        I32,
        UniformType("i32", "f32", 0.125, 7),
        UniformType("i32", "f32", [0.01, 0.1, 1.0], [-(2**31), 2**30, 3], axis=0),
    ],
)
@pytest.mark.parametrize("end", ["storage_min", "storage_max"])
def test_a_bias_of_32_bits_given_at_each_run_takes_64_bits(bias: UniformType, end: str) -> None:
    """Its largest magnitude is 2**31 (2**32 with a zero point at an end), the sum's little more."""
    rng = np.random.default_rng(3)
    out = UniformType("i32", "f32", 0.5, -(2**31))
    arrays = storage_of(I8, (2, 4), rng), storage_of(U8, (4, 3), rng), np.full(3, getattr(bias, end), np.int32)
    types = tensor((2, 4), I8), tensor((4, 3), U8), tensor((3,), bias)
    check_lowered("matmul", arrays, types, out, options=OPTIONS[::3])
    text = str(lowered(program("matmul", arrays, types, tensor((2, 3), out))))
    assert ("mulsi_extended" in text) == (len(bias.scales) > 1)


@pytest.mark.parametrize("depth", [33025, 33026, 132102, 132103])
@pytest.mark.parametrize("options", OPTIONS[::2])
def test_sums_near_32_bits(depth: int, options: str) -> None:
    """33025 * 255 * 255 is the last bound below 2**31 (by 2146): i32 up to there, i64 after it, and no sum wraps.

    The multiplier is 2**30, so that 64 bits hold the products of sums up to 2**33 - 5.
    """
    ta, tw = UniformType("u8", "f32", 1.0), UniformType("u8", "f32", 1.0, 255)
    arrays = np.full((1, depth), 255, np.uint8), np.zeros((depth, 1), np.uint8)
    types = tensor((1, depth), ta), tensor((depth, 1), tw)
    out = UniformType("i32", "f32", 8.0)
    text = program("matmul", arrays, types, tensor((1, 1), out))
    assert ("extsi" in str(lowered(text, options))) == (depth == 33025)
    assert ("mulsi_extended" in str(lowered(text, options))) == (depth == 132103)
    got = run(lowered(text, options), arrays, interpret=True)
    assert got.item() == (-depth * 255 * 255 * 2**30 + 2**32) // 2**33
    check_kernels("matmul", arrays, types, out)


SUB_CHANNEL = [
    UniformType("i4", "f32", [[0.5, 0.25, 1.0], [2.0, 0.125, 3.0]], block_sizes={0: 3, 1: 2}),
    UniformType("u4", "f32", [[0.5], [0.3], [0.7]], [[8], [0], [15]], block_sizes={0: 2}),
    UniformType("i8", "f32", [[0.5, 0.25, 1.0]], [[1, 2, 3]], block_sizes={1: 2}),
    UniformType("i32", "f32", [[1e-9], [1e9]], [[5], [-(2**31)]], block_sizes={0: 3}),
]


@pytest.mark.parametrize("w_type", SUB_CHANNEL)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("with_bias", [False, True])
def test_sub_channel_weights(w_type: UniformType, rule: str, with_bias: bool) -> None:
    """Blocks with their own scales and zero points, sums past 64 bits before the one rounding of `fixed`."""
    rng = np.random.default_rng(4)
    bias = UniformType("i32", "f32", 0.3, 2)
    arrays = [storage_of(I8, (2, 3, 6), rng), storage_of(w_type, (6, 6), rng), rng.integers(-50, 50, 6, np.int32)]
    types = [tensor((2, 3, 6), I8), tensor((6, 6), w_type), tensor((6,), bias)]
    count = 2 + with_bias
    check_lowered("matmul", arrays[:count], types[:count], per_axis(WIDE_OUT, 6, 2), requant=rule)


@pytest.mark.parametrize("case", CONVS, ids=lambda c: c.name)
def test_convolutions(case: ConvCase) -> None:
    """The shared table: groups, strides, dilations, uneven paddings."""
    rng = np.random.default_rng(1)
    arrays = storage_of(U8, case.x_shape, rng), storage_of(I8, case.w_shape, rng)
    types = tensor(case.x_shape, U8), tensor(case.w_shape, I8)
    check_lowered("conv2d", arrays, types, WIDE_OUT, options=OPTIONS[::3], **case.attributes)


@pytest.mark.parametrize("case", DEPTHWISE, ids=lambda c: c.name)
def test_depthwise_convolutions(case: DepthwiseCase) -> None:
    rng = np.random.default_rng(1)
    arrays = storage_of(U8, case.x_shape, rng), storage_of(I8, case.w_shape, rng)
    types = tensor(case.x_shape, U8), tensor(case.w_shape, I8)
    check_lowered("depthwise_conv2d", arrays, types, WIDE_OUT, options=OPTIONS[::3], **case.attributes)


@pytest.mark.parametrize("options", OPTIONS)
def test_a_constant_image_under_filters_of_unknown_size(options: str) -> None:
    """Its sums over the windows are no constants."""
    rng = np.random.default_rng(6)
    x, w = storage_of(I8, (1, 4, 3, 2), rng), storage_of(U8, (3, 2, 1, 2), rng)
    types = tensor(x.shape, I8), tensor((3, None, None, 2), U8)
    module = lowered(program("conv2d", [x, w], types, infer("conv2d", types, OUT), fixed=(0,)), options)
    expected, _ = reference("conv2d", [x, w], [tensor(x.shape, I8), tensor(w.shape, U8)], OUT)
    np.testing.assert_array_equal(run(module, [w], interpret=True), expected)


DYNAMIC: list[tuple[str, tuple[Any, ...], tuple[Any, ...], dict[str, Any]]] = [
    ("matmul", ((2, 3, 4), (None, 3, 4)), ((4, 5), (4, 5)), {}),
    ("matmul", ((3, 4), (None, None)), ((4, 5), (None, None)), {}),
    ("matmul", ((2, 3, 4), (None, 3, 4)), ((2, 4, 5), (2, None, 5)), {}),
    ("conv2d", ((2, 7, 6, 2), (None, None, None, 2)), ((3, 2, 3, 2), (None, None, None, 2)), {"strides": (2, 1)}),
    ("conv2d", ((1, 7, 6, 4), (1, None, 6, None)), ((6, 2, 3, 2), (6, 2, 3, 2)), {"groups": 2, "dilations": (1, 2)}),
    ("depthwise_conv2d", ((1, 7, 6, 2), (None, None, 6, 2)), ((2, 3, 4), (None, None, 4)), {}),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize(("name", "a", "w", "attributes"), DYNAMIC)
def test_dynamic_shapes(
    name: str, a: tuple[Any, ...], w: tuple[Any, ...], attributes: dict[str, Any], options: str
) -> None:
    """Extents are read from the operands; a reduction of a depth that is not known is summed in 64 bits."""
    rng = np.random.default_rng(5)
    if name != "matmul":
        attributes = {**attributes, "padding": ((1, 0), (2, 1))}
    arrays = [storage_of(I8, a[0], rng), storage_of(U8, w[0], rng)]
    expected, _ = reference(name, arrays, [tensor(a[0], I8), tensor(w[0], U8)], OUT, **attributes)
    types = tensor(a[1], I8), tensor(w[1], U8)
    module = lowered(program(name, arrays, types, infer(name, types, OUT, **attributes), **attributes), options)
    for interpret in (True, False):
        np.testing.assert_array_equal(run(module, arrays, interpret), expected)
