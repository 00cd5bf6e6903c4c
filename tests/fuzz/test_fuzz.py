"""A fixed number of drawn cases of every kind, about a minute of CPU time in all: the same on every machine.

`make fuzz` draws others, for as long as is asked.
"""

import subprocess
import sys

import pytest

from tests.fuzz import seeds
from tests.fuzz.kinds import KINDS

SHARES = {
    "text": (3, 800), "programs": (3, 170), "eager": (2, 800), "arrays": (1, 400), "command": (1, 450),
    "models": (1, 1000),
    "saved": (1, 1000),
}  # fmt: skip
"""Of each kind: how many processes take how many cases, a few seconds each."""


def test_every_kind_is_drawn() -> None:
    assert SHARES.keys() == KINDS.keys()


@pytest.mark.parametrize(
    ("kind", "share"), [(kind, share) for kind, (shares, _) in SHARES.items() for share in range(shares)]
)
def test_drawn_cases(kind: str, share: int) -> None:
    count = SHARES[kind][1]
    numbers = ["--first", str(share * count), "--cases", str(count), "--seed", "1"]
    command = [sys.executable, "-m", "tests.fuzz", "--kind", kind, *numbers, "--processes", "1", "--minimize", "5"]
    command += ["--values", "5"]  # those of all are compared by hand
    done = subprocess.run(command, cwd=seeds.ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{count} cases, 0 findings" in done.stdout
