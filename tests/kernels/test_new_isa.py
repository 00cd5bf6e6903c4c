"""Adding an ISA takes one folder and one line, adding a row takes one file. In a copy of the tree a dummy ISA and the
kernel of docs/tutorials/adding_a_kernel.md are built at once, and what that page says is done."""

import platform
import re
from pathlib import Path

import pytest

import qrt
from tests.docs.documents import ROOT
from tests.docs.tree import Tree, python
from tests.docs.walkthrough import CheckoutWalk, steps

PAGE = "docs/tutorials/adding_a_kernel.md"
KERNEL = """
#include "isa/rows.h"

void dummy_clamp_row(const qrt_unary_args *args, const void *source, void *target, int64_t count,
                     int64_t parameter, int64_t step) {
    (void)args, (void)source, (void)parameter, (void)step;
    for (int64_t i = 0; i < count; i++)
        ((signed char *)target)[i] = 42;
}

const qrt_kernels dummy_rows = {
    .clamp_row = dummy_clamp_row,
};
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


def leave_out_isas_above_avx2(tree: Tree) -> None:
    """Neither the dummy nor the page needs them, and their compilation takes most of the time of a whole build."""
    definitions = tree.folder / "csrc" / "isa.def"
    text = definitions.read_text()
    kept = re.sub(r"^QRT_ISA\((?!ref,|avx2,).*\n", "", text, flags=re.MULTILINE)
    assert re.findall(r"^QRT_ISA\((\w+)", kept, re.MULTILINE) == ["ref", "avx2"]
    assert kept != text
    definitions.write_text(kept)


def test_a_dummy_isa_and_a_kernel_are_built_found_and_called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tree = Tree(tmp_path).with_c()
    (tmp_path / "csrc" / "isa" / "dummy").mkdir()
    machine = {"AMD64": "x86_64", "arm64": "aarch64"}.get(platform.machine(), platform.machine())
    tree.make("csrc/isa/dummy/flags", f"{machine} -O0\n")
    tree.make("csrc/isa/dummy/init.c", KERNEL)
    leave_out_isas_above_avx2(tree)
    tree.append("csrc/isa.def", "QRT_ISA(dummy, ref, 0)\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("QRT_ISA", raising=False)  # tests would run on that ISA alone
    monkeypatch.setenv("QRT_CFLAGS", "-O0")  # compiles in half the time
    walk = CheckoutWalk(PAGE, (ROOT / "Makefile").read_text())
    for step in steps((ROOT / PAGE).read_text()):
        if "avx2" in qrt.kernels.available() or step.path is not None or step.text == "make build":
            walk.do(step)
    monkeypatch.setenv("QRT_ISA", "ref")
    status, printed = python(tmp_path, "-c", PROGRAM)
    assert status == 0, printed
    isas, plain, dummy, suppliers = printed.splitlines()
    assert isas.split()[0] == "ref"
    assert "dummy" in isas.split()
    assert plain == "1 1 2 3 3 0 1 2 3 4"
    assert dummy == "42 42 42 42 42 0 1 2 3 4"  # what it does not define is its parent's
    assert suppliers == "dummy ref None"
