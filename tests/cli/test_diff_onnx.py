"""`qrt diff --against ort`. Hazards: tensors between casts that stand for a difference of their own, a group that hides
which operator it is of, floats that are held to bits where only a bound is stated, inputs of open sizes."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qrt.cli import main
from qrt.errors import QuantTypeError
from qrt.models.diff.compare import ModelComparison
from qrt.models.engines.litert import LiteRT
from qrt.models.engines.ort import OnnxRuntime
from tests.models.onnx.writing import model, node, port

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
SCALES = {"s": np.float32(0.25), "z": np.int8(3)}


def saved(folder: Path, content: bytes) -> str:
    path = folder / "m.onnx"
    path.write_bytes(content)
    return str(path)


def quantized() -> bytes:
    """QuantizeLinear, QLinearMatMul, DequantizeLinear."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("QLinearMatMul", ["q", "s", "z", "w", "s", "z", "s", "z"], ["p"]),
        node("DequantizeLinear", ["p", "s", "z"], ["y"]),
    ]
    w = np.random.default_rng(0).integers(-9, 9, (4, 8)).astype(np.int8)
    return model(nodes, [port("x", shape=["n", 4])], [port("y", shape=["n", 8])], {**SCALES, "w": w})


def beside_casts() -> bytes:
    """A product between casts, and a function of floats."""
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], ["q"]),
        node("DequantizeLinear", ["q", "s", "z"], ["d"]),
        node("DequantizeLinear", ["w", "s", "z"], ["v"]),
        node("MatMul", ["d", "v"], ["product"]),
        node("QuantizeLinear", ["product", "t", "z"], ["p"]),
        node("DequantizeLinear", ["p", "t", "z"], ["e"]),
        node("Tanh", ["e"], ["y"]),
    ]
    w = np.random.default_rng(0).integers(-9, 9, (4, 8)).astype(np.int8)
    constants = {**SCALES, "t": np.float32(0.125), "w": w}
    return model(nodes, [port("x", shape=["n", 4])], [port("y", shape=["n", 8])], constants)


def rows(text: str) -> dict[str, list[str]]:
    """The cells of each tensor's line."""
    lines = [line.split() for line in text.partition("\n\n")[2].partition("\n\n")[0].splitlines()[1:]]
    return {line[-1]: line[:-1] for line in lines}


def test_a_quantized_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", saved(tmp_path, quantized()), "--against", "ort"]) == 0
    text = capsys.readouterr().out
    assert "m.onnx beside ONNX Runtime (ort), 6 runs" in text
    assert rows(text) == {
        "q": ["24", "0", "0", "0", "QuantizeLinear", "0", "quant.qcast"],
        "p": ["48", "0", "0", "0", "QLinearMatMul", "1", "qrt.matmul", "float32"],
        "y": ["48", "0", "-", "0", "ULP", "DequantizeLinear", "2", "quant.dcast"],
    }
    assert "3 tensors compared, 120 elements, 0 differ" in text


def test_a_group_beside_casts_is_one_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", saved(tmp_path, beside_casts()), "--against", "ort"]) == 0
    text = capsys.readouterr().out
    found = rows(text)
    assert list(found) == ["q", "p", "e", "y"]
    assert found["p"][4:] == ["QDQ", "MatMul", "3", "qrt.matmul", "float32"]
    assert "3 tensors more inside of operators that run as one\n" in text  # d, v and product


def test_a_difference_is_told_where_it_arises(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each step gets ONNX Runtime's own tensors: the runs there are on another input, so the first step differs, and no
    later one does."""
    with OnnxRuntime() as runtime:
        comparison = ModelComparison(saved(tmp_path, quantized()), runtime, "ort")
        run = comparison.loaded.run
        monkeypatch.setattr(comparison.loaded, "run", lambda inputs, tensors: run([inputs[0] + 1], tensors))
        comparison.add([np.random.default_rng(1).normal(size=(5, 4)).astype(np.float32)])
        found = comparison.result()
    assert found.first is not None
    assert (found.first.name, found.first.differ, found.first.beyond) == ("q", 20, 20)
    assert [tensor.differ for tensor in found.tensors] == [20, 0, 0]
    assert found.outputs[0].differ > 0


@pytest.mark.parametrize(("dtype", "numbers"), [("FLOAT", [np.nan] * 2), ("FLOAT16", [np.nan, np.inf])])
def test_integers_for_what_is_no_number_are_not_compared(dtype: str, numbers: list[float]) -> None:
    """The page says what both store. A difference beside them is still counted."""
    x = np.array([*numbers, 1, 2], np.float32 if dtype == "FLOAT" else np.float16)
    content = model([node("QuantizeLinear", ["x", "s", "z"], ["q"])], [port("x", dtype, x.shape)],
                    [port("q", "INT8")], {"s": x.dtype.type(0.5), "z": np.int8(7)}, opset=21)  # fmt: skip
    with OnnxRuntime() as runtime:
        comparison = ModelComparison(content, runtime, "ort")
        comparison.add([x])
        assert comparison.result().differ == 0
        run = comparison.loaded.run
        comparison.loaded.run = lambda inputs, tensors: run([inputs[0] + 1], tensors)  # type: ignore[method-assign]
        comparison.add([x])
        found = comparison.result()
    assert (found.tensors[0].differ, found.outputs[0].differ) == (2, 2)


def test_an_index_is_drawn_within_what_it_is_an_index_of(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    table = np.random.default_rng(0).integers(-9, 9, (40, 3)).astype(np.int8)
    content = model([node("Gather", ["t", "i"], ["y"])], [port("i", "INT64", ["n", "m"])],
                    [port("y", "INT8", ["n", "m", 3])], {"t": table})  # fmt: skip
    with OnnxRuntime() as runtime:
        assert ModelComparison(content, runtime, "ort").file.inputs[0].limit == 40
    assert main(["diff", saved(tmp_path, content), "--against", "ort", "--runs", "2"]) == 0
    assert rows(capsys.readouterr().out)["y"][:3] == ["48", "0", "0"]


def test_what_is_given(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.save(tmp_path / "x.npy", np.random.default_rng(1).normal(size=(3, 4)).astype(np.float32))
    command = ["diff", saved(tmp_path, quantized()), "--against", "ort", "--input", f"x={tmp_path / 'x.npy'}"]
    assert main(command) == 0
    assert rows(capsys.readouterr().out)["p"][0] == "24"


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--against", "litert"], "m.onnx: litert runs .tflite files"),
        (["--against", "ort", "--profile", "litert"], "must be ort or ort-best, got 'litert'"),
    ],
)
def test_what_is_refused(tmp_path: Path, arguments: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["diff", saved(tmp_path, quantized()), *arguments]) == 1
    assert said in capsys.readouterr().err


def test_an_engine_is_of_one_format() -> None:
    engine: Any = LiteRT.__new__(LiteRT)
    with pytest.raises(QuantTypeError, match="the profile for LiteRT must be litert or litert-ref, got 'ort'"):
        ModelComparison(quantized(), engine, "ort")
