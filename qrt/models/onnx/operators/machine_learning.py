"""Operators of the domain ``ai.onnx.ml`` without trees: preparation of features, encoders and linear models."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing.node import lowering_context
from qrt.models.onnx.composed import ComposedGraph, composed, require_floats
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32, I64, movable
from qrt.ops.core import Array
from qrt.types import FloatType, Type

_FLOAT_NUMBER, _INT64_NUMBER = 1, 7
"""The numbers of dtypes for the attribute ``to`` of Cast."""
_EQUAL = {F32: 1, I64: 0}
"""The predicate of a comparison for equality, of `arith.cmpf` for floats and of `arith.cmpi` for integers."""


def floats(node: Node, name: str) -> tuple[float, ...]:
    """Return an attribute that is a list of numbers, or () if it is missing."""
    return tuple(float(value) for value in node.numbers(name, float))


def class_labels(node: Node, name: str, count: int) -> tuple[int, ...]:
    """Return the integer labels of ``count`` classes. Raise UnsupportedForm if the node returns texts as labels."""
    if node.op.attributes.get("classlabels_strings"):
        if not node.returns(0):
            return tuple(range(count))
        node.refuse(
            "labels that are texts: train the model with integer labels, or remove the labels (output 0) from the node "
            "and from the outputs of the graph"
        )
    labels = node.ints(name)
    if len(labels) != count:
        node.fail(f"{name} has {len(labels)} labels for {count} classes")
    return labels


def as_floats(node: Node, graph: ComposedGraph, i: int = 0) -> str:
    """Return the name of input ``i`` as float32. Raise UnsupportedForm if it has doubles, or is not a matrix."""
    if len(node.shape(i)) != 2:
        node.refuse(f"of shape {list(node.shape(i))}, expected a batch of rows")
    if isinstance(node.plain(i), FloatType):
        require_floats(node, i)
        return node.op.inputs[i]
    return str(graph.add("Cast", node.op.inputs[i], to=_FLOAT_NUMBER))


def transformed(node: Node, graph: ComposedGraph, scores: str, count: int, transform: str = "") -> str:
    """Add a transform of scores [batch, count], by default the node's ``post_transform``, and return its name.

    As in the runtime, a single score is transformed only by PROBIT.
    """
    transform = transform or node.attribute("post_transform", "NONE")
    if transform not in ("NONE", "LOGISTIC", "SOFTMAX", "SOFTMAX_ZERO", "PROBIT"):
        node.refuse(f"post_transform {transform}")
    if transform == "NONE" or (count == 1 and transform != "PROBIT"):
        return scores
    if transform == "PROBIT":
        return _probit(graph, scores)
    if transform == "SOFTMAX_ZERO":
        return _softmax_of_nonzero(graph, scores)
    return str(graph.add("Sigmoid", scores) if transform == "LOGISTIC" else graph.add("Softmax", scores, axis=-1))


def _probit(graph: ComposedGraph, x: str) -> str:
    """Add nodes for the inverse of the normal distribution: sqrt(2) * erfinv(2 * x - 1), with the runtime's erfinv.

    With ``l = log(1 - y * y)`` and ``v = a + l / 2``, erfinv(y) is ``sign(y) * sqrt(sqrt(v * v - l / 0.147) - v)``.
    """
    one, fraction = graph.constant(1), np.float32(0.147)
    y = graph.add("Sub", graph.add("Mul", x, graph.constant(2)), one)
    log = graph.add("Log", graph.add("Mul", graph.add("Sub", one, y), graph.add("Add", one, y)))
    start = np.float32(2) / (np.float32(np.pi) * fraction)
    v = graph.add("Add", graph.constant(start), graph.add("Mul", graph.constant(0.5), log))
    quotient = graph.add("Mul", graph.constant(np.float32(1) / fraction), log)
    root = graph.add("Sqrt", graph.add("Sub", graph.add("Mul", v, v), quotient))
    magnitude = graph.add("Sqrt", graph.add("Sub", root, v))
    is_negative = graph.add("Less", y, graph.constant(0))
    signed = graph.add("Where", is_negative, graph.add("Neg", magnitude), magnitude)
    return str(graph.add("Mul", graph.constant(1.41421356), signed))


def _softmax_of_nonzero(graph: ComposedGraph, x: str) -> str:
    """Add nodes for a softmax along the last axis of those scores whose magnitude is above 1e-7.

    Other scores are not added to the sum. They are multiplied by ``exp(-max)`` in place of taking their exponential.
    """
    largest = graph.add("ReduceMax", x, graph.integers(-1), keepdims=1)
    is_zero = graph.add("LessOrEqual", graph.add("Abs", x), graph.constant(1e-7))
    powers = graph.add("Exp", graph.add("Sub", x, largest))
    zeros = graph.add("Mul", x, graph.add("Exp", graph.add("Neg", largest)))
    terms = graph.add("Where", is_zero, graph.constant(0), powers)
    total = graph.add("ReduceSum", terms, graph.integers(-1), keepdims=1)
    return str(graph.add("Div", graph.add("Where", is_zero, zeros, powers), total))


def labels_at(graph: ComposedGraph, labels: Sequence[int], numbers: str) -> str:
    """Return the name of a tensor [batch] with the label of each class number in the tensor ``numbers``."""
    return str(graph.add("Gather", graph.constant(labels, np.int64), numbers, axis=0))


# -- features --------------------------------------------------------------------------------------------------------


def scaler(node: Node) -> None:
    """Import Scaler: subtract an offset from each feature, and multiply by a scale."""
    graph = composed(node)
    x = as_floats(node, graph)
    offset, scale = (graph.constant(floats(node, name)) for name in ("offset", "scale"))
    graph.replace(node, graph.add("Mul", graph.add("Sub", x, offset), scale))


def binarizer(node: Node) -> None:
    """Import Binarizer: replace each float32 by 1 if it is above a threshold, else by 0."""
    require_floats(node, 0)
    graph = composed(node)
    is_above = graph.add("Greater", node.input(0), graph.constant(node.attribute("threshold", 0.0)))
    graph.replace(node, graph.add("Cast", is_above, to=_FLOAT_NUMBER))


def normalizer(node: Node) -> None:
    """Import Normalizer: divide each row of float32 by its norm.

    The norm is the largest element, the sum of magnitudes, or the root of the sum of squares. A row whose norm is 0 is
    not changed.
    """
    norm, graph = node.attribute("norm", "MAX"), composed(node)
    if norm not in ("MAX", "L1", "L2"):
        node.fail(f"attribute 'norm' must be 'MAX', 'L1' or 'L2', got {norm!r}")
    x = as_floats(node, graph)
    name = {"MAX": "ReduceMax", "L1": "ReduceL1", "L2": "ReduceL2"}[norm]
    divisor = graph.add(name, x, graph.integers(-1), keepdims=1)
    divisor = graph.add("Where", graph.add("Equal", divisor, graph.constant(0)), graph.constant(1), divisor)
    graph.replace(node, graph.add("Div", x, divisor))


def imputer(node: Node) -> None:
    """Import Imputer: replace NaN, or another number that marks missing features, by a constant for each feature.

    The features are float32 or int64.
    """
    graph, x = composed(node), node.input(0)
    if node.plain(0) is I64:
        values = graph.constant(node.ints("imputed_value_int64s"), np.int64)
        is_missing = graph.add("Equal", x, graph.constant(node.attribute("replaced_value_int64", 0), np.int64))
    else:
        require_floats(node, 0)
        values = graph.constant(floats(node, "imputed_value_floats"))
        replaced = node.attribute("replaced_value_float", 0.0)
        is_missing = graph.add("IsNaN", x) if np.isnan(replaced) else graph.add("Equal", x, graph.constant(replaced))
    graph.replace(node, graph.add("Where", is_missing, values, x))


def array_feature_extractor(node: Node) -> None:
    """Import ArrayFeatureExtractor: take the elements at positions along the last axis.

    A vector becomes a matrix with one row.
    """
    graph, x = composed(node), node.input(0)
    positions = graph.add("Reshape", node.input(1), graph.integers(-1))
    if len(node.shape()) == 1:
        graph.replace(node, graph.add("Unsqueeze", graph.add("Gather", x, positions, axis=0), graph.integers(0)))
    else:
        graph.replace(node, graph.add("Gather", x, positions, axis=-1))


def feature_vectorizer(node: Node) -> None:
    """Import FeatureVectorizer: join rows of features as float32."""
    graph, widths = composed(node), node.ints("inputdimensions")
    for i, width in enumerate(widths):
        if i >= len(node.op.inputs) or node.shape(i)[-1:] not in ((width,), (None,)):
            shapes = [list(node.shape(j)) for j in range(len(node.op.inputs))]
            node.fail(f"inputdimensions = {list(widths)} must have the number of columns of each input, got {shapes}")
    parts = [as_floats(node, graph, i) for i in range(len(node.op.inputs))]
    graph.replace(node, graph.add("Concat", *parts, axis=1))


def zip_map(node: Node) -> None:
    """Import ZipMap: set the output to the scores [batch, class], as a program has no maps.

    The classes are in the file's order. Scores [class] are those of a batch of 1.
    """
    labels = len(node.ints("classlabels_int64s")) or len(node.numbers("classlabels_strings", str))
    if node.shape()[-1:] not in ((labels,), (None,)):
        node.fail(f"it has {labels} class labels for scores of shape {list(node.shape())}")
    if len(node.shape()) == 1:
        graph = composed(node)
        graph.replace(node, graph.add("Unsqueeze", node.input(0), graph.integers(0)))
    else:
        node.set(0, movable(node))


# -- encoders --------------------------------------------------------------------------------------------------------

_KINDS: tuple[tuple[str, Type, Any], ...] = (("int64s", I64, np.int64), ("floats", F32, np.float32))


def _table(node: Node, prefix: str) -> tuple[Array, Type]:
    """Return the keys or values of an encoder and their element type. Raise UnsupportedForm if they are texts."""
    for suffix, element, dtype in _KINDS:
        name = f"{prefix}_{suffix}"
        values = node.ints(name) if element is I64 else floats(node, name)
        if values:
            return np.asarray(values, dtype), element
    tensor = node.op.attributes.get(f"{prefix}_tensor")
    if tensor is None or tensor.dtype not in ("int64", "float"):
        node.refuse(f"{prefix} that are neither int64 nor float32")
    return tensor.data.reshape(-1), I64 if tensor.dtype == "int64" else F32


def label_encoder(node: Node) -> None:
    """Import LabelEncoder: replace each key, an int64 or a float32, by its value.

    Other elements get the default value.
    """
    keys, source = _table(node, "keys")
    values, target = _table(node, "values")
    if len(keys) != len(values) or node.plain(0) is not source:
        node.fail(f"it has {len(keys)} keys of {source} and {len(values)} values for an input of {node.dtype(0)}")
    if source is F32 and np.isnan(keys).any():
        node.refuse("a key that is NaN")
    default = node.op.attributes.get("default_tensor")
    if default is not None:
        start = default.data.reshape(-1)[0]
    else:
        start = node.attribute("default_int64", -1) if target is I64 else node.attribute("default_float", -0.0)
    x, context = node.value(0), lowering_context(node)
    nest = LoopNest(context, "encode", context.extents(x), [len(keys)])
    *outer, line = nest.loops
    before = nest.running(target, start)
    is_key = _equal(nest, nest.read(x, outer), nest.read(context.dense(keys[::-1].copy(), source), [line]), source)
    value = nest.read(context.dense(values[::-1].copy(), target), [line])
    node.set(0, nest.finish(nest.value("arith.select", (is_key, value, before), target))[0])


def _equal(nest: LoopNest, a: Value, b: Value, element: Type) -> Value:
    compare = nest.compare_floats if element is F32 else nest.compare
    return compare(_EQUAL[element], a, b)


def one_hot_encoder(node: Node) -> None:
    """Import OneHotEncoder: add a last axis with 1 at an element's position among the int64 categories, else 0."""
    categories = node.ints("cats_int64s")
    if not categories or not node.attribute("zeros", 1):
        node.refuse("categories that are texts" if not categories else "zeros 0, an error at run time")
    graph = composed(node)
    x = node.input(0)
    if node.plain(0) is not I64:
        x = graph.add("Cast", x, to=_INT64_NUMBER)
    parts = [graph.add("Equal", x, graph.constant(category, np.int64)) for category in categories]
    parts = [graph.add("Unsqueeze", graph.add("Cast", part, to=_FLOAT_NUMBER), graph.integers(-1)) for part in parts]
    graph.replace(node, graph.add("Concat", *parts, axis=-1))


# -- linear models --------------------------------------------------------------------------------------------------


def _linear_scores(node: Node, graph: ComposedGraph, x: str, rows: int) -> str:
    coefficients, intercepts = floats(node, "coefficients"), floats(node, "intercepts")
    if rows < 1 or not coefficients or len(coefficients) % rows:
        node.fail(f"it has {len(coefficients)} coefficients for {rows} results")
    if len(intercepts) not in (0, rows):
        node.fail(f"it has {len(intercepts)} intercepts for {rows} results")
    scores = graph.add("MatMul", x, graph.constant(np.asarray(coefficients, np.float32).reshape(rows, -1).T))
    return str(graph.add("Add", scores, graph.constant(intercepts)) if intercepts else scores)


def linear_regressor(node: Node) -> None:
    """Import LinearRegressor: multiply rows of features by coefficients, and add intercepts.

    As in the runtime, the ``post_transform`` of one target does nothing, unless it is PROBIT.
    """
    graph, count = composed(node), node.attribute("targets", 1)
    scores = _linear_scores(node, graph, as_floats(node, graph), count)
    graph.replace(node, transformed(node, graph, scores, count))


def linear_classifier(node: Node) -> None:
    """Import LinearClassifier: compute a score for each class, and the label of the class with the largest score.

    Scores are computed as by LinearRegressor. Labels are integers.
    """
    graph = composed(node)
    count = max(len(floats(node, "intercepts")), 1)
    labels = class_labels(node, "classlabels_ints", count)
    if count < 2:
        node.refuse("a single score for two classes")
    scores = _linear_scores(node, graph, as_floats(node, graph), count)
    numbers = graph.add("ArgMax", scores, axis=1, keepdims=0)
    graph.replace(node, labels_at(graph, labels, numbers), transformed(node, graph, scores, count))
