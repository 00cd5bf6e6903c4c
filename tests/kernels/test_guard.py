"""No kernel touches a byte outside its buffers: the kernel tests again, with an inaccessible page directly behind, then
directly before, every operand, parameter array (with its padding), packed weight and workspace. In a process of its
own: what is outside ends it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.compiled import compiled
from tests.kernels.draws import ISAS

FOLDER = Path(__file__).parent
FAMILIES = (
    "casts", "isa_casts", "gemm", "isa_gemm", "float_matmul", "depthwise", "elementwise", "lines", "movement"
)  # fmt: skip
# Values alone vary in these, and many.
VALUES = ("quotients_beside_ties", "every_exponent", "largest_products", "extreme_accumulators")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="guard.c replaces glibc's allocator")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("guard", tmp_path_factory.mktemp("guard"), "-shared", "-fPIC")


def run_guarded(library: Path, place: str, *command: str) -> "subprocess.CompletedProcess[str]":
    environment = os.environ | {
        "QRT_GUARD": place, "QRT_GUARD_LIBRARY": str(library), "LD_PRELOAD": str(library), "HYPOTHESIS_PROFILE": "few",
        "QRT_ISA": ISAS[-1],
    }  # fmt: skip
    python = [sys.executable, "-X", "faulthandler"]
    return subprocess.run([*python, *command], env=environment, cwd=FOLDER.parents[1], capture_output=True, text=True)


@pytest.mark.parametrize("place", ["after", "before"])
def test_kernels_stay_inside(library: Path, place: str) -> None:
    """Of the ISA that QRT_ISA names, or the best."""
    ran = run_guarded(
        library, place, "-m", "pytest", "-q", "-x", "-p", "tests.kernels.guard", "-k", f"not ({' or '.join(VALUES)})",
        *(f"tests/kernels/test_{family}.py" for family in FAMILIES),
    )  # fmt: skip
    assert ran.returncode == 0, f"{ran.stdout[-3000:]}\n{ran.stderr[-3000:]}"


@pytest.mark.parametrize(("place", "offset"), [("after", 1000), ("before", -1)])
def test_the_guards_are_there(library: Path, place: str, offset: int) -> None:
    """One byte past an array, and one before it, cannot be read."""
    program = f"""
import ctypes, numpy as np
from tests.kernels import guard
guard.install()
array = np.zeros(1000, np.int8)
ctypes.string_at(array.ctypes.data, 1000)
print("inside", flush=True)
ctypes.string_at(array.ctypes.data + {offset}, 1)
"""
    ran = run_guarded(library, place, "-c", program)
    assert ran.stdout == "inside\n"
    assert ran.returncode == -11, ran.stderr


def test_a_write_into_what_is_left_of_a_page_is_found(library: Path) -> None:
    program = """
import ctypes, numpy as np
from tests.kernels import guard
guard.install()
array = np.zeros(1000, np.int8)
ctypes.memset(array.ctypes.data - 1, 0, 1)
del array
"""
    ran = run_guarded(library, "after", "-c", program)
    assert ran.returncode == -6
    assert "guard: written outside" in ran.stderr
