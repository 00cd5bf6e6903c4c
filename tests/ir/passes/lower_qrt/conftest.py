"""The counts of the drawn programs, at the end of the run."""

import pytest

from tests.ir.passes.lower_qrt.compare import COUNTS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not COUNTS:
        return
    terminalreporter.section("lowered ops")
    terminalreporter.line(f"{COUNTS['op'].total():8}  programs, the same bits")
    for title, counts in COUNTS.items():
        listed = ", ".join(f"{name} {count}" for name, count in sorted(counts.items(), key=lambda item: -item[1]))
        terminalreporter.line(f"          {title}: {listed}")
