"""Branches and regions that canonicalize compute what they did. Hazards: a wrong branch, an effect lost or doubled."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.ir import run_passes
from qrt.ir.core.simplify_regions import simplify_regions
from tests.oracle.draw_carried import carrying
from tests.oracle.draw_regions import HEAD, branching, structured
from tests.oracle.draw_types import Draw


def outcome(module, inputs):
    """The results, and the memory written."""
    memory = np.zeros(8, np.int32), np.zeros((), bool)
    results = qrt.compile(module).run(dict(zip(NAMES, (*inputs, *memory), strict=True)), interpret=True)
    return [int(value) for value in results.values()], memory[0].tolist(), memory[1].tolist()


TYPES = "i1, i1, i32, i32, index, memref<8xi32>, memref<i1>"
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


def test_calls_of_several_blocks_are_inlined():
    draw = Draw("calls")
    for _ in range(25):
        callee = branching(draw).replace("func.func @f(", "func.func private @g(")
        text = f"""{callee}
        func.func @main({HEAD}) -> i32 {{
          %0 = call @g(%c, %d, %x, %y, %n, %m, %q) : ({TYPES}) -> i32
          %1 = call @g(%d, %c, %y, %0, %n, %m, %q) : ({TYPES}) -> i32
          return %1 : i32
        }}"""
        after = run_passes(ir.parse(text), "inline")
        assert [function.sym_name for function in after.functions] == ["main"], text
        for inputs in INPUTS:
            assert outcome(after, inputs) == outcome(ir.parse(text), inputs), text


def test_what_loops_carry_is_what_it_was():
    draw = Draw("values carried")
    for _ in range(60):
        text = carrying(draw)
        after = run_passes(ir.parse(text), "canonicalize")
        for condition, count in ((True, 0), (False, 1), (True, 3)):
            assert tensors_of(after, condition, count) == tensors_of(ir.parse(text), condition, count), text


def tensors_of(module, condition, count):
    given = np.arange(4, dtype=np.float32), np.arange(4, dtype=np.float32) + 10, np.float32(-1)
    inputs = dict(zip(NAMES, (*given, condition, np.int64(count), np.int64(2)), strict=False))
    results = qrt.compile(module).run(inputs, interpret=True)
    return [np.asarray(value).tolist() for value in results.values()]


def test_a_loop_that_may_change_sizes_carries_what_it_did():
    """Upstream casts what an iteration yields to the type of what the loop is given, of whatever size it is."""
    text = """
    func.func @f(%a: tensor<4xf32>, %b: tensor<?xf32>, %n: index) -> tensor<?xf32> {
      %0 = arith.constant 0 : index
      %1 = arith.constant 1 : index
      %2 = tensor.cast %a : tensor<4xf32> to tensor<?xf32>
      %3 = scf.for %i = %0 to %n step %1 iter_args(%t = %2) -> tensor<?xf32> {
        %4 = tensor.concat dim(0) %t, %b : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        scf.yield %4 : tensor<?xf32>
      }
      return %3 : tensor<?xf32>
    }"""
    module = run_passes(ir.parse(text), "canonicalize")
    inputs = {"arg0": np.zeros(4, np.float32), "arg1": np.ones(2, np.float32), "arg2": np.int64(2)}
    (result,) = qrt.compile(module).run(inputs, interpret=True).values()
    assert np.asarray(result).tolist() == [0, 0, 0, 0, 1, 1, 1, 1]


def test_each_insertion_stays_in_its_output():
    """Upstream takes the insertions of `scf.forall`, where an output was cast, for those of the outputs in order."""
    text = """
    func.func @f(%a: tensor<2xf32>, %b: tensor<2xf32>, %p: tensor<1xf32>, %n: index) -> (tensor<?xf32>, tensor<?xf32>) {
      %0 = tensor.cast %a : tensor<2xf32> to tensor<?xf32>
      %1 = tensor.cast %b : tensor<2xf32> to tensor<?xf32>
      %2:2 = scf.forall (%i) in (%n) shared_outs(%s = %0, %t = %1) -> (tensor<?xf32>, tensor<?xf32>) {
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %p into %t[%i] [1] [1] : tensor<1xf32> into tensor<?xf32>
          tensor.parallel_insert_slice %p into %s[1] [1] [1] : tensor<1xf32> into tensor<?xf32>
        }
      }
      return %2#0, %2#1 : tensor<?xf32>, tensor<?xf32>
    }"""
    module = run_passes(ir.parse(text), "canonicalize")
    assert "-> (tensor<2xf32>, tensor<2xf32>) {" in str(module)
    given = np.zeros(2, np.float32), np.zeros(2, np.float32), np.ones(1, np.float32), np.int64(1)
    results = qrt.compile(module).run(dict(zip(NAMES, given, strict=False)), interpret=True)
    assert [np.asarray(value).tolist() for value in results.values()] == [[0, 1], [1, 0]]


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
