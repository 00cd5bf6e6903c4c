"""Files that add ops and passes to the commands. Hazards: a file that runs twice, or in place of a module of its name;
an error in it that does not say where."""

import sys
from pathlib import Path
from typing import Any

import pytest

from qrt.cli import main
from tests.registries import restored_registries

PLUGIN = """
from dataclasses import dataclass
from types import SimpleNamespace
from qrt import ir

HALF = ir.Definition("outerfile.half", operands=("x",), results=("y",), result_types=lambda types, attributes: types)
ROOM = SimpleNamespace(OPS=[HALF], HANDLERS={"outerfile.half": lambda op, compiler: lambda x: x // 2})
ir.register_dialect("outerfile", ROOM)

@dataclass(frozen=True)
class Erase:
    "Erases all."
    def run(self, module):
        for function in module.functions:
            function.erase()

ir.register_pass("outerfile-erase", Erase)
"""
TEXT = """func.func @f(%x: i32) -> i32 {
  %y = "outerfile.half"(%x) : (i32) -> i32
  return %y : i32
}
"""


@pytest.fixture(autouse=True)
def _folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> object:
    monkeypatch.chdir(tmp_path)
    Path("outer_file.py").write_text(PLUGIN)
    Path("f.mlir").write_text(TEXT)
    with restored_registries():
        yield
    sys.modules.pop("outer_file", None)


@pytest.mark.parametrize("flag", ["--load-dialect-plugin=outer_file.py", "-load-pass-plugin=outer_file.py"])
def test_opt_knows_what_a_file_adds(flag: str, capsys: Any) -> None:
    assert main(["opt", "f.mlir"]) == 1
    assert "outerfile.half" in capsys.readouterr().err
    assert main(["opt", "f.mlir", flag, flag]) == 0
    assert '"outerfile.half"(%arg0) : (i32) -> i32' in capsys.readouterr().out
    assert main(["opt", "--outerfile-erase", "f.mlir", flag]) == 0
    assert capsys.readouterr().out == "module {\n}\n"
    assert main(["opt", flag, "--help"]) == 0
    assert "--outerfile-erase           Erases all\n" in capsys.readouterr().out
    assert main(["opt", flag, "--show-dialects"]) == 0
    assert "outerfile" in capsys.readouterr().out


def test_run_runs_what_a_file_adds(capsys: Any) -> None:
    assert main(["run", "--load-dialect-plugin", "outer_file.py", "f.mlir", "--input-value", "x=i32=9"]) == 0
    assert capsys.readouterr().out == "result0 = 4\n"


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("outer_x.py", None, "line 0: FileNotFoundError"),
        ("outer_x.py", "x = 1\ny = z\n", "line 2: NameError: name 'z' is not defined"),
        ("outer_x.py", "x = 1\n\ny = (\n", "line 3: SyntaxError: '(' was never closed"),
        ("outer_x.py", "from qrt import ir\nir.register_pass('cse', int)\n", "line 2: "),
        ("outer_x.txt", "", "does not load: it must be a Python file, FILE.py"),
        ("json.py", "", "a module named 'json' exists already: rename the file"),
        ("csv.py", "", "a module named 'csv' exists already: rename the file"),
    ],
)
def test_a_file_that_does_not_load_is_named(name: str, text: str | None, message: str, capsys: Any) -> None:
    if text is not None:
        Path(name).write_text(text)
    assert main(["opt", "f.mlir", f"--load-pass-plugin={name}"]) == 1
    error = capsys.readouterr().err
    assert error.startswith(f"error: the plugin '{name}' does not load:")
    assert message.removeprefix("line 0: ") in error
    assert "outer_x" not in sys.modules


def test_a_flag_without_a_file_is_a_usage_error(capsys: Any) -> None:
    assert main(["opt", "f.mlir", "--load-pass-plugin"]) == 2
    assert "expected one argument" in capsys.readouterr().err
