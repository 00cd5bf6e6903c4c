"""The attribute ``auto_pad`` for images whose size is known only at run time. The program computes the padding."""

from collections.abc import Sequence

import numpy as np

from qrt.models.onnx.composed import composed
from qrt.models.onnx.node import Node
from qrt.models.onnx.operators.windows import checked_window


def pads_at_run(node: Node, kernel: Sequence[int | None] | None, value: float) -> bool:
    """Import a node with ``auto_pad`` as a Pad, which pads with ``value``, followed by the node without ``auto_pad``.

    This is done only if the padding depends on sizes that are known only at run time. Otherwise the function returns
    False and changes nothing. ``kernel`` has the kernel sizes of the weights, or is None if the attribute
    ``kernel_shape`` gives them.
    """
    mode, sizes = node.attribute("auto_pad", "NOTSET"), node.shape()[2:]
    if not mode.startswith("SAME") or None not in sizes:
        return False
    kernel_sizes, strides, dilations = checked_window(node, node.shape(), kernel)
    extents = [(size - 1) * dilation + 1 for size, dilation in zip(kernel_sizes, dilations, strict=True)]
    columns = list(zip(sizes, extents, strides, strict=True))
    is_open = any(size is None and stride > 1 for size, _, stride in columns)
    if not is_open or any(extent < stride - 1 for _, extent, stride in columns):
        return False
    graph = composed(node)
    spatial = graph.add("Shape", node.input(0), start=2)
    ones, steps = graph.integers(*(1 for _ in columns)), graph.integers(*strides)
    steps_before = graph.add("Div", graph.add("Sub", spatial, ones), steps)  # one less than the number of windows
    covered = graph.add("Add", graph.add("Mul", steps_before, steps), graph.integers(*extents))
    total = graph.add("Max", graph.add("Sub", covered, spatial), graph.integers(*(0 for _ in columns)))
    less = graph.add("Div", total, graph.integers(2))
    ends = [less, graph.add("Sub", total, less)]
    none = graph.integers(0, 0)
    before, after = ends if mode == "SAME_UPPER" else reversed(ends)
    widths = graph.add("Concat", none, before, none, after, axis=0)
    padded = graph.add("Pad", node.input(0), widths, graph.constant(value, np.float32))
    attributes = {name: given for name, given in node.op.attributes.items() if name not in ("auto_pad", "pads")}
    rest = node.op.inputs[1:]
    graph.replace(node, graph.add(node.op.type, padded, *rest, opset=node.opset, **attributes))
    return True
