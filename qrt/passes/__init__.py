"""Passes by name, and pipelines as text.

A pass is a small dataclass: its fields are its options (`zero_point` is written `zero-point`), `run(module)` does the
work. A pass is added by a file here and a line in `PASSES`; one that needs what stands above this package registers
itself there (see `qrt.pipeline`).
"""

import time
from collections.abc import Callable

from qrt.errors import Diagnostic, QuantError, require
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
from qrt.passes.pipeline import Pass, parse_pipeline
from qrt.passes.strip_func_quant_types import StripFuncQuantTypes
from qrt.passes.symbol_dce import SymbolDeadCodeElimination

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


After = Callable[[str, float], None]
"""Told the name of a step that is done, and its seconds."""

Report = Callable[[Diagnostic], None]
"""Told each warning."""


def run_passes(module: Module, pipeline: str, strict_upstream: bool = False) -> Module:
    """Run a pipeline on a module, in place, verifying before the first pass and after each; returns the module.

    With `strict_upstream`, options that are not given are such that the passes do exactly what upstream's do.

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


__all__ = ["PASSES", "Pass", "parse_pipeline", "register", "run_passes", "run_pipeline"]
