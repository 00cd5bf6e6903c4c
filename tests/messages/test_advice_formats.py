"""The advice of importers and of files of tensors, followed. Hazards: a limit that is not the one of the message, a
model that is imported in the end and computes something else."""

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from onnx import helper

import qrt
from tests.messages.advice import advises, hears
from tests.messages.conftest import status
from tests.models.onnx.test_inlining import PORTS, X, call, function
from tests.models.onnx.test_operand_order import added, operands
from tests.models.onnx.writing import model, node, port
from tests.models.test_input_shapes import flattened, integers
from tests.models.tflite.writing import Dimension, Operator, Sparsity, Subgraph, Tensor, write


def run(path: Path, *arrays: Any, **options: Any) -> Any:
    """Return the only result of a model."""
    program = qrt.compile(qrt.load(path, **options))
    (result,) = program.run(dict(zip([port.name for port in program.inputs], arrays, strict=True))).values()
    return np.asarray(result)


def onnx_file(tmp_path: Path, content: bytes) -> Path:
    (tmp_path / "m.onnx").write_bytes(content)
    return tmp_path / "m.onnx"


LIMIT = "the limit of {} bytes: if you trust the file, raise max_bytes (--max-input)"


def follow_the_limit(heard: Any, path: Path, few: int, many: int, values: int = 1) -> None:
    """Check that a model is refused by its limit, and imported with a greater one, in Python and by a command."""
    assert str(few) in heard(lambda: qrt.load(path, max_bytes=few))[-1]
    assert str(few) in heard.command(f"import {path} --max-input {few}")[-1]
    qrt.load(path, max_bytes=many)
    assert status(f"import {path} --max-input {many} -o {path.parent / 'p.mlir'}") == 0
    (path.parent / "data.npz").write_bytes(b"")  # the model is read before the data are used
    assert status(f"explain {path} --max-input {few}") == 1
    assert status(f"explain {path} --max-input {many}") == 0


@advises("errors.py", LIMIT)
def test_ports_of_onnx_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    ports = [port("x", shape=(300_000,))], [port("y", shape=(300_000,))]
    follow_the_limit(heard, onnx_file(tmp_path, model([node("Neg", ["x"], ["y"])], *ports)), 1 << 20, 1 << 23)


@hears(LIMIT)
def test_a_tensor_of_onnx_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    nodes = [node("ConstantOfShape", ["s"], ["c"]), node("ReduceSum", ["c"], ["r"]), node("Add", ["x", "r"], ["y"])]
    content = model(nodes, [port("x", shape=(1, 1))], [port("y")], {"s": np.int64([500, 600])})
    follow_the_limit(heard, onnx_file(tmp_path, content), 1 << 20, 1 << 23)


@hears(LIMIT)
def test_all_constants_of_onnx_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    nodes = [node("Concat", ["c", "c"], ["c0"], axis=0)]
    nodes += [node("Concat", [f"c{i}", "c"], [f"c{i + 1}"], axis=0) for i in range(40)]
    nodes += [node("Add", ["x", "c40"], ["y"])]
    content = model(nodes, [port("x", shape=(1,))], [port("y")], {"c": np.zeros(1000, np.float32)})
    follow_the_limit(heard, onnx_file(tmp_path, content), 1_200_000, 4_000_000)


@hears(LIMIT)
def test_a_description_of_onnx_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    content = model([node("Neg", ["x"], ["y"])], [port("x", shape=(3,))], [port("y", shape=(3,))])
    follow_the_limit(heard, onnx_file(tmp_path, content), 1000, 1 << 20)


@hears(LIMIT)
def test_functions_of_onnx_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    functions = [
        function(f"f{i}", ["a"], ["b"], [call(f"f{i + 1}", ["a"], ["m"]), call(f"f{i + 1}", ["m"], ["b"])])
        for i in range(9)
    ]
    functions.append(function("f9", ["a"], ["b"], [node("Neg", ["a"], ["b"])]))
    content = model([call("f0", ["x"], ["y"])], *PORTS, functions=functions)
    follow_the_limit(heard, onnx_file(tmp_path, content), 100_000, 1 << 24)


def negations(count: int, *shape: int) -> bytes:
    """Return a TFLite model that negates so many times."""
    tensors = [Tensor(shape, "float32") for _ in range(count + 1)]
    operators = [Operator("NEG", [x], [y]) for x, y in pairwise(tensors)]
    return write([Subgraph(tensors[:1], tensors[-1:], operators)])


@hears(LIMIT)
def test_tensors_of_tflite_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(negations(1, 300_000))
    follow_the_limit(heard, tmp_path / "m.tflite", 1 << 20, 1 << 23)


@hears(LIMIT)
def test_sparse_tensors_of_tflite_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    stored = Sparsity([0], [], [Dimension(0, [0, 1], [5])])
    sparse = Tensor((1 << 21,), "int8", 0.5, data=[1], sparsity=stored)
    dense, x, y = (Tensor((size,), "int8", 0.5) for size in (1 << 21, 1, (1 << 21) + 1))
    operators = [Operator("DENSIFY", [sparse], [dense]), Operator("CONCATENATION", [x, dense], [y], {"axis": 0})]
    (tmp_path / "m.tflite").write_bytes(write([Subgraph([x], [y], operators)]))
    follow_the_limit(heard, tmp_path / "m.tflite", 1 << 20, 1 << 23)


@hears(LIMIT)
def test_tables_of_tflite_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(negations(100, 2))
    follow_the_limit(heard, tmp_path / "m.tflite", 50_000, 1 << 23)


@pytest.mark.parametrize(("name", "package"), [("m.tflite", "ai_edge_litert"), ("m.onnx", "onnxruntime")])
@hears(LIMIT)
def test_a_model_beside_its_runtime_beyond_the_limit(heard: Any, tmp_path: Path, name: str, package: str) -> None:
    pytest.importorskip(package)
    ports = [port("x", shape=(2000,))], [port("y", shape=(2000,))]
    content = negations(1, 2000) if name == "m.tflite" else model([node("Neg", ["x"], ["y"])], *ports)
    (tmp_path / name).write_bytes(content)
    command = f"diff {tmp_path / name} --runs 1 --against {'ort' if name == 'm.onnx' else 'litert'} --max-input"
    assert heard.command(f"{command} 12000") == ("12000",)
    assert status(f"{command} 100000") == 0


@advises(
    "tensor/file_entries.py",
    "which takes {} bytes, exceed the limit of {} bytes in memory: load_tensors(..., max_bytes=...)",
)
def test_tensors_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    path = tmp_path / "b.npz"
    np.savez_compressed(path, a=np.ones(1000, np.int8))
    taken, _ = heard(lambda: qrt.load_tensors(path, max_bytes=100))
    assert qrt.load_tensors(path, max_bytes=int(taken))["a"].sum() == 1000


@advises("models/onnx/operators/quantized.py", "write the sizes of the inputs into the file")
def test_sizes_that_are_written_into_the_file(heard: Any, tmp_path: Path) -> None:
    heard(lambda: qrt.load(onnx_file(tmp_path, added((None,), (None,)))))
    result = run(onnx_file(tmp_path, added((4,), (4,))), *operands((4,), (4,)).values())
    assert result.tolist() == [-113] * 4


@advises("models/onnx/check.py", ", where runtimes have operators of their own: give the function another domain")
def test_a_domain_of_its_own(heard: Any, tmp_path: Path) -> None:
    def content(domain: str) -> bytes:
        absolute = function("Neg", ["a"], ["b"], [node("Abs", ["a"], ["b"])], domain=domain)

        def change(message: Any) -> None:
            del message.opset_import[:]
            message.opset_import.extend([helper.make_opsetid("", 17), helper.make_opsetid("own", 1)])

        return model([node("Neg", ["x"], ["y"], domain=domain)], *PORTS, functions=[absolute], change=change)

    heard(lambda: qrt.load(onnx_file(tmp_path, content(""))))
    assert run(onnx_file(tmp_path, content("own")), X).tolist() == np.abs(X).tolist()


@advises("models/onnx/check.py", "convert the model so that both import the same")
def test_one_opset_for_both(heard: Any, tmp_path: Path) -> None:
    def content(opset: int) -> bytes:
        softmax = function("f", ["a"], ["b"], [node("Softmax", ["a"], ["b"])], opset=opset)
        return model([call("f", ["x"], ["y"])], *PORTS, functions=[softmax])

    heard(lambda: qrt.load(onnx_file(tmp_path, content(11))))
    np.testing.assert_allclose(run(onnx_file(tmp_path, content(17)), X), np.exp(X) / np.exp(X).sum(), rtol=1e-5)


@advises("models/onnx/read.py", "let functions call each other less often")
def test_functions_that_call_less_often(heard: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def content(depth: int) -> bytes:
        calls = [[call(f"f{i + 1}", ["a"], ["m"]), call(f"f{i + 1}", ["m"], ["b"])] for i in range(depth)]
        functions = [function(f"f{i}", ["a"], ["b"], nodes) for i, nodes in enumerate(calls)]
        functions.append(function(f"f{depth}", ["a"], ["b"], [node("Neg", ["a"], ["b"])]))
        return model([call("f0", ["x"], ["y"])], *PORTS, functions=functions)

    monkeypatch.setattr("qrt.models.onnx.read._MOST_INLINED", 100)
    heard(lambda: qrt.load(onnx_file(tmp_path, content(7))))
    assert run(onnx_file(tmp_path, content(3)), X).tolist() == X.tolist()


@hears(LIMIT)
def test_a_result_of_tflite_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    x, y = Tensor((1, 10), "int8", 0.5), Tensor((1, 10), "int8", 0.5)
    (tmp_path / "m.tflite").write_bytes(write([Subgraph([x], [y], [Operator("TILE", [x, integers(200_000, 1)], [y])])]))
    follow_the_limit(heard, tmp_path / "m.tflite", 1 << 20, 1 << 23)


@hears(LIMIT)
def test_all_results_of_tflite_beyond_the_limit(heard: Any, tmp_path: Path) -> None:
    x, y, z = (Tensor((1, 10), "int8", 0.5) for _ in "xyz")
    tiles = [Operator("TILE", [x, integers(60_000, 1)], [result]) for result in (y, z)]
    (tmp_path / "m.tflite").write_bytes(write([Subgraph([x], [y, z], tiles)]))
    follow_the_limit(heard, tmp_path / "m.tflite", 1 << 20, 1 << 23)


@advises("models/importing/graph.py", "give the shapes: shapes={{}: {}} of qrt.load, or --input-shape {}={}")
def test_shapes_of_dynamic_inputs(heard: Any, tmp_path: Path) -> None:
    x, sizes = Tensor((1, 3), "float32", name="x", signature=(-1, 3)), Tensor((2,), "int32")
    squares, one, y = Tensor((2,), "int32"), Tensor((), "float32", data=np.float32(1)), Tensor((1, 3), "float32")
    operators = [Operator("SHAPE", [x], [sizes], {"out_type": "INT32"}), Operator("MUL", [sizes] * 2, [squares])]
    operators.append(Operator("FILL", [squares, one], [y]))
    (tmp_path / "m.tflite").write_bytes(write([Subgraph([x], [y], operators)]))
    *_, name, numbers = heard(lambda: qrt.load(tmp_path / "m.tflite"))
    assert (name, numbers) == ("x", "1x3")
    zeros = np.zeros((1, 3), np.float32)
    assert run(tmp_path / "m.tflite", zeros, shapes={"x": (1, 3)}).tolist() == [[1] * 9]
    assert status(f"import {tmp_path}/m.tflite --input-shape {name}={numbers} -o {tmp_path}/m.mlir") == 0


@advises("models/programs.py", ": shapes= (--input-shape) can be given for .tflite and .onnx models only")
@advises("cli/options.py", "--input-shape: expected NAME=SIZES, such as x=1x96x96x3, got {}")
def test_shapes_of_a_command(heard: Any, tmp_path: Path) -> None:
    (tmp_path / "m.tflite").write_bytes(flattened())
    (tmp_path / "m.mlir").write_text("func.func @f(%x: i32) -> i32 { return %x : i32 }")
    heard(lambda: qrt.load(tmp_path / "m.mlir", shapes={"x": (1,)}))
    heard.command(f"import {tmp_path}/m.tflite --input-shape x=2x0")
    assert status(f"import {tmp_path}/m.tflite --input-shape x=2x2x3 -o {tmp_path}/p.mlir") == 0


@advises("models/onnx/importing.py", "save the optimized model with the level ORT_ENABLE_EXTENDED")
def test_images_in_blocks_of_channels(heard: Any, tmp_path: Path) -> None:
    """The runtime's optimizer writes ONNX's own operator at that level."""
    ports, weights = ([port("x", shape=(1, 8, 4, 4))], [port("y")]), {"w": np.ones((8, 8, 1, 1), np.float32)}
    blocks, own = node("Conv", ["x", "w"], ["y"], domain="com.microsoft.nchwc"), "com.microsoft.nchwc"
    content = model([blocks], *ports, weights, change=lambda m: m.opset_import.append(helper.make_opsetid(own, 1)))
    heard(lambda: qrt.load(onnx_file(tmp_path, content)))
    path = onnx_file(tmp_path, model([node("Conv", ["x", "w"], ["y"])], *ports, weights))
    x = np.arange(128, dtype=np.float32).reshape(1, 8, 4, 4)
    np.testing.assert_array_equal(run(path, x)[0, 0], x[0].sum(0))


@advises("models/tflite/node.py", "quantized_dimension {}, for which LiteRT does not use XNNPACK; write 0")
def test_a_single_scale_beside_axis_0(heard: Any, tmp_path: Path) -> None:
    path, x = tmp_path / "m.tflite", np.int8([[1, 2]])
    for axis in (1, 0):
        a, b, y = (Tensor((1, 2), "int8", 0.5, axis=axis) for _ in range(3))
        path.write_bytes(write([Subgraph([a, b], [y], [Operator("MUL", [a, b], [y], {}, 2)])]))
        if axis:
            assert heard(lambda: qrt.load(path)) == ("1",)
    np.testing.assert_array_equal(run(path, x, x), np.float32([[0, 1]]))


@advises("models/tflite/operators/recurrent_basic.py", "which LiteRT ignores; write {}")
def test_an_option_that_a_basic_lstm_ignores(heard: Any, tmp_path: Path) -> None:
    path, x = tmp_path / "m.tflite", Tensor((1, 1), "float32")
    operands = [
        x, Tensor((1, 1), "float32", is_variable=True), Tensor((4, 2), "float32", data=np.zeros((4, 2))),
        Tensor((4,), "float32", data=[0, 1, 0, 0]), Tensor((1, 1), "float32", is_variable=True),
    ]  # fmt: skip
    results = [Tensor((1, size), "float32") for size in (1, 1, 2, 4)]
    for clip in (0.25, 0.0):
        options = {"kernel_type": "BASIC", "fused_activation_function": "TANH", "cell_clip": clip}
        path.write_bytes(write([Subgraph([x], results[1:2], [Operator("LSTM", operands, results, options)])]))
        if clip:
            assert heard(lambda: qrt.load(path))[0].startswith("0)")
    np.testing.assert_allclose(run(path, np.float32([[3]])), [[np.tanh(1) / 2]], rtol=1e-6)


@advises(
    "models/tflite/operators/selection.py", "compute it outside of the model, and give it to the model as an input"
)
def test_positions_that_elements_decide(heard: Any, tmp_path: Path) -> None:
    path, mask = tmp_path / "m.tflite", Tensor((2, 2), "bool")
    x, positions, y = Tensor((2, 2), "float32"), Tensor((3, 2), "int64"), Tensor((3,), "float32")
    take = Operator("GATHER_ND", [x, positions], [y])
    path.write_bytes(write([Subgraph([x, mask], [y], [Operator("WHERE", [mask], [positions]), take])]))
    heard(lambda: qrt.load(path))
    path.write_bytes(write([Subgraph([x, positions], [y], [take])]))
    given, places = np.float32([[1, 2], [3, 4]]), np.argwhere([[True, False], [True, True]])
    np.testing.assert_array_equal(run(path, given, places), [1, 3, 4])
