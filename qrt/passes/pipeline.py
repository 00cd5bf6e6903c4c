"""Pipelines from text: `a,b{option=value flag},builtin.module(func.func(c))`."""

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Protocol

from qrt.errors import QuantTypeError
from qrt.ir import Module
from qrt.text import Scanner, Source, pattern

_NAME = pattern(r"([a-zA-Z_][\w.-]*)")
_VALUE = pattern(r"((?:[^\s{}]|\{[^{}]*\})+)")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Pass(Protocol):
    """What a pass is to a pipeline. A class attribute `UPSTREAM` holds the options with which it does what upstream's
    pass does, where those are not the defaults."""

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def run(self, module: Module) -> None:
        """Transform the module in place. Raises a QuantError, the module then being in an unknown state."""
        ...


def parse_pipeline(text: str, passes: Mapping[str, type[Pass]], strict_upstream: bool = False) -> list[Pass]:
    """The passes a text names, in order. An op name, or `any`, with parentheses nests; passes choose their own
    operations, so nesting only groups. ParseError at a name, an option or a value that does not exist.

    With `strict_upstream`, options that are not given are upstream's."""
    scanner = Scanner(Source(text, "<pipeline>"))
    found: list[Pass] = []
    if not scanner.at_end():
        _sequence(scanner, passes, found, strict_upstream)
        if not scanner.at_end():
            raise scanner.error("expected ',' or the end of the pipeline")
    return found


def _sequence(scanner: Scanner, passes: Mapping[str, type[Pass]], found: list[Pass], strict_upstream: bool) -> None:
    with scanner.nested():
        while True:
            start = scanner.skip()
            match = scanner.match(_NAME)
            if match is None:
                raise scanner.error("expected a pass name")
            name = match[1]
            if scanner.accept("("):
                if "." not in name and name != "any":
                    raise scanner.error(f"'{name}' is no operation to nest passes in", start, match.end())
                if not scanner.at(")"):
                    _sequence(scanner, passes, found, strict_upstream)
                scanner.expect(")", " after nested passes")
            elif name not in passes:
                known = ", ".join(sorted(passes))
                raise scanner.error(f"unknown pass '{name}'; known: {known}", start, match.end())
            else:
                kind = passes[name]
                options = {**getattr(kind, "UPSTREAM", {})} if strict_upstream else {}
                try:
                    found.append(kind(**(options | _options(scanner, name, kind))))
                except QuantTypeError as error:
                    raise scanner.error(f"pass '{name}': {error}", start, scanner.pos) from None
            if not scanner.accept(","):
                return


def _options(scanner: Scanner, name: str, kind: type[Pass]) -> dict[str, Any]:
    known = {field.name.replace("_", "-"): field for field in fields(kind)}
    options: dict[str, Any] = {}
    if scanner.accept("{"):
        while not scanner.accept("}"):
            start = scanner.skip()
            match = scanner.match(_NAME)
            if match is None:
                raise scanner.error("expected an option name or '}'")
            field = known.get(match[1])
            if field is None:
                has = ", ".join(known) or "none"
                raise scanner.error(f"pass '{name}' has no option '{match[1]}'; it has {has}", start, match.end())
            options[field.name] = _value(scanner, match[1], field.type) if scanner.accept("=") else True
            if options[field.name] is True and field.type is not bool:
                raise scanner.error(f"option '{match[1]}' needs a value", start, match.end())
    missing = [key for key, f in known.items() if f.name not in options and f.default is MISSING]
    if missing:
        raise scanner.error(f"pass '{name}' needs its option '{missing[0]}'")
    return options


def _value(scanner: Scanner, option: str, kind: Any) -> Any:
    start = scanner.skip()
    match = scanner.match(_VALUE)
    text = match[1] if match is not None else ""
    if kind is bool and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind is str and text:
        return text
    if kind is int and text.lstrip("-").isdecimal():
        return int(text)
    raise scanner.error(f"option '{option}' takes a value of type {kind.__name__}", start, max(scanner.pos, start + 1))
