"""Every past finding, again: none is one now."""

import subprocess
import sys

import pytest

from tests.fuzz import seeds
from tests.fuzz.kinds import KINDS


@pytest.mark.parametrize("kind", KINDS)
def test_past_findings(kind: str) -> None:
    """In a process of its own, which forks: this one may have threads."""
    command = [sys.executable, "-m", "tests.fuzz", "--corpus", "--kind", kind, "--processes", "1", "--minimize", "0"]
    done = subprocess.run(command, cwd=seeds.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(seeds.corpus(kind))} cases, 0 findings" in done.stdout
