"""Programs as models of ONNX. Hazards: an axis in another place, a weight that is not transposed, a wrong window; bits
that change on the way there and back; an opset too low for a form, or higher than needed; a Transpose that two ops
between them do not need; an error that names only the first thing that ONNX cannot say."""

from pathlib import Path

import numpy as np
import onnx
import pytest

import qrt
from qrt import ir
from qrt.errors import FileError, ModelError
from qrt.models import export_onnx
from qrt.models.onnx import export
from qrt.models.onnx.export import model_proto, onnx_bytes
from qrt.models.onnx.exporting.registry import WRITERS
from qrt.models.onnx.exporting.writers import functions
from qrt.types import FloatType, UniformType
from tests.models.onnx.export.programs import PROGRAMS, D, Q, X, Y, product, unary, values
from tests.models.onnx.running import has_oracle, imported, run_oracle


def drawn(module, seed):
    """Arguments: storage over its whole range, floats, and positions of the first elements."""
    rng = np.random.default_rng(seed)
    for value in module.functions[0].regions[0].blocks[0].arguments:
        shape, element = [size or 2 for size in value.type.shape], value.type.element
        if isinstance(element, UniformType):
            dtype = f"{'' if element.is_signed else 'u'}int{max(8, element.storage_width)}"
            stored = rng.integers(element.storage_min, element.storage_max + 1, shape).astype(dtype)
            yield qrt.QuantTensor(stored, element)
        elif isinstance(element, FloatType):
            yield np.float32(rng.normal(size=shape) * 4)
        else:
            yield rng.integers(0, 2, shape).astype(f"int{element.width}")


def stored(value):
    return np.asarray(value.storage if isinstance(value, qrt.QuantTensor) else value)


def outputs(module, arguments):
    made = qrt.compile(module)(*arguments)
    return [stored(value) for value in (made if isinstance(made, tuple) else (made,))]


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_model_is_whole_and_has_these_nodes(name):
    text, nodes = PROGRAMS[name]
    model = model_proto(ir.parse(text))
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == nodes
    (opset,) = model.opset_import
    assert model.ir_version == onnx.helper.find_min_ir_version_for([opset])


@pytest.mark.parametrize("name", PROGRAMS)
def test_it_comes_back_with_the_same_ops_and_bits(name):
    module = ir.parse(PROGRAMS[name][0])
    back = imported(onnx_bytes(module))
    ops = [[op.name for op in each.functions[0].regions[0].blocks[0]] for each in (module, back)]
    assert sorted(ops[0]) == sorted(ops[1])
    ports = [each.functions[0].attributes["function_type"].python for each in (module, back)]
    assert ports[0] == ports[1]
    for seed in range(3):
        arguments = list(drawn(module, seed))
        for before, after in zip(outputs(module, arguments), outputs(back, arguments), strict=True):
            assert before.dtype == after.dtype
            np.testing.assert_array_equal(before, after)


APART = {"tanh": 12}
"""Codes that ONNX Runtime may be away: gemmlowp's polynomial has fewer places than 16 bits show."""


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("name", PROGRAMS)
def test_another_runtime_computes_it_to_one_code(name):
    module = ir.parse(PROGRAMS[name][0])
    content = onnx_bytes(module)
    names = [port.name for port in onnx.load_from_string(content).graph.input]
    for seed in range(3):
        arguments = list(drawn(module, seed))
        if name == "div":  # by 0, and near to 0, LiteRT has results of its own, and the op has LiteRT's bits
            for i, held in enumerate(arguments):
                far = np.abs(held.storage.astype(np.int64) - 3) >= 8
                arguments[i] = qrt.QuantTensor(np.where(far, held.storage, np.int8(40 + i)), held.type)
        found = run_oracle(content, {name: stored(value) for name, value in zip(names, arguments, strict=True)})
        for mine, other in zip(outputs(module, arguments), found, strict=True):
            assert (mine.dtype, mine.shape) == (other.dtype, other.shape)
            if mine.dtype == np.float32:
                np.testing.assert_allclose(mine, other, rtol=1e-5, atol=1e-4)
            else:
                assert np.abs(mine.astype(np.int64) - other).max() <= APART.get(name, 1)


def test_every_op_has_a_program():
    written = {name for name in WRITERS if name.startswith(("qrt.", "quant."))}
    shown = {op.name for text, _ in PROGRAMS.values() for op in ir.parse(text).operation.walk()}
    several = {"qrt.top_k", "qrt.lstm", "qrt.dynamic_lstm", "qrt.dynamic_matmul"}
    assert written - shown == several  # below and in test_recurrent.py


@pytest.mark.parametrize("storage", ["i8", "u8"])
def test_an_op_element_by_element_without_a_writer_is_its_table(monkeypatch, storage):
    """Of all values of 8 bits, those below 0 in the first half or in the second one; the runtime has every bit."""
    monkeypatch.setattr(export, "WRITERS", {"qrt.leaky_relu": functions.elementwise})
    x = f"tensor<1x256x!quant.uniform<{storage}:f32, 0.5:3>>"
    module = ir.parse(f"""func.func @main(%x: {x}) -> tensor<1x256x{Y}> {{
      %0 = qrt.leaky_relu %x {{alpha = 0.3}} : ({x}) -> tensor<1x256x{Y}>
      return %0 : tensor<1x256x{Y}>
    }}""")
    nodes = [node.op_type for node in model_proto(module).graph.node]
    assert nodes == ["Cast", "Add", "Gather"][:: 1 if storage == "i8" else 2]
    codes = np.arange(256, dtype=np.uint8).view({"i8": np.int8, "u8": np.uint8}[storage])
    argument = qrt.QuantTensor(codes.reshape(1, 256), UniformType(storage, "f32", 0.5, 3))
    (expected,) = outputs(module, [argument])
    np.testing.assert_array_equal(outputs(imported(onnx_bytes(module)), [argument])[0], expected)
    if has_oracle():
        name = onnx.load_from_string(onnx_bytes(module)).graph.input[0].name
        np.testing.assert_array_equal(run_oracle(onnx_bytes(module), {name: argument.storage})[0], expected)


def test_a_table_takes_the_clamp_behind_it(monkeypatch):
    monkeypatch.setattr(export, "WRITERS", {"qrt.requantize": functions.elementwise})
    x = f"tensor<1x256x{X}>"
    module = ir.parse(f"""func.func @main(%x: {x}) -> tensor<1x256x{Y}> {{
      %0 = qrt.requantize %x : ({x}) -> tensor<1x256x{Y}>
      %1 = qrt.clamp %0 {{min = 0.0, max = 1.0}} : (tensor<1x256x{Y}>) -> tensor<1x256x{Y}>
      return %1 : tensor<1x256x{Y}>
    }}""")
    content, element = onnx_bytes(module), module.functions[0].regions[0].blocks[0].arguments[0].type.element
    dtype = np.int8 if element.is_signed else np.uint8
    argument = qrt.QuantTensor(np.arange(256, dtype=np.uint8).view(dtype).reshape(1, 256), element)
    (expected,) = outputs(module, [argument])
    assert np.unique(expected).size < 200
    np.testing.assert_array_equal(outputs(imported(content), [argument])[0], expected)
    graph = onnx.load_from_string(content).graph
    (table,) = [onnx.numpy_helper.to_array(each) for each in graph.initializer if each.name.endswith("table")]
    np.testing.assert_array_equal(np.unique(table), np.unique(expected))


def test_a_function_of_16_bits_without_a_writer_is_refused(monkeypatch):
    monkeypatch.setattr(export, "WRITERS", {"qrt.leaky_relu": functions.elementwise})
    x = "tensor<4x!quant.uniform<i16:f32, 0.5>>"
    module = ir.parse(f"""func.func @main(%x: {x}) -> {x} {{
      %0 = qrt.leaky_relu %x : ({x}) -> {x}
      return %0 : {x}
    }}""")
    with pytest.raises(ModelError, match=r"leaky_relu.*a function from !quant\.uniform<i16:f32"):
        model_proto(module)


def test_two_results():
    kind = f"tensor<?x7x{X}>"
    module = ir.parse(f"""func.func @main(%x: {kind}) -> (tensor<?x3x{X}>, tensor<?x3xi32>) {{
      %v, %i = qrt.top_k %x {{k = 3 : i64}} : ({kind}) -> (tensor<?x3x{X}>, tensor<?x3xi32>)
      return %v, %i : tensor<?x3x{X}>, tensor<?x3xi32>
    }}""")
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node] == [D, "TopK", Q, "Cast"]
    (x,) = drawn(module, 0)
    for before, after in zip(outputs(module, [x]), outputs(imported(onnx_bytes(module)), [x]), strict=True):
        np.testing.assert_array_equal(before, after)


CHAIN = f"""func.func @main(%x: tensor<1x6x6x3x{X}>) -> tensor<1x4x{Y}> {{
  %c = arith.constant dense<{values(3, 1, 1, 3)}> : tensor<3x1x1x3xi8>
  %w = quant.scast %c : tensor<3x1x1x3xi8> to tensor<3x1x1x3x{X}>
  %0 = qrt.conv2d %x, %w : (tensor<1x6x6x3x{X}>, tensor<3x1x1x3x{X}>) -> tensor<1x6x6x3x{Y}>
  %1 = qrt.add %0, %x {{requant = "fixed_double"}} : (tensor<1x6x6x3x{Y}>, tensor<1x6x6x3x{X}>) -> tensor<1x6x6x3x{Y}>
  %k = arith.constant dense<[3, 5, 7]> : tensor<3xi8>
  %s = quant.scast %k : tensor<3xi8> to tensor<3x{X}>
  %2 = qrt.mul %1, %s : (tensor<1x6x6x3x{Y}>, tensor<3x{X}>) -> tensor<1x6x6x3x{Y}>
  %3 = qrt.pad %2 {{padding = [[0, 0], [0, 0], [0, 0], [0, 1]]}} : (tensor<1x6x6x3x{Y}>) -> tensor<1x6x6x4x{Y}>
  %4 = qrt.concat %3, %3 {{axis = 1 : i64}} : (tensor<1x6x6x4x{Y}>, tensor<1x6x6x4x{Y}>) -> tensor<1x12x6x4x{Y}>
  %5 = qrt.slice %4 {{offsets = [0, 1, 0, 0], sizes = [1, 8, 6, 4]}} : (tensor<1x12x6x4x{Y}>) -> tensor<1x8x6x4x{Y}>
  %6 = qrt.softmax %5 : (tensor<1x8x6x4x{Y}>) -> tensor<1x8x6x4x{Y}>
  %7 = qrt.avg_pool2d %6 {{kernel = [8, 6], strides = [1, 1]}} : (tensor<1x8x6x4x{Y}>) -> tensor<1x1x1x4x{Y}>
  %8 = qrt.reshape %7 : (tensor<1x1x1x4x{Y}>) -> tensor<1x4x{Y}>
  return %8 : tensor<1x4x{Y}>
}}"""


def test_one_transpose_leads_into_a_chain_of_images():
    module = ir.parse(CHAIN)
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    assert [node.op_type for node in model.graph.node].count("Transpose") == 1
    (x,) = drawn(module, 4)
    back = imported(onnx_bytes(module))
    np.testing.assert_array_equal(outputs(module, [x])[0], outputs(back, [x])[0])
    assert [op.name for op in module.operation.walk()].count("qrt.transpose") == 0


@pytest.mark.parametrize(
    ("name", "opset", "version"),
    [("add", 10, 5), ("clamp", 11, 6), ("conv2d", 13, 7), ("argmax", 10, 5), ("tanh", 21, 10), ("blocks", 21, 10)],
)
def test_the_opset_is_as_low_as_the_forms_allow(name, opset, version):
    model = model_proto(ir.parse(PROGRAMS[name][0]))
    assert (model.opset_import[0].version, model.ir_version) == (opset, version)


def test_everything_that_onnx_cannot_say_is_one_error(tmp_path):
    wide = "tensor<4x!quant.uniform<i32:f32, 0.5>>"
    module = ir.parse(f"""func.func @main(%x: tensor<4xi24>, %q: tensor<4x{X}>, %f: tensor<4xf32>) -> tensor<4xf32> {{
      %0 = math.atan %f : tensor<4xf32>
      %1 = math.atan %0 : tensor<4xf32>
      %2 = qrt.requantize %q : (tensor<4x{X}>) -> {wide}
      %3 = quant.dcast %2 : {wide} to tensor<4xf32>
      return %1 : tensor<4xf32>
    }}""")
    with pytest.raises(ModelError, match="input or output 'input0': ONNX has no type for elements of i24"):
        export_onnx(tmp_path / "m.onnx", module)
    text = str(module).replace("%arg0: tensor<4xi24>, ", "")
    with pytest.raises(ModelError) as error:
        export_onnx(tmp_path / "m.onnx", ir.parse(text))
    assert str(error.value) == (
        f"{tmp_path}/m.onnx: cannot export the program: ONNX does not support 2 of its operators:\n"
        "  math.atan (f32): <string>:3:10, <string>:4:10\n"
        "  qrt.requantize (a result with 32-bit storage): <string>:5:10"
    )
    assert not list(tmp_path.iterdir())


def test_wrong_names_and_places(tmp_path):
    module = ir.parse(PROGRAMS["add"][0])
    with pytest.raises(ModelError, match=r"m\.tflite: the name of an ONNX file must end in \.onnx"):
        export_onnx("m.tflite", module)
    with pytest.raises(ModelError, match="no function with a body is named 'f'; the functions of the module are: main"):
        export_onnx(tmp_path / "m.onnx", module, function="f")
    with pytest.raises(FileError, match="No such file or directory"):
        export_onnx(tmp_path / "no" / "m.onnx", module)
    with pytest.raises(qrt.errors.QuantTypeError, match="export_onnx: program must be a module"):
        export_onnx(Path("m.onnx"), str(module))  # type: ignore[arg-type]


def test_an_argument_that_is_a_result_twice():
    module = ir.parse(f"""func.func @main(%x: tensor<4x{X}>) -> (tensor<4x{X}>, tensor<4x{X}>, tensor<4x{X}>) {{
      %0 = qrt.clamp %x {{min = 0.0 : f64}} : (tensor<4x{X}>) -> tensor<4x{X}>
      return %x, %0, %0 : tensor<4x{X}>, tensor<4x{X}>, tensor<4x{X}>
    }}""")
    model = model_proto(module)
    onnx.checker.check_model(model, full_check=True)
    (x,) = drawn(module, 1)
    for before, after in zip(outputs(module, [x]), outputs(imported(onnx_bytes(module)), [x]), strict=True):
        np.testing.assert_array_equal(before, after)


def test_the_text_of_a_model_is_the_same_each_time():
    text = product("qrt.conv2d", "?x5x6x2", "3x3x2x2", "?x3x5x3", values(3, 3, 2, 2), "", 3)
    assert onnx_bytes(ir.parse(text)) == onnx_bytes(ir.parse(text))
    assert onnx_bytes(ir.parse(unary("qrt.tile %x {multiples = [1, 2, 1, 3]}", out="?x10x6x12")))
