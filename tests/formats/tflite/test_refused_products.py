"""Wrong convolutions, products, pools and casts. Hazards: a division by a stride of 0, a result for which LiteRT has
none, an error that does not say where."""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.formats.tflite.importing import import_model
from qrt.formats.tflite.read import read
from qrt.profiles import PROFILES
from tests.formats.tflite.writing import Tensor, one_op

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
    with pytest.raises(qrt.ModelError) as caught:
        import_model(read(content), PROFILES[profile])
    said = str(caught.value)
    assert len(said) < 2048
    assert said.count("\n") < 3
    return said


@pytest.mark.parametrize("name", ["CONV_2D", "DEPTHWISE_CONV_2D"])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"stride_h": 0}, "must be positive"),
        ({"stride_w": -1}, "must be positive"),
        ({"dilation_w_factor": 0}, "must be positive"),
        ({"dilation_h_factor": 4}, "does not fit"),
    ],
)
def test_a_window_has_a_place(name: str, dtype: str, options: dict[str, Any], said: str) -> None:
    content = convolution(name, {**WINDOW, **options}, dtype=dtype, **({"scales": None} if dtype == "float32" else {}))
    assert said in (found := refusal(content))
    assert f"subgraph 0, operator 0 {name}: " in found


@pytest.mark.parametrize("multiplier", [0, 2, -1])
def test_a_depth_multiplier_is_that_of_the_filters(multiplier: int) -> None:
    content = convolution("DEPTHWISE_CONV_2D", {**WINDOW, "depth_multiplier": multiplier})
    assert f"a depth multiplier of {multiplier} for 3 channels and 3 filters" in refusal(content)


def test_a_convolution_has_a_bias() -> None:
    assert "the bias is missing" in refusal(convolution("CONV_2D", WINDOW, bias=False))


def test_weights_of_a_convolution_have_their_zero_at_0_and_their_scales_on_the_filters() -> None:
    assert "zero point" in refusal(convolution("CONV_2D", WINDOW, zero_points=3))
    wrong = {"scales": [0.5] * 3, "zero_points": [0] * 3, "axis": 3}
    assert "axis" in refusal(convolution("CONV_2D", WINDOW, **wrong))
    wrong = {"scales": [0.5] * 2, "zero_points": [0] * 2, "axis": 1}
    assert "axis" in refusal(convolution("DEPTHWISE_CONV_2D", WINDOW, **wrong))


def test_a_multiplier_beyond_256_has_no_rule_in_the_delegate() -> None:
    assert "no rule of conv2d" in refusal(convolution("CONV_2D", WINDOW, scales=256.0))


@pytest.mark.parametrize("name", ["AVERAGE_POOL_2D", "MAX_POOL_2D"])
@pytest.mark.parametrize(("options", "said"), [
    ({"filter_height": 0}, "is empty"),
    ({"stride_w": 0}, "must be positive"),
    ({"filter_width": 5}, "does not fit"),
])  # fmt: skip
def test_a_pool_has_a_window(name: str, options: dict[str, Any], said: str) -> None:
    keys = ("padding", "stride_h", "stride_w", "filter_height", "filter_width")
    own = {key: {**WINDOW, **options}[key] for key in keys}
    x, y = Tensor((1, 4, 4, 3), "int8", scales=0.5), Tensor((1, 3, 3, 3), "int8", scales=0.5)
    assert said in refusal(one_op(name, [x], [y], own))


def test_a_layer_has_the_depth_of_its_weights() -> None:
    x, y = Tensor((2, 5), "int8", scales=0.5), Tensor((2, 4), "int8", scales=0.5)
    w = Tensor((4, 3), "int8", scales=0.5, data=np.ones((4, 3), np.int8))
    assert "no rows of the depth 3" in refusal(one_op("FULLY_CONNECTED", [x, w, None], [y], {}))
    assert "the depth 3" in refusal(one_op("FULLY_CONNECTED", [x, w, None], [y], {"keep_num_dims": True}))


def test_a_form_without_a_rule_is_named() -> None:
    x, y = Tensor((2, 5), "float32"), Tensor((2, 5), "int32", scales=0.5)
    assert "no rule of quantize for storage = i32" in refusal(one_op("QUANTIZE", [x], [y], {}))
