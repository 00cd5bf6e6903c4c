"""What mlir-runner computes otherwise, by name. Each is a rewriting of the program: qrt must give mlir-runner's bits on
what it makes."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from tests.oracle.execution import ours
from tests.oracle.execution.case import Call, Case
from tests.oracle.execution.distance import distance
from tests.oracle.execution.values import Value


@dataclass(frozen=True)
class Difference:
    name: str
    executed: Callable[[str], str]
    """The program that mlir-runner computes."""


def _replacing(pattern: str, by: str) -> Callable[[str], str]:
    return lambda text: re.sub(pattern, by, text)


def _tie(side: str) -> Difference:
    """LLVM leaves the sign of a zero open: what runs takes one side of equal operands."""
    operand = {"first": r"\3", "second": r"\4"}[side]
    return Difference(
        f"maxnumf and minnumf take the {side} of two zeros",
        _replacing(
            r"(%\w+) = arith.(max|min)numf (%\w+), (%\w+) : (\w+)",
            rf"%e = arith.cmpf oeq, \3, \4 : \5\n  %n = arith.\2numf \3, \4 : \5\n"
            rf"  \1 = arith.select %e, {operand}, %n : \5",
        ),
    )


DIFFERENCES = (
    _tie("first"),
    _tie("second"),
    Difference(
        "mlir-opt expands math.clampf with its bounds exchanged",
        _replacing(r"clampf (%\w+) to \[(%\w+), (%\w+)\]", r"clampf \1 to [\3, \2]"),
    ),
    Difference(
        "mlir-opt expands math.fpowi by a power whose exponent is rounded to the float type",
        _replacing(
            r"(%\w+) = math.fpowi (%\w+), (%\w+) : (\w+), (\w+)",
            r"%n = arith.sitofp \3 : \5 to \4\n  \1 = math.powf \2, %n : \4",
        ),
    ),
    Difference(
        "vector.fma may round its product: it becomes LLVM's fmuladd",
        _replacing(
            r"(%\w+) = vector.fma (%\w+), (%\w+), (%\w+) : (.*)",
            r"%product = arith.mulf \2, \3 : \5\n  \1 = arith.addf %product, \4 : \5",
        ),
    ),
    Difference(
        "mlir-runner rounds arith.truncf to nearest under every rounding mode",
        _replacing(r"(truncf %\w+) (?:to_nearest_even|downward|upward|toward_zero|to_nearest_away) :", r"\1 :"),
    ),
)


def explanation(case: Case, call: Call, theirs: list[Value]) -> str | None:
    """The name of the difference that explains what mlir-runner gave."""
    for difference in DIFFERENCES:
        text = difference.executed(case.text)
        if text == case.text:
            continue
        other = replace(case, text=text)
        results = ours.run(other, ours.program(text), call, interpret=True)
        if isinstance(results, list) and distance(results, theirs) <= case.ulps:
            return difference.name
    return None
