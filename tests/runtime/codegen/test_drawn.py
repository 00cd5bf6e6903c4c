"""Drawn quantized programs, lowered in both strategies, as structured ops and as loops, give the interpreter's bits.

QRT_ORACLE_SEED draws others. With QRT_REQUIRE_ORACLE 40 times as many are drawn."""

import os
from itertools import islice

import pytest

from qrt.errors import QuantError
from tests.ir.passes.lower_qrt.draw_ops import SAMPLE
from tests.ir.passes.lower_qrt.test_drawn import programs
from tests.runtime.codegen.harness import check

COUNT = 80 if os.environ.get("QRT_REQUIRE_ORACLE") else 2


@pytest.mark.parametrize("name", SAMPLE)
def test_drawn(name: str) -> None:
    compared = 0
    for _, drawn in islice(programs(name, "code "), 4 * COUNT):
        try:
            module = drawn.lowered()
        except QuantError:
            continue  # an op that is not defined for its types
        check(module, *(drawn.op.arrays[number] for number in drawn.given))
        compared += 1
        if compared == COUNT:
            break
    assert compared == COUNT
