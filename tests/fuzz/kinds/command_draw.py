"""Command lines, drawn: of every command, with options and files that are right, wrong, absent and doubled."""

import shlex
from random import Random

from qrt.ir.pipeline import PASSES
from qrt.kernels import available
from tests.fuzz import seeds
from tests.fuzz.kinds.command import STREAMS

_FILES = (
    "p.mlir",
    "p.mlir",
    "p.mlir",
    "two.mlir",
    "split.mlir",
    "no.mlir",
    "bytes.mlir",
    "-",
    "absent.mlir",
    "x.npy",
    ".",
    "",
    "folder.mlir",
)
_NAMES = ("arg0", "arg0", "arg0", "x", "result0", "", "=", "\u00e9", "arg0=arg0")
_ARRAYS = ("x.npy", "x.npy", "i.npy", "o.npy", "z.npz", "cut.npy", "absent.npy", "p.mlir", ".", "", "-")
_TARGETS = ("y.npy", "y.npy", "x.npy", "p.mlir", "no/y", ".", "")
_NUMBERS = (
    "0",
    "1",
    "2",
    "-1",
    "-5",
    "10",
    "1000",
    "x",
    "",
    "1.5",
    "nan",
    "1e3",
    "99999999999999999999",
    "0x2",
    "\u0663",
    "1_0",
)
_VALUES = (
    "4xf32=0,1,2,3", "4xf32=1", "4xf32=nan,inf,-inf,1e400", "4xf32=", "xf32=1", "4xf64=1", "?xf32=1", "f32=1",
    "0xf32=1", "4xi8=300",
    "4xf32=1,2", "*xf32=1", "99999999999xf32=1,2", "4x4xi1=1", "4xf32=1=2", "=", "4xtuple<>=1", "-1xf32=1",
    "4xf32=0x1p3", "4xi65=1",
    "4x!quant.uniform<i8:f32, 0.5:3>=1", "4xindex=1", "4xf128=1", "4xcomplex<f32>=1", "4xf8E8M0FNU=-1",
    "4xi64=99999999999999999999",
)  # fmt: skip
_FLAGS = (
    "--split-input-file", "--verify-diagnostics", "--mlir-print-ir-after-all", "--mlir-print-debuginfo", "--timing",
    "--allow-unregistered-dialect", "--strict", "--strict-upstream", "--emit=generic", "--emit", "--upstream=20",
    "--upstream", "-o", "-oy.mlir", "-o=no/y", "--pass-pipeline=builtin.module(canonicalize)", "--pass-pipeline",
    "--pass-pipeline=a{", "--canonicalize=fold-constants=false", "--canonicalize={", "--lower-quant-ops=rounding=x",
    "--lower-qrt=to=loops", "--constant-fold=max-elements=-1", "--inline==",
)  # fmt: skip
_REAL = 0.02
"""How often a case is a process of its own: they take as long as hundreds of calls."""


def draw(draw: Random) -> str:
    if draw.random() < 0.05:
        return draw.choice(seeds.corpus("command"))
    arguments = draw.choice((_run, _run, _run, _opt, _opt, _bench, _odd))(draw)
    for _ in range(draw.choice((0, 0, 0, 1, 1, 2))):
        arguments = _changed(draw, arguments)
    real = draw.random() < _REAL
    streams = [draw.choice(STREAMS)] if draw.random() < (0.8 if real else 0.1) else []
    return " ".join(["python -m qrt" if real else "qrt", *map(shlex.quote, arguments), *streams])


def _run(draw: Random) -> list[str]:
    found = ["run", draw.choice(_FILES)]
    options = {
        "--input": lambda: f"{draw.choice(_NAMES)}={draw.choice(_ARRAYS)}",
        "--input-value": lambda: f"{draw.choice(_NAMES)}={draw.choice(_VALUES)}",
        "--output": lambda: f"{draw.choice(('result0', 'result0', 'y', ''))}={draw.choice(_TARGETS)}",
        "--function": lambda: draw.choice(("f", "f", "main", "absent", "")),
        "--isa": lambda: draw.choice((*available(), "none", "")),
        "--threads": lambda: draw.choice(_NUMBERS),
        "--max-steps": lambda: draw.choice(_NUMBERS),
    }
    found += draw.choice((["--input", "arg0=x.npy"], ["--input-value", "arg0=4xf32=0,1,2,3"], []))
    for name in draw.choices(sorted(options), k=draw.choice((0, 1, 1, 2, 4))):
        value = options[name]()
        found += [name, value] if draw.random() < 0.7 else [f"{name}={value}"]
    return found + draw.choices(("--interpret", "--saturating"), k=draw.choice((0, 0, 1)))


def _opt(draw: Random) -> list[str]:
    found = ["opt", draw.choice(_FILES)]
    for _ in range(draw.choice((0, 1, 2, 3))):
        found.append(draw.choice((draw.choice(_FLAGS), f"--{draw.choice(sorted(PASSES))}")))
    return found


def _bench(draw: Random) -> list[str]:
    seconds = draw.choice(("0", "1e-9", "-1", "nan", "x", "", "-inf", "1e-3"))
    return ["bench", "--case", draw.choice(("gemm_4x4x4", "gemm_4x4x4", "absent", "", "[")), f"--seconds={seconds}"]


def _odd(draw: Random) -> list[str]:
    return draw.choice(
        ([], ["--help"], ["--version"], ["run"], ["opt", "--help"], ["bench", "--help"], ["fly"], [""], ["-"], ["--"])
    )


def _changed(draw: Random, arguments: list[str]) -> list[str]:
    words = list(arguments) or [""]
    at, other = draw.randrange(len(words)), draw.randrange(len(words))
    match draw.randrange(5):
        case 0:
            del words[at]
        case 1:
            words.insert(at, words[other])
        case 2:
            words[at], words[other] = words[other], words[at]
        case 3:
            words[at] = draw.choice(
                ("", "--", "-", "=", "\udc80", "\u00e9", "\n", "%", "a" * 5000, "--isa", "@p.mlir", *_NUMBERS)
            )
        case _:
            cut = draw.randint(0, len(words[at]))
            words[at] = (
                words[at][:cut] + draw.choice(("", "=", "-", "\0", " ", "9")) + words[at][cut:][draw.choice((0, 1)) :]
            )
    return words
