"""Wrong operators along lines and of graphs of others. Hazards: memory for as many positions as a number says, inputs
that are missing, an error in Python's words."""

from typing import Any

import numpy as np
import pytest

import qrt
from tests.models.onnx.writing import model, node, port


def _loaded(tmp_path: Any, made: Any, constants: dict[str, Any]) -> None:
    path = tmp_path / "m.onnx"
    path.write_bytes(model([made], [port("x", "FLOAT", (1, 2, 3))], [port("y", "FLOAT", None)], constants))
    qrt.load(str(path))


@pytest.mark.parametrize(
    ("depth", "said"),
    [
        (np.int64([2, 3]), r"depth one number of at least 1, got .* and \[2, 3\]"),
        (np.int64([]), r"depth one number of at least 1, got .* and \[\]"),
        (np.int64(0), "depth one number of at least 1, got .* and 0"),
        (np.float32(np.nan), "depth one number of at least 1, got .* and nan"),
        (np.float32(np.inf), "depth one number of at least 1, got .* and inf"),
        (np.int64(820913124356), "with a depth above 16777216"),
    ],
)
def test_a_depth_that_is_none(tmp_path: Any, depth: Any, said: str) -> None:
    with pytest.raises(qrt.errors.ModelError, match=said):
        _loaded(tmp_path, node("OneHot", ["x", "d", "v"], ["y"]), {"d": depth, "v": np.float32([0, 1])})


@pytest.mark.parametrize("names", [["x"], ["x", "s"], ["x", "s", "s", "s"], ["x", "", "s"]])
def test_a_normalization_without_all_of_its_inputs(tmp_path: Any, names: list[str]) -> None:
    with pytest.raises(qrt.errors.ModelError, match="InstanceNormalization"):
        _loaded(tmp_path, node("InstanceNormalization", names, ["y"]), {"s": np.ones(2, np.float32)})


@pytest.mark.parametrize("count", [1, 3, 5])
def test_rotations_without_all_of_their_inputs(tmp_path: Any, count: int) -> None:
    names = ["x", "p", "c", "c", "c"][:count]
    with pytest.raises(qrt.errors.ModelError, match="RotaryEmbedding"):
        _loaded(tmp_path, node("RotaryEmbedding", names, ["y"], domain="com.microsoft"),
                {"p": np.int64([0]), "c": np.ones((2, 1), np.float32)})  # fmt: skip


@pytest.mark.parametrize(("op", "said"), [("TopK", "a number of elements"), ("Trilu", "a diagonal")])
@pytest.mark.parametrize("values", [[], [1, 2]])
def test_one_number_is_wanted(tmp_path: Any, op: str, said: str, values: list[int]) -> None:
    outputs = ["y", "n"] if op == "TopK" else ["y"]
    with pytest.raises(qrt.errors.ModelError, match=rf"{said} \(input 1\) must be one integer, got \["):
        _loaded(tmp_path, node(op, ["x", "k"], outputs), {"k": np.int64(values)})


@pytest.mark.parametrize(
    ("op", "count"),
    [("QAttention", 4), ("QAttention", 10), ("EmbedLayerNormalization", 6), ("QEmbedLayerNormalization", 17)],
)
def test_inputs_that_must_be_there(tmp_path: Any, op: str, count: int) -> None:
    with pytest.raises(qrt.errors.ModelError, match=rf"{op}.*it must have .*inputs, the required ones with names, got"):
        _loaded(tmp_path, node(op, ["x", *["s"] * (count - 1)], ["y"], domain="com.microsoft", num_heads=1),
                {"s": np.ones((2, 3), np.float32)})  # fmt: skip


def test_more_outputs_than_an_operator_has(tmp_path: Any) -> None:
    with pytest.raises(qrt.errors.ModelError, match="it must have 1 output, got 2"):
        _loaded(tmp_path, node("InstanceNormalization", ["x", "s", "s"], ["y", "z"]), {"s": np.ones(2, np.float32)})


def test_a_transposed_convolution_of_no_image(tmp_path: Any) -> None:
    made = [node("Constant", [], ["m"], value_floats=[1.0, 2.0]), node("ConvTranspose", ["m", "w"], ["y"])]
    path = tmp_path / "m.onnx"
    path.write_bytes(model(made, [], [port("y", "FLOAT", None)], {"w": np.ones(2, np.float32)}))
    with pytest.raises(qrt.errors.ModelError, match=r"for an input of shape \[2\], the weights must have the same"):
        qrt.load(str(path))


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (node("LRN", ["x"], ["y"], size=2), "attribute 'size' must be an odd positive integer, got 2"),
        (node("LRN", ["x"], ["y"], size=2**40 + 1), "of 1099511627777 channels"),
        (node("LRN", ["x"], ["y"]), "attribute 'size' is missing, expected an integer"),
        (node("LpPool", ["x"], ["y"], p=0, kernel_shape=[1]), "attribute 'p' must be at least 1, got 0"),
        (node("GlobalLpPool", ["x"], ["y"], p=-1), "attribute 'p' must be at least 1, got -1"),
    ],
)
def test_powers_that_there_are_not(tmp_path: Any, made: Any, said: str) -> None:
    with pytest.raises(qrt.errors.ModelError, match=said):
        _loaded(tmp_path, made, {})


def test_bounds_of_integers_before_they_had_any(tmp_path: Any) -> None:
    """Such a bound is a float, which may be infinite."""
    path = tmp_path / "m.onnx"
    made = node("Clip", ["x"], ["y"], min=float("-inf"))
    path.write_bytes(model([made], [port("x", "INT32", (2,))], [port("y", "INT32", (2,))], opset=7))
    with pytest.raises(qrt.errors.ModelError, match=r"Clip \(of int32 before opset 11\)"):
        qrt.load(str(path))
