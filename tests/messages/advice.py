"""Advice in messages: where qrt gives it, and which tests follow it.

A test is marked ``advises(place, part, ...)`` with the file of qrt and a part of its message, which has ``{}`` for
values. Its fixture ``heard`` runs a call that fails and checks that the message has the part; the test then does what
the message says, with the values that it has, and compares the result with the right one.
"""

import ast
import re
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from qrt.cli import COMMANDS
from qrt.ir.pipeline import PASSES
from tests.docs.documents import ROOT

Test = TypeVar("Test", bound=Callable[..., Any])

_VERBS = (
    "ask|annotate|avoid|bind|build|calibrate|call|cast|change|check|choose|compile|convert|couple|declare|define|delete|"
    "dequantize|drop|enlarge|exclude|export|feed|fill|fix|fold|give|import|include|increase|inline|install|keep|"
    "leave|let|load|lower|measure|mend|merge|move|name|open|pickle|propagate|provide|put|quantize|raise|read|rebuild|"
    "reduce|register|remove|rename|repeat|replace|requantize|reshape|round|save|select|set|shorten|sort|specify|split|"
    "store|swap|transpose|try|turn|use|wrap|write"
)
"""What may begin a clause that tells the reader to do something."""
_WITH_OBJECT = "add|make|pad|pass|run|take"
"""The same, if an object follows: they are names and other forms of verbs too."""
_OBJECTS = r"a|all|an|another|both|each|fewer|it|its|less|more|one|the|them|two|what"
_PASSES = "|".join(sorted(name for name in PASSES if "-" in name))
ADVICE = re.compile(
    rf"(?:^|[:;,(]\s|\b(?:or|and|then)\s)(?:please )?"
    rf"(?:(?:{_VERBS})(?= (?!in place\b|of\b|index\b|bound\b|\())"
    rf"|(?:{_WITH_OBJECT})(?= (?:(?:{_OBJECTS})\b(?! than\b)|\w[\w-]*[={{])))"
    rf"|\bdid you mean\b|(?<!inputs )\binstead\b(?! of)|\bmax_bytes\b(?!'? must\b)|\bsuch as\b|\bpip install\b"
    rf"|(?<![\w-])--(?!help\b)[a-z][a-z-]*(?![\w:]| must\b)|`(?:mlir|pip|qrt)\b"
    rf"|\bqrt (?:{'|'.join(COMMANDS)})\b(?! \[)|(?<![\w-])(?:{_PASSES})\b(?!-| cannot\b)"
)
"""Words that tell the reader to do something: a verb at the beginning of a clause, a command, an option, an example."""
_HELP_CALLS = ("option", "add_argument", "_said", "add_parser")
_HELP_TABLES = ("_COMMANDS", "_FLAGS")
_HELP_FILES = ("ir/passes/options.py", "cli/pass_help.py")
"""Where the texts are that ``--help`` prints, which are no messages."""
ANYWHERE = ""
"""The place of the parts that a test follows wherever a message has them."""
TABLE: dict[tuple[str, str], str] = {}
"""The places and parts of messages that tests follow, with the name of the test."""


def advises(place: str, *parts: str) -> Callable[[Test], Test]:
    """Return a decorator of a test that follows the parts of messages of a file."""

    def enter(test: Test) -> Test:
        enter_parts(place, parts, test.__name__)
        return hears(*parts)(test)

    return enter


def hears(*parts: str) -> Callable[[Test], Test]:
    """Return a decorator of a test that enters its parts into the table itself."""

    def mark(test: Test) -> Test:
        test.parts = [*getattr(test, "parts", ()), *parts]  # type: ignore[attr-defined]
        return test

    return mark


def enter_parts(place: str, parts: tuple[str, ...], name: str) -> None:
    """Put parts of messages into the table."""
    for part in parts:
        TABLE[place, part] = name


def pattern_of(part: str) -> re.Pattern[str]:
    """Return what finds a part of a message, with a group for each value."""
    return re.compile(re.escape(part).replace(r"\{\}", "(.*?)") + ("$" if part.endswith("{}") else ""), re.MULTILINE)


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """Yield (line, text) of the strings of a file that are neither docstrings nor help; values are ``{}``."""
    tree = ast.parse(path.read_text())
    skipped = skipped_strings(tree)
    for node in ast.walk(tree):  # a node comes before its parts
        if isinstance(node, ast.JoinedStr):
            if id(node) not in skipped:
                yield node.lineno, "".join(v.value if isinstance(v, ast.Constant) else "{}" for v in node.values)
            skipped |= {id(part) for part in node.values}
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in skipped:
            yield node.lineno, node.value


def skipped_strings(tree: ast.Module) -> set[int]:
    """Return the identities of the docstrings of a file, and of the strings that ``--help`` prints."""
    skipped: set[int] = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            skipped.add(id(node.value))
        elif (isinstance(node, ast.Call) and called_name(node.func) in _HELP_CALLS) or (
            isinstance(node, ast.Assign) and called_name(node.targets[0]) in _HELP_TABLES
        ):
            skipped |= {id(part) for part in ast.walk(node)}
    return skipped


def called_name(node: ast.expr) -> str:
    """Return the last part of a name, or nothing for another expression."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


@cache
def advice(folder: str) -> list[tuple[str, int, str]]:
    """Return (place, line, text) of the strings of a file or a folder of qrt that advise."""
    root = ROOT / "qrt"
    files = sorted((root / folder).rglob("*.py")) if (root / folder).is_dir() else [root / folder]
    return [
        (place, line, text)
        for file in files
        if (place := file.relative_to(root).as_posix()) not in _HELP_FILES
        for line, text in messages(file)
        if " " in text and ADVICE.search(text)
    ]


def unfollowed(place: str, text: str) -> list[str]:
    """Return the words of advice in a string that lie in no part which a test follows."""
    spans = [span for where, part in TABLE if where in (place, ANYWHERE) for span in spans_of(part, text)]
    words = [(m.end() - len(word := m[0].lstrip(" :;,(")), m.end() - 1, word) for m in ADVICE.finditer(text)]
    return [word for first, last, word in words if not any(a <= at < b for a, b in spans for at in (first, last))]


def spans_of(part: str, text: str) -> list[tuple[int, int]]:
    """Return where the words of a part are in a string of qrt, which may have words where the part has a value."""
    words = ".*?".join(f"({re.escape(piece)})" for piece in part.split("{}"))
    return [span for match in re.finditer(words, text) for span in match.regs[1:]]
