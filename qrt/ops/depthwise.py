"""depthwise_conv2d: each input channel convolved by itself, with one or more filters.

``x`` is NHWC, ``w`` [KH, KW, C * M]: output channel ``c * M + m`` reads input channel ``c`` alone. ``acc`` is the sum
of ``(x - zx) * (w - zw)`` over the window plus the bias; bias and requantization are conv2d's. Padding holds the
input's zero point, so it adds nothing. Weights may be per axis along their output channels (axis 2).
"""

from collections.abc import Mapping, Sequence

import numpy as np

from qrt import kernels, numerics
from qrt._seam import _core
from qrt.errors import QuantTypeError
from qrt.ops.accumulate import (
    PreparedBias,
    accumulator_bias,
    bias_operand,
    check_accumulator,
    check_bias,
    check_expressed,
    exact_result,
    without_zero_point,
)
from qrt.ops.core import (
    Array,
    Attributes,
    BoundCall,
    OpFamily,
    Types,
    checked_result,
    container,
    declared_element,
    fail,
    parameters_of,
    quantized,
    static_shape,
)
from qrt.ops.declare import BIAS, Declaration, Operand
from qrt.ops.requant import REQUANT, channel_parameters
from qrt.ops.window import CONVOLUTION, output_sizes, windows
from qrt.types import TensorType

OP = "depthwise_conv2d"


def _infer(types: Types, attributes: Attributes, result: TensorType | None) -> TensorType:
    x, w = (quantized(t, OP, name) for t, name in zip(types, ("x", "w"), strict=False))
    if types[0].rank != 4 or types[1].rank != 3:
        fail(OP, "x must be NHWC, of rank 4, and w [height, width, output channels], of rank 3", types)
    if not x.is_per_layer:
        fail(OP, "x is summed over its height and width and must be per layer", types)
    if w.is_sub_channel or (w.is_per_axis and w.axis != 2):
        fail(OP, "weights must be per layer, or per axis along their output channels (axis 2)", types)
    images, height, width, channels = types[0].shape or ()
    kernel_height, kernel_width, out_channels = types[1].shape or ()
    if channels is not None and out_channels is not None and (out_channels % channels if channels else out_channels):
        fail(OP, f"{out_channels} output channels are no multiple of {channels} input channels", types)
    out_height, out_width = output_sizes(OP, (height, width), (kernel_height, kernel_width), attributes)
    taps = None if kernel_height is None or kernel_width is None else kernel_height * kernel_width
    element = declared_element(OP, result)
    bias = check_bias(OP, types[2] if len(types) > 2 else None, out_channels, x, w, 2)
    if element is None:
        if bias is not None:
            raise QuantTypeError(f"{OP}: a bias needs out_type")
        element = exact_result(OP, x, w, taps, 3)
    check_expressed(OP, x, w, bias, element)
    check_accumulator(OP, x, w, taps, attributes["requant"], bias)
    if element.is_sub_channel or (element.is_per_axis and element.axis != 3):
        fail(OP, f"the result {element} must be per layer or per axis along its channels (axis 3)", types)
    return checked_result(OP, (images, out_height, out_width, out_channels), element)


def _parameters(types: Types, result: TensorType, rule: str) -> tuple[numerics.RequantParameters, Array]:
    return channel_parameters(
        rule, quantized(types[0], OP, "x"), quantized(types[1], OP, "w"), quantized(result, OP, "result")
    )


def _reference(arrays: Sequence[Array], types: Types, result: TensorType, attributes: Attributes) -> Array:
    x_type, w_type = quantized(types[0], OP, "x"), quantized(types[1], OP, "w")
    x = without_zero_point(arrays[0], np.array(x_type.zero_point, np.int64))
    w = without_zero_point(arrays[1], parameters_of(w_type, arrays[1].shape)[1])
    kernel_height, kernel_width, out_channels = w.shape
    window = (attributes["padding"], attributes["strides"], attributes["dilations"])
    views = windows(x, (kernel_height, kernel_width), *window, fill=0)
    per_channel = np.repeat(views, out_channels // max(x.shape[3], 1), axis=3)
    acc = np.einsum("nijcuv,uvc->nijc", per_channel, w)
    if len(types) > 2:
        acc = acc + accumulator_bias(arrays[2], quantized(types[2], OP, "bias"), x_type, w_type)
    parameters, index = _parameters(types, result, attributes["requant"])
    return numerics.requantize(acc, parameters, index)


def _bind(types: Types, result: TensorType, attributes: Attributes, constants: Mapping[int, Array]) -> BoundCall | None:
    if 0 in constants:
        return None
    x, w = quantized(types[0], OP, "x"), quantized(types[1], OP, "w")
    parameters, index = _parameters(types, result, attributes["requant"])
    bias, prepare = bias_operand(types, OP, x, w, constants)
    call = _core.bind_depthwise_conv2d(
        isa=kernels.active(),
        x=container(x),
        w=container(w),
        x_shape=static_shape(types[0], OP),
        w_shape=static_shape(types[1], OP),
        x_zero_point=x.zero_point,
        w_zero_points=w.zero_points,
        requant=parameters.take(index),
        strides=attributes["strides"],
        padding=attributes["padding"],
        dilations=attributes["dilations"],
        w_constant=constants.get(1),
        bias=bias,
    )
    return call if prepare is None else PreparedBias(call, prepare)


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
    ),
)
