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


def compiler() -> str:
    """Return the compiler of Python's extension modules; skip the test where there is none."""
    name = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(name) is None:
        pytest.skip(f"no C compiler: {name}")
    return name


def compile_error(text: str, folder: Path) -> str:
    """Return the errors of a file of avx2 that is compiled as setup.py does, and linked alone; "" without any."""
    source = folder / "file.c"
    source.write_text(text)
    errors = re.findall(r'"(-Werror=[\w-]+)"', (CSRC.parent / "setup.py").read_text())
    command = [compiler(), "-std=gnu11", *errors, "-fPIC", "-shared", "-fvisibility=hidden", "-DQRT_ISA=avx2"]
    command += [f"-I{CSRC}", f"-I{CSRC}/include", source, "-o", folder / "file.so"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return done.stderr if done.returncode else ""


def compiled(name: str, folder: Path, *flags: str | Path) -> Path:
    """tests/kernels/<name>.c, built in `folder` (flags follow it, so that libraries may be among them)."""
    program = folder / name
    source = Path(__file__).with_name(f"{name}.c")
    command = [
        compiler(),
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
