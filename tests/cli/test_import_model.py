"""`qrt import`, and `qrt run` of a model. Hazards: another program than the one that runs, a name that the command line
cannot say, a broken file that leaves a half-written output."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.cli import main
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A layer whose rules differ by profile."""
    x = Tensor((1, 3), "int8", scales=0.5, zero_points=3, name="x")
    w = Tensor((4, 3), "int8", scales=0.25, data=np.arange(-6, 6).reshape(4, 3))
    y = Tensor((1, 4), "int8", scales=0.4, name="y")
    path = tmp_path / "m.tflite"
    path.write_bytes(one_op("FULLY_CONNECTED", [x, w, None], [y], {}))
    return path


@pytest.mark.parametrize(("profile", "rule"), [("litert", "float32"), ("litert-ref", "float64_away")])
def test_what_is_imported_is_what_runs(model: Path, tmp_path: Path, profile: str, rule: str) -> None:
    text, x, y = tmp_path / "m.mlir", tmp_path / "x.npy", [tmp_path / f"{name}.npy" for name in "ab"]
    np.save(x, np.int8([[5, -7, 100]]))
    assert main(["import", str(model), "-o", str(text), "--profile", profile]) == 0
    assert f'requant = "{rule}"' in text.read_text()
    assert main(["run", str(model), "--profile", profile, f"--input=x={x}", f"--output=y={y[0]}"]) == 0
    assert main(["run", str(text), f"--input=x={x}", f"--output=y={y[1]}"]) == 0
    assert y[0].read_bytes() == y[1].read_bytes()


def test_the_generic_form_goes_to_standard_output(model: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(model), "--emit", "generic"]) == 0
    said = capsys.readouterr().out
    assert '"qrt.matmul"' in said
    assert qrt.ir.parse(said) == qrt.load(model)


def test_a_program_is_no_model(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "f.mlir").write_text("func.func private @f()")
    assert main(["import", str(tmp_path / "f.mlir")]) == 1
    assert ": the file is a program and needs no import; qrt opt prints it" in capsys.readouterr().err


def test_a_broken_file_leaves_no_output(model: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    model.write_bytes(model.read_bytes()[:100])
    assert main(["import", str(model), "-o", str(tmp_path / "m.mlir")]) == 1
    assert capsys.readouterr().err.startswith(f"error: {model}: ")
    assert not (tmp_path / "m.mlir").exists()


def test_each_signature_is_a_function(tmp_path: Path) -> None:
    def graph() -> Subgraph:
        a, b = Tensor((1, 4), "int8", scales=0.5), Tensor((2, 2), "int8", scales=0.5)
        return Subgraph([a], [b], [Operator("RESHAPE", [a], [b], {"new_shape": [2, 2]})])

    first, second = graph(), graph()
    keys = [
        Signature({"in": first.inputs[0]}, {"out": first.outputs[0]}, "fold", 0),
        Signature({"x": second.inputs[0]}, {"y": second.outputs[0]}, "other", 1),
    ]
    (tmp_path / "m.tflite").write_bytes(write([first, second], keys))
    module = qrt.load(tmp_path / "m.tflite")
    names = {f.sym_name: (f.port_name("inputs", 0), f.port_name("results", 0)) for f in module.functions}
    assert names == {"fold": ("in", "out"), "other": ("x", "y")}
