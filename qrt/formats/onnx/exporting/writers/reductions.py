"""Averages, sums, and pools of windows."""

from typing import Any

from qrt.formats.onnx.exporting.group import Group
from qrt.formats.onnx.exporting.held import NCHW
from qrt.formats.onnx.exporting.reduced import Reduced
from qrt.formats.onnx.exporting.registry import writer


@writer("qrt.mean", "qrt.sum")
def reduce(group: Group) -> None:
    """ReduceMean and ReduceSum, whose axes are an input since opset 18 and 13."""
    found = Reduced.of(group)
    made = found.node(group, "ReduceMean", 18) if group.op.name == "qrt.mean" else found.node(group, "ReduceSum", 13)
    group.set_real(made, found.order)


@writer("qrt.avg_pool2d", "qrt.max_pool2d")
def pool(group: Group) -> None:
    """AveragePool and MaxPool leave padding out, as the ops do."""
    said = group.attributes
    (top, bottom), (left, right) = said["padding"]
    window: dict[str, Any] = {
        "kernel_shape": list(said["kernel"]),
        "strides": list(said["strides"]),
        "pads": [top, left, bottom, right],
    }
    op_type = "AveragePool" if group.op.name == "qrt.avg_pool2d" else "MaxPool"
    group.set_real(group.node(op_type, group.real(0, NCHW), **window), NCHW)
