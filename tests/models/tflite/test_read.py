"""What a file says, as the reader's dataclasses say it."""

from pathlib import Path

import numpy as np
import pytest
import tflite

from qrt.errors import FileError, ModelError
from qrt.models.tflite.model import Model
from qrt.models.tflite.read import read
from tests.models.tflite import writing
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write

_MODELS = Path(__file__).parents[4] / "shared/models"
GIVEN = sorted([*_MODELS.glob("tflite/*.tflite"), *_MODELS.glob("int16x8/*.tflite")])


def test_a_model_of_one_op() -> None:
    x = Tensor((1, 4), "int8", scales=0.5, zero_points=3, name="x", signature=(-1, 4))
    w = Tensor((2, 4), "int8", scales=[0.25, 0.5], data=np.arange(8).reshape(2, 4), name="w")
    y = Tensor((1, 2), "int8", scales=0.75, zero_points=-128, name="y")
    options = {"fused_activation_function": "RELU", "keep_num_dims": True}
    model = read(one_op("FULLY_CONNECTED", [x, w, None], [y], options, version=4))
    (subgraph,) = model.subgraphs
    (operator,) = subgraph.operators
    assert (subgraph.name, subgraph.inputs, subgraph.outputs) == ("main", (0,), (2,))
    assert (operator.name, operator.version, operator.inputs, operator.outputs) == (
        "FULLY_CONNECTED",
        4,
        (0, 1, -1),
        (2,),
    )
    assert operator.options == {
        "fused_activation_function": "RELU", "weights_format": "DEFAULT", "keep_num_dims": True,
        "asymmetric_quantize_inputs": False, "quantized_bias_type": "FLOAT32",
    }  # fmt: skip
    given, weights, result = subgraph.tensors
    assert (given.name, given.shape, given.signature, given.dtype, given.data) == ("x", (1, 4), (-1, 4), "int8", None)
    assert weights.data is not None
    assert weights.data.tolist() == [[0, 1, 2, 3], [4, 5, 6, 7]]
    assert not weights.data.flags.writeable
    assert weights.quantization is not None
    assert result.quantization is not None
    assert (weights.quantization.scales.tolist(), weights.quantization.axis) == ([0.25, 0.5], 0)
    assert (result.quantization.scales.tolist(), result.quantization.zero_points.tolist()) == ([0.75], [-128])


def test_an_absent_table_of_options_is_one_of_defaults() -> None:
    x, y = Tensor((1, 4, 4, 1), "float32"), Tensor((1, 4, 4, 1), "float32")
    w = Tensor((1, 1, 1, 1), "float32", data=1)
    file = write([Subgraph([x], [y], [Operator("CONV_2D", [x, w, None], [y], table=None)])])
    bare = read(file).subgraphs[0].operators[0].options
    assert (bare["padding"], bare["stride_w"], bare["dilation_w_factor"]) == ("SAME", 0, 1)


@pytest.mark.parametrize("name", ["ADD", "SUB"])
def test_flags_of_an_absent_table_of_options_are_false(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """The default of the schema is true, but LiteRT's own options begin as zeros."""
    x, y = Tensor((2,), "int16", 0.5), Tensor((2,), "int16", 0.5)
    assert read(one_op(name, [x, x], [y])).subgraphs[0].operators[0].options["pot_scale_int16"] is True
    monkeypatch.setattr(writing, "options_table", lambda name: None)
    assert read(one_op(name, [x, x], [y])).subgraphs[0].operators[0].options["pot_scale_int16"] is False


def test_vectors_among_options_are_tuples() -> None:
    x, y = Tensor((2, 3), "int8"), Tensor((3, 2), "int8")
    options = read(one_op("RESHAPE", [x], [y], {"new_shape": [3, 2]})).subgraphs[0].operators[0].options
    assert options == {"new_shape": (3, 2)}


def test_a_constant_without_elements_needs_no_bytes() -> None:
    """The shape of a scalar is an int32 tensor of 0 elements, whose buffer is empty."""
    x, y, shape = Tensor((1,), "int8"), Tensor((), "int8"), Tensor((0,), "int32", data=b"")
    tensors = read(write([Subgraph([x], [y], [Operator("RESHAPE", [x, shape], [y])])])).subgraphs[0].tensors
    assert [None if t.data is None else t.data.shape for t in tensors] == [None, (0,), None]


def test_a_custom_operator_keeps_its_bytes() -> None:
    x, y = Tensor((1,), "float32"), Tensor((1,), "float32")
    (operator,) = read(one_op("Mine", [x], [y], custom_options=b"\1\2")).subgraphs[0].operators
    assert (operator.name, operator.is_custom, operator.custom_options) == ("Mine", True, b"\1\2")


def test_signatures_name_tensors_of_a_subgraph() -> None:
    x, y = Tensor((1,), "float32"), Tensor((1,), "float32")
    graph = Subgraph([x], [y], [Operator("ABS", [x], [y])])
    (signature,) = read(write([graph], [Signature({"in": x}, {"out": y}, "go")])).signatures
    assert (signature.key, signature.subgraph, signature.inputs, signature.outputs) == ("go", 0, {"in": 0}, {"out": 1})


def test_a_path_is_mapped(tmp_path: Path) -> None:
    x, w = Tensor((1, 4), "int8"), Tensor((1, 4), "int8", data=np.arange(4))
    path = tmp_path / "m.tflite"
    path.write_bytes(one_op("ADD", [x, w], [Tensor((1, 4), "int8")]))
    model = read(path)
    assert model.name == str(path)
    data = model.subgraphs[0].tensors[1].data
    assert data is not None
    assert not data.flags.owndata
    assert data.tolist() == [[0, 1, 2, 3]]


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"", "identifier is b''")])
def test_a_file_that_is_none(tmp_path: Path, content: bytes | None, said: str) -> None:
    path = tmp_path / "m.tflite"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(FileError if content is None else ModelError, match=said):
        read(path)


@pytest.mark.parametrize("path", GIVEN, ids=lambda path: path.stem)
def test_given_files_as_flatc_reads_them(path: Path) -> None:
    """Every tensor and operator of a file from elsewhere, against the accessors of the schema."""
    _check_against_accessors(read(path), tflite.Model.GetRootAs(path.read_bytes()))


def test_given_files_are_there_or_the_tests_of_them_are_skipped() -> None:
    if not GIVEN:
        pytest.skip("the given models are not beside this repository")
    assert len(GIVEN) == 79


def _check_against_accessors(model: Model, said: "tflite.Model") -> None:
    assert (model.version, len(model.subgraphs)) == (said.Version(), said.SubgraphsLength())
    for found, graph in zip(model.subgraphs, map(said.Subgraphs, range(said.SubgraphsLength())), strict=True):
        assert (found.inputs, found.outputs) == (tuple(graph.InputsAsNumpy()), tuple(graph.OutputsAsNumpy()))
        assert (len(found.tensors), len(found.operators)) == (graph.TensorsLength(), graph.OperatorsLength())
        for tensor, other in zip(found.tensors, map(graph.Tensors, range(graph.TensorsLength())), strict=True):
            assert tensor.name == (other.Name() or b"").decode()
            assert list(tensor.shape) == [other.Shape(i) for i in range(other.ShapeLength())]
            assert getattr(tflite.TensorType, tensor.dtype.upper()) == other.Type()
            buffer = said.Buffers(other.Buffer())
            if tensor.data is not None and tensor.data.size:
                assert tensor.data.tobytes() == buffer.DataAsNumpy().tobytes()
            if tensor.quantization is not None:
                assert tensor.quantization.scales.tolist() == other.Quantization().ScaleAsNumpy().tolist()
                assert tensor.quantization.zero_points.tolist() == other.Quantization().ZeroPointAsNumpy().tolist()
        for operator, op in zip(found.operators, map(graph.Operators, range(graph.OperatorsLength())), strict=True):
            code = said.OperatorCodes(op.OpcodeIndex())
            number = max(code.DeprecatedBuiltinCode(), code.BuiltinCode())
            assert getattr(tflite.BuiltinOperator, operator.name) == number
            assert operator.version == code.Version()
            assert operator.inputs == tuple(op.Inputs(i) for i in range(op.InputsLength()))
            assert operator.outputs == tuple(op.Outputs(i) for i in range(op.OutputsLength()))
