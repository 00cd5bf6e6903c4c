"""ADD, SUB and MUL of quantized tensors."""

import numpy as np

from qrt.formats.tflite.node import Node
from qrt.formats.tflite.registry import operator


@operator("ADD", "SUB")
def add(node: Node) -> None:
    """The rule depends on how far the scales of the operands are from the result's."""
    a, b, out = node.element(0), node.element(1), node.result_element()
    scale = np.float32(out.scale)
    ratios = [float(np.float32(each.scale) / scale) for each in (a, b)]
    rule = node.rule("add", storage=out.storage, ratio=min(ratios), largest_ratio=max(ratios))
    name = "qrt.add" if node.op.name == "ADD" else "qrt.sub"
    made = node.emit(name, [node.value(0), node.value(1)], {"requant": rule}, out)
    node.set(0, node.activate(made, node.options["fused_activation_function"]))


@operator("MUL")
def mul(node: Node) -> None:
    """A product of two tensors is a sum of one."""
    a, b, out = node.element(0), node.element(1), node.result_element()
    multiplier = np.float32(a.scale) * np.float32(b.scale) / np.float32(out.scale)
    rule = node.rule("mul", storage=out.storage, multiplier=float(multiplier))
    made = node.emit("qrt.mul", [node.value(0), node.value(1)], {"requant": rule}, out)
    node.set(0, node.activate(made, node.options["fused_activation_function"]))
