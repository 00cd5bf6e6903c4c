"""Resize of 8-bit integers in the mode linear. Hazards: an image of one number, whose weighted sum may be below it; the
last element, which both sides of an axis are; channels that come last; a region beyond the image; an open batch."""

from itertools import product
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from qrt.models.onnx.coordinates import Axis
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port


def resizing(shape: Any, sizes: Any, dtype: str = "uint8", **more: Any) -> bytes:
    constants = {"n": np.int64(sizes)} | ({"r": np.float32(more.pop("region"))} if "region" in more else {})
    made = node("Resize", ["x", "r" if "r" in constants else "", "", "n"], ["y"], mode="linear", **more)
    return model([made], [port("x", dtype.upper(), shape)], [port("y", dtype.upper())], constants, opset=18)


def plain(x: Any, sizes: Any) -> Any:
    """The half-pixel mode by plain loops over the last two axes."""
    one = np.float32
    result = np.zeros(sizes, x.dtype)
    sides = []
    for axis, size in enumerate(sizes):
        scale = float(one(size) / one(x.shape[axis]))
        at = np.clip(Axis(axis, x.shape[axis], size, scale).coordinates("half_pixel"), 0, one(x.shape[axis] - 1))
        first = at.astype(int)
        second = np.minimum(first + 1, x.shape[axis] - 1)
        weights = [np.where(first == second, one(0.5), np.abs(at - one(other))) for other in (second, first)]
        sides.append(list(zip((first, second), weights, strict=True)))
    for i, j in product(range(sizes[0]), range(sizes[1])):
        total = one(0)
        for (rows, row_weights), (columns, column_weights) in product(*sides):
            weight = one(column_weights[j]) * one(row_weights[i])
            total = one(total + one(weight * one(x[rows[i], columns[j]])))
        result[i, j] = int(total)
    return result


@pytest.mark.parametrize("dtype", ["int8", "uint8"])
def test_beside_plain_loops(dtype: str) -> None:
    info, rng = np.iinfo(dtype), np.random.default_rng(0)
    for sizes in ((9, 4), (1, 13), (5, 7)):
        for low in (info.min, info.max):
            x = rng.integers(low, info.max, (5, 6), endpoint=True).astype(dtype)
            content = resizing(x.shape, sizes, dtype)
            np.testing.assert_array_equal(run(content, x=x)[0], plain(x, sizes))


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("dtype", ["int8", "uint8"])
@pytest.mark.parametrize("coordinates", ["half_pixel", "align_corners", "asymmetric"])
def test_an_image_of_one_number(dtype: str, coordinates: str) -> None:
    """Which the runtime, too, resizes to one that is less by 1 in some elements."""
    for number in (np.iinfo(dtype).min, -1 if dtype == "int8" else 1, np.iinfo(dtype).max):
        for shape, sizes in (((1, 1, 7, 5), (1, 1, 19, 31)), ((1, 7, 5, 1), (1, 19, 31, 1)), ((3, 7, 5), (5, 9, 11))):
            x = np.full(shape, number, dtype)
            content = resizing(shape, sizes, dtype, coordinate_transformation_mode=coordinates)
            np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
def test_an_open_batch_between_casts_of_the_file() -> None:
    made = [node("QuantizeLinear", ["x", "s", "z"], ["q"]), node("Resize", ["q", "", "k"], ["r"], mode="linear"),
            node("DequantizeLinear", ["r", "s", "z"], ["y"])]  # fmt: skip
    constants = {"s": np.float32(0.1), "z": np.uint8(3), "k": np.float32([1, 1, 1.7, 0.6])}
    content = model(made, [port("x", shape=("n", 2, 7, 9))], [port("y")], constants)
    for batch in (1, 3, 0):
        x = np.random.default_rng(batch).normal(6, 8, (batch, 2, 7, 9)).astype(np.float32)
        np.testing.assert_array_equal(run(content, x=x)[0], run_oracle(content, {"x": x})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize(("type", "opset"), [("Upsample", 7), ("Upsample", 9), ("Resize", 10)])
def test_earlier_opsets(type: str, opset: int) -> None:
    x, scales = np.random.default_rng(0).integers(0, 256, (1, 2, 5, 6)).astype(np.uint8), np.float32([1, 1, 1.5, 2.25])
    constants, more = ({}, {"scales": scales.tolist()}) if opset < 9 else ({"k": scales}, {})
    made = node(type, ["x", *constants], ["y"], mode="linear", **more)
    content = model([made], [port("x", "UINT8", x.shape)], [port("y", "UINT8")], constants, opset=opset)
    (y,) = run(content, x=x)
    np.testing.assert_array_equal(y, run_oracle(content, {"x": x})[0])


def test_sizes_that_stay_change_nothing() -> None:
    x = np.arange(20, dtype=np.int8).reshape(4, 5)
    np.testing.assert_array_equal(run(resizing((4, 5), (4, 5), "int8"), x=x)[0], x)


CROP: dict[str, Any] = {"coordinate_transformation_mode": "tf_crop_and_resize", "region": [-0.5, 0, 1.5, 1]}


def test_a_number_outside_of_the_region_is_truncated() -> None:
    x = np.full((4, 5), 7, np.int8)
    (y,) = run(resizing((4, 5), (7, 5), "int8", **CROP, extrapolation_value=-3.7), x=x)
    np.testing.assert_array_equal(y[:, 0], [-3, -3, 7, 7, 7, -3, -3])


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (resizing((5,), (9,)), r"linear of uint8, of axes \[0\] of shape \[5\]"),
        (resizing((2, 3, 4, 5), (2, 5, 9, 7)), r"linear of uint8, of axes \[1, 2, 3\] of shape \[2, 3, 4, 5\]"),
        (resizing((2, 3), (4, 5), "int8", antialias=1), r"linear of int8 with antialias, of axes \[0, 1\]"),
        (resizing((None, 3), (4, 5), "int8"), "linear of int8, of an axis whose size is known only at run time"),
        (resizing((None, 3), (4, 5), "int8", **CROP), "linear of int8, of an axis whose size is known only"),
        (resizing((4, 5), (7, 5), **CROP, extrapolation_value=-1.0), "must be 0 to 255 for uint8, got -1.0"),
        (resizing((4, 5), (7, 5), **CROP, extrapolation_value=float("nan")), "must be 0 to 255 for uint8, got nan"),
    ],
)
def test_forms_that_are_refused(content: bytes, message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(content)
