"""What ``import qrt`` and a small ``qrt run`` cost beyond ``import numpy``: fresh interpreters, interleaved. The
goals are at most 40 ms beyond it for the import, and 0.25 s in all for the run.

An installed package has its bytecode compiled, so the interpreters write it, in a folder of their own.
"""

import os
import subprocess
import sys
import time
from statistics import median

import pytest

ROUNDS = 15
Q = "!quant.uniform<i8:f32, 0.5:3>"
PROGRAM = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4x{Q}> {{
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x{Q}>
  return %0 : tensor<4x{Q}>
}}
"""


@pytest.fixture
def seconds(tmp_path):
    """Of a fresh interpreter, start and end included; its bytecode is compiled by a run before the first timing."""
    (tmp_path / "f.mlir").write_text(PROGRAM)
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}

    def measure(*arguments):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=environment, cwd=os.getcwd())
        return time.perf_counter() - start

    for arguments in (IMPORT, NUMPY, run(tmp_path)):
        measure(*arguments)
    return measure


IMPORT, NUMPY = ("-c", "import numpy; import qrt"), ("-c", "import numpy")


def run(folder):
    return ("-m", "qrt", "run", str(folder / "f.mlir"), "--input-value", "arg0=4xf32=0,1,2,3")


@pytest.mark.parametrize("what", ["import", "run"])
def test_start_up(benchmark, seconds, tmp_path, what):
    arguments = IMPORT if what == "import" else run(tmp_path)
    pairs = [(seconds(*arguments), seconds(*NUMPY)) for _ in range(ROUNDS)]
    own, numpy = (median(column) for column in zip(*pairs, strict=True))
    beyond = median(a - b for a, b in pairs)
    benchmark.extra_info |= {"numpy_ms": round(numpy * 1e3, 1), "beyond_numpy_ms": round(beyond * 1e3, 1)}
    print(f"\n{what}: {own * 1e3:.0f} ms, {own / numpy:.2f} times import numpy, {beyond * 1e3:.1f} ms beyond it")
    benchmark.pedantic(seconds, args=arguments, rounds=5)
