"""LiteRT's results of drawn models of every form, kept in `stored.txt`: a changed rule is noticed without LiteRT.

    python -m tests.formats.tflite.stored               # runs LiteRT, and writes the file
    python -m tests.formats.tflite.stored --check [WORD ...]

The second compares qrt's plain references with the file, for the forms whose name begins with one of the words, and
prints those that differ; the status is 1 if there are any. A line of the file is of one model: the form, the number
of the model, a digest of what was drawn, and for each profile a digest of all results. Floats, which may lie some units
in the last place apart, are there themselves: the greatest magnitude and some elements of each result.
"""

import argparse
import base64
import sys
import zlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from hashlib import blake2b
from importlib.metadata import version
from pathlib import Path

import numpy as np

from qrt.engines.litert import LiteRT
from qrt.engines.tally import Tally
from qrt.execute.program import Program
from qrt.formats.importing.compared import Bound
from qrt.formats.tflite.compared import inputs_of as subgraph_inputs
from qrt.formats.tflite.importing import import_model
from qrt.formats.tflite.model import Model
from qrt.formats.tflite.read import read
from qrt.ops.core import Array
from qrt.profiles import profile as profile_of
from qrt.tensor import QuantTensor
from tests.formats.tflite.oracle import PROFILES, Case, Form, forms, inputs_of

FILE = Path(__file__).with_name("stored.txt")
KEPT = 8
"""Elements of a float result."""
FURTHER: dict[str, tuple[int, ...]] = {
    "ABS i16": (1,),
    "ADD i16": (2,),
    "ADD i8, wide ratios": (24,),
    "BATCH_MATMUL i8": (3,),
    "CONV_2D i16, bias i32": (1,),
    "ELU i8": (23,),
    "FULLY_CONNECTED i16, bias i64": (4,),
    "FULLY_CONNECTED i8, bounds at halves": (2,),
    "FULLY_CONNECTED i8, weight zero point": (1,),
    "FULLY_CONNECTED u8, halves": (1,),
    "GELU i8": (26,),
    "LEAKY_RELU i8": (1,),
    "LOG_SOFTMAX i8": (36,),
    "MEAN u8": (89,),
    "MUL i16": (34,),
    "PRELU i16": (2,),
    "QUANTIZE i8 to u8": (23,),
    "RELU i16": (20,),
    "SOFTMAX i8 to i16": (26,),
    "SUM u8": (554,),
    "TFLite_Detection_PostProcess uint8, all classes": (2,),
    "TRANSPOSE_CONV i8 per axis": (19,),
}
"""Models besides the first, of forms whose first model does not tell apart what `tests.formats.mutations` changes."""


@dataclass(frozen=True)
class Drawn:
    """A model of a form, with its inputs."""

    case: Case
    model: Model
    inputs: Sequence[Sequence[Array]]

    @property
    def digest(self) -> str:
        """Of all that was drawn."""
        return _digest([np.frombuffer(self.case.content, np.uint8), *(array for run in self.inputs for array in run)])


def drawn(name: str, form: Form, number: int) -> Drawn:
    """Which model of a form it is."""
    rng = np.random.default_rng([0, zlib.crc32(name.encode()), number])
    case = form(rng)
    model = read(case.content)
    return Drawn(case, model, [list(run) for run in inputs_of(case, subgraph_inputs(model.subgraphs[0]), rng)])


def ours(of: Drawn, profile: str, interpret: bool) -> list[list[Array]]:
    """The results of each run, by the plain references or by kernels."""
    program = Program(import_model(of.model, profile_of(profile)))

    def run(inputs: Sequence[Array]) -> list[Array]:
        named = {port.name: array for port, array in zip(program.inputs, inputs, strict=True)}
        return list(map(_stored, program.run(named, interpret=interpret).values()))

    return _every(of, run, program.reset)


def theirs(of: Drawn, profile: str, litert: LiteRT) -> list[list[Array]]:
    """The results of each run of LiteRT."""
    loaded = litert.load(of.case.content, profile=profile)
    found = _every(of, loaded.run, loaded.reset)
    loaded.close()
    return found


def _every(of: Drawn, run: Callable[[Sequence[Array]], list[Array]], reset: Callable[[], None]) -> list[list[Array]]:
    found = []
    for number, inputs in enumerate(of.inputs):
        if number in of.case.resets:
            reset()
        found.append(run(inputs))
    return found


def _stored(value: object) -> Array:
    return np.asarray(value.storage if isinstance(value, QuantTensor) else value)


def _digest(arrays: Sequence[Array]) -> str:
    made = blake2b(digest_size=4)
    for array in arrays:
        made.update(f"{array.dtype}{array.shape}".encode())
        made.update(np.ascontiguousarray(array).tobytes())
    return made.hexdigest()


def kept(results: Sequence[Sequence[Array]]) -> str:
    """What the file has of the results of all runs."""
    columns = [list(column) for column in zip(*results, strict=True)]
    exact = [array for column in columns if column[0].dtype.kind != "f" for array in column]
    floats = [_sample(column) for column in columns if column[0].dtype.kind == "f"]
    said = [_digest(exact)] if exact else []
    return ",".join(said + [base64.b64encode(each.tobytes()).decode() for each in floats])


def _sample(runs: Sequence[Array]) -> Array:
    """The greatest magnitude of a result of all runs, which bounds what sums may lose, and some of its elements."""
    flat = np.concatenate([array.ravel() for array in runs]).astype(np.float32)
    greatest = np.abs(flat[np.isfinite(flat)]).max(initial=0)
    places = np.linspace(0, flat.size - 1, min(KEPT, flat.size)).astype(int)
    return np.append(np.float32(greatest), flat[places])


def _same(found: str, wanted: str, ulp: int) -> bool:
    parts = found.split(","), wanted.split(",")
    return len(parts[0]) == len(parts[1]) and all(map(lambda a, b: a == b or _near(a, b, ulp), *parts))


def _near(found: str, wanted: str, ulp: int) -> bool:
    if len(found) != len(wanted) or len(found) == 8:  # digests have 8 characters, floats more
        return False
    tally = Tally(Bound(ulp, is_sum=True))
    tally.add(*(np.frombuffer(base64.b64decode(text), np.float32) for text in (found, wanted)))
    return tally.differ == 0


# -- the file --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """A model of the file: ``results`` has what is kept of the profiles' results, by profile."""

    name: str
    number: int
    digest: str
    results: dict[str, str]


@cache
def lines() -> tuple[Line, ...]:
    """The lines of the file."""
    found = []
    for text in FILE.read_text().splitlines():
        if text.startswith("#"):
            continue
        name, number, digest, *results = text.split("\t")
        said = dict(zip(PROFILES, results, strict=True))
        found.append(Line(name, int(number), digest, {p: text for p, text in said.items() if text != "-"}))
    return tuple(found)


@cache
def by_name() -> dict[str, Form]:
    """Every form by its name."""
    return {name: form for name, form, _ in forms()}


def differences(line: Line, interpret: bool) -> list[str]:
    """The profiles whose results qrt does not compute."""
    of = drawn(line.name, by_name()[line.name], line.number)
    if of.digest != line.digest:
        return ["what is drawn has changed: python -m tests.formats.tflite.stored"]
    return [
        profile
        for profile, wanted in line.results.items()
        if not _same(kept(ours(of, profile, interpret)), wanted, of.case.ulp)
    ]


def _write() -> None:
    wanted: dict[str, set[str]] = {}
    for name, _, profile in forms():
        wanted.setdefault(name, set()).add(profile)
    with LiteRT(seconds=300) as litert:
        text = [
            "\t".join([name, str(number), of.digest, *(_kept_of(of, profiles, litert))])
            for name, profiles in wanted.items()
            for number in (0, *FURTHER.get(name, ()))
            for of in [drawn(name, by_name()[name], number)]
        ]
    head = f"# ai-edge-litert {version('ai-edge-litert')}; written by python -m tests.formats.tflite.stored"
    FILE.write_text("\n".join([head, *text, ""]))


def _kept_of(of: Drawn, profiles: set[str], litert: LiteRT) -> Iterator[str]:
    for profile in PROFILES:
        yield kept(theirs(of, profile, litert)) if profile in profiles else "-"


def main() -> int:
    """Writes the file, or compares with it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("words", nargs="*")
    options = parser.parse_args()
    if not options.check:
        _write()
        return 0
    failed = False
    for line in lines():
        if options.words and not line.name.startswith(tuple(options.words)):
            continue
        try:
            found = differences(line, interpret=True)
        except Exception as error:
            found = [repr(error)]
        if found:
            print(f"{line.name}, model {line.number}: {', '.join(found)}")
            failed = True
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
