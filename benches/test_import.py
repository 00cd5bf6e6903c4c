"""The cost of ``import qrt`` beyond ``import numpy``, of the first result of a small program or model, and of the first
result of a saved program beyond ``import qrt``: fresh interpreters, interleaved.

The budgets: 100 ms beyond NumPy for the import, 0.3 s in all for a result, and 10 ms beyond the import for a saved one.

An installed package has its bytecode compiled, so the interpreters write it, in a folder of their own.
"""

import os
import subprocess
import sys
import time
from statistics import median

import pytest

import qrt
from tests.models.tflite.writing import Tensor, one_op

ROUNDS = 15
SAVED_BUDGET = 0.01
"""Seconds from `import qrt` to the first result of a saved program."""
Q = "!quant.uniform<i8:f32, 0.5:3>"
PROGRAM = f"""func.func @main(%x: tensor<4xf32>) -> tensor<4x{Q}> {{
  %0 = quant.qcast %x : tensor<4xf32> to tensor<4x{Q}>
  return %0 : tensor<4x{Q}>
}}
"""
IMPORT, NUMPY = ("-c", "import numpy; import qrt"), ("-c", "import numpy")
SAVED = "import numpy, qrt, sys; qrt.load_program(sys.argv[1])(numpy.zeros(4, numpy.float32))"
MODEL = "import numpy, qrt, sys; qrt.compile(qrt.load(sys.argv[1]))(numpy.zeros((2, 3), numpy.int8))"


def dense() -> bytes:
    """A model with one fully connected layer."""
    x = Tensor((2, 3), "int8", scales=0.5, zero_points=3)
    w = Tensor((2, 3), "int8", scales=0.25, zero_points=0, data=[[1, 2, 3], [-4, 5, 6]])
    y = Tensor((2, 2), "int8", scales=0.75, zero_points=-1)
    return one_op("FULLY_CONNECTED", [x, w], [y], {"fused_activation_function": "NONE"})


@pytest.fixture
def commands(tmp_path):
    """The arguments of Python for each case, whose files are written."""
    (tmp_path / "f.mlir").write_text(PROGRAM)
    (tmp_path / "f.tflite").write_bytes(dense())
    qrt.compile(PROGRAM).save(tmp_path / "f.qrt")
    run = ("-m", "qrt", "run", str(tmp_path / "f.mlir"), "--input-value", "arg0=4xf32=0,1,2,3")
    return {
        "import": IMPORT,
        "run": run,
        "model": ("-c", MODEL, str(tmp_path / "f.tflite")),
        "saved": ("-c", SAVED, str(tmp_path / "f.qrt")),
    }


@pytest.fixture
def seconds(tmp_path, commands):
    """The seconds of a fresh interpreter, start and end included; a run before the first timing compiles bytecode."""
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    environment |= {"PYTHONPYCACHEPREFIX": str(tmp_path / "bytecode")}

    def measure(*arguments):
        start = time.perf_counter()
        subprocess.run([sys.executable, *arguments], capture_output=True, check=True, env=environment, cwd=os.getcwd())
        return time.perf_counter() - start

    for arguments in (NUMPY, *commands.values()):
        measure(*arguments)
    return measure


@pytest.mark.parametrize("what", ["import", "run", "model"])
def test_start_up(benchmark, seconds, commands, what):
    pairs = [(seconds(*commands[what]), seconds(*NUMPY)) for _ in range(ROUNDS)]
    own, numpy = (median(column) for column in zip(*pairs, strict=True))
    beyond = median(a - b for a, b in pairs)
    benchmark.extra_info |= {"numpy_ms": round(numpy * 1e3, 1), "beyond_numpy_ms": round(beyond * 1e3, 1)}
    print(f"\n{what}: {own * 1e3:.0f} ms, {own / numpy:.2f} times import numpy, {beyond * 1e3:.1f} ms beyond it")
    benchmark.pedantic(seconds, args=commands[what], rounds=5)


def test_first_result_of_a_saved_program(benchmark, seconds, commands):
    beyond = median(seconds(*commands["saved"]) - seconds(*IMPORT) for _ in range(ROUNDS))
    benchmark.extra_info |= {"beyond_import_ms": round(beyond * 1e3, 1)}
    print(f"\nsaved: first result {beyond * 1e3:.1f} ms after import qrt, the budget is {SAVED_BUDGET * 1e3:.0f} ms")
    benchmark.pedantic(seconds, args=commands["saved"], rounds=5)
