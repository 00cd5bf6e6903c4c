"""Import of pools and resizing (AVERAGE_POOL_2D, RESIZE_BILINEAR and others), and windows of image operators."""

from typing import Any

from qrt.models.importing.windows import Pair, Sizes, Window, make_window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators import float_sums
from qrt.models.tflite.operators.operands import input_shape, settle
from qrt.types import UniformType


def window_of(node: Node, kernel: tuple[int | None, ...], dilations: Pair = (1, 1)) -> Window:
    """Return the sliding window of an operator, from its options and the kernel's (height, width).

    Raise UnsupportedForm if the size of the images is known only at run time.
    """
    options = node.options
    strides = options["stride_h"], options["stride_w"]
    padding = padding_of(node, kernel, strides, dilations)
    return make_window(node, (node.type(0).shape or ())[1:3], kernel, strides, dilations, padding)


def padding_of(
    node: Node, kernel: tuple[int | None, ...], strides: Sizes, dilations: Sizes | None = None
) -> tuple[Pair, ...]:
    """Return the padding (before, after) of each spatial axis, by the operator's padding SAME or VALID.

    If SAME pads an odd number of elements, the end gets one more than the start.
    """
    dilations = dilations or (1,) * len(strides)
    if min(*strides, *dilations) < 1:
        node.fail(f"strides and dilations must be positive, got {list(strides)} and {list(dilations)}")
    if node.options["padding"] == "VALID":
        return ((0, 0),) * len(strides)
    ends = []
    sizes = (node.type(0).shape or ())[1:-1]
    for size, extent, stride, dilation in zip(sizes, kernel, strides, dilations, strict=True):
        if size is None or extent is None:
            node.refuse("SAME padding of a size known only at run time")
        total = max((-(-size // stride) - 1) * stride + (extent - 1) * dilation + 1 - size, 0)
        ends.append((total // 2, total - total // 2))
    return tuple(ends)


def pool_2d(node: Node) -> None:
    """Import AVERAGE_POOL_2D or MAX_POOL_2D: compute the average or maximum of each window.

    Images are 8-bit, int16 or float32. A quantized result must have the scale and zero point of the input. Averages
    exclude padding.
    """
    options = node.options
    if node.type(0).rank != 4:
        node.fail(f"the input must have rank 4, got {node.type(0).rank}")
    is_average = node.op.name == "AVERAGE_POOL_2D"
    kernel = options["filter_height"], options["filter_width"]
    if min(kernel) < 1:
        node.fail(f"filter_height and filter_width must be at least 1, got {kernel[0]} and {kernel[1]}")
    if node.is_float:
        (float_sums.average_pool if is_average else float_sums.max_pool)(node, window_of(node, kernel))
        return
    element = node.element(0)
    if element is not node.result_element():
        node.fail(
            f"the result must have the type, scale and zero point of the input, {element}, got {node.result_element()}"
        )
    strides = options["stride_h"], options["stride_w"]
    attributes: dict[str, Any] = {"kernel": kernel, "strides": strides, "padding": padding_of(node, kernel, strides)}
    rule = node.rule("average_pool2d" if is_average else "max_pool2d", storage=element.storage)
    if is_average:
        attributes["requant"] = rule
    pooled = node.emit("qrt.avg_pool2d" if is_average else "qrt.max_pool2d", [node.value(0)], attributes)
    node.set(0, node.activate(pooled, options["fused_activation_function"]))


def resize_bilinear(node: Node) -> None:
    """Import RESIZE_BILINEAR: resize quantized or float32 images, with align_corners, half_pixel_centers or neither.

    The new size must be known at import.
    """
    attributes, element = _attributes(node), node.type(0).element
    storage = element.storage if isinstance(element, UniformType) else str(element)
    attributes["rule"] = node.rule("resize_bilinear", storage=storage)
    settle(node, 0, node.emit("qrt.resize_bilinear", [node.value(0)], attributes))


def resize_nearest(node: Node) -> None:
    """Import RESIZE_NEAREST_NEIGHBOR: resize images, with align_corners, half_pixel_centers or neither.

    The new size must be known at import.
    """
    settle(node, 0, node.emit("qrt.resize_nearest", [node.value(0)], _attributes(node)))


def _attributes(node: Node) -> dict[str, Any]:
    size, shape = node.integers(1, "a size"), input_shape(node)
    if len(shape) != 4:
        node.fail(f"the input must have rank 4, got {len(shape)}")
    if None in shape[1:3]:
        node.refuse("an image whose size is known only at run time")
    if len(size) != 2 or min(size) < 1:
        node.fail(f"the size (input 1) must be a positive height and width, got {list(size)}")
    forms = {name: bool(node.options[name]) for name in ("align_corners", "half_pixel_centers")}
    return {"size": list(size), **forms}
