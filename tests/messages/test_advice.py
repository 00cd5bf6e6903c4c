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
from qrt.cli.bench import workload_of
from tests.messages.advice import advises, enter_parts, hears
from tests.messages.conftest import status

FILES = {
    "p.mlir": "func.func @main(%x: tensor<2xf32>, %y: tensor<f32>) -> tensor<2xf32> { return %x : tensor<2xf32> }",
    "a.mlir": "func.func @main(%arg1: tensor<2xf32>, %b: tensor<2xf32>) -> tensor<2xf32> { return %b : tensor<2xf32> }",
    "add.mlir": "func.func @f(%x: tensor<2x!quant.uniform<i8:f32, 0.5>>) { %0 = qrt.add %x, %x : "
    "(tensor<2x!quant.uniform<i8:f32, 0.5>>, tensor<2x!quant.uniform<i8:f32, 0.5>>) "
    "-> tensor<2x!quant.uniform<i8:f32, 0.5>> return }",
    "none.mlir": "func.func @f(%x: tensor<2x!quant.none<f32>>) { return }",
    "vector.mlir": "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> { return %x : tensor<4xf32> }",
    "json.py": "",
    "own_json.py": "",
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
    "run a.mlir --input arg1=x.npy": (
        "cli/inputs.py", "; write {} or %{}", "run a.mlir --input %arg1=x.npy --input %b=x.npy",
    ),
    "run vector.mlir --input-value arg0=x": (
        "cli/inputs.py", "expected SHAPExTYPE=VALUES such as {}, got", "run vector.mlir --input-value arg0={0}",
    ),
    "run p.qrt --profile litert": (
        "cli/inputs.py", "--profile, --input-shape and --saturating are for qrt compile",
        "compile p.mlir --profile litert -o b.qrt",
    ),
    "compile p.mlir -o p.onnx": ("files.py", ": the name of this output must "
        "end in {}, got {}", "compile p.mlir -o c{0}"),
    "quantize float.mlir --data data.npz -o float.mlir": (
        "files.py", "this output would replace an input file: give the output another name",
        "quantize float.mlir --data data.npz -o q.mlir",
    ),
    "run p.mlir --max-input 10": (
        "files.py", " (set by max_bytes or --max-input)", "opt p.mlir --max-input 1000",
    ),
    "opt p.mlir --canonicalise": ("cli/parser.py", "; did you mean {}?", "opt p.mlir {0}"),
    "opt p.mlir --mlir-print-ir-after=csee": (
        "cli/opt.py", "; did you mean {}?", "opt p.mlir --mlir-print-ir-after={0}",
    ),
    "opt p.mlir --pass-pipeline=canonicalise": (
        "ir/pipeline_text.py", "did you mean '{}'?", "opt p.mlir --pass-pipeline={0}",
    ),
    "opt add.mlir --strict-upstream": (
        "cli/opt.py", "op '{}' does not exist upstream, which --strict-upstream requires", "opt add.mlir",
    ),
    "opt none.mlir --strict-upstream": (
        "cli/opt.py", "type '{}' does not exist upstream, which --strict-upstream requires", "opt none.mlir",
    ),
    "optt p.mlir": ("cli/__init__.py", "; did you mean {}?", "{0} p.mlir"),
    "import p.mlir": ("cli/import_model.py", (
        ": the file is a program and needs no "
        "import; qrt opt prints it"
    ), "opt p.mlir"),
    "bench --shape conv": ("cli/bench.py", "; `qrt bench --list` shows more spellings", "bench --list"),
    "explain p.mlir --target qrt-cpu": (
        "cli/explain.py", "--html, --target and --skip-nonfinite need --against and --data", "",
    ),
    "explain float.mlir --against float.mlir": ("cli/explain.py", "--against needs --data", ""),
    "explain p.qrt --against float.mlir --data data.npz": (
        "cli/explain.py",
        ": --against compares regions by the keys that `qrt quantize -o Q.mlir` writes, which other "
        "files do not have: give the Q.mlir of the same quantization",
        "",
    ),
    "quantize float.mlir --data spoilt.npz -o q.mlir": (
        "quantization/calibration/observe.py", "or leave such values out by skip_nonfinite=True ({})",
        "quantize float.mlir --data spoilt.npz {0} -o q.mlir",
    ),
    "quantize float.mlir --data data.npz -o q.tflite": (
        "files.py", ": the name of this output must end in {}, got {}", "quantize float.mlir --data data.npz -o q{0}",
    ),
    "opt --load-pass-plugin=json.py p.mlir": (
        "plugins.py", "a module named {} exists already: rename the file",
        "opt --load-pass-plugin=own_json.py p.mlir",
    ),
    "explain float.mlir --against float.mlir --data data.npz": (
        "quantization/explain.py", "give Q.mlir, or the target (--target)", "",
    ),
    "compile two.mlir -o t.qrt": (
        "runtime/functions.py", "the functions of the module are: {}", "compile two.mlir --function {0} -o t.qrt",
    ),
    "opt quantile.mlir --upstream=22": (
        "types/quantized_parser.py", "the version that is read: give --upstream={}", "opt quantile.mlir --upstream={0}",
    ),
}  # fmt: skip
"""Commands that fail: the file and a part of the error, and the command that it says, with the values that it has.
Where that is empty, a test below says it."""
for command, (place, part, _) in COMMANDS.items():
    enter_parts(place, (part,), command)


@pytest.mark.parametrize("command", COMMANDS)
@hears(*[part for _, part, _ in COMMANDS.values()])
def test_who_follows_a_command_has_no_error(command: str, heard: Any, capsys: Any) -> None:
    _, part, instead = COMMANDS[command]
    heard.parts = {part: False}
    values = heard.command(command)
    if instead:
        words = [re.split(" or |, ", value.rpartition(": ")[2])[0].strip("'") for value in values]
        assert status(instead.format(*words)) == 0, capsys.readouterr().err


@advises("cli/inputs.py", "; give it as {}", "--input {}=FILE.npy", " or --input-value {}={}")
def test_a_missing_input_is_given_as_the_error_says(heard: Any, capsys: Any) -> None:
    heard.command("run p.mlir")
    main(["run", "p.mlir"])
    message = capsys.readouterr().err
    for option in ("--input-value", "--input"):
        ways = re.findall(rf"{option} [^\s;,]+", message)
        assert len(ways) == 2
        arguments = [
            word.replace("FILE.npy", f"{number}.npy") for number, way in enumerate(ways) for word in way.split()
        ]
        np.save("0.npy", np.ones(2, np.float32))
        np.save("1.npy", np.float32(1))
        assert main(["run", "p.mlir", *arguments]) == 0


@advises("cli/bench.py", "--shape takes {}, {}, {}, {} or {}, not {}")
def test_the_shapes_of_cases(heard: Any) -> None:
    *spellings, _ = heard.command("bench --shape gemm")
    assert len(spellings) == 5
    for spelling in spellings:
        kind, _, shape = spelling.partition(":")
        sizes = {"KHxKW": "3x3", "HxWxC": "8x8x4", "SIZES": "4x8", "MxKxN": "2x3x4", "C": "4", "O": "5"}
        for letters, numbers in sizes.items():
            shape = re.sub(rf"(?<![A-Za-z]){letters}(?![A-Za-z])", numbers, shape)
        assert workload_of(f"{kind}:{shape}").name


@advises(
    "cli/explain.py",
    "--html, --target and --skip-nonfinite need --against and --data",
    "--against needs --data",
    "which other files do not have: give the Q.mlir of the same quantization",
)
def test_what_was_quantized_is_explained_as_the_errors_say(heard: Any) -> None:
    """`qrt quantize -o Q.mlir` writes what `--against` and `--data` need."""
    assert status("quantize float.mlir --data data.npz -o Q.mlir") == 0
    for option in ("--html r.html", "--target qrt-cpu", "--skip-nonfinite"):
        heard.command(f"explain Q.mlir {option}")
        heard.command(f"explain Q.mlir --against float.mlir {option}")
        assert status(f"explain Q.mlir --against float.mlir --data data.npz {option}") == 0
    heard.command("explain p.qrt --against float.mlir --data data.npz")


def programs() -> dict[str, tuple[Callable[[], Any], str, str, Callable[[], Any]]]:
    """Return calls that fail, the file and a part of the error, and the calls that follow it."""
    module = qrt.ir.parse(FILES["float.mlir"])
    clean = np.nan_to_num(SPOILT)
    data, spoilt = {"arg0": clean}, {"arg0": SPOILT}
    layer = qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 0.5))
    tiny = qrt.quantize([[1.0, 2.0], [3.0, 4.0]], qrt.UniformType("i8", "f32", 2.0**-100))
    out = qrt.UniformType("i8", "f32", 0.5)
    return {
        "a metric without a budget": (
            lambda: qrt.quantize_program(module, data, metric=lambda *_: 1.0),
            "quantization/workflow.py",
            "give budget='size=0.6' or 'drop=0.005'",
            lambda: qrt.quantize_program(module, data, metric=lambda *_: 1.0, budget="drop=0.005"),
        ),
        "data that is not finite": (
            lambda: qrt.quantize_program(module, spoilt),
            "quantization/calibration/observe.py",
            "or leave such values out by skip_nonfinite=True",
            lambda: qrt.quantize_program(module, spoilt, skip_nonfinite=True),
        ),
        "rows that are no multiple": (
            lambda: qrt.quantize_program(module, {"arg0": clean[:6]}),
            "quantization/calibration/batches.py",
            "must be a multiple of {}, because the program takes",
            lambda: qrt.quantize_program(module, {"arg0": clean[:8]}),
        ),
        "a program that is quantized": (
            lambda: qrt.quantize_program(qrt.quantize_program(module, data).module, data),
            "quantization/tuning/function_scope.py",
            "give the float program",
            lambda: qrt.quantize_program(module, data),
        ),
        "a range that is not symmetric": (
            lambda: qrt.quantize(clean, bits=1, symmetric=True),
            "numerics/ranges.py",
            "give more bits",
            lambda: qrt.quantize(clean, bits=2, symmetric=True),
        ),
        "scales beyond float32": (
            lambda: qrt.matmul(tiny, tiny, out_type=out, requant="float32"),
            "numerics/multipliers.py",
            "use requant = 'fixed'",
            lambda: qrt.matmul(tiny, tiny, out_type=out, requant="fixed"),
        ),
        "one array as tensors": (
            lambda: qrt.save_tensors("w.pt", {"w": layer}),
            "tensor/tensor_files.py",
            "the name of a file of tensors must end in {}",
            lambda: qrt.save_tensors("w.npz", {"w": layer}),
        ),
        "a built operation without a type": (
            lambda: built("b.arith.extf(x)"),
            "ir/making.py",
            "give it as type=",
            lambda: built('b.arith.extf(x, type="f64")'),
        ),
        "a number among values": (
            lambda: built("b.arith.addf(x, 1.0)"),
            "ir/making.py",
            "b.constant(value, type) creates one",
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


for name, (_, place, part, _) in programs().items():
    enter_parts(place, (part,), name)


@pytest.mark.parametrize("name", programs())
@hears(*[part for _, _, part, _ in programs().values()])
def test_who_follows_an_error_of_a_program_has_none(name: str, heard: Any) -> None:
    wrong, _, part, right = programs()[name]
    heard.parts = {part: False}
    heard(wrong)
    right()
