"""Programs bound to arrays. Hazards: an array that is too small or read-only is written; an output that an input
shares; a copy is filled in place of the caller's array; two threads on one arena."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError

Q = "tensor<4x!quant.uniform<i8:f32, 0.5>>"
KERNEL = f"""func.func @main(%x: {Q} {{qrt.name = "x"}}, %y: {Q} {{qrt.name = "y"}})
  -> ({Q} {{qrt.name = "sum"}}, {Q} {{qrt.name = "product"}}) {{
  %0 = qrt.add %x, %y : ({Q}, {Q}) -> {Q}
  %1 = qrt.mul %x, %y : ({Q}, {Q}) -> {Q}
  return %0, %1 : {Q}, {Q}
}}"""
INTERPRETED = KERNEL.replace(
    "%0 = qrt.add",
    """%i = quant.scast %x : TYPE to tensor<4xi8>
  %j = arith.addi %i, %i : tensor<4xi8>
  %k = quant.scast %j : tensor<4xi8> to TYPE
  %0 = qrt.add""".replace("TYPE", Q),
)


def arrays():
    return np.int8([1, 2, 3, 4]), np.int8([5, -6, 7, 127])


@pytest.mark.parametrize("text", [KERNEL, INTERPRETED])
def test_the_callers_arrays_are_read_and_written(text):
    program = qrt.compile(text)
    x, y = arrays()
    out = np.zeros(4, np.int8)
    run = program.bind({"x": x, "y": y}, {"product": out})
    assert run.outputs["product"] is out
    for _ in range(3):
        assert run() is None
        expected = program.run({"x": x, "y": y})
        assert run.outputs["sum"].tolist() == expected["sum"].storage.tolist()
        assert out.tolist() == expected["product"].storage.tolist()
        x += 1
    q = qrt.QuantTensor(x, program.inputs[0].type.element)
    held = program.bind({"x": q, "y": y})
    held()
    assert held.outputs["product"].tolist() == program(q, y)[1].storage.tolist()


def read_only():
    array = np.zeros(4, np.int8)
    array.flags.writeable = False
    return array


@pytest.mark.parametrize("text", [KERNEL, INTERPRETED])
@pytest.mark.parametrize(
    ("changed", "outputs", "message"),
    [
        ({"x": None}, {}, "input 'x' must be a NumPy array, because each call reads it again, got None"),
        ({"x": [1, 2, 3, 4]}, {}, "input 'x' must be a NumPy array"),
        ({"x": np.zeros(4, np.int16)}, {}, r"input 'x' must be of dtype int8, because its type is"),
        ({"x": np.zeros(5, np.int8)}, {}, r"input 'x' must be .* got shape \[5\]"),
        ({"x": np.zeros((4, 1), np.int8)}, {}, r"got shape \[4, 1\]"),
        ({"x": np.zeros(8, np.int8)[::2]}, {}, "input 'x' must be C-contiguous and aligned"),
        ({"x": qrt.QuantTensor(np.zeros(4, np.int8), "!quant.uniform<i8:f32, 0.25>")}, {}, "got a QuantTensor of"),
        ({"z": np.zeros(4, np.int8)}, {}, "no input is named 'z'"),
        ({}, {"z": np.zeros(4, np.int8)}, "no output is named 'z'; the outputs are sum, product"),
        ({}, {"sum": np.zeros(4, np.uint8)}, r"output 'sum' must be of dtype int8, because its type is"),
        ({}, {"sum": np.zeros(3, np.int8)}, r"output 'sum' must be .* got shape \[3\]"),
        ({}, {"sum": np.zeros(8, np.int8)[::2]}, "output 'sum' must be C-contiguous"),
        ({}, {"sum": read_only()}, "output 'sum' must be writable, because each call writes its result into it"),
        (
            {},
            {"sum": qrt.QuantTensor(np.zeros(4, np.int8), "!quant.uniform<i8:f32, 0.5>")},
            "output 'sum' must be a NumPy array",
        ),
    ],
)
def test_what_does_not_fit_is_named(text, changed, outputs, message):
    x, y = arrays()
    with pytest.raises(ModelError, match=message):
        qrt.compile(text).bind({"x": x, "y": y} | changed, outputs)


def test_outputs_share_no_memory():
    program = qrt.compile(KERNEL)
    x, y = arrays()
    with pytest.raises(ModelError, match="the arrays of output 'sum' and input 'y' must not share memory, but"):
        program.bind({"x": x, "y": y}, {"sum": y})
    memory = np.zeros(7, np.int8)
    with pytest.raises(ModelError, match="the arrays of output 'product' and output 'sum' must not share memory"):
        program.bind({"x": x, "y": y}, {"sum": memory[:4], "product": memory[3:]})
    program.bind({"x": x, "y": x}, {"sum": memory[:4], "product": np.zeros(4, np.int8)})()
    with pytest.raises(ModelError, match=r"input 'y' \(.*\) is missing"):
        program.bind({"x": x})


def test_dynamic_shapes_are_those_of_the_arrays():
    q = "tensor<?x!quant.uniform<i8:f32, 0.5>>"
    program = qrt.compile(
        f"func.func @main(%x: {q}) -> {q} {{ %0 = qrt.add %x, %x : ({q}, {q}) -> {q} return %0 : {q} }}"
    )
    run = program.bind({"arg0": np.int8([1, 2, 100])})
    run()
    assert run.outputs["result0"].tolist() == [2, 4, 127]
    with pytest.raises(ModelError, match=r"output 'result0' must be .* got shape \[2\]"):
        program.bind({"arg0": np.int8([1, 2, 100])}, {"result0": np.zeros(2, np.int8)})


def test_outputs_whose_shape_only_the_run_knows_are_made_by_it():
    program = qrt.compile("""func.func @main(%x: tensor<4xi8>, %n: index) -> tensor<?xi8> {
      %0 = tensor.extract_slice %x[0] [%n] [1] : tensor<4xi8> to tensor<?xi8>
      return %0 : tensor<?xi8>
    }""")
    x, n = np.int8([1, 2, 3, 4]), np.array(2, np.int64)
    run = program.bind({"arg0": x, "arg1": n})
    run()
    made = run.outputs["result0"]
    assert made.tolist() == [1, 2]
    x[0] = 7
    run()
    assert run.outputs["result0"] is made
    assert made.tolist() == [7, 2]
    n[()] = 3
    run()
    assert run.outputs["result0"].tolist() == [7, 2, 3]
    given = program.bind({"arg0": x, "arg1": n}, {"result0": np.zeros(3, np.int8)})
    given()
    assert given.outputs["result0"].tolist() == [7, 2, 3]
    n[()] = 1
    with pytest.raises(
        ModelError, match=r"the array bound to output 'result0' must have the shape of the result, \[1\], got \[3\]"
    ):
        given()


def test_memrefs_are_not_bound():
    program = qrt.compile("func.func @main(%m: memref<2xi8>) { return }")
    with pytest.raises(ModelError, match=r"Program\.bind does not support the memref inputs or results of main"):
        program.bind({"arg0": np.zeros(2, np.int8)})


def test_what_is_bound_keeps_its_instruction_set():
    program = qrt.compile(KERNEL)
    x, y = arrays()
    with qrt.kernels.use("ref"):
        run = program.bind({"x": x, "y": y})
    run()
    assert run.outputs["sum"].tolist() == program(x, y)[0].storage.tolist()
