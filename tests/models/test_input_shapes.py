"""Shapes of inputs that a user gives, and shapes that the import computes. Hazards: a declared shape that is trusted, a
dimension that stays open behind a given shape, a wrong name that is ignored, a result larger than the limit."""

from pathlib import Path

import numpy as np
import pytest

import qrt
from qrt.cli import main
from qrt.errors import ModelError, QuantTypeError
from qrt.models.profiles import PROFILES
from qrt.models.tflite.importing import import_model
from qrt.models.tflite.read import read
from qrt.runtime.program import Program
from tests.models.tflite.writing import Operator, Signature, Subgraph, Tensor, one_op, write

SHRUNK = {"begin_mask": 0, "end_mask": 0, "ellipsis_mask": 0, "new_axis_mask": 0, "shrink_axis_mask": 1}


def integers(*values: int) -> Tensor:
    return Tensor((len(values),), "int32", data=np.array(values, np.int32))


def flattened(shape: tuple[int, ...] = (1, 2, 3)) -> bytes:
    """A model that flattens each image, by a shape computed from the batch: SHAPE, STRIDED_SLICE, PACK, RESHAPE."""
    x = Tensor(shape, "float32", name="x", signature=(-1, *shape[1:]))
    sizes, batch, pair = Tensor((3,), "int32"), Tensor((), "int32"), Tensor((2,), "int32")
    y, rest = Tensor((1, 1), "float32", name="y"), Tensor((), "int32", data=np.int32(-1))
    operators = [
        Operator("SHAPE", [x], [sizes], {"out_type": "INT32"}),
        Operator("STRIDED_SLICE", [sizes, integers(0), integers(1), integers(1)], [batch], SHRUNK),
        Operator("PACK", [batch, rest], [pair], {"axis": 0, "values_count": 2}),
        Operator("RESHAPE", [x, pair], [y], {"new_shape": []}),
    ]
    return write([Subgraph([x], [y], operators)])


def imported(inputs: list[Tensor], outputs: list[Tensor], operators: list[Operator]) -> Program:
    return qrt.compile(import_model(read(write([Subgraph(inputs, outputs, operators)])), PROFILES["litert"]))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "m.tflite"
    path.write_bytes(flattened())
    return path


def test_sizes_follow_from_given_shapes(file: Path) -> None:
    """The declared shapes of the inner tensors and of the result are placeholders."""
    program = qrt.compile(qrt.load(file, shapes={"x": (4, 5, 3)}))
    assert [port.type.shape for port in (*program.inputs, *program.outputs)] == [(4, 5, 3), (4, 15)]
    x = np.arange(60, dtype=np.float32).reshape(4, 5, 3)
    assert np.array_equal(program(x), x.reshape(4, 15))


def test_the_names_are_those_of_arguments(tmp_path: Path) -> None:
    x, y = Tensor((1, 2), "float32", name="t"), Tensor((1, 2), "float32")
    path = tmp_path / "m.tflite"
    path.write_bytes(write([Subgraph([x], [y], [Operator("ABS", [x], [y])])], [Signature({"image": x}, {"out": y})]))
    assert qrt.compile(qrt.load(path, shapes={"image": [3, 2]})).outputs[0].type.shape == (3, 2)
    with pytest.raises(ModelError, match="shapes: no input is named 't'; the inputs are 'image'"):
        qrt.load(path, shapes={"t": [3, 2]})


@pytest.mark.parametrize(
    ("shapes", "error", "message"),
    [
        ({"z": (1,)}, ModelError, "no input is named 'z'; the inputs are 'x'"),
        ({"x": (1, 2)}, ModelError, r"input 'x' has 3 dimensions, so 3 sizes are expected, got \(1, 2\)"),
        ({"x": (0, 2, 3)}, QuantTypeError, "must be a positive integer, got 0"),
        ({"x": 3}, QuantTypeError, "a sequence of sizes"),
        ({"x": (1.5, 2, 3)}, QuantTypeError, "a positive integer"),
        ([1], QuantTypeError, "a mapping from names of inputs to shapes"),
    ],
)
def test_wrong_shapes_are_errors(file: Path, shapes: object, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        qrt.load(file, shapes=shapes)  # type: ignore[arg-type]


def test_a_program_takes_no_shapes(tmp_path: Path) -> None:
    path = tmp_path / "m.mlir"
    path.write_text("func.func @f(%x: i32) -> i32 { return %x : i32 }")
    with pytest.raises(
        QuantTypeError, match=r"shapes= \(--input-shape\) can be given for .tflite and .onnx models only"
    ):
        qrt.load(path, shapes={"x": (1,)})


def test_an_open_batch_is_followed_into_a_reshape(file: Path) -> None:
    program = qrt.compile(qrt.load(file))
    assert [port.type.shape for port in (*program.inputs, *program.outputs)] == [(None, 2, 3), (None, 6)]
    x = np.arange(30, dtype=np.float32).reshape(5, 2, 3)
    assert np.array_equal(program(x), x.reshape(5, 6))


def test_an_error_about_sizes_names_the_open_dimensions(tmp_path: Path) -> None:
    x, sizes = Tensor((1, 3), "float32", name="x", signature=(-1, 3)), Tensor((2,), "int32")
    squares, one, y = Tensor((2,), "int32"), Tensor((), "float32", data=np.float32(1)), Tensor((1, 3), "float32")
    operators = [
        Operator("SHAPE", [x], [sizes], {"out_type": "INT32"}),
        Operator("MUL", [sizes, sizes], [squares]),
        Operator("FILL", [squares, one], [y]),
    ]
    path = tmp_path / "m.tflite"
    path.write_bytes(write([Subgraph([x], [y], operators)]))
    with pytest.raises(ModelError) as caught:
        qrt.load(path)
    assert "input 'x' (dimension 0 of 2)" in str(caught.value)
    assert "shapes={'x': (1, 3)} of qrt.load, or --input-shape x=1x3" in str(caught.value)
    assert np.array_equal(qrt.compile(qrt.load(path, shapes={"x": (2, 3)}))(np.zeros((2, 3), "f4")), np.ones((4, 9)))


def test_the_command_takes_shapes(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["import", str(file), "--input-shape", "x=2x2x3"]) == 0
    assert "tensor<2x6xf32>" in capsys.readouterr().out
    assert main(["import", str(file), "--input-shape", "x=2x0"]) != 0
    assert "expected NAME=SIZES, such as x=1x96x96x3, got 'x=2x0'" in capsys.readouterr().err


def test_computed_shapes_win_over_declared_ones(tmp_path: Path) -> None:
    path = tmp_path / "m.tflite"
    x, y = Tensor((2, 3), "int8", 0.5), Tensor((), "int64")
    path.write_bytes(one_op("ARG_MAX", [x, integers(1)], [y], {"output_type": "INT64"}))
    assert np.asarray(qrt.compile(qrt.load(path))(np.int8([[1, 5, 2], [9, 5, 2]]))).tolist() == [1, 0]


@pytest.mark.parametrize("most", [1000, 11_000])
def test_computed_results_are_bounded(tmp_path: Path, most: int) -> None:
    """By the limit of one tensor, and by that of all results together."""
    path = tmp_path / "m.tflite"
    x, y, z = Tensor((1, 10), "int8", 0.5), Tensor((1, 10), "int8", 0.5), Tensor((1, 10), "int8", 0.5)
    tiles = [Operator("TILE", [a, integers(1000, 1)], [b]) for a, b in ((x, y), (x, z))]
    path.write_bytes(write([Subgraph([x], [y, z], tiles)]))
    qrt.load(path, max_bytes=100_000)
    with pytest.raises(ModelError, match=rf"more .*the limit of {most} bytes: .*raise max_bytes \(--max-input\)"):
        qrt.load(path, max_bytes=most)


def test_named_dimensions_of_onnx_get_one_size(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    ports = [onnx.helper.make_tensor_value_info(n, 1, ["batch", 3]) for n in "ab"]
    out = onnx.helper.make_tensor_value_info("y", 1, ["batch", 3])
    graph = onnx.helper.make_graph([onnx.helper.make_node("Add", ["a", "b"], ["y"])], "g", ports, [out])
    path = tmp_path / "m.onnx"
    onnx.save(onnx.helper.make_model(graph, opset_imports=[onnx.helper.make_opsetid("", 17)], ir_version=8), path)
    program = qrt.compile(qrt.load(path, shapes={"a": (4, 3)}))
    assert [port.type.shape for port in (*program.inputs, *program.outputs)] == [(4, 3)] * 3
    with pytest.raises(ModelError, match="dimension 1 of input 'a' must be 3, got 5"):
        qrt.load(path, shapes={"a": (4, 5)})
    with pytest.raises(ModelError, match=r"dimension 0 of input 'b' must be 4 \(batch\), got 2"):
        qrt.load(path, shapes={"a": (4, 3), "b": (2, 3)})


def sizes_of_the_batch(x: Tensor, *others: int) -> tuple[list[Operator], Tensor]:
    """Operators that compute the sizes [batch of x, *others], and these sizes."""
    shape, batch, sizes = (Tensor((n,), "int32") for n in (len(x.shape or ()), 1, 1 + len(others)))
    operators = [
        Operator("SHAPE", [x], [shape], {"out_type": "INT32"}),
        Operator("SLICE", [shape, integers(0), integers(1)], [batch]),
        Operator("CONCATENATION", [batch, integers(*others)], [sizes], {"axis": 0}),
    ]
    return operators, sizes


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_an_open_batch_is_followed_into_tile(batch: int) -> None:
    """An axis of more than one element repeats as a whole; storage is repeated, whatever the zero point is."""
    x = Tensor((1, 3), "float32", name="x", signature=(-1, 3))
    table, y = Tensor((2, 2), "int8", 0.5, 7, data=[[1, 2], [3, 4]]), Tensor((2, 6), "int8", 0.5, 7)
    operators, sizes = sizes_of_the_batch(x, 3)
    program = imported([x], [y], [*operators, Operator("TILE", [table, sizes], [y])])
    result = program(np.zeros((batch, 3), np.float32))
    assert np.array_equal(result.storage, np.tile([[1, 2], [3, 4]], (batch, 3)))


@pytest.mark.parametrize("batch", [1, 4])
def test_an_open_batch_is_followed_into_fill_and_broadcasts(batch: int) -> None:
    x, number = Tensor((1, 3), "float32", name="x", signature=(-1, 3)), Tensor((), "float32", name="n")
    filled, y = Tensor((1, 2), "float32"), Tensor((1, 3), "float32")
    operators, sizes = sizes_of_the_batch(x, 2)
    operators.append(Operator("FILL", [sizes, number], [filled]))
    rows, sizes = sizes_of_the_batch(x, 3)
    row = Tensor((3,), "float32", data=[1, 2, 3])
    operators += [*rows, Operator("BROADCAST_TO", [row, sizes], [y], version=3)]
    first, second = imported([x, number], [filled, y], operators)(np.zeros((batch, 3), np.float32), np.float32(7))
    assert np.array_equal(first, np.full((batch, 2), 7))
    assert np.array_equal(second, np.tile([1.0, 2.0, 3.0], (batch, 1)))


def test_a_size_that_does_not_broadcast_is_an_error_of_the_run() -> None:
    """The batch must be 2, which is the size of the tensor."""
    x = Tensor((1, 3), "float32", name="x", signature=(-1, 3))
    table, y = Tensor((2, 3), "float32", data=[[1, 2, 3], [4, 5, 6]]), Tensor((2, 3), "float32")
    operators, sizes = sizes_of_the_batch(x, 3)
    program = imported([x], [y], [*operators, Operator("BROADCAST_TO", [table, sizes], [y], version=3)])
    assert program(np.zeros((2, 3), np.float32)).tolist() == [[1, 2, 3], [4, 5, 6]]
    for batch in (1, 3):
        with pytest.raises(ModelError, match=rf"BROADCAST_TO: .*has size {batch}, but .* size 2"):
            program(np.zeros((batch, 3), np.float32))


def test_two_unknown_sizes_of_one_axis_are_refused() -> None:
    x = Tensor((1, 3), "float32", name="x", signature=(-1, 3))
    operators, sizes = sizes_of_the_batch(x, 1)
    y = Tensor((1, 3), "float32")
    with pytest.raises(ModelError) as caught:
        imported([x], [y], [*operators, Operator("TILE", [x, sizes], [y])])
    assert "TILE (dimension 0 of 'x' and its multiple, both known only at run time)" in str(caught.value)
    assert "shapes={'x': (1, 3)} of qrt.load" in str(caught.value)
