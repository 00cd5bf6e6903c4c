"""GroupQueryAttention of ``com.microsoft`` as a graph of simpler operators."""

from typing import Any

import numpy as np

from qrt.models.onnx.composed import composed, require_floats, static_sizes
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.attention import head_count, refuse_operands
from qrt.models.onnx.operators.operands import F32
from qrt.types import TensorType

_DEFINED = 23
"""The opset that defines RotaryEmbedding."""


def group_query_attention(node: Node) -> None:
    """Import GroupQueryAttention: compute attention of float32 with fewer heads of keys and values than of queries.

    Shapes must be known at import. Rotary embedding, a local window, a soft cap, a tensor that is added to the scores,
    a smooth softmax and head sinks are supported.

    Two outputs have the keys and the values of all steps: first those of earlier steps, then the new ones, then zeros.
    If the total length is known only at run time, these outputs are as long as the longer of two inputs: the earlier
    steps and the new steps. If a prompt is shorter than other prompts of the batch, the result's rows after its end
    differ from the runtime's.
    """
    attention = _Attention(node)
    graph = attention.graph
    queries, keys, values = attention.split()
    if node.attribute("do_rotary", 0):
        positions = attention.positions()
        queries, keys = (attention.rotated(name, positions) for name in (queries, keys))
    presents = [attention.present(3, keys), attention.present(4, values)]
    result = attention.result(queries, *presents)
    graph.replace(node, result, *presents)


class _Attention:
    """The sizes of a GroupQueryAttention, and the graph that replaces the node."""

    def __init__(self, node: Node) -> None:
        self.node, self.graph = node, composed(node)
        require_floats(node, *(i for i in (0, 1, 2, 3, 4, 7, 8, 10, 11)))
        refuse_operands(node, range(12, 16), [3])
        for name, default in (("sliding_window_cache", 0), ("k_quant_type", "NONE"), ("v_quant_type", "NONE")):
            if node.op.attributes.get(name, default) != default:
                node.refuse(f"with {name}")
        self.heads, self.groups = head_count(node), head_count(node, "kv_num_heads")
        if self.heads % self.groups:
            node.fail(f"num_heads must be a multiple of kv_num_heads, got {self.heads} and {self.groups}")
        if node.has(1) != node.has(2) or node.has(3) != node.has(4):
            node.fail("it must have both keys and values, and both past keys and past values, or none of them")
        self.batch, self.steps, width = self._sizes(0, 3)
        columns = self.heads if node.has(1) else self.heads + 2 * self.groups
        self.size = width // columns
        wanted = (self.batch, self.steps, self.groups * self.size)
        if not self.size or width % columns or (node.has(1) and {self._sizes(1, 3), self._sizes(2, 3)} != {wanted}):
            node.fail(
                f"for queries of shape {list(node.shape())} and {self.heads} heads, keys and values must have the "
                f"shape {list(wanted)}, got {[list(node.shape(i)) for i in (1, 2) if node.has(i)]}"
            )
        self.past = self._sizes(3, 4)[2] if node.has(3) else 0
        of_past = (self.batch, self.groups, self.past, self.size)
        if node.has(3) and {self._sizes(3, 4), self._sizes(4, 4)} != {of_past}:
            node.fail(f"past keys and values must have the shape {list(of_past)}, got {list(node.shape(3))}")
        for i in (5, 6):
            if node.dtype(i) != "int32":
                node.fail(f"input {i} must be of int32, got {node.dtype(i)}")
        if node.shape(5) not in ((self.batch,), (self.batch, 1)):
            node.fail(f"seqlens_k must have the shape [{self.batch}], got {list(node.shape(5))}")
        if node.has(3) and not (node.returns(1) and node.returns(2)):
            node.refuse("with past keys but without present keys and values, which ONNX Runtime computes wrongly")
        known = node.constant(6)
        self.is_known = known is not None and known.size == 1
        total = int(known.reshape(-1)[0]) if known is not None and self.is_known else self.steps
        if total < self.steps:
            node.fail(f"total_sequence_length must be at least the {self.steps} new steps, got {total}")
        self.total, self.is_prompt = max(self.past, total), self.is_known and total == self.steps
        node.graph.check_size(node.op, TensorType((self.batch, self.heads, self.total, self.steps + self.size), F32))
        self.begins = self._begins()

    def _sizes(self, i: int, rank: int) -> tuple[int, ...]:
        if len(self.node.shape(i)) != rank:
            self.node.fail(f"input {i} must have {rank} axes, got shape {list(self.node.shape(i))}")
        return static_sizes(self.node, i, *range(rank))

    def _begins(self) -> str:
        """Add nodes that compute the number of earlier steps of each sequence, int64 [batch, 1]; return the name.

        The number is 0 if the total length is equal to the number of new steps. Then the new steps are a prompt.
        """
        graph = self.graph
        if self.is_prompt:
            return graph.constant(np.zeros((self.batch, 1)), np.int64)
        lengths = graph.add("Reshape", graph.add("Cast", self.node.input(5), to=7), graph.integers(self.batch, 1))
        begins = graph.add("Max", graph.add("Sub", lengths, graph.integers(self.steps - 1)), graph.integers(0))
        if self.is_known:
            return str(begins)
        total = graph.add("Reshape", graph.add("Cast", self.node.input(6), to=7), graph.integers(1, 1))
        is_prompt = graph.add("Equal", total, graph.integers(self.steps))
        return str(graph.add("Where", is_prompt, graph.integers(0), begins))

    def split(self) -> list[str]:
        """Transpose queries, keys and values to the axes [batch, head, step, element], and return the names."""
        node, graph = self.node, self.graph
        names = list(node.op.inputs[:3])
        if not node.has(1):
            widths = graph.integers(*(count * self.size for count in (self.heads, self.groups, self.groups)))
            names = graph.add("Split", node.input(0), widths, outputs=3, axis=2)
        return [
            graph.add(
                "Transpose", graph.add("Reshape", name, graph.integers(0, 0, count, self.size)), perm=(0, 2, 1, 3)
            )
            for name, count in zip(names, (self.heads, self.groups, self.groups), strict=True)
        ]

    def positions(self) -> str:
        """Add nodes that compute the position of each new step in its sequence, and return the result's name.

        The positions are an int64 tensor [batch, step].
        """
        node, graph, steps = self.node, self.graph, self.graph.integers(*range(self.steps))
        if not node.has(9):
            return str(graph.add("Add", self.begins, steps))
        if not self.is_known:
            node.refuse("position_ids with a total length known only at run time")
        given = node.op.inputs[9]
        if not self.is_prompt:
            return str(graph.add("Reshape", given, graph.integers(self.batch, self.steps)))
        first = graph.add(
            "Slice", graph.add("Reshape", given, graph.integers(-1)), graph.integers(0), graph.integers(1)
        )
        return str(graph.add("Expand", graph.add("Add", first, steps), graph.integers(self.batch, self.steps)))

    def rotated(self, name: str, positions: str) -> str:
        """Add a RotaryEmbedding of queries or keys, and return the name of its result."""
        node = self.node
        halves = [self._sizes(i, 2)[1] for i in (7, 8)]
        if halves[0] != halves[1] or not 0 < 2 * halves[0] <= self.size:
            node.fail(f"cos_cache and sin_cache must have at most {self.size // 2} columns, got {halves}")
        more: dict[str, Any] = {"interleaved": node.attribute("rotary_interleaved", 0)}
        if 2 * halves[0] < self.size:
            more["rotary_embedding_dim"] = 2 * halves[0]
        caches = node.input(7), node.input(8)
        return str(self.graph.add("RotaryEmbedding", name, *caches, positions, opset=_DEFINED, **more))

    def present(self, i: int, new: str) -> str:
        """Add nodes that join the keys or values of all steps, and return the name of the result.

        The keys or values of input ``i`` come first, then those of the tensor ``new``, then zeros.
        """
        graph, shape = self.graph, (self.batch, self.groups, self.total, self.size)
        past = graph.constant(np.zeros(shape))
        if self.past:
            name = self.node.op.inputs[i]
            if self.total > self.past:
                name = graph.add("Pad", name, graph.integers(*(0,) * 6, self.total - self.past, 0))
            past = graph.add("Where", self._before(self.begins), name, graph.constant(0))
        start = graph.add("Reshape", self.begins, graph.integers(self.batch))
        return str(graph.add("TensorScatter", past, new, start, axis=2, opset=24))

    def _before(self, ends: str) -> str:
        """Add nodes that compute which steps are before an end ``ends`` [batch, 1], and return the name of the result.

        The result is a tensor of bools [batch, 1, step, 1].
        """
        graph = self.graph
        ends = graph.add("Unsqueeze", ends, graph.integers(1, 3))
        return str(graph.add("Less", graph.constant(np.arange(self.total).reshape(-1, 1), np.int64), ends))

    def result(self, queries: str, keys: str, values: str) -> str:
        """Add nodes that compute the attention of queries to the keys and values of all steps; return its name."""
        node, graph, groups = self.node, self.graph, self.heads // self.groups
        scale = node.attribute("scale", 0.0) or float(np.float32(1) / np.sqrt(np.float32(self.size)))
        # The heads of a group are rows of one product with the group's keys.
        rows = graph.integers(0, self.groups, groups * self.steps, self.size)
        products = graph.add(
            "MatMul", graph.add("Reshape", queries, rows), graph.add("Transpose", keys, perm=(0, 1, 3, 2))
        )
        shape = graph.integers(0, self.heads, self.steps, self.total)
        scores = graph.add("Reshape", graph.add("Mul", products, graph.constant(scale)), shape)
        cap = node.attribute("softcap", 0.0)
        if cap > 0:
            bound = graph.constant(cap)
            scores = graph.add("Mul", graph.add("Tanh", graph.add("Div", scores, bound)), bound)
        if node.has(10):
            scores = graph.add("Add", scores, self._summand())
        scores = graph.add("Where", self._visible(), scores, graph.constant(-np.inf))
        weights = self._weights(scores)
        weights = graph.add("Reshape", weights, graph.integers(0, self.groups, groups * self.steps, self.total))
        heads = graph.add(
            "Reshape", graph.add("MatMul", weights, values), graph.integers(0, self.heads, self.steps, -1)
        )
        return str(graph.add("Reshape", graph.add("Transpose", heads, perm=(0, 2, 1, 3)), graph.integers(0, 0, -1)))

    def _summand(self) -> str:
        """Return the name of the tensor that is added to the scores, after padding it with 0 to the number of keys."""
        shape = self._sizes(10, 4)
        if shape[2] != self.steps or shape[3] > self.total:
            self.node.fail(
                f"the attention_bias must have the shape [batch, heads, {self.steps}, {self.total}], got {list(shape)}"
            )
        name = self.node.op.inputs[10]
        if shape[3] == self.total:
            return name
        return str(self.graph.add("Pad", name, self.graph.integers(*(0,) * 7, self.total - shape[3])))

    def _visible(self) -> str:
        """Add nodes that compute which keys a query reads, as bools [batch, 1, query, key]; return the name."""
        node, graph = self.node, self.graph
        window, is_causal = node.attribute("local_window_size", -1), node.attribute("causal", 1)
        if window < -1 or not window or window >= 2**31:
            node.fail(f"local_window_size must be -1 or from 1 to 2^31 - 1, got {window}")
        keys = graph.constant(np.arange(self.total), np.int64)
        begins = graph.add("Unsqueeze", self.begins, graph.integers(1, 3))
        if not is_causal:
            if window >= 0:
                node.fail("local_window_size must be -1 if the attention is not causal")
            lengths = graph.add("Reshape", graph.add("Cast", node.input(5), to=7), graph.integers(self.batch, 1, 1, 1))
            return str(
                graph.add("LessOrEqual", keys, graph.add("Expand", lengths, graph.integers(1, 1, self.steps, 1)))
            )
        own = graph.add("Add", begins, graph.constant(np.arange(self.steps).reshape(-1, 1), np.int64))
        visible = graph.add("LessOrEqual", keys, own)
        if window < 0:
            return str(visible)
        first = graph.add("Sub", own, graph.integers(window))
        return str(graph.add("And", visible, graph.add("Less", first, keys)))

    def _weights(self, scores: str) -> str:
        """Add nodes that compute the softmax of the scores, and return the name of the result.

        With head sinks or a smooth softmax, the divisor has one more summand.
        """
        node, graph = self.node, self.graph
        if not node.has(11) and not node.attribute("smooth_softmax", 0):
            return str(graph.add("Softmax", scores, axis=-1))
        sinks = graph.constant(np.zeros((1, self.heads, 1, 1)))
        if node.has(11):
            sinks = graph.add("Reshape", node.op.inputs[11], graph.integers(1, self.heads, 1, 1))
        sinks = graph.add("Expand", sinks, graph.integers(self.batch, 1, self.steps, 1))
        weights = graph.add("Softmax", graph.add("Concat", scores, sinks, axis=-1), axis=-1)
        return str(graph.add("Slice", weights, graph.integers(0), graph.integers(self.total), graph.integers(-1)))
