"""qcast, dcast, scast, requantize: every format, layout and rule against single elements of numerics, and every kernel
against the reference."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from qrt import numerics
from qrt.cli import bench
from qrt.cli.bench import CastCase
from qrt.errors import QuantTypeError
from qrt.ops import FAMILIES
from qrt.ops.core import element_dtype, expressed_dtype
from qrt.types import FloatType, IntegerType, TensorType, UniformType
from tests.cases import CASTS
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, reference, tensor
from tests.ops.strategies import SCALES, generators, maybe_per_axis, rules, shapes, storage_of, uniform_types

EXPRESSED = ["f16", "bf16", "f32", "f64", "tf32", "f8E5M2", "f8E4M3FN", "f8E5M2FNUZ", "f6E3M2FN", "f4E2M1FN"]
T = UniformType("i8", "f32", 0.5, 3)
F32 = FloatType("f32")


def values_for(t: UniformType, shape: tuple[int, ...], rng: np.random.Generator) -> np.ndarray:
    """Values about the range of the type, ties, and what is no number; of the expressed dtype."""
    steps = rng.integers(-300, 300, shape) + rng.choice([0.0, 0.5, 0.25], shape)
    values = steps * rng.choice(t.scales, shape)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e-42, 3e38, -3e38, 65504.0]
    values = np.where(rng.random(shape) < 0.2, rng.choice(special, shape), values)
    rounded = numerics.round_to_format(values, t.expressed_type.name)
    if t.expressed_type.name in ("f6E3M2FN", "f4E2M1FN"):
        rounded = np.where(np.isnan(rounded), 0.0, rounded)  # they have none
    return rounded.astype(expressed_dtype(t.expressed_type))


def layered(case: CastCase, expressed: str = "f32") -> UniformType:
    if case.axis is None:
        return T.with_(expressed=expressed)
    count = case.shape[case.axis]
    return UniformType(
        "i8", expressed, [0.5 + 0.01 * i for i in range(count)], [i % 100 for i in range(count)], case.axis
    )


@pytest.mark.parametrize("case", [c for c in (*CASTS, *bench.CASTS) if np.prod(c.shape) < 2**16], ids=lambda c: c.name)
def test_table_of_shapes(case: CastCase) -> None:
    t = layered(case)
    rng = np.random.default_rng(1)
    x = values_for(t, case.shape, rng)
    q = check_kernels("qcast", [x], [tensor(case.shape, F32)], t)
    check_kernels("dcast", [q.astype(np.int8)], [tensor(case.shape, t)])
    check_kernels("requantize", [q.astype(np.int8)], [tensor(case.shape, t)], UniformType("u4", "f32", 9.0, 8))


@given(st.data(), generators(), st.integers(0, 3).flatmap(shapes), st.sampled_from(EXPRESSED))
def test_casts_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...], expressed: str) -> None:
    """Any format, width, bounds, zero point, axis and rule: kernels equal the reference, and that the elements."""
    scales = SCALES if expressed in ("f32", "f64", "bf16") else st.sampled_from([0.5, 1.0, 2.0])
    axis = data.draw(st.integers(0, max(len(shape) - 1, 0)))
    t = data.draw(maybe_per_axis(shape[axis] if shape else 0, axis, scales=scales, expressed=expressed))
    rule = {
        "rounding": data.draw(st.sampled_from(numerics.ROUNDINGS)),
        "zero_point": data.draw(st.sampled_from(numerics.ZERO_POINTS)),
        "scale": data.draw(st.sampled_from(numerics.SCALES)),
    }
    x = values_for(t, shape, rng)
    got = check_kernels("qcast", [x], [tensor(shape, t.expressed_type)], t, **rule)
    for index in np.ndindex(*shape):
        scale, zp = naive.parameters_at(t, index)
        one = numerics.quantize(
            float(x[index]), scale, zp, t.storage_min, t.storage_max, expressed,
            rounding=rule["rounding"], zero_point_order=rule["zero_point"], scale_form=rule["scale"],
        )  # fmt: skip
        assert got[index] == one
    q = storage_of(t, shape, rng)
    values = check_kernels("dcast", [q], [tensor(shape, t)])
    assert values.dtype == expressed_dtype(t.expressed_type)
    for index in np.ndindex(*shape):
        expected = float(numerics.dequantize(int(q[index]), *naive.parameters_at(t, index), expressed))
        np.testing.assert_equal(float(values[index]), expected)


SUB_CHANNEL = [
    UniformType("i8", "f32", [[0.5, 0.25, 1.0], [2.0, 0.125, 3.0]], [[0, 1, 2], [3, 4, 5]], block_sizes={0: 2, 1: 2}),
    UniformType("u4", "f32", [[0.5], [0.25]], [[8], [3]], block_sizes={0: 2}),
    UniformType("i16", "f32", [[0.5, 0.75]], block_sizes={1: 3}),
    UniformType("i8", "f32", [[0.5 + i + 6 * k for i in range(6)] for k in range(4)], block_sizes={0: 1, 1: 1}),
]


@pytest.mark.parametrize("t", SUB_CHANNEL, ids=str)
def test_sub_channel_layouts(t: UniformType) -> None:
    """Blocks along one dimension, both, and of single elements."""
    rng = np.random.default_rng(3)
    x = values_for(t, (4, 6), rng)
    got = check_kernels("qcast", [x], [tensor((4, 6), F32)], t)
    q = storage_of(t, (4, 6), rng)
    values = check_kernels("dcast", [q], [tensor((4, 6), t)])
    out = UniformType("i8", "f32", 0.6, 1)
    narrowed = check_kernels("requantize", [q], [tensor((4, 6), t)], out)
    widened = check_kernels("requantize", [narrowed.astype(np.int8)], [tensor((4, 6), out)], t)
    for index in np.ndindex(4, 6):
        scale, zp = naive.parameters_at(t, index)
        assert got[index] == numerics.quantize(float(x[index]), scale, zp, t.storage_min, t.storage_max, "f32")
        assert values[index] == numerics.dequantize(int(q[index]), scale, zp, "f32")
        assert narrowed[index] == naive.stored(int(q[index]) - zp, "fixed", (scale,), 1, out, index)
        assert widened[index] == naive.stored(int(narrowed[index]) - 1, "fixed", (0.6,), 1, t, index)


@pytest.mark.parametrize("shape", [(2, 4, 6), (1, 4, 6), (4, 1, 6)])
def test_blocks_that_span_rows(shape: tuple[int, ...]) -> None:
    """Leading and inner dimensions merge into long rows for the kernels: the parameters must not shift."""
    counts = [d // 2 or 1 for d in shape]
    scales = (np.arange(np.prod(counts)).reshape(counts) + 1) / 8
    for blocked in ({0: 2, 1: 2, 2: 2}, {1: 2}, {0: 2}, {2: 2}, {0: 2, 2: 2}):
        blocks = {d: min(b, shape[d]) for d, b in blocked.items()}
        own = scales[tuple(slice(None) if d in blocks else slice(1) for d in range(3))]
        t = UniformType("i8", "f32", own.tolist(), block_sizes=blocks)
        q = storage_of(t, shape, np.random.default_rng(4))
        values = check_kernels("dcast", [q], [tensor(shape, t)])
        for index in np.ndindex(*shape):
            assert values[index] == int(q[index]) * naive.parameters_at(t, index)[0]


@pytest.mark.parametrize(("source_axis", "out_axis"), [(1, 2), (2, 1), (1, 1), (1, None), (None, 2)])
@pytest.mark.parametrize("images", [0, 1, 2])
def test_requantize_from_one_axis_to_another(source_axis: int | None, out_axis: int | None, images: int) -> None:
    """Where two layouts meet, for empty tensors too."""
    shape = (images, 3, 4)

    def along(t: UniformType, axis: int | None) -> UniformType:
        if axis is None:
            return t
        count = shape[axis]
        return t.with_(scales=[t.scale + i / 8 for i in range(count)], zero_points=list(range(count)), axis=axis)

    source, out = along(T, source_axis), along(UniformType("u8", "f32", 0.3), out_axis)
    q = storage_of(source, shape, np.random.default_rng(5))
    got = check_kernels("requantize", [q], [tensor(shape, source)], out)
    for index in np.ndindex(*shape):
        scale, zp = naive.parameters_at(source, index)
        assert got[index] == naive.stored(int(q[index]) - zp, "fixed", (scale,), 1, out, index)


@given(st.data(), generators(), st.integers(0, 3).flatmap(shapes))
def test_requantize_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    axes = [data.draw(st.integers(0, max(len(shape) - 1, 0))) for _ in range(2)]
    source, out = (data.draw(maybe_per_axis(shape[d] if shape else 0, d, scales=st.floats(1e-3, 1e3))) for d in axes)
    rule = data.draw(rules())
    q = storage_of(source, shape, rng)
    got = check_kernels("requantize", [q], [tensor(shape, source)], out, requant=rule)
    for index in np.ndindex(*shape):
        scale, zp = naive.parameters_at(source, index)
        assert got[index] == naive.stored(int(q[index]) - zp, rule, (scale,), 1, out, index)


@pytest.mark.parametrize("rule", numerics.REQUANT_RULES)
@pytest.mark.parametrize("out", ["u8", "i8", "i5", "i16", "i32"])
@pytest.mark.parametrize("storage", ["i8", "u8", "i5"])
def test_requantize_of_every_byte(storage: str, out: str, rule: str) -> None:
    """From 256 elements on a table has them. Hazards: the sign of a byte, bytes outside of the bounds,
    another rule, which rounds the halves elsewhere."""
    x = TensorType((777,), UniformType(storage, "f32", 0.5, 3, storage_min=0, storage_max=9))
    element = UniformType(out, "f32", 1.0, -7 if out != "u8" else 7)
    q = np.arange(777).astype(np.int8 if storage[0] == "i" else np.uint8)
    check_kernels("requantize", (q,), (x,), TensorType((777,), element), requant=rule)


@given(uniform_types(widths=range(1, 9)), generators())
def test_requantize_to_the_same_type_changes_nothing(t: UniformType, rng: np.random.Generator) -> None:
    q = storage_of(t, (50,), rng)
    np.testing.assert_array_equal(check_kernels("requantize", [q], [tensor((50,), t)], t), q)


def test_wide_then_requantize_is_the_fused_op() -> None:
    """docs/numerics.md: for `fixed`, a matmul to i32 followed by requantize gives the bits of the fused matmul."""
    rng = np.random.default_rng(9)
    w = UniformType("u8", "f32", 0.25, 128)
    types = [tensor((7, 33), T), tensor((33, 9), w)]
    arrays = [storage_of(T, (7, 33), rng), storage_of(w, (33, 9), rng)]
    out = UniformType("i8", "f32", 3.0, 5)
    wide, wide_type = check_kernels("matmul", arrays, types), infer("matmul", types)
    fused = check_kernels("matmul", arrays, types, out)
    apart = check_kernels("requantize", [wide.astype(np.int32)], [wide_type], out)
    np.testing.assert_array_equal(fused, apart)


def test_dynamic_and_unranked() -> None:
    assert infer("qcast", [tensor((None, 3), F32)], T) == tensor((None, 3), T)
    assert infer("qcast", [tensor(None, F32)], T) == tensor(None, T)
    assert infer("dcast", [tensor((None, 3), T)]) == tensor((None, 3), F32)
    assert infer("requantize", [tensor(None, T)], T) == tensor(None, T)


REFUSED: list[tuple[str, TensorType, Any, dict[str, str], str]] = [
    ("qcast", tensor((3,), F32), None, {}, "the result type must be a !quant.uniform type, got none"),
    ("qcast", tensor((3,), F32), F32, {}, "the result must be a tensor of !quant.uniform, got tensor<*xf32>"),
    ("qcast", tensor((3,), FloatType("f16")), T, {}, "'x' must have elements of f32, the expressed type of"),
    ("qcast", tensor((3,), T), T, {}, "'x' must have elements of f32, the expressed type of"),
    (
        "qcast",
        tensor((3,), F32),
        T,
        {"rounding": "up"},
        "'rounding' must be one of half_even, half_away, toward_zero, got 'up'",
    ),
    ("qcast", tensor((3,), F32), T, {"zero_point": "no"}, "'zero_point' must be one of before, after, got 'no'"),
    ("qcast", tensor((3,), F32), T, {"scale": "shift"}, "'scale' must be one of divide, reciprocal, got 'shift'"),
    (
        "qcast",
        tensor((3,), F32),
        T.with_(scales=[1.0, 2.0], zero_points=[0, 0], axis=0),
        {},
        "the result cannot have the type",
    ),
    ("qcast", tensor((3,), F32), T.with_(scales=[1.0], zero_points=[0], axis=1), {}, "axis 1, rank 1"),
    ("qcast", tensor((3,), F32), T.with_(zero_points=128), {}, "the result must have zero points in [-128, 127]"),
    ("qcast", tensor((3,), F32), UniformType("u4", "f32", 1.0, -1), {}, "must have zero points in [0, 15]"),
    ("qcast", tensor((3, 4), F32), SUB_CHANNEL[1], {}, "size 3 at axis 0 must be divisible by the corresponding"),
    ("dcast", tensor((3,), F32), None, {}, "'q' must be a tensor of !quant.uniform, got tensor<3xf32>"),
    (
        "dcast",
        tensor((3,), T),
        FloatType("f64"),
        {},
        "the result must have elements of f32, the expressed type of 'q', got f64",
    ),
    ("scast", tensor((3,), T), None, {}, "the result type must be a quantized type or an integer type, got none"),
    (
        "scast",
        tensor((3,), T),
        IntegerType(16),
        {},
        "one of the types of operand and result must be the storage type of the other, a quantized type, got the "
        "result tensor<*xi16>",
    ),
    (
        "scast",
        tensor((3,), IntegerType(8, "unsigned")),
        T,
        {},
        "one of the types of operand and result must be the "
        "storage type of the other, a quantized type, got the result tensor<*x",
    ),
    (
        "scast",
        tensor((3,), F32),
        FloatType("f32"),
        {},
        "one of the types of operand and result must be the storage "
        "type of the other, a quantized type, got the result tensor<*xf32>",
    ),
    ("requantize", tensor((3,), T), None, {}, "the result type must be a !quant.uniform type, got none"),
    ("requantize", tensor((3,), F32), T, {}, "'q' must be a tensor of !quant.uniform, got tensor<3xf32>"),
    (
        "requantize",
        tensor((3,), T),
        T.with_(expressed="f64"),
        {},
        "the result must have the expressed type of 'q', f32, got f64",
    ),
    ("requantize", tensor((3,), T), T, {"requant": "no"}, "'requant' must be one of fixed"),
]


@given(uniform_types(), generators())
def test_scast_where_it_is_an_alias_changes_neither_dtype_nor_value(t: UniformType, rng: np.random.Generator) -> None:
    """A plan shares the memory of the two. Hazards: unsigned storage, widths between, narrow bounds."""
    family, stored = FAMILIES["scast"], storage_of(t, (5,), rng)
    plain, quantized = tensor((5,), t.storage_type), tensor((5,), t)
    bits = check_kernels("scast", [stored], [quantized], t.storage_type)
    np.testing.assert_array_equal(check_kernels("scast", [bits], [plain], t), stored)
    for source, result, array in ((quantized, plain, stored), (plain, quantized, bits)):
        if family.view_offset((source,), result, {}) is None:
            continue
        assert element_dtype(source.element).itemsize == element_dtype(result.element).itemsize
        info = np.iinfo(array.dtype)
        least, most = (t.storage_min, t.storage_max) if source is quantized else (info.min, info.max)
        ends = np.array([least, most, 0, 1, max(least, -1)], array.dtype)
        moved = family.reference([ends], (source,), result, {}).astype(element_dtype(result.element))
        np.testing.assert_array_equal(moved.view(ends.dtype), ends)


@pytest.mark.parametrize(("op", "x", "out", "attributes", "message"), REFUSED)
def test_refuses(op: str, x: TensorType, out: Any, attributes: dict[str, str], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(op, [x], out, **attributes)
    assert str(raised.value).startswith(op)


@pytest.mark.parametrize("name", ["f80", "f128"])
def test_formats_without_a_dtype_are_not_executable(name: str) -> None:
    with pytest.raises(QuantTypeError, match=f"values of type {name} cannot be computed"):
        expressed_dtype(FloatType(name))


@pytest.mark.parametrize("size", [0, 1, 15, 16, 17, 31, 32, 33, 255, 256, 1000])
def test_blocks_of_sixteen(size: int) -> None:
    """The last, shorter block rounds ties of negative values the other way; a table serves each part."""
    rng = np.random.default_rng(size)
    t, out = UniformType("i8", "f32", 1.0, 5), UniformType("u8", "f32", 8.0, 128)
    x = storage_of(t, (size,), rng)
    got = check_kernels("requantize", [x], [tensor((size,), t)], out, requant="half_up_twice_16")
    np.testing.assert_array_equal(got, naive.requantize(x, t, out, "half_up_twice_16"))
    ties = np.full(17, 5 - 4, np.int8)
    got = check_kernels("requantize", [ties], [tensor((17,), t)], out, requant="half_up_twice_16")
    assert got.tolist() == [128] * 16 + [127]


@pytest.mark.parametrize("ratio", [2.0**-8, 0.3, 1.0, 7.3, 2.0**7])
def test_eight_fractional_bits(ratio: float) -> None:
    t, out = UniformType("u8", "f32", ratio, 77), UniformType("i8", "f32", 1.0, -5)
    x = np.arange(256, dtype=np.uint8)
    got = check_kernels("requantize", [x], [tensor((256,), t)], out, requant="fixed8")
    np.testing.assert_array_equal(got, naive.requantize(x, t, out, "fixed8"))


def test_rules_that_an_operand_does_not_take() -> None:
    wide, byte = UniformType("i16", "f32", 1.0), UniformType("i8", "f32", 1.0)
    with pytest.raises(
        QuantTypeError,
        match="requant = 'half_up_twice_16' needs per-layer types and storage of at most 8 bits in 'q', got",
    ):
        infer("requantize", [tensor((2,), wide)], byte, requant="half_up_twice_16")
    with pytest.raises(
        QuantTypeError,
        match=r"requant = 'fixed8' needs the scale of the operand divided by that of the result in \[2\*\*-8, "
        r"2\*\*7\], got 256\.0",
    ):
        reference(
            "requantize", [np.zeros(2, np.int8)], [tensor((2,), byte.with_(scales=256.0))], byte, requant="fixed8"
        )
