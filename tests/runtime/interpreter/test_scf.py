"""scf. Hazards: unsigned bounds past the signed range, a step that is not positive, results of a branch not taken,
carried values read after they change, a loop that never ends."""

import numpy as np
import pytest

from qrt.runtime.interpreter import core
from tests.runtime.interpreter.run import refused, run

i64 = np.int64
SUM = """
func.func @f(%a: {0}, %b: {0}, %s: {0}, %x: {0}) -> {0} {{
  %r = scf.for {1} %i = %a to %b step %s iter_args(%u = %x) -> ({0}) {2} {{
    %v = arith.addi %u, %i : {0}
    scf.yield %v : {0}
  }}
  return %r : {0}
}}"""


@pytest.mark.parametrize(("a", "b", "s"), [(0, 10, 3), (-5, 5, 2), (3, 3, 1), (4, 0, 1)])
def test_for(a, b, s):
    assert run(SUM.format("index", "", ""), i64(a), i64(b), i64(s), i64(0)) == [sum(range(a, b, s))]
    assert run(SUM.format("i8", "", ": i8"), *map(np.int8, (a, b, s, 0))) == [sum(range(a, b, s))]


def test_unsigned_bounds():
    text = SUM.format("i8", "unsigned", ": i8")
    assert run(text, np.int8(126), np.int8(-126), np.int8(1), np.int8(0)) == [126 + 127 - 128 - 127]
    assert run(text, np.int8(-1), np.int8(1), np.int8(1), np.int8(7)) == [7]


@pytest.mark.parametrize("step", [0, -1])
def test_a_step_that_is_not_positive(step):
    text = SUM.format("index", "", "")
    refused(text, i64(0), i64(4), i64(step), i64(0), message=f"'scf.for' op the step must be positive, got {step}")


def test_if():
    text = """
    func.func @f(%p: i1, %x: i32, %y: i32, %m: memref<i32>) -> (i32, i32) {
      %r:2 = scf.if %p -> (i32, i32) { scf.yield %x, %y : i32, i32 } else { scf.yield %y, %x : i32, i32 }
      scf.if %p { memref.store %x, %m[] : memref<i32> }
      return %r#0, %r#1 : i32, i32
    }"""
    memory = np.zeros((), np.int32)
    assert run(text, np.False_, np.int32(1), np.int32(2), memory) == [2, 1]
    assert memory == 0
    assert run(text, np.True_, np.int32(1), np.int32(2), memory) == [1, 2]
    assert memory == 1


WHILE = """
func.func @f(%a: i64, %b: i64) -> (i64, i64) {
  %zero = arith.constant 0 : i64
  %r:2 = scf.while (%u = %a, %v = %b) : (i64, i64) -> (i64, i64) {
    %c = arith.cmpi ne, %v, %zero : i64
    scf.condition(%c) %u, %v : i64, i64
  } do {
  ^bb0(%u: i64, %v: i64):
    %m = arith.remui %u, %v : i64
    scf.yield %v, %m : i64, i64
  }
  return %r#0, %r#1 : i64, i64
}"""


def test_while():
    assert run(WHILE, i64(48), i64(36)) == [12, 0]
    assert run(WHILE, i64(5), i64(0)) == [5, 0]


def test_a_loop_that_never_ends():
    text = """
    func.func @f(%p: i1) {
      scf.while : () -> () { scf.condition(%p) } do { scf.yield }
      return
    }"""
    refused(text, np.True_, message="'scf.while' op does not end within max_steps, the limit of steps", max_steps=100)
    assert run(text, np.False_, max_steps=100) == []


def test_a_loop_that_never_ends_has_a_limit_of_its_own(monkeypatch):
    """Hazard: a loop that many rounds before it have used up."""
    monkeypatch.setattr(core, "MOST_ROUNDS", 4)
    many = (
        WHILE.replace("@f", "@g")
        + """
    func.func @f(%n: i64) -> i64 {
      %c0 = arith.constant 0 : index %c1 = arith.constant 1 : index %c9 = arith.constant 9 : index
      %r = scf.for %i = %c0 to %c9 step %c1 iter_args(%s = %n) -> i64 {
        %u, %v = func.call @g(%s, %n) : (i64, i64) -> (i64, i64)
        scf.yield %u : i64
      }
      return %r : i64
    }"""
    )
    assert run(many, i64(3), name="f") == [3]
    refused(WHILE, i64(89), i64(55), message="'scf.while' op does not end within 4 rounds, the limit by default")
    assert run(WHILE, i64(89), i64(55), max_steps=1000) == [1, 0]


def test_index_switch():
    text = """
    func.func @f(%i: index) -> i32 {
      %a = arith.constant 1 : i32
      %b = arith.constant 2 : i32
      %c = arith.constant 3 : i32
      %r = scf.index_switch %i -> i32 case 5 { scf.yield %a : i32 } case -1 { scf.yield %b : i32 }
          default { scf.yield %c : i32 }
      return %r : i32
    }"""
    assert [run(text, i64(i))[0] for i in (5, -1, 0)] == [1, 2, 3]


def test_index_switch_with_a_block_that_takes_arguments():
    """No rule forbids it, and nothing gives the block a value."""
    text = """
    func.func @f(%i: index) -> i32 {
      %r = "scf.index_switch"(%i) <{cases = array<i64: 0>}> ({
      ^bb0(%x: i32):
        scf.yield %x : i32
      }, {
        %c = arith.constant 1 : i32
        scf.yield %c : i32
      }) : (index) -> i32
      return %r : i32
    }"""
    assert run(text, i64(0)) == [1]
    refused(text, i64(3), message="'scf.index_switch' op must pass 1 value to its block, one for each argument, got 0")


def test_execute_region_with_branches():
    text = """
    func.func @f(%p: i1, %x: i32, %y: i32) -> i32 {
      %r = scf.execute_region -> i32 {
        cf.cond_br %p, ^bb1(%x : i32), ^bb1(%y : i32)
      ^bb1(%z: i32):
        scf.yield %z : i32
      }
      return %r : i32
    }"""
    assert run(text, np.True_, np.int32(1), np.int32(2)) == [1]
    assert run(text, np.False_, np.int32(1), np.int32(2)) == [2]


def test_parallel_reduces_in_order():
    text = """
    func.func @f(%n: index, %x: f32, %y: index) -> (f32, index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c2 = arith.constant 2 : index
      %r:2 = scf.parallel (%i, %j) = (%c0, %c1) to (%n, %n) step (%c1, %c2) init (%x, %y) -> (f32, index) {
        %k = arith.muli %i, %j : index
        %l = arith.index_cast %k : index to i32
        %v = arith.sitofp %l : i32 to f32
        scf.reduce(%v, %k : f32, index) {
        ^bb0(%a: f32, %b: f32):
          %h = arith.divf %a, %b : f32
          %s = arith.subf %b, %h : f32
          scf.reduce.return %s : f32
        }, {
        ^bb0(%a: index, %b: index):
          %s = arith.maxsi %a, %b : index
          scf.reduce.return %s : index
        }
      }
      return %r#0, %r#1 : f32, index
    }"""
    expected = np.float32(1.5)
    with np.errstate(all="ignore"):
        for i in range(4):
            for j in range(1, 4, 2):
                expected = np.float32(i * j) - expected / np.float32(i * j)
    result, largest = run(text, i64(4), np.float32(1.5), i64(2))
    np.testing.assert_array_equal(result, expected)
    assert largest == 9


def test_a_nest_is_not_made_at_once():
    text = """
    func.func @f(%n: index) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %p = arith.constant false
      scf.parallel (%i, %j) = (%c0, %c0) to (%n, %n) step (%c1, %c1) {
        cf.assert %p, "the first iteration"
        scf.reduce
      }
      return
    }"""
    refused(text, i64(1 << 60), message="failed: the first iteration")
    refused(text, i64(1 << 60), message="does not end within max_steps, the limit of steps", max_steps=1000)


def test_forall_assembles_slices():
    text = """
    func.func @f(%t: tensor<4x2xi32>, %n: index) -> tensor<4x2xi32> {
      %r = scf.forall (%i) = (0) to (%n) step (2) shared_outs(%o = %t) -> (tensor<4x2xi32>) {
        %l = arith.index_cast %i : index to i32
        %s = tensor.splat %l : tensor<1x2xi32>
        scf.forall.in_parallel {
          tensor.parallel_insert_slice %s into %o[%i, 0] [1, 2] [1, 1] : tensor<1x2xi32> into tensor<4x2xi32>
        }
      }
      return %r : tensor<4x2xi32>
    }"""
    given = np.full((4, 2), -1, np.int32)
    (result,) = run(text, given, i64(4))
    assert result.tolist() == [[0, 0], [-1, -1], [2, 2], [-1, -1]]
    assert (given == -1).all()
    refused(text, given, i64(5), message="tensor.parallel_insert_slice")
