"""Floats that meet constant int8 weights, as products of bytes and as loop nests. Hazards: what zero points add to
sums of weights of one sign, padding whose zero has no scale, ranges of one sign or of no width, scales per channel,
sums that leave 32 bits."""

from itertools import cycle

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError, QuantError
from qrt.formats.tflite.importing import import_model
from qrt.formats.tflite.operators import hybrid
from qrt.formats.tflite.read import read
from qrt.profiles import PROFILES
from tests.formats.tflite.writing import Tensor, one_op

F32 = np.float32
CONVOLUTION = {"padding": "SAME", "stride_h": 2, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 2}
POINTS = {"padding": "VALID", "stride_h": 1, "stride_w": 1, "dilation_h_factor": 1, "dilation_w_factor": 1}
DEPTHWISE = {**POINTS, "padding": "SAME", "depth_multiplier": 2}
LAYERS = {
    "rows": ("FULLY_CONNECTED", {}, (), 0),
    "pixels": ("CONV_2D", POINTS, (1, 1), 0),
    "images": ("CONV_2D", CONVOLUTION, (3, 2), 0),
    "depthwise": ("DEPTHWISE_CONV_2D", DEPTHWISE, (2, 3), 3),
}
"""The operator, its options, the size of the window, and the axis of scales."""
STEPS = {"rows": "qrt.matmul", "pixels": "qrt.conv2d", "images": "qrt.conv2d", "depthwise": "qrt.depthwise_conv2d"}
WEIGHTS = {
    "drawn": lambda rng, shape: rng.integers(-128, 128, shape),
    "least": lambda rng, shape: np.full(shape, -128),
    "greatest": lambda rng, shape: np.full(shape, 127),
    "zero": lambda rng, shape: np.zeros(shape),
}
INPUTS = {
    "drawn": lambda rng, shape: rng.normal(size=shape),
    "positive": lambda rng, shape: rng.uniform(1, 2, shape),
    "negative": lambda rng, shape: rng.uniform(-2, -1, shape),
    "equal": lambda rng, shape: np.full(shape, 3),
    "zero": lambda rng, shape: np.zeros(shape),
    "large": lambda rng, shape: rng.uniform(-1e37, 1e37, shape),
    "small": lambda rng, shape: rng.uniform(1e-36, 1e-35, shape),
    "of an infinite scale": lambda rng, shape: np.full(shape, 1e-38),
}


def weights_of(layer: str, units: int, depth: int) -> tuple[int, ...]:
    window = LAYERS[layer][2]
    return (1, *window, 2 * depth) if layer == "depthwise" else (units, *window, depth)


def model(layer: str, size: int, weights: np.ndarray, scales: list[float], axis: int | None = None) -> bytes:
    name, options, window, own = LAYERS[layer]
    units, depth = weights.shape[own], weights.shape[-1] // (2 if layer == "depthwise" else 1)
    w = Tensor(weights.shape, "int8", scales, [0] * len(scales), own if axis is None else axis, weights.astype(np.int8))
    bias = Tensor((units,), "float32", data=np.linspace(-1, 1, units, dtype=F32))
    shape = (2, size, size, depth) if window else (size, depth)
    result = (2, -(-size // options["stride_h"]), size, units) if window else (size, units)
    options = {**options, "fused_activation_function": "NONE"}
    return one_op(name, [Tensor(shape, "float32"), w, bias], [Tensor(result, "float32")], options)


def program(content: bytes, profile: str = "litert") -> qrt.Program:
    return qrt.compile(import_model(read(content), PROFILES[profile]))


def steps(content: bytes) -> set[str]:
    return {op.name for op in import_model(read(content), PROFILES["litert"]).operation.walk()}


def answer(made: qrt.Program, x: np.ndarray, interpret: bool) -> bytes:
    (port,) = made.inputs
    (found,) = made.run({port.name: x}, interpret=interpret).values()
    return np.asarray(found).tobytes()


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("sign", WEIGHTS)
def test_products_of_bytes_have_the_bits_of_nests(layer, sign, profile, monkeypatch):
    rng = np.random.default_rng(3)
    sizes = cycle([(1, 1, 1), (5, 33, 17), (4, 64, 2), (3, 70, 65)])
    for (size, depth, units), kind in zip(sizes, INPUTS, strict=False):
        weights = WEIGHTS[sign](rng, weights_of(layer, units, depth))
        count = weights.shape[LAYERS[layer][3]] if rng.random() < 0.5 else 1
        content = model(layer, size, weights, (2.0 ** rng.uniform(-9, -1, count)).astype(F32).tolist())
        made = program(content, profile)
        with monkeypatch.context() as patched:
            patched.setattr(hybrid, "_DEEPEST", -1)
            nests = program(content, profile)
        x = INPUTS[kind](rng, made.inputs[0].type.shape).astype(F32)
        wanted = answer(nests, x, interpret=False)
        for interpret in {False, size == 1}:
            assert answer(made, x, interpret) == wanted, (size, depth, units, kind)


@pytest.mark.parametrize("layer", LAYERS)
def test_constant_weights_are_those_of_a_kernel(layer):
    assert STEPS[layer] in steps(model(layer, 2, np.ones(weights_of(layer, 3, 4)), [0.5]))


def test_sums_that_may_leave_32_bits_are_nests():
    assert "qrt.matmul" in steps(model("rows", 1, np.ones((1, (1 << 17) - 1)), [0.5]))
    assert "qrt.matmul" not in steps(model("rows", 1, np.ones((1, 1 << 17)), [0.5]))


def test_the_greatest_sums_are_exact():
    depth = (1 << 17) - 1
    made = program(model("rows", 2, np.full((1, depth), -128), [1.0]))
    x = np.stack([np.full(depth, -1, F32), np.ones(depth, F32)])
    # Of a row of -1 the range is -1 to 0, so that it is -255 units: 32 bits hold no such sum, and it wraps.
    sums = np.array([255 * 128 * depth, -255 * 128 * depth]).astype(np.uint32).view(np.int32)
    wanted = sums.astype(F32) * (F32(1) / F32(255)) - F32(1)
    assert np.asarray(made(x)).reshape(-1).tolist() == wanted.tolist()


@pytest.mark.parametrize("layer", LAYERS)
@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_what_has_no_range_is_refused(layer, number):
    made = program(model(layer, 3, np.ones(weights_of(layer, 3, 4)), [0.5]))
    x = np.ones(made.inputs[0].type.shape, F32)
    x[1, ..., 2] = number
    with pytest.raises(QuantError, match="a NaN or a number out of the range of i32"):
        made(x)


def test_an_image_without_elements_takes_no_memory():
    """A map of its padding would have 2^40 elements."""
    options = {**CONVOLUTION, "fused_activation_function": "NONE"}
    x = Tensor((0, 1 << 20, 1 << 20, 1), "float32", data=np.zeros((0, 1 << 20, 1 << 20, 1), F32))
    w = Tensor((1, 3, 2, 1), "int8", 0.5, 0, data=np.ones((1, 3, 2, 1), np.int8))
    y = Tensor((1, 1, 1, 1), "float32")
    with pytest.raises(ModelError, match="CONV_2D: the result is tensor<0x524288x1048576x1xf32>"):
        program(one_op("CONV_2D", [x, w, Tensor((1,), "float32", data=np.zeros(1, F32))], [y], options))


def test_padding_as_wide_as_a_dilation_says_takes_no_memory():
    """A map of it would have 2^60 elements."""
    far = {"dilation_h_factor": (1 << 30) - 1, "dilation_w_factor": (1 << 30) - 1}
    options = {**CONVOLUTION, **far, "stride_h": 1, "fused_activation_function": "NONE"}
    w = Tensor((1, 3, 2, 1), "int8", 0.5, 0, data=np.ones((1, 3, 2, 1), np.int8))
    x, y = (Tensor((1, 4, 4, 1), "float32") for _ in "xy")
    content = one_op("CONV_2D", [x, w, Tensor((1,), "float32", data=np.zeros(1, F32))], [y], options)
    assert "qrt.conv2d" not in steps(content)


@pytest.mark.parametrize("layer", LAYERS)
def test_scales_on_another_axis_are_refused(layer):
    weights = np.ones(weights_of(layer, 6, 6))
    axis = {"rows": 1, "depthwise": 2}.get(layer, 3)
    with pytest.raises(ModelError, match=f"the scales of the weights lie on axis {axis}, not {LAYERS[layer][3]}"):
        program(model(layer, 3, weights, [0.5] * weights.shape[axis], axis))
