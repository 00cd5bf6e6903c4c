"""mlir-runner 22, which stands beside mlir-opt: executes programs of the core dialects that mlir-opt lowers to LLVM."""

import os
import platform
import subprocess
from pathlib import Path

from tests import mlir_opt

_TO_LOOPS = (
    "--convert-elementwise-to-linalg",
    "--linalg-fuse-elementwise-ops",
    "--shape-to-shape-lowering",
    "--convert-shape-to-std",
    "--one-shot-bufferize=bufferize-function-boundaries function-boundary-type-conversion=identity-layout-map",
    "--convert-linalg-to-loops",
    "--scf-forall-to-for",
    "--lower-vector-multi-reduction",
    "--convert-vector-to-scf",
    "--lower-affine",
    "--convert-scf-to-cf",
    "--convert-bufferization-to-memref",
    "--expand-strided-metadata",
    "--lower-affine",
    "--convert-vector-to-llvm",
    "--convert-ub-to-llvm",
    "--memref-expand",
    "--convert-math-to-funcs=min-width-of-fpowi-exponent=64",
    "--math-expand-ops=ops=clampf,fpowi,rsqrt,sincos",
)
_TO_LLVM = (
    "--convert-arith-to-llvm",
    "--finalize-memref-to-llvm",
    "--convert-func-to-llvm",
    "--convert-cf-to-llvm",
    "--reconcile-unrealized-casts",
)

# The conversions of AVX512-BF16 and AVX-NE-CONVERT take subnormal numbers for zero: results would be the machine's.
_NO_FLUSHES = ["-mattr=-avx512bf16,-avxneconvert"] if platform.machine() in ("x86_64", "AMD64") else []

_LOOPS_ALLOCATE = tuple(
    f"{flag} allow-return-allocs-from-loops" if flag.startswith("--one-shot-bufferize") else flag for flag in _TO_LOOPS
)

PATHS = {
    "llvm": (*_TO_LOOPS, "--convert-math-to-llvm", *_TO_LLVM),
    "loops": (*_LOOPS_ALLOCATE, "--convert-math-to-llvm", *_TO_LLVM),
    "library": (*_TO_LOOPS, "--convert-math-to-libm", *_TO_LLVM),
    "expanded": (
        *_TO_LOOPS,
        "--convert-math-to-llvm",
        "--arith-expand=include-bf16 include-f8e8m0 include-f4e2m1",
        *_TO_LLVM,
    ),
}
"""Pipelines. `llvm` is for all programs, but computes `expm1(x)` as `exp(x) - 1`: `library` calls C's functions.
`loops` also bufferizes loops that carry a new tensor from iteration to iteration.
`expanded` has small floats in integers, but loses the signs of zeros in `minimumf`."""


def execute(text: str, path: str = "llvm") -> tuple[list[int], str]:
    """What `@main` prints, integers alone; or nothing and why it does not run."""
    printed, error = output(text, path)
    return [int(word) for word in printed.split()], error


def output(text: str, path: str = "llvm") -> tuple[str, str]:
    """What `@main` prints; or nothing and why it does not run."""
    lowered = mlir_opt.run(text, *PATHS[path])
    if lowered.returncode:
        return "", lowered.stderr.decode(errors="replace")
    done = run(lowered.stdout, "c_runner_utils", "runner_utils")
    if done.returncode:
        return "", f"exit status {done.returncode}: {done.stderr.decode(errors='replace')}"
    return done.stdout.decode(), ""


def run(lowered: bytes, *libraries: str) -> "subprocess.CompletedProcess[bytes]":
    """mlir-runner on a program of the `llvm` dialect, with libraries of MLIR's."""
    (program,), environment = mlir_opt.FOUND
    folder = Path(program).parent
    shared = ",".join(str(folder.parent / "lib" / f"libmlir_{name}.so") for name in libraries)
    return subprocess.run(
        [folder / "mlir-runner", "-e", "main", "-entry-point-result=void", *_NO_FLUSHES, f"-shared-libs={shared}", "-"],
        input=lowered,
        capture_output=True,
        env={**os.environ, **environment, "LLVM_DISABLE_SYMBOLIZATION": "1"},
        check=False,
    )
