"""Operators that are imported as graphs of simpler ones: normalizations, Hardmax, rotary and word embeddings."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from qrt.models.onnx.composed import ComposedGraph, composed, input_names, require_floats, static_sizes
from qrt.models.onnx.node import Node

_DEFINED = 23
"""The opset that defines RotaryEmbedding."""


# -- normalizations --------------------------------------------------------------------------------------------------


def instance_normalization(node: Node) -> None:
    """Import InstanceNormalization: normalize each channel of each float32 image by mean and standard deviation.

    Then a scale and a bias are applied.
    """
    x, scale, bias = input_names(node, 3)
    require_floats(node, 0, 1, 2)
    rank = len(node.shape())
    if rank < 3:
        node.fail(f"its input must have a batch, channels and at least one more axis, got shape {list(node.shape())}")
    shape, graph = static_sizes(node, 0, 1), composed(node)
    rows = graph.add("Reshape", x, graph.integers(0, 0, -1))
    epsilon = node.attribute("epsilon", 1e-5)
    rows = graph.add("LayerNormalization", rows, graph.constant([1]), axis=2, epsilon=epsilon)
    result = graph.add("Reshape", rows, graph.add("Shape", x))
    channels = graph.integers(shape[1], *(1,) * (rank - 2))
    result = graph.add("Mul", result, graph.add("Reshape", scale, channels))
    graph.replace(node, graph.add("Add", result, graph.add("Reshape", bias, channels)))


def lp_normalization(node: Node) -> None:
    """Import LpNormalization: divide float32 elements by their norm along an axis.

    The norm is the sum of magnitudes, or the root of the sum of squares. Where the norm is 0, the result is 0.
    """
    require_floats(node, 0)
    power, graph = node.attribute("p", 2), composed(node)
    if power not in (1, 2):
        node.fail(f"attribute 'p' must be 1 or 2, got {power}")
    axis = graph.integers(node.axis(node.attribute("axis", -1), len(node.shape())))
    norm = graph.add(f"ReduceL{power}", node.input(0), axis, keepdims=1)
    zero = graph.constant(0)
    quotient = graph.add("Div", node.input(0), norm)
    graph.replace(node, graph.add("Where", graph.add("Equal", norm, zero), zero, quotient))


def hardmax(node: Node) -> None:
    """Import Hardmax: set the first largest element along an axis to 1, and all others to 0.

    Before opset 13, all axes from ``axis`` on count as one axis.
    """
    shape, graph = node.shape(), composed(node)
    axis = node.axis(node.attribute("axis", -1 if node.opset >= 13 else 1), len(shape))
    x, is_flat = node.input(0), node.opset < 13
    if is_flat:
        x = graph.add("Flatten", x, axis=axis)
    sizes = static_sizes(node, 0, *(range(axis, len(shape)) if is_flat else [axis]))
    depth = int(np.prod(sizes[axis:])) if is_flat else sizes[axis]
    values = graph.add("CastLike", graph.constant([0, 1]), x)
    positions = graph.add("ArgMax", x, axis=1 if is_flat else axis, keepdims=0)
    result = graph.add("OneHot", positions, graph.integers(depth), values, axis=1 if is_flat else axis)
    if is_flat:
        result = graph.add("Reshape", result, graph.add("Shape", node.input(0)))
    graph.replace(node, result)


def rotary_embedding(node: Node) -> None:
    """Import RotaryEmbedding: rotate pairs of float32 elements by angles that depend on the position.

    The operator of ``com.microsoft`` is computed as ONNX's operator of the same name. The positions may be known at
    import or computed.
    """
    x, positions, cosines, sines = input_names(node, 4)
    require_floats(node, 0, 2, 3)
    if node.attribute("is_packed_batching", 0) or node.attribute("scale", 1.0) != 1:
        node.refuse("packed, or with a scale")
    shape, graph = node.shape(), composed(node)
    rotated, heads = node.attribute("rotary_embedding_dim", 0), node.attribute("num_heads", 0)
    if len(shape) == 3 and not heads:
        size = rotated or 2 * static_sizes(node, 2, 1)[1]
        if size < 1:
            node.fail(
                "a head must have at least 1 element (rotary_embedding_dim, or twice the columns of cos_cache), "
                f"got {size}"
            )
        heads = static_sizes(node, 0, 2)[2] // size
    if node.shape(1) == (1,):
        batch, length = static_sizes(node, 0, 0, 1)[:2] if len(shape) == 3 else static_sizes(node, 0, 0, 2)[0:3:2]
        positions = graph.add("Add", positions, graph.constant(np.arange(length)[np.newaxis], np.int64))
        positions = graph.add("Expand", positions, graph.integers(batch, length))
    more: dict[str, Any] = {"interleaved": node.attribute("interleaved", 0), "rotary_embedding_dim": rotated}
    if len(shape) == 3:
        more["num_heads"] = heads
    graph.replace(node, graph.add("RotaryEmbedding", x, cosines, sines, positions, opset=_DEFINED, **more))


def embed_layer_normalization(node: Node) -> None:
    """Import EmbedLayerNormalization: add rows of two or three embedding tables, and normalize the sums.

    Another output has the number of ones in each row of a mask.
    """
    names = input_names(node, 9, 1, 4, 7, 8)
    require_floats(node, 2, 3, 4, 5, 6)
    graph = composed(node)
    positions = names[8] if node.has(8) else _positions(node, graph)
    index_tensors = [names[0], positions, *([names[1]] if node.has(1) else [])]
    parts = [
        graph.add("Gather", _table(node, i), indices) for i, indices in zip((2, 3, 4), index_tensors, strict=False)
    ]
    _set_embedded(node, graph, parts, names[5], names[6])


def q_embed_layer_normalization(node: Node) -> None:
    """Import QEmbedLayerNormalization: compute EmbedLayerNormalization with 8-bit tables, gamma and beta.

    Each of these inputs has one scale and one zero point.
    """
    names = input_names(node, 18, 1, 4, 7, 10, 15)
    graph = composed(node)

    def dequantized(name: str, i: int) -> Any:
        scale, zero = (_as_scalar(node, graph, i + behind) for behind in (6, 11))
        return graph.add("DequantizeLinear", name, scale, zero)

    index_tensors = [names[0], _positions(node, graph), *([names[1]] if node.has(1) else [])]
    gathered = [
        (graph.add("Gather", _table(node, i), indices), i) for i, indices in zip((2, 3, 4), index_tensors, strict=False)
    ]
    parts = [dequantized(rows, i) for rows, i in gathered]
    _set_embedded(node, graph, parts, dequantized(names[5], 5), dequantized(names[6], 6))


def _as_scalar(node: Node, graph: ComposedGraph, i: int) -> Any:
    """Return the name of a scalar tensor with the only element of input ``i``, whose shape must be [] or [1]."""
    if not node.has(i) or node.shape(i) not in ((), (1,)):
        node.fail(f"input {i} must be a tensor of one number")
    name = node.op.inputs[i]
    return graph.add("Squeeze", name) if node.shape(i) else name


def _positions(node: Node, graph: ComposedGraph) -> str:
    """Add a constant with the position of each word in a sentence, 0, 1, 2..., and return its name."""
    if len(node.shape()) != 2:
        node.fail(f"its input must have two axes (sentences, words), got shape {list(node.shape())}")
    return graph.constant(np.arange(static_sizes(node, 0, 1)[1]), np.int64)


def _table(node: Node, i: int) -> str:
    if not node.has(i):
        node.fail(f"with segment indices, the segment embedding (input {i}) is required, but missing")
    return node.op.inputs[i]


def _set_embedded(node: Node, graph: ComposedGraph, parts: Sequence[Any], scale: Any, bias: Any) -> None:
    """Set the outputs: the normalized sum of ``parts``, the number of 1s in each mask row, and the sum itself."""
    if len(node.shape()) != 2:
        node.fail(f"its input must have two axes (sentences, words), got shape {list(node.shape())}")
    total = reduce(lambda left, right: graph.add("Add", left, right), parts)
    epsilon = node.attribute("epsilon", 1e-12)
    normalized = graph.add("LayerNormalization", total, scale, bias, axis=-1, epsilon=epsilon)
    if node.has(7):
        is_one = graph.add("Cast", graph.add("Equal", node.input(7), graph.constant(1, np.int32)), to=6)
        counts = graph.add("ReduceSum", is_one, graph.integers(1), keepdims=0)
    else:
        counts = graph.constant(np.zeros(static_sizes(node, 0, 0)[0]), np.int32)
    graph.replace(node, normalized, counts, total)
