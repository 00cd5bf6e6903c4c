"""The theorem behind the SIMD quotient: a reciprocal and a fused remainder give the correctly rounded x / s."""

import subprocess
from pathlib import Path

from tests.kernels.compiled import compiled


def test_every_quotient_near_a_midpoint_is_correctly_rounded(tmp_path: Path) -> None:
    program = compiled("division", tmp_path, "-lm")
    tried, wrong = map(int, subprocess.run([program], check=True, capture_output=True, text=True).stdout.split())
    assert tried > 40_000_000
    assert wrong == 0
