"""Averages, sums, and pools of windows."""

from typing import Any

from qrt.models.onnx.exporting.exported_value import NCHW
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.reduction_axes import ReductionAxes

_REDUCTIONS = {"qrt.mean": ("ReduceMean", 18), "qrt.sum": ("ReduceSum", 13)}
"""Operators, and the first opset in which their axes are an input."""
_POOLS = {"qrt.avg_pool2d": "AveragePool", "qrt.max_pool2d": "MaxPool"}


def reduce(group: Group) -> None:
    """ReduceMean and ReduceSum."""
    reduced = ReductionAxes.of(group)
    group.set_real(reduced.node(group, *_REDUCTIONS[group.op.name]), reduced.order)


def pool(group: Group) -> None:
    """AveragePool and MaxPool leave padding out, as the ops do."""
    said = group.attributes
    (top, bottom), (left, right) = said["padding"]
    window: dict[str, Any] = {
        "kernel_shape": list(said["kernel"]),
        "strides": list(said["strides"]),
        "pads": [top, left, bottom, right],
    }
    if said.get("requant") == "integer":
        _of_storage(group, window)
        return
    group.set_real(group.node(_POOLS[group.op.name], group.real(0, NCHW), **window), NCHW)


def _of_storage(group: Group, window: dict[str, Any]) -> None:
    """An average of storage, whose halves go away from 0: QuantizeLinear would take each second one to the other side,
    and averages of few elements are often halves.
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
"""The number of float32 in ONNX's list of types."""
_INTEGERS = {"UINT8": 2, "INT8": 3, "UINT16": 4, "INT16": 5}
"""The numbers of storage types."""
