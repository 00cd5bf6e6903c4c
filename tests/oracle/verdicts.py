"""What mlir-opt and qrt say of a program: its text, after a pass or none, or an error."""

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from qrt import ir
from qrt.errors import DiagnosticError, QuantError
from qrt.ir import run_passes
from qrt.ir.core.traits import EXTENSION
from tests import mlir_opt
from tests.oracle.draw_programs import Program

PASSES = (
    "lower-quant-ops",
    "strip-func-quant-types",
    "normalize-quant-types",
    "canonicalize",
    "cse",
    "inline",
    "symbol-dce",
)
SEPARATOR = "// -----\n"
_BATCH = 100
_ERROR = re.compile(r"^<stdin>:(\d+):\d+: error: (.*)$", re.MULTILINE)
_ASSERTION = re.compile(r"Assertion `(.*?)' failed|LLVM ERROR: (.*)|(.*)\nUNREACHABLE executed")


@dataclass(frozen=True)
class Verdict:
    """What one of the two says of a program: its generic text, or an error."""

    printed: str = ""
    error: str = ""
    crash: str = ""
    """The assertion that ended mlir-opt."""


def upstream(programs: Sequence[Program], *flags: str) -> list[Verdict]:
    """mlir-opt's verdict on each program: one process for many of them."""
    verdicts: list[Verdict] = [Verdict()] * len(programs)
    for unregistered in (False, True):
        places = [i for i, program in enumerate(programs) if program.unregistered is unregistered]
        allowed = ["--allow-unregistered-dialect"] * unregistered
        for first in range(0, len(places), _BATCH):
            batch = places[first : first + _BATCH]
            found = _batch([programs[i].text for i in batch], [*allowed, *flags])
            for place, verdict in zip(batch, found, strict=True):
                verdicts[place] = verdict
    return verdicts


def _batch(texts: list[str], flags: list[str]) -> list[Verdict]:
    """The output has a part for each program, an empty one for a program that is refused. A program that ends mlir-opt
    is found by halving."""
    done = mlir_opt.run(
        SEPARATOR.join(f"{text}\n" for text in texts),
        "--split-input-file",
        "--mlir-print-op-generic",
        "--mlir-disable-threading",
        *flags,
    )
    errors = done.stderr.decode(errors="replace")
    if done.returncode not in (0, 1):
        if len(texts) == 1:
            match = _ASSERTION.search(errors)
            return [Verdict(crash=match[match.lastindex or 0] if match else f"exit status {done.returncode}")]
        half = len(texts) // 2
        return _batch(texts[:half], flags) + _batch(texts[half:], flags)
    printed = done.stdout.decode(errors="replace").split(SEPARATOR)
    assert len(printed) == len(texts), "mlir-opt prints a part for each program"
    starts = [0, *accumulate(text.count("\n") + 2 for text in texts)]
    messages: dict[int, str] = {}
    for match in _ERROR.finditer(errors):
        messages.setdefault(bisect_right(starts, int(match[1]) - 1) - 1, match[2])
    return [Verdict(text.strip(), messages.get(i, "")) for i, text in enumerate(printed)]


def ours(program: Program, passes: str = "") -> Verdict:
    """qrt's verdict under --strict-upstream."""
    try:
        module = ir.parse(program.text, allow_unregistered=program.unregistered)
        for operation in module.operation.walk():
            if operation.has_trait(EXTENSION):
                return Verdict(error=f"op '{operation.name}' is not upstream's")
        run_passes(module, passes, strict_upstream=True)
    except QuantError as error:
        return Verdict(error=error.message if isinstance(error, DiagnosticError) else str(error))
    return Verdict(printed=module.print(generic=True).strip())
