"""Sweeping: each program is run before and after passes, and what is seen of the runs is compared."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from qrt import ir
from qrt.errors import QuantError
from qrt.ir import Operation
from qrt.pipeline import run_passes
from tests.oracle.draw_types import Draw
from tests.passes.values.arguments import Unknown, arguments, hostile, small, tidy, told
from tests.passes.values.fired import FIRED
from tests.passes.values.programs import Program
from tests.passes.values.runs import Code, Seen

_MAKES_MEMORY = frozenset(
    "affine.for affine.parallel bufferization.alloc_tensor memref.alloc memref.alloca memref.expand_shape memref.realloc scf.for scf.forall scf.parallel "
    "shape.broadcast tensor.empty tensor.expand_shape tensor.extract_slice tensor.generate tensor.pad tensor.reshape "
    "tensor.splat memref.reinterpret_cast memref.reshape memref.subview memref.view linalg.generic".split()
)
"""In a program with one of these an index may be a size."""
_TRIES = 30
_STYLES = (hostile, small, tidy)


@dataclass
class Sweep:
    """What was found: counts, and every program whose values a pass changed."""

    executed: set[str] = field(default_factory=set)
    counts: Counter[str] = field(default_factory=Counter)
    passes: Counter[str] = field(default_factory=Counter)
    kinds: Counter[str] = field(default_factory=Counter)
    lost: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)
    where: dict = field(default_factory=dict)

    def take(self, programs: Iterable[Program], draw: Draw, runs: int = 3) -> None:
        for program in programs:
            self.program(program, draw, runs)

    def program(self, program: Program, draw: Draw, runs: int) -> None:
        try:
            before = ir.parse(program.text)
            before.verify()
        except QuantError as error:
            self.counts["refused"] += 1
            self.lost[f"refused: {error}".splitlines()[0][:150]] += 1
            return
        self.counts["programs"] += 1
        seen = self.seen(program, before, draw, runs)
        if not seen:
            self.counts["not run"] += 1
            self.lost[f"not run: {program.source}"] += 1
            return
        self.kinds[program.source.split(" @")[0].split(":")[0]] += 1
        for name in pipelines(before.operation, draw):
            self.after(program, name, seen)

    def seen(self, program: Program, before: ir.Module, draw: Draw, runs: int) -> list[tuple[list, Seen]]:
        """Runs of the program as it is, those first that end well."""
        code, function = Code(before), before.function(program.name)
        types = [value.type for value in function.regions[0].blocks[0].arguments]
        sizes = any(operation.name in _MAKES_MEMORY for operation in function.walk())
        found: list[tuple[list, Seen]] = []
        for number in range(_TRIES):
            if number < len(program.calls):
                given = program.calls[number]
            else:
                style = told if program.is_told and number % 2 else _STYLES[number % 3 or sizes]
                try:
                    given = arguments(draw, types, style(draw))
                except Unknown:
                    return []
            outcome = code.run(program.name, given)
            self.counts["executions"] += 1
            if not outcome.endless and (not outcome.error or len(found) < 2 * runs):
                found.append((given, outcome))
            if sum(not outcome.error for _, outcome in found) >= runs or (not types and found):
                break
        return found

    def after(self, program: Program, name: str, seen: list[tuple[list, Seen]]) -> None:
        FIRED.clear()
        module = ir.parse(program.text)
        same = str(module)
        try:
            run_passes(module, name)
            module.verify()
            printed = str(module)
            ir.parse(printed).verify()
        except Exception as error:  # whatever it is, the pass made it
            self.report(program, name, [], f"{type(error).__name__}: {error}")
            return
        fired = set(FIRED)
        self.passes[name] += printed != same
        code, well = Code(module), False
        for given, outcome in seen:
            found = code.run(program.name, given)
            self.counts["executions"] += 1
            if found.endless:
                continue
            if outcome.error:
                self.counts["errors before"] += 1
                kept = bool(found.error)
                self.counts["errors kept"] += kept
                if not kept and stands(module, outcome):
                    self.lost[f"STANDS {name}: {outcome.error.partition('error: ')[2][:90]} {program.source}"] += 1
                continue
            well = True
            if found != outcome:
                self.report(program, name, given, f"before {outcome}\nafter {found}", printed)
                return
        if well:
            self.executed |= fired
        for each in fired:
            self.where.setdefault(each, []).append((program.source, seen[0][1].error))

    def report(self, program: Program, name: str, given: list, what: str, printed: str = "") -> None:
        self.changed.append(
            f"--{name} changes {program.source}\n{what[:1500]}\narguments {given}\n{program.text}\n{printed}"
        )


def pipelines(root: Operation, draw: Draw) -> list[str]:
    """The passes to try on a program: canonicalize, and one of those that have something to do there."""
    names = {operation.name for operation in root.walk()}
    dialects = {name.partition(".")[0] for name in names}
    others = ["cse", "constant-fold"]
    if "func.call" in names:
        others += ["inline"] * 2
    if {"scf", "affine"} & dialects:
        others += ["loop-invariant-code-motion"] * 2
    if "linalg" in dialects:
        others += ["linalg-generalize-named-ops"] * 2
    if {"arith", "math"} & dialects:
        others += ["convert-elementwise-to-linalg"]
    if "quant" in dialects:
        others += ["lower-quant-ops"] * 3 + ["strip-func-quant-types", "normalize-quant-types"]
    others += ["dce", "symbol-dce"] if draw.chance(0.1) else []
    return ["canonicalize", draw.choice(others)]


def stands(module: ir.Module, outcome: Seen) -> bool:
    """Whether the operation that raised is still there."""
    for operation in module.operation.walk():
        if str(operation.location) + ":" in outcome.error and f"'{operation.name}'" in outcome.error:
            return True
    return False
