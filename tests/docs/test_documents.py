"""Python and commands that the documents show do run; links point at files."""

import re
import shutil
import sys
from dataclasses import fields
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest

from qrt.cli import COMMANDS
from qrt.ir.pipeline import PASSES
from tests.docs.documents import PAGES, ROOT, blocks, word_count
from tests.docs.tree import Tree
from tests.docs.walkthrough import CheckoutWalk, Walk, steps
from tests.registries import restored_registries

TEXTS = {page.relative_to(ROOT).as_posix(): page.read_text() for page in PAGES}
OF_CHECKOUT = {name for name in TEXTS if name == "README.md" or name.startswith("examples/")}
"""Pages that are read at the root of a checkout. All others run in an empty folder."""
MAKEFILE = (ROOT / "Makefile").read_text()
CHECKOUT = "docs/tutorials/writing_a_pass.md"
BUILT = "docs/tutorials/adding_a_kernel.md"
"""Pages that change the repository: what they say is done in a copy of it. tests/kernels/test_new_isa.py does the one
that has to be built."""


def test_the_readme_prints_what_it_says(capsys):
    (code,) = blocks(TEXTS["README.md"], "python")
    exec(compile(code, "README.md", "exec"), {})
    comments = re.findall(r"^print\(.*\)  # (.*)$", code, re.MULTILINE)
    assert len(comments) == code.count("print(")
    assert capsys.readouterr().out.splitlines() == comments


@pytest.mark.parametrize("name", ["README.md", "docs/index.md"])
def test_first_pages_need_no_file(name, tmp_path, monkeypatch):
    """Hazard: a command that a reader cannot repeat, because a file that it reads does not exist."""
    monkeypatch.chdir(tmp_path)
    walk = Walk(name, MAKEFILE)
    for step in steps(TEXTS[name]):
        walk.do(step)


def test_the_readme_is_read_in_a_minute():
    """Hazard: a first page that is longer than a reader's patience."""
    assert len(re.sub(r"\]\([^)]*\)", "", TEXTS["README.md"]).split()) < 500
    assert TEXTS["README.md"].count("![") == 1
    assert {"make demo", "make test"} <= {step.text for step in steps(TEXTS["README.md"])}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Change to an empty folder, and forget the modules and definitions that a page adds."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    modules = {*sys.modules}
    with restored_registries():
        yield tmp_path
    for module in [name for name in {*sys.modules} - modules if Path(f"{name}.py").exists()]:
        del sys.modules[module]


@pytest.mark.parametrize("name", [name for name in TEXTS if name not in (CHECKOUT, BUILT) and steps(TEXTS[name])])
def test_a_page_does_what_it_says(name, folder):
    """In a folder that is empty, but for the programs of the examples where the page is one of a checkout."""
    if name in OF_CHECKOUT:
        shutil.copytree(ROOT / "examples", folder / "examples", ignore=shutil.ignore_patterns("*.py", "__pycache__"))
    if name == "README.md":
        np.save("images.npy", np.zeros((2, 8, 8, 1), np.float32))
    walk = Walk(name, MAKEFILE)
    for step in steps(TEXTS[name]):
        walk.do(step)


def test_a_page_that_changes_the_sources_does_what_it_says(tmp_path, monkeypatch):
    Tree(tmp_path)
    monkeypatch.chdir(tmp_path)
    walk = CheckoutWalk(CHECKOUT, MAKEFILE)
    for step in steps(TEXTS[CHECKOUT]):
        walk.do(step)


def test_c_that_is_shown_stands_in_the_sources():
    """But for files that are to be written. Hazard: a contract that has changed since."""
    sources = "".join(path.read_text() for path in (ROOT / "csrc").rglob("*") if path.is_file())
    shown = [step.text for step in steps(TEXTS[BUILT]) if step.kind == "c" and step.path is None]
    assert shown
    assert not [text for text in shown if text not in sources]


@pytest.mark.parametrize("name", [name for name in TEXTS if name.startswith(("docs/tutorials", "docs/howto"))])
def test_a_page_is_short(name):
    least, most = (100, 500) if name.startswith("docs/howto") else (250, 1500)
    assert least <= word_count(TEXTS[name]) <= most


@pytest.mark.parametrize("name", TEXTS)
def test_commands_in_sentences_exist(name):
    """They are not run: some take minutes. Hazard: a target or a module that has another name now."""
    walk = Walk(name, MAKEFILE)
    for program, words in re.findall(r"`(make|python -m|qrt) ([a-z][^`]*)`", TEXTS[name]):
        first, *others = words.split()
        if program == "make":
            assert {first, *(word for word in others if re.fullmatch(r"[a-z-]+", word))} <= walk.targets, words
        elif program == "qrt":
            assert first in COMMANDS, words
        else:
            assert find_spec(first) is not None, words


@pytest.mark.parametrize("name", TEXTS)
def test_links_point_at_files(name):
    for target in re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", TEXTS[name]):
        assert (ROOT / name).parent.joinpath(target).exists(), target


@pytest.mark.parametrize("name", TEXTS)
def test_c_files_that_are_named_exist(name):
    """Links are few among them: most are words in the text."""
    made = {step.path for step in steps(TEXTS[name])}
    for path in re.findall(r"(?:csrc/|\b)((?:core|isa|ref)/[\w/]+\.(?:c|h|inl))\b", TEXTS[name]):
        assert (ROOT / "csrc" / path).exists() or f"csrc/{path}" in made, path


@pytest.mark.parametrize("name", TEXTS)
def test_make_knows_what_is_asked_of_it(name):
    targets = set(re.findall(r"^([\w-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    asked = re.findall(r"(?:`|^    )make ((?: ?[a-z][a-z-]+\b(?!=))+)", TEXTS[name], re.MULTILINE)
    assert {target for line in asked for target in line.split()} <= targets


def test_the_table_of_passes_has_every_pass_and_option():
    """With the defaults, as the command line takes them: an option that only the code knows would be missing here."""
    table = TEXTS["docs/reference/passes.md"].partition("\n## ")[0]
    rows = [line.split("|")[1:3] for line in table.splitlines() if line.startswith("| `")]
    shown = {name.strip(" `"): dict(re.findall(r"`([\w-]+)` \(([\w-]+)\)", options)) for name, options in rows}
    assert shown == {
        name: {field.name.replace("_", "-"): str(field.default).lower() or "none" for field in fields(kind)}
        for name, kind in PASSES.items()
        if not name.startswith("mine-")  # an example registers it, perhaps in this process
    }
