"""`qrt explain`. Hazards: a form that is not what Python gives, a file written where there is an error, an error
without a place."""

import json
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import qrt
from qrt.cli import main
from tests.quantization.workflow.programs import NETWORK, rows


@cache
def made() -> tuple[str, Any]:
    """A quantized program, and its report."""
    module, data = qrt.ir.parse(NETWORK, "f.mlir"), {"images": rows(40)}
    text = str(qrt.quantize_program(module, data).module)
    return text, qrt.quantization.explain_program(qrt.ir.parse(text, "q.mlir"), module, data)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    text, report = made()
    Path("f.mlir").write_text(NETWORK)
    Path("q.mlir").write_text(text)
    np.savez("x.npz", images=rows(40))
    return report


COMMAND = ["explain", "q.mlir", "--against", "f.mlir", "--data", "x.npz"]


def test_each_form_is_that_of_the_report(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(COMMAND) == 0
    text = capsys.readouterr().out
    assert text == files.text()
    assert text.index("main/matmul.0") < text.index("main/lookup.0")
    assert main([*COMMAND, "--json", "--isa", "ref", "--threads", "1"]) == 0
    printed = capsys.readouterr().out
    assert printed == files.json()
    assert [each["key"] for each in json.loads(printed)["regions"]] == list(files)
    assert main([*COMMAND, "--html", "r.html"]) == 0
    assert capsys.readouterr().out == ""
    assert Path("r.html").read_text() == files.html()


@pytest.mark.parametrize(
    ("change", "more", "said"),
    [
        (
            lambda: Path("q.mlir").write_text(NETWORK),
            [],
            "error: q.mlir: the target is unknown, because the file has no quant.target",
        ),
        (lambda: Path("q.mlir").write_text(NETWORK), ["--target", "tflite"], "no operation has quant.key:"),
        (lambda: Path("f.mlir").unlink(), [], "f.mlir"),
        (lambda: np.savez("x.npz", other=rows(4)), [], "no input is named 'other'"),
        (lambda: None, ["--target", "nowhere"], "nowhere"),
        (lambda: None, ["--function", "g"], "no function is named 'g'"),
    ],
)
def test_errors_are_one_line_and_nothing_is_written(
    files: Any, change: Any, more: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    change()
    assert main([*COMMAND, "--html", "r.html", *more]) == 1
    out, err = capsys.readouterr()
    assert said in err
    assert out == ""
    assert not Path("r.html").exists()


def test_a_report_has_one_form(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*COMMAND, "--json", "--html", "r.html"]) == 2
    assert "not allowed with" in capsys.readouterr().err


def test_without_another_program_the_steps_are_listed(files: Any, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "q.mlir", "--isa", "ref"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("main for ref: ")
    assert "qrt.matmul" in text
    assert main(["explain", "q.mlir", "--data", "x.npz", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert (found["version"], found["name"]) == (1, "main")
    assert {step["op"] for step in found["steps"]} >= {"qrt.matmul", "qrt.lookup"}


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--against", "f.mlir"], "--against needs --data"),
        (["--html", "r.html"], "--html, --target and --skip-nonfinite need --against and --data"),
        (["--target", "qrt-cpu"], "need --against and --data"),
    ],
)
def test_options_of_a_quantization_need_its_float_program(
    files: Any, options: list[str], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["explain", "q.mlir", *options]) == 1
    assert said in capsys.readouterr().err
    assert not Path("r.html").exists()


@pytest.mark.parametrize("file", ["q.onnx", "q.tflite", "q.qrt", "q"])
@pytest.mark.parametrize("more", [[], ["--target", "qrt-cpu"]])
def test_a_model_has_no_keys_of_regions(
    files: Any, file: str, more: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """Though `qrt quantize` wrote it."""
    assert main(["explain", file, *COMMAND[2:], *more]) == 1
    said = capsys.readouterr().err
    assert said.startswith(
        f"error: {file}: --against compares regions by the keys that `qrt quantize -o Q.mlir` writes"
    )
    assert len(said.splitlines()) == 1
