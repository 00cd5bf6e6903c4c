"""The export of averages, sums and extreme elements along axes, and of pools."""

from collections.abc import Sequence
from typing import Any

from qrt.models.onnx.exporting.exported_value import NCHW, Order, place
from qrt.models.onnx.exporting.group import Group


class ReductionAxes:
    """The axes of a reduction, as axes of the operand's ONNX tensor, which may have them in another order.

    ``source`` is the order of the operand's tensor, and ``order`` that of the result's tensor. ``keeps`` is true if
    reduced axes remain with size 1.
    """

    def __init__(self, source: Order, axes: Sequence[int], keeps: bool) -> None:
        self.source = source
        self.axes = [place(source, axis) for axis in axes]
        self.keeps = keeps
        gone = () if keeps else axes
        self.order: Order = tuple(
            None if axis is None else axis - sum(other < axis for other in gone) for axis in source if axis not in gone
        )

    @classmethod
    def of(cls, group: Group) -> "ReductionAxes":
        """Return the axes along which a group reduces its first operand."""
        order = group.common_order()
        given = group.attributes["axes"]
        axes = range(len(order)) if given is None else [axis % len(order) for axis in given]
        return cls(order, sorted(axes), bool(group.attributes["keepdims"]))

    def node(self, group: Group, op_type: str, input_since: int) -> str:
        """Add a reduction of the first operand, and return the name of its result.

        The axes are an input from opset ``input_since`` on, and an attribute before.
        """
        x = group.real(0, self.source)
        if group.opset >= input_since:
            return group.node(op_type, x, group.integers(self.axes, "axes"), keepdims=int(self.keeps))
        return group.node(op_type, x, axes=self.axes, keepdims=int(self.keeps))


_REDUCTIONS = {"qrt.mean": ("ReduceMean", 18), "qrt.sum": ("ReduceSum", 13)}
"""Operators, and the first opset in which their axes are an input."""
_POOLS = {"qrt.avg_pool2d": "AveragePool", "qrt.max_pool2d": "MaxPool"}


def reduce(group: Group) -> None:
    """Export the operation as ReduceMean or ReduceSum."""
    reduced = ReductionAxes.of(group)
    group.set_real(reduced.node(group, *_REDUCTIONS[group.op.name]), reduced.order)


def pool(group: Group) -> None:
    """Export the operation as AveragePool or MaxPool, which exclude padding, as the operations of `qrt` do."""
    attributes = group.attributes
    (top, bottom), (left, right) = attributes["padding"]
    window: dict[str, Any] = {
        "kernel_shape": list(attributes["kernel"]),
        "strides": list(attributes["strides"]),
        "pads": [top, left, bottom, right],
    }
    if attributes.get("requant") == "integer":
        _average_storage(group, window)
        return
    group.set_real(group.node(_POOLS[group.op.name], group.real(0, NCHW), **window), NCHW)


def _average_storage(group: Group, window: dict[str, Any]) -> None:
    """Export an average pool of storage integers with halves rounded away from 0.

    QuantizeLinear would round halves to even, and averages of few elements are often halves.
    """
    raw = group.node("Cast", group.stored(0, NCHW), is_part=True, to=_FLOAT)
    mean = group.node("AveragePool", raw, **window)
    whole = group.node("Floor", group.node("Add", group.node("Abs", mean), group.floats(0.5, "half")))
    signed = group.node("Mul", group.node("Sign", mean), whole)
    if group.clamp is not None:
        signed = group.clipped_storage(signed, group.clamp)
    kind = _INTEGERS.get(group.result().data_type or "")
    if kind is None:
        group.refuse(f"averages of {group.result().type.element.shown()}")
    group.set_stored(group.node("Cast", signed, to=kind), NCHW)


_FLOAT = 1
"""ONNX's number of float32."""
_INTEGERS = {"UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5}
"""ONNX's numbers of storage types."""


_INT32 = 6
"""ONNX's number of int32."""


_ARGS = {"qrt.argmax": "ArgMax", "qrt.argmin": "ArgMin"}
_EXTREMES = {"qrt.reduce_max": "ReduceMax", "qrt.reduce_min": "ReduceMin"}


def arg(group: Group) -> None:
    """Export the operation as ArgMax or ArgMin. Of equal elements, both return the position of the first, as in qrt."""
    order = group.common_order()
    axis = group.attributes["axis"] % len(order)
    positions = group.node(_ARGS[group.op.name], group.real(0, order), axis=place(order, axis), keepdims=0)
    group.set_stored(_narrowed(group, positions), ReductionAxes(order, (axis,), keeps=False).order)


def _narrowed(group: Group, name: str, i: int = 0) -> str:
    """Cast int64 positions to the integer type of result ``i``."""
    if group.result(i).data_type == "INT64":
        return name
    return group.node("Cast", name, is_part=True, to=_INT32)


def reduce_extreme(group: Group) -> None:
    """Export the operation as ReduceMax or ReduceMin."""
    reduced = ReductionAxes.of(group)
    group.set_real(reduced.node(group, _EXTREMES[group.op.name], 18), reduced.order)


def top_k(group: Group) -> None:
    """Export the operation as TopK. Of equal elements, the one with the lower position comes first, as in qrt."""
    if group.is_real(0):
        x = group.stored(0)
    else:
        x = group.real(0)
    values, numbers = group.nodes("TopK", [x, group.integers([group.attributes["k"]], "k")], 2, axis=-1)
    group.set_real(values, i=0)
    group.set_stored(_narrowed(group, numbers, 1), i=1)
