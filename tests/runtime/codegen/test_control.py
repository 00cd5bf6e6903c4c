"""Loops, branches and the ends of runs. Hazards: values that a loop swaps, loops of no iteration, bounds at the ends of
64 bits, checks that are deferred to the end of a loop, and tensors that a loop writes in place."""

import numpy as np
import pytest

from qrt.errors import ModelError, UndefinedError
from qrt.runtime.compilation import compile
from tests.runtime.codegen.harness import check

INTS = np.arange(-3, 3, dtype=np.int32)


@pytest.mark.parametrize("count", [0, 1, 5, -2])
def test_loop_of_a_length_that_the_run_knows(count: int) -> None:
    text = """func.func @main(%n: index, %x: i32, %y: i32) -> (i32, i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %r:2 = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x, %b = %y) -> (i32, i32) {
        %k = arith.index_cast %i : index to i32
        %s = arith.addi %a, %k : i32
        scf.yield %b, %s : i32, i32
      }
      return %r#0, %r#1 : i32, i32
    }"""
    check(text, np.array(count), np.array(7, np.int32), np.array(-9, np.int32))


@pytest.mark.parametrize(
    ("bounds", "step"),
    [((0, 10), 3), ((-5, 6), 2), ((2**62, 2**62 + 5), 2), ((-(2**63), -(2**63) + 4), 3), ((1, 1), 1)],
)
@pytest.mark.parametrize("known", [True, False])
def test_bounds_and_steps(bounds: tuple[int, int], step: int, known: bool) -> None:
    constants = [f"%c{i} = arith.constant {n} : index" for i, n in enumerate((*bounds, step))] if known else []
    names = ("%c0", "%c1", "%c2") if known else ("%l", "%u", "%s")
    text = f"""func.func @main(%l: index, %u: index, %s: index) -> (index, index) {{
      {" ".join(constants)}
      %z = arith.constant 0 : index
      %o = arith.constant 1 : index
      %r:2 = scf.for %i = {names[0]} to {names[1]} step {names[2]} iter_args(%a = %z, %n = %z) -> (index, index) {{
        %t = arith.xori %a, %i : index
        %m = arith.addi %n, %o : index
        scf.yield %t, %m : index, index
      }}
      return %r#0, %r#1 : index, index
    }}"""
    check(text, *(np.array(n) for n in (*bounds, step)))


@pytest.mark.parametrize("step", [0, -1])
def test_step_that_is_not_positive(step: int) -> None:
    text = """func.func @main(%n: index, %s: index) -> index {
      %r = scf.for %i = %n to %n step %s iter_args(%a = %n) -> (index) { scf.yield %i : index }
      return %r : index
    }"""
    assert "the step must be positive" in str(check(text, np.array(3), np.array(step)))


@pytest.mark.parametrize("unsigned", ["", "unsigned "])
def test_loop_over_narrow_integers(unsigned: str) -> None:
    text = f"""func.func @main(%l: i8, %u: i8, %s: i8) -> (i8, i32) {{
      %z = arith.constant 0 : i8
      %n = arith.constant 0 : i32
      %o = arith.constant 1 : i32
      %r:2 = scf.for {unsigned}%i = %l to %u step %s iter_args(%a = %z, %m = %n) -> (i8, i32) : i8 {{
        %t = arith.xori %a, %i : i8
        %k = arith.addi %m, %o : i32
        scf.yield %t, %k : i8, i32
      }}
      return %r#0, %r#1 : i8, i32
    }}"""
    for low, high, step in ((-128, 127, 100), (1, -1, 7), (-1, 1, 1), (5, 5, 1)):
        check(text, *(np.array(n, np.int8) for n in (low, high, step)))


def test_loop_that_carries_and_swaps_tensors() -> None:
    """Hazard: each tensor is written over the other before it is read."""
    text = """func.func @main(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<6xi32>, tensor<6xi32>) {
        %s = arith.addi %a, %b : tensor<6xi32>
        scf.yield %b, %s : tensor<6xi32>, tensor<6xi32>
      }
      return %r#1, %r#0 : tensor<6xi32>, tensor<6xi32>
    }"""
    check(text, INTS, INTS[::-1].copy())


def test_loop_that_only_swaps() -> None:
    text = """func.func @main(%x: tensor<6xi32>, %y: tensor<6xi32>) -> (tensor<6xi32>, tensor<6xi32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c3 = arith.constant 3 : index
      %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%a = %x, %b = %y) -> (tensor<6xi32>, tensor<6xi32>) {
        scf.yield %b, %a : tensor<6xi32>, tensor<6xi32>
      }
      return %r#0, %r#1 : tensor<6xi32>, tensor<6xi32>
    }"""
    check(text, INTS, INTS[::-1].copy())


def test_tensor_from_outside_that_each_iteration_changes() -> None:
    """Hazard: the only use of the tensor is in the loop, but each iteration begins with its first elements."""
    text = """func.func @main(%x: tensor<6xi32>, %v: i32) -> i32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %z = arith.constant 0 : i32
      %y = arith.addi %x, %x : tensor<6xi32>
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%a = %z) -> (i32) {
        %t = tensor.insert %v into %y[%i] : tensor<6xi32>
        %e = tensor.extract %t[%c0] : tensor<6xi32>
        %s = arith.addi %a, %e : i32
        scf.yield %s : i32
      }
      return %r : i32
    }"""
    check(text, INTS, np.array(50, np.int32))


def test_loop_that_inserts_in_place_and_keeps_its_operand() -> None:
    text = """func.func @main(%x: tensor<6xi32>, %v: i32) -> (tensor<6xi32>, tensor<6xi32>, i32) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c6 = arith.constant 6 : index
      %r = scf.for %i = %c0 to %c6 step %c1 iter_args(%t = %x) -> (tensor<6xi32>) {
        %o = tensor.insert %v into %t[%i] : tensor<6xi32>
        scf.yield %o : tensor<6xi32>
      }
      %old = tensor.insert %v into %r[%c1] : tensor<6xi32>
      %e = tensor.extract %x[%c1] : tensor<6xi32>
      return %r, %old, %e : tensor<6xi32>, tensor<6xi32>, i32
    }"""
    check(text, INTS, np.array(50, np.int32))


@pytest.mark.parametrize("condition", [False, True])
def test_branch_with_tensors(condition: bool) -> None:
    text = """func.func @main(%p: i1, %x: tensor<6xi32>) -> (tensor<6xi32>, i32) {
      %c2 = arith.constant 2 : index
      %k = arith.constant 5 : i32
      %r:2 = scf.if %p -> (tensor<6xi32>, i32) {
        %s = arith.addi %x, %x : tensor<6xi32>
        scf.yield %s, %k : tensor<6xi32>, i32
      } else {
        %e = tensor.extract %x[%c2] : tensor<6xi32>
        scf.yield %x, %e : tensor<6xi32>, i32
      }
      return %r#0, %r#1 : tensor<6xi32>, i32
    }"""
    check(text, np.array(condition), INTS)


WHILE = """func.func @main(%n: i32, %x: tensor<2xi32>) -> (i32, tensor<2xi32>) {
  %one = arith.constant 1 : i32
  %end = arith.constant 100 : i32
  %r:2 = scf.while (%a = %n, %t = %x) : (i32, tensor<2xi32>) -> (i32, tensor<2xi32>) {
    %go = arith.cmpi slt, %a, %end : i32
    scf.condition(%go) %a, %t : i32, tensor<2xi32>
  } do {
  ^bb0(%b: i32, %u: tensor<2xi32>):
    %m = arith.addi %b, STEP : i32
    %w = arith.addi %u, %u : tensor<2xi32>
    scf.yield %m, %w : i32, tensor<2xi32>
  }
  return %r#0, %r#1 : i32, tensor<2xi32>
}"""


@pytest.mark.parametrize("start", [95, 100, -3])
def test_while(start: int) -> None:
    check(WHILE.replace("STEP", "%one"), np.array(start, np.int32), np.int32([1, 3]))


def test_while_without_end() -> None:
    """Hazard: a loop in machine code cannot be interrupted."""
    program = compile(WHILE.replace("STEP", "%n"), codegen=True)
    with pytest.raises(ModelError, match="1,000,000 rounds"):
        program(np.array(0, np.int32), np.int32([1, 1]))


def test_division_by_zero_in_a_loop_ends_the_run() -> None:
    text = """func.func @main(%x: tensor<40xi32>, %y: tensor<40xi32>) -> tensor<40xi32> {
      %r = arith.divsi %x, %y : tensor<40xi32>
      return %r : tensor<40xi32>
    }"""
    x, y = np.full(40, 7, np.int32), np.ones(40, np.int32)
    check(text, x, y)
    for place in (0, 17, 39):
        y[:] = 1
        y[place] = 0
        assert "division by zero" in str(check(text, x, y))
    with pytest.raises(ModelError) as error:
        compile(text, codegen=True)(x, y)
    assert isinstance(error.value.__cause__, UndefinedError)


def test_undefined_bound_does_not_make_an_endless_loop() -> None:
    """Hazard: the check of the division is deferred, and the bound then is that of a loop of 2**40 iterations."""
    text = """func.func @main(%x: tensor<4xindex>) -> index {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %big = arith.constant 1099511627776 : index
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%a = %c0) -> (index) {
        %d = tensor.extract %x[%i] : tensor<4xindex>
        %n = arith.divsi %big, %d : index
        %s = scf.for %j = %c0 to %n step %c1 iter_args(%b = %a) -> (index) {
          %t = arith.muli %b, %j : index
          %u = arith.xori %t, %d : index
          scf.yield %u : index
        }
        scf.yield %s : index
      }
      return %r : index
    }"""
    assert "division by zero" in str(check(text, np.array([2**38, 0, 2**39, 2**40])))


def test_undefined_operation_does_not_make_an_endless_while() -> None:
    """Hazard: the remainder's replaced divisor gives 0, so that the loop makes no progress."""
    text = """func.func @main(%x: tensor<4xi32>) -> i32 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %z = arith.constant 7 : i32
      %end = arith.constant 100 : i32
      %r = scf.for %i = %c0 to %c4 step %c1 iter_args(%o = %z) -> (i32) {
        %d = tensor.extract %x[%i] : tensor<4xi32>
        %w = scf.while (%a = %z) : (i32) -> i32 {
          %go = arith.cmpi slt, %a, %end : i32
          scf.condition(%go) %a : i32
        } do {
        ^bb0(%b: i32):
          %m = arith.remsi %z, %d : i32
          %n = arith.addi %b, %m : i32
          scf.yield %n : i32
        }
        scf.yield %w : i32
      }
      return %r : i32
    }"""
    assert "division by zero" in str(check(text, np.int32([4, 2, 0, 5])))


@pytest.mark.parametrize("index", [0, 5, 6, -1, 2**62])
def test_index_out_of_bounds(index: int) -> None:
    text = """func.func @main(%x: tensor<6xi32>, %i: index) -> (i32, tensor<6xi32>) {
      %e = tensor.extract %x[%i] : tensor<6xi32>
      %t = tensor.insert %e into %x[%i] : tensor<6xi32>
      return %e, %t : i32, tensor<6xi32>
    }"""
    check(text, INTS, np.array(index))


@pytest.mark.parametrize("index", [(0, 0), (2, 1), (0, -1), (3, 1)])
def test_memref_index_out_of_bounds(index: tuple[int, int]) -> None:
    text = """func.func @main(%m: memref<3x2xi32>, %i: index, %j: index) {
      %c0 = arith.constant 0 : index
      %e = memref.load %m[%i, %j] : memref<3x2xi32>
      memref.store %e, %m[%c0, %c0] : memref<3x2xi32>
      return
    }"""
    check(text, INTS.reshape(3, 2), *map(np.array, index))


@pytest.mark.parametrize("value", [0, 1])
def test_assertion(value: int) -> None:
    text = 'func.func @main(%p: i1) -> i1 { cf.assert %p, "given" return %p : i1 }'
    check(text, np.array(bool(value)))


def test_affine_loops_maps_and_conditions() -> None:
    text = """func.func @main(%m: memref<5x7xi32>, %o: memref<5x7xi32>) {
      affine.for %i = 0 to 5 {
        affine.for %j = max affine_map<(d0) -> (d0, 1)>(%i) to min affine_map<(d0) -> (d0 + 3, 7)>(%i) step 2 {
          %k = affine.apply affine_map<(d0, d1) -> ((d0 * 2 + d1) mod 5)>(%i, %j)
          %l = affine.min affine_map<(d0, d1) -> (d0 floordiv 2 + 1, d1 ceildiv 2, 6)>(%i, %j)
          %v = memref.load %m[%k, %l] : memref<5x7xi32>
          affine.if affine_set<(d0, d1) : (d1 - d0 - 1 >= 0)>(%i, %j) {
            affine.store %v, %o[%i, %j] : memref<5x7xi32>
          } else {
            affine.store %v, %o[4 - %i, %j] : memref<5x7xi32>
          }
        }
      }
      return
    }"""
    rng = np.random.default_rng(5)
    check(text, rng.integers(-99, 99, (5, 7)).astype(np.int32), np.zeros((5, 7), np.int32))


def test_poison_only_where_it_is_reached() -> None:
    text = """func.func @main(%p: i1, %x: i32) -> i32 {
      %r = scf.if %p -> (i32) {
        %q = ub.poison : i32
        scf.yield %q : i32
      } else { scf.yield %x : i32 }
      return %r : i32
    }"""
    check(text, np.array(False), np.array(4, np.int32))
    assert "poison" in str(check(text, np.array(True), np.array(4, np.int32)))


def test_long_loop() -> None:
    """Hazard: a loop that is unrolled while it is emitted, or whose length overflows 32 bits."""
    text = """func.func @main(%x: i64) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %n = arith.constant 6000000000 : index
      %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (i64) {
        %k = arith.index_cast %i : index to i64
        %s = arith.addi %a, %k : i64
        scf.yield %s : i64
      }
      return %r : i64
    }"""
    total = 6_000_000_000 * 5_999_999_999 // 2  # LLVM computes the sum without the loop
    assert int(compile(text, codegen=True)(np.array(3))) == (total + 3 + 2**63) % 2**64 - 2**63
