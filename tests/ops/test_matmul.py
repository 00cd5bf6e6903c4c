"""matmul: every shape, axis and rule against plain loops, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given

from qrt.cli import bench
from qrt.cli.bench import GemmCase
from qrt.errors import QuantTypeError
from qrt.numerics import REQUANT_RULES
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import GEMMS
from tests.ops import naive
from tests.ops.draws import Drawn, matmuls
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import (
    fitted,
    generators,
    spread_of_product,
    storage_of,
    uniform_types,
)

I8 = UniformType("i8", "f32", 0.5, 3)
U8 = UniformType("u8", "f32", 0.25, 128)
OUT = UniformType("i8", "f32", 30.0, -5)
WIDE_OUT = UniformType("i32", "f32", 0.01, -5)  # shows every bit of the accumulator
I32 = UniformType("i32", "f32", 0.125)

SHAPES = [
    ((4,), (4,)),
    ((4,), (4, 3)),
    ((2, 4), (4,)),
    ((2, 4), (4, 3)),
    ((2, 3, 4), (4, 5)),
    ((4,), (2, 4, 3)),
    ((2, 3, 4), (4,)),
    ((5, 1, 3, 4), (2, 4, 3)),
    ((1, 3, 4), (6, 4, 2)),
    ((2, 0), (0, 3)),
    ((0, 3), (3, 2)),
    ((0, 3, 4), (0, 4, 5)),
]


def per_axis(t: UniformType, count: int, axis: int) -> UniformType:
    scales = [t.scale * (1 + i / 4) for i in range(count)]
    points = [t.zero_point - i % 3 for i in range(count)]
    return t.with_(scales=scales, zero_points=points, axis=axis)


@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize(("a_shape", "w_shape"), SHAPES)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_shapes(a_shape: tuple[int, ...], w_shape: tuple[int, ...], rule: str, out: UniformType) -> None:
    """Vectors, matrices and broadcast batches by NumPy's rules."""
    rng = np.random.default_rng(len(a_shape))
    a, w = storage_of(I8, a_shape, rng), storage_of(U8, w_shape, rng)
    types = tensor(a_shape, I8), tensor(w_shape, U8)
    got = check_kernels("matmul", [a, w], types, out, constants=[(), (1,)], requant=rule)
    assert got.shape == np.matmul(a, w).shape
    np.testing.assert_array_equal(got, naive.matmul(a, w, I8, U8, out, rule, got.shape))


@pytest.mark.parametrize(
    ("a_shape", "a_axis", "w_shape", "w_axis", "out_axis"),
    [
        ((3, 4), None, (4, 5), 1, None),
        ((3, 4), 0, (4, 5), None, None),
        ((3, 4), 0, (4, 5), 1, None),
        ((3, 4), 0, (4, 5), 1, 1),
        ((3, 4), None, (4, 5), 1, 0),
        ((4,), None, (4, 5), 1, 0),
        ((3, 4), 0, (4,), None, 0),
        ((2, 3, 4), None, (4, 5), 1, 2),
        ((2, 3, 4), 0, (4, 5), 1, None),
        ((2, 3, 4), 1, (2, 4, 5), 0, 0),
        ((2, 3, 4), 0, (2, 4, 5), 2, 1),
        ((1, 3, 4), None, (2, 4, 5), 0, None),
        ((4,), None, (2, 4, 5), 0, 0),
        ((5, 2, 3, 4), 1, (2, 4, 6), 0, 0),
        ((2, 4, 3), 1, (3,), None, None),
    ],
)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_axes(
    a_shape: tuple[int, ...], a_axis: int | None, w_shape: tuple[int, ...], w_axis: int | None, out_axis: int | None,
    rule: str, out: UniformType,
) -> None:  # fmt: skip
    """Parameters along rows, columns and batches of either operand, and of the result."""
    shape = np.matmul(np.zeros(a_shape), np.zeros(w_shape)).shape
    ta = I8 if a_axis is None else per_axis(I8, a_shape[a_axis], a_axis)
    tw = U8 if w_axis is None else per_axis(U8, w_shape[w_axis], w_axis)
    to = out if out_axis is None else per_axis(out, shape[out_axis], out_axis)
    rng = np.random.default_rng(2)
    a, w = storage_of(ta, a_shape, rng), storage_of(tw, w_shape, rng)
    types = tensor(a_shape, ta), tensor(w_shape, tw)
    got = check_kernels("matmul", [a, w], types, to, constants=[(), (1,)], requant=rule)
    np.testing.assert_array_equal(got, naive.matmul(a, w, ta, tw, to, rule, shape))


@pytest.mark.parametrize("w_axis", [None, 1])
@pytest.mark.parametrize(
    "bias",
    [
        I32,  # the accumulator's scale, so it is added as it is
        UniformType("i32", "f32", 0.125, 7),
        UniformType("i32", "f32", 0.1),
        UniformType("i16", "f32", [0.1, 3.0, 0.125], [0, -4, 5], axis=0),
        UniformType("u8", "f32", 0.125),
    ],
)
@pytest.mark.parametrize("rule", REQUANT_RULES)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_bias(bias: UniformType, w_axis: int | None, rule: str, out: UniformType) -> None:
    """Direct and rescaled biases, of any width, constant and given at the call."""
    rng = np.random.default_rng(3)
    tw = U8 if w_axis is None else per_axis(U8, 3, 1)
    a, w = storage_of(I8, (2, 4), rng), storage_of(tw, (4, 3), rng)
    b = rng.integers(max(bias.storage_min, -5000), min(bias.storage_max, 5000), 3).astype(
        storage_of(bias, (1,), rng).dtype
    )
    types = tensor((2, 4), I8), tensor((4, 3), tw), tensor((3,), bias)
    got = check_kernels("matmul", [a, w, b], types, out, constants=[(), (1,), (2,), (1, 2)], requant=rule)
    np.testing.assert_array_equal(got, naive.matmul(a, w, I8, tw, out, rule, (2, 3), (b, bias)))


@pytest.mark.parametrize("value", [2**31 - 1, -(2**31)])
@pytest.mark.parametrize("rule", REQUANT_RULES)
def test_a_bias_at_the_end_of_32_bits_does_not_wrap(value: int, rule: str) -> None:
    a, w = np.full((1, 64), 127 if value > 0 else -128, np.int8), np.full((64, 2), 255, np.uint8)
    b = np.array([value, 0], np.int32)
    out = UniformType("i32", "f32", 1.0)
    types = tensor((1, 64), I8), tensor((64, 2), U8), tensor((2,), I32)
    got = check_kernels("matmul", [a, w, b], types, out, constants=[(), (1, 2)], requant=rule)
    np.testing.assert_array_equal(got, naive.matmul(a, w, I8, U8, out, rule, (1, 2), (b, I32)))
    assert (got[0, 0] > 0) == (value > 0)


def test_a_bias_beside_scales_whose_product_overflows() -> None:
    """The product is no scale of the bias; NumPy warned of it."""
    far, bias, out = (UniformType(*t) for t in (("i8", "f64", 1e200), ("i32", "f64", 1e300), ("i8", "f64", 1e300)))
    arrays = np.int8([[1, 2], [3, 4]]), np.int8([[1, 2], [3, 4]]), np.int32([5, 6])
    types = tensor((2, 2), far), tensor((2, 2), far), tensor((2,), bias)
    assert (check_kernels("matmul", arrays, types, out, requant="fixed") == 127).all()


def test_a_bias_of_a_vector_product_has_one_value() -> None:
    types = tensor((4,), I8), tensor((4,), U8), tensor((1,), I32)
    arrays = np.int8([3, 4, 5, 6]), np.uint8([128, 129, 130, 131]), np.int32([8])
    got = check_kernels("matmul", arrays, types, WIDE_OUT)
    assert got == naive.matmul(*arrays[:2], I8, U8, WIDE_OUT, "fixed", (), (arrays[2], I32))


SUB_CHANNEL = [
    UniformType("i4", "f32", [[0.5, 0.25, 1.0], [2.0, 0.125, 3.0]], block_sizes={0: 3, 1: 2}),
    UniformType("u4", "f32", [[0.5], [0.3], [0.7]], [[8], [0], [15]], block_sizes={0: 2}),
    UniformType("i8", "f32", [[0.5, 0.25, 1.0]], [[1, 2, 3]], block_sizes={1: 2}),
    UniformType("i8", "f32", [[0.1 * i + 0.07 * k for i in range(1, 7)] for k in range(6)], block_sizes={0: 1, 1: 1}),
]


@pytest.mark.parametrize("w_type", SUB_CHANNEL)
@pytest.mark.parametrize("a_shape", [(6,), (3, 6), (2, 3, 6)])
@pytest.mark.parametrize("rule", ["fixed", "float32"])
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("out_axis", [False, True])
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_sub_channel_weights(
    w_type: UniformType, a_shape: tuple[int, ...], rule: str, with_bias: bool, out_axis: bool, out: UniformType
) -> None:
    """Each block its own scale: `fixed` one rounding of the exact weighted sum, `float32` ascending f32 adds."""
    rng = np.random.default_rng(4)
    bias_type = UniformType("i32", "f32", 0.3, 2)
    shape = (*a_shape[:-1], 6)
    to = per_axis(out, 6, len(shape) - 1) if out_axis else out
    a, w = storage_of(I8, a_shape, rng), storage_of(w_type, (6, 6), rng)
    b = rng.integers(-50, 50, 6).astype(np.int32)
    arrays, types = [a, w, b], [tensor(a_shape, I8), tensor((6, 6), w_type), tensor((6,), bias_type)]
    count = 3 if with_bias else 2
    got = check_kernels(
        "matmul", arrays[:count], types[:count], to, constants=[(), (1,), (1, 2)[: count - 1]], requant=rule
    )
    own_bias = (b, bias_type) if with_bias else None
    np.testing.assert_array_equal(got, naive.matmul_blocks(a, w, I8, w_type, to, rule, shape, own_bias))


@pytest.mark.parametrize("scale", [1e300, 1e-300])
def test_sub_channel_scales_outside_float32_are_errors(scale: float) -> None:
    """An infinite or zero factor of a block would decide every sum of its column."""
    a, out = UniformType("i8", "f64", 1.0), UniformType("i8", "f64", 1.0)
    w = UniformType("i8", "f64", [[1.0], [scale]], block_sizes={0: 2})
    types = tensor((1, 4), a), tensor((4, 2), w)
    arrays = np.ones((1, 4), np.int8), np.ones((4, 2), np.int8)
    with pytest.raises(QuantTypeError, match="the range of float32: use requant = 'fixed'"):
        check_kernels("matmul", arrays, types, out, requant="float32")
    check_kernels("matmul", arrays, types, out, constants=[(), (1,)])


@pytest.mark.parametrize("case", [c for c in (*GEMMS, *bench.GEMMS) if c.operations < 2**22], ids=lambda c: c.name)
@pytest.mark.parametrize("rule", ["fixed", "float32"])
def test_table_of_shapes(case: GemmCase, rule: str) -> None:
    """The shared table on every kernel, with a bias and per-axis weights where they are not batched."""
    rng = np.random.default_rng(6)
    tw = UniformType("i8", "f32", 0.02)
    if case.batch == 1 and case.n:
        tw = per_axis(tw, case.n, 1)
    a, w, b = storage_of(U8, case.a_shape, rng), storage_of(tw, case.w_shape, rng), rng.integers(-999, 999, case.n)
    types = [tensor(case.a_shape, U8), tensor(case.w_shape, tw), tensor((case.n,), UniformType("i32", "f32", 0.005))]
    to = fitted(UniformType("i8", "f32", 1.0, 4), spread_of_product((a, U8), (w, tw), depth=case.k))
    check_kernels("matmul", [a, w, b.astype(np.int32)], types, to, constants=[(), (1,), (1, 2)], requant=rule)


@given(matmuls())
def test_drawn(drawn: Drawn) -> None:
    """Any widths, bounds, zero points, axes and rules: each kernel equals the reference, and that the loops."""
    try:
        got, _ = reference("matmul", drawn.arrays, drawn.types, drawn.out, **drawn.attributes)
    except QuantTypeError as error:
        assert re.search("overflows|underflows|below 2|64 bits", str(error))  # noqa: PT017 - some draws are refused
        return
    check_kernels("matmul", drawn.arrays, drawn.types, drawn.out, constants=drawn.constants, **drawn.attributes)
    (a, w), (ta, tw, *bias_types) = drawn.arrays[:2], drawn.elements()
    bias = (drawn.arrays[2], bias_types[0]) if bias_types else None
    np.testing.assert_array_equal(
        got, naive.matmul(a, w, ta, tw, drawn.out, drawn.attributes["requant"], got.shape, bias)
    )


@given(uniform_types(widths=range(1, 9)), uniform_types(widths=range(1, 9)), generators())
def test_result_without_out_type_is_exact(ta: UniformType, tw: UniformType, rng: np.random.Generator) -> None:
    a, w = storage_of(ta, (3, 5), rng), storage_of(tw, (5, 2), rng)
    types = tensor((3, 5), ta), tensor((5, 2), tw)
    got = check_kernels("matmul", [a, w], types)
    element = infer("matmul", types).element
    assert isinstance(element, UniformType)
    assert (element.storage, element.scale, element.zero_point) == ("i32", ta.scale * tw.scale, 0)
    exact = (a.astype(np.int64) - ta.zero_point) @ (w.astype(np.int64) - tw.zero_point)
    np.testing.assert_array_equal(got, exact)


@pytest.mark.parametrize(("a_axis", "w_axis", "out_axis"), [(None, 1, 1), (0, None, 0), (None, None, None)])
def test_result_without_out_type_keeps_channels(a_axis: int | None, w_axis: int | None, out_axis: int | None) -> None:
    ta = I8 if a_axis is None else per_axis(I8, 3, 0)
    tw = U8 if w_axis is None else per_axis(U8, 5, 1)
    element = infer("matmul", [tensor((3, 4), ta), tensor((4, 5), tw)]).element
    assert isinstance(element, UniformType)
    assert element.axis == out_axis
    assert element.scales == tuple(s * t for s in ta.scales for t in tw.scales)


def test_batch_channels_move_to_the_axis_of_the_result() -> None:
    tw = per_axis(U8, 2, 0)
    element = infer("matmul", [tensor((5, 1, 3, 4), I8), tensor((2, 4, 6), tw)]).element
    assert isinstance(element, UniformType)
    assert element.axis == 1


def test_dynamic_dimensions() -> None:
    out = infer("matmul", [tensor((None, 4), I8), tensor((4, None), U8)], OUT)
    assert out == tensor((None, None), OUT)
    assert infer("matmul", [tensor((None, None), I8), tensor((4, 5), U8)], OUT).shape == (None, 5)
    assert infer("matmul", [tensor((None, 3, 4), I8), tensor((2, 4, 5), U8)], OUT).shape == (2, 3, 5)
    assert infer("matmul", [tensor((None, 3, 4), I8), tensor((1, 4, 5), U8)], OUT).shape == (None, 3, 5)


FLOAT = FloatType("f32")
SUB = UniformType("i8", "f32", [[0.5], [0.5]], block_sizes={0: 2})
WIDE = UniformType("i32", "f32", 0.5)

REFUSED: list[tuple[list[TensorType], Any, dict[str, str], str]] = [
    ([tensor((2, 4), FLOAT), tensor((4, 3), U8)], OUT, {}, "'a' must be a tensor of !quant.uniform, got "
        "tensor<2x4xf32>"),
    ([tensor((2, 4), I8), tensor((4, 3), FLOAT)], OUT, {}, "'w' must be a tensor of !quant.uniform, got "
        "tensor<4x3xf32>"),
    ([tensor((2, 4), I8)], OUT, {}, "matmul: expected 2 to 3 operands (a, w, bias), got 1"),
    ([tensor((), I8), tensor((4, 3), U8)], OUT, {}, "'a' must have rank 1 or more, got rank 0"),
    ([tensor(None, I8), tensor((4, 3), U8)], OUT, {}, "'a' must have rank 1 or more, got an unranked tensor"),
    ([tensor((2, 4), I8), tensor((5, 3), U8)], OUT, {}, "the contracted dimensions of 'a' and 'w' must have the "
        "same size, got 4 and 5"),
    ([tensor((2, 3, 4), I8), tensor((3, 4, 5), U8)], OUT, {}, "'a' and 'w' must have batch shapes that broadcast, "
        "got [2] and [3]"),
    ([tensor((2, 4), per_axis(I8, 4, 1)), tensor((4, 3), U8)], OUT, {}, "along axis 1, which is contracted"),
    ([tensor((2, 4), I8), tensor((4, 3), per_axis(U8, 4, 0))], OUT, {},
     "'w' must not have several scales along axis 0, which is contracted, got"),
    ([tensor((4,), I8), tensor((4,), per_axis(U8, 4, 0))], OUT, {},
     "'w' must not have several scales along axis 0, which is contracted, got"),
    ([tensor((4, 3), SUB), tensor((3, 4), U8)], OUT, {}, "'a' must have a type per layer or per axis, got the "
        "sub-channel type"),
    ([tensor((2, 4), I8), tensor((4, 3), SUB)], OUT, {"requant": "float64_away"}, "'requant' must be 'fixed' or "
        "'float32' for weights of a sub-channel type, got 'float64_away'"),
    ([tensor((2, 4), per_axis(I8, 2, 0)), tensor((4, 3), SUB)], OUT, {}, "'a' must have a per-layer type, because "
        "'w' has a sub-channel type, got"),
    ([tensor((2, 4), I8), tensor((4, 3), SUB)], per_axis(OUT, 2, 0), {}, "the result must have a type per layer, or "
        "per axis along the last axis, because 'w' has a sub-channel type, got"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], SUB, {}, "the result must have a type per layer or per axis, "
        "got the sub-channel type"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], FLOAT, {}, "the result must be a tensor of !quant.uniform"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], OUT, {"requant": "up"}, "'requant' must be one of fixed, fixed_double"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], OUT.with_(expressed="f16"), {}, "the same expressed type, "
        "got f16 and f32"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], per_axis(OUT, 2, 1), {}, "dimension 1 has size 3, the type "
        "has 2 scales"),
    ([tensor((2, 4), I8), tensor((4, 3), U8.with_(zero_points=256))], OUT, {}, "'w' must have zero points in [0, "
        "255], the range of its storage type u8, got 256 in"),
    ([tensor((2, 4), I8), tensor((4, 3), U8)], OUT.with_(zero_points=-129), {}, "the result must have zero points in "
        "[-128, 127]"),
    ([tensor((2, 4), WIDE), tensor((4, 3), WIDE)], OUT, {}, "the accumulator may reach 18446744073709551616"),
    ([tensor((2, 4), I8), tensor((4, 3), WIDE)], None, {}, "no exact i32 result type exists, because the "
        "accumulator may reach 1125281431552: give out_type, as in qrt.matmul(a, w, out_type=t)"),
    ([tensor((2, None), I8), tensor((None, 3), U8)], None, {},
     "no exact i32 result type exists, because the number of products in a sum is dynamic: give out_type, as in "
         "qrt.matmul(a, w, out_type=t)"),
    ([tensor((2, 4), per_axis(I8, 2, 0)), tensor((4, 3), per_axis(U8, 3, 1))], None, {}, "no exact result type "
        "exists for the product of"),
    ([tensor((2, 4), I8), tensor((4, 3), SUB)], None, {}, "no exact result type exists for the product of"),
    ([tensor((2, 4), I8), tensor((4, 3), U8), tensor((3,), I32)], None, {}, "no exact result type exists for sums "
        "with a bias: give out_type, as in qrt.matmul(a, w, bias, out_type=t)"),
    ([tensor((2, 4), I8), tensor((4, 3), U8), tensor((4,), I32)], OUT, {},
     "'bias' must be a vector with one value for each of the 3 output channels, got tensor<4x"),
    ([tensor((2, 4), I8), tensor((4, 3), U8), tensor((1, 3), I32)], OUT, {},
     "'bias' must be a vector with one value for each of the 3 output channels, got tensor<1x3x"),
    ([tensor((2, 4), I8), tensor((4, 3), U8), tensor((3,), FLOAT)], OUT, {}, "'bias' must be a tensor of "
        "!quant.uniform, got tensor<3xf32>"),
    ([tensor((2, 4), per_axis(I8, 2, 0)), tensor((4, 3), U8), tensor((3,), I32)], OUT, {},
     "'a' must have a per-layer type if 'bias' is given, got"),
    ([tensor((2, 4), I8), tensor((3, 4, 3), per_axis(U8, 3, 0)), tensor((3,), I32)], OUT, {},
     "'w' must have a type per layer, or per axis along the output channels (axis 2), if 'bias' is given, got"),
]  # fmt: skip


@pytest.mark.parametrize(("types", "out", "attributes", "message"), REFUSED)
def test_refuses(types: list[TensorType], out: Any, attributes: dict[str, str], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("matmul", types, out, **attributes)
    assert str(raised.value).startswith("matmul")


def test_unknown_attribute() -> None:
    with pytest.raises(QuantTypeError, match="matmul: no attribute is named 'bits': the attributes are requant"):
        infer("matmul", [tensor((2, 4), I8), tensor((4, 3), U8)], OUT, bits=8)
