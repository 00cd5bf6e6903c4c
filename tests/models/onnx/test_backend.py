"""`qrt.models.onnx.backend`: the node tests of the package `onnx` for quantized operators, and its own rules."""

from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.case import node as cases

import qrt
from qrt.errors import ModelError, QuantTypeError
from qrt.models.onnx import backend
from tests.models.onnx.writing import model, node, port

MODULES = (
    "convinteger", "dequantizelinear", "dynamicquantizelinear", "matmulinteger", "qlinearconv", "qlinearmatmul",
    "quantizelinear",
)  # fmt: skip
REFUSED = {
    "dynamicquantizelinear": "DynamicQuantizeLinear",
}
"""What is refused, by a part of the test's name, and why."""


def collected() -> list[Any]:
    """The cases of the operators, which their modules make when they are loaded."""
    for name in MODULES:
        import_module(f"onnx.backend.test.case.node.{name}")
    said = tuple(f"test_{name}" for name in MODULES)
    return [case for case in cases._NodeTestCases if case.name.startswith(said)]


@pytest.mark.parametrize("case", collected(), ids=lambda case: case.name)
def test_a_node(case: Any) -> None:
    """Equal, or as near as the case says."""
    prepared = backend.Backend.prepare(case.model)
    for inputs, outputs in case.data_sets:
        try:
            found = prepared.run(inputs)
        except ModelError as error:
            reason = next((why for part, why in REFUSED.items() if part in case.name), None)
            if reason is None:
                raise
            pytest.skip(f"{reason}: {str(error).splitlines()[-1]}")
        for ours, theirs in zip(found, outputs, strict=True):
            if hasattr(theirs, "SerializeToString"):
                theirs = numpy_helper.to_array(theirs)
            assert ours.shape == theirs.shape
            assert ours.dtype == theirs.dtype
            wide = [np.asarray(each).astype(np.float64) for each in (ours, theirs)]
            np.testing.assert_allclose(*wide, rtol=case.rtol, atol=case.atol)


def reshaping() -> bytes:
    """A model whose shape is an input, which the importer must know."""
    ports = [port("x", shape=(2, 3)), port("s", "INT64", (1,))]
    return model([node("Reshape", ["x", "s"], ["y"])], ports, [port("y")])


def test_inputs_that_must_be_known_make_programs_of_their_own() -> None:
    x, prepared = np.arange(6, dtype=np.float32).reshape(2, 3), backend.Backend.prepare(reshaping())
    for _ in range(2):
        assert prepared.run([x, np.array([6])])[0].shape == (6,)
    assert len(prepared._programs) == 1
    with pytest.raises(ModelError, match=r"an input of 6 elements cannot be reshaped to \[5\]"):
        prepared.run([x, np.array([5])])
    assert prepared.run({"x": x + 1, "s": np.array([-1])})[0].tolist() == [1, 2, 3, 4, 5, 6]


def test_a_node_alone() -> None:
    import onnx

    made = onnx.helper.make_node("Add", ["a", "b"], ["c"])
    assert backend.run_node(made, [np.float32([1]), np.float32([2])])[0].tolist() == [3]


def test_what_is_refused() -> None:
    assert backend.Backend.supports_device("CPU")
    assert backend.Backend.supports_device("CPU:0")
    assert not backend.Backend.supports_device("CUDA")
    with pytest.raises(ModelError, match="'device' must be 'CPU', the only device that qrt supports, got 'CUDA'"):
        backend.Backend.prepare(reshaping(), "CUDA")
    with pytest.raises(QuantTypeError, match="prepare: qrt's backend accepts no option but 'profile', got 'fast'"):
        backend.Backend.prepare(reshaping(), fast=True)
    prepared = backend.Backend.prepare(reshaping())
    with pytest.raises(QuantTypeError, match="has no option"):
        prepared.run([], fast=True)
    with pytest.raises(QuantTypeError, match="the model has 2 inputs, got 1"):
        prepared.run([np.zeros((2, 3), np.float32)])


def test_constants_of_floats_that_numpy_lacks() -> None:
    """A constant holds bits, whose values an array of `ml_dtypes` has: a cast of one for the other is wrong."""
    import onnx

    number, values = onnx.TensorProto.BFLOAT16, [1.0, -2.5, 3.0]
    nodes = [node("Concat", ["c", "x"], ["j"], axis=0), node("Cast", ["j"], ["y"], to=1)]
    constant = onnx.helper.make_tensor("c", number, [3], values)
    content = model(nodes, [port("x", "BFLOAT16", (1,))], [port("y")], {"c": constant}, opset=21)
    x = np.array([0.5], onnx.helper.tensor_dtype_to_np_dtype(number))
    assert backend.Backend.prepare(content).run([x])[0].tolist() == [*values, 0.5]


def test_a_quantized_output_is_its_storage(tmp_path: Path) -> None:
    """Hazard: the values of a tensor, cut off to integers."""
    q = "tensor<2x!quant.uniform<i8:f32, 0.5>>"
    ports = f'(%x: {q} {{qrt.name = "x"}}) -> ({q} {{qrt.name = "y"}})'
    text = f"func.func @main{ports} {{ %0 = qrt.add %x, %x : ({q}, {q}) -> {q} return %0 : {q} }}"
    qrt.models.export_onnx(tmp_path / "m.onnx", qrt.ir.parse(text))
    (result,) = backend.prepare((tmp_path / "m.onnx").read_bytes()).run([np.array([1, 3], np.int8)])
    assert result.dtype == np.int8
    assert result.tolist() == [2, 6]


@pytest.mark.parametrize(
    ("operator", "array"),
    [("Relu", np.float32([-1, 2])), ("Neg", np.int64([2**60 + 1])), ("Neg", np.int8([-3])), ("Not", np.array([True]))],
)
def test_a_node_without_declared_types_has_those_of_its_program(operator: str, array: np.ndarray) -> None:
    (result,) = backend.run_node(helper.make_node(operator, ["x"], ["y"]), [array])
    wanted = {"Relu": lambda x: np.maximum(x, 0), "Neg": np.negative, "Not": np.logical_not}[operator](array)
    assert result.dtype == array.dtype
    assert result.tolist() == wanted.tolist()


def test_a_node_reads_one_tensor_twice() -> None:
    node, x = helper.make_node("Add", ["x", "x"], ["y"]), np.float32([1, 2])
    for arrays in ([x], [x, x]):
        assert backend.run_node(node, arrays)[0].tolist() == [2, 4]
    with pytest.raises(QuantTypeError, match=r"run_node: 'inputs' must have 2 arrays for the inputs \['x', 'x'\]"):
        backend.run_node(node, [x, x, x])
