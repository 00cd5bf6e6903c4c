"""The process of ONNX Runtime that tests share, and the table of what was compared with it."""

from collections.abc import Iterator

import pytest

from qrt.models.engines.ort import OnnxRuntime
from tests.models.beside import print_rows
from tests.models.onnx.oracle import ROWS


@pytest.fixture(scope="session")
def runtime() -> Iterator[OnnxRuntime]:
    with OnnxRuntime(seconds=300) as engine:
        yield engine


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    print_rows(terminalreporter, "ONNX Runtime", ROWS)
