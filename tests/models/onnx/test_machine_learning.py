"""Pipelines of scikit-learn, exported by skl2onnx, beside ONNX Runtime: equal labels, scores within 1e-5.

Hazards: labels that are not the numbers of their classes; two classes of which one has a score; trees of different
depths, a feature equal to a node's value, a NaN; an open batch; maps of scores.
"""

from typing import Any

import numpy as np
import pytest

import qrt
from qrt.errors import ModelError
from tests.models.onnx.pipelines import TARGETS, TREE, drawn, exported, models
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port

DOMAIN = "ai.onnx.ml"
NAN, INF = np.float32(np.nan), np.float32(np.inf)
ROWS = np.float32([[0.5, 2], [0.5, 2.5], [0.75, 9], [NAN, 3], [0, NAN], [-INF, INF], [INF, 0]])


@pytest.mark.filterwarnings("ignore:Attribute `prob._` was deprecated:FutureWarning")  # skl2onnx reads them
@pytest.mark.parametrize("name", [name for name, _, _ in models()] if has_oracle() else [])
def test_a_pipeline(name: str) -> None:
    pytest.importorskip("skl2onnx", reason="skl2onnx is not installed")
    fitted, classes = next(rest for own, *rest in models() if own == name)
    content, (x, _) = exported(fitted, classes), drawn(classes)
    results = [np.asarray(value) for value in qrt.compile(imported(content)).run({"X": x}).values()]
    import onnxruntime

    for ours, theirs in zip(results, onnxruntime.InferenceSession(content).run(None, {"X": x}), strict=True):
        if isinstance(theirs, list):  # of maps
            theirs = np.array([list(row.values()) for row in theirs], np.float32)
        assert (ours.shape, ours.dtype) == (theirs.shape, theirs.dtype)
        if ours.dtype == np.int64:
            np.testing.assert_array_equal(ours, theirs)
        else:
            np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-5)


def trees(**more: Any) -> bytes:
    made = node("TreeEnsembleRegressor", ["x"], ["y"], domain=DOMAIN, **TREE | TARGETS | more)
    return model([made], [port("x", shape=("n", 2))], [port("y", shape=(None, 1))])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("mode", ["BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT", "BRANCH_EQ", "BRANCH_NEQ"])
@pytest.mark.parametrize("missing", [0, 1])
def test_a_mode_of_trees(mode: str, missing: int) -> None:
    """Features below, at and above the value of a node, and NaNs."""
    modes = [mode, mode, *TREE["nodes_modes"][2:]]
    content = trees(nodes_modes=modes, nodes_missing_value_tracks_true=[missing] * 2 + [0] * 3)
    np.testing.assert_array_equal(run(content, x=ROWS)[0], run_oracle(content, {"x": ROWS})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("weights", [[0.25, 0.75, 0.5], [-1.0, 2.0, 0.0]])
@pytest.mark.parametrize("transform", ["NONE", "LOGISTIC", "SOFTMAX"])
@pytest.mark.parametrize("base", [None, [0.25]])
def test_two_classes(weights: Any, transform: str, base: Any) -> None:
    """Of which the first one has the weights of the second one."""
    targets = {name.replace("target_", "class_"): value for name, value in TARGETS.items() if name != "n_targets"}
    more = {"class_ids": [0, 0, 0], "class_weights": weights, "classlabels_int64s": [7, 3], "post_transform": transform}
    more |= {"base_values": base} if base else {}
    made = node("TreeEnsembleClassifier", ["x"], ["l", "y"], domain=DOMAIN, **TREE | targets | more)
    content = model([made], [port("x", shape=("n", 2))], [port("l", "INT64", (None,)), port("y", shape=(None, 2))])
    (label, scores), (own_label, own_scores) = run(content, x=ROWS), run_oracle(content, {"x": ROWS})
    np.testing.assert_array_equal(label, own_label)
    np.testing.assert_allclose(scores, own_scores, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"nodes_modes": ["BRANCH_LEQ", "BRANCH_MEMBER", "LEAF", "LEAF", "LEAF"]}, "mode BRANCH_MEMBER"),
        ({"nodes_truenodeids": [9, 2, 0, 0, 0]}, "node 0 of tree 0 has a next node that does not exist"),
        ({"nodes_truenodeids": [1, 0, 0, 0, 0]}, "the roots of its trees lead to 1 of 5 nodes"),
        (
            {"nodes_truenodeids": [1, 2, 0, 0, 0], "nodes_falsenodeids": [4, 0, 0, 0, 0]},
            "lead to 1 of 5 nodes",
        ),
        ({"nodes_truenodeids": [1, 1, 0, 0, 0]}, "or with a cycle"),
        ({"nodes_featureids": [2, 0, 0, 0, 0]}, "its features are 0 to 2, but its input has 2"),
        ({"nodes_values": [0.5]}, "nodes_values must have an element for each of the 5 nodes, got 1"),
        ({"target_ids": [0, 1, 0]}, "its targets are 0 to 1 of 1"),
        ({"target_nodeids": [2, 3, 9]}, "a leaf of target_nodeids does not exist"),
        ({"aggregate_function": "MEDIAN"}, "aggregate_function MEDIAN"),
        (
            {"aggregate_function": "MAX", "target_weights": [1.0, float("nan"), 0.0]},
            "aggregate_function MAX of weights that are NaN",
        ),
        ({"post_transform": "EXP"}, "post_transform EXP"),
    ],
)
def test_trees_that_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(trees(**more))


@pytest.mark.parametrize(("ids", "base"), [([1, 1, 1], None), ([0, 1, 0], None), ([0, 0, 0], [0.5, 0.25])])
def test_two_classes_that_the_runtime_scores_otherwise(ids: Any, base: Any) -> None:
    """It gives them other labels than the file's, or a score of 0."""
    targets = {name.replace("target_", "class_"): value for name, value in TARGETS.items() if name != "n_targets"}
    more = {"class_ids": ids, "classlabels_int64s": [7, 3]} | ({"base_values": base} if base else {})
    made = node("TreeEnsembleClassifier", ["x"], ["l", "y"], domain=DOMAIN, **TREE | targets | more)
    with pytest.raises(ModelError, match=r"2 classes with weights for class|2 base values for 1 sums"):
        imported(model([made], [port("x", shape=("n", 2))], [port("l", "INT64"), port("y")]))


def test_labels_that_are_texts_are_refused() -> None:
    """Their scores are computed, if the labels are no output."""
    more = {"coefficients": [1.0, 2.0, 3.0, 4.0], "intercepts": [0.0, 1.0], "classlabels_strings": ["a", "b"]}
    made = node("LinearClassifier", ["x"], ["l", "y"], domain=DOMAIN, **more)
    content = model([made], [port("x", shape=(2, 2))], [port("l", "INT64"), port("y")])
    with pytest.raises(ModelError, match="labels that are texts: train the model with integer labels"):
        imported(content)
    other = made.__class__.FromString(made.SerializeToString())
    other.output[0] = ""
    x = np.float32([[1, 2], [3, -4]])
    (scores,) = run(model([other], [port("x", shape=(2, 2))], [port("y")]), x=x)
    np.testing.assert_array_equal(scores, np.float32([[5, 12], [-5, -6]]))


def test_scores_of_one_row_without_a_batch_are_a_row() -> None:
    made = node("ZipMap", ["x"], ["y"], domain=DOMAIN, classlabels_strings=["b", "a"])
    (scores,) = run(model([made], [port("x", shape=(2,))], [port("y")]), x=ROWS[0])
    np.testing.assert_array_equal(scores, ROWS[:1])


@pytest.mark.parametrize("labels", [{"classlabels_int64s": [7]}, {"classlabels_strings": ["a", "b", "c"]}, {}])
def test_class_labels_are_as_many_as_the_scores(labels: dict[str, Any]) -> None:
    made = node("ZipMap", ["x"], ["y"], domain=DOMAIN, **labels)
    with pytest.raises(ModelError, match=r"it has [013] class labels for scores of shape \[None, 2\]"):
        imported(model([made], [port("x", shape=("n", 2))], [port("y")]))


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("sizes", [(3, 2), (2, 4), (5, 1), (1, 1), (0, 3)])
def test_features_are_cut_or_filled_with_zeros(sizes: tuple[int, int]) -> None:
    joined = node("FeatureVectorizer", ["x", "z"], ["y"], domain=DOMAIN, inputdimensions=list(sizes))
    content = model([joined], [port("x", shape=("n", 3)), port("z", shape=("n", 2))], [port("y", shape=(None, None))])
    inputs = {"x": np.arange(6, dtype=np.float32).reshape(2, 3), "z": np.arange(8, 12, dtype=np.float32).reshape(2, 2)}
    np.testing.assert_array_equal(run(content, **inputs)[0], run_oracle(content, inputs)[0])


@pytest.mark.parametrize(
    ("sizes", "message"), [([3], "a size for each of the 2 inputs, got"), ([3, -1], "sizes of at least 0, got")]
)
def test_wrong_counts_of_features(sizes: list[int], message: str) -> None:
    joined = node("FeatureVectorizer", ["x", "z"], ["y"], domain=DOMAIN, inputdimensions=sizes)
    content = model([joined], [port("x", shape=(1, 3)), port("z", shape=(1, 2))], [port("y", shape=(None, None))])
    with pytest.raises(ModelError, match=message):
        imported(content)
