"""Drawn annotated float programs are quantized for every target, the two of the examples included. Hazards: a form that
propagation refuses, an annotation that changes what a program computes, an export with other bits.
`python -m tests.quantization.random_floats` draws more.
"""

import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from tests.quantization import checks, random_floats
from tests.quantization.draw_floats import FORMS
from tests.registries import restored_registries

COUNT, SEED, MOST = 504, "f", 2
PARTS = len(random_floats.TARGETS)
parts = pytest.mark.parametrize("part", range(PARTS))


@pytest.fixture(autouse=True, scope="module")
def _targets_of_examples() -> Iterator[None]:
    """Forget the dialects and modules of the examples' targets after the last test."""
    with restored_registries():
        yield
    for name in ("npu", "dsp"):
        sys.modules.pop(name, None)


@cache
def programs():
    return tuple(random_floats.drawn(COUNT, SEED, MOST))


def counted(check, part):
    return sum((check(one) for one in programs()[part::PARTS]), Counter())


@parts
def test_no_program_is_refused(part):
    """Every eighth program has the same target."""
    counts = counted(random_floats.has_no_violation, part)
    assert len({one.target for one in programs()[part::PARTS]}) == 1
    assert counts.total() > 10


@parts
def test_exports_the_interpreter_and_the_text_have_equal_bits(part):
    assert counted(random_floats.has_equal_bits, part)["executed"] == COUNT // PARTS


@parts
def test_regions_are_within_half_a_code_of_exact(part):
    counts = counted(random_floats.is_exact, part)
    target = Path(random_floats.TARGETS[part]).stem
    least = {"bf16": 0, "weight-only": 0, "npu": COUNT // PARTS // 4, "dsp": COUNT // PARTS // 4}
    assert counts["regions within half a code"] >= least.get(target, COUNT // PARTS // 2)


def test_annotated_programs_compute_what_the_float_ones_do():
    counts = sum((random_floats.computes_as_float(one) for one in programs()), Counter())
    assert counts["annotated programs as float"] > 10


def test_a_program_in_doubles_has_the_same_constants():
    """Hazard: `f32` in the hexadecimal digits of a constant, which is not an element type."""
    (value,) = np.frombuffer(bytes.fromhex("00000000f320f03f"), np.float64).astype(np.float32)
    widened = checks.in_doubles(f'%0 = arith.constant dense<"0x{np.float32(value).tobytes().hex().upper()}"> : f32')
    digits = widened.partition('"0x')[2].partition('"')[0]
    assert np.frombuffer(bytes.fromhex(digits), np.float64) == [value]
    assert "f32" in digits.lower()


def test_every_form_is_drawn():
    texts = "".join(one.graph.text for one in programs())
    hints = ("math.rsqrt", "arith.select", "const_fake_quant", "conv_2d_nchw_fchw", "scf.for", "scf.if", "func.call")
    assert all(hint in texts for hint in hints)
    assert len(FORMS) == 7
