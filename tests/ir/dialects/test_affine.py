"""Affine programs that canonicalize compute what they did. Hazards: a range that is one too narrow, a bound dropped
that decides, a loop taken for one that runs, a map that doubles with each operand that is composed, a constant past 64
bits."""

from itertools import product

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.ir import run_passes
from qrt.ir.core.affine import MAX_OPERATORS, count_operators
from qrt.ir.dialects.affine import canonicalize as affine_patterns
from tests.oracle.draw_affine import affine_nests
from tests.oracle.draw_types import Draw

LARGEST = (1 << 63) - 1
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


def chain(map, count):
    """A program that applies a map of one or two operands again and again."""
    lines = [f"  %v{n + 1} = affine.apply affine_map<{map}>(%v{n}, %v{n})" for n in range(count)]
    return "\n".join(["func.func @f(%v0: index) -> index {", *lines, f"  return %v{count} : index", "}"])


def test_maps_are_composed_until_they_are_too_large_to_be_read():
    """Each of these operations names what came before twice: mlir-opt 22 writes four times the text for two more."""
    text = chain("(d0, d1) -> (d0 * 3 + d1 floordiv 2)", 16)
    module = run_passes(ir.parse(text), "canonicalize")
    sizes = [
        count_operators(op.attributes["map"].results[0]) for op in module.operation.walk() if "map" in op.attributes
    ]
    assert MAX_OPERATORS // 4 < max(sizes) <= MAX_OPERATORS
    again = ir.parse(str(module))
    for number in (5, -7):
        results = [qrt.compile(each).run({"arg0": np.int64(number)}) for each in (ir.parse(text), module, again)]
        assert results[0] == results[1] == results[2]


def test_minima_of_minima_become_one_until_it_has_too_many_results(monkeypatch):
    """mlir-opt 22 writes one of all results, and compares each with each."""
    monkeypatch.setattr(affine_patterns, "MAX_OPERATORS", 32)
    minima = "\n".join(
        f"  %v{n + 1} = affine.min affine_map<(d0, d1) -> (d0, d1 * {n + 2})>(%v{n}, %w)" for n in range(60)
    )
    text = f"func.func @f(%v0: index, %w: index) -> index {{\n{minima}\n  return %v60 : index\n}}"
    module = run_passes(ir.parse(text), "canonicalize")
    sizes = [len(op.attributes["map"].results) for op in module.operation.walk() if "map" in op.attributes]
    assert 8 < max(sizes) <= 32
    values = {"arg0": np.int64(100), "arg1": np.int64(-9)}
    assert qrt.compile(ir.parse(text)).run(values) == qrt.compile(module).run(values)


def test_nested_remainders_of_sums_are_simplified_in_no_time():
    """Each level doubles what stands below it, where a remainder of a multiple is not seen to be zero."""
    nested = f"{'(' * 60}d0{' mod 7 + d0)' * 60}"
    text = chain(f"(d0, d1) -> ({nested})", 1)
    expected = "affine_map<()[s0] -> (s0 * 5 - ((s0 * 4) floordiv 7) * 7)>()"
    assert expected in str(run_passes(ir.parse(text), "canonicalize"))
    assert " mod 61" in str(run_passes(ir.parse(text.replace("mod 7", "mod 61")), "canonicalize"))


HALVED = f"(d1 * {1 << 62} + d2 floordiv 100) mod (s0 * {1 << 61})"
GROWN = {
    "sums": " + ".join(f"(d0 * 4) mod {2 * n + 5}" for n in range(75)),
    "ranges": f"{'(' * 35}d0" + f" + {HALVED}) floordiv 2" * 35,
}


@pytest.mark.parametrize("name", GROWN)
def test_what_would_be_too_large_to_be_read_stays(name):
    """A sum of remainders has a quotient for each; d2 is less than 100, and each half of a sum is a sum of halves."""
    text = f"""func.func @f(%x: index, %y: index, %m: memref<?xindex>) {{
      affine.for %i = 0 to 50 {{
        %0 = affine.apply affine_map<(d0, d1, d2)[s0] -> ({GROWN[name]})>(%x, %y, %i)[%y]
        affine.store %0, %m[%i] : memref<?xindex>
      }}
      return
    }}"""
    module = run_passes(ir.parse(text), "canonicalize")
    assert ir.parse(str(module)) == module


@pytest.mark.parametrize("result", ["(d0 + 1) floordiv 3", "-(d0 floordiv 3)"])
def test_composed_text_is_no_deeper_than_what_is_read(result):
    text = chain(f"(d0, d1) -> ({result})", 70)
    module = run_passes(ir.parse(text), "canonicalize")
    assert ir.parse(str(module)) == module


def test_constants_are_composed_that_pass_64_bits_together():
    """mlir-opt 22 wraps them around."""
    text = f"""func.func @f(%a: index) -> (index, index, index) {{
      %c = arith.constant {LARGEST} : index
      %0 = affine.apply affine_map<(d0) -> (d0 + {LARGEST})>(%a)
      %1 = affine.apply affine_map<(d0) -> (d0 + 100 - {LARGEST})>(%0)
      %2 = affine.apply affine_map<(d0) -> (d0 * {LARGEST})>(%a)
      %3 = affine.apply affine_map<(d0) -> ((d0 * 100) floordiv {LARGEST})>(%2)
      %4 = affine.apply affine_map<(d0) -> (d0 + 1)>(%c)
      %5 = affine.apply affine_map<(d0, d1) -> (d0 + d1 - {LARGEST})>(%c, %a)
      return %1, %3, %5 : index, index, index
    }}"""
    module = run_passes(ir.parse(text), "canonicalize")
    assert list(map(int, qrt.compile(ir.parse(str(module))).run({"arg0": np.int64(7)}).values())) == [107, 700, 7]


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
