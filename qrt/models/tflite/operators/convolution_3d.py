"""Import of CONV_3D and CONV_3D_TRANSPOSE on floats."""

from qrt.ir import Value
from qrt.models.importing import float_products
from qrt.models.importing.data_movement import Shape
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Sizes, make_window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, float_bias, require_floats
from qrt.models.tflite.operators.float_transposed import transposed
from qrt.models.tflite.operators.images import padding_of
from qrt.models.tflite.operators.operands import input_shape
from qrt.models.tflite.operators.transpose_conv import window_between


def conv_3d(node: Node) -> None:
    """Import CONV_3D: convolve float32 volumes with weights [depth, height, width, inputs, outputs].

    The bias is optional.
    """
    weights = _weights(node, 0, channels=3)
    *kernel, depth, filters = weights
    strides, dilations = _steps(node)
    padding = padding_of(node, tuple(kernel), strides, dilations)
    window = make_window(node, input_shape(node)[1:4], kernel, strides, dilations, padding)
    context, x = lowering_context(node), window.padded(node, node.value(0))
    order, bias = node.rule("float_products"), float_bias(node, 2, filters or 0)
    start, rest = (bias, None) if order == "bias_then_fma" else (None, bias)
    w = _first(node, 4)
    sums = float_products.convolution(context, x, w, window, filters or 0, depth or 0, 1, order, start)
    finish(node, context, sums, rest)


def conv_3d_transpose(node: Node) -> None:
    """Import CONV_3D_TRANSPOSE: apply a transposed convolution to float32 volumes.

    Weights are [depth, height, width, outputs, inputs]; the bias is optional. The shapes of the input and the result
    must be known at import.
    """
    *kernel, filters, channels = _weights(node, 2, channels=4)
    strides, dilations = _steps(node)
    reach = [((k or 0) - 1) * dilation + 1 for k, dilation in zip(kernel, dilations, strict=True)]
    size, images = node.integers(0, "a shape"), input_shape(node, 2)
    is_same = node.options["padding"] == "SAME"
    window = window_between(node, size, images, (filters, *reach, channels), strides, is_same=is_same)
    for n, k, result, stride in zip(images[1:4], reach, size[1:4], strides, strict=True):
        if n != (-(-result // stride) if is_same else (result - k) // stride + 1):
            node.fail(
                f"the shape of the result, {list(size)}, does not follow from volumes of shape {list(images)}, the "
                "padding and the strides"
            )
    if size[0] != images[0] or size[4] != filters:
        node.fail(f"the shape of the result must have batch {images[0]} and {filters} channels, got {list(size)}")
    order = node.rule("float_transposed_volumes", is_dilated=max(dilations) > 1)
    if order == "products_then_bias" and node.has(3) and filters != channels:
        node.refuse("a bias for another number of channels than the input's, which LiteRT adds at wrong places")
    transposed(node, window, 2, _first(node, 3), 3, order, dilations)


def _weights(node: Node, i: int, channels: int) -> Shape:
    """Return the shape of input 1, the weights, whose axis ``channels`` has the channels of input ``i``."""
    require_floats(node, i, 1)
    images, weights = input_shape(node, i), input_shape(node, 1)
    if len(images) != 5 or len(weights) != 5:
        node.fail(f"the input and the weights must have rank 5, got {len(images)} and {len(weights)}")
    if images[4] != weights[channels]:
        node.fail(f"the input must have as many channels as a filter, {weights[channels]}, got {images[4]}")
    return weights


def _steps(node: Node) -> tuple[Sizes, Sizes]:
    strides = tuple(int(node.options[f"stride_{axis}"]) for axis in "dhw")
    dilations = tuple(int(node.options[f"dilation_{axis}_factor"]) for axis in "dhw")
    if min(*strides, *dilations) < 1:
        node.fail(f"strides and dilations must be positive, got {list(strides)} and {list(dilations)}")
    return strides, dilations


def _first(node: Node, axis: int) -> Value:
    """Return the weights with an axis moved to the front."""
    order = [axis, *(other for other in range(5) if other != axis)]
    return node.emit("qrt.transpose", [node.value(1)], {"permutation": order})
