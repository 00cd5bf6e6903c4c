"""The build: what setup.py compiles again after which change. Hazards: an object of an older header, which is linked
without a word; a build that compiles everything after each change; a command that fails and leaves its last target."""

import re
import shutil
import sys
import time
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType

import pytest
from setuptools.errors import CompileError

ROOT = Path(__file__).parents[1]
FILES = {
    "csrc/core/one.c": '#include "core/a.h"\nint one(void);\nint one(void) { return VALUE; }\n',
    "csrc/core/two.c": "int two(void);\nint two(void) { return 2; }\n",
    "csrc/core/a.h": '#include "b.h"\n',
    "csrc/core/b.h": "#define VALUE 1\n",
    "csrc/isa.def": "QRT_ISA(ref, ref, 0)\n",
    "qrt/__init__.py": "",
    "qrt/module.pyx": 'include "part.pxi"\n',
    "qrt/part.pxi": "def value():\n    return 1\n",
}


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The functions of setup.py, in a project of two C files and a module."""
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    monkeypatch.chdir(tmp_path)
    if shutil.which("cc") is None:
        pytest.skip("no C compiler: cc")
    specification = spec_from_file_location("qrt_setup", ROOT / "setup.py")
    assert specification is not None
    assert specification.loader is not None
    module = module_from_spec(specification)
    monkeypatch.setitem(sys.modules, "qrt_setup", module)  # dataclasses look for their module
    specification.loader.exec_module(module)
    return module


def made_again(build: ModuleType) -> set[str]:
    """Compile what there is to compile, and return the names of the files that are not as old as they were."""
    objects = Path("build/objects")
    steps = [[step] for step in build.compile_libraries(["cc"], objects)]
    steps.append(build.compile_module(["cc"], Path("qrt/module.pyx"), objects, ["-fsyntax-only"])[:1])
    before = {step.target: step.target.stat().st_mtime_ns for chain in steps for step in chain if step.target.exists()}
    build.run_all(steps)
    return {
        step.target.name
        for chain in steps
        for step in chain
        if step.target.stat().st_mtime_ns != before.get(step.target)
    }


def change(path: str, text: str) -> None:
    """Write a file that is newer than all that was made: file systems count time in steps of some milliseconds."""
    time.sleep(0.05)
    Path(path).write_text(text)
    time.sleep(0.05)


def test_what_reads_a_changed_file_is_made_again_and_nothing_else(build: ModuleType) -> None:
    assert made_again(build) == {"one.o", "two.o", "module.c"}
    assert made_again(build) == set()
    change("csrc/core/b.h", "#define VALUE 3\n")
    assert made_again(build) == {"one.o"}
    change("csrc/core/two.c", FILES["csrc/core/two.c"].replace("2;", "4;"))
    assert made_again(build) == {"two.o"}
    change("qrt/part.pxi", FILES["qrt/part.pxi"].replace("1", "2"))
    assert made_again(build) == {"module.c"}
    change("csrc/core/a.h", "#define VALUE 5\n")
    assert made_again(build) == {"one.o"}
    Path("csrc/core/b.h").unlink()  # which nobody reads now
    assert made_again(build) == set()


def test_another_command_makes_its_files_again(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    made_again(build)
    monkeypatch.setattr(build, "EXTRA", ["-O1"])
    assert made_again(build) == {"one.o", "two.o"}
    monkeypatch.setattr(build, "DIRECTIVES", "wraparound=True")
    assert made_again(build) == {"module.c"}


def test_a_file_that_does_not_compile_is_an_error_until_it_does(
    build: ModuleType, capfd: pytest.CaptureFixture[str]
) -> None:
    made_again(build)
    change("csrc/core/two.c", "int two(void) { return 2; }\n")
    for _ in range(2):
        with pytest.raises(CompileError, match=r"status 1 of cc .*two\.c"):
            made_again(build)
        assert "no previous prototype" in capfd.readouterr().err
    change("csrc/core/two.c", FILES["csrc/core/two.c"])
    assert made_again(build) == {"two.o"}


def test_the_place_of_numpy_is_no_part_of_a_command(build: ModuleType, monkeypatch: pytest.MonkeyPatch) -> None:
    """An isolated build has it in another folder each time."""
    command = build.Step(["cc", f"-I{build.NUMPY}"], Path(), Path(), Path()).signature()
    monkeypatch.setattr(build, "NUMPY", "/elsewhere")
    assert build.Step(["cc", "-I/elsewhere"], Path(), Path(), Path()).signature() == command


def test_setup_reads_no_c_source_but_the_list_of_isas() -> None:
    text = (ROOT / "setup.py").read_text()
    read = set(re.findall(r"([\w.]+(?:\(\"[^\"]*\"\))?)\.read_text\(\)", text))
    assert read == {'Path("csrc/isa.def")', "file", "self.inputs"}
    assert 'file = Path("csrc/isa", name, "flags")' in text
    assert "read_bytes" not in text
    assert "open(" not in text
