"""Affine programs that canonicalize compute what they did. Hazards: a range that is one too narrow, a bound dropped
that decides, a loop taken for one that runs."""

from itertools import product

import numpy as np

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.passes import run_passes
from tests.oracle.draw_affine import affine_nests
from tests.oracle.draw_types import Draw

INPUTS = list(product((-3, 0, 1, 6), (-8, 2, 5)))


def outcome(module, n, p):
    """The result, and the memory written; None of loops that are too long."""
    memory = np.zeros(8, np.int32)
    inputs = dict(zip([f"arg{number}" for number in range(5)], (n, p, memory, np.int32(3), np.int32(-5)), strict=True))
    try:
        results = qrt.compile(module).run(inputs, interpret=True, max_steps=20_000)
    except ModelError:
        return None
    return [int(value) for value in results.values()], memory.tolist()


def test_drawn_programs_compute_what_they_did():
    draw = Draw("affine values")
    compared = 0
    for _ in range(60):
        text = affine_nests(draw)
        before, after = ir.parse(text), run_passes(ir.parse(text), "canonicalize")
        for n, p in INPUTS:
            was, found = (outcome(module, np.int64(n), np.int64(p)) for module in (before, after))
            assert was is None or found == was, text
            compared += was is not None
    assert compared > 600


def test_canonical_programs_stay():
    draw = Draw("again")
    for _ in range(40):
        text = str(run_passes(ir.parse(affine_nests(draw)), "canonicalize"))
        assert str(run_passes(ir.parse(text), "canonicalize")) == text


def test_quotients_of_remainders_are_not_decided_by_one_of_their_values():
    """mlir-opt 22 takes `(i mod 4) floordiv 3` for 1 where a loop starts from 3."""
    text = """func.func @f(%m: memref<8xindex>) {
      affine.for %i = 3 to 8 {
        %0 = affine.apply affine_map<(d0) -> ((d0 mod 4) floordiv 3)>(%i)
        affine.store %0, %m[%i] : memref<8xindex>
      }
      return
    }"""
    memory = np.zeros(8, np.int64)
    qrt.compile(run_passes(ir.parse(text), "canonicalize")).run({"arg0": memory}, interpret=True)
    assert memory.tolist() == [0, 0, 0, 1, 0, 0, 0, 1]


def test_bounds_in_a_loop_of_no_iterations_stay():
    """Each result is beyond the other there, so that none would be left."""
    text = """
    func.func @f(%m: memref<8xi32>, %x: i32) {
      affine.for %i = 2 to 0 step 2 {
        affine.for %j = 2 to min affine_map<(d0) -> (d0 * 8 + 9, d0 * 7)>(%i) {
          affine.store %x, %m[%j] : memref<8xi32>
        }
      }
      return
    }"""
    run_passes(ir.parse(text), "canonicalize").verify()
