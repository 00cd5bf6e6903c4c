"""qrt beside ONNX Runtime on generated models: the frame that draws them, runs both and counts.

A family of operators is a file of ``generated`` with a table of forms:

    CASES = {"QLinearAdd i8": partial(added, dtype="int8"), ...}

A form is a function of a ``numpy.random.Generator`` that draws one model of one operator: other shapes, scales, zero
points and attributes each time. ``test_generated.py`` finds the file by itself.

    python -m tests.formats.onnx.oracle [--elements N] [--seed N] [--interpret] [WORD ...]

compares the forms whose name begins with one of the words, until so many elements of each are compared, and prints the
table. With ``--interpret`` the plain references run instead of the kernels.
"""

import argparse
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path

import numpy as np

import qrt
from qrt.engines.ort import OnnxRuntime
from qrt.engines.tally import Tally
from qrt.formats.importing.compared import Bound
from qrt.ops.core import Array
from qrt.tensor import QuantTensor
from tests.formats.onnx.running import imported

GENERATED = Path(__file__).with_name("generated")
ELEMENTS, FEWER = 1_000_000, 200_000
"""Elements of each form: on demand, and in a run of the tests."""
LEAST_CASES, MOST_CASES = 40, 20_000
"""How many models of one form are compared: many, however large they are, but not endlessly many."""


@dataclass(frozen=True)
class Case:
    """A model, the inputs of its runs, and how far floats may lie apart."""

    content: bytes
    inputs: Sequence[Sequence[Array]]
    ulp: int = 4


Form = Callable[[np.random.Generator], Case]


@dataclass
class Row:
    """What was compared of a form."""

    form: str
    cases: int = 0
    elements: int = 0
    differ: int = 0
    largest: int = 0
    first: str = field(default="", compare=False)
    """Where the first difference was seen."""

    def add(self, tally: Tally, output: str) -> None:
        """Counts an output of a model."""
        self.elements += tally.elements
        self.differ += tally.differ
        self.largest = max(self.largest, tally.largest)
        if tally.differ and not self.first:
            self.first = f"model {self.cases}, {output}: {tally.differ} of {tally.elements}, by {tally.largest} at most"

    def __str__(self) -> str:
        figures = f"{self.cases:6,} {self.elements:12,} {self.differ:7,}"
        return f"{figures}  {self.form}{f'  <- {self.first}' if self.first else ''}"


ROWS: list[Row] = []
"""What the tests of this run have compared."""
HEAD = f"{'models':>6} {'elements':>12} {'differ':>7}  form"


def forms() -> Iterator[tuple[str, Form]]:
    """Each form with its name."""
    for path in sorted(GENERATED.glob("[a-z]*.py")):
        yield from import_module(f"tests.formats.onnx.generated.{path.stem}").CASES.items()


def compared(
    name: str, form: Form, runtime: OnnxRuntime, elements: int = ELEMENTS, seed: int = 0, interpret: bool = False
) -> Row:
    """Compares drawn models of a form until so many elements were compared. Stops at the first model that differs."""
    row = Row(name)
    least = min(LEAST_CASES, elements // 1000)
    while (row.elements < elements or row.cases < least) and row.cases < MOST_CASES and not row.differ:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), row.cases])
        try:
            _compare(row, form(rng), runtime, interpret)
        except Exception as error:
            error.add_note(f"{name}, model {row.cases} of seed {seed}")
            raise
        row.cases += 1
    return row


def _compare(row: Row, case: Case, runtime: OnnxRuntime, interpret: bool) -> None:
    loaded = runtime.load(case.content)
    program = qrt.compile(imported(case.content))
    tallies = [Tally(Bound(case.ulp)) for _ in program.outputs]
    for inputs in case.inputs:
        named = {port.name: array for port, array in zip(program.inputs, inputs, strict=True)}
        ours = program.run(named, interpret=interpret).values()
        for tally, mine, theirs in zip(tallies, ours, loaded.run(inputs), strict=True):
            tally.add(np.asarray(mine.storage if isinstance(mine, QuantTensor) else mine), theirs)
    loaded.close()
    for tally, port in zip(tallies, program.outputs, strict=True):
        row.add(tally, port.name)


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
    with OnnxRuntime() as runtime:
        for name, form in forms():
            if options.words and not name.startswith(tuple(options.words)):
                continue
            try:
                row = compared(name, form, runtime, options.elements, options.seed, options.interpret)
            except Exception as error:
                said = " ".join([type(error).__name__, *error.__notes__, str(error)])
                print(f"{'-':>27}  {name}: {said}", flush=True)
                failed += 1
                continue
            failed += bool(row.differ)
            print(row, flush=True)
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
