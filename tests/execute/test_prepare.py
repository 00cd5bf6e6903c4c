"""What is done to a program before it is planned. Hazards: the program itself is changed; another op, or another place
of the text, is named by an error; a function that calls itself meets what was made of it."""

import numpy as np
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError, UndefinedError
from qrt.execute import prepare
from tests.execute.programs import EVERYTHING

CALLS = """
func.func private @g(%x: tensor<?xi32>, %k: i32) -> tensor<?xi32> {
  %n = arith.constant 2 : index
  %t = tensor.splat %k[%n] : tensor<?xi32>
  %0 = arith.divsi %x, %t : tensor<?xi32>
  return %0 : tensor<?xi32>
}
func.func @main(%x: tensor<?xi32>) -> tensor<?xi32> {
  %a = arith.constant 6 : i32
  %b = arith.constant 3 : i32
  %k = arith.divsi %a, %b : i32
  %0 = call @g(%x, %k) : (tensor<?xi32>, i32) -> tensor<?xi32>
  %c = arith.constant 0 : i32
  %1 = call @g(%0, %c) : (tensor<?xi32>, i32) -> tensor<?xi32>
  return %1 : tensor<?xi32>
}
"""


def test_passes_leave_the_program_as_it_is():
    for text in (EVERYTHING, CALLS):
        module = ir.parse(text)
        before = str(module)
        qrt.compile(module, "main").coverage()
        assert str(module) == before


def test_calls_are_inlined_and_constants_computed():
    (block,) = prepare.prepared(ir.parse(CALLS), "main", saturating=False).function("main").regions[0].blocks
    names = [op.name for op in block]
    assert names == ["arith.constant", "arith.divsi", "arith.constant", "arith.divsi", "func.return"]
    assert [str(op.location).partition(":")[2] for op in block if op.name == "arith.divsi"] == ["5:8", "5:8"]


@pytest.mark.parametrize("interpret", [False, True])
def test_an_error_names_the_op_where_it_is_written(interpret):
    program = qrt.compile(CALLS, "main")
    with pytest.raises(ModelError, match=r":5:8: error: 'arith.divsi' op division by zero") as caught:
        program.run({"arg0": np.int32([4, 8])}, interpret=interpret)
    assert type(caught.value.__cause__) is UndefinedError


@pytest.mark.parametrize("interpret", [False, True])
def test_a_function_that_calls_itself_in_a_region_meets_its_own_constants(interpret):
    """While it is planned its constants hold arrays. The call runs the function as the text has it."""
    program = qrt.compile(
        """func.func @main(%n: i32) -> i32 {
          %zero = arith.constant 0 : i32
          %one = arith.constant 1 : i32
          %two = arith.addi %one, %one : i32
          %q = arith.constant dense<[1, 2]> : tensor<2xi8>
          %s = quant.scast %q : tensor<2xi8> to tensor<2x!quant.uniform<i8:f32, 0.5>>
          %d = quant.dcast %s : tensor<2x!quant.uniform<i8:f32, 0.5>> to tensor<2xf32>
          %i = arith.constant 1 : index
          %f = tensor.extract %d[%i] : tensor<2xf32>
          %v = arith.fptosi %f : f32 to i32
          %done = arith.cmpi sle, %n, %zero : i32
          %r = scf.if %done -> i32 {
            scf.yield %v : i32
          } else {
            %m = arith.subi %n, %one : i32
            %c = func.call @main(%m) : (i32) -> i32
            %e = arith.addi %c, %two : i32
            scf.yield %e : i32
          }
          return %r : i32
        }"""
    )
    assert program.run({"arg0": 5}, interpret=interpret)["result0"] == 11


@pytest.mark.parametrize("interpret", [False, True])
@pytest.mark.parametrize("name", ["never", "called"])
def test_a_function_that_does_not_return_is_the_interpreters(name, interpret):
    program = qrt.compile(
        """func.func @never(%x: i32) -> i32 {
          ub.unreachable
        }
        func.func @called(%x: i32) -> i32 {
          %0 = call @never(%x) : (i32) -> i32
          return %0 : i32
        }""",
        name,
    )
    with pytest.raises(ModelError, match=r":2:\d+: error: 'ub.unreachable' op is reached"):
        program.run({"arg0": 1}, interpret=interpret)


def test_passes_run_once_for_all_shapes(monkeypatch):
    runs = []
    run_steps = prepare.run_steps

    def run(module, steps, **options):
        runs.append([step.name for step in steps])
        return run_steps(module, steps, **options)

    monkeypatch.setattr(prepare, "run_steps", run)
    program = qrt.compile(
        """func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
          %0 = arith.negf %x : tensor<?xf32>
          return %0 : tensor<?xf32>
        }"""
    )
    for size in (1, 2, 3):
        program(np.ones(size, np.float32))
    assert len(program._plans) == 3
    assert runs == [["fold-plan-constants"]]
