"""LLVM's compiler `llc`, installed with mlir-opt: the assembly of programs that mlir-opt lowers to LLVM."""

import os
import subprocess
from pathlib import Path

from tests import mlir_opt
from tests.mlir_runner import PATHS


def assembly(text: str, *flags: str) -> str:
    """Return the assembly of a program of the core dialects; `flags` name the target."""
    (program,), environment = mlir_opt.FOUND
    folder = Path(program).parent
    commands = [
        [folder / "mlir-translate", "--mlir-to-llvmir"],
        [folder.parents[1] / "llvm" / "bin" / "llc", "-O3", *flags],
    ]
    lowered = mlir_opt.run(text, *PATHS["llvm"])
    assert lowered.returncode == 0, lowered.stderr.decode()
    output = lowered.stdout
    for command in commands:
        done = subprocess.run(
            command, input=output, capture_output=True, check=False, env={**os.environ, **environment}
        )
        assert done.returncode == 0, done.stderr.decode()
        output = done.stdout
    return output.decode()
