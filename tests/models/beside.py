"""qrt beside another runtime on drawn models: the frame that draws them, runs both and counts, and the table of it.

A family of operators is a file of a folder ``generated`` with a table of forms:

    CASES = {"ADD i8": add_i8, "ADD i8, broadcast": add_broadcast}
    ONLY = {"ADD i8, wide ratio": ("litert",)}          # forms that one of the profiles alone has

A form is a function of a ``numpy.random.Generator`` that draws one model, mostly of one operator: other shapes, scales,
zero points and options each time. It returns a ``Case``, whose inputs are drawn too where it gives none. The forms of a
rule that depends on a condition stand on both sides of it, each with a name of its own, because so many elements are
compared of each form and profile. `test_generated.py` finds the file by itself.
"""

import argparse
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Protocol

import numpy as np
import pytest

from qrt.models.diff.compare import ModelComparison
from qrt.models.diff.drawn_inputs import KINDS, drawn
from qrt.models.engines.engine import Engine
from qrt.models.importing.comparison_source import Bound, Input
from qrt.ops.core import Array
from qrt.quantization.report.differences import Differences

ELEMENTS = 1_000_000
ELEMENTS_IN_TESTS = int(os.environ.get("QRT_ELEMENTS", "0"))
"""Elements of each form that a run of the tests compares; 0 for those of `LEAST_CASES` models."""
LEAST_CASES, MOST_CASES = 40, 20_000
"""How many models of one form are compared: many, however large they are, but not endlessly many."""


ALLOWED = 100
"""Elements that may differ at the least where a share may, so that one model with a tie does not decide."""


@dataclass(frozen=True)
class Case:
    """A model, the inputs of its runs, how far floats may lie apart, by units in the last place or by an ``absolute``
    number, and the share of integers that may differ by 1.
    ``resets``: the numbers of the runs before which both runtimes start anew. One that ``is_rounded_otherwise`` has
    integers that may differ beside ties, within the bound that the importer states."""

    content: bytes
    inputs: Sequence[Sequence[Array]] | None = None
    ulp: int = 4
    resets: Sequence[int] = ()
    share: float = 0.0
    absolute: float = 0.0
    is_rounded_otherwise: bool = False


Form = Callable[[np.random.Generator], Case]


class _Counted(Protocol):
    """A tensor of which something was counted."""

    @property
    def elements(self) -> int: ...
    @property
    def differ(self) -> int: ...
    @property
    def beyond(self) -> int: ...
    @property
    def largest(self) -> int: ...
    @property
    def skipped(self) -> str: ...


@dataclass
class Row:
    """What was compared of a form in a profile."""

    form: str
    profile: str
    cases: int = 0
    tensors: int = 0
    elements: int = 0
    differ: int = 0
    beyond: int = 0
    """The integers that differ by more than 1."""
    skipped: int = 0
    """Tensors with one value over all inputs, which compare nothing."""
    share: float = 0.0
    first: str = field(default="", compare=False)
    """Where the first difference was seen."""

    def add(self, tensor: _Counted) -> None:
        """Counts a tensor."""
        if tensor.skipped:
            self.skipped += 1
            return
        self.tensors += 1
        self.elements += tensor.elements
        self.differ += tensor.differ
        self.beyond += tensor.beyond
        if tensor.differ and not self.first:
            said = f"{tensor.differ} of {tensor.elements}, by {tensor.largest} at most"
            self.first = f"model {self.cases}: {said}"

    @property
    def is_wrong(self) -> bool:
        """Whether more differs than may."""
        return self.beyond > 0 or self.differ > self.share * self.elements

    def __str__(self) -> str:
        figures = f"{self.cases:6,} {self.tensors:7,} {self.elements:12,} {self.differ:7,} {self.beyond:9,}"
        return (
            f"{figures} {self.skipped:5,}  {self.profile:10}  {self.form}{f'  <- {self.first}' if self.first else ''}"
        )


HEAD = f"{'models':>6} {'tensors':>7} {'elements':>12} {'differ':>7} {'by over 1':>9} {'left':>5}  {'profile':10}  form"


def print_rows(reporter: pytest.TerminalReporter, runtime: str, rows: Sequence[Row]) -> None:
    """The table of what the tests of a run have compared, if they have."""
    if not rows:
        return
    reporter.section(f"qrt beside {runtime}")
    reporter.line(HEAD)
    for row in rows:
        reporter.line(str(row))
    total = sum(row.elements for row in rows)
    reporter.line(f"{total:,} elements of {len(rows)} rows, differ {sum(row.differ for row in rows):,}")


def forms_of(folder: Path, profiles: Sequence[str]) -> Iterator[tuple[str, Form, str]]:
    """Each form of a folder of families with its name, once for each profile that has it."""
    package = f"tests.models.{folder.parent.name}.{folder.name}"
    for path in sorted(folder.glob("[a-z]*.py")):
        family = import_module(f"{package}.{path.stem}")
        for name, form in family.CASES.items():
            for profile in getattr(family, "ONLY", {}).get(name, profiles):
                yield name, form, profile


def compared(
    name: str,
    form: Form,
    profile: str,
    engine: Engine,
    elements: int = ELEMENTS,
    seed: int = 0,
    interpret: bool = False,
) -> Row:
    """Compare drawn models of a form until so many elements were compared, with 0 for those of `LEAST_CASES` models.

    Where a share of them may differ, until that share would be `ALLOWED` elements. Stops at the first model that
    differs more than it may.
    """
    row, enough, least = Row(name, profile), elements, min(LEAST_CASES, elements // 1000) if elements else LEAST_CASES
    while (row.elements < enough or row.cases < least) and row.cases < MOST_CASES:
        rng = np.random.default_rng([seed, zlib.crc32(name.encode()), row.cases])
        try:
            _compare(row, form(rng), profile, engine, rng, interpret)
        except Exception as error:
            error.add_note(f"{name}, {profile}, model {row.cases} of seed {seed}")
            raise
        row.cases += 1
        if row.beyond or (row.differ and not row.share):
            break
        enough = max(elements, int(ALLOWED / row.share)) if row.share else elements
    return row


def _compare(row: Row, case: Case, profile: str, engine: Engine, rng: np.random.Generator, interpret: bool) -> None:
    row.share = case.share
    whole = Bound(case.ulp, is_sum=profile != "ort", absolute=case.absolute)
    comparison = ModelComparison(
        case.content,
        engine,
        profile,
        ulp=case.ulp,
        whole=whole,
        every_tensor=bool(case.resets) or case.is_rounded_otherwise,
        interpret=interpret,
    )
    for number, inputs in enumerate(inputs_of(case, comparison.file.inputs, rng)):
        if number in case.resets:
            comparison.reset()
        comparison.add(inputs)
    found = comparison.result()
    comparison.close()
    for tensor in (*found.tensors, *(() if found.within and case.is_rounded_otherwise else found.outputs)):
        row.add(tensor)


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


def main(
    description: str | None,
    forms: Iterable[tuple[str, Form, str]],
    engine: Callable[[], AbstractContextManager[Engine]],
) -> int:
    """Compares the forms that the command line chooses, and prints what was counted."""
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("words", nargs="*")
    parser.add_argument("--elements", type=int, default=ELEMENTS)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--interpret", action="store_true")
    options = parser.parse_args()
    failed = 0
    print(HEAD)
    with engine() as runtime:
        for name, form, profile in forms:
            if options.words and not name.startswith(tuple(options.words)):
                continue
            try:
                row = compared(name, form, profile, runtime, options.elements, options.seed, options.interpret)
            except Exception as error:
                said = " ".join([type(error).__name__, *error.__notes__, str(error)])
                print(f"{'-':>51}  {profile:10}  {name}: {said}", flush=True)
                failed += 1
                continue
            failed += row.is_wrong
            print(row, flush=True)
    return int(failed > 0)
