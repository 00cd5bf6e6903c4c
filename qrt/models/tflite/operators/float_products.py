"""Import of CONV_2D, DEPTHWISE_CONV_2D, FULLY_CONNECTED and BATCH_MATMUL on floats.

The loop nests add the products in the same order as the runtime's kernels:

- XNNPACK starts with the bias and adds each product with a fused multiply-add. It goes over the rows of a window, then
  its columns, then the channels. In a depthwise convolution with one filter per channel it goes over columns first.
- The reference kernels start with 0, round each product, go over the rows first, and add the bias at the end.
- Kernels for sparse weights add in the same order as the reference kernels. If the weights are stored in blocks of 4,
  there is one sum for each of the 4 positions in a block, and these sums are added at the end.
"""

import numpy as np

from qrt.ir import Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.dialects.linalg.loop_nest import LoopNest
from qrt.ir.dialects.linalg.lowering import F32, Extent, LoweringContext
from qrt.models.importing import float_products
from qrt.models.importing.node import lowering_context
from qrt.models.importing.windows import Window
from qrt.models.tflite.node import Node
from qrt.models.tflite.operators.float_nests import finish, float_bias, require_floats
from qrt.models.tflite.operators.products import sparse_block
from qrt.types import UniformType


def convolution(node: Node, window: Window, channels: int, depth: int) -> None:
    """Import a float convolution with OHWI weights.

    ``channels`` is the number of output channels, and ``depth`` the number of channels of a filter. If the input has n
    times as many channels as a filter, the convolution has n groups.
    """
    width = (node.type(0).shape or ())[3] or depth
    groups = max(width // depth, 1) if depth else 1
    context, x = lowering_context(node), window.padded(node, node.value(0))
    order, start, rest = _order(node, channels)
    w = weights_of(node, 0)
    if order == "bias_then_fma" and depth == 1 and channels == groups:  # XNNPACK runs it as a depthwise convolution
        w = node.emit("qrt.transpose", [w], {"permutation": [3, 1, 2, 0]})
        sums = float_products.depthwise(context, x, w, window, channels, 1, order, start, columns_first=True)
    else:
        sums = float_products.convolution(context, x, w, window, channels, depth, groups, order, start)
    finish(node, context, sums, rest)


def depthwise(node: Node, window: Window, channels: int, multiplier: int) -> None:
    """Import a float depthwise convolution with 1HWO weights.

    ``channels`` is the number of output channels; output channel ``o`` reads the input channel ``o // multiplier``.
    """
    context, x = lowering_context(node), window.padded(node, node.value(0))
    order, start, rest = _order(node, channels)
    columns_first = (
        order == "bias_then_fma" and multiplier == 1
    )  # XNNPACK runs several filters per channel as a grouped convolution
    sums = float_products.depthwise(
        context, x, weights_of(node, 3), window, channels, multiplier, order, start, columns_first=columns_first
    )
    finish(node, context, sums, rest)


def matrix_product(node: Node, rows: Value, units: int, depth: int) -> None:
    """Import the float product of ``rows`` [..., depth] and the operator's weights [units, depth]."""
    context, weights = lowering_context(node), weights_of(node, 0)
    *outer, _ = context.extents(rows)
    order, start, rest = _order(node, units)
    if order == "fours_then_bias":
        finish(node, context, _in_fours(context, rows, weights, [*outer, units], depth // 4), rest)
        return

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        *row, o, k = nest.loops
        return nest.read(rows, [*row, k]), nest.read(weights, [o, k])

    finish(node, context, float_products.total(context, [*outer, units], [depth], operands, order, start), rest)


def _in_fours(context: LoweringContext, rows: Value, weights: Value, parallel: list[Extent], blocks: int) -> Value:
    """Return the product of ``rows`` and weights, where each sum of products is computed in four parts.

    Part p adds the products at the depths p, p + 4, p + 8, ... in order. Then the four parts are added in order.
    """

    def operands(nest: LoopNest) -> tuple[Value, Value]:
        *row, o, place, block = nest.loops
        k = add(multiply(block, 4), place)
        return nest.read(rows, [*row, k]), nest.read(weights, [o, k])

    sums = float_products.total(context, [*parallel, 4], [blocks], operands, "products_then_bias", None)
    nest = LoopNest(context, "fours", parallel, [4])
    return nest.finish(nest.value("arith.addf", (nest.running(F32, 0.0), nest.read(sums, nest.loops)), F32))[0]


def weights_of(node: Node, axis: int) -> Value:
    """Return input 1, the weights, as float32. Weights that are quantized per tensor or on ``axis`` are dequantized."""
    element, array = node.type(1).element, node.constant(1)
    if not isinstance(element, UniformType):
        return node.value(1)
    if array is None:
        return node.emit("quant.dcast", [node.value(1)])
    if element.block_sizes is not None:
        steps = element.scale_array.astype(np.float32).repeat(dict(element.block_sizes)[1], axis=1)
        return node.dense(array.astype(np.float32) * steps, F32)
    shape = [-1 if d == axis and element.is_per_axis else 1 for d in range(array.ndim)]
    scales, zeros = (parameters.reshape(shape) for parameters in (element.scale_array, element.zero_point_array))
    centred = array.astype(np.float32) - zeros.astype(np.float32)
    return node.dense(centred * scales.astype(np.float32), F32)


def _order(node: Node, channels: int) -> tuple[str, Value | None, Value | None]:
    """Return the profile's order of additions, the bias with which sums start, and the bias added at the end.

    One of the two biases is None, or both if the operator has no bias.
    """
    order = node.rule("float_products", sparse_block=sparse_block(node))
    bias = float_bias(node, 2, channels)
    return (order, bias, None) if order == "bias_then_fma" else (order, None, bias)


def batch_matmul(node: Node) -> None:
    """Import BATCH_MATMUL: multiply float32 matrices, whose batches broadcast.

    Both operands may be constant or computed. The options adj_x and adj_y transpose an operand.
    """
    require_floats(node, *(i for i in range(2) if node.input(i).quantization is None))
    shapes = [node.type(i).shape or () for i in range(2)]
    if min(map(len, shapes)) < 2:
        node.fail(f"its inputs must have at least 2 axes, got ranks {len(shapes[0])} and {len(shapes[1])}")
    result = node.result_type().shape or ()
    if None in (*shapes[0], *shapes[1], *result):
        node.refuse("float32 of a size known only at run time")
    x_adjoint, y_adjoint = bool(node.options["adj_x"]), bool(node.options["adj_y"])
    rows, depth = shapes[0][-2:][::-1] if x_adjoint else shapes[0][-2:]
    again, columns = shapes[1][-2:][::-1] if y_adjoint else shapes[1][-2:]
    if depth != again or len(result) < 2 or result[-2:] != (rows, columns):
        node.fail(
            f"the product of inputs of shapes {list(shapes[0])} and {list(shapes[1])} cannot have the declared "
            f"shape {list(result)}"
        )

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
