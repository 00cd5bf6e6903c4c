"""TreeEnsemble, beside ONNX Runtime. Hazards: sets of members, values that are NaN, a node that is shared, a node that
leads nowhere or in a circle, lists of other lengths."""

from typing import Any

import numpy as np
import pytest

from qrt.errors import ModelError
from tests.models.onnx.running import has_oracle, imported, run, run_oracle
from tests.models.onnx.writing import model, node, port, tensor

NAN = float("nan")
ROWS = np.float32([[0.5, 2], [0.5, 2.5], [0.75, 9], [NAN, 3], [0, NAN], [-np.inf, np.inf], [np.inf, 0], [2, -0.0]])
LISTS: dict[str, Any] = {
    "nodes_modes": [0, 3, 6], "nodes_splits": [0.5, 2.0, 0.0], "nodes_featureids": [0, 1, 1],
    "nodes_truenodeids": [1, 0, 1], "nodes_trueleafs": [0, 1, 1], "nodes_falsenodeids": [2, 1, 2],
    "nodes_falseleafs": [0, 1, 1], "membership_values": [9.0, 3.0, 0.0, NAN], "tree_roots": [0], "n_targets": 1,
    "leaf_targetids": [0, 0, 0], "leaf_weights": [1.0, 2.0, 4.0],
}  # fmt: skip
TENSORS = {"nodes_modes": "uint8"} | dict.fromkeys(("nodes_splits", "membership_values", "leaf_weights"), "float32")


def trees(dtype: str = "FLOAT", **more: Any) -> bytes:
    lists = {name: value for name, value in (LISTS | more).items() if value is not None}
    for name, own in TENSORS.items():
        if isinstance(lists.get(name), list):
            lists[name] = tensor(name, np.array(lists[name], own))
    made = node("TreeEnsemble", ["x"], ["y"], domain="ai.onnx.ml", **lists)
    return model([made], [port("x", dtype, ("n", 2))], [port("y", dtype, (None, lists["n_targets"]))])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize(
    "more",
    [
        {},
        {"nodes_missing_value_tracks_true": [1, 0, 1]},
        {"nodes_splits": [NAN, NAN, 0.0], "nodes_missing_value_tracks_true": [1, 1, 0]},
        {"nodes_modes": [5, 3, 6], "nodes_splits": [NAN, NAN, 0.0], "nodes_missing_value_tracks_true": [1, 0, 0]},
        {"membership_values": [3.0]},
        {"tree_roots": [0, 2, 0], "aggregate_function": 0},
        {"tree_roots": [2]},
        {"n_targets": 2, "leaf_targetids": [1, 1, 1], "aggregate_function": 2},
        {"n_targets": 2, "leaf_targetids": [1, 0, 1], "leaf_weights": [NAN, np.inf, -np.inf], "tree_roots": [0, 1]},
    ],
)
def test_trees(more: dict[str, Any]) -> None:
    content = trees(**more)
    np.testing.assert_array_equal(run(content, x=ROWS)[0], run_oracle(content, {"x": ROWS})[0])


@pytest.mark.skipif(not has_oracle(), reason="onnxruntime is not installed")
@pytest.mark.parametrize("transform", [0, 3, 4])
@pytest.mark.parametrize("targets", [1, 2])
def test_scores_are_transformed(transform: int, targets: int) -> None:
    more = {"n_targets": targets, "leaf_targetids": [0, targets - 1, 0], "leaf_weights": [0.25, 0.625, 0.9375]}
    content = trees(post_transform=transform, **more)
    (ours,), (theirs,) = run(content, x=ROWS), run_oracle(content, {"x": ROWS})
    np.testing.assert_allclose(ours, theirs, rtol=1e-6, atol=1e-6)


def test_members_are_equal_to_the_feature() -> None:
    """Large and negative members too, beside which ONNX Runtime drops the feature's fraction."""
    members = [40.0, -3.0, 1000.0, 5.0, 2.5]
    x = np.float32([[0, v + d] for d in (0, 0.25) for v in members])
    (y,) = run(trees(tree_roots=[2], membership_values=[*members, NAN]), x=x)
    np.testing.assert_array_equal(y.ravel(), [2] * 5 + [4] * 5)


def test_a_set_without_members_has_none() -> None:
    (y,) = run(trees(tree_roots=[2], membership_values=[NAN], nodes_missing_value_tracks_true=[0, 0, 1]), x=ROWS)
    np.testing.assert_array_equal(y.ravel(), [4, 4, 4, 4, 2, 4, 4, 4])


def test_a_shared_node() -> None:
    """To which two nodes lead; ONNX Runtime refuses it."""
    lists = {"nodes_truenodeids": [2, 0, 1], "nodes_falsenodeids": [2, 1, 2]}
    (y,) = run(trees(**lists), x=ROWS)
    np.testing.assert_array_equal(y, run(trees(tree_roots=[2]), x=ROWS)[0])


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"nodes_modes": [0, 7, 6]}, "nodes_modes must be 0 to 6, got 7 for node 1"),
        ({"nodes_truenodeids": [3, 0, 1]}, "node 0 has a next node, 3, that does not exist"),
        ({"nodes_falsenodeids": [2, 3, 2]}, "node 1 has a next leaf, 3, that does not exist"),
        ({"nodes_truenodeids": [0, 0, 1]}, "or with a cycle"),
        ({"nodes_featureids": [0, 2, 1]}, "its features are 0 to 2, but its input has 2"),
        ({"nodes_splits": [0.5]}, "nodes_splits has 1 elements for 3 nodes_modes"),
        ({"nodes_trueleafs": [0, 2, 1]}, "the elements of nodes_trueleafs must be 0 or 1, got 2"),
        ({"nodes_missing_value_tracks_true": [1]}, "nodes_missing_value_tracks_true has 1 elements for 3"),
        ({"membership_values": [1.0, NAN, 2.0, NAN]}, "membership_values has 2 sets, each ended by a NaN, for 1 nodes"),
        ({"membership_values": None}, "membership_values has 0 sets"),
        ({"leaf_targetids": [0, 1, 0]}, "its targets are 0 to 1 of 1"),
        ({"leaf_targetids": [0]}, "leaf_targetids has 1 elements for 3 leaf_weights"),
        ({"tree_roots": [3]}, r"tree_roots must be of 0 to 2, at least one, got \[3\]"),
        ({"aggregate_function": 4}, "'aggregate_function' must be 0 to 3, got 4"),
        ({"post_transform": 5}, "'post_transform' must be 0 to 4, got 5"),
        ({"nodes_splits": tensor("s", np.float64([1, 2, 3]))}, "'nodes_splits' must be a vector of float, got double"),
        ({"nodes_splits": None}, "'nodes_splits' is missing, expected a tensor"),
        ({"dtype": "INT64"}, r"of int64 and shape \[None, 2\], expected rows of float or double"),
        ({"n_targets": 1 << 27}, "takes more than the limit"),
    ],
)
def test_trees_that_are_refused(more: dict[str, Any], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        imported(trees(**more))


@pytest.mark.parametrize(("transform", "name"), [(1, "SOFTMAX"), (2, "LOGISTIC")])
def test_transforms_that_the_runtime_exchanges_are_refused(transform: int, name: str) -> None:
    """It reads the number of the one as that of the other."""
    message = f"post_transform {name}, as ONNX Runtime exchanges SOFTMAX and LOGISTIC: write it as an operator after"
    with pytest.raises(ModelError, match=message):
        imported(trees(post_transform=transform))


def test_transforms_of_doubles_are_refused() -> None:
    floats = ("nodes_splits", "leaf_weights", "membership_values")
    more = {name: tensor(name, np.float64(LISTS[name])) for name in floats}
    imported(trees("DOUBLE", **more))
    with pytest.raises(ModelError, match="post_transform PROBIT of double: write it as an operator after the node"):
        imported(trees("DOUBLE", post_transform=4, **more))
