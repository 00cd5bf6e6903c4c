"""The examples of the documents, as they stand in the text, and the rows that are made of declarations."""

import re
from pathlib import Path

from qrt.ir.core.attributes import attribute as _attribute

ROOT = Path(__file__).parents[2]
PAGES = (
    ROOT / "README.md",
    ROOT / "CONTRIBUTING.md",
    *sorted(ROOT.glob("docs/**/*.md")),
    *sorted(ROOT.glob("examples/**/*.md")),
)
DIALECTS = {path.stem: path for path in sorted((ROOT / "docs/reference/dialects").glob("*.md"))}
"""The pages of the dialects by their names, `linalg_products` being the second page of `linalg`, and the index."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(text, language):
    """The fenced blocks of a language."""
    return [body for kind, body in _BLOCK.findall(text) if kind == language]


def word_count(text):
    """The number of words outside of fenced blocks."""
    return len(_BLOCK.sub("", text).split())


def sections(text):
    """Each `## title` with what stands under it."""
    parts = re.split(r"^## (.*)$", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def family_row(declared):
    """The row of an op family in the table of docs/reference/dialects/qrt.md, which `make expected` writes."""
    operands = ", ".join(map(_operand, declared.operands))
    attributes = "; ".join(f"`{each.name}` ({_default(each)})" for each in declared.attributes)
    return f"| `{declared.op}` | {operands} | {attributes or 'none'} | {declared.result.note} |"


def _operand(operand):
    notes = [note for note in (operand.note, "optional" if operand.size == "?" else "") if note]
    return operand.name + "..." * (operand.size == "*") + (f" ({', '.join(notes)})" if notes else "")


def _default(attribute):
    default = attribute.default
    return attribute.note or (str(default) if isinstance(default, float) else _attribute(default).spell(elide=True))
