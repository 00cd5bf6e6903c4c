"""The rows of the kernel tables. Hazards: a kernel that is written and not installed, which no comparison of results
sees; a row that nobody sets, which ends the process at its first call; a misspelt name in the list of an ISA's rows."""

import re
from pathlib import Path

import pytest

from qrt._ext.kernels import built_isas
from tests.kernels.compiled import CSRC, code_of, compile_error
from tests.kernels.draws import SHARED_ROWS, SIMD_ISAS
from tests.kernels.sweep import PRODUCT_ROWS

ROWS = set(re.findall(r"^QRT_ROW\(\w+, (\w+),", (CSRC / "rows.def").read_text(), re.MULTILINE))
TABLE = ROWS | {"gemm", "depthwise"}


OWN = {isa: set(rows) for isa, _, rows in built_isas()}


def listed_rows(isa: str) -> set[str]:
    """The rows that the init.c of an ISA names, each as what the ISA defines by the row's name."""
    text = (CSRC / "isa" / isa / "init.c").read_text()
    return {row for row, name in re.findall(r"^    \.(\w+) = &?(\w+),$", text, re.MULTILINE) if name == f"{isa}_{row}"}


def test_ref_sets_every_row() -> None:
    assert len(ROWS) > 20
    assert OWN["ref"] == TABLE - {"depthwise"}


@pytest.mark.parametrize("isa", [isa for isa in OWN if isa != "ref"])
def test_what_an_isa_defines_is_listed(isa: str) -> None:
    """A row is defined where a function or a microkernel has the name of the ISA and of the row."""
    defined = set(re.findall(rf"^(?:\w+ )+\*?{isa}_(\w+)(?:\([^;{{]*\{{| = .+)$", code_of(isa), re.MULTILINE))
    assert listed_rows(isa)
    assert listed_rows(isa) == defined & TABLE == OWN[isa]


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_functions_of_an_isa_with_external_names_are_rows(isa: str) -> None:
    """The compiler refuses a misspelt row, unless that has a prototype of its own."""
    text = code_of(isa)
    names = set(re.findall(rf"^(?:void|bool|qrt_status|int) {isa}_(\w+)\(", text, re.MULTILINE))
    assert names <= ROWS | {"qcast_f64", "dcast_f64", "cast_row"}


LIST = """#include "isa/rows.h"

void avx2_dynamic_range(const float *x, int64_t count, float *range) {
    (void)x, (void)count, (void)range;
}

const qrt_kernels avx2_rows = {
    .dynamic_range = avx2_dynamic_range,
};
"""


@pytest.mark.parametrize(
    ("before", "after", "error"),
    [
        (
            ".dynamic_range",
            ".dynamic_ranges",
            "no member named|has no member|unknown field|does not refer to any field",
        ),
        ("= avx2_dynamic_range", "= avx2_dynamic_ranges", "avx2_dynamic_ranges"),
        ("= avx2_dynamic_range", "= avx2_store", "incompatible"),
        (".dynamic_range = avx2_dynamic_range", ".store = avx2_store", "hidden symbol|undefined"),
        ("void avx2_dynamic_range", "void avx2_dynamic_ranges", "no previous prototype"),
    ],
    ids=["no such row", "no such kernel", "the kernel of another row", "listed and not defined", "a misspelt kernel"],
)
def test_a_wrong_list_of_rows_is_an_error_of_the_build(before: str, after: str, error: str, tmp_path: Path) -> None:
    assert compile_error(LIST, tmp_path) == ""
    assert re.search(error, compile_error(LIST.replace(before, after), tmp_path))


def test_rows_call_no_other_rows_of_the_table_than_the_shared() -> None:
    """Else tests that take one ISA of those that share a row would miss what another runs."""
    files = [
        path for folder in ("isa", "ref") for path in (CSRC / folder).rglob("*") if path.suffix in (".c", ".h", ".inl")
    ]
    assert {name for path in files for name in re.findall(r"kernels->(\w+)", path.read_text())} == set(SHARED_ROWS)


@pytest.mark.parametrize(
    ("file", "rows"),
    [
        ("core/cast/cast.c", {"qcast_row", "dcast_row", "streams"}),
        ("core/elementwise.c", {"requantize_row", "binary_row", "clamp_row", "mean_row"}),
        ("core/conv/window.c", {"avg_pool_run", "max_pool_run"}),
    ],
)
def test_entries_reach_the_rows_by_which_their_tests_choose_isas(file: str, rows: set[str]) -> None:
    """Others of the file serve entries which those tests do not call."""
    others = {"leaky_relu_row", "pair_row", "lookup_row", "lookup_interpolated_row"}
    assert set(re.findall(r"kernels->(\w+)", (CSRC / file).read_text())) - others == rows


def test_rows_of_products_are_reached_from_products_alone() -> None:
    """sweep.py leaves out ISAs that differ in these alone where an entry is no product."""
    reaching = {
        path.relative_to(CSRC / "core").parts[0]
        for path in (CSRC / "core").rglob("*.[ch]")
        if PRODUCT_ROWS & set(re.findall(r"kernels->(\w+)", path.read_text()))
    }
    assert reaching == {"gemm", "depthwise", "products"}
