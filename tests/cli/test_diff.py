"""`qrt diff`. Hazards: a difference that is carried into the next op and reported there, inputs in another order than
the model's, a status that says nothing."""

import numpy as np
import pytest

from qrt.cli import main
from tests.models.tflite.writing import Operator, Subgraph, Tensor, write

pytest.importorskip("ai_edge_litert", reason="ai-edge-litert is not installed")


@pytest.fixture
def model(tmp_path):
    """Two products: every second sum of the first lies halfway between two integers, which the profiles round in two
    ways; the second one is exact."""
    x, middle = Tensor((1, 8), scales=1, name="x"), Tensor((1, 8), scales=1, name="middle")
    y = Tensor((1, 8), scales=1, name="y")
    half = Tensor((8, 8), scales=0.5, data=np.eye(8))
    whole = Tensor((8, 8), scales=1, data=np.eye(8)[::-1])
    bias = [Tensor((8,), "int32", scales=scale, data=[0] * 8) for scale in (0.5, 1)]
    steps = [
        Operator("FULLY_CONNECTED", [x, half, bias[0]], [middle]),
        Operator("FULLY_CONNECTED", [middle, whole, bias[1]], [y]),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(write([Subgraph([x], [y], steps)]))
    return str(path)


def test_the_same_bits(model, capsys):
    assert main(["diff", model, "--against", "litert"]) == 0
    text = capsys.readouterr().out
    assert "2 tensors compared, 96 elements, 0 differ" in text
    assert "output y of whole runs: 0 of 48 elements differ" in text
    assert "first op" not in text


def test_the_first_op_that_differs_is_named(model, capsys):
    assert main(["diff", model, "--against", "litert", "--profile", "litert-ref", "--runs", "2"]) == 1
    rows = {line.split()[-1]: line.split()[:4] for line in capsys.readouterr().out.splitlines() if "CONNECTED" in line}
    assert int(rows["middle"][1]) > 0
    assert rows["y"] == ["16", "0", "0", "0"]  # of LiteRT's own `middle`, the second product has no difference


def test_what_was_given_is_compared(model, tmp_path, capsys):
    np.save(tmp_path / "x.npy", np.int8([[1, 3, 5, 7, 2, 4, 6, 8]]))
    command = ["diff", model, "--against", "litert-ref", "--profile", "litert", "--input", f"x={tmp_path / 'x.npy'}"]
    assert main([*command, "--only-different"]) == 1
    text = capsys.readouterr().out
    assert "1 run\n" in text
    assert "the first op that differs is FULLY_CONNECTED 0, which is qrt.matmul float32: 2 of 8 elements differ" in text
    assert "FULLY_CONNECTED 1" not in text


@pytest.mark.parametrize(
    ("arguments", "status", "said"),
    [
        (["--against", "litert", "--input", "z=z.npy"], 1, "no input is named 'z'; the inputs are x"),
        (["--against", "litert", "--input", "x"], 1, "expected NAME=X.npy, got 'x'"),
        (["--against", "litert", "--runs", "0"], 1, "--runs must be at least 1"),
        (["--against", "ort"], 1, "m.tflite: ort runs .onnx files"),
        (
            ["--against", "litert", "--profile", "ort"],
            1,
            "the profile for LiteRT must be litert or litert-ref, got 'ort'",
        ),
        (["--against", "iree"], 2, "invalid choice: 'iree'"),
        ([], 2, "--against"),
    ],
)
def test_what_is_refused(model, arguments, status, said, capsys):
    assert main(["diff", model, *arguments]) == status
    assert said in capsys.readouterr().err
