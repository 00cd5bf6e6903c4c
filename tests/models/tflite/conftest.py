"""The process of LiteRT that tests share, and the table of what was compared."""

import pytest

from qrt.models.engines.litert import LiteRT
from tests.models.beside import print_rows
from tests.models.tflite.oracle import ROWS


@pytest.fixture(scope="session")
def litert():
    with LiteRT(seconds=300) as engine:
        yield engine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    print_rows(terminalreporter, "LiteRT", ROWS)
