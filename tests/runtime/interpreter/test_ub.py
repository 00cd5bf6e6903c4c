"""ub. Hazards: a branch that is not taken must not raise, a pass that runs poison where it would not have run."""

import numpy as np

from qrt import ir
from qrt.ir import run_passes
from tests.runtime.interpreter.run import refused, run

TEXT = """
func.func @f(%p: i1) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = arith.constant 3 : i32
  return %0 : i32
^bb2:
  %1 = ub.poison : i32
  return %1 : i32
}"""
NEVER = """
func.func @f(%p: i1) -> i32 {
  cf.cond_br %p, ^bb1, ^bb2
^bb1:
  %0 = arith.constant 3 : i32
  return %0 : i32
^bb2:
  ub.unreachable
}"""


def test_what_is_undefined_is_an_error_where_it_runs():
    assert run(TEXT, np.True_) == [3]
    refused(TEXT, np.False_, message="'ub.poison' op has no value")
    assert run(NEVER, np.True_) == [3]
    refused(NEVER, np.False_, message="'ub.unreachable' op is reached")


def test_poison_stays_where_it_may_not_run():
    text = """
    func.func @f(%p: i1, %x: i32) -> i32 {
      %0 = scf.if %p -> (i32) {
        %1 = ub.poison : i32
        scf.yield %1 : i32
      } else {
        scf.yield %x : i32
      }
      return %0 : i32
    }"""
    module = ir.parse(text)
    run_passes(module, "canonicalize,cse")
    assert run(str(module), np.False_, np.int32(3)) == [3]
    refused(str(module), np.True_, np.int32(3), message="'ub.poison' op has no value")


def test_poison_stays_in_a_loop_that_may_not_run():
    text = """
    func.func @f(%n: index, %m: memref<i32>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      scf.for %i = %c0 to %n step %c1 {
        %0 = ub.poison : i32
        memref.store %0, %m[] : memref<i32>
      }
      return
    }"""
    module = ir.parse(text)
    run_passes(module, "loop-invariant-code-motion,canonicalize,cse")
    run(str(module), np.int64(0), np.zeros((), np.int32))
    refused(str(module), np.int64(1), np.zeros((), np.int32), message="'ub.poison' op has no value")
