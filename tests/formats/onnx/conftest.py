"""The table of what was compared with ONNX Runtime."""

import pytest

from tests.formats.onnx.oracle import HEAD, ROWS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not ROWS:
        return
    terminalreporter.section("qrt beside ONNX Runtime")
    terminalreporter.line(HEAD)
    for row in ROWS:
        terminalreporter.line(str(row))
    total = sum(row.elements for row in ROWS)
    terminalreporter.line(f"{total:,} elements of {len(ROWS)} rows, differ {sum(row.differ for row in ROWS):,}")
