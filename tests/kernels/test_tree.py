"""How csrc/ is cut into files. Hazards: a file or a folder that nobody reads from end to end; files that call each
other in a circle, so that none can be read first; a template that takes a macro from the file that includes it and,
where that lacks it, fails far from where it should be given."""

import re
from collections import Counter
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from tests.kernels.compiled import CSRC

FILES = {path: path.read_text() for path in sorted(CSRC.rglob("*")) if path.suffix in (".c", ".h", ".inl", ".def")}
TEMPLATES = [path for path in FILES if path.suffix == ".inl" and CSRC / "isa" / "x86" in path.parents]
MOST_LINES, MOST_FILES = 400, 15


def without_comments(text: str) -> str:
    return re.sub(r"/\*.*?\*/|//.*", "", text, flags=re.DOTALL)


def test_no_file_is_longer_than_400_lines() -> None:
    lines = {str(path.relative_to(CSRC)): text.count("\n") for path, text in FILES.items()}
    assert len(lines) > 50
    assert {path: count for path, count in lines.items() if count > MOST_LINES} == {}


def test_no_folder_has_more_than_15_files() -> None:
    files = Counter(str(path.parent.relative_to(CSRC)) for path in FILES)
    assert {folder: count for folder, count in files.items() if count > MOST_FILES} == {}


def functions_defined(text: str) -> set[str]:
    """Names of the functions that a C file defines for other files."""
    return set(re.findall(r"^(?!static\b)[a-z][\w ]*[ *](qrt_\w+)\([^;{]*\{$", text, re.MULTILINE))


def files_called(folder: Path) -> dict[Path, set[Path]]:
    """For each C file of a folder the other files of it that define what it names, pointers to functions included."""
    texts = {
        path: without_comments(text) for path, text in FILES.items() if path.suffix == ".c" and folder in path.parents
    }
    owner = {name: path for path, text in texts.items() for name in functions_defined(text)}
    return {
        path: {owner[name] for name in re.findall(r"\bqrt_\w+", text) if name in owner} - {path}
        for path, text in texts.items()
    }


def test_files_of_the_core_call_each_other_in_no_circle() -> None:
    calls = files_called(CSRC / "core")
    assert CSRC / "core/gemm/gemm_split.c" in calls[CSRC / "core/gemm/gemm.c"]
    assert sum(map(len, calls.values())) > 40
    assert list(TopologicalSorter(calls).static_order())


def test_calls_in_a_circle_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    split = CSRC / "core/gemm/gemm_split.c"
    monkeypatch.setitem(FILES, split, FILES[split].replace("qrt_narrow_run(&call", "qrt_gemm(&call"))
    with pytest.raises(CycleError):
        TopologicalSorter(files_called(CSRC / "core")).prepare()


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
    names = set(re.findall(r"\w+", without_comments(FILES[template])))
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
