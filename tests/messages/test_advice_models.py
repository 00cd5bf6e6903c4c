"""Advice of messages about models that end in something that a program does not compute, each followed."""

from pathlib import Path
from typing import Any

import numpy as np

import qrt
from tests.messages.advice import advises
from tests.models.onnx.writing import model, node, port, tensor

X = np.float32([[1, 2], [3, -4]])


def _load(folder: Path, content: bytes) -> qrt.Program:
    (folder / "m.onnx").write_bytes(content)
    return qrt.compile(qrt.load(folder / "m.onnx"))


@advises(
    "models/onnx/operators/machine_learning.py",
    "or remove the labels (output 0) from the node and from the outputs of the graph",
)
def test_scores_without_labels(heard: Any, tmp_path: Path) -> None:
    more = {"coefficients": [1.0, 2.0, 3.0, 4.0], "intercepts": [0.0, 1.0], "classlabels_strings": ["a", "b"]}

    def content(label: str) -> bytes:
        made = node("LinearClassifier", ["x"], [label, "y"], domain="ai.onnx.ml", **more)
        return model([made], [port("x", shape=(2, 2))], [port(name) for name in (label, "y") if name])

    heard(lambda: _load(tmp_path, content("l")))
    np.testing.assert_array_equal(
        _load(tmp_path, content(""))(X), X @ np.float32([[1, 3], [2, 4]]) + np.float32([0, 1])
    )


@advises(
    "models/onnx/operators/selections.py",
    "remove the node and what follows it, make its inputs outputs of the model, and select the boxes after the run",
)
def test_boxes_that_are_selected_after_the_run(heard: Any, tmp_path: Path) -> None:
    nodes = [node("Abs", ["b"], ["boxes"]), node("Neg", ["s"], ["scores"])]
    ports = [port("b", shape=(1, 2, 4)), port("s", shape=(1, 1, 2))]
    last = node("NonMaxSuppression", ["boxes", "scores"], ["y"])
    heard(lambda: _load(tmp_path, model([*nodes, last], ports, [port("y", "INT64")])))
    program = _load(tmp_path, model(nodes, ports, [port("boxes"), port("scores")]))
    boxes, scores = program(np.full((1, 2, 4), -1, np.float32), np.float32([[[1, -2]]]))
    assert (np.asarray(boxes).shape, np.asarray(scores).argmax()) == ((1, 2, 4), 1)


@advises(
    "models/onnx/operators/selections.py",
    "remove the node and what follows it, make its input an output of the model, and call numpy.unique after the run",
)
def test_different_elements_after_the_run(heard: Any, tmp_path: Path) -> None:
    nodes, ports = [node("Abs", ["x"], ["z"])], [port("x", shape=(2, 2))]
    heard(lambda: _load(tmp_path, model([*nodes, node("Unique", ["z"], ["y"])], ports, [port("y")])))
    assert np.unique(np.asarray(_load(tmp_path, model(nodes, ports, [port("z")]))(X))).tolist() == [1, 2, 3, 4]


@advises("models/onnx/operators/tree_ensembles.py", "write it as an operator after the node")
def test_a_transform_after_the_trees(heard: Any, tmp_path: Path) -> None:
    lists = {name: [0] for name in ("nodes_featureids", "nodes_truenodeids", "tree_roots")}
    lists |= {"nodes_trueleafs": [1], "nodes_falsenodeids": [1], "nodes_falseleafs": [1], "leaf_targetids": [0, 0]}
    tensors = {"nodes_modes": np.uint8([0]), "nodes_splits": np.float32([2]), "leaf_weights": np.float32([1, -1])}
    lists |= {name: tensor(name, array) for name, array in tensors.items()}

    def trees(**more: int) -> Any:
        return node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **lists, **more)

    ports = [port("x", shape=(2, 2))], [port("y")]
    heard(lambda: _load(tmp_path, model([trees(post_transform=2)], *ports)))
    program = _load(tmp_path, model([trees(), node("Sigmoid", ["y"], ["z"])], ports[0], [port("z")]))
    np.testing.assert_allclose(program(X), 1 / (1 + np.exp(np.float32([[-1], [1]]))), rtol=1e-6)
