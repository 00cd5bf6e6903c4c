"""TreeEnsemble of the domain ``ai.onnx.ml``, which has replaced TreeEnsembleRegressor and TreeEnsembleClassifier.

The file numbers inner nodes and leaves separately. Here a leaf's number is increased by the number of inner nodes. A
node that tests whether a feature is in a set becomes a binary search over the sorted set, with a node for each
member: "below" and "above" lead to the next nodes of the search, and "equal" ends the search.
"""

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from qrt.models.onnx.composed import composed
from qrt.models.onnx.model import Tensor
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.machine_learning import transformed
from qrt.models.onnx.operators.operands import F32
from qrt.models.onnx.operators.trees import (
    AGGREGATES,
    OUTCOMES,
    Trees,
    Weights,
    combined,
    depth,
    finish_scores,
    next_nodes,
)
from qrt.ops.core import Array
from qrt.types import FloatType

_F64 = FloatType("f64")
_MODES = (*OUTCOMES, "BRANCH_MEMBER")
"""The modes at their numbers in the file."""
_TRANSFORMS = ("NONE", "SOFTMAX", "LOGISTIC", "SOFTMAX_ZERO", "PROBIT")
_EXCHANGED = ("SOFTMAX", "LOGISTIC")
"""The transforms of which the runtime computes the one where the file's number is that of the other."""


@dataclass
class _NodeTables:
    """The tables of `Trees` while nodes are added to them."""

    features: list[int] = field(default_factory=list)
    values: list[Any] = field(default_factory=list)
    following: list[list[int]] = field(default_factory=list)

    def resize(self, count: int, zero: Any) -> None:
        """Add nodes until there are ``count``. The next node of an added node is the node itself."""
        added = range(len(self.features), count)
        self.features += [0 for _ in added]
        self.values += [zero for _ in added]
        self.following += [[number] * 4 for number in added]

    def set(self, number: int, feature: int, value: Any, following: list[int]) -> None:
        self.features[number], self.values[number], self.following[number] = feature, value, following

    def add_search(self, number: int, feature: int, members: Array, targets: list[int], of_nan: int) -> None:
        """Add a binary search for a feature among sorted members. The search begins at node ``number``.

        ``targets`` has the next node for a feature that is not a member, and the next node for a member. ``of_nan`` is
        the next node for a NaN.
        """
        middle = len(members) // 2
        sides = []
        for part in (members[:middle], members[middle + 1 :]):
            if not part.size:
                sides.append(targets[0])
                continue
            side = len(self.features)
            self.resize(side + 1, members[0])
            self.add_search(side, feature, part, targets, of_nan)
            sides.append(side)
        self.set(number, feature, members[middle], [sides[0], targets[1], sides[1], of_nan])


def tree_ensemble(node: Node) -> None:
    """Import TreeEnsemble: follow trees for each row, and combine the weights of their leaves.

    A score is the sum, the average, the least or the largest of a target's weights. The rows are of float32, or of
    float64 without a ``post_transform``. The ``post_transform`` may be SOFTMAX_ZERO or PROBIT. As in the runtime,
    SOFTMAX_ZERO of one target does nothing.

    A node may test whether a feature is a member of a set. The result differs from the runtime's if the set has a
    member m below 0 or above 31, and the feature lies between m and the next integer away from 0. The runtime treats
    this feature as a member.
    """
    element = node.plain(0)
    if (element is not F32 and element is not _F64) or len(node.shape()) != 2:
        node.refuse(f"of {node.dtype(0)} and shape {list(node.shape())}, expected rows of float or double")
    count, aggregate = node.attribute("n_targets", 1), node.attribute("aggregate_function", 1)
    transform = node.attribute("post_transform", 0)
    if not 0 <= aggregate < len(AGGREGATES):
        node.fail(f"attribute 'aggregate_function' must be 0 to {len(AGGREGATES) - 1}, got {aggregate}")
    if not 0 <= transform < len(_TRANSFORMS):
        node.fail(f"attribute 'post_transform' must be 0 to {len(_TRANSFORMS) - 1}, got {transform}")
    if transform and (element is _F64 or _TRANSFORMS[transform] in _EXCHANGED):
        dtype = " of double" if element is _F64 else ", as ONNX Runtime exchanges SOFTMAX and LOGISTIC"
        node.refuse(f"post_transform {_TRANSFORMS[transform]}{dtype}: write it as an operator after the node")
    trees, first_leaf = _trees(node)
    targets, weights = node.ints("leaf_targetids"), _floats(node, "leaf_weights")
    if len(targets) != len(weights):
        node.fail(f"leaf_targetids has {len(targets)} elements for {len(weights)} leaf_weights")
    leaves = range(first_leaf, first_leaf + len(weights))
    given = Weights(leaves, targets, weights, count, AGGREGATES[aggregate])
    scores = combined(node, node.value(0), trees, given, element)
    graph = composed(node)
    name = graph.name()
    finish_scores(node, scores, graph, name, transformed(node, graph, name, count, _TRANSFORMS[transform]))


def _trees(node: Node) -> tuple[Trees, int]:
    """Return the trees that the node's attributes describe, and the number of its first leaf."""
    modes, splits = _tensor(node, "nodes_modes", "uint8"), _floats(node, "nodes_splits")
    count, leaves = len(modes), len(_floats(node, "leaf_weights"))
    features, lists = node.ints("nodes_featureids"), {}
    for name in ("truenodeids", "trueleafs", "falsenodeids", "falseleafs", "missing_value_tracks_true"):
        is_optional = name == "missing_value_tracks_true"
        lists[name] = node.ints(f"nodes_{name}") or (0,) * (count if is_optional else 0)
    for name, values in {**lists, "featureids": features, "splits": splits}.items():
        if len(values) != count or not count:
            node.fail(f"nodes_{name} has {len(values)} elements for {count} nodes_modes")
    for name in ("trueleafs", "falseleafs", "missing_value_tracks_true"):
        if not {*lists[name]} <= {0, 1}:
            node.fail(f"the elements of nodes_{name} must be 0 or 1, got {max(lists[name], key=abs)}")
    sets = iter(_member_sets(node, int((modes == _MODES.index("BRANCH_MEMBER")).sum())))
    tables, first_leaf = _NodeTables(), count
    tables.resize(count + leaves, splits.dtype.type(0))
    for i, mode in enumerate(modes.tolist()):
        if mode >= len(_MODES):
            node.fail(f"nodes_modes must be 0 to {len(_MODES) - 1}, got {mode} for node {i}")
        targets = []
        for side in ("false", "true"):
            target, is_leaf = lists[f"{side}nodeids"][i], lists[f"{side}leafs"][i]
            if not 0 <= target < (leaves if is_leaf else count):
                node.fail(f"node {i} has a next {'leaf' if is_leaf else 'node'}, {target}, that does not exist")
            targets.append(target + first_leaf if is_leaf else target)
        tracks_true = bool(lists["missing_value_tracks_true"][i])
        if _MODES[mode] != "BRANCH_MEMBER":
            following, value = next_nodes(_MODES[mode], targets, tracks_true, splits[i])
            tables.set(i, features[i], value, following)
            continue
        members, of_nan = next(sets), targets[tracks_true]
        if members.size:
            tables.add_search(i, features[i], members, targets, of_nan)
        else:
            tables.set(i, features[i], splits.dtype.type(0), [*targets[:1] * 3, of_nan])
    return _build_trees(node, tables, splits.dtype, range(first_leaf, first_leaf + leaves)), first_leaf


def _build_trees(node: Node, tables: _NodeTables, dtype: Any, leaves: range) -> Trees:
    """Return trees from the tables of their nodes, and the indices ``leaves``. Raise ModelError for invalid roots."""
    following, roots = np.array(tables.following, np.int64), node.ints("tree_roots")
    if not roots or not 0 <= min(roots) <= max(roots) < leaves.start:
        node.fail(f"tree_roots must be of 0 to {leaves.start - 1}, at least one, got {list(roots)}")
    is_leaf = np.zeros(len(following), bool)
    is_leaf[leaves.start : leaves.stop] = True
    levels, _ = depth(node, following, is_leaf, roots)
    features, values = np.array(tables.features, np.int64), np.array(tables.values, dtype)
    trees = Trees(features, values, following, np.array(roots, np.int64), levels)
    trees.check(node)
    return trees


def _member_sets(node: Node, count: int) -> list[Array]:
    """Return the sorted members of the set of each of ``count`` nodes. In the file, a NaN ends each set."""
    listed = _floats(node, "membership_values") if node.has_attribute("membership_values") else np.zeros(0, np.float32)
    ends = np.flatnonzero(np.isnan(listed))
    parts = [part[~np.isnan(part)] for part in np.split(listed, ends + 1)]
    sets = [np.unique(part) for part in (parts if parts[-1].size else parts[:-1])]
    if len(sets) != count:
        node.fail(f"membership_values has {len(sets)} sets, each ended by a NaN, for {count} nodes of BRANCH_MEMBER")
    return sets


def _floats(node: Node, name: str) -> Array:
    return _tensor(node, name, node.dtype(0))


def _tensor(node: Node, name: str, dtype: str) -> Array:
    tensor = node.required(name, Tensor)
    if tensor.dtype != dtype or len(tensor.shape) != 1:
        node.fail(f"attribute '{name}' must be a vector of {dtype}, got {tensor.dtype} of shape {list(tensor.shape)}")
    return tensor.data
