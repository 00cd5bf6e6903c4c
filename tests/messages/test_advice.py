"""The advice of errors about programs, passes and commands: who follows it does not meet the error again. Hazard: an
option, a pass or an argument that exists and does not help."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.cli import main
from qrt.errors import QuantError

FILES = {
    "p.mlir": "func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    "a.mlir": "func.func @main(%arg1: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> { return %b : tensor<2xf32> }",
    "quantile.mlir": "func.func @f(%x: tensor<4x!quant.quantile<ui1:f16, {-1.0,1.0}>>) { return }",
    "two.mlir": """
func.func @f(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
func.func @g(%x: tensor<2xf32>) -> tensor<2xf32> { return %x : tensor<2xf32> }
""",
    "float.mlir": """
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<0.5> : tensor<8x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %z = arith.constant 0.0 : f32
  %f = linalg.fill ins(%z : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}
""",
}
SPOILT = np.linspace(-1, 1, 96, dtype=np.float32).reshape(12, 8)
SPOILT[5, 3] = np.nan


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    np.save("x.npy", np.ones(2, np.float32))
    np.savez("spoilt.npz", x=SPOILT)
    np.savez("data.npz", x=np.nan_to_num(SPOILT))
    assert main(["compile", "p.mlir", "-o", "p.qrt"]) == 0


COMMANDS = {
    "run a.mlir --input arg1=x.npy": ("write %b or %arg1", "run a.mlir --input %arg1=x.npy --input %b=x.npy"),
    "run p.qrt --profile litert": (
        "--profile and --saturating are for qrt compile", "compile p.mlir --profile litert -o b.qrt",
    ),
    "compile p.mlir -o p.onnx": (".qrt is written here", "compile p.mlir -o c.qrt"),
    "compile two.mlir -o t.qrt": ("the module has f, g", "compile two.mlir --function g -o t.qrt"),
    "run p.mlir --max-input 10": ("--max-input", "opt p.mlir --max-input 1000"),
    "opt quantile.mlir --upstream=22": ("it needs --upstream=24", "opt quantile.mlir --upstream=24"),
    "opt p.mlir --canonicalise": ("did you mean '--canonicalize'?", "opt p.mlir --canonicalize"),
    "opt p.mlir --pass-pipeline=canonicalise": (
        "did you mean 'canonicalize'?", "opt p.mlir --pass-pipeline=canonicalize",
    ),
    "optt p.mlir": ("did you mean 'opt'?", "opt p.mlir"),
    "import p.mlir": ("qrt opt prints it", "opt p.mlir"),
    "bench --shape gemm": ("gemm:MxKxN", "bench --list"),
    "explain p.mlir --target generic-8bit": ("need --against and --data", ""),
    "explain float.mlir --against float.mlir": ("--against needs --data", ""),
    "quantize float.mlir --data spoilt.npz -o q.mlir": (
        "--skip-nonfinite", "quantize float.mlir --data spoilt.npz --skip-nonfinite -o q.mlir",
    ),
    "quantize float.mlir --data data.npz -o q.tflite": (
        "is written here", "quantize float.mlir --data data.npz -o q.mlir",
    ),
    "explain float.mlir --against float.mlir --data data.npz": (
        "give Q.mlir, or the target (--target)", "",
    ),
}  # fmt: skip
"""Commands that fail, with a part of the error, and what it says to call. Where that is empty, a test below says it."""


def call(command: str) -> int:
    try:
        return main(command.split())
    except SystemExit as stop:
        return int(stop.code or 0)


@pytest.mark.parametrize("command", COMMANDS)
def test_who_follows_a_command_has_no_error(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    advice, instead = COMMANDS[command]
    assert call(command) in (1, 2)
    assert advice in capsys.readouterr().err
    if instead:
        assert call(instead) == 0, capsys.readouterr().err


def test_a_missing_input_is_given_as_the_error_says(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "p.mlir"]) == 1
    ways = re.findall(r"--input-value \S+", capsys.readouterr().err)
    assert len(ways) == 2
    assert main(["run", "p.mlir", *(word for way in ways for word in way.split())]) == 0


def test_what_was_quantized_is_explained_as_the_errors_say() -> None:
    """`qrt quantize -o Q.mlir` writes what `--against` and `--data` need."""
    assert call("quantize float.mlir --data data.npz -o q.mlir") == 0
    assert call("explain q.mlir --against float.mlir --data data.npz --html r.html") == 0


def programs() -> dict[str, tuple[Callable[[], Any], str, Callable[[], Any]]]:
    """Return calls that fail, a part of the error, and the calls that follow it."""
    module = qrt.ir.parse(FILES["float.mlir"])
    clean = np.nan_to_num(SPOILT)
    data, spoilt = {"arg0": clean}, {"arg0": SPOILT}
    layer = qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 0.5))
    tiny = qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 2.0**-100))
    out = qrt.UniformType("i8", "f32", 0.5)
    return {
        "a metric without a budget": (
            lambda: qrt.quantize_program(module, data, metric=lambda *_: 1.0),
            "give budget='size=0.6' or 'drop=0.005'",
            lambda: qrt.quantize_program(module, data, metric=lambda *_: 1.0, budget="drop=0.005"),
        ),
        "data that is not finite": (
            lambda: qrt.quantize_program(module, spoilt),
            "skip_nonfinite=True",
            lambda: qrt.quantize_program(module, spoilt, skip_nonfinite=True),
        ),
        "rows that are no multiple": (
            lambda: qrt.quantize_program(module, {"arg0": clean[:6]}),
            "takes 4 at a time: give a multiple",
            lambda: qrt.quantize_program(module, {"arg0": clean[:8]}),
        ),
        "a program that is quantized": (
            lambda: qrt.quantize_program(qrt.quantize_program(module, data).module, data),
            "give the float program",
            lambda: qrt.quantize_program(module, data),
        ),
        "a range that is not symmetric": (
            lambda: qrt.quantize(clean, bits=1, symmetric=True),
            "give more bits",
            lambda: qrt.quantize(clean, bits=2, symmetric=True),
        ),
        "narrow storage of a bit": (
            lambda: qrt.quantize(clean, bits=1, narrow=True),
            "give more bits",
            lambda: qrt.quantize(clean, bits=2, narrow=True),
        ),
        "scales beyond float32": (
            lambda: qrt.matmul(tiny, tiny, out_type=out, requant="float32"),
            "use requant = 'fixed'",
            lambda: qrt.matmul(tiny, tiny, out_type=out, requant="fixed"),
        ),
        "an axis and a group of a number": (
            lambda: qrt.quantize(1.0, bits=8, axis=0),
            "give neither axis nor group_size",
            lambda: qrt.quantize(1.0, bits=8),
        ),
        "one array as tensors": (
            lambda: qrt.save_tensors("w.pt", {"w": layer}),
            "ends in .npz or .safetensors",
            lambda: qrt.save_tensors("w.npz", {"w": layer}),
        ),
        "a built operation without a type": (
            lambda: built("b.arith.extf(x)"),
            "give type=",
            lambda: built('b.arith.extf(x, type="f64")'),
        ),
        "a number among values": (
            lambda: built("b.arith.addf(x, 1.0)"),
            "b.constant(value, type) makes one",
            lambda: built('b.arith.addf(x, b.constant(1.0, "f32"))'),
        ),
    }


def built(expression: str) -> Any:
    """Return the value of an expression of a builder ``b`` with an f32 ``x``."""
    builder = qrt.ir.Builder(qrt.ir.Module())
    with builder.function("f", ["f32"]) as (x,):
        result = eval(expression, {"b": builder, "x": x})
        builder.func.return_()
    return result


@pytest.mark.parametrize("name", programs())
def test_who_follows_an_error_of_a_program_has_none(name: str) -> None:
    wrong, advice, right = programs()[name]
    with pytest.raises(QuantError) as raised:
        wrong()
    assert advice in str(raised.value)
    right()
