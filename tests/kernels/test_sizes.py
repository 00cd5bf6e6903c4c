"""Every entry of the seam at every size: of 0, of 1, around the blocks of every ISA's kernels.

Hazards: a size of 0 that passes for a small one, as a depth of 0 passed for one up to which two panels are multiplied
at once; windows over no element; a block that ends where its array does; what is left of a line; results that are not
written. A crash of the process that sweeps is a failure here, which names the case."""

import ast
import json
import os
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

from qrt._ext import kernels as kernel_calls
from tests.kernels.compiled import CSRC, compiled
from tests.kernels.draws import ISAS
from tests.kernels.sizes import ENTRIES
from tests.kernels.sweep import sizes_of

PRODUCTS = ("gemm", "conv2d", "depthwise_conv2d", "float_matmul", "mixed_matmul")
PARTS = {"products": PRODUCTS, "others": tuple(name for name in ENTRIES if name not in PRODUCTS)}
# Integers that are no sizes, and sizes of at least 1.
VALUES = {
    "storage_min", "storage_max", "x_zero_point", "hidden_zero_point", "result_zero_point", "zero_point", "axis",
    "axes", "multiplier", "multipliers", "shift", "radius", "cell_exponent", "cell_clip", "left_shift",
    "rounding_block", "registers", "in_place", "points", "gates", "made", "projection", "projection_clip",
}  # fmt: skip
AT_LEAST_ONE = {"block", "kernel", "strides", "dilations", "groups", "width", "memory", "rank"}
WITHOUT_ENTRY = {"control"}  # its steps run in plans alone: tests/kernels/plans.c
# A sanitizer is preloaded, which looks at memory itself.
GUARDED = sys.platform.startswith("linux") and "LD_PRELOAD" not in os.environ


def test_every_entry_is_in_the_table() -> None:
    header = "".join(path.read_text() for path in (CSRC / "include" / "qrt").rglob("*.h"))
    entries = set(re.findall(r"^qrt_status qrt_(\w+)\(const void \*args, qrt_scratch", header, re.MULTILINE))
    binders = {name.removeprefix("bind_") for name in dir(kernel_calls) if name.startswith("bind_")} - WITHOUT_ENTRY
    assert len(entries) > 15
    assert set(ENTRIES) == binders == entries | {"conv2d"}


def size_arguments() -> dict[str, set[str]]:
    """Of each entry what the stub declares as an integer, or as integers."""
    stub = Path(kernel_calls.__file__).with_name("kernels.pyi")
    found = {}
    for node in ast.parse(stub.read_text()).body:
        if isinstance(node, ast.FunctionDef) and node.name.startswith("bind_"):
            kinds = {arg.arg: ast.unparse(arg.annotation or ast.Constant("")) for arg in node.args.kwonlyargs}
            sizes = {name for name, kind in kinds.items() if re.search(r"\bint\b", kind)}
            found[node.name.removeprefix("bind_")] = sizes - VALUES
    return {name: sizes for name, sizes in found.items() if name not in WITHOUT_ENTRY}


def test_every_size_is_in_the_table() -> None:
    """With its least values, 0 and 1, or 1 and 2 where nothing less is a size."""
    seen: dict[tuple[str, str], set[int]] = defaultdict(set)
    for entry, cases in ENTRIES.items():
        for case in cases():
            for argument, value in case.given.items():
                seen[entry, argument] |= {flat(size) for size in sizes_of(value)}
    arguments = {(entry, name) for entry, names in size_arguments().items() for name in names}
    assert len(arguments) > 60
    for entry, name in sorted(arguments):
        least = {1, 2} if name in AT_LEAST_ONE or (entry, name) == ("mixed_matmul", "k_block") else {0, 1}
        assert least <= seen[entry, name], f"{entry}: {name} lacks {least - seen[entry, name]}"


def flat(size: Any) -> int:
    """Without its place in tuples."""
    return flat(size[1]) if isinstance(size, tuple) else int(size)


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder = tmp_path_factory.mktemp("sweep")
    case = folder / "case"
    case.touch()
    given = {**os.environ, "QRT_SWEEP_CASE": str(case)}
    if GUARDED:
        library = str(compiled("guard", folder, "-shared", "-fPIC"))
        given |= {"QRT_GUARD": "after", "QRT_GUARD_LIBRARY": library, "LD_PRELOAD": library}
    return given


@pytest.mark.parametrize("part", PARTS)
def test_every_size(part: str, environment: dict[str, str]) -> None:
    """ref beside NumPy, the other ISAs beside ref, all memory between pages that end the process."""
    command = [sys.executable, "-X", "faulthandler", "-m", "tests.kernels.sweep", ",".join(ISAS), *PARTS[part]]
    done = subprocess.run(
        command, env=environment, cwd=Path(__file__).parents[2], capture_output=True, text=True, check=False
    )
    where = Path(environment["QRT_SWEEP_CASE"]).read_text().strip("\0 \n")
    assert done.returncode == 0, f"{done.returncode} at {where}\n{done.stderr[-6000:]}"
    counts = json.loads(done.stdout)
    print(f"{part}: {', '.join(f'{count} {name}' for name, count in counts.items())}; {' '.join(ISAS)}")
    assert counts["entries"] == len(PARTS[part])
    assert counts["refused"] < counts["cases"] / 10


def test_nothing_takes_no_time() -> None:
    """Arrays without an element, whose other sizes are as large as they may be: no loop goes over these. In a process
    of its own, which can be stopped."""
    program = """
import numpy as np, qrt
t = qrt.UniformType("i8", "f32", 0.5)
large = 1 << 20
x = qrt.QuantTensor(np.zeros((1, large, large, 0), np.int8), t)
for pool in (qrt.max_pool2d, qrt.avg_pool2d):
    assert pool(x, (1, 1)).shape == (1, large, large, 0)
w = qrt.QuantTensor(np.zeros((1, 1, 0), np.int8), t)
wide = qrt.QuantTensor(np.zeros((large, large, 0), np.int8), t)
for weights in (w, qrt.pack(w), wide, qrt.pack(wide)):
    assert qrt.depthwise_conv2d(x, weights, out_type=t).storage.size == 0
a = np.zeros((0, large**2), np.float32)
for weights in (np.zeros((large**2, 0), np.float32), qrt.QuantTensor(np.zeros((large**2, 0), np.int8), t)):
    assert qrt.float_matmul(a, weights).shape == (0, 0)
    assert qrt.float_matmul(a, qrt.pack(weights) if isinstance(weights, qrt.QuantTensor) else weights).shape == (0, 0)
assert qrt.conv2d(x, qrt.QuantTensor(np.zeros((0, large, large, 0), np.int8), t), out_type=t).storage.size == 0
"""
    subprocess.run([sys.executable, "-X", "faulthandler", "-c", program], timeout=60, check=True)
