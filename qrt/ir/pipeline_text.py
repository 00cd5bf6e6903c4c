"""Parser and printer of pipeline texts: `a,b{option=value flag},builtin.module(func.func(c))`.

A value with spaces or braces is quoted, with escapes as in JSON.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import MISSING, Field, dataclass, fields
from typing import Any, ClassVar, Protocol

from qrt.errors import QuantTypeError, nearest
from qrt.ir.module import Module
from qrt.types.scanner import Scanner, Source, pattern

_NAME = pattern(r"([a-zA-Z_][\w.-]*)")
_VALUE = pattern(r"((?:[^\s{}]|\{[^{}]*\})+)")
_QUOTED = pattern(r'("(?:[^"\\]|\\.)*")')
_PLAIN = re.compile(r"""[^\s{}"]*""")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}
_KINDS = {bool: "true or false", int: "an integer", str: "a text, in double quotes if it has spaces or braces"}


class Pass(Protocol):
    """Interface of a pass.

    A pass whose option defaults differ from upstream MLIR has the class attribute `UPSTREAM`. This dict holds the
    option values with which the pass behaves as upstream's pass of the same name.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def run(self, module: Module) -> None:
        """Transform the module in place. If it raises a QuantError, the module is in an undefined state."""
        ...


@dataclass(frozen=True)
class PipelineStep:
    """A pass with its options, and its name in the pipeline."""

    name: str
    action: Pass


@dataclass(frozen=True)
class NestedPipeline:
    """Steps nested in operations of one op name, the anchor: `func.func(cse)`."""

    anchor: str
    steps: "list[PipelineStep | NestedPipeline]"


Steps = Sequence[PipelineStep | NestedPipeline]


def parse_steps(
    text: str, passes: Mapping[str, type[Pass]], strict_upstream: bool = False
) -> list[PipelineStep | NestedPipeline]:
    """Parse a pipeline to passes and nested pipelines.

    An op name, or `any`, followed by parentheses is a nested pipeline. With `strict_upstream`, options that are not
    given get the values of the pass's `UPSTREAM`. Raises ParseError for an unknown pass, option or value.
    """
    scanner = Scanner(Source(text, "<pipeline>"))
    steps: list[PipelineStep | NestedPipeline] = []
    if not scanner.at_end():
        _sequence(scanner, passes, steps, strict_upstream)
        if not scanner.at_end():
            raise scanner.unexpected("expected ',' or the end of the pipeline")
    return steps


def parse_pipeline(text: str, passes: Mapping[str, type[Pass]], strict_upstream: bool = False) -> list[Pass]:
    """Return the passes of a pipeline in order, without nesting: a pass itself selects the operations it transforms."""
    return [step.action for step, _ in flattened(parse_steps(text, passes, strict_upstream))]


def flattened(steps: Steps, anchors: tuple[str, ...] = ()) -> list[tuple[PipelineStep, tuple[str, ...]]]:
    """Return (step, anchors) for each pass in order.

    The anchors are the op names in which the pass is nested, outermost first.
    """
    flat: list[tuple[PipelineStep, tuple[str, ...]]] = []
    for step in steps:
        if isinstance(step, NestedPipeline):
            flat += flattened(step.steps, (*anchors, step.anchor))
        else:
            flat.append((step, anchors))
    return flat


def in_module(steps: Steps) -> list[PipelineStep | NestedPipeline]:
    """Replace each outermost `builtin.module(...)` or `any(...)` by its steps, because a pipeline runs on a module."""
    return [
        child
        for step in steps
        for child in (
            step.steps if isinstance(step, NestedPipeline) and step.anchor in ("builtin.module", "any") else [step]
        )
    ]


# -- printed ----------------------------------------------------------------------------------------------------------


def spell_steps(steps: Steps) -> str:
    """Return the text of a pipeline with all options, as `mlir-opt --dump-pass-pipeline` prints it."""
    return f"builtin.module(\n{_spell(steps, '  ')}\n)"


def _spell(steps: Steps, indent: str) -> str:
    return ",\n".join(
        f"{indent}{step.anchor}(\n{_spell(step.steps, f'{indent}  ')}\n{indent})"
        if isinstance(step, NestedPipeline)
        else f"{indent}{step.name}{_spell_options(step.action)}"
        for step in steps
    )


def _spell_options(action: Pass) -> str:
    values = {option_name(field): spell_value(getattr(action, field.name)) for field in fields(action)}
    entries = [f"{name}={value}" for name, value in sorted(values.items()) if value]
    return f"{{{' '.join(entries)}}}" if entries else ""


def option_name(field: "Field[Any]") -> str:
    """Return the name that an option has in pipelines: the name of its dataclass field with `-` in place of `_`."""
    return field.name.replace("_", "-")


def spell_value(value: object) -> str:
    """Return the text of an option's value, quoted if necessary."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return text if _PLAIN.fullmatch(text) else json.dumps(text)


# -- read -------------------------------------------------------------------------------------------------------------


def _sequence(
    scanner: Scanner,
    passes: Mapping[str, type[Pass]],
    steps: list[PipelineStep | NestedPipeline],
    strict_upstream: bool,
) -> None:
    with scanner.nested():
        while True:
            start = scanner.skip()
            match = scanner.match(_NAME)
            if match is None:
                raise scanner.unexpected("expected a pass name")
            name = match[1]
            if scanner.accept("("):
                if "." not in name and name != "any":
                    raise scanner.error(
                        "passes can be nested in 'any(...)' or in an op with its dialect, as in 'func.func(...)', got "
                        f"'{name}(...)'",
                        start,
                        match.end(),
                    )
                nested = NestedPipeline(name, [])
                steps.append(nested)
                if not scanner.at(")"):
                    _sequence(scanner, passes, nested.steps, strict_upstream)
                scanner.expect(")", " after nested passes")
            elif name not in passes:
                raise scanner.error(_unknown(name, passes), start, match.end())
            else:
                kind = passes[name]
                options = {**getattr(kind, "UPSTREAM", {})} if strict_upstream else {}
                try:
                    steps.append(PipelineStep(name, kind(**(options | _options(scanner, name, kind)))))
                except QuantTypeError as error:
                    raise scanner.error(f"pass '{name}': {error}", start, scanner.pos) from None
            if not scanner.accept(","):
                return


def _unknown(name: str, passes: Mapping[str, type[Pass]]) -> str:
    meant = nearest(name, passes)
    hint = f"did you mean '{meant}'?" if meant is not None else f"the passes are {', '.join(sorted(passes))}"
    return f"'{name}' does not refer to a registered pass; {hint}"


def _options(scanner: Scanner, name: str, kind: type[Pass]) -> dict[str, Any]:
    known = {option_name(field): field for field in fields(kind)}
    options: dict[str, Any] = {}
    if scanner.accept("{"):
        while not scanner.accept("}"):
            start = scanner.skip()
            match = scanner.match(_NAME)
            if match is None:
                raise scanner.unexpected("expected an option name or '}'")
            field = known.get(match[1])
            if field is None:
                has = f"its options are {', '.join(map(repr, known))}" if known else "it has no options"
                raise scanner.error(f"pass '{name}' has no option '{match[1]}'; {has}", start, match.end())
            option = f"pass '{name}': option '{match[1]}'"
            options[field.name] = _value(scanner, option, field.type) if scanner.accept("=") else True
            if options[field.name] is True and field.type is not bool:
                raise scanner.error(f"{option} must have a value: expected {match[1]}=VALUE", start, match.end())
    missing = [key for key, f in known.items() if f.name not in options and f.default is MISSING]
    if missing:
        raise scanner.error(
            f"pass '{name}' requires the option '{missing[0]}', which is missing: expected {name}{{{missing[0]}=VALUE}}"
        )
    return options


def _value(scanner: Scanner, option: str, kind: Any) -> Any:
    start = scanner.skip()
    quoted = scanner.match(_QUOTED) if kind is str else None
    if quoted is not None:
        try:
            return json.loads(quoted[1], strict=False)
        except ValueError as error:
            message = f"{option}: the quoted value is not a valid JSON string: {error}"
            raise scanner.error(message, start, scanner.pos) from None
    match = scanner.match(_VALUE)
    text = match[1] if match is not None else ""
    if kind is bool and text in _BOOLEANS:
        return _BOOLEANS[text]
    if kind is str and text:
        return text
    if kind is int and text.lstrip("-").isdecimal():
        return int(text)
    got = f", got '{text}'" if text else ""
    raise scanner.error(f"{option} must be {_KINDS[kind]}{got}", start, max(scanner.pos, start + 1))
