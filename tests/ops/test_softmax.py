"""softmax against plain loops and the real softmax, every kernel against the reference, every refusal."""

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt.errors import QuantTypeError
from qrt.types import FloatType, TensorType, UniformType
from tests.cases import SOFTMAXES, SoftmaxCase
from tests.ir.passes.lower_qrt.harness import check_lowered
from tests.ops import naive
from tests.ops.harness import check_kernels, infer, tensor
from tests.ops.strategies import generators, shapes, storage_of, uniform_types

T = UniformType("i8", "f32", 0.1, -3)
WORD = UniformType("i16", "f32", 0.0005)
OUT = UniformType("i8", "f32", 1 / 256, -128)


@pytest.mark.parametrize("case", SOFTMAXES, ids=lambda c: c.name)
@pytest.mark.parametrize("beta", [1.0, 0.3])
@pytest.mark.parametrize("out", [OUT, UniformType("i16", "f32", 2.0**-15), UniformType("u4", "f32", 0.11, 2)])
def test_table_of_shapes(case: SoftmaxCase, beta: float, out: UniformType) -> None:
    x = storage_of(T, case.shape, np.random.default_rng(1))
    got = check_kernels("softmax", [x], [tensor(case.shape, T)], out, axis=case.axis, beta=beta)
    np.testing.assert_array_equal(got, naive.softmax(x, T, out, case.axis % x.ndim, beta))


@given(st.data(), generators(), st.integers(1, 3).flatmap(lambda rank: shapes(rank, 6)))
def test_drawn(data: st.DataObject, rng: np.random.Generator, shape: tuple[int, ...]) -> None:
    """Any width to 8 bits, narrowed bounds, zero points that cancel, results of any width."""
    t = data.draw(uniform_types(widths=range(1, 9)))
    out = data.draw(uniform_types(scales=st.floats(1e-6, 1.0)) | uniform_types())
    axis, beta = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.floats(1e-6, 1e6))
    x = storage_of(t, shape, rng)
    got = check_kernels("softmax", [x], [tensor(shape, t)], out, axis=axis, beta=beta)
    np.testing.assert_array_equal(got, naive.softmax(x, t, out, axis, beta))


@pytest.mark.parametrize("scale", [0.01, 0.1, 1.0])
def test_it_is_the_softmax(scale: float) -> None:
    """Within a half of the result's scale, and what 1000 exponentials of 30 bits add to it."""
    t, out = T.with_(scales=scale), UniformType("u16", "f32", 2.0**-16)
    x = storage_of(t, (20, 1000), np.random.default_rng(3))
    got = check_kernels("softmax", [x], [tensor(x.shape, t)], out) * 2.0**-16
    values = np.exp((x.astype(np.float64) - x.max(axis=1, keepdims=True)) * scale)
    assert np.abs(got - values / values.sum(axis=1, keepdims=True)).max() <= 2.0**-17 + 1000 * 2.0**-31


def test_the_ends() -> None:
    """All but the largest vanish; equal values share; the differences reach 255 with either sign of storage."""
    for t, low, high in ((T.with_(scales=10.0), -128, 127), (UniformType("u8", "f32", 10.0), 0, 255)):
        dtype = np.int8 if low else np.uint8
        x = np.array([[low, high, low], [low, low, low]], dtype)
        got = check_kernels("softmax", [x], [tensor(x.shape, t)], OUT)
        assert got.tolist() == [[-128, 127, -128], [-43, -43, -43]]


@pytest.mark.parametrize(
    ("scale", "expected"),
    [(5e-324, 127), (1e-300, 127), (1e300, -5), (1.7e308, -5)],
)
def test_scales_at_the_ends_of_float64(scale: float, expected: int) -> None:
    """The divisor overflows or the quotient does: no conversion is undefined."""
    out = UniformType("i8", "f64", scale, -5)
    t = T.with_(expressed="f64")
    got = check_kernels("softmax", [np.int8([1, 1])], [tensor((2,), t)], out)
    assert got.tolist() == [expected, expected]


def test_dynamic_dimensions() -> None:
    assert infer("softmax", [tensor((None, None), T)], OUT) == tensor((None, None), OUT)


def test_function() -> None:
    q = qrt.QuantTensor(np.int8([[0, 0], [0, 11]]), T)
    assert qrt.softmax(q, OUT).storage.tolist() == [[0, 0], [-64, 64]]
    assert qrt.softmax(q, OUT, axis=0).storage.tolist() == [[0, -64], [0, 64]]
    out = qrt.QuantTensor(np.zeros((2, 2), np.int8), OUT)
    assert qrt.softmax(q, OUT, beta=1e-9, out=out) is out
    assert out.storage.tolist() == [[0, 0], [0, 0]]


RULES = [
    ("softmax", "table_float32", T, UniformType("i8", "f32", 1 / 256, -128)),
    ("softmax", "table_float32", UniformType("u8", "f32", 0.3, 255), UniformType("u4", "f32", 0.11, 2)),
    ("softmax", "gemmlowp", T, UniformType("i8", "f32", 1 / 256, -128)),
    ("softmax", "gemmlowp", UniformType("u8", "f32", 0.02), UniformType("i16", "f32", 2.0**-16, -32768)),
    ("softmax", "table_int16", WORD, UniformType("i16", "f32", 2.0**-15)),
    ("log_softmax", "table_float32", T, UniformType("i8", "f32", 1 / 16, 127)),
    ("log_softmax", "gemmlowp", T, UniformType("i8", "f32", 1 / 16, 127)),
    ("log_softmax", "gemmlowp", UniformType("u8", "f32", 0.7, 3), UniformType("u8", "f32", 1 / 16, 255)),
]


@pytest.mark.parametrize(("name", "rule", "t", "out"), RULES)
def test_rules_of_litert(name: str, rule: str, t: UniformType, out: UniformType) -> None:
    """Near the real function; lowered, on every kernel and by the reference the same: lines of equal values, of one
    that leads, of one element and of none."""
    rng = np.random.default_rng(5)
    for shape, axis in (((40, 9), -1), ((3, 1), 1), ((5, 2, 3), 0), ((0, 4), 1), ((2, 0), -1)):
        x = storage_of(t, shape, rng)
        x[:1] = x.flat[0] if x.size else 0
        got = check_kernels(name, [x], [tensor(shape, t)], out, axis=axis, requant=rule)
        if x.size == 0:
            continue
        values = np.exp((x.astype(np.float64) - x.max(axis=axis, keepdims=True)) * t.scale)
        exact = values / values.sum(axis=axis, keepdims=True)
        exact = np.log(exact) if name == "log_softmax" else exact
        stored = np.clip(exact / out.scale + out.zero_point, out.storage_min, out.storage_max)
        assert np.abs(got - stored).max() <= (20 if out.storage_width == 16 else 1.01)
    x = storage_of(t, (2, 5), rng)
    check_lowered(name, [x], [tensor(x.shape, t)], out, requant=rule)


@pytest.mark.parametrize("scale", [2.0**-15, 2.0**-12, 0.001, 10 / 65535, 0.3, 20.0, 1e4, 1e-6, 1e-8])
def test_words_of_every_scale(scale: float) -> None:
    """Vectors are the reference. Hazards: shifts of differences to either side, that are saturated or leave nothing;
    elements behind the last whole vector; differences of 17 bits; rows longer than the buffer of a kernel."""
    t, out = WORD.with_(scales=scale), UniformType("i16", "f32", 2.0**-15)
    rng = np.random.default_rng(3)
    for length in (1, 2, 7, 8, 9, 16, 31, 1000, 1023, 1024, 1025):
        x = storage_of(t, (8, length), rng)
        x[0], x[1], x[2] = 32767, -32768, np.where(np.arange(length) % 2, 32767, -32768)
        x[3] = rng.integers(-3, 4, length)
        x[4] = -32768
        x[4, -1] = 32767
        check_kernels("softmax", [x], [tensor(x.shape, t)], out, requant="table_int16")


@pytest.mark.parametrize("t", [T, UniformType("u8", "f32", float(np.float32(3.4)), 200), T.with_(scales=2.0**-9)])
@pytest.mark.parametrize("scale", [1 / 256, float(np.float32(0.0045)), 0.6, 1.5])
def test_the_shifted_table(t: UniformType, scale: float) -> None:
    """A table for each length, quotients that are ties, scales above 1, of which nothing is left."""
    rng = np.random.default_rng(9)
    out = UniformType("u8", "f32", scale, 3)
    for shape, axis in (((12, 2), 1), ((3, 5, 2), 1), ((2, 300), -1), ((0, 4), 1)):
        x = storage_of(t, shape, rng)
        x[:1] = x.flat[0] if x.size else 0
        attributes = {"axis": axis, "requant": "table_shifted"}
        got = check_kernels("softmax", [x], [tensor(shape, t)], out, **attributes)
        np.testing.assert_array_equal(got, naive.softmax_shifted(x, t, out, axis % x.ndim))
    check_lowered("softmax", [x := storage_of(t, (4, 6), rng)], [tensor(x.shape, t)], out, requant="table_shifted")


def test_a_function_has_the_rules() -> None:
    q = qrt.QuantTensor(np.int8([[0, 0, 11]]), T)
    assert qrt.softmax(q, OUT, requant="gemmlowp").storage.tolist() == [[-77, -77, 26]]
    assert qrt.softmax(q, OUT, requant="table_float32").storage.tolist() == [[-77, -77, 26]]


RULES_REFUSED: list[tuple[str, TensorType, Any, dict[str, Any], str]] = [
    ("softmax", tensor((2,), T), OUT, {"requant": "fixed"}, "'requant' must be one of table_int32, table_float32,"),
    ("softmax", tensor((1,), T), OUT, {"requant": "table_shifted"}, (
        "requant = 'table_shifted' would exceed the range of float32 for an axis of 1 elements and a result with "
            "scale 0.00390625"
    )),
    ("softmax", tensor((2,), T), OUT, {"requant": "table_int16"},
     "'q' must have a per-layer type with storage i16 and zero point 0 for requant = 'table_int16', got"),
    ("softmax", tensor((2,), WORD), OUT, {"requant": "gemmlowp"}, "with storage of at most 8 bits"),
    ("softmax", tensor((4096,), T), OUT, {"requant": "gemmlowp"},
     "the axis must have fewer than 4096 elements, because a sum of more exponentials of 19 bits would overflow 31 "
         "bits, got 4096"),
    ("softmax", tensor((2,), T), OUT.with_(scales=0.1), {"requant": "gemmlowp"}, (
        "needs a result with scale "
        "0.00390625 and"
    )),
    ("softmax", tensor((2,), T), OUT, {"requant": "gemmlowp", "beta": 1e-9},
     "requant = 'gemmlowp' needs a product of 'beta' and the scale of 'q' above 2**-26, got 1.0000000000000002e-10"),
    ("softmax", tensor((2,), T), OUT, {"requant": "table_float32", "beta": 1e-40}, "requant = 'table_float32' needs "
        "scales and 'beta' from 2**-100 to 2**100, got 0.1 for 'q', 0.00390625 for the result and beta = 1e-40"),
    ("log_softmax", tensor((2,), T), OUT, {"requant": "gemmlowp"}, (
        "needs a result with scale 0.0625 and zero point 127, got"
    )),
    ("log_softmax", tensor((2,), T), OUT, {"requant": "table_int16"}, "'requant' must be one of table_float32,"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "x", "out", "attributes", "message"), RULES_REFUSED)
def test_rules_refuse(name: str, x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer(name, [x], out, **attributes)
    assert str(raised.value).startswith(name)


XT = tensor((2, 4), T)
PER_AXIS = UniformType("i8", "f32", [0.5, 0.25], axis=0)
REFUSED: list[tuple[TensorType, Any, dict[str, Any], str]] = [
    (tensor((2, 4), FloatType("f32")), OUT, {}, "'q' must be a tensor of !quant.uniform, got tensor<2x4xf32>"),
    (tensor((2, 4), PER_AXIS), OUT, {}, "'q' must have a per-layer type with storage of at most 8 bits, got"),
    (tensor((2, 4), UniformType("i9", "f32", 1.0)), OUT, {}, "with storage of at most 8 bits"),
    (tensor(None, T), OUT, {}, "the first operand must have rank 1 or more, got tensor<*x"),
    (tensor((), T), OUT, {}, "the first operand must have rank 1 or more, got tensor<"),
    (XT, OUT, {"axis": 2}, "'axis' must be in [-2, 1] for rank 2, got 2. The operands are tensor<2x4x"),
    (XT, OUT, {"axis": "1"}, "'axis' must be an integer, got '1'"),
    (XT, OUT, {"beta": 0.0}, "'beta' must be positive and finite, got 0.0"),
    (XT, OUT, {"beta": np.nan}, "'beta' must be positive and finite, got nan"),
    (XT, OUT, {"beta": np.inf}, "'beta' must be positive and finite, got inf"),
    (XT, OUT, {"beta": "1"}, "'beta' must be a real number, got '1'"),
    (XT, None, {}, "the result type must be a !quant.uniform type, got none"),
    (XT, PER_AXIS, {}, "the result must have a per-layer type, got"),
    (XT, OUT.with_(expressed="f16"), {}, "the same expressed type, got f16 and f32"),
    (tensor((2**32,), T), OUT, {}, "the axis must have fewer than 4294967296 elements, because a sum of more "
        "exponentials of 30 bits would overflow 62 bits, got 4294967296"),
]  # fmt: skip


@pytest.mark.parametrize(("x", "out", "attributes", "message"), REFUSED)
def test_refuses(x: TensorType, out: Any, attributes: dict[str, Any], message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)) as raised:
        infer("softmax", [x], out, **attributes)
    assert str(raised.value).startswith("softmax")
