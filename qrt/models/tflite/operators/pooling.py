"""AVERAGE_POOL_2D and MAX_POOL_2D."""

from typing import Any

from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_sums
from qrt.models.tflite.operators.window import padding_of, window_of


def pool_2d(node: Node) -> None:
    """Both keep the parameters of their input. Padding is left out of an average."""
    options = node.options
    if node.type(0).rank != 4:
        node.fail(f"the input has rank 4, not {node.type(0).rank}")
    is_average = node.op.name == "AVERAGE_POOL_2D"
    kernel = options["filter_height"], options["filter_width"]
    if min(kernel) < 1:
        node.fail(f"the window {list(kernel)} is empty")
    if node.is_float:
        (float_sums.average_pool if is_average else float_sums.max_pool)(node, window_of(node, kernel))
        return
    element = node.element(0)
    if element is not node.result_element():
        node.fail(f"the result has other parameters than the input: {node.result_element()} and {element}")
    strides = options["stride_h"], options["stride_w"]
    attributes: dict[str, Any] = {"kernel": kernel, "strides": strides, "padding": padding_of(node, kernel, strides)}
    rule = node.rule("average_pool2d" if is_average else "max_pool2d", storage=element.storage)
    if is_average:
        attributes["requant"] = rule
    made = node.emit("qrt.avg_pool2d" if is_average else "qrt.max_pool2d", [node.value(0)], attributes)
    node.set(0, node.activate(made, options["fused_activation_function"]))
