"""ARG_MAX, ARG_MIN, REDUCE_MAX, REDUCE_MIN, REDUCE_ANY, REDUCE_ALL and TOPK_V2."""

from qrt.models.importing.data_movement import axes_of, axis_of
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.data_movement import one_integer, settle, shape_of

_REDUCED = {"REDUCE_MAX": "max", "REDUCE_MIN": "min", "REDUCE_ANY": "max", "REDUCE_ALL": "min"}


def arg(node: Node) -> None:
    """The number of the first extreme element along a known axis, int32 or int64."""
    axis = axis_of(node, one_integer(node, 1, "an axis"), len(shape_of(node)))
    name = "qrt.argmax" if node.op.name == "ARG_MAX" else "qrt.argmin"
    settle(node, 0, node.emit(name, [node.value(0)], {"axis": axis}, node.result_type().element))


def reduce(node: Node) -> None:
    """The extreme element over known axes; any and all of truth values are their greatest and least."""
    axes = axes_of(node, node.integers(1, "axes"), len(shape_of(node)))
    attributes = {"axes": list(axes), "keepdims": bool(node.options["keep_dims"])}
    settle(node, 0, node.emit(f"qrt.reduce_{_REDUCED[node.op.name]}", [node.value(0)], attributes))


def top_k(node: Node) -> None:
    """A known number of largest elements along the last axis, and their numbers of int32."""
    k = one_integer(node, 1, "a number of elements")
    values, indices = node.emit_all("qrt.top_k", [node.value(0)], {"k": k}, None)
    settle(node, 0, values)
    settle(node, 1, indices)
