"""The functions on QuantTensors: casts of every dtype and layout, `out=` under aliasing, and refusals."""

import re
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import qrt
from qrt import QuantTensor, UniformType
from qrt.errors import QuantTypeError
from qrt.tensor.quant_tensor import tensor_of
from qrt.types import storage_range
from tests.ops.strategies import generators, storage_of, storages

I8 = UniformType("i8", "f32", 0.5, 3)
U4 = UniformType("u4", "f32", 0.5, 8)
PER_AXIS = UniformType("i8", "f32", [0.5, 1.0, 2.0], [0, 1, 2], axis=1)
FAR = UniformType("i8", "f32", 0.5, 128)

# --------------------------------------------------------------------------------------------------------------- casts


@pytest.mark.parametrize(
    ("x", "expected"),
    [
        ([0, 1, 2], [3, 5, 7]),
        (1.0, 5),
        (np.float64([0.1, 1e300]), [3, 127]),
        (np.int64([1, -(2**62)]), [5, -128]),
        (np.uint8([1]), [5]),
        (np.float16([1]), [5]),
        (np.array([1], ml_dtypes.bfloat16), [5]),
        (np.array([1.0, 2.0], ">f4"), [5, 7]),
        (np.float32([[1, 9], [2, 9]])[:, 0], [5, 7]),
        (np.longdouble([1]), [5]),
        (np.zeros((0, 3), np.float32), []),
    ],
    ids=lambda v: str(getattr(v, "dtype", v)),
)
def test_quantize_takes_real_numbers_of_any_dtype_and_layout(x: Any, expected: Any) -> None:
    q = qrt.quantize(x, I8)
    assert q.storage.tolist() == expected
    assert q.shape == np.shape(x)


@pytest.mark.parametrize(
    ("expressed", "x", "value"),
    [
        ("bf16", 1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-7),  # through float32 first it would be a tie, and 1
        ("f8E4M3FN", 1 + 2.0**-4 + 2.0**-40, 1 + 2.0**-3),
        ("f16", 1 + 2.0**-11 + 2.0**-40, 1 + 2.0**-10),
        ("f32", 1 + 2.0**-24 + 2.0**-50, 1 + 2.0**-23),
    ],
)
def test_quantize_rounds_doubles_once(expressed: str, x: float, value: float) -> None:
    scale = 2.0**-6 if expressed == "f8E4M3FN" else 2.0**-24
    t = UniformType("i32", expressed, max(scale, 2.0**-14) if expressed == "f16" else scale)
    assert qrt.quantize(np.float64([x]), t).storage[0] * t.scale == value


def test_qcast_is_of_the_expressed_dtype() -> None:
    assert qrt.qcast([1.0], I8).storage.tolist() == [5]  # Python's numbers have no dtype to be wrong
    with pytest.raises(
        QuantTypeError,
        match="'x' must be an array of float32, the expressed type f32 of",
    ):
        qrt.qcast(np.float64([1.0]), I8)
    with pytest.raises(QuantTypeError, match="got dtype int64"):
        qrt.qcast(np.array([1]), I8)


def test_qcast_rules() -> None:
    x = np.float32([0.25, -0.25, 0.75])  # half steps
    t = UniformType("i8", "f32", 0.5, 1)
    assert qrt.qcast(x, t).storage.tolist() == [2, 0, 2]
    assert qrt.qcast(x, t, zero_point="after").storage.tolist() == [1, 1, 3]
    assert qrt.qcast(x, t, rounding="half_away", zero_point="after").storage.tolist() == [2, 0, 3]
    assert qrt.qcast(x, t, rounding="toward_zero", zero_point="after").storage.tolist() == [1, 1, 2]
    third = UniformType("i8", "f32", 1 / 3)
    assert qrt.qcast(np.float32([2.5]) * np.float32(1 / 3), third, scale="reciprocal").storage.tolist() == [2]


@given(st.data(), storages(), generators())
def test_scast_moves_no_bits(data: st.DataObject, stored: dict[str, Any], rng: np.random.Generator) -> None:
    """Signless integers and back, for every width; unsigned integers of the same bits are read alike."""
    t = UniformType(expressed="f32", scales=1.0, **stored)
    q = QuantTensor(storage_of(t, (3, 5), rng), t)
    bits = qrt.scast(q)
    assert bits.dtype.kind == "i"
    least, greatest = storage_range(t.storage_width, True)
    assert bits.min() >= least
    assert bits.max() <= greatest
    mask = (1 << t.storage_width) - 1
    np.testing.assert_array_equal(bits.astype(np.int64) & mask, q.storage.astype(np.int64) & mask)
    assert qrt.scast(bits, t).equals(q)
    assert qrt.scast(bits.astype(np.int64) & mask, t).equals(q)


@pytest.mark.parametrize(
    ("x", "message"),
    [
        ([1j], "'x' must be real numbers, got dtype complex128"),
        ([True], "'x' must be real numbers, got dtype bool"),
        ([None], "'x' must be real numbers, got dtype object"),
        (["1"], "'x' must be real numbers, got dtype <U1"),
        ([2**70], "'x' must be real numbers, got dtype object"),
        (
            [[1.0], [1.0, 2.0]],
            "nested sequences of one level must have the same length to form an array, got different lengths",
        ),
        (np.array(["2020-01-01"], "M8[D]"), "'x' must be real numbers, got dtype datetime64[D]"),
    ],
)
def test_quantize_refuses_what_is_no_number(x: Any, message: str) -> None:
    for cast in (qrt.quantize, qrt.qcast):
        with pytest.raises(QuantTypeError, match=re.escape(message)):
            cast(x, I8)


# ----------------------------------------------------------------------------------------------------------------- out


def filled(shape: tuple[int, ...], t: UniformType = I8, seed: int = 0) -> QuantTensor:
    return QuantTensor(storage_of(t, shape, np.random.default_rng(seed)), t)


Call = Callable[..., Any]
OUT = UniformType("i8", "f32", 0.25, -1)
CALLS: dict[str, tuple[Call, UniformType]] = {
    "quantize": (lambda q, **k: qrt.quantize(np.linspace(-60, 60, 12).reshape(3, 4), OUT, **k), OUT),
    "qcast": (lambda q, **k: qrt.qcast(np.linspace(-60, 60, 12, dtype=np.float32).reshape(3, 4), OUT, **k), OUT),
    "add": (lambda q, **k: qrt.add(q, q, out_type=OUT, **k), OUT),
    "sub": (lambda q, **k: qrt.sub(q, q[:1], out_type=OUT, **k), OUT),
    "mul": (lambda q, **k: qrt.mul(q, q, out_type=OUT, **k), OUT),
    "matmul": (lambda q, **k: qrt.matmul(q, filled((4, 4), seed=5), out_type=OUT, **k), OUT),
    "requantize": (lambda q, **k: qrt.requantize(q, OUT, **k), OUT),
    "clamp": (lambda q, **k: qrt.clamp(q, -1, 6, **k), I8),
    "relu": (qrt.relu, I8),
    "concat": (lambda q, **k: qrt.concat([q[1:], q[:1]], out_type=OUT, **k), OUT),
}


@pytest.mark.parametrize("name", CALLS)
@pytest.mark.parametrize("where", ["contiguous", "strided", "transposed", "slice"])
def test_out_of_any_layout(name: str, where: str) -> None:
    call, t = CALLS[name]
    q = filled((3, 4))
    base = filled((8, 12), t, 9)
    out = {
        "contiguous": base[:3, :4].copy(),
        "strided": base[1:7:2, ::-3],
        "transposed": base[:4, 3:6].T,
        "slice": base[2:5].reshape(9, 4)[4:7],
    }[where]
    expected = call(q)
    assert call(q, out=out) is out
    assert out.equals(expected)


@pytest.mark.parametrize("storage", ["u4", "i2", "i1"])
def test_packed_out(storage: str) -> None:
    t = UniformType(storage, "f32", 0.5)
    q, out = filled((3, 5)), filled((3, 5), t, 3)
    assert qrt.requantize(q, t, out=out) is out
    assert out.equals(qrt.requantize(q, t))
    assert qrt.clamp(out, 0.5, out=out) is out
    assert out.storage.tolist() == np.maximum(qrt.requantize(q, t).storage, min(1, t.storage_max)).tolist()


def test_out_may_be_an_operand() -> None:
    for op in (qrt.add, qrt.sub, qrt.mul, qrt.matmul):
        q = filled((6, 6))
        expected = op(q, q, out_type=I8)
        assert op(q, q, out=q).equals(expected)


@pytest.mark.parametrize("shift", [-1, 1])
def test_out_may_overlap_an_operand(shift: int) -> None:
    """Rows written before they are read would be wrong."""
    base = filled((9, 4))
    source, out = (base[1:], base[:-1]) if shift < 0 else (base[:-1], base[1:])
    expected = qrt.clamp(source, -2, 20)
    qrt.clamp(source, -2, 20, out=out)
    assert out.equals(expected)
    base = filled((9, 4))
    source, out = (base[1:], base[:-1]) if shift < 0 else (base[:-1], base[1:])
    expected = qrt.concat([source[4:], source[:4]])
    qrt.concat([source[4:], source[:4]], out=out)
    assert out.equals(expected)


def test_out_may_overlap_a_bias() -> None:
    t = UniformType("i32", "f32", 0.25)
    base = filled((5,), t)
    a, w = filled((4,)), filled((4, 4), seed=2)
    expected = qrt.matmul(a, w, bias=base[1:], out_type=t)
    qrt.matmul(a, w, bias=base[1:], out=base[:-1])
    assert base[:-1].equals(expected)


def test_windows_write_to_out() -> None:
    x, w = filled((1, 6, 6, 2)), filled((3, 3, 3, 2), seed=1)
    for call in (
        lambda **k: qrt.conv2d(x, w, padding="SAME", out_type=OUT, **k),
        lambda **k: qrt.avg_pool2d(x, 2, out_type=OUT, **k),
        lambda **k: qrt.max_pool2d(x, 3, strides=2, padding="SAME", **k),
    ):
        expected = call()
        out = expected.copy()
        qrt.clamp(out, 0.0, 0.0, out=out)
        assert call(out=out) is out
        assert out.equals(expected)


@pytest.mark.parametrize("layout", ["contiguous", "strided", "read from"])
def test_dcast_out(layout: str) -> None:
    q = filled((3, 4))
    out = np.empty((3, 8), np.float32)[:, ::2] if layout == "strided" else np.empty((3, 4), np.float32)
    if layout == "read from":  # floats in the memory of the storage itself
        memory = np.zeros(48, np.int8)
        memory[:12] = q.storage.ravel()
        q = tensor_of(memory[:12].reshape(3, 4), I8, (3, 4))
        out = memory.view(np.float32).reshape(3, 4)
    expected = np.asarray(q)
    assert qrt.dcast(q, out=out) is out
    np.testing.assert_array_equal(out, expected)


def read_only(a: Any) -> Any:
    a.flags.writeable = False
    return a


def read_only_tensor() -> QuantTensor:
    q = filled((3, 4))
    q._data.flags.writeable = False
    return q


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: qrt.relu(q, out=filled((4, 3))), "clamp: 'out' must have the result's type"),
        (lambda q: qrt.relu(q, out=filled((3, 4), OUT)), "clamp: the result must have the type of the operand"),
        (
            lambda q: qrt.relu(q, out=np.zeros((3, 4), np.int8)),
            "clamp: 'out' must be a QuantTensor, got an ndarray of shape (3, 4): give a tensor of the result's type "
            "and shape, or omit out=...",
        ),
        (lambda q: qrt.relu(q, out=read_only_tensor()), "clamp: 'out' must be writable, got a read-only tensor"),
        (lambda q: qrt.add(q, q, out_type=OUT, out=filled((3, 4))), "add: 'out' must have the result's type"),
        (lambda q: qrt.quantize(np.zeros((3, 4)), I8, out=filled((3, 3))), "qcast: 'out' must have the result's type"),
        (
            lambda q: qrt.quantize(np.zeros((3, 4)), I8, out=np.zeros((3, 4), np.int8)),
            "qcast: 'out' must be a QuantTensor, got an ndarray of shape (3, 4): give a tensor of the result's type "
            "and shape, or omit out=...",
        ),
        (
            lambda q: qrt.dcast(q, out=np.zeros((3, 4))),
            "dcast: 'out' must have shape (3, 4) and dtype float32, got shape (3, 4) and dtype float64",
        ),
        (lambda q: qrt.dcast(q, out=np.zeros((3, 4), ">f4")), "dcast: 'out' must have shape"),
        (lambda q: qrt.dcast(q, out=np.zeros(12, np.float32)), "dcast: 'out' must have shape"),
        (lambda q: qrt.dcast(q, out=q), "dcast: 'out' must be a writable array"),
        (lambda q: qrt.dcast(q, out=read_only(np.zeros((3, 4), np.float32))), "dcast: 'out' must be a writable array"),
    ],
)
def test_refuses_a_wrong_out(call: Call, message: str) -> None:
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        call(filled((3, 4)))


# ------------------------------------------------------------------------------------------------------------ refusals

X4, W4 = filled((1, 4, 4, 2)), filled((3, 2, 2, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda q: qrt.quantize([1.0], "i8"), "must be a !quant.uniform type, got 'i8'"),
        (
            lambda q: qrt.quantize([1.0], None),
            "quantize: expected a type, or bits=... to choose one from the values, as in",
        ),
        (
            lambda q: qrt.quantize([1.0], FAR),
            "the type of a tensor must have zero points in [-128, 127], the range of its storage type i8, got 128 in",
        ),
        (
            lambda q: qrt.quantize(np.zeros((2, 2)), PER_AXIS),
            "quantized dimension size does not match number of scales: dimension 1 has size",
        ),
        (lambda q: qrt.quantize(np.zeros(3), PER_AXIS), "axis 1, rank 1"),
        (lambda q: qrt.quantize([1.0], UniformType("i8", "f80", 1.0)), "values of type f80 cannot be computed"),
        (
            lambda q: qrt.qcast([1.0], I8, rounding="up"),
            "qcast: 'rounding' must be one of half_even, half_away, toward_zero, got 'up'",
        ),
        (
            lambda q: qrt.qcast([1.0], I8, rounding=["half_even"]),
            "qcast: 'rounding' must not be a list, got ['half_even']",
        ),
        (
            lambda q: qrt.dcast([1, 2]),
            "dcast: 'q' must be a QuantTensor, got [1, 2]: qrt.quantize(q, bits=8) makes one",
        ),
        (
            lambda q: qrt.scast(q, I8),
            "scast: 'type' must not be given for a QuantTensor, which is cast to its storage",
        ),
        (lambda q: qrt.scast([1]), "scast: 'type' must be given for integers: the quantized type of the result"),
        (lambda q: qrt.scast([1.0], I8), "scast: 'x' must be an array of integers, got dtype float64"),
        (lambda q: qrt.scast([True], I8), "scast: 'x' must be an array of integers, got dtype bool"),
        (lambda q: qrt.scast([256], I8), "the integers of 'x' must be in [-128, 255], the range of the 8 bits of"),
        (
            lambda q: qrt.scast(np.uint64([2**63]), I8),
            "the integers of 'x' must be in [-128, 255], the range of the 8 bits of",
        ),
        (lambda q: qrt.scast([-9], U4), "the integers of 'x' must be in [-8, 15], the range of the 4 bits of"),
        (
            lambda q: qrt.scast([7], UniformType("i8", "f32", 1.0, storage_max=5)),
            "storage values must be in [-128, 5], the storage bounds of",
        ),
        (lambda q: qrt.scast([1, 2], PER_AXIS), "axis 1, rank 1"),
        (
            lambda q: qrt.scast([1], FAR),
            "the type of a tensor must have zero points in [-128, 127], the range of its storage type i8, got 128 in",
        ),
        (
            lambda q: qrt.matmul(q, np.zeros((4, 3))),
            "matmul: 'w' must be a QuantTensor, got an ndarray of shape (4, 3): qrt.quantize(w, bits=8) makes one",
        ),
        (
            lambda q: qrt.matmul(q, q),
            "matmul: the contracted dimensions of 'a' and 'w' must have the same size, got 4 and 3",
        ),
        (
            lambda q: qrt.matmul(q, q.T, bias=[1, 2, 3], out_type=I8),
            "matmul: 'bias' must be a QuantTensor, got [1, 2, 3]: qrt.quantize(bias, qrt.bias_type(a, w)) makes one",
        ),
        (lambda q: qrt.matmul(q, q.T, requant=None), "matmul: 'requant' must be one of"),
        (
            lambda q: qrt.matmul(q, q.T, requant=["fixed"]),
            "matmul: 'requant' must not be a list, got ['fixed']",
        ),
        (
            lambda q: qrt.matmul(q, q.T, out_type="i8"),
            "matmul: 'out_type' must be a !quant.uniform type, got 'i8': "
            'give one such as qrt.UniformType("i8", "f32", 0.5), or the type that qrt.quantize(x, bits=8) '
            "chooses",
        ),
        (
            lambda q: qrt.matmul(q, q.T, out_type=FAR),
            "matmul: the result must have zero points in [-128, 127], the range of its",
        ),
        (lambda q: qrt.requantize(q, "i8"), "must be a !quant.uniform type"),
        (lambda q: qrt.requantize(1, I8), "requantize: 'q' must be a QuantTensor, got 1"),
        (lambda q: qrt.clamp(q, "0"), "clamp: 'min' must be a real number"),
        (
            lambda q: qrt.clamp(q, [0.0]),
            "clamp: 'min' must not be a list, got [0.0]",
        ),
        (lambda q: qrt.clamp(q, 2, 1), "clamp: 'min' must be at most 'max', got min = 2.0 and max = 1.0"),
        (lambda q: qrt.concat([]), "concat: expected 1 or more operands (tensors), got 0"),
        (lambda q: qrt.concat([q, 1]), "concat: tensors[1] must be a QuantTensor, got 1"),
        (lambda q: qrt.concat([q, q], axis="0"), "concat: 'axis' must be an integer, got '0'"),
        (
            lambda q: qrt.reshape(np.zeros(4), (2, 2)),
            "reshape: 'q' must be a QuantTensor, got an ndarray of shape (4,): qrt.quantize(q, bits=8) makes one",
        ),
        (
            lambda q: qrt.transpose(np.zeros(4)),
            "transpose: 'q' must be a QuantTensor, got an ndarray of shape (4,): qrt.quantize(q, bits=8) makes one",
        ),
        (lambda q: qrt.transpose(q, (0, 2)), "'axes' must have each of the 2 axes once, got (0, 2)"),
        (lambda q: qrt.avg_pool2d(q, 2), "avg_pool2d: 'q' must have the layout NHWC, of rank 4, got tensor<3x4x"),
        (lambda q: qrt.avg_pool2d(1, 2), "avg_pool2d: 'q' must be a QuantTensor, got 1"),
        (lambda q: qrt.max_pool2d(X4, 0), "max_pool2d: 'kernel' must be two positive integers, got (0, 0)"),
        (lambda q: qrt.max_pool2d(X4, (2, 2, 2)), "max_pool2d: 'kernel' must be two positive integers, got (2, 2, 2)"),
        (lambda q: qrt.max_pool2d(X4, 2.0), "max_pool2d: 'kernel' must be two positive integers, got 2.0"),
        (
            lambda q: qrt.max_pool2d(X4, 2, strides=-1),
            "max_pool2d: 'strides' must be two positive integers, got (-1, -1)",
        ),
        (
            lambda q: qrt.max_pool2d(X4, 2, padding="FULL"),
            "max_pool2d: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got 'FULL'",
        ),
        (lambda q: qrt.conv2d(q, W4), "conv2d: 'x' must have the layout NHWC, of rank 4, got tensor<3x4x"),
        (lambda q: qrt.conv2d(X4, q), "conv2d: 'w' must have the axes height and width, got the sizes (4,)"),
        (
            lambda q: qrt.conv2d(X4, np.zeros((3, 2, 2, 2))),
            "conv2d: 'w' must be a QuantTensor, got an ndarray of "
            "shape (3, 2, 2, 2): qrt.quantize(w, bits=8) makes one",
        ),
        (
            lambda q: qrt.conv2d(X4, W4, padding=1),
            "conv2d: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got 1",
        ),
        (
            lambda q: qrt.conv2d(X4, W4, padding=[[0, 0]]),
            "conv2d: 'padding' must be 'SAME', 'VALID' or ((top, bottom), (left, right)), got [[0, 0]]",
        ),
        (
            lambda q: qrt.conv2d(X4, W4, padding=np.full((2, 2), -1)),
            "conv2d: 'padding' must be 'SAME', 'VALID' or "
            "((top, bottom), (left, right)), got an ndarray of shape (2, 2)",
        ),
        (
            lambda q: qrt.conv2d(X4, W4, groups=[1]),
            "conv2d: 'groups' must not be a list, got [1]",
        ),
        (lambda q: qrt.conv2d(X4, W4, strides="11"), "conv2d: 'strides' must be two positive integers"),
    ],
)
def test_refuses(call: Call, message: str) -> None:
    """One class of errors, naming the op, for whatever is given."""
    with pytest.raises(QuantTypeError, match=re.escape(message)):
        call(filled((3, 4)))


# ------------------------------------------------------------------------------------------------------------- calling


def test_padding_may_be_an_array() -> None:
    padded = qrt.conv2d(X4, W4, padding=np.array([[1, 0], [0, 1]]), out_type=OUT)
    assert padded.equals(qrt.conv2d(X4, W4, padding=((1, 0), (0, 1)), out_type=OUT))


def test_pool_strides_default_to_the_kernel() -> None:
    assert qrt.max_pool2d(X4, 2).shape == (1, 2, 2, 2)
    assert qrt.max_pool2d(X4, 2, strides=1).shape == (1, 3, 3, 2)
    assert qrt.max_pool2d(X4, 3, strides=2, padding="SAME").shape == (1, 2, 2, 2)


def test_operands_of_any_layout() -> None:
    base = filled((12, 10))
    a, w = base[::3, 1:9:2], base.T[:4, ::2]
    assert qrt.matmul(a, w, out_type=OUT).equals(qrt.matmul(a.copy(), w.copy(), out_type=OUT))
    assert qrt.add(a, w[:, :4], out_type=OUT).equals(qrt.add(a.copy(), w[:, :4].copy(), out_type=OUT))


def test_results_do_not_depend_on_the_isa() -> None:
    """The bound calls are kept per ISA: forcing another may not reuse them."""
    a, w = filled((17, 33)), filled((33, 19), seed=3)
    made = []
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            made.append(qrt.matmul(a, w, out_type=OUT, requant="float32"))
    assert all(q.equals(made[0]) for q in made)


def test_float_matmul_takes_floats_and_quantized_weights() -> None:
    rng = np.random.default_rng(0)
    a, w = rng.standard_normal((3, 20), np.float32), rng.standard_normal((20, 5), np.float32)
    q = qrt.quantize(w, qrt.UniformType("i4", "f32", [0.3] * 5, axis=1))
    expected = qrt.float_matmul(a, q)
    np.testing.assert_allclose(expected, a @ qrt.dcast(q), rtol=1e-5, atol=1e-5)
    for weights in (q, qrt.pack(q)):
        for _ in range(3):
            np.testing.assert_array_equal(qrt.float_matmul(a, weights), expected)
    out, bias = np.empty((3, 5), np.float32), np.arange(5, dtype=np.float32)
    assert qrt.float_matmul(a, w, bias=bias, out=out) is out
    np.testing.assert_array_equal(out, qrt.float_matmul(a, w) + bias)


def test_float_matmul_into_an_operand() -> None:
    square = np.random.default_rng(1).standard_normal((4, 4), np.float32)
    expected = qrt.float_matmul(square, square.copy())
    for _ in range(2):
        mine = square.copy()
        np.testing.assert_array_equal(qrt.float_matmul(mine, mine, out=mine), expected)


@pytest.mark.parametrize(
    ("a", "out", "message"),
    [
        (np.zeros((2, 3), int), None, "'a' must be an array of float32, got dtype int64"),
        (
            np.zeros((2, 3), np.float32),
            np.zeros((2, 5), np.float32),
            r"'out' must have shape \(2, 4\) and dtype float32, got shape \(2, 5\) and dtype float32",
        ),
        (np.zeros((2, 3), np.float32), np.zeros((2, 4)), "and dtype float32"),
    ],
)
def test_float_matmul_refuses(a: np.ndarray, out: np.ndarray | None, message: str) -> None:
    with pytest.raises(QuantTypeError, match=message):
        qrt.float_matmul(a, np.zeros((3, 4), np.float32), out=out)
