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
    "casts", "isa_casts", "gemm", "isa_gemm", "float_matmul", "mixed_matmul", "depthwise", "elementwise", "lines",
    "movement",
)  # fmt: skip
# Values alone vary in these, and many.
VALUES = ("quotients_beside_ties", "every_exponent", "largest_products", "extreme_accumulators")

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="guard.c replaces glibc's allocator")


@pytest.fixture(scope="module")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("guard", tmp_path_factory.mktemp("guard"), "-shared", "-fPIC")


def start_guarded(library: Path, place: str, *command: str) -> "subprocess.Popen[str]":
    environment = os.environ | {
        "QRT_GUARD": place, "QRT_GUARD_LIBRARY": str(library), "LD_PRELOAD": str(library), "HYPOTHESIS_PROFILE": "few",
        "QRT_ISA": ISAS[-1],
    }  # fmt: skip
    return subprocess.Popen(
        [sys.executable, "-X", "faulthandler", *command],
        env=environment, cwd=FOLDER.parents[1], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip


def run_guarded(library: Path, place: str, *command: str) -> tuple[int, str]:
    process = start_guarded(library, place, *command)
    output, _ = process.communicate()
    return process.returncode, output


def test_kernels_stay_inside(library: Path) -> None:
    """Of the ISA that QRT_ISA names, or the best. Both at once: most of the time goes to mapping pages."""
    tests = [f"tests/kernels/test_{family}.py" for family in FAMILIES]
    options = ("-q", "-x", "-p", "tests.kernels.guard", "-p", "no:cacheprovider", "-k", f"not ({' or '.join(VALUES)})")
    started = [start_guarded(library, place, "-m", "pytest", *options, *tests) for place in ("after", "before")]
    outputs = [process.communicate()[0] for process in started]
    for process, output in zip(started, outputs, strict=True):
        assert process.returncode == 0, output[-6000:]


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
    code, output = run_guarded(library, place, "-c", program)
    assert code == -11, output
    assert output.startswith("inside\n")


def test_a_write_into_what_is_left_of_a_page_is_found(library: Path) -> None:
    program = """
import ctypes, numpy as np
from tests.kernels import guard
guard.install()
array = np.zeros(1000, np.int8)
ctypes.memset(array.ctypes.data - 1, 0, 1)
del array
"""
    code, output = run_guarded(library, "after", "-c", program)
    assert code == -6
    assert "guard: written outside" in output
