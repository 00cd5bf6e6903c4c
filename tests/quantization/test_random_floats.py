"""Drawn annotated float programs are quantized for every target. Hazards: a form that propagation refuses, an
annotation that changes what a program computes, an export with other bits. `python -m tests.quantization.random_floats`
draws more.
"""

from collections import Counter
from functools import cache

import pytest

from tests.quantization import random_floats
from tests.quantization.draw_floats import FORMS

COUNT, SEED, MOST = 300, "f", 2
PARTS = 6
parts = pytest.mark.parametrize("part", range(PARTS))


@cache
def programs():
    return tuple(random_floats.drawn(COUNT, SEED, MOST))


def counted(check, part):
    return sum((check(one) for one in programs()[part::PARTS]), Counter())


@parts
def test_no_program_is_refused(part):
    """Every sixth program has the same target."""
    counts = counted(random_floats.has_no_violation, part)
    assert len({one.target for one in programs()[part::PARTS]}) == 1
    assert counts.total() > 10


@parts
def test_exports_the_interpreter_and_the_text_have_equal_bits(part):
    assert counted(random_floats.has_equal_bits, part)["executed"] == COUNT // PARTS


@parts
def test_regions_are_within_half_a_code_of_exact(part):
    counts = counted(random_floats.is_exact, part)
    is_float = random_floats.TARGETS[part] in ("bf16", "weight-only")
    assert (counts["regions within half a code"] > COUNT // PARTS // 2) is not is_float


def test_annotated_programs_compute_what_the_float_ones_do():
    counts = sum((random_floats.computes_as_float(one) for one in programs()), Counter())
    assert counts["annotated programs as float"] > 10


def test_every_form_is_drawn():
    texts = "".join(one.graph.text for one in programs())
    hints = ("math.rsqrt", "arith.select", "const_fake_quant", "conv_2d_nchw_fchw", "scf.for", "scf.if", "func.call")
    assert all(hint in texts for hint in hints)
    assert len(FORMS) == 6
