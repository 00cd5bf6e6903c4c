"""What ``import qrt`` costs beyond ``import numpy``: fresh interpreters, interleaved. The goal is at most 40 ms.

An installed package has its bytecode compiled, so the interpreters may write it here too.
"""

import os
import subprocess
import sys
from statistics import median

ROUNDS = 15
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}


def seconds(statement: str) -> float:
    code = f"import time; t = time.perf_counter(); {statement}; print(time.perf_counter() - t)"
    command = [sys.executable, "-c", code]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, env=ENVIRONMENT).stdout)


def test_import(benchmark):
    seconds("import numpy; import qrt")
    pairs = [(seconds("import numpy; import qrt"), seconds("import numpy")) for _ in range(ROUNDS)]
    beyond = median(a - b for a, b in pairs)
    benchmark.extra_info["beyond_numpy_ms"] = round(beyond * 1e3, 1)
    benchmark.extra_info["numpy_ms"] = round(median(b for _, b in pairs) * 1e3, 1)
    print(f"\nimport qrt: {beyond * 1e3:.1f} ms beyond import numpy")
    benchmark.pedantic(seconds, args=("import qrt",), rounds=5)
