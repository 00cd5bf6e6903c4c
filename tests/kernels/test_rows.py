"""The rows of the kernel tables. Hazards: a kernel that is written and not installed, which no comparison of results
sees; a row that nobody sets, which ends the process at its first call."""

import re
from pathlib import Path

import pytest

from qrt._seam import _core
from tests.kernels.compiled import CSRC
from tests.kernels.draws import SIMD_ISAS

ROWS = set(re.findall(r"^QRT_ROW\(\w+, (\w+),", (CSRC / "rows.def").read_text(), re.MULTILINE))
TABLE = ROWS | {"gemm", "depthwise"}


def test_ref_sets_every_row() -> None:
    assert len(ROWS) > 20
    assert set(_core.own_rows("ref")) == TABLE - {"depthwise"}


def sources(folder: Path) -> str:
    """The .c files of an ISA, each with the files above the folder that it includes."""
    texts = []
    for path in sorted(folder.glob("*.c")):
        text = path.read_text()
        shared = re.findall(r'^#include "(?:\.\./|isa/)(\w+\.h)"', text, re.MULTILINE)
        texts += [text, *((folder.parent / name).read_text() for name in shared)]
    return "\n".join(texts)


@pytest.mark.parametrize("isa", SIMD_ISAS)
def test_what_an_isa_implements_is_installed(isa: str) -> None:
    """A row is implemented where a function has its name, or where something is assigned to it."""
    text = sources(CSRC / "isa" / isa)
    functions = set(re.findall(r"^(?:\w+ )+\*?(\w+)\([^;{]*\{$", text, re.MULTILINE))
    assigned = set(re.findall(r"table->(\w+) = ", text)) & TABLE
    assert assigned
    assert set(_core.own_rows(isa)) == assigned
    assert functions & ROWS <= assigned
