"""Pipelines: passes by name, from text, and run. The text is `a,b{option=value flag},builtin.module(func.func(c))`."""

import time
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields
from typing import Any, ClassVar, Protocol

from qrt.errors import Diagnostic, QuantError, QuantTypeError, require
from qrt.ir import Module
from qrt.ir.core.operations import garbage_uncollected
from qrt.passes.canonicalize import Canonicalize
from qrt.passes.cse import CommonSubexpressionElimination
from qrt.passes.dce import DeadCodeElimination
from qrt.passes.elementwise_to_linalg import ConvertElementwiseToLinalg
from qrt.passes.generalize_named_ops import GeneralizeNamedOps
from qrt.passes.inline import Inline
from qrt.passes.loop_invariant_code_motion import LoopInvariantCodeMotion
from qrt.passes.lower_qrt import LowerQrt
from qrt.passes.lower_quant_ops import LowerQuantOps
from qrt.passes.normalize_quant_types import NormalizeQuantTypes
from qrt.passes.strip_func_quant_types import StripFuncQuantTypes
from qrt.passes.symbol_dce import SymbolDeadCodeElimination
from qrt.text import Scanner, Source, pattern

_NAME = pattern(r"([a-zA-Z_][\w.-]*)")
_VALUE = pattern(r"((?:[^\s{}]|\{[^{}]*\})+)")
_BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


class Pass(Protocol):
    """The interface of a pass. A class attribute `UPSTREAM` holds the options with which it does what upstream's pass
    does, where those are not the defaults.
    """

    __dataclass_fields__: ClassVar[dict[str, Any]]

    def run(self, module: Module) -> None:
        """Transform the module in place. Raises a QuantError, the module then being in an unknown state."""
        ...


PASSES: dict[str, type[Pass]] = {
    "canonicalize": Canonicalize,
    "convert-elementwise-to-linalg": ConvertElementwiseToLinalg,
    "cse": CommonSubexpressionElimination,
    "dce": DeadCodeElimination,
    "inline": Inline,
    "linalg-generalize-named-ops": GeneralizeNamedOps,
    "loop-invariant-code-motion": LoopInvariantCodeMotion,
    "lower-qrt": LowerQrt,
    "lower-quant-ops": LowerQuantOps,
    "normalize-quant-types": NormalizeQuantTypes,
    "strip-func-quant-types": StripFuncQuantTypes,
    "symbol-dce": SymbolDeadCodeElimination,
}
"""Every pass, by the name it has on the command line and in pipelines."""


def register(name: str, kind: type[Pass]) -> None:
    """Add a pass. QuantError if there is another of this name."""
    if PASSES.setdefault(name, kind) is not kind:
        raise QuantError(f"there is a pass '{name}' already")


# -- text -------------------------------------------------------------------------------------------------------------


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


# -- runs -------------------------------------------------------------------------------------------------------------


After = Callable[[str, float], None]
"""A function that is told the name of each finished step, and its seconds."""

Report = Callable[[Diagnostic], None]
"""A function that is told each warning."""


def run_passes(module: Module, pipeline: str, strict_upstream: bool = False) -> Module:
    """Runs a pipeline on a module, in place, verifying before the first pass and after each.

    Parameters
    ----------
    module : ir.Module
        A program, which is transformed.
    pipeline : str
        Passes by name, as ``qrt opt`` takes them: ``a,b{option=value flag},builtin.module(func.func(c))``.
    strict_upstream : bool, default False
        True gives the options that ``pipeline`` leaves out values with which the passes do exactly what upstream's
        do; False gives them their defaults.

    Returns
    -------
    ir.Module
        The one that was given.

    Raises
    ------
    ParseError
        If the pipeline names a pass, an option or a value that does not exist.
    VerifyError
        If the module breaks a rule, before or after a pass.
    QuantTypeError
        If an argument is of another type.

    Examples
    --------
    >>> from qrt.ir import parse
    >>> module = parse("func.func @f(%x: f32) { %0 = arith.constant 1.0 : f32  return }")
    >>> print(run_passes(module, "builtin.module(func.func(dce))"), end="")
    module {
      func.func @f(%arg0: f32) {
        return
      }
    }
    """
    require(module, Module, "run_passes: module", "a Module")
    require(pipeline, str, "run_passes: pipeline", "text")
    return run_pipeline(module, pipeline, strict_upstream=strict_upstream)


def run_pipeline(
    module: Module,
    pipeline: str,
    *,
    strict: bool = False,
    strict_upstream: bool = False,
    after: After | None = None,
    report: Report | None = None,
) -> Module:
    """`run_passes`, verifying strictly if `strict`, telling `after` of each step and `report` of the warnings that the
    module comes with."""
    steps = parse_pipeline(pipeline, PASSES, strict_upstream)
    names = {kind: name for name, kind in PASSES.items()}
    start = time.perf_counter()
    for warning in module.verify(strict):
        if report is not None:
            report(warning)
    if after is not None:
        after("verify", time.perf_counter() - start)
    for step in steps:
        start = time.perf_counter()
        with garbage_uncollected():
            step.run(module)
            module.verify(strict)
        if after is not None:
            after(names[type(step)], time.perf_counter() - start)
    return module
