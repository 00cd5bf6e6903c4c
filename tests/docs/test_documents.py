"""Python and commands that the documents show do run; links point at files."""

import re
import shlex
from dataclasses import fields

import numpy as np
import pytest

from qrt.cli import main
from qrt.execute.passes import PASSES
from tests.docs.documents import PAGES, ROOT, blocks, commands

TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text() for page in PAGES}
DIGITS = ROOT / "examples" / "digits"
LOWERING = "examples/lowering/conv2d.mlir"
PYTHON = [(name, code) for name, text in TEXTS.items() for code in blocks(text, "python")]
COMMANDS = [(name, line) for name, text in TEXTS.items() for line in commands(text)]


@pytest.mark.parametrize(("name", "code"), PYTHON)
def test_python_runs(name, code):
    exec(compile(code, name, "exec"), {})


@pytest.mark.parametrize(("name", "line"), COMMANDS)
def test_commands_run(name, line, tmp_path, monkeypatch):
    """In a folder that holds the examples' programs, the demo's as `f.mlir` too, and images for it."""
    folder = tmp_path / "examples" / "digits"
    folder.mkdir(parents=True)
    for place in (folder / "digits.mlir", tmp_path / "f.mlir"):
        place.write_text((DIGITS / "digits.mlir").read_text())
    (tmp_path / "examples" / "lowering").mkdir()
    (tmp_path / LOWERING).write_text((ROOT / LOWERING).read_text())
    np.save(tmp_path / "images.npy", np.zeros((2, 8, 8, 1), np.float32))
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(line)[1:]) == 0


@pytest.mark.parametrize("name", TEXTS)
def test_links_point_at_files(name):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXTS[name]):
        assert (ROOT / name).parent.joinpath(target).exists(), target


def test_the_table_of_passes_has_every_pass_and_option():
    """With the defaults, as the command line takes them: an option that only the code knows would be missing here."""
    table = TEXTS["docs/reference/passes.md"].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    shown = {name.strip(" `"): dict(re.findall(r"`([\w-]+)` \(([\w-]+)\)", options)) for name, options in rows}
    assert shown == {
        name: {field.name.replace("_", "-"): str(field.default).lower() or "none" for field in fields(kind)}
        for name, kind in PASSES.items()
    }
