"""ONNX Runtime's results of drawn models of every form, kept in `stored.txt`: a changed rule is noticed without it.

    python -m tests.models.onnx.stored               # runs ONNX Runtime, and writes what the file lacks
    python -m tests.models.onnx.stored --check [WORD ...]

The first is for a machine with VNNI, as the profile demands: products of u8 and s8 need it, and nothing else does. It
keeps the lines of models that are drawn as they were, if they are of this version of ONNX Runtime. The second compares
qrt's plain references with the file, for the forms whose name begins with one of the words, and prints those that
differ; the status is 1 if there are any. `tests.models.stored` says what a line of the file holds.
"""

import sys
import zlib
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

import qrt
from qrt.models.engines.ort import OnnxRuntime
from qrt.models.importing.comparison_source import Bound
from qrt.ops.core import Array
from tests.models.beside import Case, Form
from tests.models.onnx.oracle import forms
from tests.models.onnx.running import imported
from tests.models.stored import Line, digest_of, kept, main, read_lines, same, storage, write_lines

FILE = Path(__file__).with_name("stored.txt")
PROFILES = ("ort",)
FURTHER: dict[str, tuple[int, ...]] = {
    "AveragePool, three axes": (1, 2, 3),
    "AveragePool, two axes": (1, 2, 3, 4, 31, 358),
    "DynamicQuantizeLinear": (2,),
    "DynamicQuantizeMatMul int8": (7,),
    "MatMulNBits of 4": (1,),
    "QDQ AveragePool int8, two axes": (1, 2, 3, 4, 5, 6),
    "QDQ GlobalAveragePool int8": (72,),
    "QLinearAdd int8": (11, 137),
    "QLinearAdd int8, every pair": (4, 15),
    "QLinearAdd uint8": (84,),
    "QLinearAdd uint8, every pair": (2, 21),
    "QLinearAveragePool uint8": (7,),
    "QLinearConv, halves, depthwise": (14,),
    "QLinearGlobalAveragePool int8": (109,),
    "QLinearSigmoid int8": (3,),
    "QLinearSoftmax int8": (7, 147),
    "QLinearSoftmax uint8, before 13": (101,),
    "Resize int8, nearest": (184,),
}
"""Models besides the first, of forms whose first model does not tell apart what `tests.models.mutations` changes."""


def drawn(name: str, number: int) -> Case:
    """Which model of a form it is."""
    return by_name()[name](np.random.default_rng([0, zlib.crc32(name.encode()), number]))


def ours(of: Case, interpret: bool) -> list[list[Array]]:
    """The results of each run, by the plain references or by kernels."""
    program = qrt.compile(imported(of.content))
    names = [port.name for port in program.inputs]
    found = [program.run(dict(zip(names, run, strict=True)), interpret=interpret) for run in of.inputs or ()]
    return [list(map(storage, each.values())) for each in found]


@cache
def lines() -> tuple[Line, ...]:
    """The lines of the file."""
    return read_lines(FILE, PROFILES)


@cache
def by_name() -> dict[str, Form]:
    """Every form whose results are the runtime's own, by its name."""
    drawn = {name: form for name, form, _ in forms()}
    cases = {name: form(np.random.default_rng(0)) for name, form in drawn.items()}
    return {name: form for name, form in drawn.items() if not cases[name].is_rounded_otherwise}


def differences(line: Line, interpret: bool) -> list[str]:
    """The profile, if qrt computes other results."""
    of = drawn(line.name, line.number)
    if digest_of(of.content, of.inputs or ()) != line.digest:
        return ["what is drawn has changed: python -m tests.models.onnx.stored"]
    found = kept(ours(of, interpret))
    bound = Bound(of.ulp, absolute=of.absolute)
    return [profile for profile, wanted in line.results.items() if not same(found, wanted, bound)]


def _write() -> None:
    head = f"onnxruntime {version('onnxruntime')}; written by python -m tests.models.onnx.stored"
    known = {(line.name, line.number, line.digest): line for line in lines()}
    if not FILE.read_text().startswith(f"# {head}\n"):
        known = {}
    found = []
    with OnnxRuntime(seconds=300) as runtime:
        for name in by_name():
            for number in (0, *FURTHER.get(name, ())):
                of = drawn(name, number)
                line = known.get((name, number, digest_of(of.content, of.inputs or ())))
                if line is not None:
                    found.append(line)
                    continue
                loaded = runtime.load(of.content)
                results = {"ort": kept([loaded.run(inputs) for inputs in of.inputs or ()])}
                found.append(Line(name, number, digest_of(of.content, of.inputs or ()), results))
                loaded.close()
    write_lines(FILE, head, found, PROFILES)


if __name__ == "__main__":
    sys.exit(main(__doc__, _write, lines, differences))
