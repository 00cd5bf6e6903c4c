"""transpose_conv2d: every input pixel adds its product with the weights' window; NHWC input, OHWI weights.

The product of pixel ``i`` and tap ``k`` is added to pixel ``i * stride + k - padding`` of the result.
``output_padding`` adds rows and columns at the end, which may contain only the bias. Bias and requantization are those
of ``conv2d``.
"""

from collections.abc import Sequence
from operator import index

import numpy as np

import qrt.kernels as kernels
from qrt._ext.kernels import bind_transpose_conv2d
from qrt.errors import QuantTypeError, shown
from qrt.ops.accumulate import bias_operand, with_prepared_bias, without_zero_point
from qrt.ops.checks import check_channel_axis, check_per_layer, shape_of_rank, spell_shape
from qrt.ops.conv import checked_convolution, requantized
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    container,
    fail,
    parameters_of,
    quantized,
    static_shape,
    uniform,
)
from qrt.ops.declare import BIAS, Attribute, Declaration, Operand, Traits, Weights
from qrt.ops.requant import REQUANT, channel_parameters
from qrt.ops.window import PADDING, pairs, two_positive
from qrt.types import TensorType

OP = "transpose_conv2d"


def taps_of(kernel: Sequence[int], strides: Sequence[int]) -> int:
    """Return the largest number of the kernel's taps whose products are added to one pixel of the result."""
    return -(-kernel[0] // strides[0]) * -(-kernel[1] // strides[1])


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, w = (quantized(t, OP, name) for t, name in zip(types, ("x", "w"), strict=False))
    images, height, width, channels = shape_of_rank(OP, types, 0, "x", 4, "NHWC")
    out_channels, kernel_height, kernel_width, depth = shape_of_rank(OP, types, 1, "w", 4, "OHWI")
    check_per_layer(OP, types, "'x'", x, "sums run over height, width and channels")
    check_channel_axis(OP, types, "'w'", w, 0, "the output channels")
    if None not in (channels, depth) and channels != depth:
        fail(OP, f"'x' must have as many channels as 'w', {depth} along the last axis, got {channels}", types)
    sizes = _output_sizes((height, width), (kernel_height, kernel_width), attributes)
    taps = None
    if kernel_height is not None and kernel_width is not None and depth is not None:
        taps = taps_of((kernel_height, kernel_width), attributes["strides"]) * depth
    return checked_convolution(OP, types, attributes, result, (images, *sizes, out_channels), taps, 0)


def _output_sizes(
    size: tuple[int | None, int | None], kernel: tuple[int | None, int | None], attributes: Attributes
) -> tuple[int | None, int | None]:
    strides, padding = two_positive(OP, "strides", attributes["strides"]), pairs(OP, attributes["padding"])
    beyond = _output_padding(attributes["output_padding"])
    sizes: list[int | None] = []
    for extent, taps, stride, sides, more in zip(size, kernel, strides, padding, beyond, strict=True):
        if taps == 0:
            raise QuantTypeError(f"{OP}: 'w' must have a height and a width of at least 1, got {spell_shape(kernel)}")
        known = extent is not None and taps is not None
        count = (extent - 1) * stride + taps - sum(sides) + more if known else None  # type: ignore[operator]
        if count is not None and (extent == 0 or count < 1):
            raise QuantTypeError(
                f"{OP}: the result must have elements, got none for {extent} elements of 'x', {taps} of 'w', the "
                f"stride {stride}, the padding {list(sides)} and the output_padding {more}"
            )
        sizes.append(count)
    return sizes[0], sizes[1]


def _output_padding(values: object) -> tuple[int, int]:
    try:
        height, width = map(index, values)  # type: ignore[call-overload]
    except (TypeError, ValueError):
        height = width = -1
    if not (0 <= height < 1 << 31 and 0 <= width < 1 << 31):
        raise QuantTypeError(f"{OP}: 'output_padding' must be two non-negative integers, got {shown(values)}")
    return height, width


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x_type, w_type = uniform(types[0]), uniform(types[1])
    x = without_zero_point(arrays[0], np.array(x_type.zero_point, np.int64))
    w = without_zero_point(arrays[1], parameters_of(w_type, arrays[1].shape)[1])
    images, height, width, _ = x.shape
    out_channels, *kernel, _ = w.shape
    (top, bottom), (left, right) = attributes["padding"]
    rows, columns = attributes["strides"]
    more = attributes["output_padding"]
    whole = [(n - 1) * s + k + m for n, s, k, m in zip((height, width), (rows, columns), kernel, more, strict=True)]
    acc = np.zeros((images, *whole, out_channels), np.int64)
    for ky, kx in np.ndindex(*kernel):
        reached = acc[:, ky : ky + (height - 1) * rows + 1 : rows, kx : kx + (width - 1) * columns + 1 : columns]
        reached += x @ w[:, ky, kx].T
    acc = acc[:, top : whole[0] - bottom, left : whole[1] - right]
    return requantized(acc, arrays, types, result, attributes["requant"])


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    x, w = uniform(types[0]), uniform(types[1])
    bias, prepare = bias_operand(types, x, w, constants)
    (top, _), (left, _) = attributes["padding"]
    call = bind_transpose_conv2d(
        isa=kernels.active(),
        x=container(x),
        w=container(w),
        x_shape=static_shape(types[0], OP),
        w_shape=static_shape(types[1], OP),
        out_size=static_shape(result, OP)[1:3],
        x_zero_point=x.zero_point,
        w_zero_points=w.zero_points,
        requant=channel_parameters(attributes["requant"], x, w, uniform(result)),
        strides=attributes["strides"],
        padding=(top, left),
        w_constant=constants.get(1),
        bias=bias,
    )
    return with_prepared_bias(call, prepare)


FAMILIES = (
    OpFamily(
        Declaration(
            OP,
            operands=(Operand("x", "NHWC"), Operand("w", "OHWI"), BIAS),
            attributes=(
                Attribute("strides", "pair", (1, 1)),
                PADDING,
                Attribute("output_padding", "pair", (0, 0)),
                REQUANT,
            ),
            public=False,
        ),
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(ends_in_clamp=True, is_exact=True, weights=Weights(inputs=3, outputs=0)),
    ),
)
