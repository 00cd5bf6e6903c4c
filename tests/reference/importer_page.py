"""What the pages of importers share: the operators that are imported, as their functions describe them, and the tables
of the profiles.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Mapping
from inspect import getdoc
from math import log2
from typing import Any, NamedTuple

from qrt.models.profiles import PROFILES, Profile, Range, Row

Operators = Mapping[str, Callable[..., None]]
Described = list[tuple[list[str], tuple[str, ...]]]
"""Names of operators with the same forms, and the descriptions of these forms."""


class Computation(NamedTuple):
    """A name in the first column of a profile: what it stands for, and the link target that defines its rules.

    ``{rule}`` in the target is the rule's name. ``targets`` has the targets of single rules."""

    text: str
    target: str
    targets: Mapping[str, str] = {}

    def link(self, rule: str) -> str:
        """Return a rule's name with a link to its definition."""
        return f"[`{rule}`]({self.targets.get(rule, self.target).format(rule=rule)})"


Computations = Mapping[str, Computation]


def described(*registries: Operators) -> Described:
    """Return the operators grouped by their import functions in each registry, whose docstrings describe the forms."""
    functions = defaultdict(list)
    for name in dict.fromkeys(name for operators in registries for name in operators):
        functions[tuple(operators.get(name) for operators in registries)].append(name)
    texts = [(sorted(names), tuple(map(_text, key))) for key, names in functions.items()]
    return sorted(texts)


def operators_table(operators: Described, *columns: str) -> str:
    """Return the table of operators, with a column for each registry."""
    rows = "".join(f"| {', '.join(names)} | {' | '.join(texts)} |\n" for names, texts in operators)
    return f"| operator | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}\n{rows}".replace("|  |", "| |")


def computations_table(computations: Computations) -> str:
    """Return the table of the names in the first column of profiles."""
    rows = "".join(f"| `{name}` | {computation.text} |\n" for name, computation in computations.items())
    return f"| computation | operators that use it |\n|---|---|\n{rows}"


def profiles(suffix: str, computations: Computations) -> str:
    """Return the tables of the profiles of the runtimes that read files of a suffix."""
    return "".join(_table(profile, computations) for profile in PROFILES.values() if profile.suffix == suffix)


def conditions(suffix: str) -> set[str]:
    """Return the names in the conditions of these profiles."""
    rows = [row for profile in PROFILES.values() if profile.suffix == suffix for row in profile.rows]
    return {name for row in rows for name in row.when}


def _table(profile: Profile, computations: Computations) -> str:
    rows = "".join(_line(row, computations) for rows in profile.by_op.values() for row in rows)
    title = f"\n### {profile.name}\n\n{profile.runtime}: {profile.description}.\n\n"
    return f"{title}| computation | conditions | rule | kernel |\n|---|---|---|---|\n{rows}"


def _line(row: Row, computations: Computations) -> str:
    when = ", ".join(_condition(name, value) for name, value in row.when.items()) or "none"
    return f"| `{row.op}` | {when} | {computations[row.op].link(row.rule)} | {row.kernel} |\n"


def _condition(name: str, value: Any) -> str:
    if isinstance(value, bool):
        return f"`{name}`" if value else f"not `{name}`"
    if isinstance(value, Range):
        low, high = _number(value.low), _number(value.high)
        return f"`{name}` < {high}" if value.low == 0 else f"{low} <= `{name}` < {high}"
    values = value if isinstance(value, tuple) else (value,)
    return f"`{name}` is " + " or ".join("absent" if value is None else _number(value) for value in values)


def _number(value: Any) -> str:
    """Return a condition's value; a power of two as such, because its digits would be cut."""
    if isinstance(value, float) and value > 0 and log2(value).is_integer():
        return f"2^{int(log2(value))}"
    return str(value)


def _text(function: Callable[..., None] | None) -> str:
    """Return a function's docstring in one line, without "Import NAME: " at its beginning."""
    text = " ".join((getdoc(function) or "").split()).replace("|", "\\|") if function else ""
    text = re.sub(r"^Import [^.:]*: ", "", text)
    return text[:1].upper() + text[1:]
