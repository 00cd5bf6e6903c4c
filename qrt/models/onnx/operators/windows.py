"""Sliding windows that a node's attributes describe, and transposes of images to and from channels last.

ONNX has the channels of an image before its height and width; the imported operations have them last.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from qrt.errors import plural
from qrt.ir import Value
from qrt.models.importing.windows import Pair, Sizes
from qrt.models.onnx.node import Node, Shape
from qrt.types import TensorType


@dataclass(frozen=True)
class WindowShape:
    """The kernel size, stride, dilation and padding of a sliding window along each spatial axis of an image."""

    kernel: Sizes
    strides: Sizes
    dilations: Sizes
    padding: tuple[Pair, ...]

    def of_images(self) -> "WindowShape":
        """Return the window for images with height and width: a window over one axis gets a height of 1."""
        if len(self.kernel) != 1:
            return self
        return WindowShape((1, *self.kernel), (1, *self.strides), (1, *self.dilations), ((0, 0), *self.padding))


def form_of(node: Node, shape: Shape, kernel: Sequence[int | None] | None) -> WindowShape:
    """Return the window that a node's attributes describe for an input of shape [N, C, ...].

    ``kernel`` has the kernel sizes of the weights, or is None if the attribute ``kernel_shape`` gives them.
    """
    sizes, strides, dilations = checked_window(node, shape, kernel)
    return WindowShape(sizes, strides, dilations, _padding(node, shape[2:], sizes, strides, dilations))


def checked_window(node: Node, shape: Shape, kernel: Sequence[int | None] | None) -> tuple[Sizes, Sizes, Sizes]:
    """Return the kernel sizes, strides and dilations of a node. Raise ModelError if one of them is wrong.

    ``kernel`` has the kernel sizes of the weights, or is None if the attribute ``kernel_shape`` gives them.
    """
    rank = len(shape) - 2
    if rank < 1:
        node.fail(f"the input must have a batch, channels and at least one more axis, got shape {list(shape)}")
    kernel_shape: tuple[int, ...] = node.ints("kernel_shape", ())
    if kernel is None:
        kernel = kernel_shape
    elif kernel_shape and tuple(kernel) != kernel_shape:
        node.fail(
            f"attribute 'kernel_shape' must be the sizes of the weights, {list(kernel)}, got {list(kernel_shape)}"
        )
    ones = (1,) * rank
    sizes = tuple(size or 0 for size in kernel)
    strides, dilations = node.ints("strides", ones), node.ints("dilations", ones)
    for name, given in (("kernel_shape", sizes), ("strides", strides), ("dilations", dilations)):
        if len(given) != rank or min(given, default=1) < 1:
            node.fail(f"attribute '{name}' must be {plural(rank, 'positive integer')}, got {list(given)}")
    return sizes, strides, dilations


def _padding(
    node: Node, shape: Sequence[int | None], kernel: Sizes, strides: Sizes, dilations: Sizes
) -> tuple[Pair, ...]:
    rank, mode = len(kernel), node.attribute("auto_pad", "NOTSET")
    if mode == "VALID":
        return ((0, 0),) * rank
    if mode == "NOTSET":
        pads = node.ints("pads", (0,) * (2 * rank))
        if len(pads) != 2 * rank or min(pads, default=0) < 0:
            node.fail(f"attribute 'pads' must be {2 * rank} non-negative integers, got {list(pads)}")
        return tuple(zip(pads[:rank], pads[rank:], strict=True))
    if mode not in ("SAME_UPPER", "SAME_LOWER"):
        node.fail(f"attribute 'auto_pad' must be NOTSET, VALID, SAME_UPPER or SAME_LOWER, got {mode!r}")
    padding = []
    for size, extent, stride, dilation in zip(shape, kernel, strides, dilations, strict=True):
        if size is None:
            if stride > 1:
                node.refuse(f"SAME padding with stride {stride} of an axis of a size known only at run time")
            size = extent  # with a stride of 1, the padding does not depend on it
        total = (-(-size // stride) - 1) * stride + (extent - 1) * dilation + 1 - size
        if total < -1 and node.op.type != "ConvTranspose":  # the runtime crops in Conv, and most pools are errors
            node.refuse(f"SAME padding of a window of {extent} with stride {stride}, which would crop the size {size}")
        total = max(total, 0)
        less = total // 2
        padding.append((less, total - less) if mode == "SAME_UPPER" else (total - less, less))
    return tuple(padding)


def channels_last(node: Node, value: Value) -> Value:
    """Transpose a tensor [N, C, ...] to have its channels last. An image of one axis gets a height of 1."""
    kind = value.type
    assert isinstance(kind, TensorType)
    shape = kind.shape or ()
    if len(shape) == 3:
        value = node.emit("qrt.reshape", [value], None, kind.with_(shape=(*shape[:2], 1, shape[2])))
        shape = (*shape[:2], 1, shape[2])
    order = [0, *range(2, len(shape)), 1]
    return node.emit("qrt.transpose", [value], {"permutation": order})


def channels_first(node: Node, value: Value, rank: int) -> Value:
    """Move the channels from the last axis to axis 1: [N, H, W, C] to [N, C, H, W].

    If ``rank`` is 3, the height of 1 is dropped: [N, 1, W, C] becomes [N, C, W].
    """
    kind = value.type
    assert isinstance(kind, TensorType)
    order = [0, (kind.rank or 0) - 1, *range(1, (kind.rank or 0) - 1)]
    value = node.emit("qrt.transpose", [value], {"permutation": order})
    if rank == 3:
        kind = value.type
        assert isinstance(kind, TensorType)
        shape = kind.shape or ()
        value = node.emit("qrt.reshape", [value], None, kind.with_(shape=(shape[0], shape[1], shape[3])))
    return value
