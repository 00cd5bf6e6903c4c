"""Packages of extras, of which none can be imported. Hazards: a traceback, a package that is needed after long work
instead of before it, a command or `import *` that needs a package which it does not use."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.extras import extra, require_installed
from tests.models.onnx.writing import model, node, port
from tests.models.tflite.writing import Tensor, one_op

MISSING = """
import sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {names}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
"""
EXTRAS = {
    "ai_edge_litert", "distributed", "llvmlite", "matplotlib", "onnx", "onnxruntime", "pandas", "rich", "safetensors",
    "scipy", "sklearn", "tflite", "torch",
}  # fmt: skip
TEXT = """func.func @main(%x: tensor<?x2xf32> {qrt.name = "x"}) -> tensor<?x2xf32> {
  %0 = math.tanh %x : tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}
"""


def bare(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """Runs Python without any extra."""
    root = str(Path(__file__).parents[1])
    code = f"{MISSING.format(names=EXTRAS)}\nsys.path.insert(0, {root!r})\n{code}"
    return subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=False, cwd=folder)


def command(line: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    return bare(f"import qrt.cli\nsys.exit(qrt.cli.main({line.split()!r}))", folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A program, a model of each format, a quantized program and data."""
    made = tmp_path_factory.mktemp("bare")
    (made / "f.mlir").write_text(TEXT)
    np.savez(made / "x.npz", x=np.random.default_rng(0).normal(size=(200, 2)).astype(np.float32))
    np.save(made / "x.npy", np.float32([[0.5, -0.25]]))
    (made / "m.onnx").write_bytes(model([node("Neg", ["x"], ["y"])], [port("x", shape=(2,))], [port("y", shape=(2,))]))
    operands = [Tensor((1, 2), "float32")], [Tensor((1, 2), "float32")]
    (made / "m.tflite").write_bytes(one_op("NEG", *operands))
    (made / "x.safetensors").write_bytes(b"")
    done = command("quantize f.mlir --data x.npz --budget size=1.0 -o q.mlir --html q.html", made)
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    return made


@pytest.mark.parametrize(
    "line",
    [
        "--help", "run f.mlir --input x=x.npy", "run q.mlir --input x=x.npy", "run m.onnx --input-value x=2xf32=1",
        "opt f.mlir --canonicalize", "opt --list-passes", "compile m.tflite -o m.qrt", "compile q.mlir -o q.qrt",
        "import m.tflite", "import m.onnx", "quantize m.onnx --data x.npz --help", "explain q.mlir",
        "explain q.mlir --against f.mlir --data x.npz", "explain q.mlir --against f.mlir --data x.npz --html e.html",
        "diff --help", "export --help", "bench --list", "bench --coverage",
    ],
)  # fmt: skip
def test_commands_that_need_no_extra(line: str, folder: Path) -> None:
    done = command(line, folder)
    assert done.returncode == 0, done.stderr
    assert "Error" not in done.stderr


@pytest.mark.parametrize(
    ("line", "package", "name"),
    [
        ("diff m.tflite --against litert", "ai_edge_litert", "litert"),
        ("diff m.tflite --against litert-ref", "ai_edge_litert", "litert"),
        ("diff m.onnx --against ort", "onnxruntime", "ort"),
        ("export q.mlir -o q.onnx", "onnx", "onnx"),
        ("export absent.mlir -o q.onnx", "onnx", "onnx"),
        ("quantize f.mlir --data x.npz -o q.onnx", "onnx", "onnx"),
        ("quantize absent.mlir --data absent.npz -o q.onnx", "onnx", "onnx"),
        ("quantize absent.mlir --data x.safetensors", "safetensors", "safetensors"),
        ("explain absent.mlir --against absent.mlir --data x.safetensors", "safetensors", "safetensors"),
        ("explain absent.mlir --data x.safetensors", "safetensors", "safetensors"),
    ],
)
def test_a_missing_extra_is_one_line_before_any_work(line: str, package: str, name: str, folder: Path) -> None:
    """A file that does not exist would be found missing by the first work."""
    done = command(line, folder)
    said = f'error: the package {package} is needed and is not installed: install it by pip install "qrt[{name}]"\n'
    assert (done.returncode, done.stdout, done.stderr) == (1, "", said)
    assert not (folder / "q.onnx").exists()


def test_every_name_is_imported_without_extras(tmp_path: Path) -> None:
    done = bare("from qrt import *\nprint(load_tensors, plot, models, 'onnx' in globals())", tmp_path)
    assert done.stderr == ""
    assert done.stdout.endswith(" False\n")


def test_importing_every_name_hides_no_package_of_the_caller(tmp_path: Path) -> None:
    code = "import sys; onnx = json = 1\nfrom qrt import *\nprint(onnx)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[1]
    )
    assert done.stdout == "1\n"


def test_a_missing_package_is_an_error_of_both_families(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnx", None)
    with pytest.raises(
        qrt.QuantError,
        match=r"^the package onnx is needed and is not installed: install it " r'by pip install "qrt\[onnx\]"$',
    ) as error:
        extra("onnx", "onnx")
    assert isinstance(error.value, ImportError)


def test_a_package_may_be_installed_without_being_imported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "heavy_package.py").write_text("raise SystemExit")
    monkeypatch.syspath_prepend(tmp_path)
    require_installed("heavy_package", "onnx")
    with pytest.raises(qrt.QuantError, match="absent_package is needed"):
        require_installed("absent_package", "onnx")


def test_a_package_that_is_broken_is_not_called_absent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "broken_package.py").write_text("import absent_dependency")
    monkeypatch.syspath_prepend(tmp_path)
    with pytest.raises(ImportError, match=r"cannot be imported \(No module named 'absent_dependency'\)"):
        extra("broken_package", "onnx")
