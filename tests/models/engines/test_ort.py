"""ONNX Runtime in its process. Hazards: a crash or a hang that is one of ours; tensors between nodes that are not
given; optimizations that are not off; a process that ended and is taken for one that holds a model; a missing package.
"""

import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError, QuantTypeError
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
        (lambda engine: engine.load(squared()).run([]), "the model has 1 inputs, got 0"),
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
