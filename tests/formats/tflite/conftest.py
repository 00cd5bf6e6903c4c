"""The process of LiteRT that tests share, and the table of what was compared."""

import pytest

from qrt.engines.litert import LiteRT
from tests.formats.tflite.oracle import HEAD, ROWS


@pytest.fixture(scope="session")
def litert():
    with LiteRT(seconds=300) as engine:
        yield engine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not ROWS:
        return
    terminalreporter.section("qrt beside LiteRT")
    terminalreporter.line(HEAD)
    for row in ROWS:
        terminalreporter.line(str(row))
    total = sum(row.elements for row in ROWS)
    terminalreporter.line(f"{total:,} elements of {len(ROWS)} rows, differ {sum(row.differ for row in ROWS):,}")
