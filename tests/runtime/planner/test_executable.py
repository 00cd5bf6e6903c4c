"""Executables: programs whose every step is a kernel run by one call of C. Hazards: a result that is an input, a
constant, a part of another or the same as another; a view past its base; a global that a store overwrites before its
last use; a thread that runs on the arena of another; arguments that fit by chance."""

import threading

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from tests.runtime.programs import assert_same

Q = "tensor<2x8x!quant.uniform<i8:f32, 0.5:3>>"
U = "tensor<2x8x!quant.uniform<u8:f32, 0.25:7>>"
Q4, Q8 = Q.replace("2x8", "4x8"), Q.replace("2x8", "8x8")
X = np.arange(16, dtype=np.int8).reshape(2, 8) * 9 - 60

PROGRAMS = {
    "an argument is returned": f"func.func @main(%x: {Q}) -> ({Q}, {Q}) {{ return %x, %x : {Q}, {Q} }}",
    "a constant is returned": f"""func.func @main(%x: {Q}) -> ({Q}, {Q}) {{
      %c = arith.constant dense<5> : tensor<2x8xi8>
      %0 = quant.scast %c : tensor<2x8xi8> to {Q}
      return %0, %x : {Q}, {Q} }}""",
    "one result twice": f"""func.func @main(%x: {Q}) -> ({Q}, {Q}) {{
      %0 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      return %0, %0 : {Q}, {Q} }}""",
    "one result under two types": f"""func.func @main(%x: {Q}) -> (tensor<2x8xi8>, tensor<16xi8>, {Q}) {{
      %0 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      %1 = quant.scast %0 : {Q} to tensor<2x8xi8>
      %2 = qrt.reshape %0 : ({Q}) -> tensor<16x!quant.uniform<i8:f32, 0.5:3>>
      %3 = quant.scast %2 : tensor<16x!quant.uniform<i8:f32, 0.5:3>> to tensor<16xi8>
      return %1, %3, %0 : tensor<2x8xi8>, tensor<16xi8>, {Q} }}""",
    "bits of another type": f"""func.func @main(%x: {Q}) -> ({U}, {U}, tensor<2x8xi8>) {{
      %u = qrt.requantize %x : ({Q}) -> {U}
      %0 = quant.scast %u : {U} to tensor<2x8xi8>
      %1 = quant.scast %0 : tensor<2x8xi8> to {U}
      %2 = qrt.add %1, %u : ({U}, {U}) -> {U}
      return %2, %1, %0 : {U}, {U}, tensor<2x8xi8> }}""",
    "parts that are written where they are joined": f"""func.func @main(%x: {Q}) -> ({Q8}, {Q}, {Q8}) {{
      %0 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      %1 = qrt.mul %0, %x : ({Q}, {Q}) -> {Q}
      %2 = qrt.concat %0, %x, %1, %0 {{axis = 0}} : ({Q}, {Q}, {Q}, {Q}) -> {Q8}
      %3 = qrt.add %1, %0 : ({Q}, {Q}) -> {Q}
      %4 = qrt.concat %1, %3, %3, %x {{axis = 0}} : ({Q}, {Q}, {Q}, {Q}) -> {Q8}
      %5 = qrt.add %2, %4 : ({Q8}, {Q8}) -> {Q8}
      return %2, %1, %5 : {Q8}, {Q}, {Q8} }}""",
    "a part that is made long before": f"""func.func @main(%x: {Q}) -> {Q4} {{
      %0 = qrt.mul %x, %x : ({Q}, {Q}) -> {Q}
      %1 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      %2 = qrt.sub %1, %x : ({Q}, {Q}) -> {Q}
      %3 = qrt.concat %0, %2 {{axis = 0}} : ({Q}, {Q}) -> {Q4}
      %4 = qrt.add %3, %3 : ({Q4}, {Q4}) -> {Q4}
      return %4 : {Q4} }}""",
    "parts of parts": f"""func.func @main(%x: {Q}) -> (tensor<2x8xi8>, {Q4}) {{
      %0 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      %1 = qrt.mul %0, %x : ({Q}, {Q}) -> {Q}
      %2 = qrt.concat %0, %1 {{axis = 0}} : ({Q}, {Q}) -> {Q4}
      %3 = qrt.concat %2, %x, %1 {{axis = 0}} : ({Q4}, {Q}, {Q}) -> {Q8}
      %4 = quant.scast %1 : {Q} to tensor<2x8xi8>
      %5 = qrt.add %3, %3 : ({Q8}, {Q8}) -> {Q8}
      return %4, %2 : tensor<2x8xi8>, {Q4} }}""",
    "a result that steps behind it read": f"""func.func @main(%x: {Q}) -> ({Q}, {Q}) {{
      %0 = qrt.add %x, %x : ({Q}, {Q}) -> {Q}
      %1 = qrt.mul %0, %x : ({Q}, {Q}) -> {Q}
      %2 = qrt.add %1, %0 : ({Q}, {Q}) -> {Q}
      return %0, %2 : {Q}, {Q} }}""",
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_results_are_those_of_the_interpreter(name):
    program = qrt.compile(PROGRAMS[name])
    (plan,) = program._plans.values()
    assert plan.executable is not None
    draw = np.random.default_rng(3)
    for _ in range(3):
        given = {"arg0": draw.integers(-128, 128, (2, 8)).astype(np.int8)}
        expected = program.run(given, interpret=True)
        assert_same(program.run(given), expected)
        assert_same(program.run_timed(given)[0], expected)
        run = program.bind(given)
        run()
        for out, value in zip(run.outputs.values(), expected.values(), strict=True):
            np.testing.assert_array_equal(out, value.storage if isinstance(value, qrt.QuantTensor) else value)


def test_results_are_the_callers_own():
    program = qrt.compile(PROGRAMS["an argument is returned"])
    given = X.copy()
    first, second = program(given)
    given[:] = 0
    assert first.storage.tolist() == second.storage.tolist() == X.tolist()
    program = qrt.compile(PROGRAMS["a constant is returned"])
    a, b = program(X)
    a[:] = 7.0
    assert program(X)[0].storage.max() == 5
    assert b.storage.tolist() == X.tolist()


ADD = f"func.func @main(%x: {Q}, %y: {Q}) -> {Q} {{ %0 = qrt.add %x, %y : ({Q}, {Q}) -> {Q} return %0 : {Q} }}"


def test_arguments_that_fit_go_straight_and_others_are_converted_or_refused():
    program = qrt.compile(ADD)
    expected = program.run({"arg0": X, "arg1": X}, interpret=True)["result0"]
    q = qrt.QuantTensor(X, program.inputs[0].type.element)
    assert program._preferred[1]((X, q)) is not None
    strided = np.repeat(X, 2, axis=1)[:, ::2]
    fortran = np.asfortranarray(X)
    unaligned = np.frombuffer(b"\0" + X.tobytes(), np.int8, offset=1).reshape(2, 8)
    for other in (q, strided, fortran, unaligned, X.tolist()):
        assert (program(other, X).storage == expected.storage).all()
        assert (program.run({"arg1": X, "arg0": other})["result0"].storage == expected.storage).all()
    for wrong, message in [
        (X.astype(np.int16), "must be of dtype int8, .* got dtype int16"),
        (X.view(np.uint8), "must be of dtype int8, .* got dtype uint8"),
        (X.reshape(8, 2), r"got shape \[8, 2\]"),
        (X.reshape(16), r"got shape \[16\]"),
        (X[:1], r"got shape \[1, 8\]"),
        (qrt.QuantTensor(X, "!quant.uniform<i8:f32, 0.25:3>"), "got a QuantTensor of"),
    ]:
        with pytest.raises(ModelError, match=message):
            program(X, wrong)
        with pytest.raises(ModelError, match=message):
            program.run({"arg0": X, "arg1": wrong})
    with pytest.raises(ModelError, match=r"must be called with 2 arguments .*, got 1"):
        program(X)
    with pytest.raises(ModelError, match="no input is named 'z'"):
        program.run({"arg0": X, "arg1": X, "z": X})
    with pytest.raises(ModelError, match=r"input 'arg1' \(.*\) is missing"):
        program.run({"arg0": X})


def test_a_narrow_type_is_checked_at_each_call():
    narrow = "tensor<4x!quant.uniform<u4:f32, 0.5>>"
    program = qrt.compile(
        f"func.func @main(%x: {narrow}) -> {narrow} {{ %0 = qrt.add %x, %x : ({narrow}, {narrow}) -> {narrow} "
        f"return %0 : {narrow} }}"
    )
    x = np.uint8([1, 2, 3, 15])
    assert program(x).storage.tolist() == [2, 4, 6, 15]
    run = program.bind({"arg0": x})
    run()
    assert run.outputs["result0"].tolist() == [2, 4, 6, 15]
    x[0] = 16
    for call in (lambda: program(x), run):
        with pytest.raises(ModelError, match="input 'arg0': storage values must be in"):
            call()


def test_each_isa_has_its_plan():
    program = qrt.compile(ADD)
    expected = program(X, X).storage.tolist()
    for isa in qrt.kernels.available():
        with qrt.kernels.use(isa):
            assert program(X, X).storage.tolist() == expected
    assert {plan.isa for plan in program._plans.values()} == set(qrt.kernels.available())


def test_many_threads_call_one_program_without_state():
    q = "tensor<64x256x!quant.uniform<i8:f32, 0.5:3>>"
    steps = "\n".join(f"%{i} = qrt.add %{i - 1}, %x : ({q}, {q}) -> {q}" for i in range(1, 8))
    program = qrt.compile(
        f"func.func @main(%x: {q}) -> {q} {{ %0 = qrt.clamp %x : ({q}) -> {q}\n{steps}\nreturn %7 : {q} }}"
    )
    inputs = [np.random.default_rng(i).integers(-128, 128, (64, 256)).astype(np.int8) for i in range(8)]
    expected = [program.run({"arg0": x}, interpret=True)["result0"].storage for x in inputs]
    wrong = []

    def run(i):
        bound = program.bind({"arg0": inputs[i]})
        for _ in range(20):
            bound()
            if not (
                (program(inputs[i]).storage == expected[i]).all() and (bound.outputs["result0"] == expected[i]).all()
            ):
                wrong.append(i)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


SWAP = """
ml_program.global private mutable @a(dense<1> : tensor<2x8xi8>) : tensor<2x8xi8>
ml_program.global private mutable @b(dense<2> : tensor<2x8xi8>) : tensor<2x8xi8>
ml_program.global private mutable @never(dense<9> : tensor<2x8xi8>) : tensor<2x8xi8>
"""
STATEFUL = {
    "two globals change places": f"""func.func @main(%x: {Q}) -> (tensor<2x8xi8>, tensor<2x8xi8>) {{
      %0 = ml_program.global_load @a : tensor<2x8xi8>
      %1 = ml_program.global_load @b : tensor<2x8xi8>
      ml_program.global_store @b = %0 : tensor<2x8xi8>
      ml_program.global_store @a = %1 : tensor<2x8xi8>
      return %0, %1 : tensor<2x8xi8>, tensor<2x8xi8> }}""",
    "a store before the last use of a view": f"""func.func @main(%x: {Q}) -> ({Q}, {Q}, tensor<2x8xi8>) {{
      %0 = ml_program.global_load @a : tensor<2x8xi8>
      %1 = quant.scast %0 : tensor<2x8xi8> to {Q}
      %2 = qrt.add %1, %x : ({Q}, {Q}) -> {Q}
      %3 = quant.scast %2 : {Q} to tensor<2x8xi8>
      ml_program.global_store @a = %3 : tensor<2x8xi8>
      %4 = qrt.add %1, %2 : ({Q}, {Q}) -> {Q}
      %5 = ml_program.global_load @a : tensor<2x8xi8>
      return %4, %1, %5 : {Q}, {Q}, tensor<2x8xi8> }}""",
    "a running sum": f"""func.func @main(%x: {Q}) -> {Q} {{
      %0 = ml_program.global_load @a : tensor<2x8xi8>
      %1 = quant.scast %0 : tensor<2x8xi8> to {Q}
      %2 = qrt.add %1, %x : ({Q}, {Q}) -> {Q}
      %3 = quant.scast %2 : {Q} to tensor<2x8xi8>
      ml_program.global_store @a = %3 : tensor<2x8xi8>
      return %2 : {Q} }}""",
    "an argument and a constant are stored": f"""func.func @main(%x: {Q}) -> (tensor<2x8xi8>, tensor<2x8xi8>, {Q}) {{
      %0 = quant.scast %x : {Q} to tensor<2x8xi8>
      %1 = ml_program.global_load @a : tensor<2x8xi8>
      ml_program.global_store @a = %0 : tensor<2x8xi8>
      %2 = ml_program.global_load @b : tensor<2x8xi8>
      %c = arith.constant dense<-4> : tensor<2x8xi8>
      ml_program.global_store @b = %c : tensor<2x8xi8>
      %n = ml_program.global_load @never : tensor<2x8xi8>
      %3 = quant.scast %n : tensor<2x8xi8> to {Q}
      %4 = qrt.add %3, %x : ({Q}, {Q}) -> {Q}
      return %1, %2, %4 : tensor<2x8xi8>, tensor<2x8xi8>, {Q} }}""",
}


@pytest.mark.parametrize("name", STATEFUL)
def test_globals_live_in_the_call(name):
    program = qrt.compile(SWAP + STATEFUL[name])
    (plan,) = program._plans.values()
    assert plan.executable is not None
    reference, bound_program, timed = program.clone(), program.clone(), program.clone()
    given = {"arg0": X.copy()}
    run = bound_program.bind(given)
    for step in range(7):
        given["arg0"][:] = X + step
        if step == 4:
            for each in (program, reference, bound_program, timed):
                each.reset()
        expected = reference.run(given, interpret=True)
        assert_same(program.run(given), expected)
        assert_same(timed.run_timed(given)[0], expected)
        run()
        for out, value in zip(run.outputs.values(), expected.values(), strict=True):
            np.testing.assert_array_equal(out, value.storage if isinstance(value, qrt.QuantTensor) else value)


def test_the_interpreter_and_kernels_share_the_globals():
    """A store inside a branch, which the interpreter runs, comes before the last use of what was loaded."""
    program = qrt.compile(
        SWAP
        + f"""func.func @main(%x: {Q}, %p: i1) -> ({Q}, {Q}) {{
          %0 = ml_program.global_load @a : tensor<2x8xi8>
          %1 = quant.scast %0 : tensor<2x8xi8> to {Q}
          %i = quant.scast %x : {Q} to tensor<2x8xi8>
          scf.if %p {{ ml_program.global_store @a = %i : tensor<2x8xi8> }}
          %2 = qrt.add %1, %x : ({Q}, {Q}) -> {Q}
          %3 = ml_program.global_load @a : tensor<2x8xi8>
          %4 = quant.scast %3 : tensor<2x8xi8> to {Q}
          return %2, %4 : {Q}, {Q} }}"""
    )
    reference = program.clone()
    for step, p in enumerate([False, True, False, True]):
        given = {"arg0": X + np.int8(step), "arg1": p}
        assert_same(program.run(given), reference.run(given, interpret=True))


def test_any_number_of_inputs_and_results(tmp_path):
    """The addresses of inputs do not stand in an array of a fixed size."""
    count = 1100
    arguments = ", ".join(f"%a{i}: {Q}" for i in range(count))
    sums = "\n".join(f"%s{i} = qrt.add %a{i}, %a0 : ({Q}, {Q}) -> {Q}" for i in range(count))
    names, types = ", ".join(f"%s{i}" for i in range(count)), ", ".join([Q] * count)
    program = qrt.compile(f"func.func @main({arguments}) -> ({types}) {{ {sums} return {names} : {types} }}")
    assert program.planned({f"arg{i}": X for i in range(count)}).executable is not None
    given = {f"arg{i}": X + np.int8(i % 50) for i in range(count)}
    expected = program.run(given, interpret=True)
    assert_same(program.run(given), expected)
    for result, name in zip(program(*given.values()), expected, strict=True):
        assert result.equals(expected[name])
    bound = program.bind(given)
    bound()
    for name, result in bound.outputs.items():
        np.testing.assert_array_equal(result, expected[name].storage)
    program.save(tmp_path / "many.qrt")
    assert_same(qrt.load_program(tmp_path / "many.qrt").run(given), expected)


@pytest.mark.parametrize("rank", [31, 32, 33, 64])
def test_arrays_of_more_dimensions_than_an_executable_takes(rank):
    """They have plans of single calls."""
    t = f"tensor<{'1x' * (rank - 1)}2xf32>"
    program = qrt.compile(f"""func.func @main(%x: {t}) -> ({t}, {t}) {{
      %c = arith.constant dense<2.0> : {t}
      %0 = arith.addf %x, %c : {t}
      return %0, %x : {t}, {t} }}""")
    given = {"arg0": np.float32([1, 2]).reshape((1,) * (rank - 1) + (2,))}
    assert program.run(given)["result0"].ravel().tolist() == [3, 4]
    assert_same(program.run(given), program.run(given, interpret=True))


@pytest.mark.parametrize("rank", [32, 33, 64])
@pytest.mark.parametrize("op", ["add", "mul", "maximum"])
def test_an_op_of_more_dimensions_than_its_kernel_takes_says_so(rank, op):
    t = f"tensor<{'1x' * (rank - 1)}2x!quant.uniform<i8:f32, 0.5:3>>"
    with pytest.raises(ModelError, match=f"'qrt.{op}' op .* a shape must have at most 31 dimensions"):
        qrt.compile(f"func.func @main(%x: {t}) -> {t} {{ %0 = qrt.{op} %x, %x : ({t}, {t}) -> {t} return %0 : {t} }}")
