"""The recipe for several processes, as its page has it. Hazard: a digest that depends on how the data is shared out."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.documents import ROOT
from tests.docs.walkthrough import steps


def test_two_workers_have_the_digest_of_one_process(tmp_path: Path) -> None:
    pytest.importorskip("distributed", reason="Dask is no part of the tests' environment: make test-exchange")
    page = (ROOT / "docs/howto/two_processes.md").read_text()
    (step,) = (step for step in steps(page) if step.path == "two_processes.py")
    (tmp_path / "two_processes.py").write_text(step.text)
    command = [sys.executable, "two_processes.py"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120)
    assert done.stdout == "True\nTrue\n", done.stderr[-2000:]
