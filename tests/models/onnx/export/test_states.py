"""Variables of a program as inputs and outputs of a model. Hazards: a value that is read after another one was stored;
a variable that is stored and never read, or read and never stored; unsigned storage, which globals hold without a sign;
a variable that is an output of the program too; an initializer that an importer takes for a constant."""

import json

import numpy as np
import onnx
import pytest

import qrt
from qrt import ir
from qrt.errors import ModelError
from qrt.models.onnx import backend
from qrt.models.onnx.export import model_proto
from tests.models.onnx.running import has_oracle, imported

PROGRAM = """!q = !quant.uniform<u8:f32, 0.5:128>
ml_program.global private mutable @"a/count"(dense<[1, 2, 3]> : tensor<3xi32>) : tensor<3xi32>
ml_program.global private mutable @sum(dense<[-128, -127, 0]> : tensor<3xi8>) : tensor<3xi8>
ml_program.global private mutable @last(dense<0> : tensor<3xi8>) : tensor<3xi8>
ml_program.global private mutable @fixed(dense<[1, 2, -3]> : tensor<3xi8>) : tensor<3xi8>
func.func @main(%x: tensor<3x!q> {qrt.name = "x"}) -> (tensor<3x!q> {qrt.name = "y"}, tensor<3xi32> {qrt.name = "n"}) {
  %0 = ml_program.global_load @sum : tensor<3xi8>
  %1 = quant.scast %0 : tensor<3xi8> to tensor<3x!q>
  %2 = qrt.add %1, %x {requant = "float32_fused"} : (tensor<3x!q>, tensor<3x!q>) -> tensor<3x!q>
  %3 = quant.scast %2 : tensor<3x!q> to tensor<3xi8>
  ml_program.global_store @sum = %3 : tensor<3xi8>
  %4 = ml_program.global_load @sum : tensor<3xi8>
  %5 = quant.scast %4 : tensor<3xi8> to tensor<3x!q>
  %6 = ml_program.global_load @fixed : tensor<3xi8>
  %7 = quant.scast %6 : tensor<3xi8> to tensor<3x!q>
  %8 = qrt.maximum %5, %7 : (tensor<3x!q>, tensor<3x!q>) -> tensor<3x!q>
  %9 = quant.scast %x : tensor<3x!q> to tensor<3xi8>
  ml_program.global_store @last = %9 : tensor<3xi8>
  %10 = ml_program.global_load @"a/count" : tensor<3xi32>
  ml_program.global_store @"a/count" = %10 : tensor<3xi32>
  return %8, %10 : tensor<3x!q>, tensor<3xi32>
}"""


def inputs():
    rng = np.random.default_rng(4)
    return [rng.integers(100, 160, 3).astype(np.uint8) for _ in range(5)]


def stored(values):
    return [np.asarray(getattr(each, "storage", each)) for each in values.values()]


def test_a_program_comes_back_with_its_variables():
    module = ir.parse(PROGRAM)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    ours, back = qrt.compile(module), qrt.compile(imported(model.SerializeToString()))
    assert [port.name for port in back.inputs] == ["x"]
    assert [port.name for port in back.outputs] == ["y", "n"]
    for _ in range(2):
        for x in inputs():
            for before, after in zip(stored(ours.run({"x": x})), stored(back.run({"x": x})), strict=True):
                np.testing.assert_array_equal(before, after)
        ours.reset()
        back.reset()


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
def test_another_runtime_gives_outputs_back_as_inputs():
    """The first call needs no state: its initializers are what the variables begin with."""
    import onnxruntime

    module = ir.parse(PROGRAM)
    model, ours = model_proto(module), qrt.compile(module)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    names, states = [each.name for each in session.get_outputs()], {}
    said = {
        each.key.removeprefix("qrt.state."): each.value for each in model.metadata_props if "qrt.state." in each.key
    }
    assert [json.loads(each)["symbol"] for each in said.values()] == ["sum", "last", "a/count"]
    for x in inputs():
        found = dict(zip(names, session.run(None, {"x": x, **states}), strict=True))
        states = {name: found[json.loads(text)["output"]] for name, text in said.items()}
        y, n = stored(ours.run({"x": x}))
        assert abs(found["y"].astype(int) - y).max() <= 1
        np.testing.assert_array_equal(found["n"], n)


def changed(text, key="qrt.state.sum"):
    model = model_proto(ir.parse(PROGRAM))
    next(each for each in model.metadata_props if each.key == key).value = text
    return model.SerializeToString()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "it must be a JSON object with the texts 'symbol' and 'output'"),
        ("[" * 5000, "it must be a JSON object with the texts 'symbol' and 'output'"),
        ("[]", "it must be a JSON object with the texts 'symbol' and 'output'"),
        ('{"symbol": 3, "output": "y"}', "it must be a JSON object with the texts 'symbol' and 'output'"),
        ('{"symbol": "", "output": "y"}', "it must be a JSON object with the texts 'symbol' and 'output'"),
        ('{"symbol": "s", "output": "none"}', "'output' must be the name of an output of the file, got 'none'"),
        ('{"symbol": "s", "output": "n"}', "output 'n' must have the type and the shape of the initializer"),
        ('{"symbol": "last", "output": "sum/next"}', "every variable must have its own name, got 'last' twice"),
        ('{"symbol": "sum", "output": "last/next"}', "every variable must have its own output, got 'last/next'"),
        ('{"symbol": "main", "output": "sum/next"}', "the name of a variable must be the name of an MLIR symbol"),
    ],
)
def test_wrong_states_are_errors_that_name_them(text, message):
    with pytest.raises(ModelError, match=message):
        imported(changed(text))


def test_a_state_without_initializer_is_an_error():
    model = model_proto(ir.parse(PROGRAM))
    del model.graph.initializer[[each.name for each in model.graph.initializer].index("sum")]
    with pytest.raises(ModelError, match=r"metadata 'qrt\.state\.sum': the file must have an initializer of this"):
        imported(model.SerializeToString())


def test_a_backend_has_no_state():
    """Its users give states themselves; the initializer is a constant there."""
    content = model_proto(ir.parse(PROGRAM)).SerializeToString()
    prepared = backend.Backend.prepare(content)
    first, *_, again = [prepared.run([inputs()[0]]) for _ in range(3)]
    assert len(first) == 5
    for before, after in zip(first, again, strict=True):
        np.testing.assert_array_equal(before, after)


def test_a_variable_that_begins_with_nothing_is_refused():
    text = PROGRAM.replace("@sum(dense<[-128, -127, 0]> : tensor<3xi8>)", "@sum")
    with pytest.raises(ModelError, match="ONNX does not support variable 'sum' without an initial value"):
        model_proto(ir.parse(text))
