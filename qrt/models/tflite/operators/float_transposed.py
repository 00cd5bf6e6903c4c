"""Import of transposed convolutions on floats.

Products are added in the orders that `float_products` describes. A transposed convolution goes over the window's rows,
then its columns, then the channels. XNNPACK does not support strides larger than the window; LiteRT then uses another
kernel, whose results may differ from qrt's by 4 ULP of the greatest result.
"""

from typing import Any

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, tensor_type
from qrt.models.importing import float_products
from qrt.models.importing.float_reductions import reduced
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Sizes, Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, float_bias, require_floats, reshaped
from qrt.models.tflite.operators.transpose_conv import window_between, window_of
from qrt.types import TensorType

_WEIGHTS, _IMAGES, _BIAS = 1, 2, 3


def transpose_conv(node: Node) -> None:
    """Import TRANSPOSE_CONV: apply a transposed convolution to float32 images.

    Weights are OHWI; the bias is optional. The size of the images must be known at import.
    """
    require_floats(node, _WEIGHTS, _IMAGES, *([_BIAS] if node.has(_BIAS) else []))
    _require_filters(node, _IMAGES, _WEIGHTS)
    transposed(node, window_of(node), _IMAGES, node.value(_WEIGHTS), _BIAS, node.rule("float_products"))


_PADDINGS = {1: True, 2: False}
"""True for SAME, False for VALID padding, by the numbers of LiteRT's own enumeration."""


def transpose_conv_bias(node: Node) -> None:
    """Import Convolution2DTransposeBias: apply a transposed convolution to float32 images.

    Weights are OHWI. The weights, the bias and the size of the images must be known at import. Strides are at most the
    size of the window. Only the profile ``litert`` has the operator.
    """
    require_floats(node, 0, 1, 2)
    _require_filters(node, 0, 1)
    if node.rule("float_products") == "products_then_bias":
        node.refuse("LiteRT's reference kernels do not have the operator")
    if not (node.input(1).is_constant and node.input(2).is_constant):
        node.refuse("weights or a bias known only at run time")
    options = np.frombuffer(node.op.custom_options[:12], "<i4").tolist()
    if len(options) < 3 or options[0] not in _PADDINGS:
        node.fail(f"its custom options must begin with a padding (1 or 2) and two strides, got {options}")
    is_same, strides = _PADDINGS[options[0]], (options[2], options[1])
    images, weights, size = (declared.shape or () for declared in (node.type(0), node.type(1), node.result_type()))
    window = window_between(node, size, images, weights, strides, is_same=is_same)
    for n, kernel, result, stride in zip(images[1:3], weights[1:3], size[1:3], strides, strict=True):
        if stride > (kernel or 0):
            node.refuse("a stride larger than the window, which LiteRT does not run")
        if n != (-(-(result or 0) // stride) if is_same else ((result or 0) - (kernel or 0)) // stride + 1):
            node.fail(
                f"the declared shape of the result, {list(size)}, does not follow from images of shape "
                f"{list(images)}, the padding and the strides"
            )
    transposed(node, window, 0, node.value(1), 2, node.rule("float_products"))


def _require_filters(node: Node, i: int, w: int) -> None:
    """Raise ModelError if the weights in input ``w`` do not have the rank and channels of the images in input ``i``."""
    images, weights = node.type(i).shape or (), node.type(w).shape or ()
    if len(images) != 4 or len(weights) != 4:
        node.fail(f"the input and the weights must have rank 4, got {len(images)} and {len(weights)}")
    if weights[3] != images[3]:
        node.fail(f"the input must have as many channels as a filter, {weights[3]}, got {images[3]}")


def transposed(
    node: Node, window: dict[str, Any], i: int, w: Value, b: int, order: str, dilations: Sizes | None = None
) -> None:
    """Set the result to a transposed convolution of input ``i`` with the weights ``w``, plus input ``b``, the bias.

    The first axis of the weights is that of filters, the last that of channels. ``dilations`` has one number for each
    spatial axis; the default is 1. ``order`` is the order of additions: one of `importing.float_products`, or
    "taps_then_bias", which has three steps. First, for each element of the window, the products of all channels are
    added to a sum. Then the sums of all elements of the window are added. The bias is added last.
    """
    images, weights = node.type(i).shape or (), tensor_type(w).shape or ()
    context, rank = lowering_context(node), len(images) - 2
    kernel, ones = tuple(n or 0 for n in weights[1:-1]), (1,) * rank
    dilations = dilations or ones
    reach = [(k - 1) * dilation + 1 for k, dilation in zip(kernel, dilations, strict=True)]
    sizes = [
        (n or 0, k, stride, before, (n or 0) * stride - stride + k - before - after + beyond)
        for n, k, stride, (before, after), beyond in zip(
            images[1:-1], reach, window["strides"], window["padding"], window["output_padding"], strict=True
        )
    ]
    x = _between_zeros(node, node.value(i), sizes)
    parallel: list[Extent] = [context.extent(x, 0), *(size[4] for size in sizes), weights[0] or 0]
    taps = (*kernel, weights[-1] or 0)
    places = Window(kernel, ones, dilations, ((0, 0),) * rank, tuple(size[4] for size in sizes))

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        image, *at, o = nest.loops[: rank + 2]
        *forth, c = nest.loops[rank + 2 :]
        back = [add(multiply(place, -1), k - 1) for place, k in zip(forth, kernel, strict=True)]
        # XNNPACK goes over the window forwards, the reference kernels over the images.
        inside, tap = (back, forth) if order == "bias_then_fma" else (forth, back)
        return nest.read(x, [image, *places.index(at, inside), c]), nest.read(w, [o, *tap, c])

    bias = float_bias(node, b, weights[0] or 0)
    if order == "taps_then_bias":
        of_taps: list[Extent] = [*parallel, *kernel]
        sizes_of_taps = tuple(n if isinstance(n, int) else None for n in of_taps)
        node.graph.check_size(node.op, TensorType(sizes_of_taps, F32))
        products = float_products.total(context, of_taps, taps[-1:], operands, "products_then_bias", None)
        sums = reduced(context, products, range(rank + 2, 2 * rank + 2), "arith.addf", 0.0)
        finish(node, context, sums, bias)
        return
    first = bias if order == "bias_then_fma" else None
    sums = float_products.total(context, parallel, taps, operands, order, first)
    finish(node, context, sums, None if first is not None else bias)


def _between_zeros(node: Node, x: Value, sizes: list[tuple[int, int, int, int, int]]) -> Value:
    """Return images on which a convolution of stride 1 computes the transposed convolution.

    ``stride - 1`` zeros are inserted after each element, and the images are then padded or cropped. ``sizes`` has five
    numbers for each spatial axis: the input's size, the window's size, the stride, the number of elements to crop from
    the start, and the result's size.
    """
    batch, *_, channels = tensor_type(x).shape or ()
    if max(size[2] for size in sizes) > 1:
        x = reshaped(node, x, (batch, *(n for size in sizes for n in (size[0], 1)), channels))
        gaps = ((0, 0), *(pair for size in sizes for pair in ((0, 0), (0, size[2] - 1))), (0, 0))
        x = node.emit("qrt.pad", [x], {"padding": gaps})
        x = reshaped(node, x, (batch, *(size[0] * size[2] for size in sizes), channels))
    ends = []
    for count, kernel, stride, before, result in sizes:
        front = kernel - 1 - before
        ends.append((front, result + kernel - 1 - front - count * stride))
    x = node.emit("qrt.pad", [x], {"padding": ((0, 0), *((max(a, 0), max(b, 0)) for a, b in ends), (0, 0))})
    offsets = [0, *(max(-a, 0) for a, _ in ends), 0]
    shape = [size or 0 for size in tensor_type(x).shape or ()]
    sides = [n - max(-a, 0) - max(-b, 0) for n, (a, b) in zip(shape[1:-1], ends, strict=True)]
    cut = [shape[0], *sides, shape[-1]]
    if cut == shape:
        return x
    return node.emit("qrt.slice", [x], {"offsets": offsets, "sizes": cut, "strides": [1] * len(shape)})
