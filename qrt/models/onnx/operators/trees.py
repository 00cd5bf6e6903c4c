"""Ensembles of decision trees of the domain ``ai.onnx.ml``.

The nodes of all trees are numbered together. A table has the next node of each node for each outcome of its
comparison: the feature is below the node's value, equal, above, or a NaN. The next node of a leaf is the leaf itself.
A loop nest follows each tree to a leaf; another one adds the weights of the leaves, in the order of the trees.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.composed import ComposedGraph, composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.machine_learning import class_labels, floats, labels_at, transformed
from qrt.models.onnx.operators.operands import F32, I64
from qrt.ops.core import Array
from qrt.types import FloatType, IndexType, TensorType

_OUTCOMES = {
    "BRANCH_LEQ": (1, 1, 0, 0), "BRANCH_LT": (1, 0, 0, 0), "BRANCH_GTE": (0, 1, 1, 0), "BRANCH_GT": (0, 0, 1, 0),
    "BRANCH_EQ": (0, 1, 0, 0), "BRANCH_NEQ": (1, 0, 1, 1),
}  # fmt: skip
"""For each mode, its truth for a feature below, equal to and above a node's value, and for a NaN."""
_MOST_LEVELS = 1000
_LESS, _EQUAL, _GREATER = 4, 1, 2
"""Predicates of `arith.cmpf`."""


@dataclass(frozen=True)
class Trees:
    """Trees whose nodes are numbered together: tables by node, and the numbers of the roots.

    ``following`` [node, outcome] has the next nodes, ``levels`` is the number of comparisons of the deepest tree.
    """

    features: Array
    values: Array
    following: Array
    roots: Array
    levels: int


def _trees(node: Node) -> tuple[Trees, dict[tuple[int, int], int]]:
    """Return the trees that the node's attributes describe, and the number of each node by its tree and identifier."""
    trees, identifiers = node.ints("nodes_treeids"), node.ints("nodes_nodeids")
    numbers = {pair: i for i, pair in enumerate(zip(trees, identifiers, strict=False))}
    count = len(numbers)
    modes = node.numbers("nodes_modes", str)
    lists: dict[str, Any] = {name: node.ints(f"nodes_{name}") for name in ("featureids", "truenodeids", "falsenodeids")}
    lists |= {"values": floats(node, "nodes_values"), "modes": modes, "treeids": trees, "nodeids": identifiers}
    missing = node.ints("nodes_missing_value_tracks_true") or (0,) * count
    lists["missing_value_tracks_true"] = missing
    for name, values in lists.items():
        if len(values) != count or not count:
            node.fail(f"nodes_{name} has {len(values)} elements for {count} different nodes")
    following = np.tile(np.arange(count)[:, np.newaxis], (1, 4))
    for i, mode in enumerate(modes):
        if mode == "LEAF":
            continue
        if mode not in _OUTCOMES:
            node.refuse(f"mode {mode}")
        targets = [numbers.get((trees[i], lists[name][i]), -1) for name in ("falsenodeids", "truenodeids")]
        if -1 in targets:
            node.fail(f"node {identifiers[i]} of tree {trees[i]} has a next node that does not exist")
        *outcomes, of_nan = _OUTCOMES[mode]
        following[i] = [targets[is_true] for is_true in (*outcomes, of_nan or bool(missing[i]))]
    is_leaf = np.array([mode == "LEAF" for mode in modes])
    roots = [numbers[tree, identifier] for tree, identifier in _first_nodes(node, trees, identifiers, following)]
    level, levels, reached = np.unique(roots), 0, set(roots)
    while not is_leaf[level].all():
        level, levels = np.unique(following[level]), levels + 1
        reached.update(level.tolist())
        if levels > _MOST_LEVELS:
            node.refuse(f"trees with more than {_MOST_LEVELS} levels, or with a cycle")
    if len(reached) != count:
        node.fail(f"the roots of its trees lead to {len(reached)} of {count} nodes")
    features = np.where(is_leaf, 0, np.array(lists["featureids"], np.int64))
    width = node.shape()[-1] if node.shape() else None
    if width is not None and not 0 <= features.min() <= features.max() < width:
        node.fail(f"its features are {features.min()} to {features.max()}, but its input has {width}")
    described = Trees(features, np.asarray(lists["values"], np.float32), following, np.array(roots, np.int64), levels)
    return described, numbers


def _first_nodes(node: Node, trees: Any, identifiers: Any, following: Array) -> list[tuple[int, int]]:
    """Return the tree and identifier of each root: the first node of its tree that no other node leads to."""
    led_to = {int(target) for i, row in enumerate(following) for target in row if target != i}
    roots: dict[int, tuple[int, int]] = {}
    for i, pair in enumerate(zip(trees, identifiers, strict=True)):
        if i not in led_to:
            roots.setdefault(pair[0], pair)
    if len(roots) != len(set(trees)):
        node.fail("a tree has no root: each of its nodes follows another one")
    return list(roots.values())


def _leaves(node: Node, x: Value, trees: Trees) -> Value:
    """Return the leaf [batch, tree] that each row reaches in each tree."""
    context = lowering_context(node)
    tables = [context.dense(trees.features, I64), context.dense(trees.values, F32),
              context.dense(trees.following, I64), context.dense(trees.roots, I64)]  # fmt: skip
    features, values, following, roots = tables
    nest = LoopNest(context, "decide", [context.extents(x)[0], len(trees.roots)])
    row, tree = nest.loops

    def position(value: Value) -> Value:
        return nest.value("arith.index_cast", (value,), IndexType())

    number = nest.read(roots, [tree])
    for _ in range(trees.levels):
        at = position(number)
        feature = nest.gather(x, [row, position(nest.gather(features, [at]))])
        value = nest.gather(values, [at])
        outcome = nest.constant(3, I64)
        for code, predicate in ((2, _GREATER), (1, _EQUAL), (0, _LESS)):
            holds = nest.compare_floats(predicate, feature, value)
            outcome = nest.value("arith.select", (holds, nest.constant(code, I64), outcome), I64)
        number = nest.gather(following, [at, position(outcome)])
    return nest.finish(number)[0]


def _scores(node: Node, prefix: str, count: int) -> tuple[Value, bool, set[int]]:
    """Return the sums [batch, target] of the weights of leaves, with base values not yet added.

    Also return whether all weights are at least 0, and the targets that have weights.
    """
    trees, numbers = _trees(node)
    targets, weights = node.ints(f"{prefix}_ids"), floats(node, f"{prefix}_weights")
    leaves = list(zip(node.ints(f"{prefix}_treeids"), node.ints(f"{prefix}_nodeids"), strict=False))
    if not len(targets) == len(weights) == len(leaves) or not targets:
        node.fail(f"it has {len(targets)} targets, {len(weights)} weights and {len(leaves)} leaves")
    if not 0 <= min(targets) <= max(targets) < count or not numbers.keys() >= set(leaves):
        node.fail(f"its targets are {min(targets)} to {max(targets)} of {count}, or a leaf does not exist")
    node.graph.check_size(node.op, TensorType((len(numbers), count), F32))
    table = np.zeros((len(numbers), count), np.float32)
    np.add.at(table, ([numbers[leaf] for leaf in leaves], list(targets)), np.asarray(weights, np.float32))
    x = _matrix(node)
    reached, context = _leaves(node, x, trees), lowering_context(node)
    nest = LoopNest(context, "add", [context.extents(x)[0], count], [len(trees.roots)])
    row, target, tree = nest.loops
    before = nest.running(F32, 0.0)
    leaf = nest.value("arith.index_cast", (nest.read(reached, [row, tree]),), IndexType())
    weight = nest.gather(context.dense(table, F32), [leaf, target])
    sums = nest.finish(nest.value("arith.addf", (before, weight), F32))[0]
    return sums, min(weights) >= 0, set(targets)


def _matrix(node: Node) -> Value:
    x, element = node.value(0), node.plain(0)
    if len(node.shape()) != 2 or (isinstance(element, FloatType) and element is not F32):
        node.refuse(f"of {node.dtype(0)} and shape {list(node.shape())}")
    if element is F32:
        return x
    assert isinstance(x.type, TensorType)
    return node.emit("arith.sitofp", [x], None, x.type.with_(element=F32))


def _finished(node: Node, sums: Value, graph: ComposedGraph, name: str, *results: str) -> None:
    """Import a graph that reads ``sums`` as the tensor ``name``, in place of the node."""
    node.graph.values[name] = sums
    graph.replace(node, *results)


def tree_ensemble_regressor(node: Node) -> None:
    """Import TreeEnsembleRegressor: follow trees for each row, and add or average the weights of their leaves.

    The rows are of float32 or integers.
    """
    count, aggregate = node.attribute("n_targets", 1), node.attribute("aggregate_function", "SUM")
    if aggregate not in ("SUM", "AVERAGE"):
        node.refuse(f"aggregate_function {aggregate}")
    sums, _, _ = _scores(node, "target", count)
    graph = composed(node)
    name = scores = graph.name()
    if aggregate == "AVERAGE":
        scores = graph.add("Div", scores, graph.constant(len(set(node.ints("nodes_treeids")))))
    scores = _with_base(node, graph, scores, count)
    _finished(node, sums, graph, name, transformed(node, graph, scores))


def tree_ensemble_classifier(node: Node) -> None:
    """Import TreeEnsembleClassifier: sum the weights of leaves for each class, and find the label of the largest sum.

    Labels are integers. If there are two classes, all weights must be of the first class, but their sum x is the score
    of the second class. The score of the first class is 1 - x if all weights are at least 0, else -x.
    ``post_transform`` LOGISTIC is of -x and x; other values do nothing.
    """
    labels = class_labels(node, "classlabels_int64s", len(node.ints("classlabels_int64s")))
    sums, is_positive, targets = _scores(node, "class", max(len(labels), 1))
    graph = composed(node)
    name = scores = graph.name()
    if len(labels) > 2:
        scores = _with_base(node, graph, scores, len(labels))
        numbers = graph.add("ArgMax", scores, axis=1, keepdims=0)
        _finished(node, sums, graph, name, labels_at(graph, labels, numbers), transformed(node, graph, scores))
        return
    if len(labels) < 2 or targets != {0}:
        node.refuse(f"{len(labels)} classes with weights for class {', '.join(map(str, sorted(targets)))}")
    score = graph.add("Gather", scores, graph.integers(0), axis=1)
    score = _with_base(node, graph, score, 1)
    is_second = graph.add("Greater", score, graph.constant(0.5 if is_positive else 0))
    numbers = graph.add("Squeeze", graph.add("Cast", is_second, to=7), graph.integers(1))
    is_logistic = node.attribute("post_transform", "NONE") == "LOGISTIC"
    first = graph.add("Sub", graph.constant(1 if is_positive and not is_logistic else 0), score)
    scores = graph.add("Concat", first, score, axis=1)
    if is_logistic:
        scores = transformed(node, graph, scores)
    _finished(node, sums, graph, name, labels_at(graph, labels, numbers), scores)


def _with_base(node: Node, graph: ComposedGraph, scores: str, count: int) -> str:
    """Add the base values of ``count`` targets to scores, and return the name of the sums."""
    base = floats(node, "base_values")
    if base and len(base) != count:
        node.refuse(f"{len(base)} base values for {count} sums")
    return str(graph.add("Add", scores, graph.constant(base)) if base else scores)
