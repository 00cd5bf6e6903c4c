"""Lowering of transpose_conv2d to a convolution with reversed filters.

Its input is the operand with zero points inserted between the pixels.
"""

from collections.abc import Sequence

from qrt.errors import QuantTypeError
from qrt.ir import Attribute, DenseArrayAttr, Operation, Value
from qrt.ir.core.affine import Expression, add, multiply
from qrt.ir.core.define import OPERAND_SEGMENTS, segments
from qrt.ir.dialects.linalg.lowering import I64, Extent, LoweringContext, static_shape, tensor_type, uniform_type
from qrt.ir.passes.lower_qrt.accumulate import contract, lower_bias
from qrt.ir.passes.lower_qrt.contraction import Contraction, ProductOperand, zero_points_of
from qrt.ir.passes.lower_qrt.parameters import Channels, requantization
from qrt.ops.core import Attributes
from qrt.ops.transpose_conv import taps_of

_IMAGE, _ROW, _COLUMN, _CHANNEL = (("d", i) for i in range(4))


def lower_transpose_conv2d(context: LoweringContext, op: Operation, attributes: Attributes) -> Value:
    """Lower a qrt.transpose_conv2d and return its result as storage integers.

    Raises QuantTypeError if the height or width of the input or of the filters is dynamic.
    """
    x_type, w_type, element = (uniform_type(v) for v in (op.operands[0], op.operands[1], op.results[0]))
    shapes = [tensor_type(v).shape or () for v in (op.operands[0], op.operands[1])]
    size, kernel = ([n for n in shape[1:3] if n is not None] for shape in shapes)
    if len(size) + len(kernel) < 4:
        raise QuantTypeError(
            "the height and width (dimensions 1 and 2) of the input and the weights must be static, got "
            f"{op.operands[0].type} and {op.operands[1].type}"
        )
    w = context.storage(op.operands[1])
    channels, depth = context.extent(w, 0), context.extent(w, 3)
    beyond = zip(size, kernel, attributes["strides"], attributes["padding"], attributes["output_padding"], strict=True)
    out = [(n - 1) * stride + k - sum(sides) + more for n, k, stride, sides, more in beyond]
    x = _spread(context, context.storage(op.operands[0]), x_type.zero_point, kernel, out, attributes)
    outer: tuple[Extent, ...] = (context.extent(x, 0), *out, channels)

    def window(own: Sequence[Expression], inner: Sequence[Expression]) -> tuple[Expression, ...]:
        image, row, column = own
        return image, add(row, inner[0]), add(column, inner[1]), inner[2]

    def filters(own: Sequence[Expression], inner: Sequence[Expression]) -> tuple[Expression, ...]:
        turned = (add(multiply(inner[d], -1), kernel[d] - 1) for d in range(2))
        return (*own, *turned, inner[2])

    a = ProductOperand(x, x_type, (_IMAGE, _ROW, _COLUMN), outer[:3], window, zero_points_of(x_type), ())
    f = ProductOperand(w, w_type, (_CHANNEL,), (channels,), filters, zero_points_of(w_type), (_CHANNEL,))
    x_scale, w_scales, scales = (Channels.along(t, _CHANNEL) for t in (x_type, w_type, element))
    r = requantization(attributes["requant"], [x_scale, w_scales], scales)
    bias = None
    if len(op.operands) > 2:
        bias = (lower_bias(context, op.operands[2], x_type, w_type, channels), (_CHANNEL,))
    taps = taps_of(kernel, attributes["strides"]) * depth if isinstance(depth, int) else None
    return contract(context, Contraction(a, f, outer, (*kernel, depth), taps), bias, r)


def _spread(
    context: LoweringContext,
    x: Value,
    zero_point: int,
    kernel: Sequence[int],
    out: Sequence[int],
    attributes: Attributes,
) -> Value:
    """Return `x` with `stride - 1` zero points between its rows and between its columns, padded with zero points.

    The convolution over this tensor has one window for each pixel of the result; pixels that are in no window are
    dropped. `kernel` is the size of a window, `out` the size of the result: (height, width).
    """
    images, *size, depth = context.extents(x)
    first, count, start = [], [], []
    for n, k, o, stride, (before, _) in zip(
        size, kernel, out, attributes["strides"], attributes["padding"], strict=True
    ):
        assert isinstance(n, int)  # of a height and a width that are known
        lead = k - 1 - before
        first.append(min(max(-(lead // stride), 0), n))
        start.append(first[-1] * stride + lead)
        count.append(max(min(n - first[-1], -(-(o + k - 1 - start[-1]) // stride)), 0))
    context.stage("accumulate")
    sizes = (images, out[0] + kernel[0] - 1, out[1] + kernel[1] - 1, depth)
    spread = context.filled(sizes, context.constant(zero_point, tensor_type(x).element))
    taken = (images, *count, depth)
    if 0 in taken:
        return spread
    part = static_slice(context, "tensor.extract_slice", (x,), (0, *first, 0), taken, (1, 1, 1, 1))
    return static_slice(
        context, "tensor.insert_slice", (part, spread), (0, *start, 0), taken, (1, *attributes["strides"], 1)
    )


def static_slice(
    context: LoweringContext,
    name: str,
    tensors: tuple[Value, ...],
    offsets: Sequence[int],
    sizes: Sequence[Extent],
    strides: Sequence[int],
) -> Value:
    """Emit the op `name`: tensor.extract_slice of a tensor, or tensor.insert_slice of one into another.

    Offsets and strides are static; sizes may be dynamic.
    """
    dynamic = [size for size in sizes if isinstance(size, Value)]
    into = tensor_type(tensors[-1])
    type = into if len(tensors) > 1 else into.with_(shape=static_shape(sizes))
    open_size = -(1 << 63)
    attributes: dict[str, Attribute] = {
        "static_offsets": DenseArrayAttr(I64, tuple(offsets)),
        "static_sizes": DenseArrayAttr(I64, tuple(s if isinstance(s, int) else open_size for s in sizes)),
        "static_strides": DenseArrayAttr(I64, tuple(strides)),
        OPERAND_SEGMENTS: segments(*[1] * len(tensors), 0, len(dynamic), 0),
    }
    return context.value(name, (*tensors, *dynamic), type, attributes)
