"""Sliding windows over images, as the options of an operator give them."""

from qrt.formats.tflite.node import Node
from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.records import record

Pair = tuple[int, int]


@record(frozen=True)
class Window:
    """Height and width of the kernel, strides and dilations, (before, after) of the padding, and how many windows there
    are."""

    kernel: Pair
    strides: Pair
    dilations: Pair
    padding: tuple[Pair, Pair]
    outputs: Pair

    def padded(self, node: Node, value: float | None = None) -> Value:
        """The input with its padding: zeros, or another value."""
        if not any(map(any, self.padding)):
            return node.value(0)
        attributes: dict[str, object] = {"padding": ((0, 0), *self.padding, (0, 0))}
        if value is not None:
            attributes["value"] = value
        return node.emit("qrt.pad", [node.value(0)], attributes)

    def index(self, window: tuple[Expression, Expression], inside: tuple[Expression, Expression]) -> list[Expression]:
        """Where an element of a window stands in the padded input."""
        return [
            add(multiply(at, stride), multiply(element, dilation))
            for at, element, stride, dilation in zip(window, inside, self.strides, self.dilations, strict=True)
        ]


def window_of(node: Node, kernel: tuple[int | None, ...], dilations: Pair = (1, 1)) -> Window:
    """The window of an operator whose images have a known height and width."""
    options = node.options
    strides = options["stride_h"], options["stride_w"]
    padding = padding_of(node, kernel, strides, dilations)
    outputs, sizes = [], (node.type(0).shape or ())[1:3]
    for size, extent, stride, dilation, ends in zip(sizes, kernel, strides, dilations, padding, strict=True):
        if size is None or extent is None:
            node.refuse("images whose size only the run knows")
        room = size + sum(ends) - (extent - 1) * dilation - 1
        if room < 0 or extent < 1:
            node.fail(f"a window of {extent} elements, dilation {dilation}, does not fit {size}")
        outputs.append(room // stride + 1)
    return Window(_pair(kernel), strides, dilations, padding, _pair(outputs))


def _pair(values: "list[int] | tuple[int | None, ...]") -> Pair:
    first, second = values
    assert first is not None
    assert second is not None
    return first, second


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
