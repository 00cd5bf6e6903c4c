"""Older forms of operators that ONNX defines by simpler operators since a later opset: imported as the newer form."""

from qrt.errors import shown
from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node

DEFINED_SINCE = {
    "LogSoftmax": 13,
    **dict.fromkeys(("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceSumSquare"), 18),
}
"""The first opset in which ONNX defines an operator."""


def newer_form(node: Node) -> None:
    """Import an operator of an opset before its definition as an operator of that opset."""
    op = node.op
    if len(op.inputs) != 1 or not op.inputs[0]:
        node.fail(f"its inputs are {shown(list(op.inputs))}, expected 1")
    graph = composed(node)
    opset = DEFINED_SINCE[op.type]
    if op.type == "LogSoftmax":  # over all axes from ``axis`` on
        flat = graph.add("Flatten", op.inputs[0], axis=node.axis(node.attribute("axis", 1), len(node.shape())))
        result = graph.add("LogSoftmax", flat, axis=1, opset=opset)
        graph.replace(node, graph.add("Reshape", result, graph.add("Shape", op.inputs[0])))
        return
    axes = (graph.integers(*node.ints("axes")),) if node.ints("axes") else ()
    keepdims = node.attribute("keepdims", 1)
    graph.replace(node, graph.add(op.type, op.inputs[0], *axes, keepdims=keepdims, opset=opset))
