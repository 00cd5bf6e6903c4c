"""Import of BATCH_MATMUL and TRANSPOSE_CONV on floats.

Products are added in the orders that `float_products` describes. A transposed convolution goes over the window's rows,
then its columns, then the channels. XNNPACK does not support strides larger than the window; LiteRT then uses another
kernel, whose results may differ from qrt's by 4 ULP of the greatest result.
"""

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.models.importing import float_products
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, float_bias, require_floats, reshaped
from qrt.models.tflite.operators.float_products import weights_of
from qrt.models.tflite.operators.transpose_conv import window_of
from qrt.types import TensorType

_WEIGHTS, _IMAGES, _BIAS = 1, 2, 3


def batch_matmul(node: Node) -> None:
    """Import BATCH_MATMUL: multiply float32 matrices, whose batches broadcast, known at import or not.

    The options adj_x and adj_y transpose an operand.
    """
    require_floats(node, *(i for i in range(2) if node.input(i).quantization is None))
    shapes = [node.type(i).shape or () for i in range(2)]
    if min(map(len, shapes)) < 2:
        node.fail(f"inputs of ranks {len(shapes[0])} and {len(shapes[1])}, less than 2")
    result = node.result_type().shape or ()
    if None in (*shapes[0], *shapes[1], *result):
        node.refuse("float32 of a size known only at run time")
    x_adjoint, y_adjoint = bool(node.options["adj_x"]), bool(node.options["adj_y"])
    rows, depth = shapes[0][-2:][::-1] if x_adjoint else shapes[0][-2:]
    again, columns = shapes[1][-2:][::-1] if y_adjoint else shapes[1][-2:]
    if depth != again or len(result) < 2 or result[-2:] != (rows, columns):
        node.fail(f"inputs of shapes {list(shapes[0])} and {list(shapes[1])} do not make {list(result)}")

    values = [node.value(0), weights_of(node, len(shapes[1]) - (2 if y_adjoint else 1))]

    def read(nest: LoopNest, i: int, row: Expression, column: Expression, is_adjoint: bool) -> Value:
        first = len(result) - len(shapes[i])
        batch = [
            nest.loops[first + axis] if size == result[first + axis] else 0 for axis, size in enumerate(shapes[i][:-2])
        ]
        return nest.read(values[i], [*batch, *((column, row) if is_adjoint else (row, column))])

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        *_, row, column, k = nest.loops
        return read(nest, 0, row, k, x_adjoint), read(nest, 1, k, column, y_adjoint)

    context, order = lowering_context(node), node.rule("float_products")
    node.set(0, float_products.total(context, [n or 0 for n in result], [depth or 0], operands, order, None))


def transpose_conv(node: Node) -> None:
    """Import TRANSPOSE_CONV: apply a transposed convolution to float32 images of known size.

    Weights are OHWI; the bias is optional.
    """
    require_floats(node, _WEIGHTS, _IMAGES, *([_BIAS] if node.has(_BIAS) else []))
    images, weights = node.type(_IMAGES).shape or (), node.type(_WEIGHTS).shape or ()
    if len(images) != 4 or len(weights) != 4:
        node.fail(f"the input and the weights have rank 4, not {len(images)} and {len(weights)}")
    if weights[3] != images[3]:
        node.fail(f"{images[3]} channels are not the {weights[3]} of a filter")
    context, window = lowering_context(node), window_of(node)
    kernel = tuple(n or 0 for n in weights[1:3])
    sizes = [
        (n or 0, k, stride, before, (n or 0) * stride - stride + k - before - after + beyond)
        for n, k, stride, (before, after), beyond in zip(
            images[1:3], kernel, window["strides"], window["padding"], window["output_padding"], strict=True
        )
    ]
    x = _between_zeros(node, sizes)
    parallel = [context.extent(x, 0), *(size[4] for size in sizes), weights[0] or 0]
    taps = (*kernel, weights[3] or 0)
    places = Window(kernel, (1, 1), (1, 1), ((0, 0), (0, 0)), tuple(size[4] for size in sizes))
    order = node.rule("float_products")

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        image, i, j, o, row, column, c = nest.loops
        forth = (row, column)
        back = [add(multiply(at, -1), k - 1) for at, k in zip(forth, kernel, strict=True)]
        # XNNPACK goes over the window forwards, the reference kernels over the images.
        inside, tap = (back, forth) if order == "bias_then_fma" else (forth, back)
        return nest.read(x, [image, *places.index((i, j), inside), c]), nest.read(node.value(_WEIGHTS), [o, *tap, c])

    bias = float_bias(node, _BIAS, weights[0] or 0)
    first = bias if order == "bias_then_fma" else None
    sums = float_products.total(context, parallel, taps, operands, order, first)
    finish(node, context, sums, None if first is not None else bias)


def _between_zeros(node: Node, sizes: list[tuple[int, int, int, int, int]]) -> Value:
    """Return images on which a convolution of stride 1 computes the transposed convolution.

    ``stride - 1`` zeros follow each element, and the images are then padded or cropped. ``sizes`` has, for each spatial
    axis: the input's size, the window's size, the stride, the elements to crop from the start, and the result's size.
    """
    x = node.value(_IMAGES)
    batch, height, width, channels = node.type(_IMAGES).shape or ()
    strides = [size[2] for size in sizes]
    if max(strides) > 1:
        x = reshaped(node, x, (batch, height, 1, width, 1, channels))
        gaps = ((0, 0), (0, 0), (0, strides[0] - 1), (0, 0), (0, strides[1] - 1), (0, 0))
        x = node.emit("qrt.pad", [x], {"padding": gaps})
        x = reshaped(node, x, (batch, sizes[0][0] * strides[0], sizes[1][0] * strides[1], channels))
    ends = []
    for count, kernel, stride, before, result in sizes:
        front = kernel - 1 - before
        ends.append((front, result + kernel - 1 - front - count * stride))
    x = node.emit("qrt.pad", [x], {"padding": ((0, 0), *((max(a, 0), max(b, 0)) for a, b in ends), (0, 0))})
    type = x.type
    assert isinstance(type, TensorType)
    offsets = [0, *(max(-a, 0) for a, _ in ends), 0]
    shape = [size or 0 for size in type.shape or ()]
    cut = [shape[0], *(n - max(-a, 0) - max(-b, 0) for n, (a, b) in zip(shape[1:3], ends, strict=True)), shape[3]]
    if cut == shape:
        return x
    return node.emit("qrt.slice", [x], {"offsets": offsets, "sizes": cut, "strides": [1] * 4})
