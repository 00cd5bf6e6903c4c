"""What `import qrt` may not do: start threads, or load what a cast or a matmul does not need."""

import json
import subprocess
import sys

import pytest

from qrt.ir.registry import DIALECTS

PROGRAM = """
import json, sys, threading
import numpy
before = set(sys.modules)
import qrt
native = len(__import__("os").listdir("/proc/self/task")) if sys.platform == "linux" else 1
print(json.dumps({"threads": threading.active_count(), "native": native, "loaded": sorted(set(sys.modules) - before)}))
"""
LAZY = [
    "qrt.ir",
    "qrt.execute",
    "qrt.passes",
    "qrt.cli",
    "ml_dtypes",
    "rich",
    "onnx",
    "matplotlib",
    "sklearn",
    "asyncio",
]


def run(program: str, *arguments: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={"PATH": "", **environment},
    )
    return done.stdout


def test_import_starts_no_thread_and_loads_nothing_heavy() -> None:
    # NumPy's BLAS has threads of its own.
    found = json.loads(run(PROGRAM, OPENBLAS_NUM_THREADS="1", OMP_NUM_THREADS="1"))
    assert found["threads"] == 1
    assert found["native"] == 1
    assert [m for m in found["loaded"] if any(m == lazy or m.startswith(f"{lazy}.") for lazy in LAZY)] == []


def test_a_cast_and_a_matmul_load_no_program_and_no_extra_formats() -> None:
    loaded = run("import qrt, sys; t = qrt.UniformType('i8', 'f32', 1.0); q = qrt.quantize([[1.0]], t); q @ q; "
                 "print(*sys.modules)").split()  # fmt: skip
    assert "qrt.ir" not in loaded
    assert "ml_dtypes" not in loaded


def test_every_public_name_exists() -> None:
    """Lazy names included."""
    run("import qrt; [getattr(qrt, name) for name in qrt.__all__]; assert set(qrt.__all__) <= set(dir(qrt))")


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert run("import qrt; print(hasattr(qrt, 'nothing'))").strip() == "False"


RUN = """
import sys
from qrt.cli import main
sys.exit(main(sys.argv[1:]) or print("LOADED", *sys.modules))
"""


def test_a_run_loads_the_dialects_it_names_and_no_passes(tmp_path) -> None:
    """Start-up is what a small program costs most of."""
    program = tmp_path / "f.mlir"
    program.write_text("func.func @f(%x: f32) -> f32 { %0 = arith.negf %x : f32  return %0 : f32 }")
    output = run(RUN, "run", str(program), "--input-value", "arg0=f32=1").splitlines()
    loaded = {name for name in output[-1].split() if name.startswith("qrt.")}
    assert not {"qrt.passes", "qrt.execute.passes", "qrt.cli.opt", "qrt.cli.bench"} & loaded
    assert {name.removeprefix("qrt.execute.interpret.") for name in loaded if "interpret." in name} == {"core", "arith"}
    assert {"qrt.ir.dialects.func", "qrt.ir.dialects.arith"} <= loaded
    assert not {"qrt.ir.dialects.linalg", "qrt.ir.dialects.vector", "qrt.ir.dialects.memref"} & loaded


DIALECT = """
from qrt.ir import registry
registry.load({name!r})
for definition in [*registry.DEFINITIONS.values()]:
    definition.assembly, definition.operand_groups, definition.result_groups
    print(definition.name)
"""


@pytest.mark.parametrize("name", DIALECTS)
def test_a_dialect_needs_no_other_to_be_loaded(name) -> None:
    """Names of constraints, of attribute kinds and of directives are found where another dialect is what made them."""
    assert run(DIALECT.format(name=name)).split()
