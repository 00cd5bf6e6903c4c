"""Drawn programs that move quantized values through control flow, ``tensor`` and ``linalg``, with the interpreter's
bits. Hazards: values that a loop or a branch passes on, and storage whose sign memory has."""

import pytest

from qrt.ir import parse
from qrt.runtime.compilation import compile
from tests.ir.passes.draw_quantized_moves import Program
from tests.ir.passes.test_quant_to_integer_types import arguments
from tests.runtime.codegen.harness import assert_equal, outcome


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_drawn_moves(first: int) -> None:
    for seed in range(first, first + 10):
        text = Program(f"moves {seed}").text
        code, plain = compile(text, "f", codegen=True), compile(text, "f")
        for run in range(2):
            control, values = arguments(parse(text), (seed, run))
            given = [*control, *values]
            assert_equal(outcome(code, given), outcome(plain, given, interpret=True))
