"""Sweeping: each program is run before and after passes, and what is seen of the runs is compared."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from qrt import ir
from qrt.errors import QuantError
from qrt.ir import Operation, run_passes
from tests.ir.passes.values.arguments import Unknown, arguments, hostile, small, tidy, told
from tests.ir.passes.values.fired import FIRED
from tests.ir.passes.values.programs import Program
from tests.ir.passes.values.runs import Code, Seen
from tests.oracle.draw_types import Draw

RUNS = 3
_TRIES = 30
_STYLES = (hostile, small, tidy)
_SIZED = """
affine.for affine.parallel bufferization.alloc_tensor linalg.generic memref.alloc memref.alloca memref.expand_shape
memref.realloc memref.reinterpret_cast memref.reshape memref.subview memref.view scf.for scf.forall scf.parallel
shape.broadcast tensor.empty tensor.expand_shape tensor.extract_slice tensor.generate tensor.pad tensor.reshape
tensor.splat
"""
_MAKES_MEMORY = frozenset(_SIZED.split())
"""In a program with one of these an index may be a size: none is drawn that is large."""
_KEEPS_ERRORS = ("loop-invariant-code-motion", "normalize-quant-types", "strip-func-quant-types", "symbol-dce")
"""Passes that remove no operation that runs: docs/reference/passes.md says what the others may forget."""


@dataclass
class Sweep:
    """What was found: counts, and the programs that a pass broke, or changed the values or the errors of."""

    counts: Counter[str] = field(default_factory=Counter)
    executed: set[str] = field(default_factory=set)
    """Folds and patterns that fired on a program that ran without an error."""
    passes: Counter[str] = field(default_factory=Counter)
    """How many programs each changed the text of."""
    sources: Counter[str] = field(default_factory=Counter)
    changed: list[str] = field(default_factory=list)

    def take(self, programs: Iterable[Program], draw: Draw) -> None:
        for program in programs:
            self.program(program, draw)

    def program(self, program: Program, draw: Draw) -> None:
        before = ir.parse(program.text)
        try:
            before.verify()
        except QuantError:
            self.counts["refused"] += 1  # an op put in place of another, which its types do not fit
            return
        self.counts["programs"] += 1
        seen = self.seen(program, before, draw)
        self.counts["not run"] += not seen
        self.sources[program.source.partition(" ")[0]] += 1
        names = passes_for(before.operation, program.name, draw)
        for name in ["canonicalize", *(sorted({*names}) if program.takes_every_pass else [draw.choice(names)])]:
            self.after(program, name, seen)

    def seen(self, program: Program, before: ir.Module, draw: Draw) -> list[tuple[list, Seen]]:
        """Runs of the program as it is: `RUNS` that end well where as many are found, and some that do not."""
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
            if not outcome.is_endless and (not outcome.error or len(found) < 2 * RUNS):
                found.append((given, outcome))
            if sum(not outcome.error for _, outcome in found) >= RUNS or (not types and found):
                break
        return found

    def after(self, program: Program, name: str, seen: list[tuple[list, Seen]]) -> None:
        """One pass: what it makes verifies, prints and parses, and computes what the program did."""
        FIRED.clear()
        module = ir.parse(program.text)
        given = str(module)
        try:
            run_passes(module, name)
            printed = str(module)
            ir.parse(printed).verify()
        except Exception as error:  # whatever it is, the pass made it
            self.report(program, name, f"{type(error).__name__}: {error}")
            return
        fired, code = set(FIRED), Code(module)
        self.passes[name.replace(f"={program.name}", "")] += printed != given
        for values, outcome in seen:
            found = code.run(program.name, values)
            self.counts["executions"] += 1
            if found.is_endless:
                continue
            if outcome.error:
                self.counts["errors"] += 1
                self.counts["errors kept"] += bool(found.error)
                wrong = found.is_crash or (not found.error and name in _KEEPS_ERRORS)
            else:
                self.executed |= fired
                wrong = found != outcome
            if wrong:
                self.report(program, name, f"arguments {values}\nbefore {outcome}\nafter {found}", printed)
                return

    def report(self, program: Program, name: str, what: str, printed: str = "") -> None:
        shown = "\n".join(line[:400] for line in what.splitlines())
        self.changed.append(f"--{name} changes {program.source}\n{shown}\n{program.text}\n{printed}")


def passes_for(root: Operation, entry: str, draw: Draw) -> list[str]:
    """Those that may have something to do, some of them twice."""
    names = {operation.name for operation in root.walk()}
    dialects = {name.partition(".")[0] for name in names}
    found = ["cse", "constant-fold", "dce" if draw.chance(0.7) else "symbol-dce"]
    found.append(f"fold-plan-constants{{entry={entry}}}")
    if "func.call" in names:
        found += ["inline", f"inline{{entry={entry}}}"]
    if dialects & {"affine", "scf"}:
        found += ["loop-invariant-code-motion"] * 2
    if "linalg" in dialects:
        found += ["linalg-generalize-named-ops"] * 2
    if dialects & {"arith", "math"}:
        found.append("convert-elementwise-to-linalg")
    if "quant" in dialects:
        found += ["lower-quant-ops", "strip-func-quant-types", "normalize-quant-types"] * 2
    return found
