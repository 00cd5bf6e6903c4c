"""add, sub, mul against plain loops over the broadcast, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt.errors import QuantTypeError
from qrt.numerics import SUM_RULES
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import BINARIES, BinaryCase
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import generators, maybe_per_axis, rules, shapes, storage_of

A = UniformType("i8", "f32", 0.5, 3)
B = UniformType("u8", "f32", 0.3, 128)
OUT = UniformType("i8", "f32", 0.7, -2)
WIDE_OUT = UniformType("i32", "f32", 0.01, -2)
KINDS = ["add", "sub", "mul"]


def channels(t: UniformType, count: int, axis: int) -> UniformType:
    return t.with_(scales=[t.scale * (1 + i / 5) for i in range(count)], zero_points=list(range(count)), axis=axis)


@pytest.mark.parametrize("case", BINARIES, ids=lambda c: c.name)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
def test_table_of_shapes(kind: str, case: BinaryCase, out: UniformType) -> None:
    rng = np.random.default_rng(1)
    a, b = storage_of(A, case.a, rng), storage_of(B, case.b, rng)
    got = check_kernels(kind, [a, b], [tensor(case.a, A), tensor(case.b, B)], out)
    assert got.shape == np.broadcast_shapes(case.a, case.b)
    np.testing.assert_array_equal(got, naive.binary(kind, a, b, A, B, out, "fixed", got.shape))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("out", [OUT, WIDE_OUT])
@pytest.mark.parametrize(
    ("a_shape", "a_axis", "b_shape", "b_axis", "out_axis"),
    [
        ((2, 3), 1, (2, 3), None, None),
        ((2, 3), 1, (3,), 0, 1),
        ((2, 3), 0, (2, 3), 1, None),
        ((4, 2, 3), 1, (2, 1), 0, 1),
        ((2, 1), 1, (1, 3), None, 1),  # one channel, broadcast over an axis that is per axis in the result
        ((2, 3), None, (3,), None, 0),
    ],
)
def test_axes(
    kind: str, a_shape: tuple[int, ...], a_axis: int | None, b_shape: tuple[int, ...], b_axis: int | None,
    out_axis: int | None, out: UniformType,
) -> None:  # fmt: skip
    shape = np.broadcast_shapes(a_shape, b_shape)
    ta = A if a_axis is None else channels(A, a_shape[a_axis], a_axis)
    tb = B if b_axis is None else channels(B, b_shape[b_axis], b_axis)
    to = out if out_axis is None else channels(out, shape[out_axis], out_axis)
    rng = np.random.default_rng(2)
    a, b = storage_of(ta, a_shape, rng), storage_of(tb, b_shape, rng)
    got = check_kernels(kind, [a, b], [tensor(a_shape, ta), tensor(b_shape, tb)], to)
    np.testing.assert_array_equal(got, naive.binary(kind, a, b, ta, tb, to, "fixed", shape))


@st.composite
def broadcast(draw: st.DrawFn) -> tuple[tuple[int, ...], tuple[int, ...]]:
    shape = draw(shapes(draw(st.integers(0, 3)), 5))
    a, b = (tuple(draw(st.sampled_from([d, 1])) for d in shape) for _ in range(2))
    return a[draw(st.integers(0, len(a))) :], b


@given(st.data(), generators(), broadcast())
@pytest.mark.parametrize("kind", KINDS)
def test_drawn(
    kind: str, data: st.DataObject, rng: np.random.Generator, pair: tuple[tuple[int, ...], tuple[int, ...]]
) -> None:
    """Any widths, bounds, zero points, axes and rules: each kernel equals the reference, and that the loops."""
    scales = st.floats(1e-3, 1e3)
    shape = np.broadcast_shapes(*pair)
    types = []
    for own in (*pair, shape):
        axis = data.draw(st.integers(0, len(own) - 1)) if own else 0
        types.append(data.draw(maybe_per_axis(own[axis] if own else 0, axis, scales=scales)))
    ta, tb, to = types
    rule = data.draw(rules() | st.just("zero_point_first")) if kind == "mul" else "fixed"
    a, b = storage_of(ta, pair[0], rng), storage_of(tb, pair[1], rng)
    operands = [tensor(pair[0], ta), tensor(pair[1], tb)]
    try:
        infer(kind, operands, to, requant=rule)
    except QuantTypeError as error:
        assert re.search("64 bits", str(error))  # noqa: PT017 - some draws are refused
        return
    got = check_kernels(kind, [a, b], operands, to, requant=rule)
    np.testing.assert_array_equal(got, naive.binary(kind, a, b, ta, tb, to, rule, shape))


def test_sums_round_once_and_half_up() -> None:
    """3 * 0.5 + 0 and -3 * 0.5 + 0 are ties in units of 1.0; two halves that rounded apart would be 2 and not 1."""
    half, one = UniformType("i8", "f32", 0.5), UniformType("i8", "f32", 1.0)
    a, b = np.int8([3, -3, 1]), np.int8([0, 0, 1])
    types = [tensor((3,), half)] * 2
    assert check_kernels("add", [a, b], types, one).tolist() == [2, -1, 1]
    assert check_kernels("sub", [a, b], types, one).tolist() == [2, -1, 0]


@pytest.mark.parametrize("kind", KINDS)
def test_result_without_out_type_is_exact(kind: str) -> None:
    tb = B.with_(scales=0.5)
    a, b = np.int8([[-128], [127]]), np.uint8([0, 255, 7])
    got = check_kernels(kind, [a, b], [tensor((2, 1), A), tensor((3,), tb)])
    element = infer(kind, [tensor((2, 1), A), tensor((3,), tb)]).element
    assert element == UniformType("i32", "f32", 0.25 if kind == "mul" else 0.5)
    x, y = a.astype(int) - 3, b.astype(int) - 128
    np.testing.assert_array_equal(got, {"add": x + y, "sub": x - y, "mul": x * y}[kind])


def test_result_without_out_type_keeps_channels() -> None:
    ta = channels(A, 3, 1)
    assert infer("add", [tensor((4, 2, 3), ta.with_(axis=2)), tensor((2, 3), ta)]).element == UniformType(
        "i32", "f32", ta.scales, axis=2
    )
    assert infer("mul", [tensor((2, 3), ta), tensor((3,), B)]).element == UniformType(
        "i32", "f32", [s * 0.3 for s in ta.scales], axis=1
    )


def test_dynamic_dimensions() -> None:
    assert infer("add", [tensor((None, 3), A), tensor((1, 3), B)], OUT).shape == (None, 3)
    assert infer("add", [tensor((None, 3), A), tensor((5, 1), B)], OUT).shape == (5, 3)
    assert infer("add", [tensor((None,), A), tensor((None,), B)], OUT).shape == (None,)


SUB = UniformType("i8", "f32", [[0.5]], block_sizes={0: 2})
WIDE = UniformType("i32", "f32", 0.5)
AT = tensor((2, 3), A)

REFUSED: list[tuple[list[str], list[TensorType], Any, dict[str, str], str]] = [
    (KINDS, [AT], OUT, {}, "expected 2 operands (a, b), got 1"),
    (
        KINDS,
        [AT, tensor((2, 3), FloatType("f32"))],
        OUT,
        {},
        "'b' must be a tensor of !quant.uniform, got tensor<2x3xf32>",
    ),
    (KINDS, [AT, tensor(None, B)], OUT, {}, "'b' must be a ranked tensor, got tensor<*x"),
    (
        KINDS,
        [AT, tensor((4,), B)],
        OUT,
        {},
        "'a' and 'b' must have shapes that broadcast, got [2, 3] and [4]. The operands are tensor<2x3x",
    ),
    (KINDS, [AT, tensor((2, 1), SUB)], OUT, {}, "'b' must have a type per layer or per axis, got the sub-channel type"),
    (KINDS, [AT, tensor((3,), B)], FloatType("f32"), {}, "the result must be a tensor of !quant.uniform"),
    (
        KINDS,
        [AT, tensor((3,), B)],
        OUT.with_(expressed="f64"),
        {},
        "must have the same expressed type, got f32 and f64",
    ),
    (KINDS, [AT, tensor((3,), B)], channels(OUT, 2, 1), {}, "dimension 1 has size 3, the type has 2 scales"),
    (
        KINDS,
        [AT, tensor((3,), B.with_(zero_points=-1))],
        OUT,
        {},
        "'b' must have zero points in [0, 255], the range of its storage type u8, got -1 in",
    ),
    (
        KINDS,
        [tensor((2, 2), channels(A, 2, 0)), tensor((2, 2), channels(A, 2, 1))],
        None,
        {},
        "no exact result type exists for operands with scales along different axes of the result, 0 and 1: give "
        "out_type, as in",
    ),
    (
        ["add", "sub"],
        [AT, tensor((3,), B)],
        None,
        {},
        "no exact result type exists for operands with different scales: give out",
    ),
    (
        ["add", "sub"],
        [AT, tensor((3,), B)],
        OUT,
        {"requant": "float32"},
        "'requant' must be one of fixed, fixed",
    ),
    (["add", "sub"], [AT, tensor((3,), WIDE)], OUT.with_(scales=1e-9), {}, ": the sum would overflow 64 bits"),
    (
        ["add", "sub"],
        [tensor((3,), WIDE)] * 2,
        None,
        {},
        "no exact i32 result type exists, because the result may reach 4294967296: give out_type, as in",
    ),
    (["mul"], [tensor((3,), WIDE), AT], None, {}, "no exact i32 result type exists"),
    (["mul"], [tensor((3,), WIDE)] * 2, OUT, {}, "the accumulator may reach 4611686018427387904"),
    (
        ["mul"],
        [tensor((2, 3), channels(A, 3, 1))] * 2,
        None,
        {},
        "no exact result type exists for two operands of "
        "per-axis types: give out_type, as in qrt.mul(a, b, out_type=t)",
    ),
    (["mul"], [AT, AT], OUT, {"requant": "nearest"}, "'requant' must be one of fixed"),
]


@pytest.mark.parametrize(("kinds", "types", "out", "attributes", "message"), REFUSED)
def test_refuses(kinds: list[str], types: list[TensorType], out: Any, attributes: dict[str, str], message: str) -> None:
    for kind in kinds:
        with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
            infer(kind, types, out, **attributes)
        assert str(raised.value).startswith(kind)


SUMS = [
    UniformType("i8", "f32", 0.02, -3),
    UniformType("u8", "f32", 0.031, 255),
    UniformType("i16", "f32", 0.0004),
    UniformType("i4", "f32", 0.11, 7),
]


@pytest.mark.parametrize("kind", ["add", "sub"])
@pytest.mark.parametrize("rule", SUM_RULES)
@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 32, 33, 250])
def test_rules_of_sums(kind: str, rule: str, size: int) -> None:
    """Sizes around blocks of 16, ratios of scales from far below the other to near it, all values of small storage."""
    rng = np.random.default_rng(size)
    for ratio in (1.0, 1.7, 0.3, 2.0**-7, 2.0**-17):
        ta, tb, to = (SUMS[i] for i in rng.integers(len(SUMS), size=3))
        if rule == "scaled20" and ratio < 2.0**-10:
            continue
        ta, tb = ta.with_(scales=to.scale * float(rng.choice([0.7, 1.3]))), tb.with_(scales=to.scale * ratio)
        arrays = [storage_of(t, (size,), rng) for t in (ta, tb)]
        types = [tensor((size,), t) for t in (ta, tb)]
        got = check_kernels(kind, arrays, types, to, requant=rule)
        np.testing.assert_array_equal(got, naive.binary(kind, *arrays, ta, tb, to, rule, (size,)))


@pytest.mark.parametrize(
    ("rule", "scales", "message"),
    [
        (
            "scaled20",
            (2.0**8, 1.0, 1.0),
            r"requant = 'scaled20' needs the scale of an operand divided by that of the result in \[2\*\*-10, "
            r"2\*\*8\), got",
        ),
        (
            "scaled20",
            (1.0, 2.0**-11, 1.0),
            r"requant = 'scaled20' needs the scale of an operand divided by that of "
            r"the result in \[2\*\*-10, 2\*\*8\), got",
        ),
        (
            "fixed_double",
            (2.0**19, 1.0, 1.0),
            r"requant = 'fixed_double' needs the scale of an operand divided by "
            r"that of the result below 2\*\*19, got 524288",
        ),
    ],
)
def test_scales_that_a_rule_of_sums_does_not_take(rule: str, scales: tuple[float, ...], message: str) -> None:
    ta, tb, to = (UniformType("i8", "f32", scale) for scale in scales)
    with pytest.raises(QuantTypeError, match=message):
        reference("add", [np.zeros(1, np.int8)] * 2, [tensor((1,), t) for t in (ta, tb)], to, requant=rule)


def test_types_that_a_rule_of_sums_does_not_take() -> None:
    wide, byte = UniformType("i32", "f32", 1.0), UniformType("i8", "f32", 1.0)
    with pytest.raises(QuantTypeError, match="needs storage of at most 16 bits, got 32"):
        infer("add", [tensor((2,), wide)] * 2, byte, requant="fixed_double")
    for types in ([tensor((2, 3), byte), tensor((3,), byte)], [tensor((2,), channels(byte, 2, 0))] * 2):
        with pytest.raises(
            QuantTypeError, match="requant = 'fixed_double_16' needs operands of the same shape with per-layer types"
        ):
            infer("add", types, byte, requant="fixed_double_16")
