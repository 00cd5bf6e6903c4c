"""What `import qrt` may not do: start threads, or load what a cast or a matmul does not need."""

import json
import subprocess
import sys

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
    "qrt.pipeline",
    "qrt.cli",
    "ml_dtypes",
    "rich",
    "onnx",
    "matplotlib",
    "sklearn",
    "asyncio",
]


def run(program: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, env={"PATH": "", **environment}
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
