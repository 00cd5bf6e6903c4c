"""depthwise_conv2d: each input channel convolved by itself, with one or more filters.

``x`` is NHWC, ``w`` [KH, KW, C * M]: output channel ``c * M + m`` reads only input channel ``c``. ``acc`` is the sum
of ``(x - zx) * (w - zw)`` over the window plus the bias; bias and requantization are those of conv2d. Padding has the
input's zero point, so it adds nothing. Weights may be per axis along their output channels (axis 2).
"""

from collections.abc import Sequence

import numpy as np

from qrt._ext.kernels import bind_depthwise_conv2d
from qrt.ops.accumulate import (
    with_prepared_bias,
    without_zero_point,
)
from qrt.ops.checks import check_channel_axis, check_per_layer, shape_of_rank
from qrt.ops.conv import call_arguments, checked_convolution, requantized
from qrt.ops.core import (
    Array,
    Attributes,
    Constants,
    KernelCall,
    OpFamily,
    Types,
    fail,
    parameters_of,
    quantized,
    static_shape,
    uniform,
)
from qrt.ops.declare import BIAS, Declaration, Operand, Traits, Weights
from qrt.ops.requant import REQUANT
from qrt.ops.window import CONVOLUTION, output_sizes, windows
from qrt.types import TensorType

OP = "depthwise_conv2d"


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, w = (quantized(t, OP, name) for t, name in zip(types, ("x", "w"), strict=False))
    images, height, width, channels = shape_of_rank(OP, types, 0, "x", 4, "NHWC")
    kernel_height, kernel_width, out_channels = shape_of_rank(OP, types, 1, "w", 3, "[height, width, channels]")
    check_per_layer(OP, types, "'x'", x, "sums run over height and width")
    check_channel_axis(OP, types, "'w'", w, 2, "the output channels")
    if channels is not None and out_channels is not None and (out_channels % channels if channels else out_channels):
        fail(
            OP,
            f"the number of output channels of 'w' must be a multiple of the {channels} channels of 'x', got "
            f"{out_channels}",
            types,
        )
    out_height, out_width = output_sizes(OP, (height, width), (kernel_height, kernel_width), attributes)
    taps = None if kernel_height is None or kernel_width is None else kernel_height * kernel_width
    return checked_convolution(OP, types, attributes, result, (images, out_height, out_width, out_channels), taps, 2)


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x_type, w_type = uniform(types[0]), uniform(types[1])
    x = without_zero_point(arrays[0], np.array(x_type.zero_point, np.int64))
    w = without_zero_point(arrays[1], parameters_of(w_type, arrays[1].shape)[1])
    kernel_height, kernel_width, out_channels = w.shape
    window = (attributes["padding"], attributes["strides"], attributes["dilations"])
    views = windows(x, (kernel_height, kernel_width), *window, fill=0)
    per_channel = np.repeat(views, out_channels // max(x.shape[3], 1), axis=3)
    acc = np.einsum("nijcuv,uvc->nijc", per_channel, w)
    return requantized(acc, arrays, types, result, attributes["requant"])


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Constants) -> KernelCall | None:
    arguments, prepare = call_arguments(OP, types, result, attributes, constants)
    call = bind_depthwise_conv2d(w_shape=static_shape(types[1], OP), **arguments)
    return with_prepared_bias(call, prepare)


FAMILIES = (
    OpFamily(
        Declaration(
            OP,
            operands=(Operand("x", "NHWC"), Operand("w", "height, width, output channels"), BIAS),
            attributes=(*CONVOLUTION, REQUANT),
        ),
        packs=(1, 2),
        infer=_infer,
        reference=_reference,
        bind=_bind,
        traits=Traits(
            constraint="multiplier_accumulator_scale",
            ends_in_clamp=True,
            is_exact=True,
            weights=Weights(inputs=2, outputs=2, window=(0, 1)),
        ),
    ),
)
