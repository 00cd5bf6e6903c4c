"""The sources of kernels, and programs in C that tests run: compiled as the extension is, skipped where there is no
compiler."""

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest

CSRC = Path(__file__).parents[2] / "csrc"


def code_of(isa: str) -> str:
    """The kernel files of an ISA's folder and the templates which they include, where QRT_OF_ISA(row) is <isa>_row."""
    text = "\n".join(path.read_text() for path in sorted((CSRC / "isa" / isa).rglob("*.c")))
    templates = sorted(set(re.findall(r'^#include "(isa/x86/.+)"$', text, re.MULTILINE)))
    text = "\n".join([text, *((CSRC / each).read_text() for each in templates)])
    return re.sub(r"QRT_OF_ISA\((\w+)\)", rf"{isa}_\1", text)


def compiled(name: str, folder: Path, *flags: str | Path) -> Path:
    """tests/kernels/<name>.c, built in `folder` (flags follow it, so that libraries may be among them)."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: {compiler}")
    program = folder / name
    source = Path(__file__).with_name(f"{name}.c")
    command = [
        compiler,
        "-std=gnu11",
        "-O2",
        "-ffp-contract=off",
        f"-I{CSRC}",
        f"-I{CSRC}/include",
        source,
        "-o",
        program,
        *flags,
    ]
    subprocess.run(command, check=True)
    return program
