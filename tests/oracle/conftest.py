"""The counts of the run, at its end."""

import pytest

from tests.oracle.compare import EXPLAINED, TALLY


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not TALLY:
        return
    terminalreporter.section("mlir-opt and qrt")
    for name, count in TALLY.items():
        if name != "unexplained":
            terminalreporter.line(f"{count:8}  {name}")
    for name, count in sorted(EXPLAINED.items()):
        terminalreporter.line(f"{count:8}  explained: {name}")
    terminalreporter.line(f"{TALLY['unexplained']:8}  unexplained")
