"""`qrt export`, and `qrt quantize` to ONNX. Hazards: a half-written file, a model that is imported by another profile,
text in a file that is called .onnx."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.cli import main

PROGRAM = """!q = !quant.uniform<i8:f32, 0.5>
func.func @f(%x: tensor<2x!q> {qrt.name = "x"}) -> (tensor<2x!q> {qrt.name = "y"}) {
  %0 = qrt.add %x, %x {requant = "fixed_double"} : (tensor<2x!q>, tensor<2x!q>) -> tensor<2x!q>
  return %0 : tensor<2x!q>
}
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> {
  %0 = math.atan %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}
"""


def test_what_is_written_is_what_is_loaded(tmp_path: Path) -> None:
    text, model, again = tmp_path / "f.mlir", tmp_path / "f.onnx", tmp_path / "g.mlir"
    text.write_text(PROGRAM)
    assert main(["export", str(text), "-o", str(model), "--function", "f"]) == 0
    assert main(["import", str(model), "-o", str(again)]) == 0
    assert 'requant = "fixed_double"' in again.read_text()


def test_what_cannot_be_said_writes_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = tmp_path / "f.mlir"
    text.write_text(PROGRAM)
    assert main(["export", str(text), "-o", str(tmp_path / "f.onnx"), "--function", "g"]) == 1
    assert "ONNX does not support 1 of its operators:\n  math.atan (f32): " in capsys.readouterr().err
    assert not (tmp_path / "f.onnx").exists()


def test_a_program_is_quantized_to_a_model(tmp_path: Path) -> None:
    text, data, model = tmp_path / "f.mlir", tmp_path / "x.npz", tmp_path / "q.onnx"
    text.write_text("""func.func @main(%x: tensor<?x4xf32> {qrt.name = "x"}) -> (tensor<?x4xf32> {qrt.name = "y"}) {
      %0 = math.tanh %x : tensor<?x4xf32>
      return %0 : tensor<?x4xf32>
    }""")
    x = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    np.savez(data, x=x)
    assert main(["quantize", str(text), "--data", str(data), "-o", str(model)]) == 0
    made = np.asarray(qrt.compile(qrt.load(model))(x))
    np.testing.assert_allclose(made, np.tanh(x), atol=0.03)
