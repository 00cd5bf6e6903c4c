"""The export of functions of one variable, and of softmax."""

from collections.abc import Callable, Mapping

import numpy as np

from qrt.models.onnx.exporting.exported_value import Order, place
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.parameters import OPSETS
from qrt.models.onnx.exporting.writers.elementwise import OPERATORS, operator
from qrt.ops.core import Array, element_dtype
from qrt.ops.traits import values_of_storage
from qrt.types import TensorType, UniformType

_INT32 = 6
"""ONNX's number of int32."""
_WHOLE = (8, 16, 32)
"""The widths of storage that fill whole array elements."""
_ONE_AXIS = 13
"""The first opset whose softmax is along one axis. Before it, the softmax is along all axes from ``axis`` on."""


def _logistic(x: Array) -> Array:
    y: Array = 1 / (1 + np.exp(-x))
    return y


KNOWN: Mapping[str, Callable[[Array], Array]] = {
    "Sigmoid": _logistic,
    "Tanh": np.tanh,
    "Exp": np.exp,
    "Log": np.log,
    "Sqrt": np.sqrt,
    "Abs": np.abs,
    "Neg": np.negative,
    "Reciprocal": np.reciprocal,
    "Elu": lambda x: np.where(x < 0, np.expm1(x), x),
    "HardSwish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
}
"""Operators that are recognized by their tables."""


_SOFTMAXES = {"qrt.softmax": "Softmax", "qrt.log_softmax": "LogSoftmax"}


def softmax(group: Group) -> None:
    """Export the operation as Softmax or LogSoftmax along one axis."""
    order, beta = group.common_order(), group.attributes.get("beta", 1.0)
    x = group.real(0, order)
    if beta != 1:
        x = group.node("Mul", x, group.floats(beta, "beta"), is_part=True)
    axis = place(order, group.attributes["axis"] % len(order))
    if axis != len(order) - 1:
        group.graph.need(_ONE_AXIS)
    group.set_real(group.node(_SOFTMAXES[group.op.name], x, axis=axis), order)


def leaky_relu(group: Group) -> None:
    """Export the operation as LeakyRelu."""
    order = group.common_order()
    group.set_real(group.node("LeakyRelu", group.real(0, order), alpha=group.attributes["alpha"]), order)


def prelu(group: Group) -> None:
    """Export the operation as PRelu, whose slopes broadcast to the shape of the input."""
    order = group.common_order()
    if order != group.operand(0).canonical and len(order) != group.operand(0).rank:
        group.refuse("slopes with more axes than the input")
    group.set_real(group.node("PRelu", group.real(0, order), group.broadcast(1, order)), order)


def lookup(group: Group) -> None:
    """Export a table lookup as an ONNX function such as Sigmoid, or as a Gather.

    The function is used if its quantized results differ from the table's entries by at most 1.
    """
    order, table = group.common_order(), group.operand(1).array
    known = None if table is None else _known(group, table)
    if known is not None and table is not None:
        result = group.node(known, group.real(0, order))
        group.inline[1] = [int(entry) for entry in table]
        group.set_real(result, order)
        return
    _gather(group, order, group.stored(1))


def elementwise(group: Group) -> None:
    """Export an elementwise operation of `qrt` for which no other function of this module exists.

    It becomes the ONNX operator that computes the same function of floats, such as Exp, if there is one. Otherwise it
    becomes a Gather from a table, which has the operation's result for each storage value of at most 8 bits.
    """
    assert group.family is not None  # the registry lists operations of families only
    if group.family.traits.float_op in OPERATORS:
        operator(group)
        return
    x, result = group.operand(0).type.element, group.result().type.element
    if group.count > 1 or not isinstance(x, UniformType) or not isinstance(result, UniformType):
        group.refuse("a function of other operands than one quantized tensor")
    if x.storage_width > 8 or result.storage_width not in _WHOLE or not (x.is_per_layer and result.is_per_layer):
        group.refuse(f"a function from {x.shown()} to {result.shown()}")
    values = values_of_storage(x).astype(element_dtype(x))
    types = (TensorType(values.shape, x),), (TensorType(values.shape, result),)
    (table,) = group.family.compute([values], *types, group.attributes)
    _gather(group, group.common_order(), group.constant(group.clamped(table).astype(element_dtype(result)), "table"))


def _gather(group: Group, order: Order, table: str) -> None:
    """Add a Gather from a table. The positions are the operand's storage values, counted from the least."""
    element = group.operand(0).type.element
    assert isinstance(element, UniformType)  # the family has verified it
    least, _ = element.default_bounds
    group.graph.need(OPSETS[element.storage_width])
    at = group.node("Cast", group.stored(0, order), is_part=True, to=_INT32)
    if least:
        at = group.node("Add", at, group.constant(np.array(-least, np.int32), "least"), is_part=True)
    group.set_stored(group.node("Gather", table, at, axis=0), order)


def _known(group: Group, table: Array) -> str | None:
    """Return the operator of `KNOWN` whose quantized results differ from the entries of ``table`` by at most 1.

    Return None if there is no such operator.
    """
    source, target = group.operand(0).type.element, group.result().type.element
    if not (isinstance(source, UniformType) and isinstance(target, UniformType) and target.is_per_layer):
        return None
    low, high = source.default_bounds
    x = (np.arange(low, high + 1) - source.zero_point) * np.float64(np.float32(source.scale))
    for op_type, function in KNOWN.items():
        with np.errstate(all="ignore"):
            y = np.rint(function(x) / np.float64(np.float32(target.scale))) + target.zero_point
        if not np.isfinite(y).all():
            continue
        stored = np.clip(y, target.storage_min, target.storage_max)
        if np.abs(stored - table).max() <= 1 and np.unique(table).size > 1:
            return op_type
    return None
