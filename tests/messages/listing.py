"""The list of all messages of qrt, `all.txt`, which `python -m tests.expected` writes from the sources.

A line has a file and a message as the source spells it, with the expressions of f-strings in braces. Messages are the
strings in errors, warnings, remarks and diagnostics, and other text of several words that a caller may see: reasons,
hints and parts of messages. Line numbers are left out, so that the list changes only when a message does.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.docs.documents import ROOT
from tests.messages.advice import called_name, skipped_strings

PATH = Path(__file__).parent / "all.txt"
_CALLS = re.compile(
    r"(?:\w*Error|\w*Warning|Diagnostic|UnsupportedForm|error|error_at|fail|failure|misfit|refuse|reject|remark|require|"
    r"unsupported|warn)$"
)
"""The calls whose strings are messages, however short."""
_IS_TEXT = re.compile(r"[A-Za-z][\w'\")}\]]*[:,;)]* (?:[a-z({'\"]|.*\b[a-z]{2,}\b)")
_NO_MESSAGE = re.compile(
    r"attr-dict|`:`|^[A-Z].*\.$|^\s*[\w ]*$(?<=\n)|^\n|^\s*(?:\d+ \w+ )|^<|</|\\[wd(]|^\w+(?:_\w+)* -> \d$"
    r"|^\w+\.\w+: \w+$"
)
"""Assembly formats, rows of the reference, tables of names, HTML, patterns, and places of functions."""
_NO_MESSAGES = (
    "qrt/ir/core/registry.py",
    "qrt/ir/dialects/linalg/named.py",
    "qrt/models/onnx/exporting/registry.py",
    "qrt/models/onnx/protobuf.py",
    "qrt/models/onnx/registry.py",
    "qrt/models/tflite/operands.py",
    "qrt/models/tflite/schema.py",
    "qrt/quantization/report/html.py",
    "qrt/quantization/report/svg.py",
    "qrt/tensor/docstrings.py",
    "qrt/tensor/html.py",
)
"""Files whose other strings are tables of names, schemas, docstrings or HTML: their messages are in calls."""
_NATIVE = re.compile(r'(?<![\w"])f?"((?:[^"\\\n]|\\.)*)"(?!")')
"""A string of one line in Cython."""


def page() -> str:
    """Return the text of the list."""
    python = ((path, message) for path in sorted((ROOT / "qrt").rglob("*.py")) for message in messages(path))
    native = (
        (path, message)
        for suffix in ("pyx", "pxi")
        for path in (ROOT / "qrt").rglob(f"*.{suffix}")
        for message in native_messages(path)
    )
    lines = {f"{path.relative_to(ROOT).as_posix()}: {_one_line(text)}" for path, text in (*python, *native)}
    return "".join(f"{line}\n" for line in sorted(lines))


def messages(path: Path) -> Iterator[str]:
    """Yield the messages of a Python file."""
    tree = ast.parse(path.read_text())
    skipped = skipped_strings(tree)
    in_calls = {
        id(part)
        for node in ast.walk(tree)
        if isinstance(node, ast.Call) and _CALLS.match(called_name(node.func))
        for argument in (*node.args, *(keyword.value for keyword in node.keywords))
        for part in ast.walk(argument)
    }
    has_prose = path.relative_to(ROOT).as_posix() not in _NO_MESSAGES
    for node in ast.walk(tree):  # a node comes before its parts
        if not isinstance(node, ast.JoinedStr | ast.Constant) or id(node) in skipped:
            continue
        text = template(node)
        if isinstance(node, ast.JoinedStr):
            skipped |= {id(part) for part in ast.walk(node)}
        if text and (
            (id(node) in in_calls and " " in text)
            or (has_prose and _IS_TEXT.search(text) and not _NO_MESSAGE.search(text))
        ):
            yield text


def template(node: ast.expr) -> str:
    """Return a string as the source spells it: the expressions of an f-string in braces."""
    if isinstance(node, ast.JoinedStr):
        return "".join(map(template, node.values))
    if isinstance(node, ast.FormattedValue):
        conversion = "" if node.conversion < 0 else f"!{chr(node.conversion)}"
        spelling = "" if node.format_spec is None else f":{template(node.format_spec)}"
        return f"{{{ast.unparse(_WithoutFStrings().visit(node.value))}{conversion}{spelling}}}"
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else ""


class _WithoutFStrings(ast.NodeTransformer):
    """Replaces f-strings by plain strings, as `ast.unparse` quotes them differently from version to version."""

    def visit_JoinedStr(self, node: ast.JoinedStr) -> ast.Constant:
        return ast.Constant(template(node))


def native_messages(path: Path) -> Iterator[str]:
    """Yield the messages of a Cython file."""
    text = re.sub(r'"""[\s\S]*?"""|#.*', "", path.read_text())
    text = re.sub(r'"\n\s+f?"', "", text)  # a string on two lines is one
    for match in _NATIVE.finditer(text):
        if _IS_TEXT.search(match[1]):
            yield match[1]


def _one_line(text: str) -> str:
    return text.strip().replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
