"""Adding an ISA takes one folder and one line: a copy of the tree with a dummy one is built, and its entry runs."""

import os
import platform
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.kernels.compiled import CSRC

ROOT = CSRC.parent
KERNEL = """
#include "isa/init.inl"

void dummy_clamp_row(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                     int64_t parameter, int64_t step) {
    (void)args, (void)source, (void)parameter, (void)step;
    for (int64_t i = 0; i < count; i++)
        ((signed char *)target)[i] = 42;
}

void qrt_init_dummy(qrt_kernels *table) {
    install_rows(table);
}
"""
PROGRAM = """
import numpy as np, qrt
q = qrt.scast(np.arange(5, dtype=np.int8), qrt.parse_type("!quant.uniform<i8:f32, 1.0>"))
print(*qrt.kernels.available())
for isa in ("ref", "dummy"):
    with qrt.kernels.use(isa):
        print(*qrt.clamp(q, 1.0, 3.0).storage, *qrt.requantize(q, q.type).storage)
supplier = qrt.kernels.coverage()["dummy"]
print(supplier["clamp_row"], supplier["requantize_row"], supplier["depthwise"])
"""


def test_a_dummy_isa_is_built_found_and_called(tmp_path: Path) -> None:
    if not list((ROOT / "qrt" / "_seam").glob("_core.c")):
        pytest.skip("the tree has not been built in place: Cython's C is not here to be compiled")
    for folder in ("csrc", "qrt"):
        shutil.copytree(ROOT / folder, tmp_path / folder, ignore=shutil.ignore_patterns("*.so", "__pycache__"))
    for file in ("setup.py", "pyproject.toml", "README.md", "LICENSE"):
        shutil.copy2(ROOT / file, tmp_path)
    folder = tmp_path / "csrc" / "isa" / "dummy"
    folder.mkdir()
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    (folder / "flags").write_text(f"{machine} -O0\n")
    (folder / "init.c").write_text(KERNEL)
    with (tmp_path / "csrc" / "isa.def").open("a") as lines:
        lines.write("QRT_ISA(dummy, ref, 0)\n")
    build = [sys.executable, "setup.py", "--quiet", "build", "--build-lib", "lib"]
    subprocess.run(build, cwd=tmp_path, env=os.environ | {"QRT_CFLAGS": "-O0"}, check=True, capture_output=True)
    environment = os.environ | {"PYTHONPATH": "lib", "PYTHONSAFEPATH": "1", "QRT_ISA": "ref"}
    ran = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
    )
    isas, plain, dummy, suppliers = ran.stdout.splitlines()
    assert isas.split()[0] == "ref"
    assert "dummy" in isas.split()
    assert plain == "1 1 2 3 3 0 1 2 3 4"
    assert dummy == "42 42 42 42 42 0 1 2 3 4"  # what it does not define is its parent's
    assert suppliers == "dummy ref None"
