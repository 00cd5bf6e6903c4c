"""Names of arguments and results. Hazards: an attribute of another dialect that has no plain value, a name that is no
text, names of dimensions among other things."""

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from qrt.models.onnx.export import onnx_bytes

FOREIGN = (
    "bufferization.buffer_layout = affine_map<(d0) -> (d0)>",
    "a.set = affine_set<(d0) : (d0 >= 0)>",
    'a.place = loc("x":1:2)',
    "a.layout = strided<[1], offset: 2>",
    "a.sparse = sparse<[[0]], [1]> : tensor<3xi32>",
    "a.nested = [affine_map<() -> ()>, {b = affine_map<() -> ()>}]",
    "a.unit",
)


def _program(attributes, more=""):
    return qrt.compile(f"""
    func.func @main(%x: tensor<?xf32> {{{attributes}{more}}}, %y: tensor<?xf32> {{{attributes}{more}}})
        -> (tensor<?xf32> {{{attributes}}}) {{
      %0 = arith.addf %x, %y : tensor<?xf32>
      return %0 : tensor<?xf32>
    }}""")


@pytest.mark.parametrize("attribute", FOREIGN, ids=lambda text: text.partition(" ")[0])
def test_attributes_of_other_dialects_change_nothing(attribute):
    program = _program(attribute)
    ones = np.ones(4, np.float32)
    for interpret in (False, True):
        results = program.run({"arg0": ones, "arg1": ones}, interpret=interpret)
        assert results["result0"].tolist() == [2] * 4


@pytest.mark.parametrize("attribute", FOREIGN, ids=lambda text: text.partition(" ")[0])
def test_names_of_dimensions_beside_them_hold(attribute):
    program = _program(attribute, ', qrt.dimensions = ["n", affine_map<() -> ()>, 3]')
    with pytest.raises(
        ModelError,
        match="of input 'arg0' and dimension 0 of input 'arg1' must be equal, because both have the name 'n'",
    ):
        program(np.ones(4, np.float32), np.ones(3, np.float32))


def test_a_name_is_a_string():
    with pytest.raises(ModelError, match=r"'qrt\.name' of arg #0 of @main must be a string, got 5 : i64"):
        qrt.compile("func.func @main(%x: tensor<4xf32> {qrt.name = 5}) { return }")


def test_models_are_written_whatever_the_attributes():
    pytest.importorskip("onnx")
    text = """
    func.func @main(%x: tensor<4xf32> {qrt.name = "in", a.map = affine_map<(d0) -> (d0)>}) -> tensor<4xf32> {
      %0 = arith.addf %x, %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }"""
    assert b"in" in onnx_bytes(qrt.ir.parse(text))
