"""The cost of the interpreter: lowered casts against the kernels (at most 40 times), loops, and starting `qrt run`."""

import subprocess
import sys

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes

CHANNELS = 64
ELEMENTS = 1_000_000
SIZE = 64


def cast() -> str:
    scales = ", ".join(f"0.{n + 10}:{n - 30}" for n in range(CHANNELS))
    source = f"tensor<{ELEMENTS // CHANNELS}x{CHANNELS}xf32>"
    result = source.replace("xf32", f"x!quant.uniform<i8:f32:1, {{{scales}}}>")
    return f"""func.func @f(%x: {source}) -> {result} {{
      %0 = quant.qcast %x : {source} to {result}
      return %0 : {result}
    }}"""


def test_a_lowered_cast_per_axis(benchmark, paired, report):
    x = np.random.default_rng(0).normal(0, 3, (ELEMENTS // CHANNELS, CHANNELS)).astype(np.float32)
    kernel = qrt.compile(cast())
    lowered = qrt.compile(run_passes(ir.parse(cast()), "lower-quant-ops"))
    assert kernel(x) == lowered(x)
    took, ratio = paired(lambda: lowered(x), lambda: kernel(x), rounds=9)
    benchmark.pedantic(lambda: lowered(x), rounds=5)
    report(f"lowered qcast of 1M floats per axis: {took * 1e3:.1f} ms, {ratio:.1f} times the kernel")


LOOPS = f"""
func.func @f(%a: memref<{SIZE}x{SIZE}xi8>, %b: memref<{SIZE}x{SIZE}xi8>, %c: memref<{SIZE}x{SIZE}xi32>) {{
  affine.for %i = 0 to {SIZE} {{
    affine.for %j = 0 to {SIZE} {{
      affine.for %k = 0 to {SIZE} {{
        %0 = affine.load %a[%i, %k] : memref<{SIZE}x{SIZE}xi8>
        %1 = affine.load %b[%k, %j] : memref<{SIZE}x{SIZE}xi8>
        %2 = affine.load %c[%i, %j] : memref<{SIZE}x{SIZE}xi32>
        %3 = arith.extsi %0 : i8 to i32
        %4 = arith.extsi %1 : i8 to i32
        %5 = arith.muli %3, %4 : i32
        %6 = arith.addi %2, %5 : i32
        affine.store %6, %c[%i, %j] : memref<{SIZE}x{SIZE}xi32>
      }}
    }}
  }}
  return
}}
"""


def test_a_matmul_as_loops(benchmark):
    """64x64x64; the goal is at most 5 s."""
    random = np.random.default_rng(0)
    a, b = (random.integers(-128, 128, (SIZE, SIZE), np.int8) for _ in range(2))
    c = np.zeros((SIZE, SIZE), np.int32)
    program = qrt.compile(LOOPS)
    benchmark.pedantic(lambda: program.run({"arg0": a, "arg1": b, "arg2": c}), rounds=3)
    assert (c == 3 * (a.astype(np.int32) @ b.astype(np.int32))).all()


@pytest.fixture
def small(tmp_path):
    path = tmp_path / "f.mlir"
    path.write_text("func.func @f(%x: i32) -> i32 { %0 = arith.addi %x, %x : i32  return %0 : i32 }")
    return path


def test_starting_qrt_run(benchmark, small):
    """A small program in a process of its own; the goal is at most 0.25 s."""
    command = [sys.executable, "-m", "qrt", "run", str(small), "--input-value", "arg0=i32=3"]
    benchmark.pedantic(lambda: subprocess.run(command, check=True, capture_output=True), rounds=7, warmup_rounds=1)
