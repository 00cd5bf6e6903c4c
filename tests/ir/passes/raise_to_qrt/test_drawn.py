"""Drawn sums of products, lowered in each form and raised: the raised program has the bits of the lowered one.

With QRT_REQUIRE_ORACLE ten times as many are drawn. Hazards: zero points that constants hide, offsets of dot products,
padding, weights in other layouts, biases at other scales, storage of other widths, results of one row.
"""

import os
from collections import Counter
from collections.abc import Iterator
from itertools import count, islice

import numpy as np
import pytest

from qrt.errors import QuantError
from qrt.ir import parse, run_passes
from tests.ir.passes.lower_qrt.compare import DrawnProgram
from tests.ir.passes.lower_qrt.draw_types import WIDTHS, OpDraw
from tests.ir.passes.raise_to_qrt.harness import kernels, raised, results
from tests.ops.harness import Array

FORMS = (
    *(f"zero-point={strategy} to={to}" for strategy in ("post-accumulation", "in-loop") for to in ("linalg", "loops")),
    *(f"to=dot4 signs={signs}" for signs in ("us", "ss", "uu")),
)
NAMES = ("matmul", "conv2d", "depthwise_conv2d", "mul", "requantize")
COUNT = 80 * (10 if os.environ.get("QRT_REQUIRE_ORACLE") else 1)
SEED = os.environ.get("QRT_ORACLE_SEED", "1")


def programs(name: str) -> Iterator[tuple[str, DrawnProgram, str, str]]:
    """Yield (seed, program, form of its lowering, passes after it) without end, for programs that can be lowered."""
    for number in count():
        seed = f"raise {name} {number} {SEED}"
        draw = OpDraw(seed, WIDTHS if number % 4 == 0 else (8,), is_deep=number % 2 == 0)
        draw.rule = "fixed"
        yield seed, DrawnProgram.of(draw, name), draw.choice(FORMS), draw.choice(("", ",canonicalize,cse"))


def signless(array: Array, width: int) -> Array:
    """Return storage as the signed integers of `width` bits in which programs take signless integers."""
    half = 1 << (width - 1)
    return ((array.astype(np.int64) + half) % (2 * half) - half).astype(f"i{array.itemsize}")


def raised_form(drawn: DrawnProgram, form: str, later: str) -> str:
    """Return the form if the program is raised, with the same bits; else why it is not, or "" without a remark."""
    try:
        text = str(run_passes(parse(drawn.text()), f"lower-qrt{{{form}}},quant-to-integer-types{later}"))
    except QuantError:
        return ""  # a bias of more than 64 bits, which the lowering refuses
    before, module = parse(text), parse(text)
    conditions = raised(module)
    if not kernels(module):
        return conditions[0] if conditions else ""
    arrays = [signless(drawn.op.arrays[i], drawn.op.elements[i].storage_width) for i in drawn.given]
    (expected,) = results(before, arrays, interpret=True)
    for interpret in (True, False):
        np.testing.assert_array_equal(results(module, arrays, interpret)[0], expected, err_msg=str(module))
    return form


@pytest.mark.parametrize("name", NAMES)
def test_raised_programs_have_the_same_bits(name: str) -> None:
    counts = Counter[str]()
    for seed, drawn, form, later in islice(programs(name), COUNT):
        try:
            counts[raised_form(drawn, form, later)] += 1
        except Exception as error:
            raise AssertionError(f"seed {seed!r}, {form}{later}: {error}") from error
    assert sum(counts[form] for form in FORMS) >= COUNT // 8, counts
