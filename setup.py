"""Builds csrc/ as static libraries, one per ISA folder with its own flags, and the Cython modules over them.

Two variables of the environment make other builds, for tests, each in a --build-base of its own:
QRT_EMULATE=amx,avxvnni   these ISAs run anywhere their parent does, on emulated instructions
QRT_CFLAGS="-O1 ..."      follows all other flags, of compiler and linker
"""

import os
import platform
import re
import shlex
import subprocess
from functools import cache
from glob import glob
from pathlib import Path

import numpy
from Cython.Build import cythonize
from setuptools import Extension, setup
from setuptools.command.build_clib import build_clib
from setuptools.command.build_ext import build_ext

ARCHITECTURES = {"amd64": "x86_64", "arm64": "aarch64"}
# -fno-lto: link-time inlining would carry one ISA's code into another. -fwrapv: tiles sum modulo 2^32, and only what
# they end with is known to fit.
COMMON = [
    "-std=gnu11",
    "-Wall",
    "-Wextra",
    "-Werror=missing-prototypes",
    "-Werror=incompatible-pointer-types",
    "-ffp-contract=off",
    "-fwrapv",
    "-fno-lto",
    "-fvisibility=hidden",
]
HEADERS = ["setup.py", *(p for p in glob("csrc/**", recursive=True) if p.endswith((".h", ".inl", ".def", "/flags")))]
INCLUDES = ["csrc", "csrc/include"]
EMULATED = os.environ.get("QRT_EMULATE", "").replace(",", " ").split()
EXTRA = os.environ.get("QRT_CFLAGS", "").split()
NO_VECTORS = {
    "gcc": ["-O2", "-fno-tree-vectorize", "-fno-tree-slp-vectorize"],
    "clang": ["-O2", "-fno-vectorize", "-fno-slp-vectorize"],
}
# Processors from Skylake to Cascade Lake do not keep the decoded form of a jump that crosses or ends at 32 bytes.
JUMPS_INSIDE_32_BYTES = ["-Wa,-mbranches-within-32B-boundaries", "-mbranches-within-32B-boundaries"]  # GNU's, LLVM's


@cache
def architecture() -> str:
    """What the compiler of CC compiles for, which may be another machine; else this machine's."""
    compiler = shlex.split(os.environ.get("CC", ""))
    machine = subprocess.check_output([*compiler, "-dumpmachine"], text=True) if compiler else platform.machine()
    machine = machine.split("-")[0].lower()
    return ARCHITECTURES.get(machine, machine)


PARENTS = dict(re.findall(r"^QRT_ISA\((\w+), (\w+),", Path("csrc/isa.def").read_text(), re.MULTILINE))


def isa_flags() -> dict[str, list[str] | None]:
    """The flags of each ISA in isa.def for this architecture, after its parent's; None where it is not built."""
    found: dict[str, list[str] | None] = {}
    for name, parent in PARENTS.items():
        file = Path("csrc/isa", name, "flags")
        targets = [line.split() for line in file.read_text().splitlines()] if file.exists() else []
        own = {target: flags for target, *flags in targets}.get(architecture(), [] if name == "ref" else None)
        inherited = found.get(parent, [])
        found[name] = None if inherited is None or own is None else inherited + own
    return found


def folder_of(isa: str) -> str:
    return "csrc/ref" if isa == "ref" else f"csrc/isa/{isa}"


def library(name: str, folder: str, flags: list[str], macros: list[tuple[str, str]]) -> tuple:
    sources = sorted(glob(f"{folder}/**/*.c", recursive=True))
    return name, {
        "sources": sources,
        "obj_deps": {"": HEADERS},
        "include_dirs": INCLUDES,
        "macros": macros,
        "cflags": COMMON + flags + EXTRA,
    }


def accepts(compiler: list[str], flag: str) -> bool:
    """Whether the compiler and its assembler know the flag, for the architecture they compile for."""
    command = [*compiler, "-Werror", flag, "-x", "c", "-c", os.devnull, "-o", os.devnull]
    return subprocess.run(command, stderr=subprocess.DEVNULL, check=False).returncode == 0


class BuildLibraries(build_clib):
    def build_libraries(self, libraries: list[tuple]) -> None:
        command = list(map(str, self.compiler.compiler_so))
        compiler = "clang" if "clang" in " ".join(command) else "gcc"
        jumps = [flag for flag in JUMPS_INSIDE_32_BYTES if accepts(command, flag)][:1]
        for name, info in libraries:
            if name not in ("qrt_core", "qrt_ref"):
                info["cflags"] = info["cflags"] + jumps
            if name == "qrt_ref":
                info["cflags"] = info["cflags"] + NO_VECTORS[compiler]
            # An archive keeps what was compiled of a file that is gone.
            Path(self.build_clib, self.compiler.library_filename(name)).unlink(missing_ok=True)
        super().build_libraries(libraries)


class BuildExtensions(build_ext):
    def run(self) -> None:
        self.run_command("build_clib")
        super().run()


isas = isa_flags()
built = {name: flags for name, flags in isas.items() if flags is not None}
if unknown := set(EMULATED) - set(built):
    raise SystemExit(f"QRT_EMULATE: {', '.join(unknown)} not among the ISAs built here, {', '.join(built)}")
macros = [(f"QRT_BUILD_{name}", str(int(name in built))) for name in isas]
macros += [(f"QRT_EMULATE_{name}", str(int(name in EMULATED))) for name in isas]
libraries = [library("qrt_core", "csrc/core", ["-O2"], macros)]
libraries += [
    library(f"qrt_{name}", folder_of(name), flags, [("QRT_ISA", name), *[("QRT_EMULATE", "1")] * (name in EMULATED)])
    for name, flags in built.items()
]

extensions = [
    Extension(
        path.removesuffix(".pyx").replace("/", "."),
        [path],
        include_dirs=[*INCLUDES, numpy.get_include()],
        define_macros=[
            ("NPY_NO_DEPRECATED_API", "NPY_2_0_API_VERSION"),
            ("NPY_TARGET_VERSION", "NPY_2_0_API_VERSION"),
        ],
        depends=[
            *HEADERS,
            *glob("csrc/**/*.c", recursive=True),
            *glob("qrt/_seam/*.p*"),
            *glob(f"{Path(path).parent}/*.p*"),
        ],
        # -g0: debug information of generated code takes a quarter of its compile time, and nobody reads it.
        extra_compile_args=["-std=gnu11", "-O2", "-g0", "-fvisibility=hidden", *EXTRA],
        extra_link_args=["-pthread", *EXTRA],
    )
    for path in sorted(glob("qrt/_seam/*.pyx") + glob("qrt/eager/*.pyx") + glob("qrt/text/*.pyx"))
]

setup(
    libraries=libraries,
    ext_modules=cythonize(
        extensions,
        language_level=3,
        # Bounds stay checked: the directive is about Python's tuples and lists too, whose lengths callers choose.
        compiler_directives={"wraparound": False, "auto_pickle": False, "autotestdict": False},
    ),
    cmdclass={"build_clib": BuildLibraries, "build_ext": BuildExtensions},
)
