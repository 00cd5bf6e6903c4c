"""What passes, parser, verifier, printer and planner do grows no faster than the program. Hazards: all users of a
constant visited for each of them, all that a loop holds for each change in it, all that lives for each temporary. Lines
of Python are counted, not seconds, so that nothing else matters; benches/test_growth.py measures."""

import sys

import pytest

import qrt
from qrt import ir
from qrt.ir.pipeline import PASSES
from qrt.ir.rewriting import greedy
from tests.ir.passes.growing import CASES, dead_users

_OF_FUNCTIONS = ("fold-plan-constants",)
SIZE = 96
"""Operations of the smaller program: four times as many take at most 4.4 times the work."""


def work(name, text):
    """What is measured, on a module of its own."""
    module = ir.parse(text)
    if name in PASSES:
        options = {"entry": "f"} if name in _OF_FUNCTIONS else {}
        return lambda: PASSES[name](**options).run(module)
    return {
        "parse": lambda: ir.parse(text),
        "verify": module.verify,
        "print": lambda: str(module),
        "compile": lambda: qrt.compile(text, "f"),
    }[name]


def lines_run(function):
    """How many lines of Python a call runs, each round of a loop or a comprehension anew."""
    count = 0

    def trace(frame, event, argument):
        nonlocal count
        count += 1
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        function()
    finally:
        sys.settrace(before)
    return count


class Uses(dict):
    """The uses of a value, and how often they were iterated: each time passes all that were before the first."""

    iterated = 0

    def __iter__(self):
        Uses.iterated += 1
        return super().__iter__()


def test_no_user_of_a_value_that_has_many_is_looked_for():
    module = ir.parse(dead_users(400))
    constant = next(operation for operation in module.operation.walk() if operation.name == "arith.constant")
    constant.results[0].uses = Uses(constant.results[0].uses)
    PASSES["canonicalize"]().run(module)
    assert 0 < Uses.iterated < 100


def test_a_loop_goes_with_the_last_operation_that_kept_it(monkeypatch):
    """The outer one is asked first, and kept by the store. With it goes what the allocation is read for; a third round
    would visit all operations again."""
    rounds = []
    run = greedy._Worklist.run
    monkeypatch.setattr(greedy._Worklist, "run", lambda *given: rounds.append(1) or run(*given))
    text = """func.func @f(%m: memref<8xindex>) {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %a = memref.alloc() : memref<8xindex>
      %n = memref.load %a[%c1] : memref<8xindex>
      scf.for %i = %c0 to %n step %c1 {
        scf.for %j = %c0 to %c0 step %c1 {
          memref.store %i, %m[%j] : memref<8xindex>
        }
        %0 = arith.addi %i, %i : index
        %1 = arith.addi %0, %0 : index
      }
      memref.dealloc %a : memref<8xindex>
      return
    }"""
    module = ir.parse(text)
    PASSES["canonicalize"]().run(module)
    assert "scf.for" not in str(module)
    assert "memref" not in str(module).partition("\n")[2].partition("\n")[2]
    assert len(rounds) == 2


@pytest.mark.parametrize(("program", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_work_grows_no_faster_than_the_program(program, name):
    work(name, program(6))()  # what is made once, and kept
    less, more = (lines_run(work(name, program(size))) for size in (SIZE, 4 * SIZE))
    assert more <= 4.4 * less
