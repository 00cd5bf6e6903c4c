"""Sliding windows over images of any number of dimensions, NHWC: the batch is the first axis, channels are the last."""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.models.importing.node import Node

Pair = tuple[int, int]
Sizes = tuple[int, ...]


@dataclass(frozen=True)
class Window:
    """The sizes of the kernel, strides and dilations, (before, after) of the padding, and how many windows there are,
    along each axis of an image."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    padding: tuple[Pair, ...]
    outputs: Sizes

    def padded(self, node: Node, x: Value, value: float | None = None) -> Value:
        """The input with its padding: zeros, or another value."""
        if not any(map(any, self.padding)):
            return x
        attributes: dict[str, object] = {"padding": ((0, 0), *self.padding, (0, 0))}
        if value is not None:
            attributes["value"] = value
        return node.emit("qrt.pad", [x], attributes)

    def index(self, window: Sequence[Expression], inside: Sequence[Expression]) -> list[Expression]:
        """Where an element of a window stands in the padded input."""
        return [
            add(multiply(at, stride), multiply(element, dilation))
            for at, element, stride, dilation in zip(window, inside, self.strides, self.dilations, strict=True)
        ]


def make_window(
    node: Node,
    sizes: Sequence[int | None],
    kernel: Sequence[int | None],
    strides: Sizes,
    dilations: Sizes,
    padding: tuple[Pair, ...],
) -> Window:
    """The window over images whose sizes are known."""
    outputs: list[int] = []
    extents: list[int] = []
    for size, extent, stride, dilation, ends in zip(sizes, kernel, strides, dilations, padding, strict=True):
        if size is None or extent is None:
            node.refuse("images whose size only the run knows")
        room = size + sum(ends) - (extent - 1) * dilation - 1
        if room < 0 or extent < 1:
            node.fail(f"a window of {extent} elements, dilation {dilation}, does not fit {size}")
        outputs.append(room // stride + 1)
        extents.append(extent)
    return Window(tuple(extents), strides, dilations, padding, tuple(outputs))
