"""ONNX Runtime in its process. Hazards: a crash or a hang that is one of ours; tensors between nodes that are not
given; optimizations that are not off; a process that ended and is taken for one that holds a model; a missing package.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError, QuantTypeError
from qrt.models.diff.compare import ModelComparison
from qrt.models.engines.ort import OnnxRuntime
from tests.models.onnx.writing import model, node, port

pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
X = np.float32([1, 2, -3])


@pytest.fixture(scope="module")
def runtime() -> Iterator[OnnxRuntime]:
    with OnnxRuntime(seconds=30) as engine:
        yield engine


def squared() -> bytes:
    nodes = [node("Add", ["x", "x"], ["middle"]), node("Mul", ["middle", "middle"], ["y"])]
    return model(nodes, [port("x", shape=["n"])], [port("y", shape=["n"])])


def endless() -> bytes:
    """A loop of 2^62 rounds."""
    body = model([node("Identity", ["c"], ["d"]), node("Identity", ["v"], ["w"])],
                 [port("i", "INT64", ()), port("c", "BOOL", ()), port("v", shape=(1,))],
                 [port("d", "BOOL", ()), port("w", shape=(1,))])  # fmt: skip
    import onnx

    loop = node("Loop", ["most", "", "x"], ["y"], body=onnx.load_model_from_string(body).graph)
    return model([loop], [port("x", shape=(1,))], [port("y", shape=(1,))], {"most": np.int64(1 << 62)})


@pytest.mark.parametrize("profile", ["ort", "ort-best"])
def test_every_tensor_of_a_run(runtime: OnnxRuntime, profile: str) -> None:
    loaded = runtime.load(squared(), profile=profile, keeps_tensors=True, threads=2)
    assert [(each.name, each.shape, each.dtype) for each in loaded.inputs] == [("x", (-1,), "float")]
    assert loaded.readable() == {"middle", "y"}
    assert [value.tolist() for value in loaded.run([X], ["middle", "y"])] == [[2, 4, -6], [4, 16, 36]]
    assert loaded.run([X], []) == []
    assert [port.name for port in loaded.outputs] == ["y"]
    assert [value.tolist() for value in loaded.run([X])] == [[4, 16, 36]]
    assert loaded.timed([X], 3) > 0
    loaded.close()


def test_without_tensors_the_outputs_are_those_of_the_file(runtime: OnnxRuntime) -> None:
    loaded = runtime.load(squared())
    assert loaded.readable() == {"y"}
    with pytest.raises(ModelError, match=r"ONNX Runtime rejects the model: .*middle"):
        loaded.run([X], ["middle"])


def test_from_a_file(runtime: OnnxRuntime, tmp_path: Any) -> None:
    path = tmp_path / "squared.onnx"
    path.write_bytes(squared())
    assert runtime.load(path, keeps_tensors=True).run([X])[0].tolist() == [4, 16, 36]


def test_a_hang_is_an_error_and_the_next_model_runs() -> None:
    with OnnxRuntime(seconds=30) as runtime:
        before, loop = runtime.load(squared(), name="before"), runtime.load(endless(), name="endless")
        runtime._child.seconds = 0.5
        with pytest.raises(ModelError, match=r"^ONNX Runtime did not answer within 0.5 s and was ended: endless$"):
            loop.run([X[:1]])
        with pytest.raises(
            ModelError, match="the process of ONNX Runtime that had loaded before has ended: load the model again"
        ):
            before.run([X])
        runtime._child.seconds = 30
        assert runtime.load(squared()).run([X])[0].tolist() == [4, 16, 36]


def test_memory_has_a_limit() -> None:
    filled = node("ConstantOfShape", ["n"], ["y"])
    content = model([filled], [port("n", "INT64", (1,))], [port("y", shape=["m"])])
    with OnnxRuntime(seconds=30, max_bytes=4 << 30) as runtime:
        loaded = runtime.load(content)
        with pytest.raises(ModelError, match="ONNX Runtime"):
            loaded.run([np.int64([1 << 31])])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda engine: engine.load(b"none"), "ONNX Runtime rejects the model: "),
        (lambda engine: engine.load("/nowhere.onnx"), "ONNX Runtime rejects /nowhere.onnx: "),
        (lambda engine: engine.load(squared()).run([X.astype(np.int8)]), "Unexpected input data type"),
        (lambda engine: engine.load(squared()).run([]), "the model expects 1 input arrays, got 0"),
        (lambda engine: engine.load(squared(), profile="or"), "did you mean ort"),
    ],
)
def test_what_is_refused(runtime: OnnxRuntime, call: Any, message: str) -> None:
    with pytest.raises(ModelError) as caught:
        call(runtime)
    assert message in str(caught.value)
    assert len(str(caught.value)) < 600


def test_threads_are_counted_from_one(runtime: OnnxRuntime) -> None:
    with pytest.raises(QuantTypeError, match="threads must be at least 1, got 0"):
        runtime.load(squared(), threads=0)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    with pytest.raises(
        ImportError,
        match=r"the package onnxruntime is needed and is not installed: install " r'it by pip install "qrt\[ort\]"',
    ):
        OnnxRuntime()


def scores_as_maps(shape: list[int], **labels: Any) -> bytes:
    """A ZipMap, whose result is a list of maps from labels to scores."""
    from onnx import TensorProto, helper

    key = TensorProto.INT64 if "classlabels_int64s" in labels else TensorProto.STRING
    maps = helper.make_map_type_proto(key, helper.make_tensor_type_proto(TensorProto.FLOAT, []))
    graph = helper.make_graph(
        [node("ZipMap", ["x"], ["y"], domain="ai.onnx.ml", **labels)],
        "graph",
        [port("x", shape=shape)],
        [helper.make_value_info("y", helper.make_sequence_type_proto(maps))],
    )
    opsets = [helper.make_opsetid("", 17), helper.make_opsetid("ai.onnx.ml", 3)]
    return helper.make_model(graph, opset_imports=opsets, ir_version=9).SerializeToString()


@pytest.mark.parametrize("shape", [[3, 2], [2]])
@pytest.mark.parametrize("labels", [{"classlabels_int64s": [7, 1]}, {"classlabels_strings": ["b", "a"]}])
def test_maps_of_scores_are_compared_in_the_order_of_the_file(
    runtime: OnnxRuntime, shape: list[int], labels: dict[str, Any]
) -> None:
    comparison = ModelComparison(scores_as_maps(shape, **labels), runtime, "ort", every_tensor=True)
    comparison.add([np.arange(np.prod(shape), dtype=np.float32).reshape(shape)])
    (output,) = comparison.result().outputs
    assert (output.elements, output.differ) == (np.prod(shape), 0)
    comparison.close()


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            lambda: scores_as_maps([3, 2], classlabels_int64s=[7, 7]),
            "output of a ZipMap with different class labels",
        ),
        (
            lambda: model([node("Cast", ["x"], ["y"], to=8)], [port("x", shape=[3, 2])], [port("y", "STRING")]),
            "elements that are not numbers",
        ),
    ],
    ids=["equal labels", "texts"],
)
def test_results_without_numbers_are_errors_and_the_process_goes_on(
    runtime: OnnxRuntime, content: Any, message: str
) -> None:
    loaded = runtime.load(content())
    for _ in range(2):
        with pytest.raises(ModelError, match=message):
            loaded.run([np.zeros((3, 2), np.float32)])
