"""Types that functions choose from data, or take as text; `astype`. Hazards: a chosen type that a later call of other
values finds again, an axis counted from the wrong end, a fast path that is lost."""

from collections.abc import Callable
from fractions import Fraction

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import ParseError, QuantTypeError
from qrt.tensor.calls import call_cache
from tests.ops.strategies import generators, storage_of, uniform_types

T = UniformType("i8", "f32", 0.5, 3)
TEXT = str(T)
X = np.float32([[1, -2, 3, 4], [5, 6, -7, 0]])


# ---------------------------------------------------------------------------------------------------- chosen from data


def test_other_values_get_another_type() -> None:
    """The arguments of both calls are alike to the cache of calls: dtype, shape and options."""
    for _ in range(3):
        for factor in (1, 2, 4):
            q = qrt.quantize(X * np.float32(factor), bits=8)
            assert q.type.scale == pytest.approx(factor * 7 / 127)
            assert q.storage[1, 2] == -127
    out = QuantTensor(np.zeros_like(X, np.int8), qrt.quantize(X, bits=8).type)
    assert qrt.quantize(X, bits=8, out=out) is out
    with pytest.raises(QuantTypeError, match="'out' must have the result's type"):
        qrt.quantize(X * 2, bits=8, out=out)


def test_a_type_that_was_chosen_is_found_by_the_next_call_that_gives_it() -> None:
    """The choice must not leave behind what makes the fast path of that type slow."""
    chosen = qrt.quantize(X, bits=7).type
    for _ in range(2):
        qrt.quantize(X, chosen)
    before = call_cache.hits
    assert qrt.quantize(X, chosen).type is chosen
    assert call_cache.hits == before + 1


@pytest.mark.parametrize("axis", [0, 1, -1, -2, np.int64(1)])
def test_an_axis_has_scales(axis: int) -> None:
    q = qrt.quantize(X, bits=4, axis=axis)
    others = 1 - axis % 2
    assert q.type.axis == axis % 2
    assert np.array_equal(np.abs(q.storage).max(axis=int(others)), np.full(X.shape[axis % 2], 7))


def test_groups_lie_along_the_rows_of_weights() -> None:
    w = np.arange(24, dtype=np.float32).reshape(6, 4) - 7
    q = qrt.quantize(w, bits=4, group_size=3)
    assert q.type is qrt.quantize(w, bits=4, group_size=3, axis=-2).type
    assert q.type.block_sizes == ((0, 3), (1, 1))
    assert q.type.scales_shape == (2, 4)
    assert np.allclose(q.scales, np.abs(w.reshape(2, 3, 4)).max(axis=1) / 7)
    assert qrt.quantize(w, bits=4, group_size=2, axis=-1).type.scales_shape == (6, 2)
    assert qrt.quantize(w[:, 0], bits=4, group_size=2).type.scales_shape == (3,)
    y = qrt.float_matmul(np.eye(6, dtype=np.float32), q)
    assert np.allclose(y, q.dequantize(), rtol=1e-6)


def test_options_reach_the_type() -> None:
    x = np.float32([0, 1, 2, 100])
    assert qrt.quantize(x, bits=8, symmetric=False).type.zero_point == -128
    assert qrt.quantize(x, bits=8, narrow=True).type.storage_min == -127
    assert qrt.quantize(x, bits=8, method="percentile", percentile=75).type.scale < 2.1 / 127
    assert qrt.quantize([2.0, 1.0, 1.0], bits=2, method="mse").type.scale < 1.5
    for expressed in ("bf16", "bfloat16", ml_dtypes.bfloat16, qrt.parse_type("bf16")):
        assert str(qrt.quantize(x, bits=8, expressed=expressed).type.expressed_type) == "bf16"
    assert qrt.quantize([1, 2, 3], bits=32).type.storage == "i32"
    assert qrt.quantize(2.0, bits=8).shape == ()
    assert qrt.quantize(qrt.quantize(x, T), bits=8).type.scale == pytest.approx(62 / 127)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, r"quantize: expected a type, or bits=\.\.\. to choose one from the values, as in"),
        ({"axis": 1}, r"quantize: expected a type, or bits=\.\.\. to choose one from the values, as in"),
        ({"type": T, "bits": 8}, "quantize: expected either a type, or bits=... with its options, got both"),
        ({"type": T, "method": "mse"}, "quantize: expected either a type, or bits=... with its options, got both"),
        ({"bits": 0}, "'bits' must be an integer from 1 to 32, got 0"),
        ({"bits": 33}, "'bits' must be an integer from 1 to 32, got 33"),
        ({"bits": 4.0}, r"'bits' must be an integer from 1 to 32, got 4\.0"),
        ({"bits": True}, "'bits' must be an integer from 1 to 32, got True"),
        (
            {"bits": 1},
            "symmetric=True needs storage with values on both sides of a zero point, got storage from -1 "
            "to 0: give more bits",
        ),
        (
            {"bits": 1, "symmetric": False},
            "storage with 2 values cannot represent the negative and the positive part of",
        ),
        ({"bits": 1, "narrow": True}, "'bits' must be at least 2 with narrow=True, got 1"),
        ({"bits": 4, "axis": 2}, "'axis' must be an integer from -2 to 1, got 2"),
        ({"bits": 4, "axis": -3}, "'axis' must be an integer from -2 to 1, got -3"),
        (
            {"bits": 4, "axis": 1, "group_size": 3},
            "'group_size' must divide the 4 values along axis 1, got 3: pad the axis to 6 or give group_size=2",
        ),
        ({"bits": 4, "axis": 1, "group_size": 3}, "give group_size=2"),
        (
            {"bits": 4, "x": np.zeros((30, 64)), "group_size": 32},
            "'group_size' must be an integer from 1 to 30 along axis 0, got 32: give axis=1",
        ),
        ({"bits": 4, "x": np.zeros((33, 64)), "group_size": 32}, "give group_size=11 or axis=1"),
        (
            {"bits": 4, "x": np.zeros((2, 3, 64)), "group_size": 32},
            r"'axis' must be given with 'group_size' for an array of more than 2 dimensions, got shape \(2, 3, 64\): "
            r"give axis=2",
        ),
        (
            {"bits": 4, "x": np.zeros((2, 3, 5)), "group_size": 32},
            "'group_size' must be an integer from 1 to 5, got 32",
        ),
        (
            {"bits": 4, "x": np.zeros((2, 3, 5)), "group_size": 4},
            r"'axis' must be given with 'group_size' for an array of more than 2 dimensions, got shape \(2, 3, 5\): "
            r"give axis=2 and group_size=1",
        ),
        ({"bits": 4, "group_size": 0}, "'group_size' must be an integer from 1 to 2 along axis 0, got 0"),
        (
            {"bits": 4, "x": np.zeros((2, 2, 2)), "group_size": 2},
            r"'axis' must be given with 'group_size' for an array of more than 2 dimensions, got shape \(2, 2, 2\): "
            r"give axis=0 or axis=1 or axis=2",
        ),
        ({"bits": 4, "x": 1.0, "axis": 0}, "'axis' must not be given for a scalar, which has one scale"),
        (
            {"bits": 4, "x": np.zeros((2, 0)), "axis": 1},
            r"a quantized type must have at least one scale, got scales of shape \(0,\)",
        ),
        ({"bits": 4, "method": "max"}, "'method' must be one of minmax, mse, percentile, got 'max'"),
        ({"bits": 4, "method": "percentile", "percentile": 0}, r"'percentile' must be a number in \(0, 100\], got 0"),
        (
            {"bits": 4, "method": "percentile", "percentile": float("nan")},
            r"'percentile' must be a number in \(0, "
            r"100\], got nan",
        ),
        ({"bits": 4, "expressed": "i8"}, "invalid expressed type i8: expected a float type"),
        ({"bits": 4, "expressed": "f80"}, "values of type f80 cannot be computed"),
        ({"bits": 4, "x": [1.0, float("nan")]}, r"values from which a type is chosen must be finite, got nan at \[1\]"),
        ({"bits": 4, "x": [1e300]}, r"values from which a type is chosen must be finite, got inf at \[0\]"),
        ({"bits": 4, "x": ["a"]}, "quantize: 'x' must be real numbers, got dtype <U1"),
    ],
)
def test_what_chooses_no_type_is_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        qrt.quantize(**{"x": X, **options})  # type: ignore[arg-type]


# -------------------------------------------------------------------------------------------------------- types as text


Q = QuantTensor(np.int8([[1, 2], [3, 4]]), T)
IMAGE = QuantTensor(np.arange(16, dtype=np.int8).reshape(1, 4, 4, 1), T)
FILTER = QuantTensor(np.ones((1, 2, 2, 1), np.int8), T)
TAKING: dict[str, Callable[[object], object]] = {
    "quantize": lambda t: qrt.quantize(X, t),
    "qcast": lambda t: qrt.qcast(X, t),
    "scast": lambda t: qrt.scast(np.int8([1, 2]), t),
    "QuantTensor": lambda t: QuantTensor([1, 2], t),
    "requantize": lambda t: qrt.requantize(Q, t),
    "astype": lambda t: Q.astype(t),
    "add": lambda t: qrt.add(Q, Q, out_type=t),
    "sub": lambda t: qrt.sub(Q, Q, out_type=t),
    "mul": lambda t: qrt.mul(Q, Q, out_type=t),
    "mean": lambda t: qrt.mean(Q, out_type=t),
    "matmul": lambda t: qrt.matmul(Q, Q, out_type=t),
    "concat": lambda t: qrt.concat([Q, Q], out_type=t),
    "conv2d": lambda t: qrt.conv2d(IMAGE, FILTER, out_type=t),
    "depthwise_conv2d": lambda t: qrt.depthwise_conv2d(IMAGE, FILTER.reshape(2, 2, 1), out_type=t),
    "avg_pool2d": lambda t: qrt.avg_pool2d(IMAGE, 2, out_type=t),
    "softmax": lambda t: qrt.softmax(Q, t),
    "bias_type": lambda t: qrt.bias_type(t, T),
    "TensorType": lambda t: qrt.TensorType((2,), t),  # type: ignore[arg-type]
}


@pytest.mark.parametrize("name", TAKING)
def test_text_stands_for_its_type(name: str) -> None:
    for text in (TEXT, "!quant.uniform<u8:f32,1.>"):
        expected = TAKING[name](qrt.parse_type(text))
        for _ in range(2):
            made = TAKING[name](text)
            assert made.equals(expected) if isinstance(made, QuantTensor) else made == expected
    if name not in ("astype", "TensorType"):  # to one "i8" is NumPy's int64, to the other a type
        with pytest.raises(QuantTypeError, match="i8"):
            TAKING[name]("i8")
    with pytest.raises(ParseError if name == "TensorType" else QuantTypeError):
        TAKING[name]("uniform")


# -------------------------------------------------------------------------------------------------------------- astype


@given(uniform_types(), uniform_types(), generators())
def test_astype_to_a_type_is_requantize(a: UniformType, b: UniformType, rng: np.random.Generator) -> None:
    q = QuantTensor(storage_of(a, (3, 4), rng), a)
    assert q.astype(b).equals(qrt.requantize(q, b))


@given(uniform_types(widths=range(1, 17)), st.integers(-8, 8), generators())
def test_astype_is_exact_where_a_power_of_two_lies_between_the_scales(
    a: UniformType, shift: int, rng: np.random.Generator
) -> None:
    b = UniformType("i32", "f32", a.scale * 2.0 ** -abs(shift), shift)
    q = QuantTensor(storage_of(a, (5,), rng), a)
    moved = q.astype(b)
    for x, y in zip(q.storage.tolist(), moved.storage.tolist(), strict=True):
        assert (x - a.zero_point) * Fraction(a.scale) == (y - b.zero_point) * Fraction(b.scale)


def test_astype_to_other_floats_quantizes_the_values() -> None:
    t = UniformType("i8", "f16", 0.25)
    q = QuantTensor(np.int8([3, 5, 127]), T)
    for _ in range(2):
        assert q.astype(t).equals(qrt.quantize(q.dequantize(), t))
    assert q.astype(t).storage.tolist() == [0, 4, 127]


def test_astype_to_its_own_type_is_a_copy() -> None:
    q = QuantTensor(np.int8([3, 5]), T)
    same = q.astype(T)
    assert same.equals(q)
    assert not np.shares_memory(same.storage, q.storage)


@pytest.mark.parametrize("dtype", [np.float64, "float32", np.dtype(">f4"), float, complex, ml_dtypes.bfloat16, object])
def test_astype_to_a_dtype_is_that_of_the_values(dtype: object) -> None:
    q = QuantTensor(np.int8([3, 5, 0]), T)
    expected = np.asarray(q).astype(dtype)  # type: ignore[call-overload]
    assert q.astype(dtype).dtype == expected.dtype
    assert np.array_equal(q.astype(dtype), expected)


@pytest.mark.parametrize("dtype", ["int8", np.dtype(">u4"), bool, int, ml_dtypes.int4, ml_dtypes.uint2])
def test_astype_to_integers_says_which_integers_there_are(dtype: object) -> None:
    """Hazard: somebody wants the storage, and gets the values cut off."""
    with pytest.raises(QuantTypeError, match=r"write q\.storage for the integers, or np\.asarray\(q\)\.astype"):
        QuantTensor(np.int8([3, 5, 0]), T).astype(dtype)


def test_astype_to_a_float_type_of_mlir_is_that_of_its_dtype() -> None:
    q = QuantTensor(np.int8([3, 5]), T)
    assert q.astype(qrt.parse_type("bf16")).dtype == ml_dtypes.bfloat16


@pytest.mark.parametrize(
    "wanted", [None, "i9", "float31", object(), {}, "!quant.any<i8:f32>", qrt.parse_type("i8"), 5, "V8", "(2,)f4"]
)
def test_astype_to_anything_else_is_refused(wanted: object) -> None:
    with pytest.raises(QuantTypeError, match=r"must be a !quant.uniform type( or a numeric dtype)?, got"):
        QuantTensor(np.int8([3, 5]), T).astype(wanted)


def test_astype_refuses_channels_that_do_not_fit() -> None:
    with pytest.raises(QuantTypeError, match="does not match number of scales"):
        QuantTensor(np.int8([3, 5]), T).astype(UniformType("i8", "f32", [0.5] * 3, axis=0))


# ----------------------------------------------------------------------------------------------------------- bias_type


def test_a_bias_of_that_type_is_added_as_it_is() -> None:
    x_type = UniformType("u8", "f32", 0.1, 7)
    w = QuantTensor(np.int8([[1, 2, 3], [4, 5, 6]]), UniformType("i8", "f32", [0.3, 0.7, 1e-3], axis=1))
    x = QuantTensor(np.uint8([[9, 4]]), x_type)
    t = qrt.bias_type(x, w)
    assert t == UniformType("i32", "f32", [0.1 * 0.3, 0.1 * 0.7, 0.1 * 1e-3], axis=0)
    assert qrt.bias_type(x_type, w.type) is qrt.bias_type(str(x_type), w) is t
    bias = QuantTensor(np.int32([100, -5, 3]), t)
    exact = UniformType("i32", "f32", list(t.scales), axis=1)
    sums = qrt.matmul(x, w, bias=bias, out_type=exact).storage
    assert np.array_equal(sums, (x @ w).storage + bias.storage)
    assert str(qrt.bias_type(T, T)) == "!quant.uniform<i32:f32, 2.500000e-01>"


@pytest.mark.parametrize(
    ("x", "w", "message"),
    [
        (UniformType("i8", "f32", [0.5], axis=0), T, "'x' must have a per-layer type, got"),
        (
            T,
            UniformType("i8", "f32", [[0.5]], block_sizes={0: 2}),
            "bias_type: 'w' must have a type per layer or per axis, got",
        ),
        (T, UniformType("i8", "f16", 0.5), "'x' and 'w' must have the same expressed type, got f32 and f16"),
        (T.with_(scales=1e-30), T.with_(scales=1e-30), "out of expressed type range"),
        (T, X, "must be a !quant.uniform type"),
    ],
)
def test_products_without_a_bias_type(x: object, w: object, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        qrt.bias_type(x, w)  # type: ignore[arg-type]
