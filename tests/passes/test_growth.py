"""What passes, parser, verifier, printer and planner do grows no faster than the program. Hazards: all users of a
constant visited for each of them, all that a loop holds for each change in it, all that lives for each temporary. Lines
of Python are counted, not seconds, so that nothing else matters; benches/test_growth.py measures."""

import sys

import pytest

import qrt
from qrt import ir
from qrt.execute.passes import PASSES
from tests.passes.growing import CASES

SIZE = 96
"""Operations of the smaller program: four times as many take at most 4.4 times the work."""


def work(name, text):
    """What is measured, on a module of its own."""
    module = ir.parse(text)
    if name in PASSES:
        return lambda: PASSES[name]().run(module)
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


@pytest.mark.parametrize(("program", "name"), CASES, ids=lambda case: getattr(case, "__name__", case))
def test_work_grows_no_faster_than_the_program(program, name):
    work(name, program(6))()  # what is made once, and kept
    less, more = (lines_run(work(name, program(size))) for size in (SIZE, 4 * SIZE))
    assert more <= 4.4 * less
