"""Resize and ConvTranspose: groups of casts, and forms that are wrong or not supported."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.formats.onnx.importing import import_model
from qrt.formats.onnx.read import read
from qrt.profiles import profile
from tests.formats.onnx.running import has_oracle, imported, run, run_oracle
from tests.formats.onnx.writing import model, node, port

X = np.random.default_rng(0).integers(-128, 128, (1, 2, 3, 3)).astype(np.int8)


def between_casts(**attributes: Any) -> bytes:
    made = [node("DequantizeLinear", ["x", "s", "z"], ["d"]), node("Resize", ["d", "", "k"], ["r"], **attributes),
            node("QuantizeLinear", ["r", "s", "z"], ["y"])]  # fmt: skip
    constants = {"s": np.float32(0.1), "z": np.int8(3), "k": np.float32([1, 1, 2, 2])}
    return model(made, [port("x", "INT8", X.shape)], [port("y", "INT8")], constants)


def test_the_nearest_elements_between_casts_are_moved_as_they_are() -> None:
    content = between_casts()
    (y,) = run(content, x=X)
    np.testing.assert_array_equal(y, X.repeat(2, 2).repeat(2, 3))
    assert "quant." not in str(imported(content))
    weighted = between_casts(mode="linear")
    assert "quant.dcast" in str(imported(weighted))
    if has_oracle():
        for each in (content, weighted):
            assert np.abs(run(each, x=X)[0] - run_oracle(each, {"x": X})[0].astype(int)).max() <= (each is weighted)


def test_scales_that_change_no_size_change_nothing() -> None:
    """As ONNX Runtime has it: by the coordinates, the last rows would be others."""
    said = {"coordinate_transformation_mode": "asymmetric"}
    x = np.arange(40, dtype=np.float32).reshape(1, 1, 10, 4)
    made = node("Resize", ["x", "", "k"], ["y"], **said)
    content = model([made], [port("x", shape=x.shape)], [port("y")], {"k": np.float32([1, 1, 1.07, 1])}, opset=18)
    np.testing.assert_array_equal(run(content, x=x)[0], x)
    if has_oracle():
        np.testing.assert_array_equal(run_oracle(content, {"x": x})[0], x)


def resizing(*inputs: str, shape: Any = (1, 2, 3, 3), **attributes: Any) -> bytes:
    constants = {"k": np.float32([1, 1, 2, 2]), "zero": np.float32([1, 1, 0, 2]), "n": np.int64([1, 2, 4, 4]),
                 "three": np.float32([2, 2, 2]), "none": np.int64([1, 2, 0, 4])}  # fmt: skip
    ports = [port("x", shape=shape), port("i", "INT32", (1, 2, 3, 3)), port("v", shape=(4,))]
    return model([node("Resize", list(inputs), ["y"], **attributes)], ports, [port("y")], constants, opset=18)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (resizing("x", "", "k", mode="fast"), "node 0 Resize: its mode is 'fast', expected nearest, linear, cubic"),
        (resizing("x", "", "k", nearest_mode="up"), "its nearest_mode is 'up'"),
        (resizing("x", "", "k", coordinate_transformation_mode="own"), "its coordinates are 'own'"),
        (resizing("x", "", "three"), "it has scales of shape (3,) for 4 axes"),
        (resizing("x", "", "zero"), "a scale is 0.0"),
        (resizing("x", "", "", "none"), "its sizes are [1, 2, 0, 4] for axes of [1, 2, 3, 3]"),
        (resizing("x", "", "", "n", keep_aspect_ratio_policy="own"), "its policy is 'own'"),
        (resizing("x", "", "k", coordinate_transformation_mode="tf_crop_and_resize"), "its region has 0 numbers"),
        (resizing("x", "", "v"), "Resize (scales that only the run knows)"),
        (resizing("x", "", "k", shape=(1, 2, None, 3)), "Resize (an open dimension)"),
        (resizing("i", "", "k", mode="linear"), "Resize (linear of int32, with coordinates half_pixel)"),
    ],
)
def test_wrong_forms_of_resize(content: bytes, said: str) -> None:
    with pytest.raises(ModelError) as caught:
        imported(content)
    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("attributes", "said"),
    [
        ({"group": 3}, "node 0 ConvTranspose: weights of shape [4, 2, 3, 3] do not go with [1, 4, 5, 5] in 3 groups"),
        ({"output_padding": [1]}, "output_padding is [1] and output_shape [] for 2 axes"),
        ({"pads": [9, 9, 9, 9]}, "its result would have sizes [-11, -11]"),
        ({"kernel_shape": [2, 2]}, "kernel_shape is [2, 2], but the weights have [3, 3]"),
    ],
)
def test_wrong_forms_of_conv_transpose(attributes: dict[str, Any], said: str) -> None:
    made = node("ConvTranspose", ["x", "w"], ["y"], **attributes)
    content = model([made], [port("x", shape=(1, 4, 5, 5))], [port("y")], {"w": np.ones((4, 2, 3, 3), np.float32)})
    with pytest.raises(ModelError) as caught:
        imported(content)
    assert said in str(caught.value)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_weights_of_resizing_are_bounded(mode: str) -> None:
    """A small scale with antialias makes each element of a sum of as many; a large one makes many elements."""
    shape = (1, 1, 1, 1 << 20)
    for scale, limit, text in (
        (1e-4, 1 << 31, r"antialias of [24]0002 elements along axis 3, more than 1024"),
        (16, 1 << 28, r"tensor<8x[24]x16777216xi64> is larger than max_bytes, which is 268435456"),
    ):
        made = node("Resize", ["x", "", "s"], ["y"], mode=mode, antialias=1)
        content = model([made], [port("x", shape=shape)], [port("y")], {"s": np.float32([1, 1, 1, scale])}, opset=18)
        with pytest.raises(ModelError, match=text):
            import_model(read(content), profile("ort"), max_bytes=limit)
