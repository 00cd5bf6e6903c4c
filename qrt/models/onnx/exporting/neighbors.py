"""Searches in a graph: the nodes between given tensors, and the quantized type that a tensor's casts give."""

import hashlib
import json
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from qrt.errors import QuantError
from qrt.models.onnx.exporting.exported_value import Order
from qrt.models.onnx.model import ModelGraph, Operator
from qrt.tensor.choose import bias_type
from qrt.types import Type, UniformType


class GraphNeighbors:
    """An index of a graph's nodes by the tensors that they write and read."""

    def __init__(self, graph: ModelGraph) -> None:
        self.graph = graph
        self.makers = {name: op for op in graph.operators for name in op.outputs if name}

    @cached_property
    def _dequantizers(self) -> dict[str, Operator]:
        readers: dict[str, Operator] = {}
        for op in self.graph.operators:
            if op.key == "DequantizeLinear":
                readers.setdefault(op.inputs[0], op)
        return readers

    def implied(self, name: str, order: Order) -> UniformType | None:
        """Return the quantized type that follows from a cast that writes or reads the tensor ``name``, or None.

        The cast is the QuantizeLinear that writes the tensor, or else the first DequantizeLinear that reads it. The
        result is None if there is no such cast, if it has a scale for each block, or if its scale or zero point is not
        constant. ``order`` is the order in which the tensor has the axes of the program's value. The axis of the
        returned type is an axis of the value.
        """
        maker = self.makers.get(name)
        op = maker if maker is not None and maker.key == "QuantizeLinear" else self._dequantizers.get(name)
        if op is None or len(op.inputs) < 3 or op.attributes.get("block_size"):
            return None
        scales, zeros = (self.graph.constants.get(constant) for constant in op.inputs[1:3])
        axis = op.attributes.get("axis", 1)
        if scales is None or zeros is None or len(scales.shape) > 1 or not isinstance(axis, int):
            return None
        if scales.shape and not (0 <= axis < len(order) and order[axis] is not None):
            return None
        along = order[axis] if scales.shape else None
        storage = zeros.dtype.replace("uint", "u").replace("int", "i")
        try:
            return UniformType(storage, "f32", scales.data.astype(np.float64).tolist(), zeros.data.tolist(), along)
        except QuantError:
            return None

    def between(self, operands: Iterable[str], results: Iterable[str]) -> list[Operator]:
        """Return the nodes that compute the tensors ``results`` from ``operands``, in the graph's order."""
        ends, nodes, pending = set(operands), dict[int, Operator](), list(results)
        while pending:
            name = pending.pop()
            maker = self.makers.get(name)
            if maker is None or name in ends or maker.index in nodes:
                continue
            nodes[maker.index] = maker
            pending.extend(read for read in maker.inputs if read)
        return [op for _, op in sorted(nodes.items())]

    def digest(self, operands: Iterable[str], results: Iterable[str]) -> str:
        """Return a hash of the nodes that compute ``results`` from ``operands``: operators, tensor names, attributes.

        The elements of constants do not change the hash.
        """
        text = [_spelled(op) for op in self.between(operands, results)]
        return hashlib.sha256(json.dumps(text, separators=(",", ":")).encode()).hexdigest()[:16]


def _spelled(op: Operator) -> list[Any]:
    """Return the content of a node for a hash: its operator, tensor names, and attributes.

    A nested graph is included with its nodes.
    """
    attributes: list[Any] = []
    for name, value in sorted(op.attributes.items()):
        if isinstance(value, ModelGraph):
            ports = [[port.name for port in side] for side in (value.inputs, value.outputs)]
            attributes.append([name, *ports, [_spelled(inner) for inner in value.operators]])
        else:
            attributes.append((name, repr(value)))
    return [op.key, op.inputs, op.outputs, attributes]


def bias_of(types: Sequence[Type]) -> UniformType | None:
    """Return the quantized type of the bias of a product, given the types of the two factors.

    Return None if a factor is not quantized, or if a type cannot have the product of the two scales as its scale.
    """
    if len(types) != 2:
        return None
    a, w = types
    if not (isinstance(a, UniformType) and isinstance(w, UniformType)):
        return None
    try:
        return bias_type(a, w)
    except QuantError:
        return None
