"""The theorem behind the SIMD quotient: a reciprocal and a fused remainder give the correctly rounded x / s."""

import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

SOURCE = Path(__file__).with_name("division.c")


def test_every_quotient_near_a_midpoint_is_correctly_rounded(tmp_path: Path) -> None:
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: {compiler}")
    program = tmp_path / "division"
    subprocess.run([compiler, "-O2", "-ffp-contract=off", SOURCE, "-o", program, "-lm"], check=True)
    tried, wrong = map(int, subprocess.run([program], check=True, capture_output=True, text=True).stdout.split())
    assert tried > 40_000_000
    assert wrong == 0
