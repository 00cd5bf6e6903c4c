"""Tables of functions, and recurrent operators that are wrong or not supported.

Hazards: a table whose last bits are another library's; a cell whose scale is no power of two; intermediates missing."""

import ctypes
from ctypes.util import find_library

import numpy as np
import pytest

from qrt.errors import ModelError, QuantTypeError
from qrt.models.profiles import profile
from qrt.models.tflite import libm, tables
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.numerics.floats32 import expf, logf
from qrt.types import UniformType
from tests.models.tflite.writing import Tensor, one_op

X = UniformType("i8", "f32", 2.0**-5, 3)


def of_library(name, values):
    library = ctypes.CDLL(find_library("m"))
    function = getattr(library, name)
    function.argtypes, function.restype = [ctypes.c_float], ctypes.c_float
    return np.fromiter((function(float(v)) for v in values), np.float32, len(values))


def test_floats32_are_those_of_the_c_library():
    """Bit for bit, where this machine's is glibc; a correctly rounded function differs in one of 1600."""
    rng = np.random.default_rng(1)
    x = np.append(-np.exp(rng.uniform(-20, 4.7, 20000)), [0.0, -0.0, -103.9, -104.1, -1e30, 1e30, np.inf]).astype(
        np.float32
    )
    x = np.append(x, np.linspace(-103.0, 90.0, 5001)).astype(np.float32)  # to subnormal results, and past the largest
    assert expf(x).tobytes() == of_library("expf", x).tobytes()
    x = np.append(np.exp(rng.uniform(-80, 80, 20000)), [1.0, 2.0, 0.5, 2.0**-149, 2.0**-126, np.inf]).astype(np.float32)
    x = np.append(x, rng.integers(1, 1 << 23, 5000, np.int32).view(np.float32))  # subnormal values
    assert logf(x).tobytes() == of_library("logf", x).tobytes()


def test_a_function_is_the_librarys():
    for name in ("expm1f", "tanhf", "erfcf"):
        values = np.float32([0.1, 0.7, 1.3, 2.9])
        assert libm.float32(name, values).tolist() == of_library(name, values).tolist()


@pytest.mark.parametrize(("rule", "entry"), [("half_even", 3), ("half_away", 4)])
def test_what_lies_half_way(rule, entry):
    """0.5 and -0.5 between two results: to even, or away from 0 before the zero point is added."""
    out = UniformType("i8", "f32", 2.0**-4, 3)
    table = tables.table("ELU", X, out, rule)
    assert table[X.zero_point + 1 + 128] == (4 if rule == "half_even" else entry)
    table = tables.table("ELU", X, out.with_(zero_points=2), rule)
    assert table[X.zero_point + 1 + 128] == (2 if rule == "half_even" else 3)


def test_values_without_a_result():
    """A logarithm of 0, an inverse root of 0: the end of the storage."""
    x = UniformType("i8", "f32", 0.1, -128)
    out = UniformType("i8", "f32", 0.05, 7)
    assert (tables.table("LOG", x, out, "half_away")[0], tables.table("RSQRT", x, out, "half_away")[0]) == (-128, 127)
    word = UniformType("i16", "f32", 0.001)
    assert tables.interpolated("LOG", word, word)[:256].tolist() == [-32768] * 256
    tiny = UniformType("i8", "f32", 1e-38)
    with np.errstate(all="ignore"), pytest.raises(QuantTypeError, match="one that is not finite"):
        tables.table("RSQRT", tiny, tiny, "half_away")
    assert tables.interpolated("RSQRT", word, word)[:256].tolist() == [32767] * 256


# -- recurrent operators ---------------------------------------------------------------------------------------------


def lstm(cell=2.0**-12, intermediates=5, changed=(), options=None):
    x = Tensor((1, 2, 3), "int8", 0.5, 1)
    inputs = [x, *(Tensor((4, 3), "int8", 0.01, data=np.zeros((4, 3))) for _ in range(4))]
    inputs += [Tensor((4, 4), "int8", 0.01, data=np.zeros((4, 4))) for _ in range(4)] + [None] * 3
    inputs += [Tensor((4,), "int32", 0.005, data=np.zeros(4)) for _ in range(4)] + [None, None]
    inputs += [Tensor((1, 4), "int8", 0.0078, is_variable=True), Tensor((1, 4), "int16", cell, is_variable=True)]
    inputs += [None] * 4
    for index, tensor in changed:
        inputs[index] = tensor
    kept = [*(Tensor((0,), "float32") for _ in range(4)), Tensor((0,), "int8", 0.0078)][:intermediates]
    said = {"fused_activation_function": "TANH"} | (options or {})
    y = Tensor((1, 2, 4), "int8", 0.0078)
    return one_op("UNIDIRECTIONAL_SEQUENCE_LSTM", inputs, [y], said, intermediates=kept)


VECTOR = Tensor((4,), "int16", 0.01, data=np.ones(4))
BYTES = Tensor((4,), "int8", 0.01, data=np.ones(4))
PROJECTED = [
    (16, Tensor((2, 4), "int8", 0.1, data=np.ones((2, 4)))),
    *((i, Tensor((4, 2), "int8", 0.01, data=np.zeros((4, 2)))) for i in range(5, 9)),
    (18, Tensor((1, 2), "int8", 0.0078, is_variable=True)),
]
"""What a projection of four cells to two hidden values changes."""


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (lstm(cell=0.001), "the scale of 'cell' must be a power of two from 2**-15 to 2**-9, got 0.001"),
        (lstm(intermediates=0), "it must have 5 intermediate tensors, got 0"),
        (lstm(intermediates=4), "it must have 5 intermediate tensors, got 4"),
        (lstm(changed=[(1, None)]), "the input gate must have all of its weights and biases or none"),
        (lstm(changed=[(9, VECTOR), (10, VECTOR)]), "all gates must have peepholes, or none"),
        (lstm(changed=[(i, BYTES) for i in (9, 10, 11)]), "peephole or layer norm weights of i8"),
        (lstm(changed=[(9, VECTOR), (10, VECTOR), (11, VECTOR), *PROJECTED]), "LiteRT applies to the wrong cells"),
        (lstm(changed=[(i, VECTOR) for i in range(20, 23)]), "the output gate must have all of its weights and biases"),
        (lstm(changed=[(i, VECTOR) for i in range(20, 24)]), "the intermediate tensor of the input gate must be int16"),
        (lstm(options={"fused_activation_function": "RELU"}), "activation RELU"),
        (
            lstm(changed=[(6, Tensor((4, 3), "int8", 0.01, data=np.zeros((4, 3))))]),
            "operator 0 UNIDIRECTIONAL_SEQUENCE_LSTM: lstm: 'r_forget' must have the shape [4, 4], got [4, 3]",
        ),
    ],
)
def test_a_network_that_is_refused(content, message):
    with pytest.raises(ModelError) as raised:
        import_model(read(content), profile("litert"))
    assert message in str(raised.value)
    assert "UNIDIRECTIONAL_SEQUENCE_LSTM" in str(raised.value)
    assert len(str(raised.value)) < 2000


@pytest.mark.parametrize(
    ("name", "x", "y", "message"),
    [
        ("SOFTMAX", Tensor((1, 4), "int8", 0.1), Tensor((1, 4), "int8", 0.1), "must have scale 0.00390625"),
        ("LOGISTIC", Tensor((1, 4), "int8", 0.1), Tensor((1, 4), "int8", 0.1), "must have scale 0.00390625"),
        ("TANH", Tensor((1, 4), "int16", 0.1), Tensor((1, 4), "int16", 0.1), "the result must be int16 of scale"),
        ("ELU", Tensor((1, 4), "uint8", 0.1), Tensor((1, 4), "uint8", 0.1), "u8 to u8"),
        ("SQRT", Tensor((1, 4), "int16", 0.1), Tensor((1, 4), "int8", 0.1), "i16 to i8"),
        ("SQRT", Tensor((1, 4), "int16", 0.1, 3), Tensor((1, 4), "int16", 0.1), "zero point"),
        ("HARD_SWISH", Tensor((1, 4), "int8", 0.5), Tensor((1, 4), "int8", 0.001), "the scale of the result must"),
        ("QUANTIZE", Tensor((1, 4), "int32", 0.5, 3), Tensor((1, 4), "int8", 0.5), "int32 with a zero point"),
        ("GELU", Tensor((1, 4), "int16", 0.5), Tensor((1, 4), "int16", 8.7e-5), "difference of them overflows"),
    ],
)
def test_a_function_that_is_refused(name, x, y, message):
    with pytest.raises(ModelError) as raised:
        import_model(read(one_op(name, [x], [y])), profile("litert"))
    assert message in str(raised.value)


def test_a_profile_without_a_function():
    content = one_op("ELU", [Tensor((1, 4), "int8", 0.1)], [Tensor((1, 4), "int8", 0.1)])
    with pytest.raises(ModelError, match="profile litert-ref has no rule for table with function = ELU"):
        import_model(read(content), profile("litert-ref"))
