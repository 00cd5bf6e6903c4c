"""The count of the skipped tests. Hazards: a test that a runtime would run and that nobody is told of, a last line of
pytest's that is no longer the last."""

import ast
import re
import subprocess
import sys
from pathlib import Path

from tests.docs.documents import ROOT
from tests.skipped import COMMANDS, command_of

TESTS = """
import pytest

@pytest.mark.skipif(True, reason="onnxruntime is not installed")
@pytest.mark.parametrize("number", range(3))
def test_of_a_runtime(number): ...

def test_of_the_system(): pytest.skip("no C compiler: cc")

def test_that_runs(): ...
"""


def test_the_line_stands_before_pytests_last(tmp_path: Path) -> None:
    (tmp_path / "test_skips.py").write_text(TESTS)
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary\n")
    command = [sys.executable, "-m", "pytest", "-ra", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    *_, count, last = done.stdout.splitlines()
    assert count == "skipped tests: make test-oracle runs 3, 1 for other reasons"
    assert re.match(r"=+ 1 passed, 4 skipped", last)


def test_no_line_without_a_skipped_test(tmp_path: Path) -> None:
    (tmp_path / "test_runs.py").write_text("def test_that_runs(): ...\n")
    (tmp_path / "conftest.py").write_text("from tests.conftest import pytest_terminal_summary\n")
    command = [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-c", "/dev/null", str(tmp_path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "skipped tests" not in done.stdout


def test_a_command_is_a_target_of_make() -> None:
    targets = set(re.findall(r"^([\w -]+):(?!=)", (ROOT / "Makefile").read_text(), re.MULTILINE))
    names = {name for line in targets for name in line.split()}
    assert {command.split()[1] for command in COMMANDS} <= names


def test_a_reason_that_names_a_runtime_has_its_command() -> None:
    """The reasons are read in the tests: one that names a runtime in other words is found here."""
    reasons: dict[str, str | None] = {}
    for path in (ROOT / "tests").rglob("test_*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in {"pytest.mark.skipif", "pytest.importorskip"}:
                words = [word.value for word in node.keywords if word.arg == "reason"] or node.args[:1]
                reasons |= {ast.unparse(word): command_of(ast.unparse(word)) for word in words}
    assert len(reasons) > 10
    lacking = [reason for reason, command in reasons.items() if command is None and "installed" in reason]
    assert [reason for reason in lacking if "installed with the tests" not in reason] == []
