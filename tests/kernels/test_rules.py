"""The rules of requantization in C: the rows of csrc/rules.def. Hazards: a rule of one language alone; one
that a kernel computes as another one, because a switch has no case of it."""

import platform
import re
import shutil
import subprocess
import sysconfig
from itertools import product
from pathlib import Path

import numpy as np
import pytest

from qrt import numerics
from tests.kernels.compiled import CSRC, compiled

ROW = "QRT_RULE(QRT_{}, {})"
SWITCHES = sorted(path.relative_to(CSRC) for path in CSRC.rglob("*.*") if "case QRT_FIXED:" in path.read_text())
STORES = [Path("isa/avx2/store.c"), Path("isa/avx512/store.c")]
"""Files that include the switches of store.inl and strip.inl."""
FLAGS = [
    "-std=gnu11", "-fsyntax-only", "-mavx2", "-mfma", "-mf16c", "-mavx512f", "-mavx512bw", "-mavx512dq", "-mavx512vl",
]  # fmt: skip
IS_X86 = platform.machine().lower() in ("x86_64", "amd64")


def complaint(csrc: Path, file: Path) -> str:
    """Return what the compiler says against a file of a copy of csrc."""
    compiler = (sysconfig.get_config_var("CC") or "cc").split()[0]
    if shutil.which(compiler) is None:
        pytest.skip(f"no C compiler: {compiler}")
    flags = [flag for flag in FLAGS if IS_X86 or not flag.startswith("-m")]
    command = [compiler, *flags, f"-DQRT_ISA={file.parts[-2]}", f"-I{csrc}", f"-I{csrc}/include", csrc / file]
    return subprocess.run(command, capture_output=True, text=True, check=False).stderr


def compiled_files() -> list[Path]:
    """List the files whose compilation reads a switch."""
    assert {path.suffix for path in SWITCHES} <= {".c", ".inl"}
    return [path for path in SWITCHES if path.suffix == ".c"] + STORES * IS_X86


def test_the_names_are_those_of_the_table() -> None:
    rows = re.findall(r"^QRT_RULE\((\w+), (\w+)\)", (CSRC / "rules.def").read_text(), re.MULTILINE)
    assert [name for _, name in rows] == [*numerics.ARITHMETICS]
    assert all(number == f"QRT_{name.upper()}" for number, name in rows)


def test_switches_are_where_they_are_looked_for() -> None:
    """And none has a `default`, or compares with one rule and leaves the rest to another."""
    names = [path.as_posix() for path in SWITCHES]
    assert names == [
        "isa/x86/store/store.inl",
        "isa/x86/store/strip.inl",
        "ref/elementwise.c",
        "ref/gemm.c",
        "ref/requant.c",
    ]
    for path in SWITCHES:
        text = (CSRC / path).read_text()
        assert '#pragma GCC diagnostic error "-Wswitch-enum"' in text, path
        assert "default:" not in text, path
        assert "QRT_FIXED ?" not in text, path


def test_a_new_rule_does_not_compile_without_cases(tmp_path: Path) -> None:
    csrc = tmp_path / "csrc"
    shutil.copytree(CSRC, csrc)
    assert [complaint(csrc, file) for file in compiled_files()] == [""] * len(compiled_files())
    rules = csrc / "rules.def"
    rules.write_text(ROW.format("NEW", "new") + "\n" + rules.read_text())
    for file in compiled_files():
        assert "error: enumeration value" in complaint(csrc, file), file


@pytest.mark.parametrize("file", [path for path in SWITCHES if path.suffix == ".c"], ids=str)
def test_a_deleted_case_does_not_compile(file: Path, tmp_path: Path) -> None:
    csrc = tmp_path / "csrc"
    shutil.copytree(CSRC, csrc)
    text = (CSRC / file).read_text()
    cases = re.findall(r"^ +case QRT_\w+:\n", text, re.MULTILINE)
    assert len(cases) >= len(numerics.ARITHMETICS)
    for case in cases:
        (csrc / file).write_text(text.replace(case, "", 1))
        assert "error: enumeration value" in complaint(csrc, file), case


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return compiled("requant", tmp_path_factory.mktemp("requant"), CSRC / "ref" / "requant.c", "-lm")


OF_INTEGERS = [name for name, rule in numerics.RULES.items() if rule.summand != "floats"]
CASES = [*product(OF_INTEGERS, [(0.25, 0), (0.3, 5), (3.7, -100)]), ("fixed", (2.0**-30, 0)), ("fixed", (2.0**-31, 0))]
"""A rule, the real multiplier and the zero point. The last two shift by 62 places, and by one more, which leaves 0."""


@pytest.mark.parametrize(("name", "given"), CASES)
def test_ref_computes_every_row(name: str, given: tuple[float, int], program: Path) -> None:
    """Ties to both sides of zero, saturation, and all between."""
    ratio, zero_point = given
    p = numerics.requant_parameters(name, "i8", -128, 127, [(ratio,)], [(1.0,)], [zero_point], [4], [3])
    acc = np.unique([*range(-60, 61), *(sign * (1 << n) for n in range(6, 40) for sign in (1, -1))])
    arguments = [str(getattr(p, array).sum()) for array in ("multiplier", "shift", "zero_point")]
    arguments += [float(getattr(p, array).sum()).hex() for array in ("scale_f32", "offset_f32", "scale_f64")]
    text = "\n".join(map(str, acc))
    done = subprocess.run([program, p.rule, *arguments], input=text, capture_output=True, text=True, check=True)
    assert [*map(int, done.stdout.split())] == numerics.requantize(acc, p).tolist()
