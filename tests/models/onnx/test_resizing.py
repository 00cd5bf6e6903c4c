"""Resize and ConvTranspose: groups of casts, and forms that are wrong or not supported. Hazards: a coordinate that is a
tie in exact numbers but not in float32, an axis that keeps its size beside one that does not, a rule that an opset
changed."""

from collections.abc import Iterator
from fractions import Fraction
from itertools import product
from math import ceil, floor
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.onnx.coordinates import COORDINATES, ROUNDED, Axis
from qrt.models.onnx.importing import import_model
from qrt.models.onnx.read import read
from qrt.models.profiles import profile
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

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


HALF = Fraction(1, 2)
EXACT = {
    "half_pixel": lambda at, old, new: (at + HALF) * old / new - HALF,
    "asymmetric": lambda at, old, new: Fraction(at * old, new),
    "align_corners": lambda at, old, new: Fraction(at * (old - 1), max(new - 1, 1)),
    "tf_half_pixel_for_nn": lambda at, old, new: (at + HALF) * old / new,
}
"""Coordinates in exact numbers, of sizes that are given."""


@pytest.mark.parametrize("coordinates", EXACT)
def test_ties_are_those_of_exact_numbers(coordinates: str) -> None:
    """Where coordinates are below 16. In float32, of 14 elements to 4 the first lies below 3.5."""
    for old, new in product(range(1, 17), repeat=2):
        exact = [EXACT[coordinates](at, old, new) for at in range(new)]
        axis = Axis(0, old, new, new / old)
        for rounding, whole in (("round_prefer_floor", lambda x: ceil(x - HALF)),
                                ("round_prefer_ceil", lambda x: floor(x + HALF))):  # fmt: skip
            wanted = [min(max(whole(place), 0), old - 1) for place in exact]
            assert axis.nearest(coordinates, rounding).tolist() == wanted, (old, new, rounding)


def test_a_coordinate_counts_as_a_tie_up_to_a_millionth_beside_it() -> None:
    """25.5 in exact numbers, and the float32 before it here: that is further, and the element before it is taken."""
    assert Axis(0, 20, 6, 6 / 20).nearest("half_pixel", "round_prefer_ceil").tolist() == [1, 5, 8, 11, 15, 18]
    assert Axis(0, 30, 9, 9 / 30).nearest("half_pixel", "round_prefer_ceil")[7] == 24


NEAREST = list(product([each for each in COORDINATES if each != "tf_crop_and_resize"], ROUNDED))


def resized_forms(old: int) -> Iterator[tuple[str, str, int, Axis]]:
    """Coordinates, rounding, new size and axis, for every form without a region."""
    for (coordinates, rounding), new in product(NEAREST, range(1, 41)):
        if new != old:
            yield coordinates, rounding, new, Axis(0, old, new, new / old)


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("old", [1, 3, 14, 26, 37])
def test_the_nearest_elements_are_the_runtime_s(old: int) -> None:
    forms = list(resized_forms(old))
    nodes = [
        node("Resize", ["x", "", "", f"n{new}"], [f"y{i}"], coordinate_transformation_mode=coordinates,
             nearest_mode=rounding)
        for i, (coordinates, rounding, new, _) in enumerate(forms)
    ]  # fmt: skip
    sizes = {f"n{new}": np.int64([new]) for _, _, new, _ in forms}
    content = model(nodes, [port("x", shape=(old,))], [port(f"y{i}") for i in range(len(forms))], sizes, opset=13)
    results = run_oracle(content, {"x": np.arange(old, dtype=np.float32)})
    for (coordinates, rounding, _, axis), theirs in zip(forms, results, strict=True):
        np.testing.assert_array_equal(axis.nearest(coordinates, rounding), theirs.astype(int), str(axis))


def test_before_opset_11_an_axis_shrinks_to_the_element_behind() -> None:
    """There is no nearest_mode. It grows to the element before."""
    x = np.arange(12, dtype=np.float32).reshape(3, 4)
    content = model([node("Resize", ["x", "k"], ["y"])], [port("x", shape=x.shape)], [port("y")],
                    {"k": np.float32([2, 0.75])}, opset=10)  # fmt: skip
    np.testing.assert_array_equal(run(content, x=x)[0], x.repeat(2, 0)[:, [0, 2, 3]])
    if has_oracle():
        np.testing.assert_array_equal(run_oracle(content, {"x": x})[0], x.repeat(2, 0)[:, [0, 2, 3]])


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
@pytest.mark.parametrize("scales", [(1, 1), (1.07, 1), (1, 2)])
def test_an_axis_of_scale_1_takes_no_region(mode: str, scales: tuple[float, float]) -> None:
    """Nor does any where no size changes: ONNX Runtime copies the input."""
    x = np.arange(30, dtype=np.float32).reshape(5, 6)
    said: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": "tf_crop_and_resize"}
    content = model([node("Resize", ["x", "r", "k"], ["y"], **said)], [port("x", shape=x.shape)], [port("y")],
                    {"r": np.float32([0.25, 0, 0.75, 1]), "k": np.float32(scales)}, opset=13)  # fmt: skip
    (y,) = run(content, x=x)
    np.testing.assert_array_equal(y[:, 0], x[:, 0])
    if has_oracle():
        np.testing.assert_allclose(y, run_oracle(content, {"x": x})[0], rtol=2e-6, atol=2e-6)


def resizing(*inputs: str, shape: Any = (1, 2, 3, 3), **attributes: Any) -> bytes:
    constants = {"k": np.float32([1, 1, 2, 2]), "zero": np.float32([1, 1, 0, 2]), "n": np.int64([1, 2, 4, 4]),
                 "three": np.float32([2, 2, 2]), "none": np.int64([1, 2, 0, 4])}  # fmt: skip
    ports = [port("x", shape=shape), port("i", "INT32", (1, 2, 3, 3)), port("v", shape=(4,))]
    return model([node("Resize", list(inputs), ["y"], **attributes)], ports, [port("y")], constants, opset=18)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (resizing("x", "", "k", mode="fast"), "node 0 Resize: attribute 'mode' must be one of nearest, linear"),
        (resizing("x", "", "k", nearest_mode="up"), "attribute 'nearest_mode' must be one of round_prefer_floor"),
        (resizing("x", "", "k", coordinate_transformation_mode="own"), "ion_mode' must be one of"),
        (resizing("x", "", "three"), "scales must be a vector with a scale for each of 4 axes, got shape (3,)"),
        (resizing("x", "", "zero"), "scales must be positive and finite, got 0.0"),
        (resizing("x", "", "", "none"), "sizes must be 4 positive integers for axes of sizes [1, 2, 3, 3] (none"),
        (resizing("x", "", "", "n", keep_aspect_ratio_policy="own"), "attribute 'keep_aspect_ratio_policy' must"),
        (resizing("x", "", "k", coordinate_transformation_mode="tf_crop_and_resize"), "roi must be a vector with"),
        (resizing("x", "", "v"), "Resize (scales known only at run time)"),
        (resizing("x", "", "k", shape=(1, 2, None, 3), mode="cubic"), "Resize (cubic with coordinates half_pixel, of"),
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
        (
            {"group": 3},
            "node 0 ConvTranspose: for an input of shape [1, 4, 5, 5], the weights must have the same rank, and",
        ),
        ({"output_padding": [1]}, "output_padding must have 2 values, and output_shape as many if given, got [1]"),
        ({"pads": [9, 9, 9, 9]}, "the strides, pads and output_padding must give sizes of at least 1, got [-11"),
        ({"kernel_shape": [2, 2]}, "attribute 'kernel_shape' must be the sizes of the weights, [3, 3], got [2, 2]"),
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
        (16, 1 << 28, r"tensor<8x[24]x16777216xi64> takes more than the limit of 268435456 bytes"),
    ):
        made = node("Resize", ["x", "", "s"], ["y"], mode=mode, antialias=1)
        content = model([made], [port("x", shape=shape)], [port("y")], {"s": np.float32([1, 1, 1, scale])}, opset=18)
        with pytest.raises(ModelError, match=text):
            import_model(read(content), profile("ort"), max_bytes=limit)
