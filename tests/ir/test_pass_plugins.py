"""Passes from outside the tree. Hazards: a pass that takes the name of another; a class that fails only when it runs;
an installed package that is imported, or asked for, by who does not use it."""

from dataclasses import dataclass, make_dataclass
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any

import pytest

import qrt
from qrt import ir, registry
from qrt.cli import main
from qrt.ir.pipeline import PASSES
from tests.registries import restored_registries

TEXT = "func.func @f() {\n  return\n}\n"


@dataclass(frozen=True)
class Named:
    """Gives every function an attribute. It has two options."""

    text: str = "x"
    times: int = 1

    def run(self, module: ir.Module) -> None:
        for function in module.functions:
            function.attributes["mine.text"] = ir.StringAttr(self.text * self.times)


@pytest.fixture(autouse=True)
def _forget() -> object:
    with restored_registries():
        yield


def test_a_registered_pass_runs_in_pipelines_and_on_the_command_line(tmp_path: Path, capsys: Any) -> None:
    with pytest.raises(qrt.errors.ParseError, match="'outer-named' does not refer to a registered pass"):
        qrt.ir.run_passes(ir.parse(TEXT), "outer-named")
    qrt.ir.register_pass("outer-named", Named)
    assert ir.register_pass is qrt.ir.register_pass
    module = qrt.ir.run_passes(ir.parse(TEXT), "func.func(cse,outer-named{text=ab times=2})")
    assert module.functions[0].attributes["mine.text"] == ir.StringAttr("abab")
    (tmp_path / "f.mlir").write_text(TEXT)
    assert main(["opt", str(tmp_path / "f.mlir"), "--outer-named=times=3"]) == 0
    assert 'mine.text = "xxx"' in capsys.readouterr().out
    for flag in ("--list-passes", "--help"):
        assert main(["opt", flag]) == 0
        assert "--outer-named               Gives every function an attribute\n" in capsys.readouterr().out


def test_options_may_be_annotated_by_text() -> None:
    """As under `from __future__ import annotations`."""
    kind = make_dataclass("Kind", [("count", "int", 3), ("flag", "bool", False)], namespace={"run": Named.run})
    qrt.ir.register_pass("outer-kind", kind)
    with pytest.raises(qrt.errors.ParseError, match="option 'count' must be an integer"):
        qrt.ir.run_passes(ir.parse(TEXT), "outer-kind{count=a}")


def test_a_pass_that_is_defined_again_replaces_itself() -> None:
    first, second = (make_dataclass("Cell", [], namespace={"run": Named.run}) for _ in range(2))
    qrt.ir.register_pass("outer-cell", first)
    qrt.ir.register_pass("outer-cell", second)
    assert PASSES["outer-cell"] is second
    with pytest.raises(qrt.QuantError, match="a pass named 'outer-cell'"):
        qrt.ir.register_pass("outer-cell", Named)


@pytest.mark.parametrize(
    ("name", "kind", "message"),
    [
        ("cse", Named, "named 'cse' is registered already"),
        ("constant-fold", Named, "named 'constant-fold'"),
        ("a b", Named, "followed by letters, digits, '-', '_' or '.', got 'a b'"),
        ("", Named, "followed by letters, digits, '-', '_' or '.', got ''"),
        (3, Named, "'name' must be a string, got 3"),
        ("outer", object, "pass 'outer' must be a dataclass with a method run"),
        ("outer", Named(), "pass 'outer' must be a dataclass with a method run"),
        ("outer", make_dataclass("Idle", []), "pass 'outer' must be a dataclass with a method run"),
        ("outer", type("Plain", (), {"run": Named.run}), "pass 'outer' must be a dataclass with a method run"),
        (
            "outer",
            make_dataclass("Listed", [("to_do", list, None)], namespace={"run": Named.run}),
            "pass 'outer': the field 'to_do' .an option. must be annotated as bool, int or str, but is annotated as",
        ),
        (
            "outer",
            make_dataclass("Lost", [("to_do", "Missing", None)], namespace={"run": Named.run}),
            "pass 'outer': the annotation of a field cannot be resolved: name 'Missing' is not defined",
        ),
    ],
)
def test_what_is_no_pass_is_refused(name: Any, kind: Any, message: str) -> None:
    with pytest.raises(qrt.QuantError, match=message):
        qrt.ir.register_pass(name, kind)
    assert "outer" not in PASSES


def test_a_pass_with_the_name_of_an_option_stands_in_pipelines(capsys: Any, tmp_path: Path) -> None:
    qrt.ir.register_pass("emit", Named)
    (tmp_path / "f.mlir").write_text(TEXT)
    assert main(["opt", str(tmp_path / "f.mlir"), "--pass-pipeline=emit", "--emit=custom"]) == 0
    assert 'mine.text = "x"' in capsys.readouterr().out


def installed(folder: Path, monkeypatch: pytest.MonkeyPatch, entries: str) -> None:
    info = folder / "outer_passes-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outer_passes\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[qrt.passes]\n{entries}\n")
    monkeypatch.syspath_prepend(folder)


def test_an_entry_point_is_found(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    installed(tmp_path, monkeypatch, f"outer-named = {__name__}:Named\nouter-broken = no_such_module:Pass")
    assert {"outer-named", "outer-broken", "cse"} <= {*PASSES}
    assert len(PASSES) == len([*PASSES])
    module = qrt.ir.run_passes(ir.parse(TEXT), "outer-named")
    assert module.functions[0].attributes["mine.text"] == ir.StringAttr("x")
    message = (
        "the pass 'outer-broken' cannot be loaded from the entry point no_such_module:Pass: "
        "No module named 'no_such_module'"
    )
    with pytest.raises(qrt.QuantError, match=message):
        qrt.ir.run_passes(ir.parse(TEXT), "outer-broken")
    with pytest.raises(qrt.errors.ParseError, match="did you mean 'outer-named'"):
        qrt.ir.run_passes(ir.parse(TEXT), "outer-name")
    assert main(["opt", "--list-passes"]) == 0
    listed = capsys.readouterr().out
    assert "--outer-named " in listed
    assert "cannot be loaded" in " ".join(listed.split())
    assert "--cse " in listed


def test_an_entry_point_never_replaces_a_pass(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    installed(tmp_path, monkeypatch, f"cse = {__name__}:Named")
    assert PASSES["cse"] is not Named


def test_known_passes_ask_no_package(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(group: str) -> dict[str, EntryPoint]:
        raise AssertionError("installed packages are asked")

    monkeypatch.setattr(registry, "installed", fail)
    qrt.ir.register_pass("outer-named", Named)
    qrt.ir.run_passes(ir.parse(TEXT), "outer-named,cse,constant-fold")
