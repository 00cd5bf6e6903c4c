"""Sliding windows over images, as the options of an operator give them."""

from qrt.models.importing.windows import Pair, Window, make_window
from qrt.models.tflite.node import Node


def window_of(node: Node, kernel: tuple[int | None, ...], dilations: Pair = (1, 1)) -> Window:
    """The window of an operator whose images have a known height and width."""
    options = node.options
    strides = options["stride_h"], options["stride_w"]
    padding = padding_of(node, kernel, strides, dilations)
    return make_window(node, (node.type(0).shape or ())[1:3], kernel, strides, dilations, padding)


def padding_of(
    node: Node, kernel: tuple[int | None, ...], strides: Pair, dilations: Pair = (1, 1)
) -> tuple[Pair, Pair]:
    """(before, after) for height and width. SAME puts the odd element behind."""
    if min(*strides, *dilations) < 1:
        node.fail(f"strides {list(strides)} and dilations {list(dilations)} must be positive")
    if node.options["padding"] == "VALID":
        return ((0, 0), (0, 0))
    found = []
    for size, extent, stride, dilation in zip((node.type(0).shape or ())[1:3], kernel, strides, dilations, strict=True):
        if size is None or extent is None:
            node.refuse("SAME padding of a size that only the run knows")
        total = max((-(-size // stride) - 1) * stride + (extent - 1) * dilation + 1 - size, 0)
        found.append((total // 2, total - total // 2))
    return (found[0], found[1])
