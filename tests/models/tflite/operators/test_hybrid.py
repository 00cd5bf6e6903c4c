"""Floats that meet constant int8 weights, as products of bytes and as loop nests. Hazards: what zero points add to
sums of weights of one sign, padding whose zero has no scale, ranges of one sign or of no width, scales per channel,
sums that leave 32 bits, halves of which kernels round the elements of a vector and those behind it in two ways."""

from itertools import cycle

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError, QuantError
from qrt.models.profiles import PROFILES, for_kernels
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.operators import hybrid
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

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


def model(
    layer: str, size: int, weights: np.ndarray, scales: list[float], axis: int | None = None, first_bias: float = -1
) -> bytes:
    name, options, window, own = LAYERS[layer]
    units, depth = weights.shape[own], weights.shape[-1] // (2 if layer == "depthwise" else 1)
    if layer == "depthwise" and len(scales) == 1:  # LiteRT reads a scale for each channel
        scales = scales * units
    w = Tensor(weights.shape, "int8", scales, [0] * len(scales), own if axis is None else axis, weights.astype(np.int8))
    biases = np.linspace(-1, 1, units, dtype=F32)
    biases[0] = first_bias
    bias = Tensor((units,), "float32", data=biases)
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
    with pytest.raises(ModelError, match=r"CONV_2D: error: .* must be from 0 to 1099511627776"):
        program(one_op("CONV_2D", [x, w, Tensor((1,), "float32", data=np.zeros(1, F32))], [y], options))


def test_padding_as_wide_as_a_dilation_says_takes_no_memory():
    """A map of it would have 2^61 elements, which the limit of a tensor refuses."""
    far = {"dilation_h_factor": (1 << 30) - 1, "dilation_w_factor": (1 << 30) - 1}
    options = {**CONVOLUTION, **far, "stride_h": 1, "fused_activation_function": "NONE"}
    w = Tensor((1, 3, 2, 1), "int8", 0.5, 0, data=np.ones((1, 3, 2, 1), np.int8))
    x, y = (Tensor((1, 4, 4, 1), "float32") for _ in "xy")
    content = one_op("CONV_2D", [x, w, Tensor((1,), "float32", data=np.zeros(1, F32))], [y], options)
    with pytest.raises(ModelError, match="takes more than the limit of"):
        steps(content)


@pytest.mark.parametrize("layer", LAYERS)
def test_scales_on_another_axis_are_refused(layer):
    weights = np.ones(weights_of(layer, 6, 6))
    axis = {"rows": 1, "depthwise": 2}.get(layer, 3)
    with pytest.raises(
        ModelError, match=f"the quantized_dimension of the weights must be {LAYERS[layer][3]}, got {axis}"
    ):
        program(model(layer, 3, weights, [0.5] * weights.shape[axis], axis))


BELOW_HALF = np.nextafter(F32(0.5), F32(0))
HALVES = F32([-64, 191, 0.5, 1.5, 2.5, -0.5, -1.5, BELOW_HALF, -BELOW_HALF, BELOW_HALF, -2.5])
"""Elements in units of their own range, whose zero point is -64. Three stand behind the eight of a vector."""
AWAY = [-64, 191, 1, 2, 3, -1, -2, 1, 0, 0, -3]
EVEN = [-64, 191, 0, 2, 2, 0, -2, 0, 0, 0, -2]
"""What LiteRT 2.3.0 makes of them, by its own kernels and by XNNPACK."""


def halves_of(layer: str, profile: str, scales: int) -> np.ndarray:
    """The integers of `HALVES` in a layer that only scales its input."""
    name, options, window, own = LAYERS[layer]
    count = HALVES.size
    shape = (1, 1, 1, count) if window else (1, count)
    kernel = {"rows": (count, count), "depthwise": (1, 1, 1, count)}.get(layer, (count, 1, 1, count))
    data = np.ones(kernel) if layer == "depthwise" else np.eye(count).reshape(kernel)
    units = 2.0 ** -np.arange(count) if scales == 2 else np.ones(count)
    w = Tensor(kernel, "int8", units.tolist(), [0] * count, own, data.astype(np.int8))
    own_options = {"rows": {"asymmetric_quantize_inputs": True}, "depthwise": {"depth_multiplier": 1}}
    options = {**options, **own_options.get(layer, {})}
    bias = Tensor((count,), "float32", data=np.zeros(count, F32))
    content = one_op(name, [Tensor(shape, "float32"), w, bias], [Tensor(shape, "float32")], options)
    return np.asarray(program(content, profile)(HALVES.reshape(shape))).reshape(-1) / units.astype(F32)


@pytest.mark.parametrize(
    ("layer", "profile", "scales", "wanted"),
    [
        ("rows", "litert", 1, EVEN),
        ("rows", "litert-ref", 1, AWAY),
        ("pixels", "litert", 1, EVEN),
        ("pixels", "litert-ref", 2, AWAY),
        ("depthwise", "litert", 1, AWAY),
        ("depthwise", "litert-ref", 1, AWAY),
    ],
)
def test_a_zero_point_is_added_to_what_was_rounded(layer, profile, scales, wanted):
    assert halves_of(layer, profile, scales).tolist() == wanted


def test_the_option_decides_whether_the_reference_kernel_has_a_zero_point():
    def product(profile: str, is_asymmetric: bool) -> float:
        w = Tensor((1, 2), "int8", 0.01, 0, data=np.int8([[100, 50]]))
        options = {"asymmetric_quantize_inputs": is_asymmetric}
        content = one_op("FULLY_CONNECTED", [Tensor((1, 2), "float32"), w, None], [Tensor((1, 1), "float32")], options)
        return float(np.asarray(program(content, profile)(F32([[1, 3]])))[0, 0])

    assert product("litert-ref", True) == product("litert", True) == product("litert", False) == 2.5
    assert product("litert-ref", False) == F32(2.492126)


IMAGES = [Tensor((1, 4, 4, 3), "float32"), Tensor((3, 1, 1, 3), "int8", 0.5, data=np.ones((3, 1, 1, 3), np.int8))]
BIAS = Tensor((3,), "float32", data=np.zeros(3, F32))
ROWS = [Tensor((2, 3), "float32"), Tensor((3, 3), "int8", 0.5)]


@pytest.mark.parametrize(
    ("name", "inputs", "options", "said"),
    [
        (
            "DEPTHWISE_CONV_2D",
            [IMAGES[0], Tensor((1, 1, 1, 3), "int8", 0.5, data=np.ones((1, 1, 1, 3), np.int8)), BIAS],
            {**POINTS, "depth_multiplier": 1},
            "float32 with int8 weights of one scale, where LiteRT expects one for each channel",
        ),
        (
            "FULLY_CONNECTED",
            [*ROWS, BIAS],
            {"asymmetric_quantize_inputs": True},
            "float32 with int8 weights known only at run time, whose sums LiteRT computes in its first run only",
        ),
        ("CONV_2D", [*IMAGES, BIAS], {**POINTS, "fused_activation_function": "TANH"}, "float32, fused TANH"),
        (
            "CONV_2D",
            [Tensor((1, 4, 4, 9), "float32"), Tensor((3, 1, 1, 3), "int8", 0.5), BIAS],
            POINTS,
            "float32 with int8 weights of one scale, where LiteRT expects one for each channel",
        ),
    ],
)
def test_what_litert_computes_wrongly_is_refused(name, inputs, options, said):
    result = Tensor((*inputs[0].shape[:-1], 3), "float32")
    with pytest.raises(ModelError) as raised:
        program(one_op(name, inputs, [result], options))
    assert f"{name} ({said})" in str(raised.value)


def test_weights_of_the_run_follow_the_builtin_kernel():
    """XNNPACK takes no weights known only at run time, and rounds to even where TFLite's kernel rounds away."""
    content = one_op("FULLY_CONNECTED", [*ROWS, None], [Tensor((2, 3), "float32")])
    x, w = F32([[127, 0.5, -1.5], [-127, 2.5, BELOW_HALF]]), np.eye(3, dtype=np.int8)
    wanted = [[63.5, 0.5, -1.0], [-63.5, 1.5, 0.0]]
    for profile in ("litert", "litert-ref"):
        assert np.asarray(program(content, profile)(x, w)).tolist() == wanted


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
@pytest.mark.parametrize("layer", LAYERS)
def test_a_bias_with_nan_is_refused(layer, profile):
    content = model(layer, 3, np.ones(weights_of(layer, 3, 4)), [0.5], first_bias=np.nan)
    with pytest.raises(ModelError, match="a bias with NaN, which LiteRT's activations turn into a number"):
        import_model(read(content), PROFILES[profile])


@pytest.mark.parametrize("adj_y", [False, True])
def test_float_weights_of_matrices_for_quantization(adj_y):
    """The profile of programs that will be quantized has no quantization at run time."""
    w = np.arange(-6, 6).reshape(4, 3)
    weights = Tensor((3, 4) if adj_y else (4, 3), "int8", [0.5, 1, 2], 0, 0 if adj_y else 1, w.T if adj_y else w)
    content = one_op(
        "BATCH_MATMUL", [Tensor((2, 4), "float32"), weights], [Tensor((2, 3), "float32")], {"adj_y": adj_y}
    )
    module = import_model(read(content), for_kernels(PROFILES["litert"]))
    x = np.arange(8, dtype=np.float32).reshape(2, 4) / 7
    np.testing.assert_allclose(qrt.compile(module)(x), x @ (w * [0.5, 1, 2]), rtol=1e-6)


def test_batches_of_matrices_are_open_beside_a_matrix():
    weights = Tensor((4, 3), "int8", 0.5, 0, data=np.arange(-6, 6).reshape(4, 3))
    x, y = Tensor((1, 2, 4), "float32", signature=(-1, 2, 4)), Tensor((1, 2, 3), "float32", signature=(-1, 2, 3))
    model = program(one_op("BATCH_MATMUL", [x, weights], [y], {}))
    values = np.random.default_rng(0).normal(size=(5, 2, 4)).astype(np.float32)
    expected = np.concatenate([np.asarray(model(values[i : i + 1])) for i in range(5)])
    np.testing.assert_array_equal(model(values), expected)


@pytest.mark.parametrize("adj_y", [False, True])
def test_matrices_that_do_not_fit_have_no_product(adj_y):
    weights = Tensor((5, 6), "int8", 0.5, data=np.ones((5, 6), np.int8))
    inputs, result = [Tensor((2, 4), "float32"), weights], Tensor((2, 6), "float32")
    with pytest.raises(ModelError, match=f"matrices of 4 columns and of {6 if adj_y else 5} rows have no product"):
        program(one_op("BATCH_MATMUL", inputs, [result], {"adj_y": adj_y}))
