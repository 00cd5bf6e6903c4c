"""Support vector machines of the domain ``ai.onnx.ml``."""

from itertools import combinations, pairwise

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.composed import ComposedGraph, composed, require_floats
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.machine_learning import as_floats, class_labels, floats, labels_at, transformed
from qrt.models.onnx.operators.operands import F32
from qrt.ops.core import Array

_FLOAT_NUMBER, _INT32_NUMBER, _BOOL_NUMBER = 1, 6, 9
"""The numbers of dtypes for the attribute ``to`` of Cast."""
_LEAST = 1e-7
"""The least probability of one of two classes."""


def svm_regressor(node: Node) -> None:
    """Import SVMRegressor: compute ``sum(coefficient * kernel(row, support vector))`` for each row, plus a constant.

    The kernels are computed in float32. With ``one_class`` the result is 1 for a positive sum, else -1. As in the
    runtime, a ``post_transform`` does nothing.
    """
    graph, supports = composed(node), node.attribute("n_supports", 0)
    coefficients, rho = floats(node, "coefficients"), floats(node, "rho")
    x = as_floats(node, graph)
    kernels = _kernels(node, graph, x, supports) if supports else x
    sums = graph.add("MatMul", kernels, graph.constant(np.asarray(coefficients, np.float32).reshape(-1, 1)))
    sums = graph.add("Add", sums, graph.constant(rho[:1] or 0))
    if node.attribute("one_class", 0):
        is_inside = graph.add("Greater", sums, graph.constant(0))
        graph.replace(node, graph.add("Where", is_inside, graph.constant(1), graph.constant(-1)))
    else:
        graph.replace(node, sums)


def _kernels(node: Node, graph: ComposedGraph, x: str, supports: int) -> str:
    """Add nodes that compute the kernels [batch, support vector] of rows, and return the result's name."""
    kind, parameters = node.attribute("kernel_type", "LINEAR"), floats(node, "kernel_params")
    gamma, offset, degree = (*parameters, 0.0, 0.0, 0.0)[:3]
    vectors = np.asarray(floats(node, "support_vectors"), np.float32)
    if supports < 1 or not vectors.size or vectors.size % supports:
        node.fail(f"it has {supports} support vectors, but {vectors.size} numbers for them")
    vectors = vectors.reshape(supports, -1)
    if kind not in ("LINEAR", "POLY", "RBF", "SIGMOID"):
        node.refuse(f"kernel_type {kind}")
    if kind == "RBF":
        distances = graph.name()
        node.graph.values[distances] = _distances(node, vectors)
        return str(graph.add("Exp", graph.add("Mul", distances, graph.constant(-gamma))))
    products = graph.add("MatMul", x, graph.constant(vectors.T))
    if kind == "LINEAR":
        return str(products)
    scaled = graph.add("Add", graph.add("Mul", products, graph.constant(gamma)), graph.constant(offset))
    if kind == "POLY":
        return str(graph.add("Pow", scaled, graph.constant(degree)))
    return str(graph.add("Tanh", scaled))


def _distances(node: Node, vectors: Array) -> Value:
    """Return the squared distances [batch, support vector] of rows of float32 and support vectors."""
    require_floats(node, 0)
    context, x = lowering_context(node), node.value(0)
    nest = LoopNest(context, "distance", [context.extents(x)[0], len(vectors)], [vectors.shape[1]])
    row, vector, line = nest.loops
    before = nest.running(F32, 0.0)
    pair = nest.read(x, [row, line]), nest.read(context.dense(vectors, F32), [vector, line])
    difference = nest.value("arith.subf", pair, F32)
    square = nest.value("arith.mulf", (difference, difference), F32)
    return nest.finish(nest.value("arith.addf", (before, square), F32))[0]


# -- classes ---------------------------------------------------------------------------------------------------------


def svm_classifier(node: Node) -> None:
    """Import SVMClassifier: decide between each two classes by a score, a sum of kernels with support vectors.

    The label, an integer, is that of the class that wins most often. The other output has a score for each pair of
    classes. If the node has ``prob_a`` and ``prob_b``, the output has a probability for each class instead. These are
    computed from the probabilities of the pairs by an iteration, which ends after 100 rounds or at an error of
    0.005 / classes.
    """
    counts = node.ints("vectors_per_class")
    if not counts:
        node.refuse("without support vectors")
    if min(counts) < 0 or not sum(counts):
        node.fail(f"vectors_per_class must be numbers of support vectors, got {list(counts)}")
    supports, classes, graph = sum(counts), len(counts), composed(node)
    labels = class_labels(node, "classlabels_ints", classes)
    pairs, rho = list(combinations(range(classes), 2)), floats(node, "rho")
    if len(rho) != len(pairs):
        node.fail(f"it must have a rho for each of the {len(pairs)} pairs of {classes} classes, got {len(rho)}")
    kernels = _kernels(node, graph, as_floats(node, graph), supports)
    scores = graph.add("MatMul", kernels, graph.constant(_pair_coefficients(node, counts)))
    scores = graph.add("Add", scores, graph.constant(rho))
    first, second = (np.eye(classes)[[pair[side] for pair in pairs]] for side in (0, 1))
    is_first = graph.add("Cast", graph.add("Greater", scores, graph.constant(0)), to=_FLOAT_NUMBER)
    votes = graph.add("Add", graph.add("MatMul", is_first, graph.constant(first - second)),
                      graph.constant(second.sum(axis=0)))  # fmt: skip
    winners = labels_at(graph, labels, graph.add("ArgMax", votes, axis=1, keepdims=0))
    a, b = floats(node, "prob_a"), floats(node, "prob_b")
    if not a:
        graph.replace(node, winners, _pair_scores(node, graph, scores, classes))
        return
    if not len(a) == len(b) == len(pairs):
        node.fail(f"prob_a and prob_b must have a number for each of {len(pairs)} pairs, got {len(a)} and {len(b)}")
    exponents = graph.add("Add", graph.add("Mul", scores, graph.constant(a)), graph.constant(b))
    of_pairs = graph.add("Sub", graph.constant(1), graph.add("Sigmoid", exponents))
    of_pairs = graph.add("Clip", of_pairs, graph.constant(_LEAST), graph.constant(np.float32(1) - np.float32(_LEAST)))
    probabilities = _Coupling(graph, of_pairs, classes).probabilities() if classes > 1 else of_pairs
    graph.replace(node, winners, transformed(node, graph, probabilities, classes))


def _pair_coefficients(node: Node, counts: tuple[int, ...]) -> Array:
    """Return the coefficients of the support vectors for each pair of classes, an array [support vector, pair].

    In the file, each support vector has a coefficient for each class other than its own, in the order of the classes.
    """
    classes, supports = len(counts), sum(counts)
    given = np.asarray(floats(node, "coefficients"), np.float32)
    if given.size != (classes - 1) * supports:
        node.fail(f"it must have {(classes - 1) * supports} coefficients, {classes - 1} for each support vector, got "
                  f"{given.size}")  # fmt: skip
    rows = given.reshape(classes - 1, supports)
    ranges = [slice(start, end) for start, end in pairwise(np.cumsum([0, *counts]))]
    pairs = list(combinations(range(classes), 2))
    result = np.zeros((supports, len(pairs)), np.float32)
    for number, (i, j) in enumerate(pairs):
        result[ranges[i], number] = rows[j - 1, ranges[i]]
        result[ranges[j], number] = rows[i, ranges[j]]
    return result


def _pair_scores(node: Node, graph: ComposedGraph, scores: str, classes: int) -> str:
    """Add nodes that convert the scores of pairs to the scores that the runtime returns, and return the result's name.

    Two classes are one pair with a score x. For this score the runtime returns two: -x and x, or 1 - x and x if the
    ``post_transform`` is SOFTMAX or SOFTMAX_ZERO.
    """
    if classes != 2:
        return transformed(node, graph, scores, classes * (classes - 1) // 2)
    transform = node.attribute("post_transform", "NONE")
    if transform not in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO"):
        node.refuse(f"post_transform {transform}")
    is_softmax = transform in ("SOFTMAX", "SOFTMAX_ZERO")
    other = graph.add("Sub", graph.constant(1), scores) if is_softmax else graph.add("Neg", scores)
    both = graph.add("Concat", other, scores, axis=1)
    return str(graph.add("Sigmoid", both) if transform == "LOGISTIC" else both)


class _Coupling:
    """The computation of the probabilities of several classes from the probabilities of each pair of classes.

    The probabilities p minimize the quadratic form ``p Q p``. The matrix Q [class, class] follows from the pairs. A
    round computes one probability after the other.
    """

    def __init__(self, graph: ComposedGraph, of_pairs: str, classes: int) -> None:
        self.graph, self.classes = graph, classes
        pairs = list(combinations(range(classes), 2))
        columns = graph.add("Split", of_pairs, graph.integers(*(1,) * len(pairs)), outputs=len(pairs), axis=1)
        columns = [columns] if len(pairs) == 1 else columns
        self.wins = dict(zip(pairs, columns, strict=True))
        for (i, j), column in list(self.wins.items()):
            self.wins[j, i] = graph.add("Sub", graph.constant(1), column)
        self.diagonal = [self._sum_of_squares(t) for t in range(classes)]
        self.rows = [graph.add("Concat", *(self._element(t, j) for j in range(classes)), axis=1)
                     for t in range(classes)]  # fmt: skip

    def _sum_of_squares(self, t: int) -> str:
        graph = self.graph
        squares = [graph.add("Mul", self.wins[j, t], self.wins[j, t]) for j in range(self.classes) if j != t]
        total = squares[0]
        for square in squares[1:]:
            total = graph.add("Add", total, square)
        return str(total)

    def _element(self, t: int, j: int) -> str:
        if t == j:
            return self.diagonal[t]
        return str(self.graph.add("Neg", self.graph.add("Mul", self.wins[j, t], self.wins[t, j])))

    def probabilities(self) -> str:
        """Add a Loop that computes the probabilities [batch, class] in rounds, and return their name."""
        graph, classes = self.graph, self.classes
        zero = graph.add("Mul", self.rows[0], graph.constant(0))
        start = graph.add("Add", zero, graph.constant(np.float32(1) / np.float32(classes)))
        is_done = graph.add("Cast", graph.add("Mul", self.diagonal[0], graph.constant(0)), to=_BOOL_NUMBER)
        body = ComposedGraph(f"{graph.prefix}/rounds")
        names = tuple(f"{body.prefix}/{name}" for name in ("number", "goes", "p", "done"))
        results = self._round(body, *names[2:])
        trips = graph.constant(max(100, classes), np.int64)
        p, _ = graph.add("Loop", trips, "", start, is_done, outputs=2, body=body.graph(names, results))
        return str(p)

    def _round(self, body: ComposedGraph, p: str, done: str) -> tuple[str, ...]:
        """Add the nodes of one round, and return the names of its condition and of the next ``p`` and ``done``.

        A row of the batch is done if its error is small; it then keeps its probabilities.
        """
        last, classes = body.integers(1), self.classes

        def row_sum(a: str, b: str) -> str:
            return str(body.add("ReduceSum", body.add("Mul", a, b), last, keepdims=1))

        products = body.add("Concat", *(row_sum(row, p) for row in self.rows), axis=1)
        whole = row_sum(p, products)
        error = body.add("ReduceMax", body.add("Abs", body.add("Sub", products, whole)), last, keepdims=1, opset=18)
        is_done = body.add("Or", done, body.add("Less", error, body.constant(np.float32(0.005) / np.float32(classes))))
        new, one = p, body.constant(1)
        for t in range(classes):
            place = body.integers(t), body.integers(t + 1), last
            product = body.add("Slice", products, *place)
            change = body.add("Div", body.add("Sub", whole, product), self.diagonal[t])
            grown = body.add("Add", one, change)
            inner = body.add("Add", body.add("Mul", change, self.diagonal[t]), body.add("Add", product, product))
            whole = body.add(
                "Div", body.add("Div", body.add("Add", whole, body.add("Mul", change, inner)), grown), grown
            )
            products = body.add("Div", body.add("Add", products, body.add("Mul", change, self.rows[t])), grown)
            own = body.add("Mul", change, body.constant(np.eye(classes)[t : t + 1]))
            new = body.add("Div", body.add("Add", new, own), grown)
        numbers = body.add("Cast", is_done, to=_INT32_NUMBER)
        least = body.add("ReduceMin", numbers, body.integers(0, 1), keepdims=0, opset=18)
        goes_on = body.add("Equal", least, body.constant(0, np.int32))
        return goes_on, body.add("Where", is_done, p, new), is_done
