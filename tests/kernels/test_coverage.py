"""Which ISA's kernel each ISA runs. Hazards: a kernel that is written and not installed, which no comparison of
results sees, or installed for an ISA that this CPU lacks; a table that is told and not run."""

import re

import pytest

from qrt import kernels
from qrt._ext import kernels as kernel_calls
from qrt.cli import main
from tests.kernels.compiled import CSRC, code_of

COVERAGE = kernels.coverage()
PARENTS = dict(re.findall(r"^QRT_ISA\((\w+), (\w+),", (CSRC / "isa.def").read_text(), re.MULTILINE))


def defined(isa: str) -> set[str]:
    """The rows whose functions, named for the ISA and the row, stand in the ISA's sources."""
    if isa == "ref":
        return set(kernel_calls.rows()) - {"depthwise"}  # its init.c names a function for every line of rows.def
    pattern = rf"^[\w ]+[ *]{isa}_(\w+)(?:\([^;{{]*\{{| = (?:\{{|MICROKERNEL\(|FOR_SHORT).*)$"
    names = set(re.findall(pattern, code_of(isa), re.MULTILINE))
    return names & set(kernel_calls.rows())


def test_every_isa_of_the_build_has_every_row() -> None:
    assert set(kernels.available()) <= COVERAGE.keys() <= PARENTS.keys()
    assert next(iter(COVERAGE)) == "ref"
    assert {tuple(rows) for rows in COVERAGE.values()} == {kernel_calls.rows()}
    assert len(kernel_calls.rows()) > 20


@pytest.mark.parametrize("isa", COVERAGE)
def test_an_isa_supplies_what_its_sources_define(isa: str) -> None:
    own = {row for row, supplier in COVERAGE[isa].items() if supplier == isa}
    assert own == defined(isa)


@pytest.mark.parametrize("isa", [isa for isa in COVERAGE if isa != "ref"])
def test_the_other_rows_are_those_of_the_parent(isa: str) -> None:
    for row, supplier in COVERAGE[isa].items():
        assert supplier in (isa, COVERAGE[PARENTS[isa]][row])


@pytest.mark.parametrize("isa", kernels.available())
def test_the_kernel_tables_say_the_same(isa: str) -> None:
    parent = PARENTS[isa]
    suppliers = COVERAGE[isa].items()
    expected = set() if isa == parent else {row for row, supplier in suppliers if supplier == isa}
    assert set(kernel_calls.differing_rows(isa, parent)) == expected


def test_the_last_microkernel_of_amx_leaves_calls_to_that_of_its_parent() -> None:
    """Its name is written in a file of amx: an ISA between them that has one of its own would be passed over."""
    source = (CSRC / "isa" / "amx" / "gemm_i8.c").read_text()
    assert f"#define FALLBACK {COVERAGE[PARENTS['amx']]['gemm']}_gemm\n" in source


def test_the_command_prints_a_line_for_each_row(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["bench", "--coverage"]) == 0
    title, heads, *lines = capsys.readouterr().out.splitlines()
    lacking = [isa for isa in COVERAGE if isa not in kernels.available()]
    assert title.endswith(f"not on this machine: {', '.join(lacking) or 'none'}")
    assert heads.split() == list(COVERAGE)
    assert [line.split() for line in lines] == [
        [row, *("own" if by[row] == isa else by[row] or "-" for isa, by in COVERAGE.items())]
        for row in kernel_calls.rows()
    ]
