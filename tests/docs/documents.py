"""The examples of the documents, as they stand in the text."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
)
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_COMMAND = re.compile(r"^    (qrt .*)$", re.MULTILINE)


def blocks(text, language):
    """The fenced blocks of a language."""
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


def commands(text):
    """The indented lines that run `qrt`."""
    return _COMMAND.findall(text)


def sections(text):
    """Each `## title` with what stands under it."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))
