"""How csrc/ is cut into files. Hazards: a file or a folder that nobody reads from end to end; a template that takes a
macro from the file that includes it and, where that lacks it, fails far from where it should be given."""

import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

from tests.kernels.compiled import CSRC

FILES = {path: path.read_text() for path in sorted(CSRC.rglob("*")) if path.suffix in (".c", ".h", ".inl", ".def")}
TEMPLATES = [path for path in FILES if path.suffix == ".inl" and CSRC / "isa" / "x86" in path.parents]
MOST_LINES, MOST_FILES = 400, 15


def test_no_file_is_longer_than_400_lines() -> None:
    lines = {str(path.relative_to(CSRC)): text.count("\n") for path, text in FILES.items()}
    assert len(lines) > 50
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_has_more_than_15_files() -> None:
    files = Counter(str(path.parent.relative_to(CSRC)) for path in FILES)
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


@cache
def includes(path: Path) -> list[tuple[int, Path]]:
    """Where a file includes which files of csrc/."""
    found = re.finditer(r'^#include "(.+)"$', FILES[path], re.MULTILINE)
    return [
        (each.start(), file)
        for each in found
        for folder in (path.parent, CSRC, CSRC / "include")
        if (file := folder / each[1]) in FILES
    ]


@cache
def reached(path: Path) -> set[Path]:
    """A file and all that it includes."""
    return {path}.union(*(reached(file) for _, file in includes(path)))


def macros_for(template: Path) -> set[str]:
    """The macros that every file which includes a template defines before, and that it names. What one of them gives as
    a function is looked for by the compiler."""
    names = set(re.findall(r"\w+", re.sub(r"/\*.*?\*/|//.*", "", FILES[template], flags=re.DOTALL)))
    given = [
        set(re.findall(r"^#define (\w+)", text[:place], re.MULTILINE))
        for path, text in FILES.items()
        for place, file in includes(path)
        if template in reached(file)
    ]
    return set.intersection(*given) & names if given else set()


def test_a_macro_that_the_includer_gives_is_found() -> None:
    assert macros_for(CSRC / "isa" / "x86" / "gemm" / "tile512.inl") >= {"KU"}


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: "/".join(path.parts[-2:]))
def test_a_template_stops_where_a_macro_lacks(template: Path) -> None:
    """Each macro that an includer gives has an `#ifndef` with an `#error`, unless the template works without it."""
    text = "".join(FILES[path] for path in reached(template))
    guards = re.findall(r"^#if(.*(?:\\\n.*)*)\n *# *error ", text, re.MULTILINE)  # ndef X, or !defined(X) || ...
    guarded = {word for guard in guards for word in re.findall(r"\w+", guard)}
    own = set(re.findall(r"^ *# *define (\w+)", text, re.MULTILINE))
    optional = set(re.findall(r"^#ifdef (\w+)", text, re.MULTILINE))
    assert macros_for(template) - guarded - own - optional == set()
