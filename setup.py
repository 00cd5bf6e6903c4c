"""Compiles csrc/, the folder of each ISA by flags of its own, and the Cython modules over it, on all processors.

A file is made again when its command or an input of the command is not what it was: compilers list the files that they
read. What is made of the sources stands in build/objects, whichever command of setuptools or pip asks for it.

Two variables of the environment make other builds, for tests, each in a --build-base of its own:
QRT_EMULATE=amx,avxvnni   these ISAs run anywhere their parent does, on emulated instructions
QRT_CFLAGS="-O1 ..."      follows all other flags, of compiler and linker
"""

import logging
import os
import platform
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import Cython
import numpy
from setuptools import Extension, setup
from setuptools.command.build_clib import build_clib
from setuptools.command.build_ext import build_ext
from setuptools.errors import CompileError

ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
EMULATED = os.environ.get("QRT_EMULATE", "").replace(",", " ").split()
EXTRA = os.environ.get("QRT_CFLAGS", "").split()
INCLUDES = ["-Icsrc", "-Icsrc/include"]
# A kernel of an unknown name has no prototype in isa/rows.h.
WARNINGS = ["-Wall", "-Wextra", "-Werror=missing-prototypes", "-Werror=incompatible-pointer-types"]
# -fno-lto: link-time inlining would carry one ISA's code into another. -fwrapv: tiles sum modulo 2^32, and only what
# they end with is known to fit.
COMMON = ["-std=gnu11", *WARNINGS, "-ffp-contract=off", "-fwrapv", "-fno-lto", "-fvisibility=hidden"]
NO_VECTORS = {
    "gcc": ["-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"],
    "clang": ["-O2", "-fno-vectorize", "-fno-slp-vectorize"],
}
# Processors from Skylake to Cascade Lake do not keep the decoded form of a jump that crosses or ends at 32 bytes.
JUMPS_INSIDE_32_BYTES = ["-Wa,-mbranches-within-32B-boundaries", "-mbranches-within-32B-boundaries"]  # GNU's, LLVM's

NUMPY = numpy.get_include()
# Bounds stay checked: the directive is about Python's tuples and lists too, whose lengths callers choose.
DIRECTIVES = "wraparound=False,auto_pickle=False,autotestdict=False"
# -g0: debug information of generated code takes a quarter of its compile time, and nobody reads it.
MODULE_FLAGS = ["-std=gnu11", "-O2", "-g0", "-fvisibility=hidden", f"-I{NUMPY}", *INCLUDES]
MODULE_FLAGS += ["-DNPY_NO_DEPRECATED_API=NPY_2_0_API_VERSION", "-DNPY_TARGET_VERSION=NPY_2_0_API_VERSION"]
KERNELS = "qrt._ext.kernels"
"""The module into which csrc/ is linked."""


@dataclass(frozen=True)
class Step:
    """A command that makes the target of the source, and lists what it reads beside that in `inputs`, as make does."""

    command: list[str]
    source: Path
    target: Path
    inputs: Path

    def signature(self) -> str:
        """The command, in which NumPy and Cython have versions: an isolated build has them in a folder of its own."""
        command = shlex.join(self.command).replace("-m cython", f"-m cython {Cython.__version__}")
        return command.replace(NUMPY, f"numpy {numpy.__version__}")

    def is_done(self) -> bool:
        if not self.target.exists() or not self.inputs.exists():
            return False
        signature, _, listed = self.inputs.read_text().partition("\n")
        files = [self.source, *map(Path, re.findall(r"(?<=\s)(?:csrc|qrt)/[^\s\\]+", listed))]
        made = self.target.stat().st_mtime
        return signature == self.signature() and all(file.exists() and file.stat().st_mtime <= made for file in files)

    def run(self) -> None:
        if self.is_done():
            return
        logging.info(shlex.join(self.command))
        self.target.parent.mkdir(parents=True, exist_ok=True)
        self.target.unlink(missing_ok=True)
        done = subprocess.run(self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        sys.stderr.write(done.stdout)
        if done.returncode:
            raise CompileError(f"status {done.returncode} of {shlex.join(self.command)}")
        self.inputs.write_text(f"{self.signature()}\n{self.inputs.read_text()}")


def run_chain(steps: list[Step]) -> None:
    for step in steps:
        step.run()


def run_all(chains: Iterable[list[Step]]) -> None:
    """Run the steps of a chain one after the other, and as many chains at once as there are processors."""
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:
        for _ in pool.map(run_chain, chains):
            pass  # an error of one is raised here, and the others are left out


@cache
def architecture() -> str:
    """What the compiler of CC compiles for, which may be another machine; else this machine's."""
    compiler = shlex.split(os.environ.get("CC", ""))
    machine = subprocess.check_output([*compiler, "-dumpmachine"], text=True) if compiler else platform.machine()
    machine = machine.split("-")[0].lower()
    return ARCHITECTURES.get(machine, machine)


def accepts(compiler: list[str], flag: str) -> bool:
    """Whether the compiler and its assembler know the flag, for the architecture they compile for."""
    command = [*compiler, "-Werror", flag, "-x", "c", "-c", os.devnull, "-o", os.devnull]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


def isa_flags() -> dict[str, list[str] | None]:
    """The flags of each ISA in isa.def for this architecture, after its parent's; None where it is not built."""
    flags: dict[str, list[str] | None] = {}
    for name, parent in re.findall(r"^QRT_ISA\((\w+), (\w+),", Path("csrc/isa.def").read_text(), re.MULTILINE):
        file = Path("csrc/isa", name, "flags")
        targets = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        own = {target: added for target, *added in targets}.get(architecture(), [] if name == "ref" else None)
        inherited = flags.get(parent, [])
        flags[name] = None if inherited is None or own is None else inherited + own
    return flags


def libraries(compiler: list[str]) -> dict[str, list[str]]:
    """The folders of csrc/ with the flags of their files: one for each ISA, those that compile longest first."""
    isas = isa_flags()
    built = {name: flags for name, flags in isas.items() if flags is not None}
    if unknown := set(EMULATED) - set(built):
        raise SystemExit(f"QRT_EMULATE: {', '.join(unknown)} not among the ISAs built here, {', '.join(built)}")
    jumps = [flag for flag in JUMPS_INSIDE_32_BYTES if accepts(compiler, flag)][:1]
    folders: dict[str, list[str]] = {}
    for name, flags in reversed(built.items()):
        folder = "csrc/ref" if name == "ref" else f"csrc/isa/{name}"
        own = NO_VECTORS["clang" if "clang" in " ".join(compiler) else "gcc"] if name == "ref" else jumps
        folders[folder] = [f"-DQRT_ISA={name}", *["-DQRT_EMULATE=1"] * (name in EMULATED), *flags, *own]
    folders["csrc/core"] = ["-O2", *(f"-DQRT_BUILD_{name}={int(name in built)}" for name in isas)]
    folders["csrc/core"] += [f"-DQRT_EMULATE_{name}={int(name in EMULATED)}" for name in isas]
    return folders


def compilation(compiler: list[str], source: Path, target: Path, flags: list[str]) -> Step:
    inputs = target.with_suffix(".d")
    command = [*compiler, "-c", str(source), "-o", str(target), "-MMD", "-MF", str(inputs), *flags, *EXTRA]
    return Step(command, source, target, inputs)


def compile_libraries(compiler: list[str], objects: Path) -> list[Step]:
    return [
        compilation(compiler, source, objects / source.with_suffix(".o"), [*COMMON, *INCLUDES, *flags])
        for folder, flags in libraries(compiler).items()
        for source in sorted(Path(folder).rglob("*.c"))
    ]


def compile_module(compiler: list[str], source: Path, objects: Path, flags: list[str]) -> list[Step]:
    code = objects / source.with_suffix(".c")
    command = [
        sys.executable,
        "-m",
        "cython",
        "-3",
        "--depfile",
        "--directive",
        DIRECTIVES,
        str(source),
        "-o",
        str(code),
    ]
    translation = Step(command, source, code, Path(f"{code}.dep"))
    return [translation, compilation(compiler, code, objects / source.with_suffix(".o"), flags)]


class BuildLibraries(build_clib):
    """csrc/ alone, for compilers and architectures for which there is no Python: `setup.py build_clib`."""

    def finalize_options(self) -> None:
        super().finalize_options()
        self.libraries = [("csrc", {})]

    def build_libraries(self, libraries: list[tuple[str, dict[str, object]]]) -> None:
        run_all([step] for step in compile_libraries(self.compiler.compiler_so, Path(self.build_temp)))


class BuildExtensions(build_ext):
    def build_extensions(self) -> None:
        compiler, objects = self.compiler.compiler_so, Path(self.get_finalized_command("build").build_base, "objects")
        flags = [*MODULE_FLAGS, *(f"-I{folder}" for folder in self.include_dirs)]
        kernels = compile_libraries(compiler, objects)
        modules = {e.name: compile_module(compiler, Path(e.sources[0]), objects, flags) for e in self.extensions}
        run_all([*modules.values(), *([step] for step in kernels)])
        for extension in self.extensions:
            steps = [modules[extension.name][-1], *(kernels if extension.name == KERNELS else [])]
            extension.sources, extension.extra_objects = [], [str(step.target) for step in steps]
            extension.depends = extension.extra_objects
        super().build_extensions()


if __name__ == "__main__":
    setup(
        ext_modules=[
            Extension(".".join(path.with_suffix("").parts), [str(path)], extra_link_args=["-pthread", *EXTRA])
            for path in sorted(Path("qrt").rglob("*.pyx"))
        ],
        cmdclass={"build_clib": BuildLibraries, "build_ext": BuildExtensions},
    )
