"""Ensembles of decision trees of the domain ``ai.onnx.ml``.

The nodes of all trees are numbered together. A node compares a feature with a value, with four outcomes: below, equal,
above, or NaN. A table [node, outcome] has the next nodes. The next node of a leaf is the leaf itself. A loop nest
follows each tree to a leaf. Another loop nest combines the weights of the leaves, in the order of the trees.
`qrt.models.onnx.operators.tree_ensembles` imports the newer operator TreeEnsemble with these functions.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.errors import plural
from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import LoweringContext
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.composed import ComposedGraph, composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.machine_learning import class_labels, floats, labels_at, transformed
from qrt.models.onnx.operators.operands import F32, I64
from qrt.ops.core import Array
from qrt.types import FloatType, IndexType, TensorType, Type

OUTCOMES = {
    "BRANCH_LEQ": (1, 1, 0, 0), "BRANCH_LT": (1, 0, 0, 0), "BRANCH_GTE": (0, 1, 1, 0), "BRANCH_GT": (0, 0, 1, 0),
    "BRANCH_EQ": (0, 1, 0, 0), "BRANCH_NEQ": (1, 0, 1, 1),
}  # fmt: skip
"""For each mode, its truth for a feature below, equal to and above a node's value, and for a NaN."""
AGGREGATES = ("AVERAGE", "SUM", "MIN", "MAX")
"""The names of ways to combine weights, at their numbers in TreeEnsemble."""
_MOST_LEVELS = 1000
_SAME = 0
"""The predicate of `arith.cmpi` for equality."""
_LESS, _EQUAL, _GREATER = 4, 1, 2
"""Predicates of `arith.cmpf`."""


@dataclass(frozen=True)
class Trees:
    """Trees whose nodes are numbered together: tables by node, and the numbers of the roots.

    ``following`` [node, outcome] has the next nodes. ``levels`` is the number of comparisons of the deepest tree.
    """

    features: Array
    values: Array
    following: Array
    roots: Array
    levels: int

    def check(self, node: Node) -> None:
        """Raise ModelError if a feature does not exist in the rows of the node's input."""
        width = node.shape()[-1] if node.shape() else None
        if width is not None and not 0 <= self.features.min() <= self.features.max() < width:
            node.fail(f"its features are {self.features.min()} to {self.features.max()}, but its input has {width}")


@dataclass(frozen=True)
class Weights:
    """The targets and weights of leaves.

    ``aggregate`` says how a target's weights are combined: SUM, AVERAGE, MIN or MAX. ``base`` has a number for each
    target, which is added to the score if a leaf has a weight for the target.
    """

    leaves: Sequence[int]
    targets: Sequence[int]
    weights: Array
    count: int
    aggregate: str = "SUM"
    base: Sequence[float] = ()


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
            node.fail(f"nodes_{name} must have an element for each of the {plural(count, 'node')}, got {len(values)}")
    following, values = np.tile(np.arange(count)[:, np.newaxis], (1, 4)), np.asarray(lists["values"], np.float32)
    for i, mode in enumerate(modes):
        if mode == "LEAF":
            continue
        if mode not in OUTCOMES:
            node.refuse(f"mode {mode}")
        targets = [numbers.get((trees[i], lists[name][i]), -1) for name in ("falsenodeids", "truenodeids")]
        if -1 in targets:
            node.fail(f"node {identifiers[i]} of tree {trees[i]} has a next node that does not exist")
        following[i], values[i] = next_nodes(mode, targets, bool(missing[i]), values[i])
    is_leaf = np.array([mode == "LEAF" for mode in modes])
    roots = [numbers[tree, identifier] for tree, identifier in _first_nodes(node, trees, identifiers, following)]
    levels, reached = depth(node, following, is_leaf, roots)
    if len(reached) != count:
        node.fail(f"the roots of its trees lead to {len(reached)} of {count} nodes")
    features = np.where(is_leaf, 0, np.array(lists["featureids"], np.int64))
    described = Trees(features, values, following, np.array(roots, np.int64), levels)
    described.check(node)
    return described, numbers


def next_nodes(mode: str, targets: Sequence[int], tracks_true: bool, value: Any) -> tuple[list[int], Any]:
    """Return the next node for each outcome of a comparison, and the value with which the feature is compared.

    ``targets`` has the next nodes for a false and a true comparison. With ``tracks_true``, a feature that is NaN leads
    to the second one. If the value is a NaN, all features lead to the node for a comparison with a NaN.
    """
    *outcomes, of_nan = OUTCOMES[mode]
    if np.isnan(value):
        outcomes, value = [of_nan] * 3, value.dtype.type(0)
    return [targets[bool(is_true)] for is_true in (*outcomes, of_nan or tracks_true)], value


def depth(node: Node, following: Array, is_leaf: Array, roots: Sequence[int]) -> tuple[int, set[int]]:
    """Return the number of comparisons to the deepest leaf, and all nodes to which the roots lead."""
    level, levels, reached = np.unique(roots), 0, set(roots)
    while not is_leaf[level].all():
        level, levels = np.unique(following[level]), levels + 1
        reached.update(level.tolist())
        if levels > _MOST_LEVELS:
            node.refuse(f"trees with more than {_MOST_LEVELS} levels, or with a cycle")
    return levels, reached


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


def _leaves(context: LoweringContext, x: Value, trees: Trees, element: Type) -> Value:
    """Return the leaf [batch, tree] that each row reaches in each tree."""
    tables = [context.dense(trees.features, I64), context.dense(trees.values, element),
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


def combined(node: Node, x: Value, trees: Trees, given: Weights, element: Type = F32) -> Value:
    """Return the scores [batch, target] of rows: the combined weights of the leaves that their trees lead to.

    A target without a weight at any of these leaves has the score 0. An average is a sum, divided by the number of
    trees.
    """
    numbers, targets, count = len(trees.features), given.targets, given.count
    if not targets or not 0 <= min(targets) <= max(targets) < count:
        node.fail(f"its targets are {min(targets, default=0)} to {max(targets, default=0)} of {count}")
    is_extreme = given.aggregate in ("MIN", "MAX")
    if is_extreme and np.isnan(given.weights).any():
        node.refuse(f"aggregate_function {given.aggregate} of weights that are NaN")
    node.graph.check_size(node.op, TensorType((numbers, count), element))
    start = {"MIN": np.inf, "MAX": -np.inf}.get(given.aggregate, 0.0)
    places = (list(given.leaves), list(targets))
    table = np.full((numbers, count), start, given.weights.dtype)
    {"MIN": np.minimum, "MAX": np.maximum}.get(given.aggregate, np.add).at(table, places, given.weights)
    context = lowering_context(node)
    reached = _leaves(context, x, trees, element)
    nest = LoopNest(context, "combine", [context.extents(x)[0], count], [len(trees.roots)])
    row, target, tree = nest.loops
    before = nest.running(element, start)
    leaf = nest.value("arith.index_cast", (nest.read(reached, [row, tree]),), IndexType())
    weight = nest.gather(context.dense(table, element), [leaf, target])
    if is_extreme:
        is_better = nest.compare_floats(_LESS if given.aggregate == "MIN" else _GREATER, weight, before)
        values = [nest.value("arith.select", (is_better, weight, before), element)]
    else:
        values = [nest.value("arith.addf", (before, weight), element)]
    if is_extreme or given.base:
        node.graph.check_size(node.op, TensorType((numbers, count), I64))
        has_weight = np.zeros((numbers, count), np.int64)
        has_weight[places] = 1
        earlier = nest.running(I64, 0)
        own = nest.gather(context.dense(has_weight, I64), [leaf, target])
        values.append(nest.value("arith.ori", (earlier, own), I64))
    scores, *is_scored = nest.finish(*values)
    if not is_scored and given.aggregate != "AVERAGE":
        return scores
    nest = LoopNest(context, "score", [context.extents(x)[0], count])
    score = nest.read(scores, nest.loops)
    if given.aggregate == "AVERAGE":
        score = nest.value("arith.divf", (score, nest.constant(float(len(trees.roots)), element)), element)
    if given.base:
        base = nest.read(context.dense(np.asarray(given.base, given.weights.dtype), element), nest.loops[1:])
        score = nest.value("arith.addf", (score, base), element)
    if is_scored:
        holds = nest.compare(_SAME, nest.read(is_scored[0], nest.loops), nest.constant(1, I64))
        score = nest.value("arith.select", (holds, score, nest.constant(0.0, element)), element)
    return nest.finish(score)[0]


def _scores(
    node: Node, prefix: str, count: int, aggregate: str = "SUM", base: Sequence[float] = ()
) -> tuple[Value, bool, set[int]]:
    """Return the scores [batch, target] that leaves give to rows: the combined weights, and the base values ``base``.

    Also return whether all weights are at least 0, and the targets that have weights.
    """
    trees, numbers = _trees(node)
    targets, weights = node.ints(f"{prefix}_ids"), floats(node, f"{prefix}_weights")
    leaves = list(zip(node.ints(f"{prefix}_treeids"), node.ints(f"{prefix}_nodeids"), strict=False))
    if not len(targets) == len(weights) == len(leaves) or not targets:
        node.fail(f"it has {len(targets)} targets, {len(weights)} weights and {len(leaves)} leaves")
    if not numbers.keys() >= set(leaves):
        node.fail(f"a leaf of {prefix}_nodeids does not exist")
    given = Weights(
        [numbers[leaf] for leaf in leaves], targets, np.asarray(weights, np.float32), count, aggregate, base
    )
    return combined(node, _matrix(node), trees, given), min(weights) >= 0, set(targets)


def _matrix(node: Node) -> Value:
    x, element = node.value(0), node.plain(0)
    if len(node.shape()) != 2 or (isinstance(element, FloatType) and element is not F32):
        node.refuse(f"of {node.dtype(0)} and shape {list(node.shape())}")
    if element is F32:
        return x
    assert isinstance(x.type, TensorType)
    return node.emit("arith.sitofp", [x], None, x.type.with_(element=F32))


def finish_scores(node: Node, sums: Value, graph: ComposedGraph, name: str, *results: str) -> None:
    """Import ``graph`` in place of the node. In this graph, the tensor ``name`` has the scores ``sums``."""
    node.graph.values[name] = sums
    graph.replace(node, *results)


def tree_ensemble_regressor(node: Node) -> None:
    """Import TreeEnsembleRegressor: follow trees for each row, and combine the weights of their leaves.

    A score is the sum, the average, the least or the largest of a target's weights, plus its base value. The rows are
    of float32 or integers. As in the runtime, a target has the score 0 if there are several targets and none of a row's
    leaves has a weight for this target. The ``post_transform`` of a single target does nothing, unless it is PROBIT.
    """
    count, aggregate = node.attribute("n_targets", 1), node.attribute("aggregate_function", "SUM")
    if aggregate not in AGGREGATES:
        node.refuse(f"aggregate_function {aggregate}")
    base = _base_values(node, count)
    sums, _, _ = _scores(node, "target", count, aggregate, base if count > 1 else ())
    graph = composed(node)
    name = scores = graph.name()
    if base and count == 1:
        scores = graph.add("Add", name, graph.constant(base))
    finish_scores(node, sums, graph, name, transformed(node, graph, scores, count))


def tree_ensemble_classifier(node: Node) -> None:
    """Import TreeEnsembleClassifier: sum the weights of leaves for each class, and find the label of the largest sum.

    Labels are integers. If there are two classes, all weights must be of the first class, but their sum x is the score
    of the second class. The score of the first class is 1 - x if all weights are at least 0, else -x.
    With the ``post_transform`` LOGISTIC, the scores are the logistic functions of -x and x; other values do nothing.
    """
    labels = class_labels(node, "classlabels_int64s", len(node.ints("classlabels_int64s")))
    sums, is_positive, targets = _scores(node, "class", max(len(labels), 1))
    graph = composed(node)
    name = scores = graph.name()
    if len(labels) > 2:
        scores = _with_base(node, graph, scores, len(labels))
        numbers = graph.add("ArgMax", scores, axis=1, keepdims=0)
        results = (labels_at(graph, labels, numbers), transformed(node, graph, scores, len(labels)))
        finish_scores(node, sums, graph, name, *results)
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
        scores = transformed(node, graph, scores, 2)
    finish_scores(node, sums, graph, name, labels_at(graph, labels, numbers), scores)


def _with_base(node: Node, graph: ComposedGraph, scores: str, count: int) -> str:
    base = _base_values(node, count)
    return str(graph.add("Add", scores, graph.constant(base)) if base else scores)


def _base_values(node: Node, count: int) -> tuple[float, ...]:
    base = floats(node, "base_values")
    if base and len(base) != count:
        node.refuse(f"{len(base)} base values for {count} sums")
    return base
