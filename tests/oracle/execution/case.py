"""Cases: a function, and the operands of each of its calls."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from tests.oracle.execution.values import Type, Value, type_of

Call = Sequence[Value]
_DIALECTS = "arith|math|tensor|linalg|memref|affine|scf|cf|shape|vector|bufferization"
_OP = re.compile(rf"(?:^|= )\s*\"?((?:{_DIALECTS})\.[\w.]+)", re.MULTILINE)


@dataclass
class Case:
    """Functions of which `@f` is called. The symbols of others begin with `f` too: both runs rename them."""

    kind: str
    text: str
    calls: list[Call]
    ulps: int = 0
    """How far results may lie apart, in units of the last place; 0: the same bits."""
    path: str = "llvm"
    """The pipeline that takes it to LLVM: one of `mlir_runner.PATHS`."""
    defined: list[bool] | None = None
    """For each call, whether upstream defines its result. None: not known before; qrt says where it is not."""

    meant: str = ""
    """A program that gives the same results in qrt, wherever `text` is defined."""

    @cached_property
    def signature(self) -> tuple[list[Type], list[Type]]:
        """Types of arguments and results of `@f`."""
        match = re.search(r"func\.func @f\((.*?)\)(?: -> (.*?))? (?:attributes .*)?\{$", self.text, re.MULTILINE)
        assert match, self.text
        inputs = [part.partition(":")[2].strip() for part in _split(match[1])]
        results = (match[2] or "").strip()
        results = results[1:-1] if results.startswith("(") else results
        return [type_of(text) for text in inputs], [type_of(text) for text in _split(results)]

    @property
    def ops(self) -> set[str]:
        """The names of its ops, as written."""
        return set(_OP.findall(self.text))

    def renamed(self, number: int) -> str:
        return re.sub(r"@f(\w*)", rf"@f{number}_\1", self.text)


def _split(text: str) -> list[str]:
    """At commas outside brackets."""
    parts, depth = [""], 0
    for character in text:
        depth += (character in "<([{") - (character in ">)]}")
        if character == "," and not depth:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]
