"""LiteRT's results of drawn models of every form, kept in `stored.txt`: a changed rule is noticed without LiteRT.

    python -m tests.models.tflite.stored               # runs LiteRT, and writes the file
    python -m tests.models.tflite.stored --check [WORD ...]

The second compares qrt's plain references with the file, for the forms whose name begins with one of the words, and
prints those that differ; the status is 1 if there are any. `tests.models.stored` says what a line of the file holds.
"""

import sys
import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import version
from pathlib import Path

import numpy as np

from qrt.models.engines.litert import LiteRT
from qrt.models.importing.comparison_source import Bound
from qrt.models.profiles import profile as profile_of
from qrt.models.tflite.comparison_source import inputs_of as subgraph_inputs
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.model import Model
from qrt.models.tflite.read import read
from qrt.ops.core import Array
from qrt.runtime.compilation import compile
from tests.models.stored import Line, digest_of, kept, main, read_lines, same, storage, write_lines
from tests.models.tflite.oracle import PROFILES, Case, Form, forms, inputs_of

FILE = Path(__file__).with_name("stored.txt")
FURTHER: dict[str, tuple[int, ...]] = {
    "ABS i16": (1,),
    "ADD i16": (2,),
    "ADD i8, wide ratios": (24,),
    "BATCH_MATMUL i8": (3,),
    "CONV_2D i16, bias i32": (1,),
    "DEPTHWISE_CONV_2D f32 x i8, halves": (1, 8),
    "ELU i8": (23,),
    "FULLY_CONNECTED f32 x i8, halves, asymmetric": (6,),
    "FULLY_CONNECTED i16, bias i64": (4,),
    "FULLY_CONNECTED i8, bounds at halves": (2,),
    "FULLY_CONNECTED i8, sparse": (365,),
    "FULLY_CONNECTED i8, weight zero point": (1,),
    "FULLY_CONNECTED u8, halves": (1,),
    "GELU i8": (26,),
    "LEAKY_RELU i8": (1,),
    "LOG_SOFTMAX i8": (36,),
    "MEAN f32, other axes": (2,),
    "MEAN u8": (89,),
    "MUL i16": (34,),
    "PRELU i16": (2,),
    "QUANTIZE i8 to u8": (23,),
    "RELU i16": (20,),
    "SOFTMAX i8 to i16": (26,),
    "SQRT i16": (1,),
    "SUM u8": (554,),
    "TFLite_Detection_PostProcess uint8, all classes": (2,),
    "TRANSPOSE_CONV i8 per axis": (19,),
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, CIFG": (2,),
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, peepholes at halves": (1, 2),
    "UNIDIRECTIONAL_SEQUENCE_LSTM i8, projection": (9,),
}
"""Models besides the first, of forms whose first model does not tell apart what `tests.models.mutations` changes."""


@dataclass(frozen=True)
class Drawn:
    """A model of a form, with its inputs."""

    case: Case
    model: Model
    inputs: Sequence[Sequence[Array]]

    @property
    def digest(self) -> str:
        """Of all that was drawn."""
        return digest_of(self.case.content, self.inputs)


def drawn(name: str, form: Form, number: int) -> Drawn:
    """Which model of a form it is."""
    rng = np.random.default_rng([0, zlib.crc32(name.encode()), number])
    case = form(rng)
    model = read(case.content)
    return Drawn(case, model, [list(run) for run in inputs_of(case, subgraph_inputs(model.subgraphs[0]), rng)])


def ours(of: Drawn, profile: str, interpret: bool) -> list[list[Array]]:
    """The results of each run, by the plain references or by kernels."""
    program = compile(import_model(of.model, profile_of(profile)))

    def run(inputs: Sequence[Array]) -> list[Array]:
        named = {port.name: array for port, array in zip(program.inputs, inputs, strict=True)}
        return list(map(storage, program.run(named, interpret=interpret).values()))

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


# -- the file --------------------------------------------------------------------------------------------------------


@cache
def lines() -> tuple[Line, ...]:
    """The lines of the file."""
    return read_lines(FILE, PROFILES)


@cache
def by_name() -> dict[str, Form]:
    """Every form by its name."""
    return {name: form for name, form, _ in forms()}


def differences(line: Line, interpret: bool) -> list[str]:
    """The profiles whose results qrt does not compute."""
    of = drawn(line.name, by_name()[line.name], line.number)
    if of.digest != line.digest:
        return ["what is drawn has changed: python -m tests.models.tflite.stored"]
    bound = Bound(of.case.ulp, is_sum=True, absolute=of.case.absolute)
    return [
        profile
        for profile, wanted in line.results.items()
        if not same(kept(ours(of, profile, interpret)), wanted, bound)
    ]


def _write() -> None:
    wanted: dict[str, set[str]] = {}
    for name, _, profile in forms():
        wanted.setdefault(name, set()).add(profile)
    with LiteRT(seconds=300) as litert:
        found = [
            Line(name, number, of.digest, {profile: kept(theirs(of, profile, litert)) for profile in profiles})
            for name, profiles in wanted.items()
            for number in (0, *FURTHER.get(name, ()))
            for of in [drawn(name, by_name()[name], number)]
        ]
    head = f"ai-edge-litert {version('ai-edge-litert')}; written by python -m tests.models.tflite.stored"
    write_lines(FILE, head, found, PROFILES)


if __name__ == "__main__":
    sys.exit(main(__doc__, _write, lines, differences))
