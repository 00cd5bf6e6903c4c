"""SOFTMAX."""

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator


@operator("SOFTMAX")
def softmax(node: Node) -> None:
    """Along the last axis."""
    x, out = node.element(0), node.result_element()
    rule = node.rule("softmax", storage=x.storage, result=out.storage)
    attributes = {"axis": -1, "beta": float(node.options["beta"]), "requant": rule}
    node.set(0, node.emit("qrt.softmax", [node.value(0)], attributes, out))
