"""The nodes of a model around its tensors: which lie between others, and what type a tensor has by its neighbours."""

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
    """The nodes of a graph by the tensors that they make and read."""

    def __init__(self, graph: ModelGraph) -> None:
        self.graph = graph
        self.makers = {name: op for op in graph.operators for name in op.outputs if name}

    @cached_property
    def _dequantizers(self) -> dict[str, Operator]:
        found: dict[str, Operator] = {}
        for op in self.graph.operators:
            if op.key == "DequantizeLinear":
                found.setdefault(op.inputs[0], op)
        return found

    def implied(self, name: str, order: Order) -> UniformType | None:
        """The quantized type of a tensor by the QuantizeLinear that makes it, or the first DequantizeLinear that reads
        it: its scales are float32. None where these say none, or have blocks.
        """
        made = self.makers.get(name)
        op = made if made is not None and made.key == "QuantizeLinear" else self._dequantizers.get(name)
        if op is None or len(op.inputs) < 3 or op.attributes.get("block_size"):
            return None
        scales, zeros = (self.graph.constants.get(each) for each in op.inputs[1:3])
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
        """The nodes from operands to results, in the graph's order."""
        ends, found, pending = set(operands), dict[int, Operator](), list(results)
        while pending:
            name = pending.pop()
            made = self.makers.get(name)
            if made is None or name in ends or made.index in found:
                continue
            found[made.index] = made
            pending.extend(each for each in made.inputs if each)
        return [op for _, op in sorted(found.items())]

    def digest(self, operands: Iterable[str], results: Iterable[str]) -> str:
        """The hash of the nodes between tensors: operators, names of tensors, and attributes. It does not change with
        the elements of constants."""
        text = [_spelled(op) for op in self.between(operands, results)]
        return hashlib.sha256(json.dumps(text, separators=(",", ":")).encode()).hexdigest()[:16]


def _spelled(op: Operator) -> list[Any]:
    """What a hash has of a node, and of the nodes of its graphs."""
    attributes: list[Any] = []
    for name, value in sorted(op.attributes.items()):
        if isinstance(value, ModelGraph):
            ports = [[port.name for port in side] for side in (value.inputs, value.outputs)]
            attributes.append([name, *ports, [_spelled(each) for each in value.operators]])
        else:
            attributes.append((name, repr(value)))
    return [op.key, op.inputs, op.outputs, attributes]


def bias_of(types: Sequence[Type]) -> UniformType | None:
    """The type of a bias by the types of what is multiplied."""
    if len(types) != 2:
        return None
    a, w = types
    if not (isinstance(a, UniformType) and isinstance(w, UniformType)):
        return None
    try:
        return bias_type(a, w)
    except QuantError:
        return None
