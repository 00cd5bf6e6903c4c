"""Loops and branches in plans. Hazards: a carried value that is written before it is read; memory of one round that the
next one needs; what one branch writes over and the other one reads; a state that changes while its value is held; a
loop that never ends; an error whose place is lost; a run that cannot be interrupted."""

import re
import signal
import threading
import time
from random import Random
from typing import Any

import numpy as np
import pytest

import qrt
from qrt import kernels
from qrt.errors import ModelError
from qrt.runtime.interpreter import core
from tests.runtime.planner.control_programs import INT, PROGRAMS, STATE, T, counted, loop, main
from tests.runtime.planner.draw_control import control
from tests.runtime.programs import assert_same

X, Y = np.int32([3, -7, 2**30, 5]), np.int32([11, 1, -9, 2])
COUNTS = (-3, 0, 1, 2, 3, 8)


def given(count: int) -> dict[str, Any]:
    return {"arg0": np.array(count, np.int32), "arg1": X, "arg2": Y}


def plan_of(program: qrt.Program) -> Any:
    (plan,) = program._plans.values()
    return plan


@pytest.mark.parametrize("name", PROGRAMS)
def test_a_program_is_one_call_with_the_bits_of_the_interpreter(name: str, tmp_path: Any) -> None:
    program = qrt.compile(PROGRAMS[name])
    assert plan_of(program).executable is not None, [
        step for step in program.coverage() if step.engine == "interpreter"
    ]
    program.save(tmp_path / "program")
    loaded, other = qrt.load_program(tmp_path / "program"), program.clone()
    run = program.clone().bind(given(0))
    for count in COUNTS:
        expected = other.run(given(count), interpret=True)
        assert_same(program.run(given(count)), expected)
        assert_same(loaded.run(given(count)), expected)
        run.inputs["arg0"][...] = count
        run()
        for name, value in expected.items():
            stored = value.storage if isinstance(value, qrt.QuantTensor) else value
            np.testing.assert_array_equal(run.outputs[name], stored)
    for each in (program, other):
        each.reset()
    for isa in kernels.available():
        with kernels.use(isa):
            program.reset()
            other.reset()
            for count in COUNTS:
                expected = other.run(given(count), interpret=True)
                assert_same(program.run(given(count)), expected)
            program.reset()
            other.reset()
            for count in COUNTS:
                expected = other.run(given(count), interpret=True)
                assert_same(program.run_timed(given(count))[0], expected)


@pytest.mark.parametrize("seed", range(12))
def test_drawn_programs(seed: int) -> None:
    program = qrt.compile(control(Random(seed), has_state=True))
    assert plan_of(program).executable is not None
    for isa in kernels.available():
        with kernels.use(isa):
            one, other = program.clone(), program.clone()
            for count in (0, 2, 1, 5):
                assert_same(one.run(given(count)), other.run(given(count), interpret=True))


@pytest.mark.parametrize("name", PROGRAMS)
def test_another_step_of_the_interpreter_leaves_loops_in_c(name: str) -> None:
    """Around the segment stands the interpreter: targets are counted from the segment's first step."""
    text = PROGRAMS[name].replace("%y", "%plus").replace(f"%plus: {T})", f"%y: {T})")
    text = re.sub(r"(func\.func @main.*\n)", rf"\1    %plus = math.ctpop %y : {T}\n", text)
    program, other = qrt.compile(text), qrt.compile(text)
    assert plan_of(program).executable is None
    assert {step.op for step in program.coverage() if step.engine == "interpreter"} == {"math.ctpop"}
    for count in COUNTS:
        assert_same(program.run(given(count)), other.run(given(count), interpret=True))


@pytest.mark.parametrize("seed", range(40))
def test_rows_are_written_in_place_only_if_nothing_reads_the_old_ones(seed: int) -> None:
    """More drawn programs without a state, whose values are mostly sums that may be written over an operand."""
    program = qrt.compile(control(Random(1000 + seed), has_state=False))
    for count in (0, 2, 5):
        assert_same(program.run(given(count)), program.run(given(count), interpret=True))


def test_a_row_is_written_in_place() -> None:
    """The loop copies no row but the one that it replaces."""
    details = [step.detail for step in qrt.compile(PROGRAMS["rows are replaced"]).coverage() if "insert" in step.op]
    assert details == ["slice (ref) in place"]
    details = [step.detail for step in qrt.compile(PROGRAMS["rows are replaced, and the old ones read"]).coverage()
               if "insert" in step.op]  # fmt: skip
    assert details == ["slice (ref)"]


def test_a_row_out_of_bounds_is_an_error_at_its_place() -> None:
    program = qrt.compile(PROGRAMS["rows are replaced"])
    for options in ({}, {"interpret": True}):
        with pytest.raises(ModelError, match=r"<string>:\d+:\d+: error: 'tensor.extract_slice'.* (bounds|exceeds)"):
            program.run(given(9), **options)


@pytest.mark.parametrize(
    ("bounds", "reason"),
    [
        ("0 2000001 1", "more iterations"),
        ("9223372036854775800 9223372036854775807 1", "a step below the largest number"),
        ("0 8 0", "not positive"),
        ("0 8 -1", "not positive"),
    ],
)
def test_counted_loops_that_only_the_interpreter_runs(bounds: str, reason: str) -> None:
    program = qrt.compile(counted(bounds, "", "%all, %b"))
    assert [reason in step.detail for step in program.coverage() if step.op == "scf.for"] == [True]


@pytest.mark.parametrize("kind", ["i32", "i64", "index"])
@pytest.mark.parametrize("step", [1, 3])
def test_counters_at_the_ends_of_their_type(kind: str, step: int) -> None:
    """The number behind the last iteration must be one of the type."""
    most = np.iinfo(np.int32 if kind == "i32" else np.int64).max
    typed = "" if kind == "index" else f" : {kind}"
    for lower, upper, is_planned in (
        (-most - 1, -most + 3, True),
        (most - step - 5, most - step, True),
        (most - step - 5, most - step + 1, False),
        (most, -most, True),
    ):
        text = main(
            f"""%l = arith.constant {lower} : {kind}
            %u = arith.constant {upper} : {kind}
            %t = arith.constant {step} : {kind}
            %r = scf.for %k = %l to %u step %t iter_args(%a = %x) -> ({T}){typed} {{
              %s = arith.addi %a, %y : {T}
              scf.yield %s : {T}
            }}""", "%r", T)  # fmt: skip
        program = qrt.compile(text)
        assert (plan_of(program).executable is not None) == is_planned
        (result,) = program.run(given(0)).values()
        np.testing.assert_array_equal(result, X + Y * len(range(lower, upper, step)))


def test_a_counted_loop_takes_the_steps_of_its_iterations() -> None:
    """Two iterations of six operations."""
    program = qrt.compile(PROGRAMS["a counted loop with a step"])
    program.run(given(0), max_steps=12)
    with pytest.raises(ModelError, match=r"'scf\.for' op does not end within max_steps"):
        program.run(given(0), max_steps=11)


FOREVER = main(
    f"""%r = scf.while (%a = %x) : ({T}) -> {T} {{
      %true = arith.constant true
      scf.condition(%true) %a : {T}
    }} do {{
    ^bb0(%a: {T}):
      %s = arith.addi %a, %y : {T}
      scf.yield %s : {T}
    }}""", "%r", T)  # fmt: skip


def both_refuse(program: qrt.Program, inputs: dict[str, Any], said: str, **options: Any) -> None:
    with pytest.raises(ModelError, match=said) as planned:
        program.run(inputs, **options)
    with pytest.raises(ModelError, match=said) as interpreted:
        program.run(inputs, interpret=True, **options)
    assert str(planned.value) == str(interpreted.value)


def test_a_loop_takes_no_more_rounds_than_it_may(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setattr(core, "MOST_ROUNDS", 1000)
    said = r"<string>:4:10: error: 'scf.while' op does not end within 1,000 rounds, the limit by default"
    program = qrt.compile(FOREVER)
    both_refuse(program, given(0), said)
    program.save(tmp_path / "program")
    with pytest.raises(ModelError, match="does not end within 1,000 rounds"):
        qrt.load_program(tmp_path / "program").run(given(0))
    bound = program.bind(given(0))
    for _ in range(2):
        with pytest.raises(ModelError, match=said):
            bound()
    counted = qrt.compile(PROGRAMS["counted"])
    both_refuse(counted, given(1000), "within 1,000 rounds")
    assert counted.run(given(999))["result0"] == 999
    assert counted.run(given(5000), max_steps=100_000)["result0"] == 5000


def test_a_run_takes_no_more_steps_than_it_may() -> None:
    """Every round takes its operations. What went wrong once does not count later."""
    said = r"<string>:4:10: error: 'scf.while' op does not end within max_steps, the limit of steps"
    program = qrt.compile(FOREVER)
    for most in (0, -1, -(2**70), 5000):
        with pytest.raises(ModelError, match=said):
            program.run(given(0), max_steps=most)
    counted = qrt.compile(PROGRAMS["counted"])
    for count in (0, 1, 10):
        steps = 3 * (count + 1) + 4 * count
        assert counted.run(given(count), max_steps=steps)["result0"] == count
        with pytest.raises(ModelError, match="does not end within max_steps, the limit of steps"):
            counted.run(given(count), max_steps=steps - 1)
        assert counted.run(given(count), max_steps=2**80)["result0"] == count
        assert counted.run_timed(given(count), max_steps=steps)[0]["result0"] == count
        with pytest.raises(ModelError, match="does not end within max_steps, the limit of steps"):
            counted.run_timed(given(count), max_steps=steps - 1)


def test_each_branch_takes_its_steps() -> None:
    program = qrt.compile(PROGRAMS["a result that is made early in a branch"])
    for count, steps in ((1, 5), (0, 1)):
        program.run(given(count), max_steps=steps)
        with pytest.raises(ModelError, match=r"'scf\.if' op does not end within max_steps, the limit of steps"):
            program.run(given(count), max_steps=steps - 1)


def test_loops_on_both_sides_of_the_interpreter_take_from_the_same_steps() -> None:
    once = loop({"%a": (T, "%x")}, f"%s = arith.addi %a, %y : {T}", "%s")
    again = once.replace("%r:", "%q:").replace("= %x", "= %p")
    program = qrt.compile(main(f"{once}%p = math.ctpop %r#1 : {T}\n{again}", "%q#1", T))
    assert plan_of(program).executable is None
    for count in (0, 6):
        steps = 2 * (3 * (count + 1) + 4 * count)
        assert_same(program.run(given(count), max_steps=steps), program.run(given(count), interpret=True))
        with pytest.raises(ModelError, match="does not end within max_steps, the limit of steps"):
            program.run(given(count), max_steps=steps - 1)


def test_rounds_are_counted_anew_for_each_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(core, "MOST_ROUNDS", 4)
    program = qrt.compile(PROGRAMS["a loop in a loop"])
    for count in (0, 3):
        assert_same(program.run(given(count)), program.run(given(count), interpret=True))
    both_refuse(program, given(4), "within 4 rounds")


def test_an_error_in_a_region_names_its_op_and_place() -> None:
    body = f"%k = arith.subi %i, %two : {INT}\n%d = tensor.extract %k[] : {INT}\n%e = tensor.splat %d : {T}\n"
    text = main(
        f"%two = arith.constant dense<2> : {INT}\n"
        + loop({"%a": (T, "%x")}, f"{body}%s = arith.divsi %a, %e : {T}", "%s"), "%r#1", T)  # fmt: skip
    program = qrt.compile(text)
    assert plan_of(program).executable is not None
    line = 1 + text[: text.index("arith.divsi")].count("\n")
    both_refuse(program, given(3), rf"<string>:{line}:6: error: 'arith.divsi' op division by zero")
    with pytest.raises(ModelError, match=rf"<string>:{line}:6: error: 'arith.divsi' op division by zero"):
        program.run_timed(given(3))
    assert_same(program.run(given(2)), program.run(given(2), interpret=True))


REASONS = {
    "a shape changes from round to round": (
        """func.func @main(%x: tensor<?xi8>) -> tensor<?xi8> {
          %r = scf.while (%a = %x) : (tensor<?xi8>) -> tensor<?xi8> {
            %zero = arith.constant 0 : index
            %size = tensor.dim %a, %zero : tensor<?xi8>
            %most = arith.constant 9 : index
            %goes = arith.cmpi slt, %size, %most : index
            scf.condition(%goes) %a : tensor<?xi8>
          } do {
          ^bb0(%a: tensor<?xi8>):
            %b = tensor.concat dim(0) %a, %a : (tensor<?xi8>, tensor<?xi8>) -> tensor<?xi8>
            scf.yield %b : tensor<?xi8>
          }
          return %r : tensor<?xi8>
        }""",
        "tensor.concat at <string>:10:18 has no kernel",
    ),
    "two values of open shapes change places": (
        """func.func @main(%x: tensor<?xi8>, %y: tensor<?xi8>, %p: i1) -> tensor<?xi8> {
          %r:3 = scf.while (%a = %x, %b = %y, %q = %p)
              : (tensor<?xi8>, tensor<?xi8>, i1) -> (tensor<?xi8>, tensor<?xi8>, i1) {
            scf.condition(%q) %a, %b, %q : tensor<?xi8>, tensor<?xi8>, i1
          } do {
          ^bb0(%a: tensor<?xi8>, %b: tensor<?xi8>, %q: i1):
            %f = arith.constant false
            scf.yield %b, %a, %f : tensor<?xi8>, tensor<?xi8>, i1
          }
          return %r#0 : tensor<?xi8>
        }""",
        "the shape of a value differs from round to round: [2] and [3]",
    ),
    "branches of open shapes": (
        """func.func @main(%x: tensor<?xi8>, %y: tensor<?xi8>, %p: i1) -> tensor<?xi8> {
          %r = scf.if %p -> tensor<?xi8> { scf.yield %x : tensor<?xi8> } else { scf.yield %y : tensor<?xi8> }
          return %r : tensor<?xi8>
        }""",
        "the shape of a value differs between its branches: [2] and [3]",
    ),
}


@pytest.mark.parametrize("name", REASONS)
def test_what_is_not_planned_says_why(name: str) -> None:
    text, why = REASONS[name]
    program = qrt.compile(text)
    draw = {"arg0": np.int8([1, 2]), "arg1": np.int8([3, 4, 5]), "arg2": True}
    inputs = {port.name: draw[port.name] for port in program.inputs}
    for flag in (True, False):
        inputs = {name: flag if name == "arg2" else value for name, value in inputs.items()}
        assert_same(program.run(inputs), program.run(inputs, interpret=True))
    (step,) = program.coverage(*([(2,), (3,)] if "arg1" in inputs else [(2,)]))
    assert (step.engine, step.detail) == ("interpreter", why)
    assert why in program.plan_text(inputs)


def test_an_open_shape_that_stays_is_planned() -> None:
    text = """func.func @main(%x: tensor<?xi8>, %p: i1) -> tensor<?xi8> {
      %r = scf.if %p -> tensor<?xi8> {
        %s = arith.addi %x, %x : tensor<?xi8>
        scf.yield %s : tensor<?xi8>
      } else { scf.yield %x : tensor<?xi8> }
      return %r : tensor<?xi8>
    }"""
    program = qrt.compile(text)
    for size in (0, 1, 5):
        for flag in (True, False):
            inputs = {"arg0": np.arange(size, dtype=np.int8), "arg1": flag}
            assert_same(program.run(inputs), program.run(inputs, interpret=True))
    assert "interpreter" not in {step.engine for step in program.coverage((5,), ())}


def test_an_attempt_that_fails_leaves_nothing_behind() -> None:
    """The region is given up after a concatenation has claimed what stands outside, and a state was met."""
    text = PROGRAMS["a carried value that is part of another"].replace(
        "%d = qrt.add %c", "%no = math.ctpop %i : tensor<i32>\n%d = qrt.add %c"
    )
    text = text.replace("%s = qrt.add %a", f"%l = ml_program.global_load @v : {T}\n%s = qrt.add %a")
    program = qrt.compile(STATE + text)
    assert [step.op for step in program.coverage() if step.engine == "interpreter"][-1] == "scf.while"
    for count in COUNTS:
        assert_same(program.run(given(count)), program.run(given(count), interpret=True))


def test_recursion_in_a_branch_is_left_to_the_interpreter() -> None:
    text = main(
        f"%r = func.call @f(%n) : ({INT}) -> {INT}", "%r", INT,
        f"""func.func private @f(%k: {INT}) -> {INT} {{
          %one = arith.constant dense<1> : {INT}
          %below = arith.cmpi sle, %k, %one : {INT}
          %end = tensor.extract %below[] : tensor<i1>
          %r = scf.if %end -> {INT} {{ scf.yield %one : {INT} }} else {{
            %less = arith.subi %k, %one : {INT}
            %m = func.call @f(%less) : ({INT}) -> {INT}
            %p = arith.muli %m, %k : {INT}
            scf.yield %p : {INT}
          }}
          return %r : {INT}
        }}""")  # fmt: skip
    program = qrt.compile(text)
    assert program.run(given(5))["result0"] == program.run(given(5), interpret=True)["result0"] == 120
    (step,) = [step for step in program.coverage() if step.op == "scf.if"]
    assert "is called, and not inlined" in step.detail


def test_memory_of_a_loop_is_reused_in_it() -> None:
    """A chain in the body takes two places, beside what is carried: carried values are the results' own arrays."""
    chain = "\n".join(f"%{k + 1} = arith.xori %{k}, %x : {T}" for k in range(20))
    text = main(loop({"%a": (T, "%x")}, f"%0 = arith.addi %a, %y : {T}\n{chain}", "%20"), "%r#1", T)
    assert qrt.compile(text).memory().arena_bytes <= 3 * X.nbytes + 16


def test_a_signal_ends_a_loop() -> None:
    program = qrt.compile(FOREVER)
    previous = signal.signal(signal.SIGALRM, signal.default_int_handler)
    signal.setitimer(signal.ITIMER_REAL, 0.2)
    try:
        start = time.perf_counter()
        with pytest.raises(KeyboardInterrupt):
            program.run(given(0), max_steps=2**62)
        assert time.perf_counter() - start < 5
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, previous)
    counted = qrt.compile(PROGRAMS["counted"])
    assert counted.run(given(7))["result0"] == 7


def test_threads_run_one_program_and_clones() -> None:
    """A loop gives the GIL away, and counts rounds of its own."""
    shared, stateful = qrt.compile(PROGRAMS["a loop in a loop"]), qrt.compile(
        PROGRAMS["a state that is added to in each round"]
    )  # fmt: skip
    clones = [stateful.clone() for _ in range(8)]
    counts = [3, 40, 7, 0, 19, 64, 1, 30]
    expected = [shared.run(given(count), interpret=True) for count in counts]
    expected_state = []
    for count in counts:
        alone = stateful.clone()
        expected_state.append([alone.run(given(count), interpret=True) for _ in range(5)])
    wrong: list[Any] = []

    def run(number: int) -> None:
        try:
            for turn in range(5):
                assert_same(shared.run(given(counts[number])), expected[number])
                assert_same(clones[number].run(given(counts[number])), expected_state[number][turn])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=run, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
