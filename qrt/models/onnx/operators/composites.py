"""Operators that are graphs of others here: normalizations, Hardmax, and attention of the runtime's domain."""

from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np

from qrt.errors import shown
from qrt.models.onnx.composed import ComposedGraph, composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.operands import F32

_MICROSOFT = "com.microsoft"
_DEFINED = 23
"""The opset that defines Attention and RotaryEmbedding."""


def _floats(node: Node, *inputs: int) -> None:
    for i in inputs:
        if node.has(i) and node.plain(i) is not F32:
            node.refuse(f"of {node.dtype(i)}")


def _inputs(node: Node, count: int, *optional: int) -> Sequence[str]:
    """The names of the inputs, of which each but those that are ``optional`` must be there."""
    names = node.op.inputs
    least = count if not optional else max(set(range(count)) - set(optional)) + 1
    if not least <= len(names) <= count or not all(name or i in optional for i, name in enumerate(names)):
        node.fail(f"its inputs are {shown(list(names))}, expected {f'{least} to ' * (least < count)}{count}")
    return names


def _sizes(node: Node, i: int, *known: int) -> tuple[int, ...]:
    """The shape of an input, of which these axes must be known; others are 0 where they are not."""
    shape = node.shape(i)
    if any(axis >= len(shape) or shape[axis] is None for axis in known):
        node.refuse(f"input {i} of shape {list(shape)}")
    return tuple(size or 0 for size in shape)


# -- normalizations --------------------------------------------------------------------------------------------------


def instance_normalization(node: Node) -> None:
    """Of float32: each channel of each image by its own mean and deviation, times a scale, and a bias."""
    x, scale, bias = _inputs(node, 3)
    _floats(node, 0, 1, 2)
    rank = len(node.shape())
    if rank < 3:
        node.fail(f"its input has shape {list(node.shape())}, expected a batch, channels and at least one more axis")
    shape, graph = _sizes(node, 0, *range(1, rank)), composed(node)
    rows = graph.add("Reshape", x, graph.integers(0, 0, -1))
    epsilon = node.attribute("epsilon", 1e-5)
    rows = graph.add("LayerNormalization", rows, graph.constant([1]), axis=2, epsilon=epsilon)
    found = graph.add("Reshape", rows, graph.integers(0, *shape[1:]))
    channels = graph.integers(shape[1], *(1,) * (rank - 2))
    found = graph.add("Mul", found, graph.add("Reshape", scale, channels))
    graph.replace(node, graph.add("Add", found, graph.add("Reshape", bias, channels)))


def lp_normalization(node: Node) -> None:
    """Of float32: by the sum of magnitudes along an axis, or the root of that of squares; 0 where that is 0."""
    _floats(node, 0)
    power, graph = node.attribute("p", 2), composed(node)
    if power not in (1, 2):
        node.fail(f"p is {power}, expected 1 or 2")
    axis = graph.integers(node.axis(node.attribute("axis", -1), len(node.shape())))
    norm = graph.add(f"ReduceL{power}", node.op.inputs[0], axis, keepdims=1)
    zero = graph.constant(0)
    quotient = graph.add("Div", node.op.inputs[0], norm)
    graph.replace(node, graph.add("Where", graph.add("Equal", norm, zero), zero, quotient))


def hardmax(node: Node) -> None:
    """Of floats: 1 at the first largest element along an axis, 0 elsewhere; before opset 13 along all axes from one
    on.
    """
    shape, graph = node.shape(), composed(node)
    axis = node.axis(node.attribute("axis", -1 if node.opset >= 13 else 1), len(shape))
    x, is_flat = node.op.inputs[0], node.opset < 13
    if is_flat:
        x = graph.add("Flatten", x, axis=axis)
    sizes = _sizes(node, 0, *(range(axis, len(shape)) if is_flat else [axis]))
    depth = int(np.prod(sizes[axis:])) if is_flat else sizes[axis]
    values = graph.add("CastLike", graph.constant([0, 1]), x)
    at = graph.add("ArgMax", x, axis=1 if is_flat else axis, keepdims=0)
    found = graph.add("OneHot", at, graph.integers(depth), values, axis=1 if is_flat else axis)
    if is_flat:
        found = graph.add("Reshape", found, graph.add("Shape", node.op.inputs[0]))
    graph.replace(node, found)


# -- attention -------------------------------------------------------------------------------------------------------


def _heads(node: Node) -> int:
    found = node.required("num_heads", int)
    if found < 1:
        node.fail(f"num_heads is {found}, expected a positive integer")
    return found


def _attended(node: Node, graph: ComposedGraph, parts: Sequence[Any], masks: Sequence[Any]) -> Any:
    """Softmax of products of queries and keys, times values: in as many heads as the node says."""
    more: dict[str, Any] = {"q_num_heads": _heads(node), "kv_num_heads": _heads(node)}
    if node.attribute("scale", 0.0):
        more["scale"] = node.attribute("scale", 0.0)
    more["is_causal"] = node.attribute("unidirectional", 0)
    mask = masks[0] if masks else ""
    for each in masks[1:]:
        mask = graph.add("Add", mask, each)
    return graph.add("Attention", *parts, *filter(None, [mask]), opset=_DEFINED, **more)


def _mask(node: Node, graph: ComposedGraph, i: int, keys: int) -> Any:
    """What is added for keys that an input leaves out: those that it gives as 0, or behind the number that it gives."""
    name, shape = node.op.inputs[i], node.shape(i)
    if node.dtype(i) != "int32" or len(shape) not in (1, 2):
        node.refuse(f"a mask of {node.dtype(i)} and shape {list(shape)}")
    if len(shape) == 2:
        kept = graph.add("Cast", name, to=1)
        kept = graph.add("Unsqueeze", kept, graph.integers(1, 2))
    else:
        if shape[0] not in (None, *node.shape(0)[:1]):
            node.refuse(f"a mask of shape {list(shape)}")
        numbers = graph.constant(np.arange(keys)[np.newaxis], np.int32)
        kept = graph.add("Less", numbers, graph.add("Unsqueeze", name, graph.integers(1)))
        kept = graph.add("Unsqueeze", graph.add("Cast", kept, to=1), graph.integers(1, 2))
    filler = graph.constant(node.attribute("mask_filter_value", -10000.0))
    return graph.add("Mul", graph.add("Sub", graph.constant(1), kept), filler)


def _refuse_rest(node: Node, *absent: int) -> None:
    for i in absent:
        if node.has(i):
            node.refuse(f"with input {i}")
    for i in range(1, len(node.op.outputs)):
        if node.returns(i):
            node.refuse(f"with output {i}")


def multi_head_attention(node: Node) -> None:
    """Of float32: queries, keys and values of three axes, with biases, masks of keys, and what is added to products."""
    _floats(node, 0, 1, 2, 3, 5)
    _refuse_rest(node, *range(6, len(node.op.inputs)))
    if any(len(node.shape(i)) != 3 for i in range(3) if node.has(i)) or not (node.has(1) and node.has(2)):
        node.refuse("packed queries, keys and values")
    graph, parts = composed(node), list(node.op.inputs[:3])
    if node.has(3):
        widths = [_sizes(node, i, 2)[2] for i in range(3)]
        biases = graph.add("Split", node.op.inputs[3], graph.integers(*widths), outputs=3, axis=0)
        parts = [graph.add("Add", part, bias) for part, bias in zip(parts, biases, strict=True)]
    masks = [_mask(node, graph, 4, _sizes(node, 1, 1)[1])] if node.has(4) else []
    masks += [node.op.inputs[5]] if node.has(5) else []
    graph.replace(node, _attended(node, graph, parts, masks))


def attention(node: Node) -> None:
    """Of float32: queries, keys and values are one product with known or computed weights, and a bias; a mask of keys,
    and what is added to products.
    """
    _floats(node, 0, 1, 2, 5)
    _refuse_rest(node, 4, 6)
    graph = composed(node)
    found = graph.add("MatMul", *node.op.inputs[:2])
    _packed(node, graph, found, 1, 2, 3, 5)


def q_attention(node: Node) -> None:
    """Attention whose product with the weights is that of integers of 8 bits, exact; its sums times both scales."""
    names = _inputs(node, 9, 2, 5, 6, 7, 8)
    _refuse_rest(node, 8)
    _floats(node, 2, 3, 4)
    graph = composed(node)
    zeros = [names[i] if node.has(i) else "" for i in (6, 7)]
    sums = graph.add("MatMulInteger", *names[:2], *zeros)
    scale = graph.add("Mul", names[3], names[4])
    found = graph.add("Mul", graph.add("Cast", sums, to=1), scale)
    _packed(node, graph, found, 1, 2, 5, None)


def _packed(
    node: Node, graph: ComposedGraph, found: Any, weights: int, bias: int, mask: int, added: int | None
) -> None:
    """Attention of queries, keys and values side by side."""
    if node.attribute("do_rotary", 0):
        node.refuse("with rotary embedding")
    if len(node.shape()) != 3:
        node.fail(f"its input has shape {list(node.shape())}, expected three axes")
    if node.has(bias):
        found = graph.add("Add", found, node.op.inputs[bias])
    width = _sizes(node, weights, 1)[1]
    widths = node.ints("qkv_hidden_sizes", (width // 3,) * 3)
    if len(widths) != 3 or sum(widths) != width:
        node.fail(f"weights with {width} columns do not match queries, keys and values of sizes {list(widths)}")
    parts = graph.add("Split", found, graph.integers(*widths), outputs=3, axis=2)
    masks = [_mask(node, graph, mask, _sizes(node, 0, 1)[1])] if node.has(mask) else []
    masks += [node.op.inputs[added]] if added is not None and node.has(added) else []
    graph.replace(node, _attended(node, graph, parts, masks))


def rotary_embedding(node: Node) -> None:
    """Of float32 and known or computed positions: what RotaryEmbedding of ONNX computes."""
    x, positions, cosines, sines = _inputs(node, 4)
    _floats(node, 0, 2, 3)
    if node.attribute("is_packed_batching", 0) or node.attribute("scale", 1.0) != 1:
        node.refuse("packed, or with a scale")
    shape, graph = node.shape(), composed(node)
    rotated, heads = node.attribute("rotary_embedding_dim", 0), node.attribute("num_heads", 0)
    if len(shape) == 3 and not heads:
        size = rotated or 2 * _sizes(node, 2, 1)[1]
        if size < 1:
            node.fail(f"a head has {size} elements, by rotary_embedding_dim or by the table of cosines")
        heads = _sizes(node, 0, 2)[2] // size
    if node.shape(1) == (1,):
        batch, length = _sizes(node, 0, 0, 1)[:2] if len(shape) == 3 else _sizes(node, 0, 0, 2)[0:3:2]
        positions = graph.add("Add", positions, graph.constant(np.arange(length)[np.newaxis], np.int64))
        positions = graph.add("Expand", positions, graph.integers(batch, length))
    more: dict[str, Any] = {"interleaved": node.attribute("interleaved", 0), "rotary_embedding_dim": rotated}
    if len(shape) == 3:
        more["num_heads"] = heads
    graph.replace(node, graph.add("RotaryEmbedding", x, cosines, sines, positions, opset=_DEFINED, **more))


def embed_layer_normalization(node: Node) -> None:
    """LayerNormalization of rows of two or three tables together, and how many elements of each row of a mask are 1."""
    names = _inputs(node, 9, 1, 4, 7, 8)
    _floats(node, 2, 3, 4, 5, 6)
    graph = composed(node)
    positions = names[8] if node.has(8) else _positions(node, graph)
    at = [names[0], positions, *([names[1]] if node.has(1) else [])]
    parts = [graph.add("Gather", _table(node, i), each) for i, each in zip((2, 3, 4), at, strict=False)]
    _embedded(node, graph, parts, names[5], names[6])


def q_embed_layer_normalization(node: Node) -> None:
    """EmbedLayerNormalization whose tables, scale and bias are of 8 bits, each with one scale and zero point."""
    names = _inputs(node, 18, 1, 4, 7, 10, 15)
    graph = composed(node)

    def real(name: str, i: int) -> Any:
        """What a tensor of input ``i``'s parameters stands for."""
        scale, zero = (_single(node, graph, i + behind) for behind in (6, 11))
        return graph.add("DequantizeLinear", name, scale, zero)

    at = [names[0], _positions(node, graph), *([names[1]] if node.has(1) else [])]
    gathered = [(graph.add("Gather", _table(node, i), each), i) for i, each in zip((2, 3, 4), at, strict=False)]
    parts = [real(rows, i) for rows, i in gathered]
    _embedded(node, graph, parts, real(names[5], 5), real(names[6], 6))


def _single(node: Node, graph: ComposedGraph, i: int) -> Any:
    """An input of one element as a number."""
    if not node.has(i) or node.shape(i) not in ((), (1,)):
        node.fail(f"input {i} is not a single number")
    name = node.op.inputs[i]
    return graph.add("Squeeze", name) if node.shape(i) else name


def _positions(node: Node, graph: ComposedGraph) -> str:
    """The number of each word of a sentence."""
    if len(node.shape()) != 2:
        node.fail(f"its input has shape {list(node.shape())}, expected a batch of words")
    return graph.constant(np.arange(_sizes(node, 0, 1)[1]), np.int64)


def _table(node: Node, i: int) -> str:
    if not node.has(i):
        node.fail("it has segment indices, but no segment embedding")
    return node.op.inputs[i]


def _embedded(node: Node, graph: ComposedGraph, parts: Sequence[Any], scale: Any, bias: Any) -> None:
    """The sum of rows, normalized, and how many elements of each row of a mask are 1."""
    if len(node.shape()) != 2:
        node.fail(f"its input has shape {list(node.shape())}, expected a batch of words")
    total = reduce(lambda left, right: graph.add("Add", left, right), parts)
    epsilon = node.attribute("epsilon", 1e-12)
    found = graph.add("LayerNormalization", total, scale, bias, axis=-1, epsilon=epsilon)
    if node.has(7):
        kept = graph.add("Cast", graph.add("Equal", node.op.inputs[7], graph.constant(1, np.int32)), to=6)
        counts = graph.add("ReduceSum", kept, graph.integers(1), keepdims=0)
    else:
        counts = graph.constant(np.zeros(_sizes(node, 0, 0)[0]), np.int32)
    graph.replace(node, found, counts, total)
