"""Passes by name: those of qrt, those that a program registers, and those of installed packages."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast, get_type_hints

from qrt.errors import QuantError, QuantTypeError, shown
from qrt.passes.pipeline_text import Pass, option_name

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_NAME = re.compile(r"[a-zA-Z_][\w.-]*")
_OPTION_TYPES = (bool, int, str)


@cache
def _entry_points() -> "dict[str, EntryPoint]":
    """The passes of installed packages."""
    from importlib.metadata import entry_points  # here: it takes longer to import than the passes

    return {entry.name: entry for entry in entry_points(group="qrt.passes")}


class Passes(Mapping[str, type[Pass]]):
    """Passes by name: classes, or where they stand, as ``module:Class``. Installed packages are asked for a name that
    is unknown, and for the list of all names. A module is imported when its pass is looked up: `qrt.compile` runs few
    of the passes, and loading all of them takes longer than compiling."""

    def __init__(self, own: Mapping[str, str]) -> None:
        self._known: dict[str, type[Pass] | str] = dict(own)

    def __getitem__(self, name: str) -> type[Pass]:
        known = self._known.get(name)
        if isinstance(known, type):
            return known
        if known is not None:
            module, _, kind = known.partition(":")
            loaded = checked(name, getattr(import_module(module), kind))
        else:
            entry = _entry_points()[name]
            try:
                loaded = checked(name, entry.load())
            except Exception as error:  # a package of somebody else's may raise anything
                raise QuantError(f"the pass {shown(name)} of {entry.value} does not load: {error}") from error
        self._known[name] = loaded
        return loaded

    def __contains__(self, name: object) -> bool:
        return name in self._known or name in _entry_points()

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys((*self._known, *_entry_points())))

    def __len__(self) -> int:
        return len(self._known.keys() | _entry_points().keys())

    def add(self, name: str, kind: type[Pass] | str) -> None:
        """Adds a pass, or one that is defined again, as a cell of a notebook does that runs twice. QuantError if there
        is another of this name."""
        if _place(self._known.setdefault(name, kind)) != _place(kind):
            raise QuantError(f"there is a pass {shown(name)} already")
        self._known[name] = kind


def _place(kind: type[Pass] | str) -> str:
    """The place of a class: ``module:Class``."""
    return kind if isinstance(kind, str) else f"{kind.__module__}:{kind.__qualname__}"


def checked(name: str, kind: Any) -> type[Pass]:
    """The class of a pass, whose options have types that pipelines know. QuantTypeError if it is none."""
    if not _NAME.fullmatch(name):
        raise QuantTypeError(f"{shown(name)} is no name of a pass: it has letters, digits, '-', '_' and '.'")
    if not isinstance(kind, type) or not is_dataclass(kind) or not callable(getattr(kind, "run", None)):
        raise QuantTypeError(f"pass {shown(name)}: expected a dataclass with a method run(module), got {shown(kind)}")
    try:
        hints = get_type_hints(kind)  # under `from __future__ import annotations` the fields have texts for types
    except NameError as error:
        raise QuantTypeError(f"pass {shown(name)}: {error}") from None
    for field in fields(kind):
        field.type = hints[field.name]
        if field.type not in _OPTION_TYPES:
            raise QuantTypeError(
                f"pass {shown(name)}: option '{option_name(field)}' must be a bool, an int or a str, "
                f"it is annotated as {shown(field.type)}"
            )
    return cast(type[Pass], kind)
