"""State of programs. Hazards: a value that the caller's array or an arena still holds, a store before the last use of
what was loaded, one stream that writes another's, a child that was forked while a lock was held, a value that was never
set."""

import os
import pickle
import threading

import numpy as np
import pytest

import qrt
from qrt import compile, ir
from qrt.errors import ModelError

I8 = "tensor<4xi8>"
SUM = f"""
ml_program.global private mutable @sum(dense<[1, 2, 3, 4]> : {I8}) : {I8}
func.func @main(%x: {I8}) -> ({I8}, {I8}) {{
  %0 = ml_program.global_load @sum : {I8}
  %1 = arith.addi %0, %x : {I8}
  ml_program.global_store @sum = %1 : {I8}
  return %0, %1 : {I8}, {I8}
}}"""
X = np.int8([10, 0, -5, 1])
FIRST = np.int8([1, 2, 3, 4])


def lists(results):
    return [result.tolist() for result in results]


def after(count):
    """The results of call number `count`, from 1."""
    return lists([FIRST + np.int8(count - 1) * X, FIRST + np.int8(count) * X])


@pytest.mark.parametrize("interpret", [False, True])
def test_values_outlive_a_call(interpret):
    program = compile(SUM)
    for count in range(1, 51):
        assert lists(program.run({"arg0": X}, interpret=interpret).values()) == after(count)
    program.reset()
    assert lists(program.run({"arg0": X}, interpret=interpret).values()) == after(1)


def test_the_interpreter_goes_on_where_the_plan_stopped():
    program = compile(SUM)
    program(X)
    assert lists(program.run({"arg0": X}, interpret=True).values()) == after(2)
    assert lists(program(X)) == after(3)
    results, _ = program.run_timed({"arg0": X})
    assert lists(results.values()) == after(4)


def test_timings_leave_the_state_alone():
    program = compile(SUM)
    program(X)
    program.timings({"arg0": X}, repeats=3)
    assert lists(program(X)) == after(2)


def test_a_clone_is_a_stream_of_its_own():
    program = compile(SUM)
    program(X)
    clone = program.clone()
    assert lists(clone(X)) == after(1)
    assert lists(program(X)) == after(2)
    program.reset()
    assert lists(clone(X)) == after(2)
    again = pickle.loads(pickle.dumps(clone))
    assert lists(again(X)) == after(1)


def test_nobody_else_holds_the_array_of_a_global():
    program = compile(f"""
    ml_program.global private mutable @v(dense<0> : {I8}) : {I8}
    func.func @main(%x: {I8}) -> ({I8}, {I8}) {{
      %0 = ml_program.global_load @v : {I8}
      ml_program.global_store @v = %x : {I8}
      %1 = ml_program.global_load @v : {I8}
      return %0, %1 : {I8}, {I8}
    }}""")
    given = X.copy()
    old, new = program(given)
    given[:] = 77
    old[:] = 78
    new[:] = 79
    old, new = program(X)
    assert old.tolist() == X.tolist()
    assert lists(program.run({"arg0": X}, interpret=True).values()) == lists([X, X])


def test_quantized_values_pass_through_storage():
    q = "tensor<2x!quant.uniform<i8:f32, 0.5:1>>"
    program = compile(f"""
    ml_program.global private mutable @v(dense<1> : tensor<2xi8>) : tensor<2xi8>
    func.func @main(%x: {q}) -> {q} {{
      %0 = ml_program.global_load @v : tensor<2xi8>
      %1 = quant.scast %0 : tensor<2xi8> to {q}
      %2 = qrt.add %1, %x : ({q}, {q}) -> {q}
      %3 = quant.scast %2 : {q} to tensor<2xi8>
      ml_program.global_store @v = %3 : tensor<2xi8>
      return %2 : {q}
    }}""")
    x = np.int8([3, -1])
    assert [program(x).storage.tolist() for _ in range(3)] == [[3, -1], [5, -3], [7, -5]]


def test_loops_and_functions_see_the_state():
    program = compile("""
    ml_program.global private mutable @n(0 : i64) : i64
    func.func private @count() -> i64 {
      %0 = ml_program.global_load @n : i64
      %1 = arith.constant 1 : i64
      %2 = arith.addi %0, %1 : i64
      ml_program.global_store @n = %2 : i64
      return %2 : i64
    }
    func.func @main(%k: index) -> i64 {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %z = arith.constant 0 : i64
      %r = scf.for %i = %c0 to %k step %c1 iter_args(%a = %z) -> i64 {
        %b = func.call @count() : () -> i64
        scf.yield %b : i64
      }
      return %r : i64
    }""")
    assert [int(program(k)) for k in (3, 4, 1)] == [3, 7, 8]
    assert int(program.run({"arg0": 2}, interpret=True)["result0"]) == 10


def test_a_dynamic_shape_may_change():
    program = compile("""
    ml_program.global private mutable @v(dense<5> : tensor<1xi8>) : tensor<?xi8>
    func.func @main(%x: tensor<?xi8>) -> tensor<?xi8> {
      %0 = ml_program.global_load @v : tensor<?xi8>
      ml_program.global_store @v = %x : tensor<?xi8>
      return %0 : tensor<?xi8>
    }""")
    given = [np.zeros(3, np.int8), np.ones(2, np.int8), np.ones(0, np.int8), np.ones(2, np.int8)]
    assert lists(map(program, given)) == [[5], [0, 0, 0], [1, 1], []]


def test_a_value_that_is_not_set_is_an_error():
    program = compile("""
    ml_program.global private mutable @v : tensor<2xi8>
    func.func @main(%x: tensor<2xi8>, %p: i1) -> tensor<2xi8> {
      scf.if %p { ml_program.global_store @v = %x : tensor<2xi8> }
      %0 = ml_program.global_load @v : tensor<2xi8>
      return %0 : tensor<2xi8>
    }""")
    x = np.int8([1, 2])
    for interpret in (False, True):
        with pytest.raises(
            ModelError, match=r"'ml_program\.global_load' op loads the global @v before a value is stored in it"
        ):
            program.run({"arg0": x, "arg1": False}, interpret=interpret)
    assert program(x, True).tolist() == program(x * 2, False).tolist() == [1, 2]
    program.reset()
    with pytest.raises(ModelError, match="before a value is stored in it"):
        program(x, False)


@pytest.mark.parametrize(
    ("declared", "message"),
    [
        (
            "(dense<1> : tensor<3xi8>) : tensor<2xi8>",
            "the initial value of the global must have the type tensor<2xi8>, got tensor<3xi8>",
        ),
        ("(dense<1> : tensor<2xi16>) : tensor<2xi8>", "type tensor<2xi8>, got tensor<2xi16>"),
        ("(1 : i8) : tensor<i8>", "type tensor<i8>, got i8"),
        ("(dense<1> : tensor<i8>) : i8", "type i8, got tensor<i8>"),
        ("(#ml_program.extern) : tensor<2xi8>", "initial value #ml_program.extern of a global"),
        ('("text") : tensor<2xi8>', 'initial value "text" of a global'),
        (
            "(dense<1> : tensor<2xi8>) : memref<2xi8>",
            "does not support a global of type memref<2xi8>",
        ),
    ],
)
@pytest.mark.parametrize("form", ["private", "private mutable"])
def test_a_global_that_does_not_run_is_named(declared, message, form):
    type = declared.rpartition(" : ")[2]
    load = "global_load" if "mutable" in form else "global_load_const"
    text = f"""
    ml_program.global {form} @v{declared}
    func.func @main() -> {type} {{
      %0 = ml_program.{load} @v : {type}
      return %0 : {type}
    }}"""
    with pytest.raises(ModelError) as caught:
        compile(text)()
    assert message in str(caught.value)
    assert f"'ml_program.{load}' op" in str(caught.value)


def test_constants_are_known_when_the_program_is_planned():
    text = f"""
    ml_program.global private @w(dense<[1, 2, 3, 4]> : {I8}) : {I8}
    func.func @main(%x: {I8}) -> {I8} {{
      %0 = ml_program.global_load_const @w : {I8}
      %1 = arith.muli %0, %0 : {I8}
      %2 = arith.addi %1, %x : {I8}
      return %2 : {I8}
    }}"""
    program = compile(text)
    assert [found.op for found in program.coverage()] == ["arith.addi"]
    assert program(X).tolist() == program.run({"arg0": X}, interpret=True)["result0"].tolist() == [11, 4, 4, 17]


def test_threads_of_clones_and_of_one_stream():
    """Calls of one stream run one after the other: none is lost."""
    program = compile(SUM)
    clones = [program.clone() for _ in range(8)]
    one = np.int8([1, 0, 0, 0])
    wrong = []

    def run(clone):
        for count in range(1, 21):
            if lists(clone(X)) != after(count):
                wrong.append(count)
            program(one)

    threads = [threading.Thread(target=run, args=(clone,)) for clone in clones]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong
    assert program(one)[0].tolist() == [int(np.int8(-256 + 161)), 2, 3, 4]


def test_a_forked_child_does_not_wait_for_a_lost_lock():
    program = compile(SUM)
    held, done = threading.Event(), threading.Event()

    def hold():
        with program._state.lock:
            held.set()
            done.wait(10)

    thread = threading.Thread(target=hold)
    thread.start()
    held.wait(10)
    child = os.fork()
    if child == 0:
        os._exit(0 if lists(program(X)) == after(1) else 1)
    done.set()
    thread.join()
    assert os.waitpid(child, 0)[1] == 0


def test_a_program_without_state_takes_no_lock():
    program = compile("func.func @main(%x: i32) -> i32 { return %x : i32 }")
    program.reset()
    with program._state.lock:
        thread = threading.Thread(target=program, args=(1,))
        thread.start()
        thread.join(10)
        assert not thread.is_alive()


def test_stores_survive_passes():
    from qrt.ir import run_passes

    module = run_passes(ir.parse(SUM), "canonicalize,cse,symbol-dce,inline,constant-fold")
    program = qrt.compile(module)
    assert lists(program(X)) == after(1)
    assert lists(program(X)) == after(2)
