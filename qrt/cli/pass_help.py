"""Help texts of passes, for ``qrt opt --help``."""

import textwrap
from dataclasses import MISSING, Field, fields
from inspect import getdoc
from typing import Any

from qrt.errors import QuantError
from qrt.ir.pipeline import PASSES
from qrt.ir.pipeline_text import Pass, option_name, spell_value

_WIDTH, _COLUMN = 100, 30


def listed() -> str:
    """Return the list of all passes, each with the first sentence of its docstring and its options."""
    lines = []
    for name in PASSES:
        try:
            kind = PASSES[name]
        except QuantError as error:  # of an installed package that is broken: the others are listed still
            lines.append(_entry(f"  --{name}", str(error)))
            continue
        summary = " ".join(_text(kind).partition("\n\n")[0].split()).partition(". ")[0].rstrip(".")
        lines += [_entry(f"  --{name}", summary), *map(_option, fields(kind))]
    return "\n".join(lines)


def whole(name: str) -> str:
    """Return the full help of one pass: usage, docstring and options."""
    kind = PASSES[name]
    options = "\n".join(["", "options:", *map(_option, fields(kind))]) if fields(kind) else "\nIt has no options."
    return f"usage: qrt opt --{name}[='OPTION=VALUE ...'] [FILE]\n\n{_text(kind)}\n{options}\n"


def _text(kind: type[Pass]) -> str:
    return getdoc(kind) or ""


def _option(field: "Field[Any]") -> str:
    kind = field.type.__name__ if isinstance(field.type, type) else str(field.type)
    values = "|".join(filter(None, field.metadata.get("choices", ()))) or kind
    default = "" if field.default is MISSING or field.default == "" else f" (default {spell_value(field.default)})"
    text = f"{field.metadata.get('help', '')}: {values}{default}".removeprefix(": ")
    return _entry(f"    {option_name(field)}", text)


def _entry(name: str, text: str) -> str:
    lines = textwrap.wrap(text, _WIDTH - _COLUMN) or [""]
    if len(name) + 2 > _COLUMN:
        lines = ["", *lines]
    first, *rest = lines
    return "\n".join([f"{name:<{_COLUMN}}{first}".rstrip(), *(f"{'':<{_COLUMN}}{line}" for line in rest)])
