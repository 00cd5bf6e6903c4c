"""Attention of ``com.microsoft`` as a graph of simpler operators: Attention, MultiHeadAttention and QAttention."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from qrt.models.onnx.composed import ComposedGraph, composed, input_names, require_floats, static_sizes
from qrt.models.onnx.node import Node

_DEFINED = 23
"""The opset that defines Attention."""
_MASK_AXES = {2: (1, 2), 3: (1,), 4: ()}
"""The axes that are inserted in a mask of each rank, so that it has the axes [batch, head, query, key]."""


@dataclass(frozen=True)
class Operands:
    """The names of the operands of an attention.

    ``parts`` names the queries, keys and values [batch, step, head * element]. ``past`` names the keys and the values
    of earlier steps [batch, head, step, element]; it is empty if there are none.
    """

    parts: Sequence[str]
    past: tuple[str, ...] = ()


def head_count(node: Node, name: str = "num_heads") -> int:
    """Return an attribute that is a number of heads. Raise ModelError if it is missing, or below 1."""
    heads = node.required(name, int)
    if heads < 1:
        node.fail(f"attribute '{name}' must be at least 1, got {heads}")
    return heads


def _add_attention(node: Node, graph: ComposedGraph, operands: Operands, masks: Sequence[str]) -> list[str]:
    """Add an Attention, and return the name of its result.

    If the node has more than one output, also return the names of the keys and the values of all steps. The sum of the
    tensors ``masks`` is added to the attention scores.
    """
    heads = head_count(node)
    more: dict[str, Any] = {"q_num_heads": heads, "kv_num_heads": heads}
    scale = node.attribute("scale", 0.0)
    if scale:  # Attention multiplies queries and keys by its root, so that the sign goes to the queries
        more["scale"] = abs(scale)
    queries, *others = operands.parts
    queries = graph.add("Neg", queries) if scale < 0 else queries
    more["is_causal"] = node.attribute("unidirectional", 0)
    mask = masks[0] if masks else ""
    for other in masks[1:]:
        mask = graph.add("Add", mask, other)
    names = [queries, *others, *([mask, *operands.past] if mask or operands.past else [])]
    count = 3 if any(node.returns(i) for i in range(1, len(node.op.outputs))) else 1
    results = graph.add("Attention", *names, opset=_DEFINED, outputs=count, **more)
    return list(results) if count > 1 else [results]


def _mask(node: Node, graph: ComposedGraph, i: int, key_count: int, past: int) -> str:
    """Add a tensor of summands for the attention scores: ``mask_filter_value`` for each masked key, 0 for other keys.

    Input ``i`` is the mask, and has one of these shapes:

    - [batch, key] or [batch, query, key]: an element above 0 means that the key is not masked.
    - [batch, 1, step, step]: the same, with steps instead of queries and keys. The first ``past`` steps have no
      queries.
    - [batch]: in sequence b, the keys before ``mask[b]`` are not masked.
    - [2 * batch]: in sequence b, the keys from ``mask[batch + b]`` to ``mask[b]``, exclusive, are not masked.
    """
    name, shape = node.op.inputs[i], node.shape(i)
    if node.dtype(i) != "int32" or len(shape) not in (1, 2, 3, 4):
        node.refuse(f"a mask of {node.dtype(i)} and shape {list(shape)}")
    if len(shape) == 4:
        queries = static_sizes(node, 0, 1)[1]
        if None in shape or shape[1] != 1 or min(shape[2] or 0, shape[3] or 0) < key_count:
            node.refuse(f"a mask of shape {list(shape)} for {key_count} keys, expected [batch, 1, steps, steps]")
        ends = graph.integers(past, 0), graph.integers(past + queries, key_count), graph.integers(2, 3)
        name = graph.add("Slice", name, *ends)
    if len(shape) > 1:
        is_unmasked = graph.add("Cast", graph.add("Greater", name, graph.constant(0, np.int32)), to=1)
        axes = _MASK_AXES[len(shape)]
        is_unmasked = graph.add("Unsqueeze", is_unmasked, graph.integers(*axes)) if axes else is_unmasked
    else:
        batch, numbers = node.shape(0)[0], graph.constant(np.arange(key_count)[np.newaxis], np.int32)
        if shape[0] is not None and batch is not None and shape[0] == 2 * batch:
            name, first = graph.add("Split", name, graph.integers(batch, batch), outputs=2, axis=0)
            starts = graph.add("LessOrEqual", graph.add("Unsqueeze", first, graph.integers(1)), numbers)
        elif shape[0] in (None, batch):
            starts = ""
        else:
            node.refuse(f"a mask of shape {list(shape)}")
        is_unmasked = graph.add("Less", numbers, graph.add("Unsqueeze", name, graph.integers(1)))
        is_unmasked = graph.add("And", is_unmasked, starts) if starts else is_unmasked
        is_unmasked = graph.add("Unsqueeze", graph.add("Cast", is_unmasked, to=1), graph.integers(1, 2))
    filler = graph.constant(node.attribute("mask_filter_value", -10000.0))
    return str(graph.add("Mul", graph.add("Sub", graph.constant(1), is_unmasked), filler))


def refuse_operands(node: Node, inputs: Sequence[int], outputs: Sequence[int]) -> None:
    """Raise UnsupportedForm if the node has one of these inputs or outputs."""
    for side, numbers, has in (("input", inputs, node.has), ("output", outputs, node.returns)):
        for i in numbers:
            if has(i):
                node.refuse(f"with {side} {i}")


def multi_head_attention(node: Node) -> None:
    """Import MultiHeadAttention: compute attention of float32 queries, keys and values, which have three axes each.

    Biases, a mask of keys, and a tensor that is added to the attention scores are supported. The inputs may include
    keys and values of earlier steps. In this case, outputs for the keys and values of all steps are required. In
    cross-attention, the keys and values may have the axes [batch, head, step, element].
    """
    require_floats(node, 0, 1, 2, 3, 5, 6, 7)
    refuse_operands(node, range(8, len(node.op.inputs)), range(3, len(node.op.outputs)))
    ranks = [len(node.shape(i)) for i in range(3) if node.has(i)]
    if ranks not in ([3, 3, 3], [3, 4, 4]):
        node.refuse("packed queries, keys and values")
    if node.has(6) != node.has(7):
        node.fail("it must have both past keys and past values (inputs 6 and 7), or none of them")
    if node.has(6) and not (node.returns(1) and node.returns(2)):
        node.refuse("with past keys but without present keys and values, which ONNX Runtime computes wrongly")
    graph, parts, are_split = composed(node), list(node.op.inputs[:3]), ranks[1] == 4
    if are_split and (node.has(3) or node.has(6)):
        node.refuse("keys of four axes with a bias or with past keys")
    if are_split:
        parts[1:] = [_joined(graph, part) for part in parts[1:]]
    if node.has(3):
        widths = [static_sizes(node, i, 2)[2] for i in range(3)]
        biases = graph.add("Split", node.input(3), graph.integers(*widths), outputs=3, axis=0)
        parts = [graph.add("Add", part, bias) for part, bias in zip(parts, biases, strict=True)]
    past = tuple(node.op.inputs[6:8]) if node.has(6) else ()
    masks = []
    if node.has(4):
        steps = static_sizes(node, 6, 2)[2] if past else 0
        axis = 2 if are_split else 1
        masks.append(_mask(node, graph, 4, steps + static_sizes(node, 1, axis)[axis], steps))
    masks += [node.input(5)] if node.has(5) else []
    graph.replace(node, *_add_attention(node, graph, Operands(parts, past), masks))


def _joined(graph: ComposedGraph, name: str) -> str:
    """Add nodes that turn [batch, head, step, element] to [batch, step, head * element]."""
    return str(graph.add("Reshape", graph.add("Transpose", name, perm=(0, 2, 1, 3)), graph.integers(0, 0, -1)))


def attention(node: Node) -> None:
    """Import Attention: compute attention of float32.

    One product of the input with the weights, plus a bias, gives queries, keys and values. The weights may be known at
    import or computed. A mask of keys, and a tensor that is added to the attention scores, are supported. The inputs
    may include keys and values of earlier steps. An output has the keys and values of all steps.
    """
    require_floats(node, 0, 1, 2, 4, 5)
    if node.attribute("past_present_share_buffer", 0):
        node.refuse("with a past and a present that share a buffer")
    refuse_operands(node, [6], range(2, len(node.op.outputs)))
    graph = composed(node)
    packed = graph.add("MatMul", *node.op.inputs[:2])
    past: tuple[str, ...] = ()
    if node.has(4):
        if len(node.shape(4)) != 5 or node.shape(4)[0] != 2:
            node.fail(f"its past must have the shape [2, batch, heads, steps, elements], got {list(node.shape(4))}")
        halves = graph.add("Split", node.input(4), graph.integers(1, 1), outputs=2, axis=0)
        past = tuple(graph.add("Squeeze", half, graph.integers(0)) for half in halves)
    _add_packed_attention(node, graph, packed, (1, 2, 3, 5), past)


def q_attention(node: Node) -> None:
    """Import QAttention: compute Attention with 8-bit input and weights.

    The exact integer product of input and weights is multiplied by both scales.
    """
    names = input_names(node, 9, 2, 5, 6, 7, 8)
    refuse_operands(node, [8], range(1, len(node.op.outputs)))
    require_floats(node, 2, 3, 4)
    graph = composed(node)
    zeros = [names[i] if node.has(i) else "" for i in (6, 7)]
    sums = graph.add("MatMulInteger", *names[:2], *zeros)
    scale = graph.add("Mul", names[3], names[4])
    packed = graph.add("Mul", graph.add("Cast", sums, to=1), scale)
    _add_packed_attention(node, graph, packed, (1, 2, 5, None), ())


def _add_packed_attention(
    node: Node,
    graph: ComposedGraph,
    packed: str,
    inputs: tuple[int, int, int, int | None],
    past: tuple[str, ...],
) -> None:
    """Replace the node by an attention. The tensor ``packed`` has the queries, keys and values along its last axis.

    ``inputs`` are the indices of the node's weights, bias, mask and of the tensor that is added to the attention
    scores.
    """
    weights, bias, mask, added = inputs
    if node.attribute("do_rotary", 0):
        node.refuse("with rotary embedding")
    if len(node.shape()) != 3:
        node.fail(f"its input must have three axes, got shape {list(node.shape())}")
    if node.has(bias):
        packed = graph.add("Add", packed, node.op.inputs[bias])
    width = static_sizes(node, weights, 1)[1]
    widths = node.ints("qkv_hidden_sizes", (width // 3,) * 3)
    if len(widths) != 3 or sum(widths) != width:
        node.fail(
            f"qkv_hidden_sizes must be three sizes that add up to the columns of the weights, {width}, got "
            f"{list(widths)}"
        )
    parts = graph.add("Split", packed, graph.integers(*widths), outputs=3, axis=2)
    masks = []
    if node.has(mask):
        steps = static_sizes(node, 4, 3)[3] if past else 0
        masks.append(_mask(node, graph, mask, steps + static_sizes(node, 0, 1)[1], steps))
    masks += [node.op.inputs[added]] if added is not None and node.has(added) else []
    result, *present = _add_attention(node, graph, Operands(parts, past), masks)
    both = [graph.add("Unsqueeze", part, graph.integers(0)) for part in present]
    graph.replace(node, result, *([graph.add("Concat", *both, axis=0)] if both else []))
