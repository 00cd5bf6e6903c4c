"""Compares the functions of float32 of the kernels with the correctly rounded ones of `qrt.numerics`, for every float:

    python -m tests.kernels.float_functions [NAME ...]

A function of all floats is computed in float64, as ref does. Only a result within `DISTANCE` units of float64 of the
middle between two floats could be rounded wrongly; these are computed exactly, and compared with each ISA here. That no
error is larger is shown by a sample. It takes a quarter of an hour. It ends with status 1 if a result is wrong.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from qrt._ext.kernels import bind_float_loops
from qrt.numerics import enclosures
from qrt.ops import elementwise
from qrt.runtime.planner.loop_steps import CODES
from qrt.types import FloatType
from tests.kernels.compiled import compiled
from tests.kernels.draws import ISAS, Array

_F32 = FloatType("f32")
_LARGEST = 0x7F7FFFFF
_TINY = 0x30800000
"""The bits of 2^-30: below it, functions whose slope at 0 is 1 round to their argument, or to 1."""
_MINUS = 1 << 31
RANGES = {
    "exp": [(_TINY, 0x42D00000), (_MINUS + _TINY, _MINUS + 0x42D00000)],
    "expm1": [(_TINY, 0x42D00000), (_MINUS + _TINY, _MINUS + 0x42200000)],
    "log": [(1, _LARGEST)],
    "log1p": [(_TINY, _LARGEST), (_MINUS + _TINY, _MINUS + 0x3F7FFFFF)],
    "tanh": [(_TINY, 0x41200000)],
    "erf": [(1, 0x40800000)],
    "erfc": [(_TINY, 0x41220000), (_MINUS + _TINY, _MINUS + 0x40800000)],
    "sin": [(_TINY, _LARGEST)],
    "cos": [(_TINY, _LARGEST)],
}
"""The bits of the first and of the last float of each range. Other results are 0, 1, -1, infinite or the argument; odd
functions, and the cosine, are computed of the magnitude."""
DISTANCE = 4


def kernel_results(name: str, isa: str, x: Array, in_place: bool = False) -> Array:
    """Return the function ``name`` of a vector of float32, by the kernel of an ISA."""
    one = ((1,), 0, x.size, False, None)
    call = bind_float_loops(
        isa=isa, loops=(1, 0), extents=(x.size,), reads=[("f32", 0, *one)], writes=[("f32", 1, *one)],
        steps=[(CODES[f"math.{name}"], 1, 0, 0, 0)], registers=2, values=np.zeros(0, np.uint32), in_place=int(in_place),
    )  # fmt: skip
    results = x if in_place else np.empty_like(x)
    call(x, results)
    return results


def exact_results(name: str, x: Array) -> Array:
    """Return the function of a vector of float32, rounded once by `qrt.numerics`."""
    with np.errstate(all="ignore"):
        return np.asarray(elementwise.bind(f"math.{name}", [_F32], [_F32])(x))


def wide_results(
    program: Path, name: str, first: int, last: int, step: int, distance: float
) -> Iterator[tuple[int, float]]:
    """Yield (bits of the argument, function in float64) as tests/kernels/float_functions.c prints them."""
    command = [program, *map(str, (CODES[f"math.{name}"], first, last, step, distance))]
    for line in subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines():
        bits, wide = line.split()
        yield int(bits), float.fromhex(wide)


def error(name: str, bits: int, wide: float) -> float:
    """Return the error of a result in units of float64."""
    x = Fraction(float(np.uint32(bits).view(np.float32)))
    low, high = getattr(enclosures, name)(x, 400 if name == "erfc" else 160)  # the error of erfc is absolute
    size = abs(wide)
    return float(abs((low + high) / 2 - Fraction(wide)) / Fraction(size - float(np.nextafter(size, 0))))


def largest_error(program: Path, name: str, count: int) -> float:
    """Return the largest error of about ``count`` results in each range, in units of float64."""
    errors = [
        error(name, bits, wide)
        for first, last in RANGES[name]
        for bits, wide in wide_results(program, name, first, last, (last - first) // count | 1, float("inf"))
    ]
    return max(errors)


def wrong_results(program: Path, name: str) -> tuple[int, list[tuple[str, int]]]:
    """Return the number of results near a middle, and (ISA, bits of the argument) for those that are wrong."""
    near = [bits for span in RANGES[name] for bits, _ in wide_results(program, name, *span, 1, DISTANCE)]
    x = np.array(near, np.uint32).view(np.float32)
    expected = exact_results(name, x)
    wrong = [
        (isa, int(bits))
        for isa in ISAS
        for bits in x[kernel_results(name, isa, x).view(np.uint32) != expected.view(np.uint32)].view(np.uint32)
    ]
    return len(near), wrong


def main() -> int:
    status = 0
    with tempfile.TemporaryDirectory() as folder:
        program = compiled("float_functions", Path(folder), "-lm")
        for name in sys.argv[1:] or RANGES:
            print(f"{name}: the largest error of a sample is {largest_error(program, name, 2000):.2f} units of float64")
            count, wrong = wrong_results(program, name)
            print(f"{name}: {count} results near a middle, {len(wrong)} wrong {wrong}", flush=True)
            status |= bool(wrong)
    return status


if __name__ == "__main__":
    sys.exit(main())
