"""Wrong convolutions, products, pools and casts. Hazards: a division by a stride of 0, a result for which LiteRT has
none, an error that does not say where."""

import re
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from tests.models.tflite.writing import Tensor, one_op

WINDOW = {
    "padding": "VALID",
    "stride_h": 1,
    "stride_w": 1,
    "dilation_h_factor": 1,
    "dilation_w_factor": 1,
    "depth_multiplier": 1,
    "filter_height": 2,
    "filter_width": 2,
}


def convolution(name: str, options: dict[str, Any], *, dtype: str = "int8", bias: bool = True, **weights: Any) -> bytes:
    """A convolution of 4x4 images of 3 channels by 2x2 windows; depthwise with 3 filters, else with 5."""
    own = {key: value for key, value in options.items() if key not in ("filter_height", "filter_width")}
    if name == "CONV_2D":
        own.pop("depth_multiplier")
    shape, filters = ((1, 2, 2, 3), 3) if name == "DEPTHWISE_CONV_2D" else ((5, 2, 2, 3), 5)
    given = {"scales": 0.25, "data": np.ones(weights.get("shape", shape), dtype), **weights}
    w = Tensor(given.pop("shape", shape), dtype, **given)
    b = Tensor((filters,), "int32", scales=0.125, data=np.zeros(filters, np.int32))
    x, y = Tensor((1, 4, 4, 3), dtype, scales=0.5), Tensor((1, 3, 3, filters), dtype, scales=0.5)
    return one_op(name, [x, w, b if bias else None], [y], own)


def refusal(content: bytes, profile: str = "litert") -> str:
    with pytest.raises(qrt.errors.ModelError) as caught:
        import_model(read(content), PROFILES[profile])
    said = str(caught.value)
    assert len(said) < 2048
    assert said.count("\n") < 3
    return said


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(
    ("filters", "depth", "message"),
    [
        ((4, 1, 1, 4), 6, "the channels of the input must be a multiple of 4, the depth of a filter, got 6"),
        ((4, 1, 1, 2), 6, "the number of filters must be a multiple of 3, the number of groups of channels, got 4"),
        ((1, 1, 1, 2), 4, "the number of filters must be a multiple of 2, the number of groups of channels, got 1"),
    ],
)
def test_groups_divide_channels_and_filters(dtype: str, filters: tuple[int, ...], depth: int, message: str) -> None:
    scale = None if dtype == "float32" else 0.5
    x, y = (Tensor((1, 2, 2, n), dtype, scale) for n in (depth, filters[0]))
    w = Tensor(filters, dtype, scale, data=np.ones(filters))
    options = {key: WINDOW[key] for key in WINDOW if key not in ("depth_multiplier", "filter_height", "filter_width")}
    assert message in refusal(one_op("CONV_2D", [x, w, None], [y], options))


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D"])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stride_h": 0}, "must be positive"),
        ({"stride_w": -1}, "must be positive"),
        ({"dilation_w_factor": 0}, "must be positive"),
        ({"dilation_h_factor": 4}, "must not be larger than the image, which has 4 elements along this axis"),
    ],
)
def test_a_window_has_a_place(name: str, dtype: str, options: dict[str, Any], said: str) -> None:
    content = convolution(name, {**WINDOW, **options}, dtype=dtype, **({"scales": None} if dtype == "float32" else {}))
    assert said in (found := refusal(content))
    assert f"subgraph 0, operator 0 {name}: " in found


@pytest.mark.parametrize("multiplier", [0, 2, -1])
def test_a_depth_multiplier_is_that_of_the_filters(multiplier: int) -> None:
    content = convolution("DEPTHWISE_CONV_2D", {**WINDOW, "depth_multiplier": multiplier})
    assert f"depth_multiplier must be filters / channels = 3 / 3, got {multiplier}" in refusal(content)


def test_a_convolution_has_a_bias() -> None:
    assert "input 2 (the bias) is required for quantized" in refusal(convolution("CONV_2D", WINDOW, bias=False))


def test_weights_of_a_convolution_have_their_zero_at_0_and_their_scales_on_the_filters() -> None:
    assert "zero point" in refusal(convolution("CONV_2D", WINDOW, zero_points=3))
    wrong = {"scales": [0.5] * 3, "zero_points": [0] * 3, "axis": 3}
    assert "the quantized_dimension of the weights must be 0" in refusal(convolution("CONV_2D", WINDOW, **wrong))
    wrong = {"scales": [0.5] * 2, "zero_points": [0] * 2, "axis": 1}
    assert "quantized_dimension" in refusal(convolution("DEPTHWISE_CONV_2D", WINDOW, **wrong))


def test_a_multiplier_beyond_256_has_no_rule_in_the_delegate() -> None:
    assert "no rule for conv2d" in refusal(convolution("CONV_2D", WINDOW, scales=256.0))


@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize(("options", "said"), [
    ({"filter_height": 0}, "filter_height and filter_width must be at least 1, got 0 and 2"),
    ({"stride_w": 0}, "must be positive"),
    ({"filter_width": 5}, "a window of 5 elements must not be larger than the image, which has 4 elements along"),
])  # fmt: skip
def test_a_pool_has_a_window(name: str, options: dict[str, Any], said: str) -> None:
    keys = ("padding", "stride_h", "stride_w", "filter_height", "filter_width")
    own = {key: {**WINDOW, **options}[key] for key in keys}
    x, y = Tensor((1, 4, 4, 3), "int8", scales=0.5), Tensor((1, 3, 3, 3), "int8", scales=0.5)
    assert said in refusal(one_op(name, [x], [y], own))


def test_a_layer_has_the_depth_of_its_weights() -> None:
    x, y = Tensor((2, 5), "int8", scales=0.5), Tensor((2, 4), "int8", scales=0.5)
    w = Tensor((4, 3), "int8", scales=0.5, data=np.ones((4, 3), np.int8))
    assert "the number of elements of the input must" in refusal(one_op("FULLY_CONNECTED", [x, w, None], [y], {}))
    assert "must be the depth of the weights, 3" in refusal(
        one_op("FULLY_CONNECTED", [x, w, None], [y], {"keep_num_dims": True})
    )


def test_a_form_without_a_rule_is_named() -> None:
    x, y = Tensor((2, 5), "float32"), Tensor((2, 5), "int32", scales=0.5)
    assert "no rule for quantize with storage = i32, is_per_axis = False)" in refusal(one_op("QUANTIZE", [x], [y], {}))


PAIRS = [(a, b) for a in ("int8", "uint8", "int16") for b in ("int8", "uint8", "int16") if a != b]


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
@pytest.mark.parametrize(("source", "result"), PAIRS)
@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED"])
def test_a_result_of_another_storage_is_refused(name: str, source: str, result: str, profile: str) -> None:
    """LiteRT reads the input's memory as the result's type, or the reverse."""
    weights = "uint8" if source == "uint8" else "int8"
    w = {"dtype": weights, "scales": 0.25}
    if name == "FULLY_CONNECTED":
        operands = [Tensor((2, 3), source, scales=0.5), Tensor((4, 3), data=np.ones((4, 3), weights), **w)]
        content = one_op(name, operands, [Tensor((2, 4), result, scales=0.5)], {})
    else:
        shape, filters = ((1, 2, 2, 3), 3) if name == "DEPTHWISE_CONV_2D" else ((5, 2, 2, 3), 5)
        options = {key: value for key, value in WINDOW.items() if not key.startswith("filter")}
        if name == "CONV_2D":
            options.pop("depth_multiplier")
        bias = Tensor((filters,), "int32", scales=0.125, data=np.zeros(filters, np.int32))
        operands = [Tensor((1, 4, 4, 3), source, scales=0.5), Tensor(shape, data=np.ones(shape, weights), **w), bias]
        content = one_op(name, operands, [Tensor((1, 3, 3, filters), result, scales=0.5)], options)
    assert re.search("an input of [iu]1?[68] with a result of [iu]1?[68]", refusal(content, profile))


@pytest.mark.parametrize("result", ["int8", "uint8"])
def test_a_softmax_of_int16_to_bytes_is_refused(result: str) -> None:
    content = one_op(
        "SOFTMAX", [Tensor((2, 3), "int16", scales=0.5)], [Tensor((2, 3), result, scales=2.0**-8)], {"beta": 1.0}
    )
    assert f"of i16 to {'i8' if result == 'int8' else 'u8'}" in refusal(content)


@pytest.mark.parametrize("profile", ["litert", "litert-ref"])
def test_a_pad_between_two_zero_points_is_refused(profile: str) -> None:
    """XNNPACK pads with that of the input, the reference kernel with that of the result."""
    x, y = (Tensor((n, 3), "int8", scales=0.5, zero_points=z) for n, z in ((2, 1), (4, 2)))
    ends = Tensor((2, 2), "int32", data=np.array([[1, 1], [0, 0]], np.int32))
    assert "a result whose zero point differs from that of the input, with which kernels pad differently" in refusal(
        one_op("PAD", [x, ends], [y], {}), profile
    )


def deconvolution(
    options: tuple[int, ...] = (1, 2, 2), size: tuple[int, int] = (8, 8), window: tuple[int, int] = (3, 3), **w: Any
) -> bytes:
    """Convolution2DTransposeBias of 4x4 images."""
    weights = Tensor((2, *window, 3), "float32", **{"data": 1, **w})
    inputs = [Tensor((1, 4, 4, 3), "float32"), weights, Tensor((2,), "float32", data=1)]
    content = np.array(options, "<i4").tobytes()
    return one_op("Convolution2DTransposeBias", inputs, [Tensor((1, *size, 2), "float32")], custom_options=content)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (deconvolution((1, 2)), "its custom options must begin with a padding (1 or 2) and two strides, got [1, 2]"),
        (deconvolution((0, 2, 2)), "its custom options must begin with a padding (1 or 2) and two strides, got"),
        (deconvolution((1, 0, 2)), "must be positive"),
        (deconvolution(size=(9, 8)), "the declared shape of the result, [1, 9, 8, 2], does not follow from images"),
        (deconvolution((2, 2, 2)), "the declared shape of the result, [1, 8, 8, 2], does not follow from images"),
        (deconvolution(window=(1, 3)), "(a stride larger than the window, which LiteRT does not run)"),
        (deconvolution(data=None), "(weights or a bias known only at run time)"),
    ],
)
def test_a_transposed_convolution_that_litert_does_not_run(content: bytes, said: str) -> None:
    assert said in refusal(content)


def test_a_transposed_convolution_of_xnnpack_alone() -> None:
    assert "LiteRT's reference kernels do not have the operator" in refusal(deconvolution(), "litert-ref")
    import_model(read(deconvolution()), PROFILES["litert"])
