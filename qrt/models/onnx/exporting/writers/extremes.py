"""The greatest and the least elements along axes, and where they stand."""

from qrt.models.onnx.exporting.exported_value import place
from qrt.models.onnx.exporting.group import Group
from qrt.models.onnx.exporting.reduction_axes import ReductionAxes

_INT32 = 6
"""The number of int32 in ONNX's list of types."""


_ARGS = {"qrt.argmax": "ArgMax", "qrt.argmin": "ArgMin"}
_EXTREMES = {"qrt.reduce_max": "ReduceMax", "qrt.reduce_min": "ReduceMin"}


def arg(group: Group) -> None:
    """ArgMax and ArgMin take the first of equal elements, as the op does."""
    order = group.common_order()
    axis = group.attributes["axis"] % len(order)
    found = group.node(_ARGS[group.op.name], group.real(0, order), axis=place(order, axis), keepdims=0)
    group.set_stored(_narrowed(group, found), ReductionAxes(order, (axis,), keeps=False).order)


def _narrowed(group: Group, name: str, i: int = 0) -> str:
    """Numbers of elements, of int64, as the result has them."""
    if group.result(i).data_type == "INT64":
        return name
    return group.node("Cast", name, is_part=True, to=_INT32)


def reduce_extreme(group: Group) -> None:
    """ReduceMax and ReduceMin, whose axes are an input since opset 18."""
    reduced = ReductionAxes.of(group)
    group.set_real(reduced.node(group, _EXTREMES[group.op.name], 18), reduced.order)


def top_k(group: Group) -> None:
    """TopK has the first of equal elements first, as the op does."""
    if group.is_real(0):
        x = group.stored(0)
    else:
        x = group.real(0)
    values, numbers = group.nodes("TopK", [x, group.integers([group.attributes["k"]], "k")], 2, axis=-1)
    group.set_real(values, i=0)
    group.set_stored(_narrowed(group, numbers, 1), i=1)
