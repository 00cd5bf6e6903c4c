"""cf. Hazards: the operands of the other successor, a negative case, a case said twice, a loop of blocks."""

import numpy as np
import pytest

from tests.runtime.interpreter.run import refused, run

SWITCH = """
func.func @f(%i: i8, %x: i32, %y: i32) -> i32 {
  cf.switch %i : i8, [default: ^bb1(%x : i32), -3: ^bb2(%x, %y : i32, i32), 5: ^bb1(%y : i32), 5: ^bb1(%x : i32)]
^bb1(%a: i32):
  return %a : i32
^bb2(%b: i32, %c: i32):
  %d = arith.subi %b, %c : i32
  return %d : i32
}"""


@pytest.mark.parametrize(("case", "expected"), [(0, 10), (5, 1), (-3, 9)])
def test_switch(case, expected):
    assert run(SWITCH, np.int8(case), np.int32(10), np.int32(1)) == [expected]


COUNT = """
func.func @f(%n: index) -> index {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^bb1(%c0 : index)
^bb1(%i: index):
  %p = arith.cmpi slt, %i, %n : index
  cf.cond_br %p, ^bb2, ^bb3(%i : index)
^bb2:
  %j = arith.addi %i, %c1 : index
  cf.br ^bb1(%j : index)
^bb3(%r: index):
  return %r : index
}"""


def test_loops_of_blocks():
    assert run(COUNT, np.int64(7)) == [7]
    refused(COUNT, np.int64(1 << 40), message="'cf.cond_br' op does not end within max_steps", max_steps=1001)


def test_assert():
    text = 'func.func @f(%p: i1) { cf.assert %p, "p holds" return }'
    assert run(text, np.True_) == []
    refused(text, np.False_, message="'cf.assert' op failed: p holds")
