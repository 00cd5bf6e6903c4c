"""A comment or docstring that names a file of the repository names one that exists. Hazard: a file that has moved."""

import re
from pathlib import Path

import pytest

from tests.docs.documents import ROOT

FOLDERS = ("qrt", "csrc", "benches", "tests", "examples")
SUFFIXES = (".py", ".pyi", ".pyx", ".pxd", ".pxi", ".c", ".h", ".inl", ".def")
NAMED = re.compile(
    r"(?<![\w<>*{}$.%/-])((?:[\w-]+/)*[\w-]+\.(?:md|c|h|inl|def|pyx|pxi|pxd|toml))\b(?![\w\"'(]|\.[a-z])"
)
C_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
PYTHON_COMMENT = re.compile(r'"""(?:[^"\\]|\\.|"(?!""))*"""|#[^\n]*')


def sources() -> list[Path]:
    """What is written by hand: Cython's C stands beside a .pyx."""
    found = [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES]
    return [path for path in found if not path.with_suffix(".pyx").exists() or path.suffix != ".c"]


FILES = {path.relative_to(ROOT).as_posix() for path in ROOT.glob("*") if path.is_file()} | {
    path.relative_to(ROOT).as_posix() for folder in (*FOLDERS, "docs") for path in (ROOT / folder).rglob("*")
}
SECTION = re.compile(r'(docs/[\w/-]+\.md), "([^"]+)"')
SYSTEM = {"stdint.h", "cpuid.h"}


def cited(path: Path) -> set[str]:
    pattern = C_COMMENT if path.suffix in (".c", ".h", ".inl", ".def") else PYTHON_COMMENT
    return {name for comment in pattern.findall(path.read_text()) for name in NAMED.findall(comment)} - SYSTEM


@pytest.mark.parametrize("folder", FOLDERS)
def test_files_that_comments_name_exist(folder: str) -> None:
    names = {name: path for path in sources() if path.is_relative_to(ROOT / folder) for name in cited(path)}
    lost = {
        f"{path.relative_to(ROOT)}: {name}"
        for name, path in names.items()
        if not any(file == name or file.endswith(f"/{name}") for file in FILES)
    }
    assert not lost, sorted(lost)


def test_sections_that_comments_name_exist() -> None:
    named = {pair for path in sources() for pair in SECTION.findall(re.sub(r"\s+", " ", path.read_text()))}
    titles = {page: re.findall(r"^#+ (.*)$", (ROOT / page).read_text(), re.MULTILINE) for page, _ in named}
    assert named
    assert {(page, title) for page, title in named if title not in titles[page]} == set()
