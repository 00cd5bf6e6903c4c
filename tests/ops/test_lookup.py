"""lookup against the function that its table was made of, every kernel against the reference, every refusal."""

import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import numerics
from qrt.cli.bench import CastCase
from qrt.errors import QuantTypeError
from qrt.ops.lookup import table_of
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import LOOKUPS
from tests.ir.passes.lower_qrt.harness import check_lowered
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, shapes, storage_of, uniform_types

T = UniformType("i8", "f32", 0.05, -3)
OUT = UniformType("u8", "f32", 1 / 256)
CONSTANTS = [(), (1,)]


def logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x))


@pytest.mark.parametrize("case", LOOKUPS, ids=lambda c: c.name)
@pytest.mark.parametrize("storage", ["i8", "u8", "i16", "u16", "i32", "u32"])
def test_table_of_shapes(case: CastCase, storage: str) -> None:
    """Tables of every container, given and constant."""
    rng = np.random.default_rng(1)
    out = UniformType(storage, "f32", 1.0)
    x, table = storage_of(T, case.shape, rng), storage_of(out, (256,), rng)
    types = tensor(case.shape, T), tensor((256,), out)
    got = check_kernels("lookup", [x, table], types, constants=CONSTANTS)
    for index in np.ndindex(*case.shape):
        assert got[index] == table[int(x[index]) + 128]


@given(st.data(), generators(), st.integers(0, 3).flatmap(shapes))
def test_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Any width to 8 bits: the index counts from the storage type's least value, not from its bound."""
    t, out = data.draw(uniform_types(widths=range(1, 9))), data.draw(uniform_types())
    least, greatest = t.default_bounds
    x, table = storage_of(t, shape, rng), storage_of(out, (greatest - least + 1,), rng)
    got = check_kernels("lookup", [x, table], [tensor(shape, t), tensor(table.shape, out)], constants=CONSTANTS)
    for index in np.ndindex(*shape):
        assert got[index] == table[int(x[index]) - least]


@pytest.mark.parametrize("function", [logistic, abs, lambda x: math.nan, lambda x: math.copysign(math.inf, x)])
@pytest.mark.parametrize("rounding", numerics.ROUNDINGS)
@pytest.mark.parametrize("expressed", ["f32", "f16", "f64"])
def test_a_table_holds_the_function(function: Callable[[float], float], rounding: str, expressed: str) -> None:
    """Each value dequantized in its expressed type, the result quantized once by the cast rule."""
    t, out = T.with_(expressed=expressed), OUT.with_(expressed=expressed, zero_points=3)
    table = table_of(function, t, out, rounding)
    assert table.dtype == np.uint8
    for q in range(-128, 128):
        value = function(float(numerics.dequantize(q, t.scale, t.zero_point, expressed)))
        stored = numerics.quantize(value, out.scale, 3, 0, 255, expressed, rounding=rounding)
        assert table[q + 128] == stored


def test_a_function_sees_no_value_outside_the_bounds() -> None:
    seen: list[float] = []
    t = UniformType("i4", "f32", 1.0, storage_min=-2, storage_max=5)
    table = table_of(lambda x: seen.append(x) or x, t, t)  # type: ignore[func-returns-value]
    assert (min(seen), max(seen)) == (-2, 5)
    assert table.tolist() == [-2] * 7 + [-1, 0, 1, 2, 3, 4, 5, 5, 5]


def test_function() -> None:
    table = qrt.QuantTensor(table_of(logistic, T, OUT), OUT)
    q = qrt.quantize(np.float32([[-3, 0, 3]]), T)
    y = qrt.lookup(q, table)
    assert (y.type, y.storage.tolist()) == (OUT, [[12, 128, 244]])
    out = qrt.QuantTensor(np.zeros((1, 3), np.uint8), OUT)
    assert qrt.lookup(q, table, out=out) is out
    assert out.equals(y)


def test_packed_storage() -> None:
    t = UniformType("u2", "f32", 1.0)
    table = qrt.QuantTensor(np.uint8([3, 1, 0, 2]), t)
    assert qrt.lookup(qrt.QuantTensor(np.uint8([0, 1, 2, 3, 3]), t), table).storage.tolist() == [3, 1, 0, 2, 2]


def test_dynamic_and_unranked() -> None:
    table = tensor((256,), OUT)
    assert infer("lookup", [tensor((None, 3), T), table]) == tensor((None, 3), OUT)
    assert infer("lookup", [tensor(None, T), tensor((None,), OUT)]) == tensor(None, OUT)


XT, TABLE = tensor((3,), T), tensor((256,), OUT)
PER_AXIS = UniformType("i8", "f32", [0.5, 0.25, 1.0], axis=0)
REFUSED: list[tuple[list[TensorType], Any, str]] = [
    ([XT], None, "lookup: expected 2 operands (q, table), got 1"),
    ([tensor((3,), FloatType("f32")), TABLE], None, "'q' must be a tensor of !quant.uniform, got tensor<3xf32>"),
    ([XT, tensor((256,), FloatType("f32"))], None, "'table' must be a tensor of !quant.uniform, got tensor<256xf32>"),
    (
        [tensor((3,), PER_AXIS), TABLE],
        None,
        "'q' must have a per-layer type with storage of at most 8 bits, got",
    ),
    ([tensor((3,), UniformType("i9", "f32", 1.0)), TABLE], None, "with storage of at most 8 bits"),
    ([XT, tensor((3,), PER_AXIS)], None, "'table' must have a per-layer type, got"),
    (
        [XT, tensor((255,), OUT)],
        None,
        "'table' must be a vector of 256 entries, one for each value of i8, got tensor<255x",
    ),
    ([XT, tensor((16, 16), OUT)], None, "must be a vector of 256 entries"),
    ([XT, tensor(None, OUT)], None, "must be a vector of 256 entries"),
    (
        [tensor((3,), UniformType("u4", "f32", 1.0)), TABLE],
        None,
        "'table' must be a vector of 16 entries, one for each value of u4",
    ),
    ([XT, TABLE], T, "the result must have the type of 'table', !quant.uniform<u8:f32"),
    ([XT, tensor((256,), OUT.with_(expressed="f16"))], None, "must have the same expressed type, got f16 and f32"),
]


@pytest.mark.parametrize(("types", "out", "message"), REFUSED)
def test_refuses(types: list[TensorType], out: Any, message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("lookup", types, out)
    assert str(raised.value).startswith("lookup")


def test_no_table_of_more_than_8_bits() -> None:
    with pytest.raises(QuantTypeError, match="'q' must have a per-layer type with storage of at most 8 bits, got"):
        table_of(abs, UniformType("i16", "f32", 1.0), OUT)
    with pytest.raises(QuantTypeError, match="'table' must have a per-layer type, got"):
        table_of(abs, T, PER_AXIS)


WORD = UniformType("i16", "f32", 0.25, 3)
LINE = UniformType("i16", "f32", 0.5, -7)


def test_interpolated() -> None:
    """Plain loops: a slope of either sign, between any two entries, whole and in half."""
    rng = np.random.default_rng(3)
    table = rng.integers(-(1 << 15), 1 << 15, 513).astype(np.int16)
    table[:4] = [-32768, 32767, 32767, -32768]
    x = np.append(np.int16([-32768, -32767, -32704, -32641, -1, 0, 127, 32767]), rng.integers(-(1 << 15), 1 << 15, 300))
    x = x.astype(np.int16)
    types = [tensor(x.shape, WORD), tensor(table.shape, LINE)]
    got = check_kernels("lookup_interpolated", [x, table], types, constants=CONSTANTS)
    for q, y in zip(x.tolist(), got.tolist(), strict=True):
        entry, low = divmod(q + 32768, 128)
        first, second = int(table[entry]), int(table[entry + 1])
        assert y == first + math.floor(((second - first) * low + 64) / 128)
    small = x[:12].reshape(3, 4)
    check_lowered("lookup_interpolated", [small, table], [tensor((3, 4), WORD), types[1]], constants=CONSTANTS)


@pytest.mark.parametrize(
    ("x", "table", "message"),
    [
        (
            tensor((3,), T),
            tensor((513,), LINE),
            "'q' must have a per-layer type with storage i16, got !quant.uniform<i8:f32, 5.000000e-02:-3>",
        ),
        (
            tensor((3,), WORD),
            tensor((513,), OUT),
            "'table' must have a per-layer type with storage i16, got !quant.uniform<u8",
        ),
        (tensor((3,), WORD), tensor((512,), LINE), "'table' must be a vector of 513 entries"),
    ],
)
def test_interpolated_refuses(x: TensorType, table: TensorType, message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        infer("lookup_interpolated", [x, table])
