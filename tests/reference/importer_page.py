"""What the pages of importers share: the operators that are imported, as their functions describe them, and the tables
of the profiles.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from inspect import getdoc
from typing import Any

from qrt.models.profiles import PROFILES, Profile, Range, Row

Operators = Mapping[str, Callable[..., None]]


def page(head: str, tables: str, operators: Operators, suffix: str) -> str:
    """A page of a beginning, the table of operators, and the profiles of the runtimes that read files of a suffix."""
    rows = "".join(f"| {', '.join(names)} | {_cell(text)} |\n" for names, text in described(operators))
    profiles = "".join(_table(each) for each in PROFILES.values() if each.suffix == suffix)
    return f"{head}| operator | forms |\n|---|---|\n{rows}{tables}{profiles}"


def described(operators: Operators) -> list[tuple[list[str], str]]:
    """Return the names of the operators that each function imports, and its docstring without "Import NAME: "."""
    functions = defaultdict(list)
    for name, function in operators.items():
        functions[function].append(name)
    return sorted((sorted(names), _forms(getdoc(function) or "")) for function, names in functions.items())


def _forms(text: str) -> str:
    text = re.sub(r"^Import [^.:]*: ", "", text)
    return f"{text[:1].upper()}{text[1:]}"


def _table(profile: Profile) -> str:
    rows = "".join(_line(row) for rows in profile.by_op.values() for row in rows)
    title = f"\n### {profile.name}\n\n{profile.runtime}: {profile.description}.\n\n"
    return f"{title}| op | where | rule | kernel |\n|---|---|---|---|\n{rows}"


def _line(row: Row) -> str:
    where = ", ".join(f"{name} {_condition(value)}" for name, value in row.when.items())
    return f"| {row.op} | {where} | `{row.rule}` | {row.kernel} |\n"


def _condition(value: Any) -> str:
    if isinstance(value, Range):
        return str(value)
    if isinstance(value, tuple):
        return "is " + " or ".join("absent" if each is None else str(each) for each in value)
    return f"is {value}"


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")
