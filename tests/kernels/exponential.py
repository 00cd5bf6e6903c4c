"""Compares the exponential of every float32 with the correctly rounded one of `qrt.numerics`, on each ISA here:

    python -m tests.kernels.exponential

It takes a quarter of an hour. It ends with status 1 at the first difference.
"""

import sys

import numpy as np

from qrt._ext.kernels import bind_float_loops
from qrt.ops import elementwise
from qrt.runtime.planner.float_loops import CODES
from qrt.types import FloatType
from tests.kernels.draws import ISAS, Array

BLOCK = 1 << 20
_F32 = FloatType("f32")
LEAST, GREATEST = 0x32000000, 0x42D00000
"""The bits of 2^-27, below which the exponential is 1, and of 104, from which on it is infinite or 0."""


def exponential(isa: str, x: Array) -> Array:
    one = ((1,), 0, x.size, False, None)
    call = bind_float_loops(
        isa=isa, loops=(1, 0), extents=(x.size,), reads=[("f32", 0, *one)], writes=[("f32", 1, *one)],
        steps=[(CODES["math.exp"], 1, 0, 0, 0)], registers=2, values=np.zeros(0, np.uint32),
    )  # fmt: skip
    made = np.empty_like(x)
    call(x, made)
    return made


def main() -> int:
    expected = elementwise.bind("math.exp", [_F32], [_F32])
    for sign in (0, 1 << 31):
        for first in range(LEAST, GREATEST + BLOCK, BLOCK):
            x = (np.arange(first, first + BLOCK, dtype=np.uint32) | np.uint32(sign)).view(np.float32)
            with np.errstate(all="ignore"):
                wanted = expected(x)
            for isa in ISAS:
                wrong = np.flatnonzero(exponential(isa, x) != wanted)
                if wrong.size:
                    print(f"{isa}: the exponential of {x[wrong[0]]!r} is wrong, and {wrong.size - 1} others are")
                    return 1
    print(f"all equal on {', '.join(ISAS)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
