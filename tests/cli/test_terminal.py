"""The progress bar. Hazards: control characters in a log, a command that fails where rich is absent, a bar on standard
output."""

import io
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from qrt.cli import main
from tests.quantization.workflow.programs import NETWORK, rows


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    (tmp_path / "f.mlir").write_text(NETWORK)
    np.savez(tmp_path / "x.npz", images=rows(130))
    return ["quantize", str(tmp_path / "f.mlir"), "--data", str(tmp_path / "x.npz"), "-o", str(tmp_path / "q.mlir")]


def test_a_terminal_shows_a_bar(command: list[str], monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    pytest.importorskip("rich", reason="rich is installed with the tests")
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setenv("TERM", "xterm")
    assert main(command) == 0
    shown = sys.stderr.getvalue()  # type: ignore[attr-defined]
    assert "calibrate" in shown
    assert "3/3" in shown
    assert capsys.readouterr().out == ""


def test_what_is_no_terminal_shows_nothing(command: list[str], capsys: Any) -> None:
    assert main(command) == 0
    assert "calibrate" not in capsys.readouterr().err


def test_without_rich_nothing_is_shown(command: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "rich.console", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    assert main(command) == 0
    assert "calibrate" not in sys.stderr.getvalue()  # type: ignore[attr-defined]
