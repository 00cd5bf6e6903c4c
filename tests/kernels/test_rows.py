"""The rows of the kernel tables. Hazards: a kernel that is written and not installed, which no comparison of results
sees; a row that nobody sets, which ends the process at its first call."""

import re

import pytest

from qrt._seam import _core
from tests.kernels.compiled import CSRC, code_of
from tests.kernels.draws import SHARED_ROWS, SIMD_ISAS
from tests.kernels.sweep import PRODUCT_ROWS

ROWS = set(re.findall(r"^QRT_ROW\(\w+, (\w+),", (CSRC / "rows.def").read_text(), re.MULTILINE))
TABLE = ROWS | {"gemm", "depthwise"}


def test_ref_sets_every_row() -> None:
    assert len(ROWS) > 20
    assert set(_core.own_rows("ref")) == TABLE - {"depthwise"}


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_what_an_isa_defines_is_installed(isa: str) -> None:
    """A row is defined where a function has the name of the ISA and of the row; amx chooses its gemm when it starts."""
    text = code_of(isa)
    defined = set(re.findall(rf"^(?:\w+ )+\*?{isa}_(\w+)(?:\([^;{{]*\{{| = .+)$", text, re.MULTILINE))
    assigned = set(re.findall(r"table->(\w+) = ", text)) & TABLE
    assert defined & TABLE or assigned
    assert set(_core.own_rows(isa)) == defined & TABLE | assigned


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_functions_of_an_isa_with_external_names_are_rows(isa: str) -> None:
    """The hazard is a misspelt row, which setup.py would not find."""
    text = code_of(isa)
    names = set(re.findall(rf"^(?:void|bool|qrt_status|int) {isa}_(\w+)\(", text, re.MULTILINE))
    assert names <= ROWS | {"qcast_f64", "dcast_f64", "cast_row"}


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
        ("core/conv/window.c", {"avg_pool_pixel", "max_pool_pixel"}),
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
