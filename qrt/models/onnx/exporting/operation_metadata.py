"""What a model says of the ops that its nodes stand for: an entry of ``metadata_props`` for each.

The key is ``qrt.op.`` and the name of the node. The value is JSON:

    op          the op of the program, as ``qrt.conv2d``; "" where the nodes only put axes in another order
    program     in place of ``op``, for operators on floats: the text of a function that computes the results
    attributes  those of the op that are not the defaults of its family; ``requant`` says the rule
    then        the attributes of a ``qrt.clamp`` of the result, where one follows within the nodes
    operands    for each operand its tensor, or the elements of one that the graph does not hold
    results     for each result its tensor
    nodes       a hash of the nodes from operands to results: an entry counts only while they are as they were written

A tensor is ``{"name": ..., "order": ..., "type": ...}``. Axis ``i`` of the tensor is axis ``order[i]`` of the value,
and null an axis of size 1 that the value lacks; without ``order`` both have the same axes. ``type`` is the type of the
elements as MLIR says it, where scales in float32 of the neighbouring QuantizeLinear or DequantizeLinear do not say it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from qrt.models.onnx.exporting.exported_value import Order
from qrt.ops import family_named
from qrt.types import TensorType, Type

OP = "qrt.op."
"""The beginning of the keys of entries."""
PORT = "qrt.port."
"""The beginning of the keys of ports that have a quantized type, which is the value."""
STATE = "qrt.state."
"""The beginning of the keys of inputs that are variables of the program."""
VERSION = "qrt.version"
"""The key of the number that says how entries are written."""


@dataclass
class Entry:
    """An op and the tensors around its nodes. ``inline`` has operands by number that are no tensors of the graph."""

    node: str
    op: str
    attributes: Mapping[str, Any]
    operands: Sequence[tuple[str, Order, Type] | None]
    results: Sequence[tuple[str, Order, TensorType]]
    inline: Mapping[int, tuple[list[int], Type]] = field(default_factory=dict)
    then: Mapping[str, Any] | None = None
    program: str | None = None


def is_bias(op: str, operand: int) -> bool:
    """Return True for an operand that is a bias of i32, whose scales follow from those of the other two."""
    family = family_named(op)
    return operand == 2 and family is not None and family.traits.weights is not None
