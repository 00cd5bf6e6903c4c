"""Rows of floats that meet constant int8 weights, as products of matrices and as loop nests. Hazards: what zero points
add to sums of weights of one sign, ranges of one sign or of no width, scales per channel, sums that leave 32 bits."""

from itertools import cycle

import numpy as np
import pytest

import qrt
from qrt.errors import QuantError
from qrt.formats.tflite.importing import import_model
from qrt.formats.tflite.operators import hybrid
from qrt.formats.tflite.read import read
from qrt.profiles import PROFILES
from tests.formats.tflite.writing import Tensor, one_op

F32 = np.float32
OPTIONS = {
    "CONV_2D": {"padding": "VALID", "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1},
    "FULLY_CONNECTED": {},
}
WEIGHTS = {
    "drawn": lambda rng, shape: rng.integers(-128, 128, shape),
    "least": lambda rng, shape: np.full(shape, -128),
    "greatest": lambda rng, shape: np.full(shape, 127),
    "zero": lambda rng, shape: np.zeros(shape),
}
ROWS = {
    "drawn": lambda rng, shape: rng.normal(size=shape),
    "positive": lambda rng, shape: rng.uniform(1, 2, shape),
    "negative": lambda rng, shape: rng.uniform(-2, -1, shape),
    "equal": lambda rng, shape: np.full(shape, 3),
    "zero": lambda rng, shape: np.zeros(shape),
    "large": lambda rng, shape: rng.uniform(-1e37, 1e37, shape),
    "small": lambda rng, shape: rng.uniform(1e-36, 1e-35, shape),
}


def layer(name: str, rows: int, weights: np.ndarray, scales: list[float]) -> bytes:
    units, depth = weights.shape
    is_convolution = name == "CONV_2D"
    shape = (1, rows, 1, depth) if is_convolution else (rows, depth)
    data = weights.astype(np.int8).reshape(units, 1, 1, depth) if is_convolution else weights.astype(np.int8)
    w = Tensor(data.shape, "int8", scales, [0] * len(scales), 0, data)
    bias = Tensor((units,), "float32", data=np.linspace(-1, 1, units, dtype=F32))
    options = {**OPTIONS[name], "fused_activation_function": "NONE"}
    return one_op(name, [Tensor(shape, "float32"), w, bias], [Tensor((*shape[:-1], units), "float32")], options)


def program(content: bytes, profile: str) -> qrt.Program:
    return qrt.compile(import_model(read(content), PROFILES[profile]))


def steps(content: bytes) -> set[str]:
    return {op.name for op in import_model(read(content), PROFILES["litert"]).operation.walk()}


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("sign", WEIGHTS)
def test_products_have_the_bits_of_nests(name, sign, profile, monkeypatch):
    rng = np.random.default_rng(3)
    for (rows, depth, units), kind in zip(
        cycle([(1, 1, 1), (3, 64, 17), (5, 33, 2), (2, 300, 65)]), ROWS, strict=False
    ):
        scales = (2.0 ** rng.uniform(-9, -1, units if rng.random() < 0.5 else 1)).astype(F32).tolist()
        content = layer(name, rows, WEIGHTS[sign](rng, (units, depth)), scales)
        made = program(content, profile)
        with monkeypatch.context() as patched:
            patched.setattr(hybrid, "_is_product", lambda node, depth: False)
            nests = program(content, profile)
        (port,) = made.inputs
        x = ROWS[kind](rng, port.type.shape).astype(F32)
        wanted = np.asarray(nests(x))
        assert np.asarray(made(x)).tobytes() == wanted.tobytes(), (rows, depth, units, kind)
        (interpreted,) = made.run({port.name: x}, interpret=True).values()
        assert np.asarray(interpreted).tobytes() == wanted.tobytes(), (rows, depth, units, kind)


@pytest.mark.parametrize("name", OPTIONS)
def test_rows_of_constant_weights_are_products(name):
    assert "qrt.matmul" in steps(layer(name, 2, np.ones((3, 4)), [0.5]))


def test_sums_that_may_leave_32_bits_are_nests():
    assert "qrt.matmul" in steps(layer("FULLY_CONNECTED", 1, np.ones((1, (1 << 17) - 1)), [0.5]))
    assert "qrt.matmul" not in steps(layer("FULLY_CONNECTED", 1, np.ones((1, 1 << 17)), [0.5]))


def test_the_greatest_sums_are_exact():
    depth = (1 << 17) - 1
    made = program(layer("FULLY_CONNECTED", 2, np.full((1, depth), -128), [1.0]), "litert")
    x = np.stack([np.full(depth, -1, F32), np.ones(depth, F32)])
    # Of a row of -1 the range is -1 to 0, so that it is -255 units: 32 bits hold no such sum, and it wraps.
    sums = np.array([255 * 128 * depth, -255 * 128 * depth]).astype(np.uint32).view(np.int32)
    wanted = sums.astype(F32) * (F32(1) / F32(255)) - F32(1)
    assert np.asarray(made(x)).reshape(-1).tolist() == wanted.tolist()


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_rows_without_a_range_are_refused(number):
    made = program(layer("FULLY_CONNECTED", 2, np.ones((3, 4)), [0.5]), "litert")
    x = np.ones((2, 4), F32)
    x[1, 2] = number
    with pytest.raises(QuantError, match="a NaN or a number out of the range of i32"):
        made(x)
