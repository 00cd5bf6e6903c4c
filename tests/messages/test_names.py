"""Every name that a message says exists: functions of qrt and NumPy, options of the command line, keywords, passes and
extras. Hazard: advice about a name that was renamed, or never was."""

import ast
import inspect
import re
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

import qrt
from qrt.cli import COMMANDS
from qrt.cli.parser import VerbParser
from qrt.ir.pipeline import PASSES
from tests.docs.documents import ROOT

HOLE = "\0"
"""What stands for a value in an f-string."""
_NOT_ADVICE = ("qrt/models/onnx/exporting/registry.py", "qrt/quantization/report/html.py")
"""Lists of operations, and style sheets."""
_ATTRIBUTES = {"qrt.name"}
"""Attributes of the IR."""
_FILES = {"import_model": "import"}


def texts(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the strings that are no docstrings."""
    skipped: set[int] = set()
    for node in ast.walk(ast.parse(path.read_text())):  # a node comes before its parts
        if isinstance(node, ast.Expr):
            skipped.add(id(node.value))
        elif isinstance(node, ast.JoinedStr) and id(node) not in skipped:
            skipped |= {id(part) for part in node.values}
            yield node.lineno, "".join(part.value if isinstance(part, ast.Constant) else HOLE for part in node.values)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


@cache
def strings() -> list[tuple[str, str]]:
    """Return (file and line, text) of the strings of several words in qrt."""
    places = ((path.relative_to(ROOT).as_posix(), path) for path in sorted((ROOT / "qrt").rglob("*.py")))
    return [
        (f"{place}:{line}", text)
        for place, path in places
        if place not in _NOT_ADVICE
        for line, text in texts(path)
        if " " in text
    ]


def messages(pattern: str) -> list[tuple[str, str]]:
    """Return (file and line, what the pattern's group matches) for all strings."""
    return [(place, match[1]) for place, text in strings() for match in re.finditer(pattern, text)]


def unknown(pattern: str, is_known: Callable[[str, str], bool], least: int) -> list[tuple[str, str]]:
    """Return the matches that are not known; there must be ``least`` matches, or the pattern has rotted."""
    matches = messages(pattern)
    assert len(matches) >= least
    return [(place, name) for place, name in matches if not is_known(place, name)]


def resolve(path: str) -> bool:
    """Whether a dotted name is an attribute, or a module."""
    module: Any = {"np": np, "qrt": qrt}[path.split(".")[0]]
    for name in path.split(".")[1:]:
        if not hasattr(module, name):
            try:
                import_module(f"{module.__name__}.{name}")
            except (ImportError, AttributeError):
                return False
        module = getattr(module, name)
    return True


def test_functions_exist() -> None:
    names = r"(?<![\w.!/])((?:qrt|np)\.[A-Za-z_][\w.]*\w)(?![\w.\0*-])"
    assert not unknown(names, lambda _, name: name in _ATTRIBUTES or resolve(name), 60)


def options_of(verb: str) -> set[str]:
    """Return the options that a verb takes."""
    parser = VerbParser()
    file = next((file for file, name in _FILES.items() if name == verb), verb)
    import_module(f"qrt.cli.{file}").add_arguments(parser)
    return {option for action in parser._actions for option in action.option_strings}


OPTIONS = {verb: options_of(verb) for verb in COMMANDS}


def test_options_of_the_command_line_exist() -> None:
    """In the file of a verb they are options of that verb, unless the message names another."""

    def is_known(place: str, words: str) -> bool:
        command, _, option = words.rpartition(" ")
        if command == "pip install":
            return option in {"--editable"}
        named = command.removeprefix("qrt ")
        verb = named or _FILES.get(stem := place.rpartition("/")[2].partition(".py")[0], stem)
        verbs = [verb] if verb in COMMANDS and (named or place.startswith("qrt/cli/")) else list(COMMANDS)
        return any(option in OPTIONS[verb] for verb in verbs)

    assert not unknown(r"(?<![\w-])((?:qrt [a-z-]+ |pip install )?--[a-z][\w-]*\w)(?![\w\0-])", is_known, 20)


def test_verbs_of_the_command_line_exist() -> None:
    def is_known(_: str, command: str) -> bool:
        words = command.split()
        return words[0] in COMMANDS and all(word in OPTIONS[words[0]] for word in words if word.startswith("-"))

    assert not unknown(r"`qrt ([^`]+)`", is_known, 3)


def keywords() -> set[str]:
    """Return the parameters of what qrt exports, of its methods, and the names of NumPy's that messages know."""
    known = set()
    for module in (qrt, qrt.errors, qrt.ir, qrt.models, qrt.quantization, qrt.quantization.targets, qrt.runtime):
        for name in module.__all__:
            value = getattr(module, name)
            members = [value, *(vars(value).values() if inspect.isclass(value) else ())]
            for member in members:
                if callable(member):
                    try:
                        known |= set(inspect.signature(member).parameters)
                    except (TypeError, ValueError):
                        continue
    return known


def test_keywords_exist() -> None:
    numpy_names = {"dtype", "method", "like"}
    known = keywords() | numpy_names
    advice = r"(?:give|write|use|set|without|leave out|leave|out:) (\w+) ?=(?=[\w'\"\0\[ ])"
    assert not unknown(advice, lambda _, name: name in known, 6)


def test_passes_exist() -> None:
    known = set(PASSES)
    assert not unknown(r"(?:\brun|\bthe pass|\bpasses) ([a-z]+(?:-[a-z0-9]+)+)", lambda _, name: name in known, 2)


def test_extras_exist() -> None:
    known = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    source = "".join(path.read_text() for path in (ROOT / "qrt").rglob("*.py"))
    named = re.findall(r"\b(?:extra|require_installed)\(\s*\"[\w.]+\",\s*\"(\w+)\"", source) + re.findall(
        r"qrt\[(\w+)\]", source
    )
    assert len(named) > 5
    assert not set(named) - set(known)
