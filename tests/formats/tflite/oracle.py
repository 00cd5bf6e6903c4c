"""qrt beside LiteRT on generated models: the frame that draws them, runs both and counts.

A family of operators is a file of ``generated`` with a table of forms:

    CASES = {"ADD i8": add_i8, "ADD i8, broadcast": add_broadcast}
    ONLY = {"ADD i8, wide ratio": ("litert",)}          # forms that one of the profiles alone has

A form is a function of a ``numpy.random.Generator`` that draws one model, mostly of one operator: other shapes, scales,
zero points and options each time. It returns a ``Case``, whose inputs are drawn too where it gives none. The forms of a
rule that depends on a condition stand on both sides of it, each with a name of its own, because at least a million
elements are compared of each form and profile. `test_generated.py` finds the file by itself.

    python -m tests.formats.tflite.oracle [--elements N] [--seed N] [--interpret] [WORD ...]

compares the forms whose name begins with one of the words, and prints the table. With ``--interpret`` the plain
references run instead of the kernels.
"""

import argparse
import os
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

from qrt.engines.compare import Comparison
from qrt.engines.drawn import KINDS, drawn
from qrt.engines.litert import LiteRT
from qrt.formats.importing.compared import Input
from qrt.ops.core import Array
from qrt.report.differences import Differences, TensorDifference

GENERATED = Path(__file__).with_name("generated")
MODELS = Path(os.environ.get("QRT_MODELS") or Path(__file__).parents[4] / "shared" / "models")
"""The folder of model files."""
PROFILES = ("litert", "litert-ref")
ELEMENTS = 1_000_000
LEAST_CASES, MOST_CASES = 40, 4000
"""How many models of one form are compared: many, however large they are, but not endlessly many."""


@dataclass(frozen=True)
class Case:
    """A model, the inputs of its runs, and how far floats may lie apart. ``resets``: the numbers of the runs before
    which both runtimes start anew."""

    content: bytes
    inputs: Sequence[Sequence[Array]] | None = None
    ulp: int = 4
    resets: Sequence[int] = ()


Form = Callable[[np.random.Generator], Case]


@dataclass
class Row:
    """What was compared of a form in a profile."""

    form: str
    profile: str
    cases: int = 0
    tensors: int = 0
    elements: int = 0
    differ: int = 0
    largest: int = 0
    skipped: int = 0
    """Tensors with one value over all inputs, which compare nothing."""
    first: str = field(default="", compare=False)
    """Where the first difference was seen."""

    def add(self, tensor: TensorDifference) -> None:
        """Counts a tensor."""
        if tensor.skipped:
            self.skipped += 1
            return
        self.tensors += 1
        self.elements += tensor.elements
        self.differ += tensor.differ
        self.largest = max(self.largest, tensor.largest)

    def __str__(self) -> str:
        figures = f"{self.cases:6,} {self.tensors:7,} {self.elements:12,} {self.differ:7,} {self.skipped:5,}"
        return f"{figures}  {self.profile:10}  {self.form}{f'  <- {self.first}' if self.first else ''}"


ROWS: list[Row] = []
"""What the tests of this run have compared."""
HEAD = f"{'models':>6} {'tensors':>7} {'elements':>12} {'differ':>7} {'left':>5}  profile     form"


def forms() -> Iterator[tuple[str, Form, str]]:
    """Each form with its name, once for each profile that has it."""
    for path in sorted(GENERATED.glob("[a-z]*.py")):
        family = import_module(f"tests.formats.tflite.generated.{path.stem}")
        for name, form in family.CASES.items():
            for profile in getattr(family, "ONLY", {}).get(name, PROFILES):
                yield name, form, profile


def compared(
    name: str,
    form: Form,
    profile: str,
    litert: LiteRT,
    elements: int = ELEMENTS,
    seed: int = 0,
    interpret: bool = False,
) -> Row:
    """Compares drawn models of a form until so many elements were compared. Stops at the first model that differs."""
    row = Row(name, profile)
    least = min(LEAST_CASES, elements // 1000)
    while (row.elements < elements or row.cases < least) and row.cases < MOST_CASES and not row.differ:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), row.cases])
        try:
            _compare(row, form(rng), profile, litert, rng, interpret)
        except Exception as error:
            error.add_note(f"{name}, {profile}, model {row.cases} of seed {seed}")
            raise
        row.cases += 1
    return row


def _compare(
    row: Row, case: Case, profile: str, litert: LiteRT, rng: np.random.Generator, interpret: bool = False
) -> None:
    comparison = Comparison(
        case.content, litert, profile, ulp=case.ulp, every_tensor=bool(case.resets), interpret=interpret
    )
    for number, inputs in enumerate(inputs_of(case, comparison.file.inputs, rng)):
        if number in case.resets:
            comparison.reset()
        comparison.add(inputs)
    found = comparison.result()
    comparison.close()
    for tensor in (*found.tensors, *found.outputs):
        row.add(tensor)
        if tensor.differ and not row.first:
            row.first = f"model {row.cases}: {tensor.differ} of {tensor.elements}, by {tensor.largest} at most"


def inputs_of(case: Case, inputs: Sequence[Input], rng: np.random.Generator) -> Iterator[Sequence[Array]]:
    """The inputs of a case: where it has none, inputs of each kind, the first two of which are drawn twice."""
    if case.inputs is not None:
        yield from case.inputs
        return
    for kind in (*KINDS, *KINDS[:2]):
        yield [drawn(port, kind, rng) for port in inputs]


def model_row(found: Differences, profile: str) -> Row:
    """What was compared of a model, as a row of the table."""
    row = Row(found.model.rpartition("/")[2], profile, 1)
    for tensor in (*found.tensors, *found.outputs):
        row.add(tensor)
    if found.first is not None:
        row.first = f"{found.first.operator}, {found.first.op}: {found.first.differ} of {found.first.elements}"
    return row


def main() -> int:
    """Compares the chosen forms and prints what was counted."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--interpret", action="store_true")
    options = parser.parse_args()
    failed = 0
    print(HEAD)
    with LiteRT() as litert:
        for name, form, profile in forms():
            if options.words and not name.startswith(tuple(options.words)):
                continue
            try:
                row = compared(name, form, profile, litert, options.elements, options.seed, options.interpret)
            except Exception as error:
                said = " ".join([type(error).__name__, *error.__notes__, str(error)])
                print(f"{'-':>41}  {profile:10}  {name}: {said}", flush=True)
                failed += 1
                continue
            failed += bool(row.differ)
            print(row, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
