"""Branches and regions that canonicalize compute what they did. Hazards: a wrong branch, an effect lost or doubled."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir.simplify_regions import simplify_regions
from qrt.passes import run_passes
from tests.oracle.draw_regions import branching, structured
from tests.oracle.draw_types import Draw


def outcome(module, inputs):
    """The results, and the memory written."""
    memory = np.zeros(8, np.int32), np.zeros((), bool)
    results = qrt.compile(module).run(dict(zip(NAMES, (*inputs, *memory), strict=True)), interpret=True)
    return [int(value) for value in results.values()], memory[0].tolist(), memory[1].tolist()


NAMES = [f"arg{number}" for number in range(7)]
INPUTS = [(c, d, np.int32(3), np.int32(-5), np.int64(n)) for c in (False, True) for d in (False, True) for n in (0, 5)]


@pytest.mark.parametrize("kind", [branching, structured])
def test_drawn_programs_compute_what_they_did(kind):
    draw = Draw(f"values {kind.__name__}")
    for _ in range(40):
        text = kind(draw)
        before, after = ir.parse(text), run_passes(ir.parse(text), "canonicalize")
        for inputs in INPUTS:
            assert outcome(after, inputs) == outcome(before, inputs), text


def test_canonical_programs_stay():
    draw = Draw("again")
    for kind in [branching, structured] * 20:
        module = run_passes(ir.parse(kind(draw)), "canonicalize")
        assert str(run_passes(ir.parse(str(module)), "canonicalize")) == str(module)


def test_a_long_chain_of_blocks_becomes_one():
    """In time that does not grow with the square of its length, as looking for who branches where would."""
    count = 5000
    blocks = "".join(f"^b{n}:\n cf.br ^b{n + 1}\n" for n in range(count))
    module = ir.parse(f"func.func @f() {{\n cf.br ^b0\n{blocks}^b{count}:\n return\n}}")
    run_passes(module, "canonicalize")
    assert len(module.functions[0].regions[0].blocks) == 1


def test_arguments_of_branches_that_are_not_known_stay():
    """What an unregistered branch passes on is its own affair."""
    text = """func.func @f(%x: i32) {
      "foo.br"(%x)[^a] : (i32) -> ()
    ^a:
      cf.br ^b(%x : i32)
    ^b(%y: i32):
      return
    }"""
    module = ir.parse(text, allow_unregistered=True)
    assert simplify_regions(module.operation)
    assert [len(block.arguments) for block in module.functions[0].regions[0].blocks] == [1, 0, 0]
    module.verify()
